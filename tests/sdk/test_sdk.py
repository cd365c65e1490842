"""The callback in real sessions: whichever SDK is installed, pushed and multi-round-trip, stdio and HTTP."""

from __future__ import annotations

import json
import logging
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp.types
import pytest

from mcp_elicit_client import Answer, ElicitationRegistry, RequestError, accept, accept_with_defaults, cancel, decline
from mcp_elicit_client.calls._connect import Command, ConnectMode
from mcp_elicit_client.sdk.callback import elicitation_callback, supports_multi_round_trip
from mcp_elicit_client.typing import Request
from tests.support import ASKER, ROOT, form_params, http_server
from tests.support.plain import PlainConnection, plain

pytestmark = pytest.mark.anyio

ERAS: list[ConnectMode] = ["legacy", "auto"] if supports_multi_round_trip() else ["legacy"]
FORM = {
    "mode": "form",
    **form_params(
        {
            "type": "object",
            "properties": {"name": {"type": "string", "default": "Ann"}, "age": {"type": "integer"}},
            "required": ["name"],
        }
    ),
}
URL = {"mode": "url", "message": "m", "url": "https://example.com/", "elicitationId": "e1"}
NESTED = {"mode": "form", **form_params({"type": "object", "properties": {"a": {"type": "object"}}, "required": ["a"]})}
UNSAFE = {**URL, "url": "https://evil.example\\@example.com/"}


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> ConnectMode:
    return "auto" if request.param == "auto" else "legacy"


@asynccontextmanager
async def asker(registry: ElicitationRegistry, era: ConnectMode) -> AsyncIterator[PlainConnection]:
    with tempfile.TemporaryFile("w+") as errlog:
        command = Command(ASKER, errlog, {"PYTHONPATH": str(ROOT)})
        async with plain(command, registry.callback("mail"), mode=era) as connection:
            yield connection


async def ask(connection: PlainConnection, params: dict[str, Any]) -> dict[str, Any]:
    result = await connection.call_tool("ask", {"params": params})
    assert not result.get("isError"), result
    got: dict[str, Any] = json.loads(result["content"][0]["text"])
    got.pop("resultType", None)  # 2026-07-28 tags every result
    return got


def answering(reply: Any) -> ElicitationRegistry:
    """A registry whose handler returns *reply*, raises it, or calls it with the request."""
    registry = ElicitationRegistry()

    @registry.on_elicitation
    async def handler(request: Request) -> Any:
        return reply_to(request, reply)

    return registry


def watching(seen: list[Request]) -> ElicitationRegistry:
    """A registry whose handler declines, having put the request into *seen*."""

    def decline_it(request: Request) -> Any:
        seen.append(request)
        return decline()

    return answering(decline_it)


def reply_to(request: Request, reply: Any) -> Any:
    if isinstance(reply, Exception):
        raise reply
    return reply(request) if callable(reply) else reply


REPLIES = {
    "an answer": (FORM, Answer.accept({"name": "Bob"}, by="user"), {"action": "accept", "content": {"name": "Bob"}}),
    "1.0 as 1": (
        FORM,
        Answer.accept({"name": "B", "age": 1.0}, by="user"),
        {"action": "accept", "content": {"name": "B", "age": 1}},
    ),
    "a result": (FORM, lambda _: accept({"name": "Bob"}), {"action": "accept", "content": {"name": "Bob"}}),
    "defaults": (FORM, accept_with_defaults, {"action": "accept", "content": {"name": "Ann"}}),
    "decline": (FORM, lambda _: decline(), {"action": "decline"}),
    "cancel": (FORM, lambda _: cancel(), {"action": "cancel"}),
    "a url": (URL, Answer.accept(by="user"), {"action": "accept"}),
    "a url with content": (URL, Answer.accept({"a": "b"}, by="user"), {"action": "accept"}),
    "a url declined": (URL, Answer.decline(by="user"), {"action": "decline"}),
    "nothing": (FORM, None, {"action": "cancel"}),
    "true": (FORM, True, {"action": "cancel"}),
    "a dict": (FORM, {"action": "accept", "content": {"name": "Bob"}}, {"action": "cancel"}),
    "a wrong answer": (FORM, Answer.accept({"age": "old"}, by="user"), {"action": "cancel"}),
    "an unknown key": (
        FORM,
        Answer.accept({"name": "Bob", "x": "y"}, by="user"),
        {"action": "accept", "content": {"name": "Bob"}},
    ),
    "an exception": (FORM, RuntimeError("/home/ann/.config/token"), {"action": "cancel"}),
    "a value error": (URL, ValueError("boom"), {"action": "cancel"}),
    "a request error of the handler's own": (URL, RequestError("boom"), {"action": "cancel"}),
    "defaults of a url": (URL, accept_with_defaults, {"action": "cancel"}),
}


async def test_the_server_gets_exactly_the_answer(era: ConnectMode) -> None:
    replies = iter([reply for _, reply, _ in REPLIES.values()])
    got = {}
    async with asker(answering(lambda request: reply_to(request, next(replies))), era) as connection:
        for name, (params, _, _) in REPLIES.items():
            got[name] = await ask(connection, params)

    assert {name: expected for name, (_, _, expected) in REPLIES.items()} == got


async def test_without_a_handler_the_server_gets_a_cancel(era: ConnectMode) -> None:
    async with asker(ElicitationRegistry(), era) as connection:
        got = await ask(connection, FORM)

    assert got["action"] == "cancel"


@pytest.mark.parametrize(("params", "text"), [(NESTED, 'the required field "a"'), (UNSAFE, "ambiguous host")])
async def test_an_unanswerable_request_is_an_error_if_the_protocol_allows_it(
    params: dict[str, Any], text: str, era: ConnectMode
) -> None:
    async with asker(answering(Answer.accept(by="user")), era) as connection:
        got = await ask(connection, params)

    if era == "legacy":
        assert got["error"] == -32602
        assert text in got["message"]
    else:
        assert got["action"] == "cancel"


async def test_the_handler_gets_the_server_name_and_the_protocol_version(era: ConnectMode) -> None:
    seen: list[Request] = []
    async with asker(watching(seen), era) as connection:
        await ask(connection, FORM)
        await ask(connection, URL)

    assert [request.mode for request in seen] == ["form", "url"]
    assert {request.server.name for request in seen} == {"mail"}
    assert all(request.request_id is not None for request in seen)
    if supports_multi_round_trip():
        assert {request.server.claimed_name for request in seen} == {"asker"}
        assert {request.protocol_version for request in seen} == {connection.protocol}
        assert connection.protocol == ("2025-11-25" if era == "legacy" else "2026-07-28")


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize(("params", "reply", "expected"), [REPLIES["an answer"], REPLIES["a url"], REPLIES["decline"]])
async def test_answers_are_sent_over_streamable_http(
    params: dict[str, Any], reply: Any, expected: dict[str, Any], era: ConnectMode
) -> None:
    with http_server() as url:
        async with plain(url, answering(reply).callback("mail"), mode=era) as connection:
            got = await ask(connection, params)

    assert got == expected


def params_of(wire: dict[str, Any]) -> Any:
    model = mcp.types.ElicitRequestURLParams if wire["mode"] == "url" else mcp.types.ElicitRequestFormParams
    return model.model_validate(wire)


async def test_an_exception_of_a_handler_is_logged_and_stays_private(caplog: pytest.LogCaptureFixture) -> None:
    callback = answering(RuntimeError("secret")).callback("mail")
    with caplog.at_level(logging.ERROR):
        result = await callback(None, params_of(FORM))

    assert isinstance(result, mcp.types.ElicitResult)
    assert (result.action, result.content) == ("cancel", None)
    assert "secret" in caplog.text


@pytest.mark.parametrize("value", ["typed 4711", {"typed": "4711"}, ["typed 4711", None]])
async def test_no_value_of_an_answer_reaches_the_log(value: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        await answering(lambda _: Answer.accept({"age": value}, by="user")).callback("mail")(None, params_of(FORM))

    assert "server 'mail'" in caplog.text
    assert "4711" not in caplog.text


async def test_cancellation_passes_through() -> None:
    registry = ElicitationRegistry()
    ended: list[str] = []

    @registry.on_elicitation
    async def thinks(_request: Request) -> Answer:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("withdrawn")
        raise AssertionError

    async with anyio.create_task_group() as group:
        group.start_soon(registry.callback("mail"), None, params_of(FORM))
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()

    assert ended == ["withdrawn"]


async def test_a_callback_accepts_any_handler_and_any_context() -> None:
    async def handler(request: Request) -> Answer:
        return Answer.decline(by="user", reason=request.server.name)

    class Context:
        request_id = object()
        session = object()

    result = await elicitation_callback(handler, server="mail")(Context(), params_of(URL))

    assert isinstance(result, mcp.types.ElicitResult)
    assert result.action == "decline"


async def test_invalid_params_are_an_error() -> None:
    result = await ElicitationRegistry().callback("mail")(None, None)  # type: ignore[arg-type]

    assert isinstance(result, mcp.types.ErrorData)
    assert result.code == -32602


async def test_the_claimed_name_is_truncated_and_sanitized() -> None:
    seen: list[Request] = []

    class Info:
        name = "\x1b[2J" + "x" * 500

    class Session:
        server_info = Info
        protocol_version = "2025-11-25"

    class Context:
        session = Session
        request_id = 1

    await watching(seen).callback("mail")(Context(), params_of(FORM))

    claimed = seen[0].server.claimed_name or ""
    assert claimed.startswith("\\u{1b}[2Jxxx")
    assert len(claimed) < 220
