"""
`find_secrets`: the secrets that a form asks for and that an answer contains.

The texts of a request become *signs*, one for each word that means something
in some language, and rules are patterns of signs.  Words, rules and keys
are data files, loaded by `core.secrets.tables`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcp_elicit_client._arguments import check_type
from mcp_elicit_client.core.parse import parse_request
from mcp_elicit_client.core.request import FormRequest

if TYPE_CHECKING:
    from mcp_elicit_client.core.secrets.findings import SecretFinding


def find_secrets(params: object, content: Mapping[str, Any] | None = None) -> tuple[SecretFinding, ...]:
    """
    Find the sensitive data that a form requests, and that an answer to it contains.

    Sensitive data grants access or authorizes a payment.  Names and email
    addresses are not sensitive.  Requests for URLs are not examined: servers
    may ask for sensitive data on their own pages.

    Args:
        params: What `parse_request` takes.
        content: The answer, if there is one.

    Returns:
        The findings, each with its field and the kind of data; empty if there
        are none.

    Raises:
        RequestError: If *params* is not a valid request.
        TypeError: If *content* is not a mapping.
    """
    check_type("content", content, Mapping, type(None))
    # The package imports this module.  Most processes never look for secrets.
    from mcp_elicit_client.core.secrets.in_answer import secret_values
    from mcp_elicit_client.core.secrets.in_request import secret_fields

    request = parse_request(params)
    asked = secret_fields(request.form, request.message) if isinstance(request, FormRequest) else ()
    return (*asked, *secret_values(content or {}))
