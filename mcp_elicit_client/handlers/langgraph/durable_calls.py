"""Calls that a node makes once, however often it runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from mcp_elicit_client.core.request import FIRST_MULTI_ROUND_TRIP_VERSION
from mcp_elicit_client.exceptions import CallError


def durable(client: Any) -> Any:
    """
    Let a node of a graph call tools through *client* without doing it again when it is resumed.

    From 2026-07-28 on a question comes in place of a call's result, with a
    state of the server's to go on from.  Each such round is a task of
    LangGraph: what came of it, and the state, are kept with the graph, and
    not asked of the server again.  Until 2025-11-25 a question comes in the
    middle of a call, which cannot be kept: there nothing changes.

    Args:
        client: A ``ClientSession`` or ``Client`` of the SDK, for
            ``Caller.call_tool`` within a node made by `InterruptHandler`.

    Raises:
        CallError: From the call: if the node, run again, calls something
            else than before, or what came cannot be kept.
    """
    return _DurableClient(getattr(client, "session", client))


class _DurableClient:
    def __init__(self, session: Any) -> None:
        self._session = session

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    async def call_tool(self, name: str, arguments: Mapping[str, Any] | None = None, **options: Any) -> Any:
        """Call a tool as the session does, or return what came of it before."""
        if (getattr(self._session, "protocol_version", None) or "") < FIRST_MULTI_ROUND_TRIP_VERSION:
            return await self._session.call_tool(name, arguments, **options)
        import mcp.types
        from langgraph.func import task

        asked = _digest(name, arguments, options.get("request_state"))

        async def tool_call() -> dict[str, Any]:
            result = await self._session.call_tool(name, arguments, **options)
            kind = type(result).__name__
            if getattr(mcp.types, kind, None) is not type(result):
                raise CallError("the server returned what cannot be kept")
            return {"asked": asked, "kind": kind, "wire": result.model_dump(mode="json", by_alias=True)}

        kept = await task(tool_call)()
        if kept["asked"] != asked:
            raise CallError("the node calls something else than before it was interrupted")
        return getattr(mcp.types, kept["kind"]).model_validate(kept["wire"])


def _digest(name: str, arguments: Mapping[str, Any] | None, state: str | None) -> str:
    return hashlib.sha256(json.dumps([name, arguments, state], default=str).encode()).hexdigest()
