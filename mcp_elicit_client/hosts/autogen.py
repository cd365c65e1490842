"""AutoGen: the ``session`` of ``mcp_server_tools``, which is one of yours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_elicit_client.hosts.own_session import through

if TYPE_CHECKING:
    from mcp import ClientSession

    from mcp_elicit_client.calls import Caller


def session(caller: Caller, own: ClientSession) -> ClientSession:
    """
    Make the ``session`` of ``mcp_server_tools``; ``McpWorkbench`` takes neither one nor a callback.

    Args:
        caller: Who makes the calls.
        own: What ``caller.session`` made, entered and initialized.
    """
    return through(caller, own)
