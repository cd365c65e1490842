"""
Answer the questions that MCP servers ask: elicitation, client side.

A handler is one async function from a request to an answer.
"""

from mcp_elicit_client.core.answers import Answer, accept, accept_with_defaults, cancel, decline, reject
from mcp_elicit_client.core.choices import Choice, normalize_enum
from mcp_elicit_client.core.defaults import apply_defaults, get_defaults, validate
from mcp_elicit_client.core.errors import FieldError
from mcp_elicit_client.core.forms import BooleanField, ChoiceField, Form, MultiChoiceField, NumberField, TextField
from mcp_elicit_client.core.limits import Limits
from mcp_elicit_client.core.problems import Diagnostic
from mcp_elicit_client.core.requests import FormRequest, Server, UrlRequest, parse_request
from mcp_elicit_client.core.secrets import find_secrets
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.core.urls import TargetUrl, UrlRules, inspect_url
from mcp_elicit_client.core.validation import ValidationResult
from mcp_elicit_client.exceptions import (
    AnswerError,
    CallError,
    CallTimeoutError,
    ElicitationError,
    MissingExtraError,
    ResumeError,
    PermissionsFileError,
    RegistrationError,
    RequestError,
    RequestStateRejectedError,
    UnsafeUrlError,
    UrlElicitationIncompleteError,
)
from mcp_elicit_client.registry import ElicitationRegistry

__all__ = [
    "Answer",
    "AnswerError",
    "BooleanField",
    "CallError",
    "CallTimeoutError",
    "Choice",
    "ChoiceField",
    "ElicitationError",
    "ElicitationRegistry",
    "FieldError",
    "Form",
    "FormRequest",
    "Limits",
    "MissingExtraError",
    "MultiChoiceField",
    "NumberField",
    "ResumeError",
    "PermissionsFileError",
    "Diagnostic",
    "RegistrationError",
    "RequestError",
    "Server",
    "RequestStateRejectedError",
    "TargetUrl",
    "TextField",
    "UnsafeUrlError",
    "UrlRequest",
    "UrlRules",
    "ValidationResult",
    "UrlElicitationIncompleteError",
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
    "sanitize_text",
    "reject",
    "validate",
]
