"""Semantic Kernel: the ``session`` of its MCP plugins, which is one of yours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_elicit_client.hosts.own_session import through

if TYPE_CHECKING:
    from mcp import ClientSession

    from mcp_elicit_client.calls import Caller


def session(caller: Caller, own: ClientSession) -> ClientSession:
    """
    Make the ``session`` of an ``MCPStdioPlugin`` or another plugin; they take no callback.

    Args:
        caller: Who makes the calls.
        own: What ``caller.session`` made, entered and initialized.
    """
    return through(caller, own)
