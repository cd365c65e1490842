"""Scenarios without a user and with failing interfaces: no accept, no decline, and no details for the server."""

from __future__ import annotations

from typing import Any

import anyio

from mcp_elicit_client.sdk.callback import supports_multi_round_trip
from mcp_elicit_client.testing.callback_under_test import FAILURE_TEXT, UserAction
from mcp_elicit_client.testing.fake_server import FakeServer, Reply
from mcp_elicit_client.testing.scenario_run import InconclusiveError, NoAnswerError, NotApplicableError, ScenarioRun
from mcp_elicit_client.testing.scenarios.requests import CONFIRMATION, NAME_FORM, REQUESTS, form_params, url_params

_TRACES = ("Traceback", 'File "', "EOF when", "codec can't")
_MIN_QUOTE = 4
_MAX_BLOCK = 0.8
_PRIVATE = "private-4711"


async def absent_user_does_not_accept(run: ScenarioRun, request: str) -> None:
    reply = await run.ask(REQUESTS[request], "absent")
    run.expect(not reply.accepted, f"The user was absent, but the server received {reply}.")


async def nobody_is_not_a_decline(run: ScenarioRun) -> None:
    reply = await run.ask(NAME_FORM, "absent")
    run.expect(reply.action != "decline", "The user was absent, but the server received a decline.")


async def nobody_holds_up_nothing(run: ScenarioRun) -> None:
    for params in (NAME_FORM, url_params()):
        reply = await run.ask(params, "absent")
        if isinstance(reply.failure, TimeoutError):
            raise NoAnswerError("There was no answer.")


async def nobody_raises_nothing(run: ScenarioRun) -> None:
    for params in (NAME_FORM, CONFIRMATION, url_params()):
        await run.ask(params, "absent")
        run.expect_nothing_raised()


async def exception_text_not_told(run: ScenarioRun) -> None:
    reply = await run.ask(NAME_FORM, "fail")
    if reply.refused and not run.raised:
        reply = await run.ask(url_params(), "fail")
    quoted = _quoted_exception(run, reply)
    run.expect(not quoted, f"The server received the text of the exception: {quoted}")
    if run.under_test.user is None and reply.error is None and not run.raised:
        raise InconclusiveError("Nothing failed. Pass --user to name a hook that makes the interface fail.")


def _quoted_exception(run: ScenarioRun, reply: Reply) -> str:
    """Return the part of an exception text that the error in *reply* contains."""
    message = str((reply.error or {}).get("message", ""))
    texts = [text for text in map(str, run.raised) if len(text) >= _MIN_QUOTE]
    return next((text for text in (*texts, FAILURE_TEXT, *_TRACES) if text in message), "")


async def broken_interface_raises_nothing(run: ScenarioRun) -> None:
    run.require_user()
    params, _ = await run.find_accepted()
    await run.ask(params, "fail")
    run.expect_nothing_raised()


async def broken_interface_is_no_decision(run: ScenarioRun) -> None:
    run.require_user()
    params, _ = await run.find_accepted()
    reply = await run.ask(params, "fail")
    run.expect(reply.action not in ("accept", "decline"), f"The interface failed, but the server received {reply}.")


async def values_not_in_errors(run: ScenarioRun) -> None:
    run.require_user()
    params = form_params("age", age={"type": "integer", "maximum": 150})
    await run.require_accept(params, {"age": 36})
    nested = {"nested": _PRIVATE}
    for content in ({"age": _PRIVATE}, {"age": nested}):
        reply = await run.ask(params, "accept", content)
        run.expect(_PRIVATE not in str(reply.error or ""), "The server received an error that quotes the value.")
        if isinstance(reply.content, dict) and reply.content.get("age") == nested:
            raise InconclusiveError("The callback accepts the invalid value.")


async def values_not_logged(run: ScenarioRun) -> None:
    reply = await run.require_accept(NAME_FORM, {"name": _PRIVATE})
    if (reply.content or {}).get("name") != _PRIVATE:
        raise InconclusiveError("The server did not receive the value of the user.")
    run.expect(not any(_PRIVATE in line for line in run.observer.logged), "The log contains the value.")


async def event_loop_goes_on(run: ScenarioRun) -> None:
    run.require_user()
    params, content = await run.find_accepted()
    run.longest_block = 0.0
    await run.ask(params, "accept", content, after=1.2)
    run.expect_no_block(_MAX_BLOCK)


async def leaving_ends_the_question(run: ScenarioRun) -> None:
    run.require_user()
    params, _ = await run.find_accepted()
    scope = anyio.CancelScope()

    async def session() -> None:
        with scope:
            async with FakeServer("server-initiated").connected(run.callback) as server:
                run.perform(UserAction("hang", {}, params))
                with run.observer.typing([], until=run.answer_timeout):
                    await server.ask(params)

    async def leave() -> None:
        scope.cancel()

    await run.interrupt(session, leave)


async def withdrawn_is_no_answer(run: ScenarioRun) -> None:
    run.require_user()
    if not supports_multi_round_trip():
        raise NotApplicableError("mcp 1 does not cancel a callback.")
    params, _ = await run.find_accepted()
    replies: list[Any] = []

    async def ask() -> None:
        replies.append(await run.ask(params, "hang"))

    await run.interrupt(ask, run.server.withdraw)
    run.expect(not any(reply.result for reply in replies), "The server received an answer to a withdrawn request.")
