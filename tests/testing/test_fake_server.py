"""Fake servers, hostile servers, and a user who follows a script."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from mcp.types import ElicitResult, ErrorData

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.testing import (
    DELIVERIES,
    ESCAPE_SEQUENCES,
    PAYLOADS,
    SPOOFED_URLS,
    Delivery,
    FakeServer,
    HostileServer,
    Reply,
    ScriptedUser,
)
from mcp_elicit_client.testing.callback_under_test import FAILURE_TEXT
from tests.support import until

pytestmark = pytest.mark.anyio

FORM = {
    "message": "How many guests?",
    "requestedSchema": {
        "type": "object",
        "properties": {"guests": {"type": "integer", "default": 4}, "name": {"type": "string"}},
        "required": ["guests"],
    },
}
URL = {"mode": "url", "message": "Please sign in", "url": "https://login.example/start", "elicitationId": "1"}


UNSENDABLE = ("NaN", "surrogates", "5 000 deep")
"""Parts of the names of payloads that no JSON parser passes on to a client."""


@pytest.fixture(params=DELIVERIES)
def delivery(request: pytest.FixtureRequest) -> Delivery:
    return request.param  # type: ignore[no-any-return]


def callback_of(user: ScriptedUser) -> Any:
    registry = ElicitationRegistry()
    registry.on_elicitation(user)
    return registry.callback("mail")


async def replies_to(
    user: ScriptedUser, *requests: dict[str, Any], delivery: Delivery = "server-initiated"
) -> list[Any]:
    async with FakeServer(delivery).connected(callback_of(user)) as server:
        return [(await server.ask(request)).result for request in requests]


async def test_a_server_records_replies_as_json(delivery: Delivery) -> None:
    async def callback(_context: Any, _params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"guests": 2, "name": None})

    async with FakeServer(delivery).connected(callback) as server:
        reply = await server.ask(FORM)

    assert reply.result == {"action": "accept", "content": {"guests": 2, "name": None}}
    assert (reply.accepted, reply.content["guests"], reply.error) == (True, 2, None)
    assert any("initialize" in json.dumps(each) or "inputResponses" in json.dumps(each) for each in server.received)


async def test_a_server_sends_requests_that_the_sdk_would_refuse(delivery: Delivery) -> None:
    seen: list[Any] = []

    async def callback(_context: Any, params: Any) -> ElicitResult:
        seen.append(params.model_dump(by_alias=True, mode="json", exclude_none=True))
        return ElicitResult(action="decline")

    schema = {"type": "object", "properties": {"a": {"allOf": [{"$ref": "#/x"}], "default": {"deep": [1]}}}}
    async with FakeServer(delivery).connected(callback) as server:
        assert (await server.ask({"message": "m", "requestedSchema": schema})).action == "decline"

    assert seen[0]["requestedSchema"]["properties"] == schema["properties"]


async def test_errors_and_exceptions_differ_from_answers(delivery: Delivery) -> None:
    async def refuses(_context: Any, _params: Any) -> ErrorData:
        return ErrorData(code=-32602, message="no such mode")

    async def raises(_context: Any, _params: Any) -> ElicitResult:
        raise RuntimeError("broken")

    async with FakeServer(delivery).connected(refuses) as server:
        reply = await server.ask(FORM)
    assert (reply.action, reply.refused, reply.accepted) == (None, True, False)

    async with FakeServer(delivery).connected(raises) as server:
        reply = await server.ask(FORM)
    assert (reply.action, reply.accepted) == (None, False)


async def test_concurrent_requests_get_one_reply_each(delivery: Delivery) -> None:
    user = ScriptedUser().answers({"guests": 1}).answers({"guests": 1})

    async with FakeServer(delivery).connected(callback_of(user)) as server:
        replies = await server.ask_all([FORM, URL])

    assert [reply.result for reply in replies] == [{"action": "accept", "content": {"guests": 1}}, {"action": "accept"}]


async def test_a_delivery_that_the_sdk_does_not_support_is_refused() -> None:
    with pytest.raises(ValueError, match="does not support the delivery"):
        FakeServer("2024")  # type: ignore[arg-type]


# --- the user


async def test_fields_that_are_not_in_the_script_stay_untouched(delivery: Delivery) -> None:
    got = await replies_to(ScriptedUser().answers().answers({"guests": 0, "name": ""}), FORM, FORM, delivery=delivery)

    assert got == [
        {"action": "accept", "content": {"guests": 4}},
        {"action": "accept", "content": {"guests": 0, "name": ""}},
    ]


async def test_a_user_consents_declines_cancels_and_walks_away(delivery: Delivery) -> None:
    user = ScriptedUser().answers().declines().cancels().walks_away()

    got = await replies_to(user, URL, FORM, URL, FORM, delivery=delivery)

    assert [each["action"] for each in got] == ["accept", "decline", "cancel", "cancel"]
    assert [request.message for request in user.requests] == [q["message"] for q in (URL, FORM, URL, FORM)]
    assert (user.finished, user.unexpected) == (True, [])


async def test_the_errors_of_typed_texts_are_shown(delivery: Delivery) -> None:
    user = ScriptedUser().types({"guests": "7", "name": "Ada"}).types({"guests": "many"})

    got = await replies_to(user, FORM, FORM, delivery=delivery)

    assert got == [{"action": "accept", "content": {"guests": 7, "name": "Ada"}}, {"action": "cancel"}]
    assert user.errors_shown == [("guests", "Enter a whole number.")]


@pytest.mark.parametrize("step", ["answers", "types"])
async def test_a_script_that_names_a_field_that_the_form_does_not_have_is_an_error(
    step: str, caplog: pytest.LogCaptureFixture
) -> None:
    user = getattr(ScriptedUser(), step)({"guest": "2"})

    assert await replies_to(user, FORM) == [{"action": "cancel"}]
    assert f"`{step}` names the field 'guest', which the form does not have." in caplog.text


async def test_requests_beyond_the_script_are_cancelled() -> None:
    user = ScriptedUser().declines()

    got = await replies_to(user, FORM, URL)

    assert [each["action"] for each in got] == ["decline", "cancel"]
    assert [request.mode for request in user.unexpected] == ["url"]


async def test_a_user_waits_until_an_event_is_set(delivery: Delivery) -> None:
    go_on = anyio.Event()
    user = ScriptedUser().waits(go_on).waits(0.01).answers()
    got: list[Any] = []

    async def ask() -> None:
        got.extend(await replies_to(user, FORM, delivery=delivery))

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        await until(lambda: user.requests)
        assert (got, user.finished) == ([], False)
        go_on.set()

    assert got[0]["action"] == "accept"


async def test_a_failing_interface_reveals_nothing_to_the_server(delivery: Delivery) -> None:
    async with FakeServer(delivery).connected(callback_of(ScriptedUser().fails())) as server:
        reply = await server.ask(FORM)

    assert (reply.action, reply.content) == ("cancel", None)
    assert FAILURE_TEXT not in json.dumps(server.received)


# --- hostile servers


@pytest.mark.parametrize("interrupt", ["disconnect", "withdraw"])
async def test_an_interrupted_request_gets_no_answer(interrupt: str) -> None:
    if interrupt == "disconnect" and version("mcp").startswith("1.24."):
        pytest.skip("mcp 1.24 raises a RuntimeError in its session when it is disconnected")
    user = ScriptedUser().waits()
    async with HostileServer("server-initiated").connected(callback_of(user)) as server:
        async with anyio.create_task_group() as group:
            group.start_soon(server.ask, FORM)
            await server.wait_until_pending()
            await getattr(server, interrupt)()
            group.cancel_scope.cancel()
        assert not any("result" in each and each["result"].get("action") for each in server.received)


async def test_a_server_that_disconnects_gets_no_answer() -> None:
    async with HostileServer("server-initiated").connected(
        callback_of(ScriptedUser().waits(0.05).declines())
    ) as server:
        reply = await server.disconnect_while_pending()

    assert reply.result is None


async def test_the_requests_of_an_earlier_connection_are_over(delivery: Delivery) -> None:
    server = FakeServer(delivery)
    async with server.connected(callback_of(ScriptedUser().waits())), anyio.create_task_group() as group:
        group.start_soon(server.ask, FORM)
        await server.wait_until_pending()
        group.cancel_scope.cancel()
    async with server.connected(callback_of(ScriptedUser().declines())):
        with anyio.move_on_after(0.1) as waiting:
            await server.wait_until_pending()
        reply = await server.ask(FORM)

    assert waiting.cancelled_caught
    assert reply.action == "decline"


async def test_a_request_that_is_over_is_not_awaited_as_pending(delivery: Delivery) -> None:
    asked: list[str] = []

    async def callback(_context: Any, _params: Any) -> ElicitResult:
        asked.append("request")
        await anyio.sleep_forever()
        raise AssertionError

    async with FakeServer(delivery).connected(callback) as server, anyio.create_task_group() as group:
        with anyio.CancelScope() as first:

            async def cancel_when_pending() -> None:
                await until(lambda: asked)
                first.cancel()

            group.start_soon(cancel_when_pending)
            await server.ask(FORM)
        asked.clear()
        with anyio.move_on_after(0.1) as waiting:
            await server.wait_until_pending()
        assert waiting.cancelled_caught
        group.start_soon(server.ask, FORM)
        await until(lambda: asked)
        if delivery == "server-initiated":
            await server.withdraw()
            with anyio.move_on_after(0.1) as waiting:
                await server.wait_until_pending()
            assert waiting.cancelled_caught
        group.cancel_scope.cancel()


async def test_a_server_takes_one_client_at_a_time(delivery: Delivery) -> None:
    async with FakeServer(delivery).connected(callback_of(ScriptedUser().declines())) as server:
        with pytest.raises(RuntimeError, match="A client is connected already"):
            async with server.connected(None):
                pass
        assert (await server.ask(FORM)).action == "decline"


@pytest.mark.parametrize("attack", [HostileServer.flood, HostileServer.nag])
@pytest.mark.parametrize(("number", "error"), [("x", TypeError), (True, TypeError), (-1, ValueError)])
async def test_a_number_of_requests_that_is_none_is_named(attack: Any, number: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="must be an int of at least 0"):
        await attack(HostileServer(), number)


async def test_a_server_nags_until_it_is_accepted(delivery: Delivery) -> None:
    user = ScriptedUser().declines().declines().answers({"name": "Ada"})

    async with HostileServer(delivery).connected(callback_of(user)) as server:
        replies = await server.nag()

    assert [reply.action for reply in replies] == ["decline", "decline", "accept"]


async def test_every_request_of_a_flood_reaches_the_user() -> None:
    user = ScriptedUser()

    async with HostileServer("server-initiated").connected(callback_of(user)) as server:
        replies = await server.flood(20)

    assert (len(user.requests), {reply.action for reply in replies}) == (20, {"cancel"})


@pytest.mark.parametrize("name", SPOOFED_URLS)
async def test_a_spoofed_url_does_not_reach_the_user(name: str, delivery: Delivery) -> None:
    user = ScriptedUser()

    async with HostileServer(delivery).connected(callback_of(user)) as server:
        reply = await server.send_spoofed_url(name)

    assert (user.requests, reply.accepted) == ([], False)


@pytest.mark.parametrize("name", ESCAPE_SEQUENCES)
async def test_escape_sequences_reach_the_user_sanitized(name: str, delivery: Delivery) -> None:
    user = ScriptedUser().declines()

    async with HostileServer(delivery).connected(callback_of(user)) as server:
        assert (await server.send_escape_sequence(name)).action == "decline"

    assert not set(user.requests[0].message) & set("\x1b\x07\x9b\r\b\u202e")


@pytest.mark.parametrize("name", [name for name in PAYLOADS if not any(each in name for each in UNSENDABLE)])
async def test_a_payload_gets_an_answer(name: str) -> None:
    async with HostileServer("server-initiated").connected(callback_of(ScriptedUser().declines())) as server:
        with anyio.fail_after(60):
            reply = await server.send_payload(name)

    assert reply.action in ("decline", "cancel") or reply.refused


@pytest.mark.anyio
async def test_a_withdrawn_request_ends_without_a_reply() -> None:
    replies: list[Reply] = []
    user = ScriptedUser().waits()

    async with FakeServer().connected(callback_of(user)) as server:

        async def ask() -> None:
            replies.append(await server.ask(FORM))

        with anyio.fail_after(10):
            async with anyio.create_task_group() as group:
                group.start_soon(ask)
                await server.wait_until_pending()
                await server.withdraw()

    assert replies == [Reply()]


@pytest.mark.anyio
@pytest.mark.skipif("multi-round-trip" not in DELIVERIES, reason="needs mcp 2")
async def test_a_request_in_a_result_cannot_be_withdrawn() -> None:
    async with FakeServer("multi-round-trip").connected(callback_of(ScriptedUser())) as server:
        with pytest.raises(RuntimeError, match="Only server-initiated requests"):
            await server.withdraw()


@pytest.mark.anyio
@pytest.mark.parametrize(
    "use",
    [
        lambda server: server.ask({"message": "m"}),
        lambda server: server.flood(2),
        lambda server: server.wait_until_pending(),
        lambda server: server.withdraw(),
        lambda server: server.disconnect(),
    ],
    ids=["ask", "flood", "wait", "withdraw", "disconnect"],
)
async def test_a_server_that_is_not_connected_says_how_to_connect_it(use: Any) -> None:
    server = HostileServer()
    with pytest.raises(RuntimeError, match=r"async with server\.connected\(callback\)"):
        await use(server)

    async with server.connected(None):
        pass
    with pytest.raises(RuntimeError, match=r"async with server\.connected\(callback\)"):
        await use(server)


@pytest.mark.anyio
@pytest.mark.parametrize("params", [{"message": "m"}, "m", ["m"]], ids=["mapping", "text", "texts"])
async def test_several_requests_are_a_list_of_params(params: Any) -> None:
    async with FakeServer().connected(None) as server:
        with pytest.raises(
            TypeError, match=r"`several` must be list or tuple, not \w+\. Use `ask`|`params` must be Map"
        ):
            await server.ask_all(params)


@pytest.mark.anyio
@pytest.mark.parametrize("delivery", DELIVERIES)
async def test_an_error_of_the_test_arrives_as_it_was_raised(delivery: Any) -> None:
    with pytest.raises(AssertionError, match="the reply is wrong"):
        async with FakeServer(delivery).connected(None):
            raise AssertionError("the reply is wrong")


@pytest.mark.anyio
async def test_an_unknown_argument_of_the_session_arrives_as_it_was_raised() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        async with FakeServer().connected(None, nonsense=1):
            pass


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("use", "where"),
    [
        (HostileServer.send_payload, "PAYLOADS"),
        (HostileServer.send_escape_sequence, "ESCAPE_SEQUENCES"),
        (HostileServer.send_spoofed_url, "SPOOFED_URLS"),
    ],
)
async def test_the_error_for_an_unknown_attack_names_the_table(use: Any, where: str) -> None:
    with pytest.raises(KeyError, match=f"There is no 'x'. `{where}` contains the names"):
        await use(HostileServer(), "x")
