"""`durable`: calls whose completed rounds are not repeated when a node runs again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from types import NoneType
from typing import Any

from mcp_elicit_client._arguments import check_method, check_type
from mcp_elicit_client.core.request import FIRST_MULTI_ROUND_TRIP_VERSION
from mcp_elicit_client.exceptions import CallError


def durable(client: Any, server: str | None = None) -> Any:
    """
    Return *client* so that a node does not repeat completed rounds of tool calls when it is resumed.

    With multi-round-trip requests (from 2026-07-28), each round of a call is
    a task of LangGraph.  Its result and the server's state are stored with
    the graph.  Server-initiated requests (up to 2025-11-25) arrive in the
    middle of a call, which cannot be stored: such calls are repeated.

    Args:
        client: A ``ClientSession`` or ``Client`` of the SDK, for
            ``Caller.call_tool`` in a node made by `InterruptHandler`.
        server: The name that the host application gave the server.  Pass it
            if a node calls several servers: they may report the same name,
            and the result of one must not be used for another.

    Raises:
        TypeError: If *client* has no ``call_tool``, or *server* is not a name.
        CallError: Raised by the call, if the node makes another call than
            before, or if the result cannot be stored.
    """
    check_type("server", server, str, NoneType)
    session = getattr(client, "session", client)
    check_method("client", session, "call_tool", "a `ClientSession`")
    return _DurableClient(session, server)


class _DurableClient:
    def __init__(self, session: Any, server: str | None) -> None:
        self._session = session
        self._server = server

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    async def call_tool(self, name: str, arguments: Mapping[str, Any] | None = None, **options: Any) -> Any:
        """Call a tool as the session does, or return the stored result."""
        if (getattr(self._session, "protocol_version", None) or "") < FIRST_MULTI_ROUND_TRIP_VERSION:
            return await self._session.call_tool(name, arguments, **options)
        import mcp.types
        from langgraph.func import task

        server = getattr(getattr(self._session, "server_info", None), "name", None)
        asked = json.dumps([[self._server, server], name, arguments, options.get("request_state")], default=str)
        digest = hashlib.sha256(asked.encode()).hexdigest()

        async def tool_call() -> dict[str, Any]:
            result = await self._session.call_tool(name, arguments, **options)
            kind = type(result).__name__
            if getattr(mcp.types, kind, None) is not type(result):
                raise CallError(
                    "The result cannot be stored, because its type is unknown. Use a client without extensions."
                )
            return {"asked": digest, "kind": kind, "wire": result.model_dump(mode="json", by_alias=True)}

        stored = await task(tool_call)()
        if stored["asked"] != digest:
            raise CallError(
                "The node makes another call than before it was interrupted. Make the same calls each time."
            )
        return getattr(mcp.types, stored["kind"]).model_validate(stored["wire"])
