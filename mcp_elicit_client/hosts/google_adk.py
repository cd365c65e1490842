"""Google's Agent Development Kit: ``McpToolset(elicitation_callback=)``."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

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
    Give the user time: let a call over *params* take *seconds*, questions included.

    The kit's own 5 s for a server over standard input and output are over
    before anybody has read a question; over HTTP it is the time in which the
    server must say something.

    Args:
        params: The ``connection_params`` of an ``McpToolset``.
        seconds: At least how long; a longer time in *params* is kept.
    """
    name = "sse_read_timeout" if hasattr(params, "sse_read_timeout") else "timeout"
    return params.model_copy(update={name: max(seconds, getattr(params, name))})
