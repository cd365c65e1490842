"""Answer elicitation requests from MCP servers."""

from mcp_elicit_client.core.answer import Answer, UrlElicitationIncompleteError
from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.form import BooleanField, ChoiceField, Form, MultiChoiceField, NumberField, TextField
from mcp_elicit_client.core.helpers import (
    accept,
    accept_with_defaults,
    apply_defaults,
    cancel,
    decline,
    get_defaults,
    reject,
    validate,
)
from mcp_elicit_client.core.limits import Limits
from mcp_elicit_client.core.parse import parse_request
from mcp_elicit_client.core.request import FormRequest, Server, UrlRequest
from mcp_elicit_client.core.schema.enums import Choice, normalize_enum
from mcp_elicit_client.core.secrets import find_secrets
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.core.url.inspect import TargetUrl, UrlRules, inspect_url
from mcp_elicit_client.core.validation.content import ValidationResult
from mcp_elicit_client.core.validation.field_errors import AnswerError, FieldError
from mcp_elicit_client.exceptions import (
    CallError,
    CallTimeoutError,
    CapabilityRequiredError,
    ElicitationError,
    HandshakeRequiredError,
    MissingExtraError,
    PermissionsFileError,
    RegistrationError,
    RequestError,
    RequestStateRejectedError,
    ResumeError,
    TaskError,
    UnsafeUrlError,
)
from mcp_elicit_client.registry import ElicitationRegistry, Route
from mcp_elicit_client.request_options import RequestOptions

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "AnswerError",
    "BooleanField",
    "CallError",
    "CallTimeoutError",
    "CapabilityRequiredError",
    "Choice",
    "ChoiceField",
    "Diagnostic",
    "ElicitationError",
    "ElicitationRegistry",
    "FieldError",
    "Form",
    "FormRequest",
    "HandshakeRequiredError",
    "Limits",
    "MissingExtraError",
    "MultiChoiceField",
    "NumberField",
    "PermissionsFileError",
    "RegistrationError",
    "RequestError",
    "RequestOptions",
    "RequestStateRejectedError",
    "ResumeError",
    "Route",
    "Server",
    "TargetUrl",
    "TaskError",
    "TextField",
    "UnsafeUrlError",
    "UrlElicitationIncompleteError",
    "UrlRequest",
    "UrlRules",
    "ValidationResult",
    "accept",
    "accept_with_defaults",
    "apply_defaults",
    "cancel",
    "decline",
    "find_secrets",
    "get_defaults",
    "inspect_url",
    "normalize_enum",
    "parse_request",
    "reject",
    "sanitize_text",
    "validate",
]
