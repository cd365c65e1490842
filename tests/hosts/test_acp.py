"""An ACP client answers the requests of an agent: what its user sees, and what the agent gets."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_elicit_client import (
    Answer,
    ElicitationRegistry,
    FormRequest,
    RequestError,
    UnsafeUrlError,
    UrlRequest,
    inspect_url,
    parse_request,
)
from mcp_elicit_client.dispatch import apply_policy
from mcp_elicit_client.handlers.acp.wire import declared_modes, to_mcp_params
from mcp_elicit_client.hosts.acp import answer_agent, elicitation_capabilities
from mcp_elicit_client.request_options import RequestOptions
from mcp_elicit_client.typing import Handler, Request
from tests.support import corpus, example_or_none, table, until
from tests.support.acp import SESSION, Peer, client_side

pytestmark = [pytest.mark.anyio, pytest.mark.event_loops("asyncio")]

NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
FORM = {"sessionId": SESSION, "mode": "form", "message": "Who?", "requestedSchema": NAME}
URL = {"sessionId": SESSION, "mode": "url", "message": "Sign in", "url": "https://example.com", "elicitationId": "e1"}


@dataclass
class User:
    """Answers as the test says, and remembers what it was asked."""

    answer: Callable[[Request], Any] = lambda _request: Answer.cancel(by="user")
    asked: list[Any] = field(default_factory=list)
    is_open: anyio.Event = field(default_factory=anyio.Event)
    withdrawn: anyio.Event = field(default_factory=anyio.Event)

    async def __call__(self, request: Request) -> Answer:
        self.asked.append(request)
        return self.answer(request)  # type: ignore[no-any-return]

    async def never(self, request: Request) -> Answer:
        self.asked.append(request)
        self.is_open.set()
        try:
            await anyio.sleep_forever()
        finally:
            self.withdrawn.set()
        raise AssertionError


@asynccontextmanager
async def agent_of(handler: Handler, modes: Any = None, **options: Any) -> AsyncIterator[tuple[Any, Peer]]:
    """Connect a client that answers with *handler*; yield its connection, and its agent."""

    def attach(connection: Any) -> None:
        answer_agent(connection, handler, agent="assistant", **options)

    declared = elicitation_capabilities(handler) if modes is None else modes
    async with client_side(attach, declared) as (connection, peer):
        yield connection, peer


async def ask(handler: Handler, params: Any, **options: Any) -> Any:
    """Return the response to one request."""
    async with agent_of(handler, **options) as (_, peer):
        return await peer.call("elicitation/create", params, "r1")


def accept(content: dict[str, Any] | None = None) -> User:
    return User(lambda _request: Answer.accept(content, by="user"))


# --- what the user sees, and what the agent gets


async def test_a_form_is_answered_in_the_name_of_the_agent() -> None:
    user = accept({"name": "Ann"})
    response = await ask(user, FORM, user="ann")

    (asked,) = user.asked
    assert (asked.server.name, asked.user, asked.message) == ("assistant", "ann", "Who?")
    assert response == {
        "jsonrpc": "2.0",
        "id": "r1",
        "result": {"action": "accept", "content": {"name": "Ann"}},
    }


@pytest.mark.parametrize("params", [FORM, URL])
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_decline_and_a_cancel_have_no_content(params: Any, action: Any) -> None:
    response = await ask(User(lambda _request: Answer(action=action, by="user")), params)

    assert response["result"] == {"action": action}


async def test_the_url_is_the_one_that_the_agent_sent() -> None:
    user = accept()
    response = await ask(user, URL)

    (asked,) = user.asked
    assert asked.target.url == "https://example.com"  # pydantic would add a slash
    assert asked.respond_after == "consent"
    assert response["result"] == {"action": "accept"}


async def test_a_url_that_is_refused_is_not_repaired() -> None:
    user = accept()
    refused = [row["url"] for row in table("urls") if row["expect"] == "refuse"]
    async with agent_of(user) as (_, peer):
        codes = {(await peer.call("elicitation/create", {**URL, "url": url}))["error"]["code"] for url in refused}

    assert len(refused) > 20
    assert codes == {-32602}
    assert user.asked == []


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com\\@evil.example/",
        "javascript:alert(1)",
        "https://user:password@example.com/",
        "https://ex ample.com/",
        "file:///etc/passwd",
        5,
        None,
        ["https://example.com"],
    ],
    ids=str,
)
async def test_a_url_that_a_browser_would_read_in_another_way_is_refused(url: Any) -> None:
    user = accept()
    response = await ask(user, {**URL, "url": url})

    assert response["error"]["code"] == -32602
    assert user.asked == []


async def test_the_meta_of_an_agent_replaces_nothing() -> None:
    user = accept({"name": "Ann"})
    meta = {"message": "EVIL", "mode": {"url": "https://evil.example"}, "self": 1, "traceparent": "00-1"}
    response = await ask(user, {**FORM, "_meta": meta})

    (asked,) = user.asked
    assert (asked.message, asked.mode, asked.meta) == ("Who?", "form", meta)
    assert response["result"]["action"] == "accept"


async def test_titles_and_descriptions_that_only_acp_has_are_shown() -> None:
    user = User()
    option = {"const": "s", "title": "Small", "description": "for one\x1b"}
    schema = {
        "title": "Order",
        "description": "Pay later",
        "properties": {
            "size": {"type": "string", "oneOf": [option, {"const": "l", "title": "Large"}]},
            "sizes": {"type": "array", "items": {"anyOf": [option]}},
        },
    }
    await ask(user, {**FORM, "requestedSchema": schema})

    (asked,) = user.asked
    assert asked.message == "Who?\nOrder\nPay later"
    one, some = asked.form.fields
    assert [each.title for each in one.choices] == ["Small: for one\\u{1b}", "Large"]
    assert [each.title for each in some.choices] == ["Small: for one\\u{1b}"]


async def test_keywords_that_the_package_would_drop_are_checked() -> None:
    schema = {"properties": {"n": {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5}}}
    response = await ask(accept({"n": 0.3}), {**FORM, "requestedSchema": schema})

    assert response["result"] == {"action": "cancel"}


# --- agents that break the protocol

MALFORMED: list[Any] = [
    {**FORM, "mode": "other"},
    {**FORM, "mode": None},
    {**FORM, "mode": ["form"]},
    {name: value for name, value in FORM.items() if name != "mode"},
    {name: value for name, value in FORM.items() if name != "sessionId"},
    {**FORM, "sessionId": 5},
    {**FORM, "message": 5},
    {name: value for name, value in FORM.items() if name != "message"},
    {**FORM, "requestedSchema": None},
    {**FORM, "requestedSchema": []},
    {**FORM, "requestedSchema": {"type": "array"}},
    {**FORM, "requestedSchema": {"properties": {"a": {"type": "object"}}, "required": ["a"]}},
    {name: value for name, value in FORM.items() if name != "requestedSchema"},
    {**URL, "elicitationId": None},
    {**URL, "elicitationId": 7},
    {**URL, "elicitationId": "e" * 2_000},
    {name: value for name, value in URL.items() if name != "elicitationId"},
    [],
    None,
    "text",
]


@pytest.mark.parametrize("params", MALFORMED)
async def test_a_malformed_request_is_an_error_and_the_user_sees_nothing(params: Any) -> None:
    user = accept({"name": "Ann"})
    response = await ask(user, params)

    assert response["error"]["code"] == -32602
    assert user.asked == []


@pytest.mark.parametrize("params", [FORM, URL])
async def test_a_mode_that_was_not_declared_is_refused(params: dict[str, Any]) -> None:
    user = accept({"name": "Ann"})
    registry = ElicitationRegistry()
    registry.on_elicitation(mode="url" if params is FORM else "form")(user)
    response = await ask(registry, params)
    nothing = await ask(user, params, modes=elicitation_capabilities(ElicitationRegistry()))

    for each in (response, nothing):
        error = {"code": -32602, "message": f"this client did not declare {params['mode']} mode"}
        assert each["error"] == error
    assert user.asked == []


async def test_the_log_says_that_requests_are_answered_too_late(caplog: pytest.LogCaptureFixture) -> None:
    user = User()
    async with client_side(lambda _connection: None, elicitation_capabilities(user.never)) as (connection, peer):
        answer_agent(connection, user.never, agent="assistant")
        await peer.call("unknown/method", {}, 6)  # the package already waits for this message
        response = await peer.call("elicitation/create", FORM, 7)

    assert response["error"]["code"] == -32602
    assert "`answer_agent` has not seen `initialize` of the client. Call it in `on_connect`." in caplog.messages


async def test_options_narrow_the_modes_that_are_declared() -> None:
    user = accept()
    options = RequestOptions(modes={"url"})
    declared = elicitation_capabilities(user, request_options=options)

    assert (declared.form, declared.url is None) == (None, False)
    assert (await ask(user, FORM, modes=declared, request_options=options))["error"]["code"] == -32602
    assert (await ask(user, URL, modes=declared, request_options=options))["result"] == {"action": "accept"}


async def test_an_exception_of_the_handler_is_a_cancel_and_its_text_stays_here() -> None:
    def fail(_request: Request) -> Answer:
        raise RuntimeError('{"secret": 1}')

    response = await ask(User(fail), FORM)

    assert response["result"] == {"action": "cancel"}
    assert "secret" not in json.dumps(response)


async def test_an_answer_that_does_not_fit_is_not_sent() -> None:
    response = await ask(accept({"name": 5, "more": "x"}), FORM)

    assert response["result"] == {"action": "cancel"}


async def test_an_id_that_is_in_use_is_refused() -> None:
    user = User()
    async with agent_of(user.never) as (_, peer):
        peer.say("elicitation/create", URL, id=1)
        await user.is_open.wait()
        same_request = await peer.call("elicitation/create", FORM, 1)
        same_url = await peer.call("elicitation/create", URL, 2)
        peer.say("$/cancel_request", {"requestId": 1})
        assert (await peer.read())["error"]["code"] == -32800
        await user.withdrawn.wait()
        user.is_open = anyio.Event()
        peer.say("elicitation/create", URL, id=1)
        with anyio.fail_after(60):
            await user.is_open.wait()

    assert (same_request["id"], same_request["error"]["code"]) == (1, -32602)
    assert (same_url["id"], same_url["error"]) == (2, {"code": -32602, "message": "`elicitationId` is in use"})


async def test_the_ids_of_a_withdrawn_request_can_be_used_at_once() -> None:
    user = User()
    goes_on = anyio.Event()

    async def ask(request: Request) -> Answer:
        if user.is_open.is_set():
            return Answer.accept(by="user")
        try:
            return await user.never(request)
        finally:
            with anyio.CancelScope(shield=True):
                await goes_on.wait()

    async with agent_of(ask) as (_, peer):
        peer.say("elicitation/create", URL, id=1)
        await user.is_open.wait()
        peer.say("$/cancel_request", {"requestId": 1})
        assert (await peer.read())["error"]["code"] == -32800
        with anyio.fail_after(60):
            again = await peer.call("elicitation/create", URL, 2)
        goes_on.set()

    assert again["result"] == {"action": "accept"}


async def test_a_handler_that_goes_on_after_its_request_was_withdrawn_answers_no_other() -> None:
    goes_on, has_ended = anyio.Event(), anyio.Event()
    asked: list[str] = []

    async def stubborn(request: Request) -> Answer:
        asked.append(request.message)
        if request.message != "Who?":
            await anyio.sleep_forever()
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await goes_on.wait()
        has_ended.set()
        return Answer.accept({"name": "Ann"}, by="user")

    async with agent_of(stubborn) as (_, peer):
        peer.say("elicitation/create", FORM, id="r1")
        await until(lambda: asked)
        peer.say("$/cancel_request", {"requestId": "r1"})
        assert (await peer.read())["error"]["code"] == -32800
        peer.say("elicitation/create", {**FORM, "message": "Who else?"}, id="r1")
        await until(lambda: len(asked) >= 2)
        goes_on.set()
        await has_ended.wait()
        peer.say("$/cancel_request", {"requestId": "r1"})

        assert (await peer.read())["error"]["code"] == -32800


async def test_a_flood_of_requests_is_limited() -> None:
    user = User()
    async with agent_of(user.never) as (_, peer):
        for number in range(500):
            peer.say("elicitation/create", FORM, id=number)
        refused = [await peer.read() for _ in range(400)]

    assert {json.dumps(each["result"]) for each in refused} == {'{"action": "cancel"}'}
    assert len(user.asked) <= 100


# --- cancellation, completion and the end


async def test_the_agent_withdraws_its_request() -> None:
    user = User()
    async with agent_of(user.never) as (_, peer):
        peer.say("elicitation/create", FORM, id=7)
        await user.is_open.wait()
        unknown: Any
        for unknown in (8, "7", None, [7], {}):
            peer.say("$/cancel_request", {"requestId": unknown})
        peer.say("$/cancel_request", {"requestId": 7})
        peer.say("$/cancel_request", {"requestId": 7})
        response = await peer.read()
        with anyio.fail_after(60):
            await user.withdrawn.wait()

    assert response == {"jsonrpc": "2.0", "id": 7, "error": {"code": -32800, "message": "Request cancelled"}}


async def test_an_agent_that_cancels_a_request_which_has_its_response_causes_no_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    user = User()
    async with agent_of(user.never) as (connection, peer):
        peer.say("elicitation/create", FORM, id=7)
        await user.is_open.wait()
        await connection.cancel(session_id=SESSION)
        await peer.read()
        await peer.read()
        peer.say("$/cancel_request", {"requestId": 7})
        unknown = await peer.call("unknown/method", {}, 8)

    assert unknown["error"]["code"] == -32601
    assert caplog.records == []


async def test_a_turn_that_the_client_cancels_withdraws_its_requests() -> None:
    user = User()
    async with agent_of(user.never) as (connection, peer):
        peer.say("elicitation/create", FORM, id=7)
        await user.is_open.wait()
        await connection.cancel(session_id="another")
        await connection.cancel(session_id=SESSION)
        sent = [await peer.read() for _ in range(3)]
        with anyio.fail_after(60):
            await user.withdrawn.wait()

    assert [each.get("method") for each in sent] == ["session/cancel", "session/cancel", None]
    assert sent[-1] == {"jsonrpc": "2.0", "id": 7, "result": {"action": "cancel"}}


async def test_a_request_that_arrives_after_its_turn_was_cancelled_is_cancelled_until_the_next_turn() -> None:
    user = accept({"name": "Ann"})
    async with agent_of(user) as (connection, peer):
        await connection.cancel(session_id=SESSION)
        assert (await peer.read())["method"] == "session/cancel"
        late = await peer.call("elicitation/create", FORM, 7)
        other = await peer.call("elicitation/create", {**FORM, "sessionId": "another"}, 8)
        turn = asyncio.ensure_future(connection.prompt(session_id=SESSION, prompt=[]))
        prompt = await peer.read()
        next_turn = await peer.call("elicitation/create", FORM, 9)
        peer.respond(prompt, {"stopReason": "end_turn"})
        await turn

    assert [each["result"]["action"] for each in (late, other, next_turn)] == ["cancel", "accept", "accept"]
    assert len(user.asked) == 2


@pytest.mark.parametrize("who", ["agent", "client"])
async def test_a_connection_that_ends_withdraws_open_requests(who: str) -> None:
    user = User()
    async with agent_of(user.never) as (connection, peer):
        peer.say("elicitation/create", FORM, id=7)
        await user.is_open.wait()
        if who == "agent":
            peer.disconnect()
        else:
            await connection.close()
        with anyio.fail_after(60):
            await user.withdrawn.wait()


async def test_completion_reaches_the_handler_that_waits_for_it() -> None:
    async def wait(request: Request) -> Answer:
        assert isinstance(request, UrlRequest)
        assert request.completion is not None
        assert not request.completion.is_finished()
        waiting.set()
        await request.completion.wait()
        return Answer.accept(by="user")

    waiting = anyio.Event()
    async with agent_of(wait) as (_, peer):
        for _ in range(2):  # an earlier completion does not count for a new request with the same ID
            peer.say("elicitation/create", URL, id=1)
            await waiting.wait()
            waiting = anyio.Event()
            for unknown in ("e2", 5, None, "e" * 5_000):
                peer.say("elicitation/complete", {"elicitationId": unknown})
            peer.say("elicitation/complete", {"elicitationId": "e1"})
            assert (await peer.read())["result"] == {"action": "accept"}


async def test_policies_see_the_requests_of_agents() -> None:
    seen: list[str] = []

    async def note(request: Request, inner: Any) -> Answer:
        seen.append(request.server.name)
        answer: Answer = await inner(request)
        return answer

    registry = ElicitationRegistry(policy=lambda handler: apply_policy(handler, note))
    registry.on_elicitation(accept({"name": "Ann"}))
    response = await ask(registry, FORM)

    assert (seen, response["result"]["action"]) == (["assistant"], "accept")


def test_something_else_than_a_connection_is_refused() -> None:
    with pytest.raises(TypeError, match="is not a connection of agent-client-protocol"):
        answer_agent(object(), accept(), agent="assistant")  # type: ignore[arg-type]


# --- any messages

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=4)
    | st.sampled_from(["form", "url", "object", "string"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [*FORM, *URL, "_meta", "requestId", "type", "properties", "oneOf", "anyOf", "items", "const", "title"]
                + ["description", "required", "enum"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(JSON, st.sampled_from([frozenset(), frozenset({"form"}), frozenset({"form", "url"})]))
def test_any_params_are_read_or_refused(params: Any, declared: Any) -> None:
    declared_modes({"params": params})
    for merged in (params, {**FORM, **params} if isinstance(params, dict) else params):
        try:
            wire = to_mcp_params(merged if isinstance(merged, dict) else {}, declared)
        except RequestError:
            continue
        try:
            parse_request(wire)
        except RequestError:
            continue
        assert wire["mode"] in declared


@given(st.from_regex(r"https://[a-z0-9.%@:\\/?#\[\] -]{0,30}", fullmatch=True))
def test_a_url_that_is_sent_names_the_same_host_in_the_models_of_the_package(url: str) -> None:
    from acp.schema import ElicitationUrlSessionMode

    try:
        target = inspect_url(url)
    except UnsafeUrlError:
        return
    model = ElicitationUrlSessionMode.model_validate({"sessionId": SESSION, "elicitationId": "e", "url": target.url})

    assert model.url.host is not None
    assert model.url.host.removesuffix(".") == target.host.removesuffix(".")


# --- real requests


async def test_every_form_of_the_corpus_is_shown_as_its_agent_asked() -> None:
    user, shown = User(), 0
    async with agent_of(user) as (_, peer):
        for row in corpus("requests.jsonl"):
            try:
                expected = parse_request(row["params"])
            except RequestError:
                continue
            if not isinstance(expected, FormRequest) or "requestedSchema" not in row["params"]:
                continue
            # Patterns are checked in another process, which takes its time.
            content = await anyio.to_thread.run_sync(example_or_none, expected.form)
            if content is None:
                continue
            user.answer = functools.partial(accepted, content)
            response = await peer.call(
                "elicitation/create", {"sessionId": SESSION, **row["params"], "mode": "form"}, shown
            )
            assert user.asked[-1].form == expected.form, row["id"]
            assert response["result"] == {"action": "accept", "content": content}, row["id"]
            shown += 1

    assert shown > 200


def accepted(content: dict[str, Any], _request: Request) -> Answer:
    return Answer.accept(content, by="user")
