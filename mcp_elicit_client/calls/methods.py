"""How each kind of call is sent with the installed SDK."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from pydantic_core import to_json

from mcp_elicit_client._arguments import check_type
from mcp_elicit_client.sdk.callback import supports_multi_round_trip

if TYPE_CHECKING:
    from mcp import ClientSession

_NO_TIMEOUT = timedelta(days=3_650)
"""Replaces the read timeout of mcp 1.x, which would include the user's time."""

_PROGRESS_TOKENS = frozenset({"progressToken", "progress_token"})
"""The names under which the SDK reads a progress token."""

_MAX_PAGES = 100


@dataclass(frozen=True, slots=True)
class RoundInput:
    """
    The input of one round of a call.

    Attributes:
        responses: The responses to the server's requests, by its keys.
        state: The server's ``requestState``.
    """

    responses: Mapping[str, Any] | None = None
    state: str | None = None


FIRST_ROUND = RoundInput()
"""The input of the first round of a call: none."""

Send: TypeAlias = Callable[[RoundInput], Awaitable[Any]]
"""Sends a call once and returns what the SDK returns."""


class SessionHolder(Protocol):
    """A client that has a session: ``Client`` of mcp 2.x or FastMCP."""

    @property
    def session(self) -> ClientSession:
        """The session of the SDK."""
        ...


AnyClient: TypeAlias = "ClientSession | SessionHolder"
"""What calls are made with."""


class ProgressCallback(Protocol):
    """Takes the progress of a call: how much is done, of how much, and a text of the server."""

    async def __call__(self, progress: float, total: float | None, message: str | None, /) -> None:
        """Take the progress."""
        ...


def unwrap_session(client: Any) -> Any:
    """
    Return the SDK's session: *client* itself, or the session of a ``Client`` of mcp 2.x or FastMCP.

    Raises:
        TypeError: If there is no session.
    """
    session = getattr(client, "session", client)
    if not hasattr(session, "call_tool"):
        raise TypeError(
            f"`client` must be a connected ClientSession or Client, not {type(session).__name__}. "
            "Connect first: `async with caller.connect(server) as client`."
        )
    return session


@dataclass(frozen=True, slots=True)
class CallSpec:
    """
    A call: its method, name and arguments.

    Attributes:
        kind: A tool, a prompt or a resource.
        name: The name, or the URI of the resource.
        arguments: The arguments.
        meta: The ``_meta`` of the request.
    """

    kind: Literal["tool", "prompt", "resource"]
    name: str
    arguments: Mapping[str, Any] | None = None
    meta: Mapping[str, Any] | None = None

    @property
    def tool(self) -> str | None:
        """The name of the tool; None for prompts and resources."""
        return self.name if self.kind == "tool" else None

    def sender(self, session: Any, progress_callback: Any) -> Send:
        """Return a function that sends this call over *session*."""
        arguments = None if self.arguments is None else dict(self.arguments)
        match self.kind:
            case "tool":
                return _tool_sender(session, self.name, arguments, self.meta, progress_callback)
            case "prompt":
                params = {"name": self.name, "arguments": arguments}
                return _request_sender(session, "GetPrompt", "prompts/get", params, self.meta)
            case "resource":
                return _request_sender(session, "ReadResource", "resources/read", {"uri": self.name}, self.meta)


def check_call(spec: CallSpec) -> None:
    """
    Check what a call is made with.

    Raises:
        TypeError: If the name is not a string, the arguments or ``_meta`` are
            not a mapping with names, the progress token is not one, or an
            argument of a prompt is not a string.  Also as `check_json`.
    """
    name: object = spec.name
    arguments: object = spec.arguments
    if not isinstance(name, str):
        raise TypeError(
            f"The name of a call must be a string, not {type(name).__name__}. Pass the client first, then the name."
        )
    if not isinstance(arguments, (Mapping, NoneType)):
        raise TypeError(f"The arguments of a call must be a mapping, not {type(arguments).__name__}.")
    check_type("meta", spec.meta, Mapping, NoneType)
    if not all(isinstance(each, str) for each in (*(arguments or ()), *(spec.meta or ()))):
        raise TypeError("The names of arguments and in `meta` must be strings.")
    for token in _PROGRESS_TOKENS & (spec.meta or {}).keys():
        check_type(f'meta["{token}"]', (spec.meta or {})[token], str, int)
    if spec.kind == "prompt" and not all(isinstance(each, str) for each in (arguments or {}).values()):
        raise TypeError("The arguments of a prompt must be strings. Convert other values with str().")
    check_json("the name, the arguments or `meta` of the call", [name, dict(arguments or {}), dict(spec.meta or {})])


def check_json(described: str, value: object) -> None:
    """
    Check that *value* can be sent.  If a transport cannot write a message, it ends the session, with all its calls.

    Raises:
        TypeError: If JSON does not allow a part of it.
    """
    try:
        to_json(value)
    except ValueError as error:
        raise TypeError(
            f"JSON does not allow a value in {described}, such as an object, or half of an emoji (a lone surrogate)."
        ) from error


def _tool_sender(
    session: Any, name: str, arguments: dict[str, Any] | None, meta: Mapping[str, Any] | None, progress_callback: Any
) -> Send:
    options: dict[str, Any] = {"progress_callback": progress_callback, "meta": None if meta is None else dict(meta)}

    def send(given: RoundInput) -> Any:
        if not supports_multi_round_trip():
            return session.call_tool(name, arguments, read_timeout_seconds=_NO_TIMEOUT, **options)
        return session.call_tool(
            name,
            arguments,
            read_timeout_seconds=math.inf,
            input_responses=given.responses,
            request_state=given.state,
            allow_input_required=True,
            allow_claimed=True,
            **options,
        )

    return send


def _request_sender(
    session: Any, kind: str, method: str, params: Mapping[str, Any], meta: Mapping[str, Any] | None
) -> Send:
    # The session's own methods for these take no timeout, so its read timeout would include the user's time.
    import mcp.types
    from pydantic import TypeAdapter

    types: Any = mcp.types
    request_class, result_class = getattr(types, f"{kind}Request"), getattr(types, f"{kind}Result")

    async def send(given: RoundInput) -> Any:
        wire = {**params, **({"_meta": dict(meta)} if meta else {})}
        if not supports_multi_round_trip():
            request = types.ClientRequest(request_class.model_validate({"method": method, "params": wire}))
            return await session.send_request(request, result_class, request_read_timeout_seconds=_NO_TIMEOUT)
        request = request_class.model_validate(
            {"method": method, "params": {**wire, "inputResponses": given.responses, "requestState": given.state}}
        )
        return await session.send_request(
            request,
            TypeAdapter(result_class | types.InputRequiredResult),
            request_read_timeout_seconds=math.inf,
        )

    return send


def model_to_wire(model: Any) -> dict[str, Any]:
    """Return a model of the SDK as on the wire."""
    wire: dict[str, Any] = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return wire


async def list_tools(session: Any, until: str | None = None) -> list[Any]:
    """Return the tools of the server, from all pages of its list; only up to the page that contains *until*."""
    import mcp.types

    tools: list[Any] = []
    cursor: str | None = None
    for _ in range(_MAX_PAGES):
        page = await session.list_tools(params=mcp.types.PaginatedRequestParams(cursor=cursor))
        tools += page.tools
        cursor = page.next_cursor if hasattr(page, "next_cursor") else page.nextCursor  # mcp 2.x, 1.x
        if not cursor or any(tool.name == until for tool in page.tools):
            break
    return tools
