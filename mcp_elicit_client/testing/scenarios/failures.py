"""Nobody there, and interfaces that fail: never a yes, never a no, and nothing told."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import anyio

from mcp_elicit_client.testing.fake_server import FakeServer, Reply
from mcp_elicit_client.testing.scenario_run import InconclusiveError, NoAnswerError, NotApplicableError, ScenarioRun
from mcp_elicit_client.testing.scenarios.base import ACTIONS, CONFIRM, PUSH, SECURITY, TEXT, Group, form, visit
from mcp_elicit_client.testing.user_action import FAILURE_TEXT, UserAction

GROUP = Group("nobody there, and failures")

_FORM = form("name", name=TEXT)
_SOON = 1.0
_CANCEL = 'cancel is "User dismissed without making an explicit choice"; decline is a person\'s decision'


def _nobody(name: str, title: str, params: Mapping[str, Any], because: str, source: str) -> None:
    async def run(trial: ScenarioRun) -> None:
        reply = await trial.ask(params, "absent")
        trial.expect(not reply.accepted, f"nobody was there, and the server got {reply}")

    GROUP.add(name, title, run, because=because, source=source)


_nobody(
    "nobody-fills-in-no-form",
    "Where nobody is there, no form is filled in.",
    _FORM,
    "a required field without default can only be filled in by a person: what is sent is made up",
    f"{SECURITY}; mpfaffenberger/code_puppy#810",
)
_nobody(
    "nobody-confirms-nothing",
    "Where nobody is there, nothing is confirmed.",
    CONFIRM,
    "a form without fields is a question too; it was accepted with {}",
    "NousResearch/hermes-agent#58778, openai/codex#17164",
)


@GROUP.scenario(
    "nobody-is-not-a-decline",
    "Nobody there is not a decline.",
    because=_CANCEL,
    source=f"{ACTIONS}; anthropics/claude-code#89858, openai/codex#29857",
)
async def _not_a_decline(trial: ScenarioRun) -> None:
    reply = await trial.ask(_FORM, "absent")
    trial.expect(reply.action != "decline", "nobody was there, and the server got a decline")


@GROUP.scenario(
    "nobody-holds-up-nothing",
    "Where nobody is there, the server learns so in time.",
    because="a prompt that waits for somebody who is not there hangs the call",
    source="anthropics/claude-code#88901, pi-mcp-adapter#139",
    hang_fails=True,
)
async def _in_time(trial: ScenarioRun) -> None:
    for params in (_FORM, visit()):
        reply = await trial.ask(params, "absent")
        if isinstance(reply.failure, TimeoutError):
            raise NoAnswerError("there was no answer")


@GROUP.scenario(
    "nobody-raises-nothing",
    "Where nobody is there, nothing is raised.",
    because="the end of the input is an EOFError; raised into the SDK it is an error of the server's call",
    source="modelcontextprotocol/python-sdk#2673; the SDK's own examples",
)
async def _nobody_raises(trial: ScenarioRun) -> None:
    for params in (_FORM, CONFIRM, visit()):
        await trial.ask(params, "absent")
        trial.expect(not trial.raised, f"{type(trial.raised[0]).__name__ if trial.raised else ''} was raised")


def _told(trial: ScenarioRun, reply: Reply) -> str:
    """Return what an error tells the server beside that there is one."""
    message = str((reply.error or {}).get("message", ""))
    texts = [str(each) for each in trial.raised] + [FAILURE_TEXT]
    found = [text for text in texts if len(text) > 3 and text in message]
    if found:
        return found[0]
    return next((word for word in ("Traceback", 'File "', "EOF when", "codec can't") if word in message), "")


@GROUP.scenario(
    "exception-text-not-told",
    "The server is not told the text of an exception.",
    because="it names files, users and what the user typed; mcp 2 and FastMCP send it to the server",
    source="modelcontextprotocol/python-sdk#2673; measured with mcp 2.3 and FastMCP 3 and 4",
)
async def _not_told(trial: ScenarioRun) -> None:
    reply = await trial.ask(_FORM, "fail")
    if reply.refused and not trial.raised:
        reply = await trial.ask(visit(), "fail")
    trial.expect(not (told := _told(trial, reply)), f"the server got it: {told}")
    if trial.under_test.user is None and reply.error is None and not trial.raised:
        raise InconclusiveError("nothing failed: it takes a user whose interface breaks (--user)")


@GROUP.scenario(
    "broken-interface-raises-nothing",
    "An interface that breaks raises nothing into the SDK.",
    because="what is raised there ends the call (2026-07-28), or reaches the server as an error of its own making",
    source="modelcontextprotocol/python-sdk#2673; measured with mcp 1.30 and 2.3",
)
async def _raises_nothing(trial: ScenarioRun) -> None:
    trial.needs_user()
    params, _ = await trial.answerable()
    await trial.ask(params, "fail")
    trial.expect(not trial.raised, f"{type(trial.raised[0]).__name__ if trial.raised else ''} was raised")


@GROUP.scenario(
    "broken-interface-is-no-decision",
    "An interface that breaks is neither a yes nor a no.",
    because=_CANCEL,
    source=ACTIONS,
)
async def _no_decision(trial: ScenarioRun) -> None:
    trial.needs_user()
    params, _ = await trial.answerable()
    reply = await trial.ask(params, "fail")
    trial.expect(reply.action not in ("accept", "decline"), f"the interface broke, and the server got {reply}")


@GROUP.scenario(
    "values-not-in-errors",
    "What the user gave is not told in an error.",
    because="an error is logged and shown by the server, in parts of it that were not asked for the value",
    source="FastMCP 3, where a validation error quoted the answer",
)
async def _values_not_told(trial: ScenarioRun) -> None:
    trial.needs_user()
    params = form("age", age={"type": "integer", "maximum": 150})
    await trial.accepts(params, {"age": 36})
    secret = "private-4711"  # noqa: S105 -- it is none
    for content in ({"age": secret}, {"age": {"nested": secret}}):
        reply = await trial.ask(params, "accept", content)
        trial.expect(secret not in str(reply.error or ""), "the error that the server got quotes the value")
        if isinstance(reply.content, dict) and reply.content.get("age") == {"nested": secret}:
            raise InconclusiveError("it is accepted as it is")


@GROUP.scenario(
    "values-not-logged",
    "What the user gave is not logged.",
    because="answers are personal; a log is read by others, and later",
    source="mcp-agent 0.2.6, elicitation/handler.py, and fast-agent, mcp/elicitation_handlers.py:311 (at level INFO)",
)
async def _values_not_logged(trial: ScenarioRun) -> None:
    secret = "private-4711"  # noqa: S105 -- it is none
    reply = await trial.accepts(_FORM, {"name": secret})
    if (reply.content or {}).get("name") != secret:
        raise InconclusiveError("the server did not get what the user gave")
    trial.expect(not any(secret in line for line in trial.observer.logged), "it is in the log")


@GROUP.scenario(
    "event-loop-goes-on",
    "The event loop goes on while the user thinks.",
    because="input() in a coroutine stops everything: other calls, pings, the server's cancel",
    source="the SDK's own examples; modelcontextprotocol/python-sdk#693",
)
async def _goes_on(trial: ScenarioRun) -> None:
    trial.needs_user()
    params, content = await trial.answerable()
    trial.slowest = 0.0
    await trial.ask(params, "accept", content, after=1.2)
    trial.expect(trial.slowest < 0.8, f"it stood still for {trial.slowest:.1f} s")


@GROUP.scenario(
    "leaving-ends-the-question",
    "When the host leaves the session, the question ends.",
    because="cancellation that is swallowed keeps the host from ending; a prompt would stay for a server that is gone",
    source="MCPJam/inspector#1604, openai/codex#40390",
    deliveries=PUSH,
    hang_fails=True,
)
async def _leaving(trial: ScenarioRun) -> None:
    trial.needs_user()
    params, _ = await trial.answerable()
    finished = trial.finished

    async def session() -> None:
        async with FakeServer("server-initiated").connected(trial.callback) as server:
            trial.perform(UserAction("hang", {}, params))
            with trial.observer.typing([], until=trial.answer_timeout):
                await server.ask(params)

    async with anyio.create_task_group() as group:
        group.start_soon(session)
        await _until(trial, lambda: trial.started > finished)
        over = trial.finished > finished
        left = time.monotonic()
        group.cancel_scope.cancel()
    trial.was_open(not over)
    took = trial.ended - left
    trial.expect(trial.finished > finished, "the question stayed open")
    trial.expect(took < _SOON, f"it took {took:.1f} s to end")


@GROUP.scenario(
    "withdrawn-is-no-answer",
    "A question that the server takes back gets no answer.",
    because="whoever swallows the cancellation answers what nobody asks any more",
    source="openai/codex#40390; 2025-11-25, basic/utilities/cancellation",
    deliveries=PUSH,
)
async def _withdrawn(trial: ScenarioRun) -> None:
    trial.needs_user()
    if not _is_told():
        raise NotApplicableError("mcp 1 does not cancel a callback")
    params, _ = await trial.answerable()
    finished = trial.finished
    replies: list[Reply] = []

    async def ask() -> None:
        replies.append(await trial.ask(params, "hang"))

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        await _until(trial, lambda: trial.started > finished)
        await anyio.sleep(0.1)
        over = trial.finished > finished
        await trial.server.withdraw()
        with anyio.move_on_after(_SOON):
            await _until(trial, lambda: trial.finished > finished)
        group.cancel_scope.cancel()
    trial.was_open(not over)
    trial.expect(trial.finished > finished, "the question stayed open")
    trial.expect(not any(reply.result for reply in replies), "it was answered all the same")


async def _until(trial: ScenarioRun, condition: Any) -> None:
    with anyio.fail_after(trial.answer_timeout):
        while not condition():  # noqa: ASYNC110 -- nobody tells
            await anyio.sleep(0.01)


def _is_told() -> bool:
    from mcp_elicit_client.sdk.callback import supports_multi_round_trip

    return supports_multi_round_trip()
