"""What happens to a request around its handler: admission, turns of other tasks, cancellation, invalid objects."""

from __future__ import annotations

import asyncio
import functools
import itertools
import logging
import sys
import time
from collections.abc import Callable, Coroutine
from types import ModuleType
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest
from trio.testing import MockClock

from mcp_elicit_client import (
    Answer,
    ElicitationRegistry,
    Form,
    FormRequest,
    RequestError,
    Server,
    _concurrency,
    parse_request,
    validate,
)
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.core import budgets
from mcp_elicit_client.dispatch import Dispatcher
from mcp_elicit_client.policies import compose, protect_secrets, recommended
from mcp_elicit_client.typing import Request
from tests.support import form_params

pytestmark = pytest.mark.anyio

SERVER = Server(name="mail")
FORM = form_params({"properties": {"a": {"type": "string"}}})
TYPED = parse_request(form_params({"properties": {"a": {"type": "string", "pattern": "^x$"}}}), server="mail")
CONFIRMATION = form_params({})
URL = {"mode": "url", "message": "m", "url": "https://a.example/", "elicitationId": "e"}
YES = Answer.accept({"a": "x"}, by="user")

Asked = Callable[[Any], Coroutine[Any, Any, Any]]


async def answer_with(handler: Asked, params: Any = FORM, **details: Any) -> Answer:
    return await Dispatcher(handler).answer(params, server=SERVER, **details)


# --- admission


async def test_a_server_whose_texts_take_long_to_search_for_sensitive_data_gets_a_cancel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Only the search is measured: reading a small request is estimated.
    clock = itertools.count(0, 100 * budgets.MAX_READING_TIME)
    monkeypatch.setattr(time, "thread_time", lambda: next(clock))
    dispatcher = Dispatcher(protect_secrets()(_accept))
    answers = [await dispatcher.answer(FORM, server=server) for server in (SERVER, SERVER, Server(name="other"))]

    assert [each.action for each in answers] == ["accept", "cancel", "accept"]
    assert "too much time" in answers[1].reason


async def test_a_server_with_too_many_open_requests_gets_a_cancel_and_nothing_is_read(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(budgets, "MAX_OPEN", 2)
    may_answer = anyio.Event()

    async def user(_request: Request) -> Answer:
        await may_answer.wait()
        return YES

    dispatcher = Dispatcher(user)
    async with anyio.create_task_group() as group:
        for _ in range(2):
            group.start_soon(lambda: dispatcher.answer(FORM, server=SERVER))
        await anyio.wait_all_tasks_blocked()

        refused = [await dispatcher.answer(object(), server=SERVER) for _ in range(20)]
        other_user = await _soon(dispatcher, may_answer, user="ann")
        may_answer.set()

    assert {(each.action, each.by, each.policy) for each in refused} == {("cancel", "policy", "admission")}
    assert other_user.action == "accept"
    assert len([each for each in caplog.records if "too many open requests" in each.getMessage()]) == 1


async def test_a_server_whose_requests_take_long_to_read_is_refused_before_they_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(budgets, "MAX_READING_TIME", 0.02)
    monkeypatch.setattr(budgets, "REFILL_TIME", 3_600.0)
    heavy = form_params(
        {"properties": {f"f{number}": {"type": "string", "title": "e" + "\u0301" * 190} for number in range(64)}}
    )
    dispatcher = Dispatcher(recommended()(_accept))
    with anyio.fail_after(60):
        while (await dispatcher.answer(heavy, server=SERVER)).policy != "admission":
            pass

    monkeypatch.setattr(dispatcher, "parse", None)
    assert "too much time to read" in (await dispatcher.answer(heavy, server=SERVER)).reason


async def _soon(dispatcher: Dispatcher, may_answer: anyio.Event, **details: Any) -> Answer:
    may_answer.set()
    with anyio.fail_after(60):
        return await dispatcher.answer(FORM, server=SERVER, **details)


@pytest.mark.parametrize("wrap", ["registry", "policy", "caller"])
async def test_the_callbacks_of_a_registry_or_caller_share_their_limits(
    wrap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budgets, "MAX_REQUESTS", 3)
    registry = ElicitationRegistry()
    registry.on_elicitation(_accept)
    caller = Caller(registry, SERVER)
    make: Callable[[], Any] = {
        "registry": lambda: Dispatcher(registry),
        "policy": lambda: Dispatcher(compose()(registry)),
        "caller": lambda: Dispatcher(caller.handler),
    }[wrap]
    policies = [(await make().answer(FORM, server=SERVER)).policy for _ in range(20)]

    assert set(policies[:3]) == {""}
    assert "admission" in policies


async def _accept(_request: Request) -> Answer:
    return YES


async def test_a_flood_of_refused_requests_leaves_other_tasks_their_turns() -> None:
    turns = 0
    is_over = False

    async def other() -> None:
        nonlocal turns
        while not is_over:
            turns += 1
            await anyio.lowlevel.checkpoint()

    dispatcher = Dispatcher(recommended()(_accept))
    async with anyio.create_task_group() as group:
        group.start_soon(other)
        for _ in range(100):
            await dispatcher.answer(FORM, server=SERVER)
        is_over = True

    assert turns >= 90


@pytest.mark.event_loops(("trio", {"clock": MockClock(autojump_threshold=0)}))
@pytest.mark.parametrize("maximum", [budgets.MAX_REQUESTS, 1])
async def test_the_event_loop_rests_during_a_flood(maximum: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "MAX_REQUESTS", maximum)
    dispatcher = Dispatcher(_accept)
    begin = anyio.current_time()

    async def send() -> None:
        for _ in range(100):
            await dispatcher.answer(FORM, server=SERVER)

    async with anyio.create_task_group() as group:
        for _ in range(40):
            group.start_soon(send)

    # This clock moves only while all tasks wait.
    assert anyio.current_time() - begin >= 1


async def test_a_large_request_is_read_in_a_thread_and_answered() -> None:
    options = [f"option {number} {'x' * 50}" for number in range(200)]
    params = form_params({"properties": {"a": {"type": "string", "enum": options}}, "required": ["a"]})

    async def choose(request: FormRequest) -> Answer:
        assert request.user == "ann"
        return Answer.accept({"a": options[7]}, by="user")

    answer = await answer_with(choose, params, user="ann")

    assert answer.content == {"a": options[7]}
    with pytest.raises(RequestError, match="nested"):
        await answer_with(choose, form_params({"properties": {"a": _nested(100)}, "x": "y" * 5_000}))


async def test_the_options_of_a_large_form_are_indexed_before_the_user_answers() -> None:
    params = form_params({"properties": {"a": {"type": "string", "enum": [f"option {at}" for at in range(5_000)]}}})
    is_indexed = False

    async def choose(request: FormRequest) -> Answer:
        nonlocal is_indexed
        is_indexed = "_by_key" in vars(request.form.fields[0])
        return Answer.cancel(by="user")

    await answer_with(choose, params)

    assert is_indexed


def _nested(depth: int) -> Any:
    value: Any = {"type": "string"}
    for _ in range(depth):
        value = {"allOf": [value]}
    return value


# --- cancellation


async def cancelled_future(_request: Request) -> Answer:
    future = asyncio.get_running_loop().create_future()
    future.cancel()
    await future
    return YES


async def future_cancelled_later(_request: Request) -> Answer:
    future = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(future.cancel)
    await future
    return YES


async def cancelled_task(_request: Request) -> Answer:
    task = asyncio.ensure_future(asyncio.Event().wait())
    asyncio.get_running_loop().call_soon(task.cancel)
    await task
    return YES


async def raised(_request: Request) -> Answer:
    raise asyncio.CancelledError


async def raised_in_trio(_request: Request) -> Answer:
    import trio

    with trio.CancelScope() as scope:
        scope.cancel()
        try:
            await trio.lowlevel.checkpoint()
        except trio.Cancelled as error:
            kept = error
    raise kept


@pytest.fixture(params=["counted", "watched"])
def cancels_are(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to notice the cancellation of a task: Python 3.10 has no ``Task.cancelling``."""
    if request.param == "watched":
        monkeypatch.setattr(_concurrency, "_COUNTS_CANCELS", False)
    elif not hasattr(asyncio.Task, "cancelling"):
        pytest.skip("Python 3.10 does not count cancellations")


@pytest.mark.usefixtures("cancels_are")
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("handler", [cancelled_future, future_cancelled_later, cancelled_task, raised])
async def test_a_handler_that_was_cancelled_inside_ends_in_a_cancel_by_error(handler: Asked) -> None:
    answer = await answer_with(handler)

    assert (answer.action, answer.by) == ("cancel", "error")
    assert (await answer_with(_accept)).action == "accept"


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_requests_are_answered_while_another_thread_imports_trio(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("trio", "trio.lowlevel"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))  # as far as it is imported

    assert (await answer_with(_accept)).action == "accept"
    assert (await answer_with(cancelled_future)).by == "error"
    assert (await anyio.to_thread.run_sync(validate, TYPED, {"a": "x"})).errors == ()


@pytest.mark.parametrize("anyio_backend", ["trio"])
@pytest.mark.parametrize("handler", [raised, raised_in_trio])
async def test_a_cancellation_error_without_a_cancelled_scope_is_an_error_on_trio(handler: Asked) -> None:
    answer = await answer_with(handler)

    assert (answer.action, answer.by) == ("cancel", "error")


@pytest.mark.usefixtures("cancels_are")
@pytest.mark.parametrize("suspends", ["event", "task", "sleep", "checkpoints", "group"])
async def test_the_cancellation_of_the_callback_passes(suspends: str) -> None:
    started = anyio.Event()
    result: Answer | None = None

    async def wait(_request: Request) -> Answer:
        started.set()
        if suspends == "event":
            await anyio.Event().wait()
        elif suspends == "sleep":
            await anyio.sleep(3_600)
        elif suspends == "group":
            async with anyio.create_task_group() as group:
                group.start_soon(anyio.sleep_forever)
        elif suspends == "task" and not _concurrency.is_trio():
            await asyncio.ensure_future(asyncio.Event().wait())
        while True:
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as group:

        async def call() -> None:
            nonlocal result
            result = await answer_with(wait)

        group.start_soon(call)
        await started.wait()
        group.cancel_scope.cancel()

    assert result is None


@pytest.mark.usefixtures("cancels_are")
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("handler", [_accept, cancelled_future])
async def test_a_task_that_is_cancelled_before_the_callback_starts_ends_cancelled(handler: Asked) -> None:
    async def call() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await answer_with(handler)

    task = asyncio.ensure_future(call())
    await asyncio.wait([task])

    assert task.cancelled()


@pytest.mark.usefixtures("cancels_are")
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_handler_that_finishes_its_work_when_cancelled_is_awaited() -> None:
    finished = False

    async def wait(_request: Request) -> Answer:
        nonlocal finished
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            finished = True
        return YES

    task = asyncio.ensure_future(answer_with(wait))
    for _ in range(5):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])

    assert task.cancelled()
    assert finished


@pytest.mark.usefixtures("cancels_are")
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_handler_may_use_timeouts_and_cancel_its_own_scopes() -> None:
    async def handler(_request: Request) -> Answer:
        with anyio.move_on_after(0) as scope:
            await anyio.sleep_forever()
        assert scope.cancelled_caught
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 0.001)
        async with anyio.create_task_group() as group:
            group.start_soon(anyio.sleep_forever)
            await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
        return YES

    assert (await answer_with(handler)).action == "accept"


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_handler_in_a_call_that_was_cancelled_inside_does_not_leave_the_call_waiting() -> None:
    with anyio.fail_after(60), pytest.raises(_concurrency.CancelledInsideError):
        await _concurrency.run_until(anyio.sleep_forever, lambda: raised(None))  # type: ignore[arg-type]


async def test_an_event_cancels_the_blocks_that_run_until_it_is_set_and_no_others() -> None:
    event, ended = _concurrency.CancellingEvent(), list[str]()

    async def wait(name: str, started: anyio.Event) -> None:
        with event.cancelling():
            started.set()
            await anyio.sleep_forever()
        ended.append(name)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for name in ("one", "other"):
                started = anyio.Event()
                group.start_soon(wait, name, started)
                await started.wait()
            with event.cancelling():
                ended.append("first")
            await anyio.lowlevel.checkpoint()
            event.set()
        with event.cancelling():  # it is set already
            await anyio.sleep_forever()
    assert sorted(ended) == ["first", "one", "other"]


# --- invalid objects


class Pretender:
    """An object that pretends to be a result."""

    action = "accept"
    content = {"a": object()}  # noqa: RUF012 -- the shape of a result


INVALID_ANSWERS = {
    "an unknown action": Answer.model_construct(action="evil", content=None, by="user"),
    "an accept without a dictionary": Answer.model_construct(action="accept", content=object(), by="user"),
    "an accept with an object": Answer.model_construct(action="accept", content={"a": object()}, by="user"),
    "an accept of no one": Answer.model_construct(action="accept", content={"a": "x"}, by="evil"),
    "an accept without attributes": Answer.model_construct(action="accept"),
    "nothing": Answer.model_construct(),
    "sources that are no dictionary": Answer.model_construct(action="accept", content={"a": "x"}, by="user", sources=3),
    "diagnostics that are none": Answer.model_construct(action="accept", content={}, by="user", diagnostics=[object()]),
    "an answer that was changed": YES.model_copy(update={"action": "evil"}),
    "an object": Pretender(),
}


@pytest.mark.parametrize("params", [FORM, URL, CONFIRMATION], ids=["form", "url", "confirmation"])
@pytest.mark.parametrize("policy", [compose(), recommended()], ids=["plain", "recommended"])
@pytest.mark.parametrize("result", INVALID_ANSWERS.values(), ids=list(INVALID_ANSWERS))
async def test_an_answer_that_was_made_without_validation_is_a_cancel(result: Any, policy: Any, params: Any) -> None:
    async def handler(_request: Request) -> Any:
        return result

    registry = ElicitationRegistry(policy=policy)
    registry.on_elicitation(handler)
    wire: Any = await registry.callback("another")(None, params)

    assert wire.action == "cancel"
    assert wire.content is None


INVALID_REQUESTS = {
    "nothing": FormRequest.model_construct(),
    "no form": FormRequest.model_construct(server=SERVER, message="m", form=object()),
    "no field": FormRequest.model_construct(server=SERVER, message="m", form=Form.model_construct(fields=(object(),))),
    "no message": FormRequest.model_construct(server=SERVER, form=Form()),
}


@pytest.mark.parametrize("request_made", INVALID_REQUESTS.values(), ids=list(INVALID_REQUESTS))
async def test_a_request_that_was_made_without_validation_is_a_cancel(request_made: Any) -> None:
    registry = ElicitationRegistry(policy=recommended())
    registry.on_elicitation(_accept)

    wire: Any = await registry.callback("mail")(None, request_made)

    assert wire.action == "cancel"


async def test_the_field_and_code_of_an_answer_that_does_not_fit_are_logged_without_the_value(
    caplog: pytest.LogCaptureFixture,
) -> None:
    properties = {
        "pin": {"type": "string", "maxLength": 4},
        "age": {"type": "integer", "minimum": 18},
        "code\u202e\n": {"type": "string", "pattern": "^[0-9]+$"},
        "list": {"type": "array", "items": {"enum": ["a"]}},
        "needed": {"type": "string"},
    }
    form = form_params({"properties": properties, "required": ["needed"]})

    async def user(_request: Request) -> Answer:
        content = {"pin": "hunter2", "age": 7, "code\u202e\n": "hunter2", "list": ["hunter2"]}
        return Answer.accept(content, by="user")

    answer = await answer_with(user, form)

    (record,) = caplog.records
    assert record.getMessage() == (
        f"no answer for server {SERVER.name!r}: the answer does not fit the form: choice, max_length, minimum, "
        "pattern, required ('pin': max_length: Enter at most 4 characters.; 'age': minimum: Enter 18 or more.; "
        "'code\\u202e\\n': pattern: This does not have the required format.; "
        "'list': choice: Select one of the options.; 'needed': required: This field is required.)"
    )
    assert (answer.action, answer.by, answer.content) == ("cancel", "error", None)
    assert "hunter2" not in caplog.text + repr(answer)


async def test_few_fields_of_an_answer_that_does_not_fit_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    names = [f"f{at}" for at in range(200)]

    async def user(_request: Request) -> Answer:
        return Answer.accept({}, by="user")

    await answer_with(
        user, form_params({"properties": {name: {"type": "string"} for name in names}, "required": names})
    )

    (record,) = caplog.records
    assert record.getMessage().endswith("'f9': required: This field is required.; and 190 more)")


async def test_the_options_in_the_open_requests_of_a_server_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "MAX_OPEN_OPTIONS", 50)  # reading fewer options uses up no budget of time
    params = form_params({"properties": {"f": {"enum": [str(at) for at in range(20)]}}})
    asked: list[str] = []

    async def user(request: Request) -> Answer:
        asked.append(request.server.name)
        await anyio.sleep_forever()
        raise AssertionError

    dispatcher = Dispatcher(user)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for server in ("mail", "mail", "bank"):
                before = len(asked)
                group.start_soon(functools.partial(dispatcher.answer, params, server=Server(name=server)))
                while len(asked) == before:
                    await anyio.sleep(0.001)
            refused = await dispatcher.answer(params, server=Server(name="mail"))
            group.cancel_scope.cancel()
        assert (refused.action, refused.policy) == ("cancel", "admission")

        async with anyio.create_task_group() as group:
            group.start_soon(functools.partial(dispatcher.answer, params, server=Server(name="mail")))
            while len(asked) < 4:
                await anyio.sleep(0.001)
            group.cancel_scope.cancel()


async def test_an_error_of_a_handler_is_logged_without_the_answer(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    async def handler(_request: Request) -> Answer:
        return Answer.model_construct(action="accept", content={"a": _Secret()}, by="user")

    await answer_with(handler)

    assert "could not be answered" in caplog.text
    assert "hunter2" not in caplog.text


class _Secret:
    def __repr__(self) -> str:
        return "hunter2"
