"""Google's Agent Development Kit: ``McpToolset(..., elicitation_callback=...)``."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from mcp_elicit_client._arguments import check_method, check_seconds
from mcp_elicit_client.sdk.callback import elicitation_callback

if TYPE_CHECKING:
    from google.adk.tools.mcp_tool import (
        SseConnectionParams,
        StdioConnectionParams,
        StreamableHTTPConnectionParams,
    )

    P = TypeVar("P", StdioConnectionParams, SseConnectionParams, StreamableHTTPConnectionParams)

__all__ = ["elicitation_callback", "with_timeout"]


def with_timeout(params: P, seconds: float = 300.0) -> P:
    """
    Return *params* with a timeout that includes the user's time.

    The kit limits a call over standard input and output to 5 s, requests
    included.  Over HTTP, the timeout limits the time without a message from
    the server.

    Args:
        params: The ``connection_params`` of an ``McpToolset``.
        seconds: The timeout, in seconds.  A longer one in *params* is kept.

    Raises:
        TypeError: If *params* are not those of the kit, or *seconds* is not a
            number.
        ValueError: If it is not above 0.
    """
    check_seconds("seconds", seconds)
    check_method("params", params, "model_copy", "`StdioConnectionParams`")
    name = "sse_read_timeout" if hasattr(params, "sse_read_timeout") else "timeout"
    return params.model_copy(update={name: max(seconds, getattr(params, name))})
