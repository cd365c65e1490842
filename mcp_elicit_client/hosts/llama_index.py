"""LlamaIndex: the ``client`` of an ``McpToolSpec``, which is a session or a client of yours."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from mcp_elicit_client.hosts.session_proxy import wrap_session

if TYPE_CHECKING:
    from mcp_elicit_client.calls import Caller

S = TypeVar("S")


def wrap_client(caller: Caller, session: S) -> S:
    """
    Make the ``client`` of an ``McpToolSpec``; ``BasicMCPClient`` takes no callback.

    Args:
        caller: Who makes the calls.
        session: What ``caller.client`` or ``caller.session`` made, entered.
    """
    return wrap_session(caller, session)
