"""`Caller` with real server processes, over stdio and HTTP, with every protocol version of the installed SDK."""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import mcp.types
import pytest
from mcp.server.lowlevel import Server as LowLevelServer

from mcp_elicit_client import Answer, ElicitationRegistry, FormRequest, Server, UrlRequest, parse_request
from mcp_elicit_client.calls import Caller, SuspendOptions
from mcp_elicit_client.calls._connect import Command, Connection, ConnectMode, connect
from mcp_elicit_client.calls.active_call import ActiveCall, CallTimeouts
from mcp_elicit_client.calls.elicitations import ElicitationDispatcher
from mcp_elicit_client.calls.multi_round_trip import parse_input_required
from mcp_elicit_client.core.answer import UrlElicitationIncompleteError
from mcp_elicit_client.core.origin import ORIGIN_META_KEY, write_origin
from mcp_elicit_client.exceptions import CallError, ResumeError
from mcp_elicit_client.inbox import Inbox, MemoryStore
from mcp_elicit_client.inbox.suspended_calls import calls_of
from mcp_elicit_client.policies import one_at_a_time
from mcp_elicit_client.request_options import DEFAULT_REQUEST_OPTIONS
from mcp_elicit_client.sdk.callback import supports_multi_round_trip
from mcp_elicit_client.typing import Request
from tests.support import ASKER, ROOT, VISITOR, form_params, http_server, until
from tests.support.inboxes import call_snapshot
from tests.support.plain import plain

pytestmark = [pytest.mark.anyio, pytest.mark.event_loops("asyncio")]

MULTI_ROUND_TRIP: ConnectMode = "auto"
CONNECT_MODES: list[ConnectMode] = ["legacy", MULTI_ROUND_TRIP] if supports_multi_round_trip() else ["legacy"]
OTHER = "https://pay.example.com/deposit"
URL = "https://login.example.com/start"

only_multi_round_trip = pytest.mark.rounds


@pytest.fixture(params=CONNECT_MODES)
def connect_mode(request: pytest.FixtureRequest) -> ConnectMode:
    return MULTI_ROUND_TRIP if request.param == MULTI_ROUND_TRIP else "legacy"


@pytest.fixture(params=["stdio", "http"])
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)


every_way = pytest.mark.parametrize(
    ("anyio_backend", "transport"), [("asyncio", "stdio"), ("asyncio", "http"), ("trio", "stdio")]
)


class Seen:
    """The lines that a server logged."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "seen"

    @property
    def lines(self) -> list[str]:
        return self.path.read_text().splitlines() if self.path.exists() else []

    async def wait_for(self, line: str) -> None:
        await until(lambda: line in self.lines)


@pytest.fixture
def seen(tmp_path: Path) -> Seen:
    return Seen(tmp_path)


Reply = Callable[[Any], Awaitable[Answer]]


class User:
    """Gives scripted answers, and records the requests."""

    def __init__(self, *replies: Answer | Reply) -> None:
        self.replies = list(replies)
        self.requests: list[Request] = []
        self.withdrawn = 0

    async def __call__(self, request: Request, /) -> Answer:
        self.requests.append(request)
        reply = self.replies[0] if len(self.replies) == 1 else self.replies.pop(0)
        try:
            return reply if isinstance(reply, Answer) else await reply(request)
        except anyio.get_cancelled_exc_class():
            self.withdrawn += 1
            raise

    @property
    def urls(self) -> list[tuple[str, int]]:
        return [(each.target.url, each.previous_visits) for each in self.requests if isinstance(each, UrlRequest)]


def code_of(error: Any) -> int:
    return int(error.error.code)


YES = Answer.accept(by="user")
NAMED = Answer.accept({"name": "Ann"}, by="user")
NO = Answer.decline(by="user")
LEFT = Answer.cancel(by="user")


async def think_for_ever(_request: Request) -> Answer:
    await anyio.sleep_forever()
    raise AssertionError


@asynccontextmanager
async def visitor(
    handler: Any,
    connect_mode: ConnectMode,
    seen: Seen,
    transport: str = "stdio",
    *,
    options: dict[str, Any] | None = None,
    **limits: Any,
) -> AsyncIterator[Connection]:
    registry = ElicitationRegistry()
    registry.on_elicitation(handler)
    async with serving(
        Caller(registry, "mail", **limits), connect_mode, seen, transport, **(options or {})
    ) as connection:
        yield connection


@asynccontextmanager
async def serving(
    caller: Caller,
    connect_mode: ConnectMode,
    seen: Seen,
    transport: str = "stdio",
    *,
    how: Any = connect,
    **options: Any,
) -> AsyncIterator[Any]:
    environment = {"PYTHONPATH": str(ROOT), "ELICIT_SEEN": str(seen.path)}
    if transport == "http":
        with http_server(VISITOR, environment) as url:
            async with how(url, caller, mode=connect_mode, **options) as connection:
                yield connection
    else:
        with tempfile.TemporaryFile("w+") as errlog:
            async with how(Command(VISITOR, errlog, environment), caller, mode=connect_mode, **options) as connection:
                yield connection


async def call(connection: Connection, tool: str, arguments: dict[str, Any] | None = None, **options: Any) -> Any:
    with anyio.fail_after(60):
        result = await connection.call_tool(tool, arguments or {}, **options)
    assert not result.get("isError"), result
    return json.loads(result["content"][0]["text"])


# --- URLs


async def test_a_url_is_asked_about_and_the_server_sees_the_answer(
    connect_mode: ConnectMode, transport: str, seen: Seen
) -> None:
    user = User(YES)
    async with visitor(user, connect_mode, seen, transport) as connection:
        got = await call(connection, "url", {"url": OTHER})

    assert got == {"got": {"action": "accept"}}
    assert user.urls == [(OTHER, 0)]
    assert [request.tool for request in user.requests] == ["url"]
    assert seen.lines[-1] == "url done"


async def test_a_required_url_is_opened_and_the_call_is_sent_again(
    connect_mode: ConnectMode, transport: str, seen: Seen
) -> None:
    user = User(YES)
    async with visitor(user, connect_mode, seen, transport) as connection:
        got = await call(connection, "required", {"urls": [URL, OTHER]})

    assert got == {"calls": 2}
    assert user.urls == [(URL, 0), (OTHER, 0)]
    assert [
        (each.batch_position.number, each.batch_position.total) for each in user.requests if each.batch_position
    ] == [(1, 2), (2, 2)]
    assert {each.respond_after for each in user.requests if isinstance(each, UrlRequest)} == {"completion"}
    assert {each.tool for each in user.requests} == {"required"}
    assert seen.lines == ["required", "required ended by RefusalError", "required", "required done"]


@every_way
async def test_a_wait_ends_when_the_server_reports_completion(transport: str, seen: Seen) -> None:
    async def finish_and_wait(request: UrlRequest) -> Answer:
        assert request.completion is not None
        assert not request.completion.is_finished()
        async with anyio.create_task_group() as group:
            group.start_soon(request.completion.wait)
            await call(connections[0], "finish", {"elicitation_id": "a-stranger"})
            await call(connections[0], "finish", {"elicitation_id": request.elicitation_id})
        assert request.completion.is_finished()
        return YES

    connections: list[Connection] = []
    async with visitor(User(finish_and_wait), "legacy", seen, transport) as connection:
        connections.append(connection)
        assert await call(connection, "required", {"urls": [URL]}) == {"calls": 2}

    assert seen.lines[-1] == "required done"


async def test_a_completion_before_the_wait_is_remembered(transport: str, seen: Seen) -> None:
    async def wait(request: UrlRequest) -> Answer:
        assert request.completion is not None
        with anyio.fail_after(60):
            await request.completion.wait()
        return YES

    async with visitor(User(wait), "legacy", seen, transport) as connection:
        assert await call(connection, "required", {"urls": [URL], "complete": "early"}) == {"calls": 2}
        assert await call(connection, "url", {"early": True}) == {"got": {"action": "accept"}}

    assert seen.lines[-2:] == ["answer accept", "url done"]


async def test_a_completion_that_arrives_in_another_thread_ends_the_wait() -> None:
    waiting, ended = threading.Event(), threading.Event()

    async def wait(request: Request) -> Answer:
        assert isinstance(request, UrlRequest) and request.completion is not None
        waiting.set()
        await request.completion.wait()
        ended.set()
        return YES

    caller = Caller(wait, "mail")
    params = {"mode": "url", "message": "Log in", "url": URL, "elicitationId": "e1"}
    request = parse_request(params, server="mail")
    notification: Any = SimpleNamespace(
        method="notifications/elicitation/complete", params=SimpleNamespace(elicitationId="e1")
    )
    user = threading.Thread(target=anyio.run, args=(caller.handler, request), daemon=True)
    user.start()
    assert waiting.wait(60)
    await caller.message_handler()(notification)

    assert ended.wait(60)
    user.join()


def noting(finished: list[bool]) -> Callable[[Any], Coroutine[Any, Any, Answer]]:
    """Return a handler that notes whether each URL is complete when it is shown; it waits for the first one."""

    async def note(request: Request) -> Answer:
        assert isinstance(request, UrlRequest) and request.completion is not None
        if not finished:
            with anyio.fail_after(60):
                await request.completion.wait()
        finished.append(request.completion.is_finished())
        return YES

    return note


@pytest.mark.parametrize("fresh", [False, True])
async def test_a_completion_does_not_count_when_the_server_asks_again(fresh: bool, seen: Seen) -> None:
    finished: list[bool] = []
    async with visitor(User(noting(finished)), "legacy", seen) as connection:
        await call(connection, "required", {"urls": [URL], "times": 2, "fresh": fresh, "complete": "early"})

    assert finished == [True, False]


async def test_a_completion_does_not_count_when_the_server_itself_asks_again() -> None:
    finished: list[bool] = []
    elicitations = ElicitationDispatcher(noting(finished), Server(name="mail"), DEFAULT_REQUEST_OPTIONS)
    with elicitations.during(ActiveCall(None, "t", CallTimeouts(None, None), 25)):
        elicitations.completions.complete("e1")
        for url in (URL, URL, OTHER):
            params = {"mode": "url", "message": "Log in", "url": url, "elicitationId": "e1"}
            await elicitations.on_server_request(parse_request(params, server="mail"))
            elicitations.completions.complete("e1")

    assert finished == [True, False, False]


async def test_a_completion_does_not_count_in_a_later_call_that_uses_its_id_again(seen: Seen) -> None:
    """Otherwise the URL would be complete before the user has visited it."""
    finished: list[bool] = []
    async with visitor(User(noting(finished)), "legacy", seen) as connection:
        await call(connection, "required", {"urls": [URL], "key": "first", "complete": "early"})
        await call(connection, "required", {"urls": [OTHER], "key": "second"})

    assert finished == [True, False]


async def test_a_completion_counts_in_each_call_that_was_active() -> None:
    finished: list[bool] = []
    elicitations = ElicitationDispatcher(noting(finished), Server(name="mail"), DEFAULT_REQUEST_OPTIONS)
    first, second = (ActiveCall(None, "t", CallTimeouts(None, None), 25) for _ in range(2))
    params = {"mode": "url", "message": "Log in", "url": URL, "elicitationId": "e1"}
    with elicitations.during(second):
        with elicitations.during(first):
            elicitations.completions.complete("e1")
            await elicitations.on_input_required(first, params)
        await elicitations.on_input_required(second, params)

    assert finished == [True, True]


@only_multi_round_trip
async def test_a_repeated_url_request_counts_the_previous_visits(transport: str, seen: Seen) -> None:
    user = User(YES)
    async with visitor(user, MULTI_ROUND_TRIP, seen, transport) as connection:
        got = await call(connection, "looks", {"times": 3})

    assert got == {"looks": 3}
    assert user.urls == [(URL, 0), (URL, 1), (URL, 2)]
    answered = 'looks {"q": {"action": "accept"}}'
    assert seen.lines == ["looks", answered, answered, answered, "looks done"]


@pytest.mark.parametrize(("reply", "how"), [(NO, "the user declined"), (LEFT, "the user cancelled")])
async def test_a_url_that_is_not_opened_ends_the_call_without_a_retry(
    reply: Answer, how: str, transport: str, seen: Seen
) -> None:
    user = User(reply)
    async with visitor(user, "legacy", seen, transport) as connection:
        with pytest.raises(UrlElicitationIncompleteError, match=how) as caught:
            await call(connection, "required", {"urls": [URL, OTHER]})

    assert [answer.action for answer in caught.value.answers] == [reply.action]
    assert code_of(caught.value.__cause__) == -32042
    assert len(user.requests) == 1
    assert seen.lines == ["required", "required ended by RefusalError"]


@only_multi_round_trip
async def test_a_user_who_cancels_a_url_is_a_cancel_for_the_server(transport: str, seen: Seen) -> None:
    async with visitor(User(LEFT), MULTI_ROUND_TRIP, seen, transport) as connection:
        got = await call(connection, "url")

    assert got == {"got": {"action": "cancel"}}
    assert seen.lines[1:] == ['url {"q": {"action": "cancel"}}', "url done"]


async def test_a_call_ends_after_five_retries_for_required_urls(seen: Seen) -> None:
    user = User(YES)
    async with visitor(user, "legacy", seen) as connection:
        with pytest.raises(CallError, match="after 5 retries"):
            await call(connection, "required", {"urls": [URL], "times": 99})

    assert [visits for _, visits in user.urls] == [0, 1, 2, 3, 4]
    assert seen.lines.count("required") == 6


MALFORMED: dict[str, tuple[Any, str]] = {
    "nothing": (None, "does not list them"),
    "a text": ("https://example.com/", "does not list them"),
    "no list": ({"elicitations": {"url": URL}}, "does not list them"),
    "an empty list": ({"elicitations": []}, "does not list them"),
    "texts": ({"elicitations": [URL]}, "lists something else"),
    "a form": ({"elicitations": [{"mode": "form", "message": "m", "requestedSchema": {}}]}, "lists something else"),
    "a thousand": (
        {
            "elicitations": [
                {"mode": "url", "message": "m", "url": f"{URL}/{at}", "elicitationId": "e"} for at in range(1_000)
            ]
        },
        "requires 1000 URL elicitations; at most 10",
    ),
    "an unsafe one": (
        {"elicitations": [{"mode": "url", "message": "m", "url": "javascript:alert(1)", "elicitationId": "e"}]},
        "that is not allowed: `url` must have the scheme https",
    ),
    "no url": ({"elicitations": [{"mode": "url", "message": "m", "elicitationId": "e"}]}, "`url` must be a string"),
}


async def test_malformed_error_data_is_an_error_and_no_user_is_asked(seen: Seen) -> None:
    user = User(YES)
    async with visitor(user, "legacy", seen) as connection:
        for data, reason in MALFORMED.values():
            with pytest.raises(CallError, match=reason) as caught:
                await call(connection, "malformed", {"data": data})
            assert code_of(caught.value.__cause__) == -32042

    assert user.requests == []


async def test_a_url_that_is_listed_twice_is_asked_about_once(seen: Seen) -> None:
    user = User(YES)
    async with visitor(user, "legacy", seen) as connection:
        await call(connection, "required", {"urls": [URL, OTHER, URL]})

    assert user.urls == [(URL, 0), (OTHER, 0)]


async def test_other_errors_are_those_of_the_sdk(connect_mode: ConnectMode, seen: Seen) -> None:
    async with visitor(User(YES), connect_mode, seen) as connection:
        with pytest.raises(Exception) as caught:
            await call(connection, "missing")

    assert not isinstance(caught.value, CallError)
    assert getattr(caught.value, "error", None) is not None


# --- multi-round-trip requests


@only_multi_round_trip
async def test_requests_of_one_round_are_asked_one_at_a_time(seen: Seen) -> None:
    open_questions = 0

    async def answer(request: FormRequest) -> Answer:
        nonlocal open_questions
        open_questions += 1
        await anyio.lowlevel.checkpoint()
        assert open_questions == 1
        open_questions -= 1
        return Answer.accept({"name": request.message}, by="user")

    user = User(answer)
    async with visitor(user, MULTI_ROUND_TRIP, seen) as connection:
        got = await call(connection, "two")

    assert [each["content"]["name"] for each in got["got"]] == ["First?", "Second?"]
    assert [
        (each.batch_position.number, each.batch_position.total) for each in user.requests if each.batch_position
    ] == [(1, 2), (2, 2)]
    assert [each.request_id for each in user.requests] == ["a", "b"]


@only_multi_round_trip
async def test_a_call_with_state_only_is_sent_again_until_it_completes(seen: Seen) -> None:
    async with visitor(User(YES), MULTI_ROUND_TRIP, seen) as connection:
        assert await call(connection, "polls", {"times": 3}) == {"polls": 3}

    assert seen.lines.count("polls") == 4


@only_multi_round_trip
async def test_the_servers_state_is_returned_unchanged_up_to_a_megabyte(seen: Seen) -> None:
    async with visitor(User(NAMED), MULTI_ROUND_TRIP, seen) as connection:
        assert await call(connection, "state", {"size": 1_048_576}) == {"size": 1_048_576, "same": True}
        with pytest.raises(CallError, match="is longer than 1048576 characters"):
            await call(connection, "state", {"size": 1_048_577})


@only_multi_round_trip
async def test_too_many_requests_in_one_round_are_refused(seen: Seen) -> None:
    user = User(NAMED)
    async with visitor(user, MULTI_ROUND_TRIP, seen) as connection:
        with pytest.raises(CallError, match="sent 17 requests at once; at most 16"):
            await call(connection, "crowd", {"count": 17})

    assert user.requests == []


@only_multi_round_trip
async def test_other_requests_are_answered_by_the_hosts_callbacks(seen: Seen) -> None:
    async def list_roots(_context: Any) -> Any:
        return mcp.types.ListRootsResult.model_validate({"roots": [{"uri": "file:///home", "name": "home"}]})

    async with visitor(User(NAMED), MULTI_ROUND_TRIP, seen, options={"list_roots_callback": list_roots}) as connection:
        got = (await call(connection, "mixed"))["got"]
    async with visitor(User(NAMED), MULTI_ROUND_TRIP, seen) as connection:
        with pytest.raises(Exception, match="List roots not supported"):
            await call(connection, "mixed")

    assert got["a"] == {"action": "accept", "content": {"name": "Ann"}}
    assert got["roots"]["roots"][0]["name"] == "home"
    assert got["bad"] == {"action": "cancel"}  # a URL that is not opened


@only_multi_round_trip
@pytest.mark.parametrize("reply", [NO, LEFT, Answer.cancel(by="host"), Answer.cancel(by="timeout")])
@pytest.mark.parametrize("keys", ["q", "abc"])
async def test_a_server_that_repeats_a_refused_request_ends_the_call(reply: Answer, keys: str, seen: Seen) -> None:
    user = User(reply)
    async with visitor(user, MULTI_ROUND_TRIP, seen) as connection:
        with pytest.raises(CallError, match="keeps asking what the user declined or cancelled"):
            await call(connection, "nag", {"keys": keys})

    assert len(user.requests) == 1
    assert seen.lines.count(f"nag {json.dumps({key: {'action': reply.action} for key in keys})}") == 2


@only_multi_round_trip
async def test_a_request_is_asked_again_after_a_cancel_that_did_not_come_from_the_user(seen: Seen) -> None:
    user = User(Answer.cancel(by="error"), Answer.cancel(by="policy"), LEFT)
    async with visitor(user, MULTI_ROUND_TRIP, seen) as connection:
        with pytest.raises(CallError, match="keeps asking what the user declined or cancelled"):
            await call(connection, "nag")

    assert len(user.requests) == 3


@only_multi_round_trip
@pytest.mark.parametrize("reply", [LEFT, NAMED])
async def test_changed_requests_are_asked_after_any_answer_until_the_call_ends_after_ten_rounds(
    reply: Answer, seen: Seen
) -> None:
    user = User(reply)
    async with visitor(user, MULTI_ROUND_TRIP, seen) as connection:
        with pytest.raises(CallError, match="required input more than 10 times"):
            await call(connection, "nag", {"reword": True})

    assert len(user.requests) == 10


@pytest.mark.parametrize("reply", [NO, LEFT])
async def test_repeated_server_initiated_requests_are_refused_and_end_a_call_that_goes_on(
    reply: Answer, seen: Seen
) -> None:
    user = User(reply)
    async with visitor(user, "legacy", seen) as connection:
        assert await call(connection, "nag") == {"got": [reply.action] * 40}
        with pytest.raises(CallError, match="keeps asking what the user declined or cancelled"):
            await call(connection, "nag", {"times": 10_000})
        assert await call(connection, "echo", {"still": "here"}) == {"still": "here"}

    assert len(user.requests) == 2  # once in each call


@pytest.mark.parametrize("reply", [NO, LEFT])
async def test_a_refused_request_is_not_asked_again_while_several_calls_are_active(reply: Answer, seen: Seen) -> None:
    user = User(reply)
    async with visitor(user, "legacy", seen) as connection, anyio.create_task_group() as group:
        group.start_soon(call, connection, "hang")
        await seen.wait_for("hanging")
        assert await call(connection, "nag") == {"got": [reply.action] * 40}
        assert await call(connection, "nag") == {"got": [reply.action] * 40}
        group.cancel_scope.cancel()

    assert len(user.requests) == 3  # once for each call


async def test_too_many_requests_are_cancelled_while_several_calls_are_active(seen: Seen) -> None:
    user = User(NAMED)
    async with visitor(user, "legacy", seen) as connection, anyio.create_task_group() as group:
        group.start_soon(call, connection, "hang")
        await seen.wait_for("hanging")
        assert await call(connection, "nag", {"reword": True}) == {"got": ["accept"] * 25 + ["cancel"] * 15}
        assert await call(connection, "form") == {"got": {"action": "accept", "content": {"name": "Ann"}}}
        group.cancel_scope.cancel()


async def test_a_request_is_withdrawn_when_the_last_call_that_it_may_belong_to_has_ended() -> None:
    user = User(think_for_ever)
    elicitations = ElicitationDispatcher(user, Server(name="mail"), DEFAULT_REQUEST_OPTIONS)
    answers: list[Answer] = []

    async def ask() -> None:
        answers.append(await elicitations.on_server_request(parse_request({"message": "Go?"}, server="mail")))

    async with anyio.create_task_group() as group:
        first, second = (ActiveCall(None, "t", CallTimeouts(None, None), 25) for _ in range(2))
        with elicitations.during(first):
            with elicitations.during(second):
                group.start_soon(ask)
                await anyio.wait_all_tasks_blocked()
            await anyio.wait_all_tasks_blocked()
            assert user.withdrawn == 0

    assert (user.withdrawn, [answer.action for answer in answers]) == (1, ["cancel"])


async def test_a_queued_request_is_not_shown_after_the_same_request_of_its_call_was_declined() -> None:
    user = User(NO)
    elicitations = ElicitationDispatcher(one_at_a_time()(user), Server(name="mail"), DEFAULT_REQUEST_OPTIONS)
    answers: list[Answer] = []

    async def ask() -> None:
        answers.append(await elicitations.on_server_request(parse_request({"message": "Go?"}, server="mail")))

    with elicitations.during(ActiveCall(None, "t", CallTimeouts(None, None), 25)):
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(ask)

    assert [answer.action for answer in answers] == ["decline"] * 3
    assert len(user.requests) == 1


async def test_a_call_that_ends_in_another_thread_disturbs_no_request() -> None:
    class EndsMeanwhile(ActiveCall):
        @property
        def session(self) -> Any:
            elicitations.calls.discard(self)
            return None

        @session.setter
        def session(self, _session: Any) -> None:
            pass

    elicitations = ElicitationDispatcher(User(NO), Server(name="mail"), DEFAULT_REQUEST_OPTIONS)
    elicitations.calls.update(EndsMeanwhile(None, "t", CallTimeouts(None, None), 25, user="ann") for _ in range(3))

    assert elicitations.current_user() == "ann"


async def test_too_many_server_initiated_requests_are_cancelled(seen: Seen) -> None:
    rewording = User(NAMED)
    async with visitor(rewording, "legacy", seen) as connection:
        assert await call(connection, "nag", {"reword": True}) == {"got": ["accept"] * 25 + ["cancel"] * 15}

    assert len(rewording.requests) == 25


# --- suspending, without multi-round-trip requests


async def test_calls_with_server_initiated_requests_are_not_suspended_or_resumed(seen: Seen) -> None:
    suspend = SuspendOptions(Inbox(MemoryStore()), "ann")
    call_of_another_process = await calls_of(suspend.inbox).suspend("ann", call_snapshot().write(), [], 60)
    user = User(NAMED)
    async with visitor(user, "legacy", seen) as connection:
        got = await call(connection, "form", suspend=suspend)
        with pytest.raises(ResumeError) as caught:
            await connection.caller.resume(call_of_another_process.id, connection.client, suspend)

    assert got == {"got": {"action": "accept", "content": {"name": "Ann"}}}
    assert len(user.requests) == 1
    assert caught.value.code == "protocol"
    found = await calls_of(suspend.inbox).find("ann", call_of_another_process.id)
    assert found is not None
    assert found.call.state == "suspended"


# --- prompts and resources


async def test_prompts_and_resources_ask_too(connect_mode: ConnectMode, seen: Seen) -> None:
    user = User(NAMED)
    async with visitor(user, connect_mode, seen) as connection:
        caller, client = connection.caller, connection.client
        prompt: Any = await caller.get_prompt(client, "form", meta={"trace": "x"})
        resource: Any = await caller.read_resource(client, "thing://form")

    got = {"got": {"action": "accept", "content": {"name": "Ann"}}}
    assert json.loads(prompt.messages[0].content.text) == got
    assert json.loads(resource.contents[0].text) == got
    assert [request.tool for request in user.requests] == [None, None]


# --- endings


async def wait_and_mark(mark: Path, request: Request) -> Answer:
    mark.touch()
    return await think_for_ever(request)


@every_way
@pytest.mark.parametrize("required", [False, True])
async def test_the_request_of_a_server_that_disconnects_is_withdrawn(
    required: bool, connect_mode: ConnectMode, transport: str, seen: Seen, tmp_path: Path
) -> None:
    if transport == "http" and (required or connect_mode != "legacy" or not supports_multi_round_trip()):
        pytest.skip("nothing reports a lost server here: the request stays open")
    mark = tmp_path / "mark"

    async def mark_and_think(request: Request) -> Answer:
        return await wait_and_mark(mark, request)

    user = User(mark_and_think)
    with anyio.fail_after(60), pytest.raises(Exception) as caught:
        async with visitor(user, connect_mode, seen, transport) as connection:
            await connection.call_tool("die", {"mark": str(mark), "required": required})

    assert not isinstance(caught.value, TimeoutError)
    assert user.withdrawn == len(user.requests) == 1
    assert [line for line in seen.lines if "accept" in line] == []


@every_way
async def test_a_cancelled_call_withdraws_its_request_and_the_server_is_notified(
    connect_mode: ConnectMode, transport: str, seen: Seen
) -> None:
    open_question = anyio.Event()

    async def think(request: Request) -> Answer:
        open_question.set()
        return await think_for_ever(request)

    user = User(think)
    async with visitor(user, connect_mode, seen, transport) as connection:
        async with anyio.create_task_group() as group:
            group.start_soon(connection.call_tool, "form", {})
            with anyio.fail_after(60):
                await open_question.wait()
            group.cancel_scope.cancel()
        await until(lambda: user.withdrawn)
        if connect_mode == "legacy":
            await until(lambda: any("ended by" in line or "answer cancel" in line for line in seen.lines))
            await call(connection, "echo")  # earlier messages of the server have arrived

    assert user.withdrawn == 1
    assert [line for line in seen.lines if "accept" in line or "decline" in line] == []


@pytest.mark.event_loops("asyncio", "trio")
async def test_a_request_that_the_server_withdraws_disappears(seen: Seen, tmp_path: Path) -> None:
    mark = tmp_path / "mark"

    async def mark_and_think(request: Request) -> Answer:
        return await wait_and_mark(mark, request)

    user = User(mark_and_think)
    async with visitor(user, "legacy", seen) as connection:
        assert await call(connection, "withdraw", {"mark": str(mark)}) == {"withdrawn": True}
        await until(lambda: user.withdrawn)

    assert user.withdrawn == 1


@pytest.mark.event_loops("asyncio", "trio")
async def test_other_calls_continue_while_a_request_is_open(connect_mode: ConnectMode, seen: Seen) -> None:
    async def call_meanwhile(_request: Request) -> Answer:
        got = await call(connections[0], "echo", {"still": "here"})
        assert got == {"still": "here"}
        return NAMED

    connections: list[Connection] = []
    async with visitor(User(call_meanwhile), connect_mode, seen) as connection:
        connections.append(connection)
        got = await call(connection, "form")

    assert got["got"]["action"] == "accept"


async def test_a_request_during_several_calls_pauses_the_timeouts_of_all(seen: Seen, tmp_path: Path) -> None:
    mark = tmp_path / "mark"

    async def mark_and_answer(request: Request) -> Answer:
        assert request.tool is None  # it is not known which call it belongs to
        mark.touch()
        return NAMED

    async with visitor(User(mark_and_answer), "legacy", seen) as connection, anyio.create_task_group() as group:
        group.start_soon(call, connection, "slow", {"mark": str(mark)})
        await seen.wait_for("slow")
        assert (await call(connection, "form"))["got"]["action"] == "accept"


# --- declared modes


@pytest.mark.parametrize(
    ("modes", "declared"),
    [((), None), (("form",), {"form": {}}), (("url",), {"url": {}}), (("form", "url"), {"form": {}, "url": {}})],
)
async def test_only_the_modes_with_a_handler_are_declared(
    modes: tuple[Any, ...], declared: Any, connect_mode: ConnectMode, seen: Seen
) -> None:
    registry = ElicitationRegistry()
    for mode in modes:
        registry.on_elicitation(mode=mode)(User(YES))
    async with serving(Caller(registry, "mail"), connect_mode, seen) as connection:
        assert await call(connection, "caps") == {"elicitation": declared}


@pytest.mark.parametrize("is_narrowed", [False, True])
async def test_a_request_in_a_mode_that_is_not_declared_is_an_error(
    connect_mode: ConnectMode, is_narrowed: bool
) -> None:
    registry = ElicitationRegistry()
    user = User(YES)
    registry.on_elicitation(mode="form")(user)
    caller = Caller(user, "mail", modes=["form"]) if is_narrowed else Caller(registry, "mail")
    params = {"mode": "url", "message": "m", "url": URL, "elicitationId": "e"}
    with tempfile.TemporaryFile("w+") as errlog:
        command = Command(ASKER, errlog, {"PYTHONPATH": str(ROOT)})
        async with connect(command, caller, mode=connect_mode) as connection:
            got = await call(connection, "ask", {"params": params})

    if connect_mode == "legacy":
        assert got == {"error": -32602, "message": "this client does not accept requests in url mode"}
    else:  # this protocol version does not allow errors
        assert got["action"] == "cancel"
    assert user.requests == []


async def test_the_origin_that_a_gateway_reports_arrives_in_every_protocol_version(connect_mode: ConnectMode) -> None:
    user = User(YES)
    form = form_params({"type": "object", "properties": {}})
    with tempfile.TemporaryFile("w+") as errlog:
        command = Command(ASKER, errlog, {"PYTHONPATH": str(ROOT)})
        async with connect(command, Caller(user, "gateway"), mode=connect_mode) as connection:
            for params in (form, {"mode": "url", "message": "m", "url": URL, "elicitationId": "e"}):
                await call(connection, "ask", {"params": {**params, "_meta": write_origin(["files", "disk"])}})
            refused = await call(connection, "ask", {"params": {**form, "_meta": {ORIGIN_META_KEY: ["server"] * 5}}})

    assert [request.origin for request in user.requests] == [("gateway", "files", "disk")] * 2
    assert refused.get("error") == -32602 if connect_mode == "legacy" else refused["action"] == "cancel"


# --- sessions made by the host


async def test_calls_work_over_a_session_made_by_the_host(connect_mode: ConnectMode, seen: Seen) -> None:
    user = User(YES)
    caller = Caller(user, "mail")

    def how(where: Any, caller: Caller, **options: Any) -> Any:
        return plain(where, caller.callback, message_handler=caller.message_handler(), **options)

    async with serving(caller, connect_mode, seen, how=how) as connection:
        assert (await connection.call_tool("caps", {}))["content"][0]["text"] == json.dumps(
            {"elicitation": {"form": {}, "url": {}}}
        )
        result: Any = await caller.call_tool(connection.client, "required", {"urls": [URL], "complete": "early"})
        asked: Any = await caller.call_tool(connection.client, "url")

    assert json.loads(result.content[0].text) == {"calls": 2}
    assert json.loads(asked.content[0].text) == {"got": {"action": "accept"}}
    assert len(user.requests) == 2


async def test_the_hosts_message_handler_gets_every_message(seen: Seen) -> None:
    messages: list[str] = []

    async def handle(message: Any) -> None:
        notification = getattr(message, "root", message)
        messages.append(getattr(notification, "method", repr(message)))

    async with visitor(User(YES), "legacy", seen, options={"message_handler": handle}) as connection:
        await call(connection, "finish", {"elicitation_id": "e"})
        await call(connection, "form")

    assert messages == ["notifications/elicitation/complete"]


async def test_progress_is_reported_and_meta_sent(connect_mode: ConnectMode, seen: Seen) -> None:
    async def progress(_progress: float, _total: float | None, _message: str | None) -> None: ...

    async with visitor(User(YES), connect_mode, seen) as connection:
        assert await call(connection, "echo", {"a": 1}, progress_callback=progress, meta={"k": "v"}) == {"a": 1}


@only_multi_round_trip
@pytest.mark.parametrize("reported", [None, "files"])
def test_requests_in_a_result_have_the_origin_of_the_result_and_no_other(reported: str | None) -> None:
    """A server that does not follow the protocol sends different origins in the requests."""
    types: Any = mcp.types
    requests = {
        name: types.ElicitRequest.model_validate(
            {
                "method": "elicitation/create",
                "params": {**form_params({}), "_meta": {ORIGIN_META_KEY: [name]}},
            }
        )
        for name in ("bank", "shop")
    }
    meta = None if reported is None else {ORIGIN_META_KEY: [reported]}
    required = parse_input_required(types.InputRequiredResult(input_requests=requests, request_state="s", _meta=meta))
    assert required is not None
    assert [each.meta for each in required.elicitations.values()] == [meta, meta]


@only_multi_round_trip
@pytest.mark.parametrize(("mode", "methods"), [("legacy", ["call"]), (MULTI_ROUND_TRIP, ["call", "list"])])
async def test_a_refusal_for_lack_of_headers_is_raised_if_the_tools_cannot_be_listed(
    mode: ConnectMode, methods: list[str]
) -> None:
    """Up to 2025-11-25, the code says nothing about headers: the call is not repeated."""
    sdk: Any = mcp
    types: Any = mcp.types
    received: list[str] = []

    async def call_tool(_context: Any, _params: Any) -> Any:
        received.append("call")
        raise sdk.MCPError(types.HEADER_MISMATCH, "refused")

    async def list_tools(_context: Any, _params: Any) -> Any:
        received.append("list")
        raise sdk.MCPError(types.INTERNAL_ERROR, "no list")

    server: Any = LowLevelServer
    caller = Caller(ElicitationRegistry(), "refusing")
    async with caller.client(server("refusing", on_call_tool=call_tool, on_list_tools=list_tools), mode=mode) as client:
        with pytest.raises(sdk.MCPError, match="refused"):
            await caller.call_tool(client, "any")

    assert received == methods


@only_multi_round_trip
@pytest.mark.parametrize("end", [None, ""])
async def test_the_tools_of_all_pages_are_listed(end: str | None) -> None:
    types: Any = mcp.types

    async def list_tools(_context: Any, params: Any) -> Any:
        page = 1 if params is None or params.cursor is None else int(params.cursor)
        tool = types.Tool.model_validate({"name": f"tool-{page}", "inputSchema": {"type": "object"}})
        return types.ListToolsResult(tools=[tool], next_cursor=str(page + 1) if page < 3 else end)

    server: Any = LowLevelServer
    async with connect(server("paged", on_list_tools=list_tools), Caller(ElicitationRegistry(), "paged")) as connection:
        listed = await connection.list_tools()

    assert listed == [("tool-1", ""), ("tool-2", ""), ("tool-3", "")]
