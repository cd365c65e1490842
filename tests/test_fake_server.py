"""Servers that ask what they are told to, and a user who follows a script."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from mcp.types import ElicitResult, ErrorData

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.testing import (
    BOMBS,
    BROKEN,
    ERAS,
    ESCAPES,
    SPOOFED_URLS,
    Era,
    FakeServer,
    HostileServer,
    ScriptedUser,
)

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
"""What no JSON parser lets through to a client."""


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> Era:
    return request.param  # type: ignore[no-any-return]


def callback_of(user: ScriptedUser) -> Any:
    registry = ElicitationRegistry()
    registry.on_elicitation(user)
    return registry.callback("mail")


async def asked(user: ScriptedUser, *questions: dict[str, Any], era: Era = "push") -> list[Any]:
    async with FakeServer(era).connected(callback_of(user)) as server:
        return [(await server.ask(question)).result for question in questions]


async def test_a_server_keeps_what_it_got_as_it_is_on_the_wire(era: Era) -> None:
    async def callback(_context: Any, _params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"guests": 2, "name": None})

    async with FakeServer(era).connected(callback) as server:
        reply = await server.ask(FORM)

    assert reply.result == {"action": "accept", "content": {"guests": 2, "name": None}}
    assert (reply.accepted, reply.content["guests"], reply.error) == (True, 2, None)
    assert any("initialize" in json.dumps(each) or "inputResponses" in json.dumps(each) for each in server.received)


async def test_a_server_asks_what_the_sdk_would_not_send(era: Era) -> None:
    seen: list[Any] = []

    async def callback(_context: Any, params: Any) -> ElicitResult:
        seen.append(params.model_dump(by_alias=True, mode="json", exclude_none=True))
        return ElicitResult(action="decline")

    schema = {"type": "object", "properties": {"a": {"allOf": [{"$ref": "#/x"}], "default": {"deep": [1]}}}}
    async with FakeServer(era).connected(callback) as server:
        assert (await server.ask({"message": "m", "requestedSchema": schema})).action == "decline"

    assert seen[0]["requestedSchema"]["properties"] == schema["properties"]


async def test_an_error_and_an_exception_are_told_apart_from_answers(era: Era) -> None:
    async def refuses(_context: Any, _params: Any) -> ErrorData:
        return ErrorData(code=-32602, message="no such mode")

    async def raises(_context: Any, _params: Any) -> ElicitResult:
        raise RuntimeError("broken")

    async with FakeServer(era).connected(refuses) as server:
        reply = await server.ask(FORM)
    assert (reply.action, reply.refused, reply.accepted) == (None, True, False)

    async with FakeServer(era).connected(raises) as server:
        reply = await server.ask(FORM)
    assert (reply.action, reply.accepted) == (None, False)


async def test_questions_at_once_have_an_answer_each(era: Era) -> None:
    user = ScriptedUser().answers({"guests": 1}).answers({"guests": 1})

    async with FakeServer(era).connected(callback_of(user)) as server:
        replies = await server.ask_all([FORM, URL])

    assert [reply.result for reply in replies] == [{"action": "accept", "content": {"guests": 1}}, {"action": "accept"}]


async def test_an_era_that_the_sdk_does_not_speak_is_refused() -> None:
    with pytest.raises(ValueError, match="does not speak"):
        FakeServer("2024")  # type: ignore[arg-type]


# --- the user


async def test_a_user_leaves_what_is_not_in_the_script_untouched(era: Era) -> None:
    got = await asked(ScriptedUser().answers().answers({"guests": 0, "name": ""}), FORM, FORM, era=era)

    assert got == [
        {"action": "accept", "content": {"guests": 4}},
        {"action": "accept", "content": {"guests": 0, "name": ""}},
    ]


async def test_a_user_consents_declines_cancels_and_walks_away(era: Era) -> None:
    user = ScriptedUser().answers().declines().cancels().walks_away()

    got = await asked(user, URL, FORM, URL, FORM, era=era)

    assert [each["action"] for each in got] == ["accept", "decline", "cancel", "cancel"]
    assert [request.message for request in user.asked] == [q["message"] for q in (URL, FORM, URL, FORM)]
    assert (user.done, user.unexpected) == (True, [])


async def test_a_user_types_and_is_told_what_does_not_fit(era: Era) -> None:
    user = ScriptedUser().types({"guests": "7", "name": "Ada"}).types({"guests": "many"})

    got = await asked(user, FORM, FORM, era=era)

    assert got == [{"action": "accept", "content": {"guests": 7, "name": "Ada"}}, {"action": "cancel"}]
    assert user.told == [("guests", "Must be a whole number.")]


async def test_a_user_is_asked_beyond_the_script() -> None:
    user = ScriptedUser().declines()

    got = await asked(user, FORM, URL)

    assert [each["action"] for each in got] == ["decline", "cancel"]
    assert [request.mode for request in user.unexpected] == ["url"]


async def test_a_user_thinks_until_told_to_go_on(era: Era) -> None:
    go_on = anyio.Event()
    user = ScriptedUser().thinks(go_on).thinks(0.01).answers()
    got: list[Any] = []

    async def ask() -> None:
        got.extend(await asked(user, FORM, era=era))

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        while not user.asked:
            await anyio.sleep(0.01)
        assert (got, user.done) == ([], False)
        go_on.set()

    assert got[0]["action"] == "accept"


async def test_an_interface_that_breaks_tells_the_server_nothing(era: Era) -> None:
    async with FakeServer(era).connected(callback_of(ScriptedUser().breaks())) as server:
        reply = await server.ask(FORM)

    assert (reply.action, reply.content) == ("cancel", None)
    assert BROKEN not in json.dumps(server.received)


# --- servers that mean harm


async def test_a_question_that_is_taken_back_or_whose_server_dies_gets_no_answer() -> None:
    for harm in ("die", "withdraw"):
        user = ScriptedUser().thinks()
        async with HostileServer("push").connected(callback_of(user)) as server:
            async with anyio.create_task_group() as group:
                group.start_soon(server.ask, FORM)
                await server.asked()
                await getattr(server, harm)()
                group.cancel_scope.cancel()
            assert not any("result" in each and each["result"].get("action") for each in server.received)


async def test_a_server_that_dies_half_way_gets_no_answer() -> None:
    async with HostileServer("push").connected(callback_of(ScriptedUser().thinks(0.05).declines())) as server:
        reply = await server.die_half_way()

    assert reply.result is None


async def test_a_server_that_nags_stops_when_it_has_its_will(era: Era) -> None:
    user = ScriptedUser().declines().declines().answers({"name": "Ada"})

    async with HostileServer(era).connected(callback_of(user)) as server:
        replies = await server.nag()

    assert [reply.action for reply in replies] == ["decline", "decline", "accept"]


async def test_a_flood_reaches_the_user_as_questions() -> None:
    user = ScriptedUser()

    async with HostileServer("push").connected(callback_of(user)) as server:
        replies = await server.flood(20)

    assert (len(user.asked), {reply.action for reply in replies}) == (20, {"cancel"})


@pytest.mark.parametrize("name", SPOOFED_URLS)
async def test_a_spoofed_url_reaches_no_user(name: str, era: Era) -> None:
    user = ScriptedUser()

    async with HostileServer(era).connected(callback_of(user)) as server:
        reply = await server.spoof(name)

    assert (user.asked, reply.accepted) == ([], False)


@pytest.mark.parametrize("name", ESCAPES)
async def test_escapes_reach_the_user_as_text(name: str, era: Era) -> None:
    user = ScriptedUser().declines()

    async with HostileServer(era).connected(callback_of(user)) as server:
        assert (await server.escape(name)).action == "decline"

    assert not set(user.asked[0].message) & set("\x1b\x07\x9b\r\b\u202e")


@pytest.mark.parametrize("name", [name for name in BOMBS if not any(each in name for each in UNSENDABLE)])
async def test_a_bomb_gets_an_answer(name: str) -> None:
    async with HostileServer("push").connected(callback_of(ScriptedUser().declines())) as server:
        with anyio.fail_after(20):
            reply = await server.bomb(name)

    assert reply.action in ("decline", "cancel") or reply.refused
