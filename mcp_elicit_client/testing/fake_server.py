"""
A server in the same process that sends any request and records the replies.

It is a server of the installed SDK, and a client of the SDK talks to it, so
a callback under test is called as in production.  Only the params of the
requests are inserted on the way.  Therefore it can also send what the SDK's
server would refuse to send.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

import anyio
import mcp
import mcp.types
from mcp.server.lowlevel import Server

from mcp_elicit_client._arguments import check_function, check_type
from mcp_elicit_client._concurrency import leaf_errors, without_groups
from mcp_elicit_client.calls.server_errors import error_code
from mcp_elicit_client.check.scenarios import Delivery
from mcp_elicit_client.core.request import FIRST_MULTI_ROUND_TRIP_VERSION
from mcp_elicit_client.sdk.callback import supports_multi_round_trip
from mcp_elicit_client.testing.message_tap import MessageTap, Wire

S = TypeVar("S", bound="FakeServer")

DELIVERIES: tuple[Delivery, ...] = (
    ("server-initiated", "multi-round-trip") if supports_multi_round_trip() else ("server-initiated",)
)
"""The deliveries that the installed SDK supports."""

_PLACEHOLDER: dict[str, Any] = {"type": "object", "properties": {}}
_KEY_PREFIX = "request "
_SEND_TIMEOUT = 10.0
_REFUSALS = (-32602, -32601, -32600)


@dataclass(frozen=True, slots=True)
class Reply:
    """
    The reply to one request, as the server received it.

    Attributes:
        result: The JSON of the result; None if there was none.
        error: The JSON of the error; None if there was none.
        failure: The exception that the client's call raised, if the server
            received neither.
    """

    result: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    failure: BaseException | None = None

    @property
    def action(self) -> str | None:
        """``accept``, ``decline``, ``cancel`` or an invalid value; None if there is no result."""
        return None if self.result is None else self.result.get("action")

    @property
    def content(self) -> Any:
        """The content, or None."""
        return None if self.result is None else self.result.get("content")

    @property
    def accepted(self) -> bool:
        """True if the action is ``accept``."""
        return self.action == "accept"

    @property
    def refused(self) -> bool:
        """True if the reply is an error which says that such requests are not supported."""
        if self.error is not None:
            return self.error.get("code") in _REFUSALS
        return self.failure is not None and any(error_code(each) in _REFUSALS for each in leaf_errors(self.failure))

    def __str__(self) -> str:
        if self.result is not None:
            return str({name: value for name, value in self.result.items() if name in ("action", "content")})
        if self.error is not None:
            return f"an error ({self.error.get('code')}: {self.error.get('message')})"
        return "nothing" if self.failure is None else f"nothing, because {type(self.failure).__name__} was raised"


@dataclass
class _SentRequest:
    params: Mapping[str, Any]
    request_id: Any = None
    reply: Reply = field(default_factory=Reply)
    is_open: bool = False
    waiting: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    @property
    def is_pending(self) -> bool:
        return self.is_open and self.reply == Reply()


def check_delivery(delivery: object) -> None:
    """
    Check that the installed SDK supports *delivery*.

    Raises:
        ValueError: If it does not.
    """
    if delivery not in DELIVERIES:
        raise ValueError(f"The installed SDK does not support the delivery {delivery!r}. Use one of `DELIVERIES`.")


class FakeServer:
    """
    A server that sends any request.

    Args:
        delivery: How it sends requests.
        name: The name that it reports.

    Attributes:
        received: Every message of the client, as JSON.
    """

    def __init__(self, delivery: Delivery = "server-initiated", *, name: str = "fake-server") -> None:
        check_delivery(delivery)
        check_type("name", name, str)
        self.delivery = delivery
        self.name = name
        self.received: list[dict[str, Any]] = []
        self._requests: dict[str, _SentRequest] = {}
        self._tap = MessageTap(self._to_client, self._to_server)
        self._client: Any = None
        self._request_sent: anyio.Event

    @asynccontextmanager
    async def connected(self: S, callback: Any, **options: Any) -> AsyncIterator[S]:  # noqa: PYI019 -- no Self in 3.10
        """
        Connect a client of the SDK with *callback*; yield this server.

        An error of the test, such as an ``AssertionError``, arrives as it was
        raised, not in an exception group.

        Args:
            callback: The ``elicitation_callback`` of the client.
            options: Further arguments of ``ClientSession`` (mcp 1.x) or
                ``Client`` (mcp 2.x).

        Raises:
            RuntimeError: If a client is connected already.
            TypeError: If *callback* cannot be called with a context and
                params, as a handler cannot.
        """
        if self._client is not None:
            raise RuntimeError("A client is connected already. Create another server for another client.")
        if callback is not None:
            hint = "Pass `registry.callback(server)`."
            check_function("callback", callback, "context", "params", hint=hint)
        options = {"elicitation_callback": callback, **options}
        self._request_sent = anyio.Event()
        self._requests.clear()  # those of an earlier connection get no replies
        try:
            async with without_groups(self._connect(options)) as self._client:
                yield self
        finally:
            self._client = None

    @asynccontextmanager
    async def _connect(self, options: Mapping[str, Any]) -> AsyncIterator[Any]:
        if supports_multi_round_trip():
            mode = "legacy" if self.delivery == "server-initiated" else "auto"
            sdk: Any = mcp
            async with sdk.Client(self._tap.connected(self._build()), mode=mode, **options) as client:
                yield client
            return
        async with (
            self._tap.connected(self._build()) as streams,
            mcp.ClientSession(*streams, **options) as session,
        ):
            await session.initialize()
            yield session

    async def ask(self, params: Mapping[str, Any]) -> Reply:
        """Send one request with *params*, which may be invalid; return the reply."""
        return (await self.ask_all([params]))[0]

    async def ask_all(self, several: Sequence[Mapping[str, Any]], *, in_turn: bool = False) -> list[Reply]:
        """
        Send several requests in one tool call; return the replies in the same order.

        Args:
            several: The params of the requests.
            in_turn: True to send each request after the reply to the one
                before, False to send all at once.

        Raises:
            RuntimeError: If no client is connected.
            TypeError: If *several* is not a list of mappings.
        """
        self._check_connected()
        check_type("several", several, list, tuple, hint="Use `ask` for one request.")
        for params in several:
            check_type("params", params, Mapping)
        keys = [f"{_KEY_PREFIX}{len(self._requests) + at}" for at, _ in enumerate(several)]
        requests = [_SentRequest(params) for params in several]
        self._requests.update(zip(keys, requests, strict=True))
        try:
            await self._client.call_tool("ask", {"rounds": [[key] for key in keys] if in_turn else [keys]})
        except Exception as error:  # noqa: BLE001 -- the SDK or the callback may raise anything
            for request in requests:
                if request.reply == Reply():
                    request.reply = Reply(failure=error)
        finally:
            for request in requests:
                request.is_open = False
        return [request.reply for request in requests]

    async def wait_until_pending(self) -> None:
        """Wait until a request is pending."""
        self._check_connected()
        with anyio.fail_after(_SEND_TIMEOUT):
            while not any(each.is_pending for each in self._requests.values()):
                await self._request_sent.wait()

    async def withdraw(self) -> None:
        """
        Withdraw the pending requests; their `ask` ends (only for the delivery ``server-initiated``).

        A client that follows the protocol sends no reply.  `received` contains
        a late one.

        Raises:
            RuntimeError: If no client is connected, or requests are returned
                in results, where they cannot be withdrawn.
        """
        self._check_connected()
        if self.delivery != "server-initiated":
            raise RuntimeError(
                "Only server-initiated requests can be withdrawn. Cancel the call of the client instead."
            )
        for request in self._requests.values():
            if request.is_pending:
                params = {"requestId": request.request_id, "reason": "not needed any more"}
                message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
                request.is_open = False
                await self._tap.send_to_client(message)
                request.waiting.cancel()

    async def disconnect(self) -> None:
        """
        Close the connection.

        With the delivery ``multi-round-trip``, the client of the SDK notices
        this only when it sends the answer; `ask` does not end before that.
        """
        self._check_connected()
        await self._tap.disconnect()

    def _check_connected(self) -> None:
        if self._client is None:
            raise RuntimeError("No client is connected. Use the server in `async with server.connected(callback):`.")

    # --- the messages on their way

    def _to_client(self, message: Wire) -> Wire:
        if message.get("method") == "elicitation/create":
            request = self._mark_sent(message["params"]["message"])
            request.request_id = message["id"]
            kept = {name: message["params"][name] for name in ("_meta",) if name in message["params"]}
            return {**message, "params": {**kept, **request.params}}
        placeholders = message.get("result", {}).get("inputRequests")
        if placeholders:
            filled = {key: {**each, "params": self._params_in_result(key)} for key, each in placeholders.items()}
            return {**message, "result": {**message["result"], "inputRequests": filled}}
        return message

    def _params_in_result(self, key: str) -> Mapping[str, Any]:
        params = self._mark_sent(key).params
        return {name: value for name, value in params.items() if name != "elicitationId"}

    def _mark_sent(self, key: str) -> _SentRequest:
        request = self._requests[key]
        request.is_open = True
        self._request_sent.set()
        self._request_sent = anyio.Event()
        return request

    def _to_server(self, message: Wire) -> Wire:
        self.received.append(message)
        if "method" not in message:
            for request in self._requests.values():
                if request.request_id is not None and request.request_id == message.get("id"):
                    request.reply = Reply(result=message.get("result"), error=message.get("error"))
        answers = (message.get("params") or {}).get("inputResponses") or {}
        for key, result in answers.items():
            if key in self._requests:
                self._requests[key].reply = Reply(result=result)
        return message

    # --- the server of the SDK

    def _build(self) -> Any:
        build = _build_for_mcp_2 if supports_multi_round_trip() else _build_for_mcp_1
        return build(self.name, self._send_all)

    async def _send_all(self, session: Any, rounds: Sequence[Sequence[str]], request_id: Any) -> list[Any]:
        for keys in rounds:
            async with anyio.create_task_group() as group:
                for key in keys:
                    group.start_soon(self._send, session, key, request_id)
        return _text("asked")

    async def _send(self, session: Any, key: str, request_id: Any) -> None:
        with suppress(Exception), self._requests[key].waiting:  # the reply is read from the messages
            await session.elicit_form(key, _PLACEHOLDER, request_id)


_SendAll: TypeAlias = Callable[[Any, Sequence[Sequence[str]], Any], Awaitable[list[Any]]]


def _build_for_mcp_1(name: str, send_all: _SendAll) -> Any:
    server: Any = Server(name)

    async def call_tool(_name: str, arguments: dict[str, Any]) -> list[Any]:
        context = server.request_context
        return await send_all(context.session, arguments["rounds"], context.request_id)

    async def list_tools() -> list[Any]:
        return [_ask_tool()]

    server.list_tools()(list_tools)
    server.call_tool(validate_input=False)(call_tool)
    return server


def _build_for_mcp_2(name: str, send_all: _SendAll) -> Any:
    types: Any = mcp.types
    server_class: Any = Server

    async def call_tool(context: Any, params: Any) -> Any:
        rounds = params.arguments["rounds"]
        if context.protocol_version < FIRST_MULTI_ROUND_TRIP_VERSION:
            return types.CallToolResult(content=await send_all(context.session, rounds, context.request_id))
        at = int(params.request_state or 0)
        if at == len(rounds):
            return types.CallToolResult(content=_text("asked"))
        placeholders = {key: _placeholder(types, key) for key in rounds[at]}
        return types.InputRequiredResult(input_requests=placeholders, request_state=str(at + 1))

    async def list_tools(_context: Any, _params: Any) -> Any:
        return types.ListToolsResult(tools=[_ask_tool()])

    return server_class(name, on_list_tools=list_tools, on_call_tool=call_tool)


def _ask_tool() -> Any:
    return mcp.types.Tool.model_validate({"name": "ask", "inputSchema": {"type": "object"}})


def _text(text: str) -> list[Any]:
    return [mcp.types.TextContent(type="text", text=text)]


def _placeholder(types: Any, key: str) -> Any:
    params = {"mode": "form", "message": key, "requestedSchema": _PLACEHOLDER}
    return types.ElicitRequest.model_validate({"method": "elicitation/create", "params": params})
