"""How each kind of call is sent, over whichever SDK is installed."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, TypeAlias

from mcp_elicit_client.sdk.callback import supports_multi_round_trip

Send: TypeAlias = Callable[[Mapping[str, Any] | None, str | None], Awaitable[Any]]
"""Sends a call, with the answers to what the server asked before and its state."""

_LONG = timedelta(days=3_650)
"""In place of the SDK's own timeouts, which would count the user's time."""

_MAX_PAGES = 100


def unwrap_session(client: Any) -> Any:
    """Return the SDK's session: *client* itself, or what a ``Client`` of mcp 2.x or of FastMCP holds."""
    return getattr(client, "session", client)


@dataclass(frozen=True, slots=True)
class CallSpec:
    """
    What is called.

    Attributes:
        kind: A tool, a prompt or a resource.
        name: Its name, or the resource's URI.
        arguments: Its arguments.
        meta: The ``_meta`` of the request.
    """

    kind: Literal["tool", "prompt", "resource"]
    name: str
    arguments: Mapping[str, Any] | None = None
    meta: Mapping[str, Any] | None = None

    @property
    def tool(self) -> str | None:
        """The tool's name, if it is one."""
        return self.name if self.kind == "tool" else None

    def over(self, session: Any, progress: Any = None) -> Send:
        """Return what sends it over *session*."""
        arguments = None if self.arguments is None else dict(self.arguments)
        match self.kind:
            case "tool":
                return _tool(session, self.name, arguments, self.meta, progress)
            case "prompt":
                params = {"name": self.name, "arguments": arguments}
                return _request(session, "GetPrompt", "prompts/get", params, self.meta)
            case "resource":
                return _request(session, "ReadResource", "resources/read", {"uri": self.name}, self.meta)


def _tool(
    session: Any, name: str, arguments: dict[str, Any] | None, meta: Mapping[str, Any] | None, progress: Any
) -> Send:
    options: dict[str, Any] = {"progress_callback": progress, "meta": None if meta is None else dict(meta)}

    async def send(responses: Mapping[str, Any] | None, state: str | None) -> Any:
        if not supports_multi_round_trip():
            return await session.call_tool(name, arguments, read_timeout_seconds=_LONG, **options)
        return await session.call_tool(
            name,
            arguments,
            read_timeout_seconds=math.inf,
            input_responses=responses,
            request_state=state,
            allow_input_required=True,
            allow_claimed=True,
            **options,
        )

    return _listing_first(session, name, send) if supports_multi_round_trip() else send


def _request(session: Any, kind: str, method: str, params: Mapping[str, Any], meta: Mapping[str, Any] | None) -> Send:
    # The session's own methods for these take no timeout, so that its read timeout would count the user's time.
    import mcp.types
    from pydantic import TypeAdapter

    types: Any = mcp.types
    request_class, result_class = getattr(types, f"{kind}Request"), getattr(types, f"{kind}Result")

    async def send(responses: Mapping[str, Any] | None, state: str | None) -> Any:
        wire = {**params, **({"_meta": dict(meta)} if meta else {})}
        if not supports_multi_round_trip():
            request = types.ClientRequest(request_class.model_validate({"method": method, "params": wire}))
            return await session.send_request(request, result_class, request_read_timeout_seconds=_LONG)
        request = request_class.model_validate(
            {"method": method, "params": {**wire, "inputResponses": responses, "requestState": state}}
        )
        return await session.send_request(
            request,
            TypeAdapter(result_class | types.InputRequiredResult),
            request_read_timeout_seconds=math.inf,
        )

    return send


def _listing_first(session: Any, name: str, send: Send) -> Send:
    """Resend a call once, with the tools listed, where a server wants headers that only its listing tells."""
    import mcp.types

    mismatch = getattr(mcp.types, "HEADER_MISMATCH", None)

    async def send_again(responses: Mapping[str, Any] | None, state: str | None) -> Any:
        try:
            return await send(responses, state)
        except Exception as error:
            if mismatch is None or getattr(getattr(error, "error", None), "code", None) != mismatch:
                raise
            await _list_until(session, name)
            return await send(responses, state)

    return send_again


async def _list_until(session: Any, name: str) -> None:
    import mcp.types

    cursor: str | None = None
    for _ in range(_MAX_PAGES):
        page = await session.list_tools(params=mcp.types.PaginatedRequestParams(cursor=cursor))
        cursor = page.next_cursor
        if cursor is None or any(each.name == name for each in page.tools):
            return
