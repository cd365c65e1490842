"""Many users and servers in one process: no action of one user changes what another one sees."""

from __future__ import annotations

import itertools
import time
from collections import defaultdict
from typing import Any, Literal

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from mcp_elicit_client import Answer, Server, parse_request
from mcp_elicit_client.dispatch import Dispatcher
from mcp_elicit_client.policies import (
    AutomaticAnswers,
    Permissions,
    cooldown_after_declines,
    form_fingerprint,
    one_at_a_time,
    rate_limit,
    recommended,
)
from mcp_elicit_client.typing import Request
from tests.support import form_params

pytestmark = pytest.mark.anyio

FORM = form_params({"properties": {"a": {"type": "string"}}})
YES = Answer.accept({"a": "x"}, by="user")
NO = Answer.decline(by="user")
NEVER = Answer.decline(by="user", block_server=True)


def request(user: str | None = None, server: str = "mail", message: str = "m") -> Any:
    return parse_request({**FORM, "message": message}, server=server, user=user)


class User:
    """Answers what the test sets, and notes what is shown."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.shown: list[tuple[str | None, str]] = []

    async def __call__(self, asked: Request) -> Answer:
        self.shown.append((asked.user, asked.message))
        return self.answer


# --- one policy at a time


async def test_declines_of_one_user_do_not_silence_the_server_for_another() -> None:
    user = User(NO)
    handler: Any = cooldown_after_declines()(user)
    for _ in range(8):
        await handler(request("ann"))
    answers = [await handler(request(name)) for name in ("ann", "bob", None)]

    assert [each.policy for each in answers] == ["cooldown", "", ""]


async def test_requests_of_one_user_do_not_use_up_the_rate_of_another() -> None:
    handler: Any = rate_limit(["2/minute"])(User(YES))
    answers = [(await handler(request(name))).action for name in ("ann", "ann", "ann", "bob", None)]

    assert answers == ["accept", "accept", "cancel", "accept", "accept"]


async def test_a_second_rate_limits_all_users_of_a_server_together() -> None:
    handler: Any = rate_limit(["2/minute"], server_rates=["3/minute"])(User(YES))
    names = ["ann", "ann", "ann", "ann", "bob", "eve"]
    answers = [await handler(request(name)) for name in names]

    # What ann's own rate refuses does not count.
    assert [each.action for each in answers] == ["accept", "accept", "cancel", "cancel", "accept", "cancel"]
    assert "for all users" in answers[-1].reason
    assert (await handler(request("eve", "calendar"))).action == "accept"


async def test_the_clock_of_the_computer_does_not_change_the_rate_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    wall, monotonic = [1e9], [50.0]
    monkeypatch.setattr(time, "time", lambda: wall[0])
    monkeypatch.setattr(time, "monotonic", lambda: monotonic[0])
    handler: Any = rate_limit(["2/second"])(User(YES))

    actions = [(await handler(request())).action for _ in range(3)]
    wall[0] -= 365 * 86_400
    monotonic[0] += 1.0
    actions.append((await handler(request())).action)
    wall[0] += 800 * 86_400
    actions += [(await handler(request())).action for _ in range(2)]

    assert actions == ["accept", "accept", "cancel", "accept", "accept", "cancel"]


@pytest.mark.parametrize(("policy", "interval"), [("rate", 0.01), ("cooldown", 300)])
async def test_old_requests_do_not_fill_the_memory(
    monkeypatch: pytest.MonkeyPatch, policy: str, interval: float
) -> None:
    import tracemalloc

    monotonic = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: monotonic[0])
    make = rate_limit(["2/second"]) if policy == "rate" else cooldown_after_declines(clock=lambda: monotonic[0])
    handler: Any = make(_decline)
    asked = request()

    async def use(first: int) -> int:
        for number in range(first, first + 3_000):
            monotonic[0] += interval
            await handler(asked.model_copy(update={"user": f"user {number}"}))
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    sizes = [await use(first) for first in (0, 3_000, 6_000)]
    tracemalloc.stop()

    assert sizes[2] - sizes[1] < 300_000


async def test_a_block_after_declines_is_not_forgotten_among_many_users() -> None:
    now = [0.0]
    handler: Any = cooldown_after_declines(seconds=1, clock=lambda: now[0])(_decline)
    for _ in range(5):
        await handler(request("ann"))
        now[0] += 10
    for number in range(9_000):
        now[0] += 300
        await handler(request(f"user {number}"))

    assert [(await handler(request(user))).by for user in ("ann", "bob")] == ["policy", "user"]


async def _decline(_request: Request) -> Answer:
    return NO


async def test_users_do_not_wait_for_each_other() -> None:
    shown: list[str | None] = []
    may_answer = anyio.Event()

    async def user(asked: Request) -> Answer:
        shown.append(asked.user)
        await may_answer.wait()
        return YES

    handler: Any = one_at_a_time()(user)
    async with anyio.create_task_group() as group:
        for name in ("ann", "ann", "bob", None, None, "bob"):
            group.start_soon(handler, request(name))
            await anyio.wait_all_tasks_blocked()
        assert shown == ["ann", "bob", None]
        may_answer.set()

    assert sorted(shown, key=str) == [None, None, "ann", "ann", "bob", "bob"]


async def test_patterns_of_defaults_are_checked_before_the_turn_begins() -> None:
    slow = {"type": "string", "pattern": "^(a|aa)+$", "default": "a" * 60 + "!"}
    asked = parse_request(form_params({"properties": {"a": slow, "b": slow}}), server="slow")
    user = User(YES)
    handler: Any = one_at_a_time()(user)
    async with anyio.create_task_group() as group:
        group.start_soon(handler, asked)
        await anyio.lowlevel.checkpoint()
        group.start_soon(handler, request(server="mail", message="first"))

    assert [message for _, message in user.shown] == ["first", asked.message]


async def test_a_block_is_that_of_its_user(tmp_path: Any) -> None:
    path = tmp_path / "permissions.json"
    permissions = Permissions(path)
    user = User(NEVER)
    handler: Any = permissions.policy(user)
    await handler(request("ann"))
    answers = [await handler(request(*of)) for of in (("ann",), ("bob", "calendar"), ("ann", "calendar"))]

    assert [each.policy for each in answers] == ["permissions", "", ""]
    again = Permissions(path)
    assert [again._permission_for(request(name)) for name in ("ann", "bob", "eve", None)] == [
        "block",
        "ask",
        "ask",
        "ask",
    ]


def test_a_rule_of_the_user_is_more_specific_than_one_of_all_users() -> None:
    permissions = Permissions()
    permissions.set("decline", server="mail")
    permissions.set("ask", server="mail", user="ann")
    permissions.set("block", server=None, user="bob")
    permissions.set("block_until_restart", server="news", user="ann")
    permissions.set("block_until_restart", server="spam")

    found = {
        (name, server): permissions._permission_for(request(name, server))
        for name, server in itertools.product(("ann", "bob", None), ("mail", "news", "spam"))
    }

    assert found == {
        ("ann", "mail"): "ask",
        ("ann", "news"): "block_until_restart",
        ("ann", "spam"): "block_until_restart",
        ("bob", "mail"): "block",
        ("bob", "news"): "block",
        ("bob", "spam"): "block_until_restart",
        (None, "mail"): "decline",
        (None, "news"): "ask",
        (None, "spam"): "block_until_restart",
    }


def test_an_automatic_answer_may_be_that_of_one_user() -> None:
    asked = request()
    form = form_fingerprint(asked.form)
    automatic = AutomaticAnswers({("ann", "mail", form): {"a": "ann's"}, ("calendar", form): {"a": "all"}})

    def content(user: str | None, server: str) -> Any:
        answer = automatic.preview(request(user, server))
        return answer and answer.content

    assert content("ann", "mail") == {"a": "ann's"}
    assert content("bob", "mail") is content(None, "mail") is None
    assert content("ann", "calendar") == content(None, "calendar") == {"a": "all"}


# --- decisions reach waiting requests


DECISIONS = {
    "never again": (recommended, [NEVER], "permissions"),
    "cooldown": (lambda: recommended(rate_limit=rate_limit(["1000/minute"])), [NO, NO, NO], "cooldown"),
    "cooldown of another chain": (
        lambda: lambda handler: cooldown_after_declines(declines=1)(one_at_a_time()(handler)),
        [NO],
        "cooldown",
    ),
}


@pytest.mark.parametrize("case", DECISIONS.values(), ids=list(DECISIONS))
@pytest.mark.parametrize("user", ["ann", None])
async def test_a_decision_answers_the_waiting_requests_without_showing_them(case: Any, user: str | None) -> None:
    policy, decisions, name = case
    shown: list[tuple[str | None, str]] = []
    decide = anyio.Event()
    of_ann = 0

    async def ask_user(asked: Request) -> Answer:
        nonlocal of_ann
        shown.append((asked.user, asked.server.name))
        if (asked.user, asked.server.name) != (user, "chatty"):
            return YES
        of_ann += 1
        if of_ann == len(decisions):
            await decide.wait()
        answer: Answer = decisions[of_ann - 1]
        return answer

    handler: Any = policy()(ask_user)
    answers: list[Answer] = []

    async def ask(asked: Request) -> None:
        answers.append(await handler(asked))

    async with anyio.create_task_group() as group:
        for _ in range(len(decisions) - 1):
            await ask(request(user, "chatty"))
        for number in range(4):
            group.start_soon(ask, request(user, "chatty", str(number)))
            await anyio.wait_all_tasks_blocked()
        group.start_soon(ask, request(user, "quiet"))
        group.start_soon(ask, request("bob", "chatty"))
        await anyio.wait_all_tasks_blocked()
        decide.set()

    assert shown.count((user, "chatty")) == len(decisions)
    assert (user, "quiet") in shown
    assert ("bob", "chatty") in shown
    assert [each.policy for each in answers].count(name) == 3


async def test_a_rule_that_is_set_while_a_request_waits_answers_it() -> None:
    permissions = Permissions()
    shown: list[str] = []
    may_answer = anyio.Event()

    async def user(asked: Request) -> Answer:
        shown.append(asked.server.name)
        await may_answer.wait()
        return YES

    handler: Any = recommended(permissions=permissions)(user)
    answers: dict[str, Answer] = {}

    async def ask(server: str) -> None:
        answers[server] = await handler(request(server=server))

    async with anyio.create_task_group() as group:
        for server in ("mail", "blocked", "declined"):
            group.start_soon(ask, server)
            await anyio.wait_all_tasks_blocked()
        permissions.set("block_until_restart", server="blocked")
        permissions.set("decline", server="declined")
        may_answer.set()

    assert shown == ["mail"]
    assert (answers["blocked"].action, answers["declined"].action) == ("cancel", "decline")


# --- random sequences


USERS = [f"user {number}" for number in range(100)]
SERVERS = [f"server {number}" for number in range(10)]


class Step(BaseModel):
    """One action: a request of a server to a user, or the answer of a user to the request that is shown."""

    user: str
    server: str
    action: Literal["ask", "flood", "accept", "decline", "never again", "leave"]


steps = st.builds(
    Step,
    # Few users in most steps, so that there are long sequences of one; all of them in others.
    user=st.one_of(st.sampled_from(USERS[:3]), st.sampled_from(USERS)),
    server=st.one_of(st.sampled_from(SERVERS[:2]), st.sampled_from(SERVERS)),
    action=st.sampled_from(["ask", "ask", "flood", "accept", "decline", "decline", "never again", "leave"]),
)
ANSWERS = {"accept": YES, "decline": NO, "never again": NEVER, "leave": Answer.cancel(by="user")}


class Backend:
    """One process with many users, each with a screen that shows requests until they are answered."""

    def __init__(self, group: Any) -> None:
        self._group = group
        self._dispatcher = Dispatcher(recommended()(self._show))
        self._screens: dict[str, list[tuple[anyio.Event, list[Answer]]]] = defaultdict(list)
        self.seen: dict[str, list[Any]] = defaultdict(list)
        """All that each user saw, and what the server got for that user."""

    async def _show(self, asked: Request) -> Answer:
        assert asked.user is not None
        shown: tuple[anyio.Event, list[Answer]] = (anyio.Event(), [])
        self._screens[asked.user].append(shown)
        self.seen[asked.user].append(("shown", asked.server.name))
        try:
            await shown[0].wait()
            return shown[1][0]
        finally:
            self._screens[asked.user].remove(shown)

    async def _ask(self, step: Step) -> None:
        answer = await self._dispatcher.answer(FORM, server=Server(name=step.server), user=step.user)
        self.seen[step.user].append(("answered", step.server, answer.action, answer.by, answer.policy))

    async def play(self, step: Step) -> None:
        if step.action in ANSWERS:
            screen = self._screens[step.user]
            if screen:
                event, answers = screen[0]
                answers.append(ANSWERS[step.action])
                event.set()
        else:
            for _ in range(20 if step.action == "flood" else 1):
                self._group.start_soon(self._ask, step)
        await anyio.wait_all_tasks_blocked()


def play(sequence: list[Step]) -> dict[str, list[Any]]:
    async def main() -> dict[str, list[Any]]:
        async with anyio.create_task_group() as group:
            backend = Backend(group)
            for step in sequence:
                await backend.play(step)
            seen = {user: list(entries) for user, entries in backend.seen.items()}
            group.cancel_scope.cancel()
        return seen

    return anyio.run(main)


@given(st.lists(steps, max_size=40))
@settings(max_examples=40)
def test_what_a_user_sees_depends_on_the_requests_and_answers_of_that_user_only(sequence: list[Step]) -> None:
    together = play(sequence)

    for user in {step.user for step in sequence}:
        alone = play([step for step in sequence if step.user == user])
        assert together.get(user, []) == alone.get(user, [])
