"""
A server in the same process that asks what it is told to, and keeps what it was sent.

It is a server of the installed SDK, spoken to through a client of the SDK, so
that a callback under test is called as in production.  Only the params of the
questions are put in on the way, so that anything can be asked, also what the
SDK's own server would refuse to send.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar

import anyio
import mcp
import mcp.types
from mcp.server.lowlevel import Server

from mcp_elicit_client.sdk.callback import supports_multi_round_trip
from mcp_elicit_client.testing.message_tap import MessageTap, Wire

S = TypeVar("S", bound="FakeServer")

Delivery: TypeAlias = Literal["server-initiated", "multi-round-trip"]
"""
How questions come: sent by the server (up to 2025-11-25), or in the result of
a call that is repeated with the answers (2026-07-28, which takes mcp 2).
"""

DELIVERIES: tuple[Delivery, ...] = (
    ("server-initiated", "multi-round-trip") if supports_multi_round_trip() else ("server-initiated",)
)
"""The deliveries that the installed SDK speaks."""

_PLACEHOLDER: dict[str, Any] = {"type": "object", "properties": {}}
_MARK = "question "
_ON_ITS_WAY = 10.0
_REFUSALS = (-32602, -32601, -32600)


@dataclass(frozen=True, slots=True)
class Reply:
    """
    What the server was sent as the answer to one question, as it is on the wire.

    Attributes:
        result: The JSON of the result; None if there was none.
        error: The JSON of the error that came in its place.
        failure: What the client's own call raised, where neither came.
    """

    result: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    failure: BaseException | None = None

    @property
    def action(self) -> str | None:
        """Accept, decline or cancel, or whatever stands there; None if there is no result."""
        return None if self.result is None else self.result.get("action")

    @property
    def content(self) -> Any:
        """The content; None where there is none."""
        return None if self.result is None else self.result.get("content")

    @property
    def accepted(self) -> bool:
        """Whether the answer is yes."""
        return self.action == "accept"

    @property
    def refused(self) -> bool:
        """Whether it is an error that says that such questions are not served."""
        code = self.error.get("code") if self.error is not None else _code_of(self.failure)
        return code in _REFUSALS

    def __str__(self) -> str:
        if self.result is not None:
            shown = {name: value for name, value in self.result.items() if name in ("action", "content")}
            return f"{shown}"
        if self.error is not None:
            return f"an error ({self.error.get('code')}: {self.error.get('message')})"
        return "nothing" if self.failure is None else f"nothing, since {type(self.failure).__name__} was raised"


def _code_of(error: BaseException | None) -> Any:
    """Find the code that the SDK gave an error on its way out of a call (``rounds``)."""
    for each in getattr(error, "exceptions", ()):
        if (code := _code_of(each)) is not None:
            return code
    return getattr(getattr(error, "error", None), "code", None)


@dataclass
class _Question:
    params: Mapping[str, Any]
    request_id: Any = None
    reply: Reply = field(default_factory=Reply)
    asked: bool = False

    @property
    def is_open(self) -> bool:
        return self.asked and self.reply == Reply()


class FakeServer:
    """
    A server that asks what it is told to.

    Args:
        delivery: How it asks.
        name: What it calls itself.

    Attributes:
        received: All that the client has sent, message by message, as JSON on
            the wire.
    """

    def __init__(self, delivery: Delivery = "server-initiated", *, name: str = "fake-server") -> None:
        if delivery not in DELIVERIES:
            raise ValueError(f"the installed SDK does not speak the delivery {delivery!r}")
        self.delivery = delivery
        self.name = name
        self.received: list[Wire] = []
        self._questions: dict[str, _Question] = {}
        self._relay = MessageTap(self._to_client, self._to_server)
        self._client: Any = None

    @asynccontextmanager
    async def connected(self: S, callback: Any, **options: Any) -> AsyncIterator[S]:  # noqa: PYI019 -- no Self in 3.10
        """
        Connect a client of the SDK with *callback*; yield this server.

        Args:
            callback: What ``elicitation_callback`` takes.
            options: What else ``ClientSession`` (mcp 1.x) or ``Client`` takes.
        """
        options = {"elicitation_callback": callback, **options}
        if supports_multi_round_trip():
            mode = "legacy" if self.delivery == "server-initiated" else "auto"
            sdk: Any = mcp
            async with sdk.Client(self._relay.connected(self._build()), mode=mode, **options) as self._client:
                yield self
            return
        async with (
            self._relay.connected(self._build()) as streams,
            mcp.ClientSession(*streams, **options) as self._client,
        ):
            await self._client.initialize()
            yield self

    async def ask(self, params: Mapping[str, Any]) -> Reply:
        """Ask one question, whatever its *params* are; return what came back."""
        return (await self.ask_all([params]))[0]

    async def ask_all(self, several: Sequence[Mapping[str, Any]]) -> list[Reply]:
        """Ask several questions at once, in one call of a tool; return what came back for each."""
        names = [f"{_MARK}{len(self._questions) + at}" for at, _ in enumerate(several)]
        questions = [_Question(params) for params in several]
        self._questions.update(zip(names, questions, strict=True))
        try:
            await self._client.call_tool("ask", {"questions": names})
        except Exception as error:  # noqa: BLE001 -- whatever the SDK or the callback raises
            for question in questions:
                if question.reply == Reply():
                    question.reply = Reply(failure=error)
        return [question.reply for question in questions]

    async def asked(self) -> None:
        """Wait until a question is open."""
        with anyio.fail_after(_ON_ITS_WAY):
            while not any(each.is_open for each in self._questions.values()):  # noqa: ASYNC110 -- more may come
                await anyio.sleep(0.005)

    async def withdraw(self) -> None:
        """Take back the questions that have no answer yet (``push`` only)."""
        for question in self._questions.values():
            if question.request_id is not None and question.reply == Reply():
                params = {"requestId": question.request_id, "reason": "not needed any more"}
                await self._relay.inject({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

    async def die(self) -> None:
        """Cut the connection."""
        await self._relay.cut()

    # --- on the way

    def _to_client(self, message: Wire) -> Wire:
        if message.get("method") == "elicitation/create":
            question = self._questions[message["params"]["message"]]
            question.request_id = message["id"]
            question.asked = True
            kept = {name: message["params"][name] for name in ("_meta",) if name in message["params"]}
            return {**message, "params": {**kept, **question.params}}
        requests = message.get("result", {}).get("inputRequests")
        if requests:
            asked = {name: {**request, "params": self._raw(name)} for name, request in requests.items()}
            return {**message, "result": {**message["result"], "inputRequests": asked}}
        return message

    def _raw(self, name: str) -> dict[str, Any]:
        question = self._questions[name]
        question.asked = True
        return {key: value for key, value in question.params.items() if key != "elicitationId"}

    def _to_server(self, message: Wire) -> Wire:
        self.received.append(message)
        if "method" not in message:
            for question in self._questions.values():
                if question.request_id is not None and question.request_id == message.get("id"):
                    question.reply = Reply(result=message.get("result"), error=message.get("error"))
        answers = (message.get("params") or {}).get("inputResponses") or {}
        for name, result in answers.items():
            if name in self._questions:
                self._questions[name].reply = Reply(result=result)
        return message

    # --- the server itself

    def _build(self) -> Any:
        return _build_for_mcp_2(self.name) if supports_multi_round_trip() else _build_for_mcp_1(self.name)


async def _push_all(session: Any, names: Sequence[str], request_id: Any) -> list[Any]:
    async def push(name: str) -> None:
        with suppress(Exception):  # what came back is read from the wire
            await session.elicit_form(name, _PLACEHOLDER, request_id)

    async with anyio.create_task_group() as group:
        for name in names:
            group.start_soon(push, name)
    return [mcp.types.TextContent(type="text", text="asked")]


def _build_for_mcp_1(name: str) -> Any:
    server: Any = Server(name)

    async def call_tool(_name: str, arguments: dict[str, Any]) -> list[Any]:
        context = server.request_context
        return await _push_all(context.session, arguments["questions"], context.request_id)

    async def list_tools() -> list[Any]:
        return [mcp.types.Tool.model_validate({"name": "ask", "inputSchema": {"type": "object"}})]

    server.list_tools()(list_tools)
    server.call_tool(validate_input=False)(call_tool)
    return server


def _build_for_mcp_2(name: str) -> Any:
    types: Any = mcp.types
    server_class: Any = Server

    async def call_tool(context: Any, params: Any) -> Any:
        names = params.arguments["questions"]
        if context.protocol_version < "2026-07-28":
            return types.CallToolResult(content=await _push_all(context.session, names, context.request_id))
        if params.input_responses:
            return types.CallToolResult(content=[types.TextContent(type="text", text="asked")])
        asked = {name: _placeholder(types, name) for name in names}
        return types.InputRequiredResult(input_requests=asked, request_state="opaque")

    async def list_tools(_context: Any, _params: Any) -> Any:
        return types.ListToolsResult(
            tools=[types.Tool.model_validate({"name": "ask", "inputSchema": {"type": "object"}})]
        )

    return server_class(name, on_list_tools=list_tools, on_call_tool=call_tool)


def _placeholder(types: Any, name: str) -> Any:
    params = {"mode": "form", "message": name, "requestedSchema": _PLACEHOLDER}
    return types.ElicitRequest.model_validate({"method": "elicitation/create", "params": params})
