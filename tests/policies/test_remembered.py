"""Remembered answers: the same question of the same server is asked once, if the user chose that."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

import anyio
import pytest

from mcp_elicit_client import Answer, ElicitationRegistry, FormRequest, Server
from mcp_elicit_client.core.origin import ORIGIN_META_KEY
from mcp_elicit_client.dispatch import Dispatcher
from mcp_elicit_client.inbox import Inbox, InboxHandler
from mcp_elicit_client.inbox.stores.memory import MemoryStore
from mcp_elicit_client.policies import RememberedAnswers, compose, protect_secrets, rate_limit, recommended
from mcp_elicit_client.typing import Policy, Request
from tests.support import cases, form_params

pytestmark = pytest.mark.anyio

CONFIRM = form_params({"properties": {}}, "Run the tests?")
SHOP = Server(name="shop")


class Person:
    """A user who gives one answer, and chooses that it is remembered wherever that is offered."""

    def __init__(self, answer: Answer | None = None, *, remembers: bool = True) -> None:
        self.answer = answer or Answer.accept({}, by="user")
        self.remembers = remembers
        self.asked: list[Request] = []

    async def __call__(self, request: Request) -> Answer:
        self.asked.append(request)
        return self.answer.model_copy(update={"remember": self.remembers})

    @property
    def offers(self) -> list[bool]:
        return [isinstance(each, FormRequest) and each.remember_seconds is not None for each in self.asked]


def client(person: Any, remembered: RememberedAnswers, *policies: Policy) -> Dispatcher:
    registry = ElicitationRegistry(policy=compose(remembered.policy, *policies))
    registry.on_elicitation(person)
    return Dispatcher(registry)


async def ask(dispatcher: Dispatcher, times: int = 1, params: Any = CONFIRM, **details: Any) -> list[Answer]:
    return [await dispatcher.answer(params, **{"server": SHOP, **details}) for _ in range(times)]


@pytest.mark.parametrize("case", cases("remembered"))
@pytest.mark.parametrize("secrets", ["refuse", "warn", "none"])
async def test_a_session_asks_each_question_once(case: dict[str, Any], secrets: str) -> None:
    person = Person(Answer(action=case.get("action", "accept"), content=case.get("content"), by="user"))
    protection: Policy | None = None if secrets == "none" else protect_secrets(action=secrets)  # type: ignore[arg-type]
    policy = recommended(
        remembered=RememberedAnswers(), known_names=["mail"], rate_limit=rate_limit(["1000/minute"]), secrets=protection
    )
    registry = ElicitationRegistry(policy=policy)
    registry.on_elicitation(person)
    dispatcher = Dispatcher(registry)

    answers: list[Answer] = []
    for each in case["requests"]:
        server = Server(name=each.get("server", "shop"), claimed_name=each.get("claimed_name"))
        params = {**each["params"], "_meta": {ORIGIN_META_KEY: each["origin"]}} if "origin" in each else each["params"]
        details = {name: each[name] for name in ("tool", "user") if name in each}
        answers += await ask(dispatcher, each["times"], params, server=server, **details)

    # Forms that request sensitive data are shown only where that is allowed.
    refused = {answer.policy for answer in answers} == {"secrets"} and not person.asked
    assert refused or len(person.asked) == case["asked"]
    assert all(offer == case.get("offered", True) for offer in person.offers)
    remembered = [answer for answer in answers if answer.policy == "remembered"]
    assert refused or len(answers) == len(person.asked) + len(remembered)
    for answer in remembered:
        assert (answer.by, answer.action) == ("policy", person.answer.action)
        assert answer.content == person.answer.content
        assert set(answer.sources.values()) <= {"policy"}


async def test_without_the_policy_nothing_is_offered_or_remembered() -> None:
    person = Person()
    registry = ElicitationRegistry(policy=recommended())
    registry.on_elicitation(person)

    await ask(Dispatcher(registry), 2)

    assert person.offers == [False, False]


async def test_an_answer_that_does_not_fit_its_form_is_not_remembered() -> None:
    person = Person(Answer.accept({"name": 3}, by="user"))
    remembered = RememberedAnswers()
    dispatcher = client(person, remembered)
    params = form_params({"properties": {"name": {"type": "string"}}})

    first = await ask(dispatcher, params=params)
    person.answer = Answer.accept({"name": "Ada", "other": "not requested"}, by="user")
    later = await ask(dispatcher, 2, params)

    assert [answer.action for answer in first + later] == ["cancel", "accept", "accept"]
    assert len(person.asked) == 2
    assert [each.content for each in remembered.list()] == [{"name": "Ada"}]


async def test_an_answer_is_remembered_only_if_the_user_chose_it() -> None:
    person = Person(remembers=False)
    await ask(client(person, RememberedAnswers()), 2)
    assert len(person.asked) == 2


@pytest.mark.parametrize(
    "answer",
    [
        Answer.accept({}, by="host"),
        Answer.accept({}, by="default"),
        Answer.decline(by="policy"),
        Answer.decline(by="user", block_server=True),
        Answer(action="accept", content={}, by="user", confirmed=True),
    ],
    ids=["host", "default", "policy", "block", "confirmed warning"],
)
async def test_only_a_plain_answer_of_the_user_is_remembered(answer: Answer) -> None:
    person = Person(answer)
    await ask(client(person, RememberedAnswers()), 2)
    assert len(person.asked) == 2


@pytest.mark.parametrize(
    "server", [Server(name="shop", transport="http"), Server(name="shop", origin="https://other.example")]
)
async def test_a_server_that_is_reached_elsewhere_gets_no_answer_from_memory(server: Server) -> None:
    person = Person()
    dispatcher = client(person, RememberedAnswers())
    await ask(dispatcher, 2)
    await ask(dispatcher, 2, server=server)
    assert len(person.asked) == 2


async def test_an_answer_that_does_not_fit_is_not_given_again() -> None:
    person = Person(Answer.accept({"a": "x"}, by="user"))
    params = form_params({"properties": {"a": {"type": "integer"}}})

    answers = await ask(client(person, RememberedAnswers()), 2, params)

    assert [answer.action for answer in answers] == ["cancel", "cancel"]


async def test_an_answer_is_forgotten_after_its_time() -> None:
    now = [0.0]
    person, remembered = Person(), RememberedAnswers(seconds=900, clock=lambda: now[0])
    dispatcher = client(person, remembered)

    await ask(dispatcher)
    now[0] = 899.9
    await ask(dispatcher)
    assert len(person.asked) == 1
    assert [round(each.seconds_left, 1) for each in remembered.list()] == [0.1]
    now[0] = 900
    assert remembered.list() == ()
    await ask(dispatcher)
    assert len(person.asked) == 2


@pytest.mark.skipif(sys.platform != "linux", reason="sets a clock of Linux")
async def test_an_answer_is_forgotten_while_the_computer_sleeps(monkeypatch: pytest.MonkeyPatch) -> None:
    person = Person()
    dispatcher = client(person, RememberedAnswers(seconds=900))
    read_clock = time.clock_gettime
    await ask(dispatcher)

    asleep = 900
    monkeypatch.setattr(
        time, "clock_gettime", lambda clock: read_clock(clock) + asleep * (clock == time.CLOCK_BOOTTIME)
    )
    await ask(dispatcher)

    assert len(person.asked) == 2


async def test_answers_are_listed_and_revoked_for_each_user() -> None:
    person, remembered = Person(), RememberedAnswers()
    dispatcher = client(person, remembered)
    for user in ("ann", "bob"):
        for server in (SHOP, Server(name="mail")):
            await ask(dispatcher, user=user, server=server)

    listed = remembered.list("ann")
    assert [(each.user, each.server, each.message, each.action, each.content) for each in listed] == [
        ("ann", "shop", "Run the tests?", "accept", {}),
        ("ann", "mail", "Run the tests?", "accept", {}),
    ]
    assert not remembered.revoke(listed[0].id)
    assert not remembered.revoke(listed[0].id, user="bob")
    assert remembered.revoke(listed[0].id, user="ann")
    assert not remembered.revoke(listed[0].id, user="ann")
    await ask(dispatcher, user="ann")
    await ask(dispatcher, user="bob")
    assert len(person.asked) == 5

    assert remembered.revoke_all(user="bob", server="mail") == 1
    assert remembered.revoke_all(user="bob") == 1
    assert (remembered.list("bob"), len(remembered.list("ann")), remembered.list()) == ((), 2, ())


async def ask_steps(dispatcher: Dispatcher, *numbers: int, **details: Any) -> None:
    for number in numbers:
        await ask(dispatcher, params=form_params({"properties": {}}, f"Step {number}?"), **details)


def steps_of(remembered: RememberedAnswers, user: str | None = None) -> list[tuple[str, str]]:
    return [(each.server, each.message) for each in remembered.list(user)]


async def test_the_number_of_answers_is_limited_for_each_user_and_in_total() -> None:
    remembered = RememberedAnswers(max_per_user=3, max_answers=5)
    dispatcher = client(Person(), remembered)
    for user in ("ann", "bob"):
        await ask_steps(dispatcher, *range(6), user=user)

    assert steps_of(remembered, "bob") == [("shop", "Step 3?"), ("shop", "Step 4?"), ("shop", "Step 5?")]
    assert steps_of(remembered, "ann") == [("shop", "Step 4?"), ("shop", "Step 5?")]


async def test_a_user_with_many_answers_does_not_evict_those_of_others() -> None:
    remembered = RememberedAnswers(max_answers=5)
    dispatcher = client(Person(), remembered)
    for user in ("ann", "bob", None):
        await ask_steps(dispatcher, 1, user=user)
    await ask_steps(dispatcher, *range(10), user="eve")

    assert steps_of(remembered, "eve") == [("shop", "Step 8?"), ("shop", "Step 9?")]
    assert [steps_of(remembered, user) for user in ("ann", "bob", None)] == [[("shop", "Step 1?")]] * 3


@pytest.mark.parametrize("limit", ["max_per_user", "max_answers"])
async def test_a_server_with_many_answers_does_not_evict_those_to_others(limit: str) -> None:
    remembered = RememberedAnswers(**{limit: 3})  # type: ignore[arg-type]
    dispatcher = client(Person(), remembered)
    await ask_steps(dispatcher, 1, server=Server(name="mail"))
    await ask_steps(dispatcher, *range(10))

    assert steps_of(remembered) == [("mail", "Step 1?"), ("shop", "Step 8?"), ("shop", "Step 9?")]


async def test_requests_that_wait_are_answered_by_what_was_remembered_meanwhile() -> None:
    person, decide = Person(), anyio.Event()

    async def slow(request: Request) -> Answer:
        await decide.wait()
        return await person(request)

    registry = ElicitationRegistry(policy=recommended(remembered=RememberedAnswers()))
    registry.on_elicitation(slow)
    dispatcher, answers = Dispatcher(registry), []

    async def one() -> None:
        answers.extend(await ask(dispatcher))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for _ in range(4):
                group.start_soon(one)
            await anyio.wait_all_tasks_blocked()
            decide.set()

    assert len(person.asked) == 1
    assert sorted(answer.policy for answer in answers) == ["", "remembered", "remembered", "remembered"]


async def test_repeated_questions_do_not_reach_the_rate_limit() -> None:
    person = Person()
    registry = ElicitationRegistry(policy=recommended(remembered=RememberedAnswers()))
    registry.on_elicitation(person)

    answers = await ask(Dispatcher(registry), 40)

    assert ([answer.action for answer in answers], len(person.asked)) == (["accept"] * 40, 1)


@pytest.mark.parametrize("remember", [True, False])
async def test_an_answer_from_an_inbox_can_be_remembered(remember: bool) -> None:
    inbox = Inbox(MemoryStore())
    dispatcher = client(InboxHandler(inbox), RememberedAnswers())
    answers: list[Sequence[Answer]] = []

    async def server() -> None:
        answers.append(await ask(dispatcher, 2, user="ann"))

    async def answer() -> None:
        async with aclosing(inbox.watch("ann")) as entries:
            async for entry in entries:
                if entry.state == "pending":
                    await inbox.answer("ann", entry.id, "accept", {}, remember=remember)
                    if remember or answered:
                        return
                    answered.append(entry.id)

    answered: list[str] = []
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(server)
            group.start_soon(answer)

    assert [each.by for each in answers[0]] == ["user", "policy" if remember else "user"]


@pytest.mark.parametrize("number", ["seconds", "max_per_user", "max_answers"])
def test_a_number_that_is_not_above_zero_is_refused(number: str) -> None:
    with pytest.raises(ValueError, match=f"`{number}` must be"):
        RememberedAnswers(**{number: 0})  # type: ignore[arg-type]
