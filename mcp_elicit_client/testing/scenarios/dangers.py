"""Scenarios with URLs, absent users, failing interfaces and hostile servers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import anyio
import mcp.types

from mcp_elicit_client.sdk.callback import supports_multi_round_trip
from mcp_elicit_client.testing.callback_under_test import (
    FAILURE_TEXT,
    UnsupportedActionError,
    UserAction,
    UserActionName,
)
from mcp_elicit_client.testing.fake_server import FakeServer, Reply
from mcp_elicit_client.testing.hostile_server import SPOOFED_URLS, payload_params
from mcp_elicit_client.testing.process_observer import Event
from mcp_elicit_client.testing.scenario_run import (
    ALLOW_INCONCLUSIVE,
    ENTER_CONTENT,
    REPORT_SHOWN_TEXT,
    SENTINEL_FORM,
    InconclusiveError,
    NoAnswerError,
    NotApplicableError,
    ScenarioRun,
)
from mcp_elicit_client.testing.scenarios.requests import (
    CONFIRMATION,
    HOST,
    NAME_FIELD,
    NAME_FORM,
    REQUESTS,
    URL,
    form_params,
    url_params,
)

_SECRET = "ticket=4711"  # noqa: S105 -- part of the URL, which is secret
_OTHER_SDK = "Run the check with another version of the SDK, or pass --allow-inconclusive."
_PLAIN_HOST, _LOOKALIKE_HOST = "paypal.com", "xn--pypal-4ve.com"
_WITHOUT_USER: tuple[UserActionName, ...] = ("absent",)
_WITH_USER: tuple[UserActionName, ...] = ("decline", "accept")
_TRACES = ("Traceback", 'File "', "EOF when", "codec can't")
_MIN_QUOTE = 4
_MAX_BLOCK_OF_FORM = 0.8
_PRIVATE = "private-4711"
_MAX_BLOCK_OF_PAYLOAD = 2.0
_FLOOD = 60
_MAX_SHOWN_OF_FLOOD = 40


# --- URL mode: a URL is shown, the user consents, and only then it is opened


async def url_is_not_opened(run: ScenarioRun, action: UserActionName) -> None:
    if action != "absent":
        run.require_user()
        await run.require_accept(url_params(f"https://{HOST}/control"))
    reply = await run.ask(url_params(), action)
    opened = run.observer.opened(_SECRET)
    run.expect(not opened, f"The user did not consent, but the URL was opened ({_names(opened)}).")
    run.expect(not reply.accepted, f"The user did not consent, but the server received {reply}.")


async def url_mode_gets_an_answer(run: ScenarioRun) -> None:
    reply = await run.ask(url_params(), "decline")
    run.expect_nothing_raised()
    run.expect(reply.result is not None or reply.refused, f"The server received {reply}.")


async def url_not_fetched(run: ScenarioRun) -> None:
    for action in _WITH_USER if run.under_test.user else _WITHOUT_USER:
        _require_url_mode(await run.ask(url_params(), action))
        reached = run.observer.reached(HOST)
        run.expect(not reached, f"The host was looked up or connected to ({_names(reached)}).")


async def url_not_through_a_shell(run: ScenarioRun) -> None:
    await run.require_accept(url_params())
    run.expect(not run.observer.through_shell(_SECRET), "The URL was passed to a shell.")


async def url_opened_once(run: ScenarioRun) -> None:
    await run.require_accept(url_params())
    opened = run.observer.opened(_SECRET)
    run.expect(len(opened) <= 1 or len({each.name for each in opened}) > 1, f"The URL was opened {len(opened)} times.")


async def url_shown_whole(run: ScenarioRun) -> None:
    run.require_user()
    await run.require_accept(url_params(message="Please sign in, 4712"))
    run.require_shown("4712")
    run.expect(URL in run.shown, "The user is shown the message without the URL.")


async def suspicious_url_has_a_warning(run: ScenarioRun) -> None:
    run.require_user()
    shown = {}
    for host in (_PLAIN_HOST, _LOOKALIKE_HOST):
        run.forget_shown()
        _require_url_mode(await run.ask(url_params(f"https://{host}/start", f"Sign in, word-{len(host)}"), "decline"))
        run.require_shown(f"word-{len(host)}")
        shown[host] = run.shown
    # Without the names and the numbers, which differ, the texts differ by the warning.
    plain, lookalike = (re.sub(r"\S*(ypal|word-)\S*", "", each).split() for each in shown.values())
    run.expect(plain != lookalike, f"The user is shown the domain {_LOOKALIKE_HOST} in the same way as {_PLAIN_HOST}.")


async def spoofed_url_is_refused(run: ScenarioRun, url: str) -> None:
    run.require_user()
    await run.require_accept(url_params())
    before = len(run.observer.events)
    reply = await run.ask(url_params(SPOOFED_URLS[url]), "accept")
    opened = [each for each in run.observer.events[before:] if each in run.observer.opened("4711")]
    run.expect(not opened, f"The URL was opened ({_names(opened)}).")
    run.expect(not reply.accepted, f"The server received {reply}.")


async def url_not_logged(run: ScenarioRun) -> None:
    for action in _WITH_USER if run.under_test.user else _WITHOUT_USER:
        _require_url_mode(await run.ask(url_params(), action))
    run.expect(not any(_SECRET in line for line in run.observer.logged), "The log contains the URL with its query.")


def _require_url_mode(reply: Reply) -> None:
    if reply.result is None:
        reason = f"The callback does not support URL mode: the server received {reply}."
        raise InconclusiveError(reason, ALLOW_INCONCLUSIVE)


def _names(events: list[Event]) -> str:
    return ", ".join(dict.fromkeys(each.name for each in events))


# --- Without a user, or with a failing interface: no accept, no decline, no details for the server


async def absent_user_does_not_accept(run: ScenarioRun, request: str) -> None:
    reply = await run.ask(REQUESTS[request], "absent")
    run.expect(not reply.accepted, f"The user was absent, but the server received {reply}.")


async def silence_is_no_decision(run: ScenarioRun, request: str) -> None:
    run.require_user()
    params = REQUESTS[request]
    await run.require_accept(params, {"name": "Ada"} if request == "form" else {})
    before = len(run.observer.opened(_SECRET))
    reply = await run.ask_silent_user(params)
    opened = run.observer.opened(_SECRET)[before:]
    run.expect(not opened, f"The user did not answer, but the URL was opened ({_names(opened)}).")
    run.expect(
        reply is None or reply.action not in ("accept", "decline"),
        f"The user did not answer, but the server received {reply}.",
    )


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
        raise InconclusiveError("Nothing failed.", "Pass --user to name a hook that makes the interface fail.")


def _quoted_exception(run: ScenarioRun, reply: Reply) -> str:
    """Return the part of an exception text that *reply* contains: its error, or the metadata of its result."""
    received = list(_texts_in([reply.error, reply.result]))
    texts = [text for text in map(str, run.raised) if len(text) >= _MIN_QUOTE]
    return next((text for text in (*texts, FAILURE_TEXT, *_TRACES) if any(text in each for each in received)), "")


def _texts_in(value: object) -> Iterator[str]:
    """Yield the texts in *value*, which is JSON, except names."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (Mapping, list)):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _texts_in(each)


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
            raise InconclusiveError("The callback accepts the invalid value.", "Correct the validation first.")


async def values_not_logged(run: ScenarioRun) -> None:
    reply = await run.require_accept(NAME_FORM, {"name": _PRIVATE})
    if (reply.content or {}).get("name") != _PRIVATE:
        raise InconclusiveError("The server did not receive the value of the user.", ENTER_CONTENT)
    # An interface may keep asking for a valid value, or not let the user enter this one.
    with suppress(NoAnswerError, UnsupportedActionError):
        await run.ask(form_params("age", age={"type": "integer"}), "accept", {"age": _PRIVATE})
    run.expect(not any(_PRIVATE in line for line in run.observer.logged), "The log contains the value.")


async def event_loop_goes_on(run: ScenarioRun) -> None:
    run.require_user()
    params, content = await run.find_accepted()
    run.longest_block = 0.0
    await run.ask(params, "accept", content, after=1.2)
    run.expect_no_block(_MAX_BLOCK_OF_FORM)


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
    before = len(run.server.received)

    async def ask() -> None:
        await run.ask(params, "hang")

    await run.interrupt(ask, run.server.withdraw)
    late = run.server.received[before:]
    run.expect(
        not any("action" in message.get("result", {}) for message in late),
        "The server received an answer to a withdrawn request.",
    )


# --- Hostile servers: payloads, escape sequences, floods


async def payload_is_survived(run: ScenarioRun, payload: str) -> None:
    await run.ask(NAME_FORM, "decline")
    run.longest_block = 0.0
    started = run.started
    reply = await run.ask(payload_params(payload), "decline")
    if not started or run.started == started:
        raise InconclusiveError("The SDK refused the request before it reached the callback.", _OTHER_SDK)
    run.expect_nothing_raised()
    run.expect_no_block(_MAX_BLOCK_OF_PAYLOAD)
    has_reply = reply.result is not None or reply.error is not None or reply.refused
    run.expect(has_reply, f"The server received {reply}.")
    run.expect(not reply.accepted, "The user declined, but the server received an accept.")


async def message_only_gets_an_answer(run: ScenarioRun) -> None:
    action: UserActionName = "accept" if run.under_test.user else "absent"
    types: Any = mcp.types
    params = types.ElicitRequestFormParams.model_construct(message="Shall we go on, word-4711?")
    result = await run.call_back(UserAction(action, {}, {"message": params.message}), params)
    run.expect_nothing_raised()
    answer = result.model_dump(exclude_none=True) if hasattr(result, "model_dump") else {}
    run.expect(
        answer.get("action") in ("accept", "decline", "cancel") or "code" in answer,
        f"The callback returned {type(result).__name__}, which is neither an answer nor an error.",
    )
    run.expect(not answer.get("content"), "The answer has content, although the request has no fields.")


async def no_reference_fetched(run: ScenarioRun) -> None:
    observations = (
        ("http://127.0.0.1:9/4711", run.observer.reached, "127.0.0.1"),
        ("file:///4711", run.observer.read, "4711"),
    )
    for reference, observed, name in observations:
        params = form_params("name", name=NAME_FIELD, it={"$ref": reference})
        await run.ask(params, "accept", {"name": "Ada", "it": "x"})
        if not run.started:
            raise InconclusiveError("The SDK refused the request before it reached the callback.", _OTHER_SDK)
        events = observed(name)
        run.expect(not events, f"{reference} was fetched ({events[0].name if events else ''}).")


async def text_is_sanitized(run: ScenarioRun, params: Mapping[str, Any], control: str) -> None:
    run.require_user()
    await run.ask(params, "decline")
    run.require_shown("word-4711")
    run.expect(control not in run.shown, "The user is shown the text unsanitized.")


async def forged_names_are_not_shown(run: ScenarioRun) -> None:
    run.require_user()
    await run.find_accepted()
    forged = {"toolName": "tool-4713", "serverName": "server-4714"}
    meta = {**forged, "tool": "tool-4713", "server": {"name": "server-4714"}}
    await run.ask({**SENTINEL_FORM, **forged, "_meta": meta}, "decline")
    run.require_shown("word-4711")
    shown = [name for name in forged.values() if name in run.shown]
    run.expect(not shown, f"The user is shown {', '.join(shown)}, a name that the request contains.")


async def flood_is_held_back(run: ScenarioRun) -> None:
    run.require_user()
    shown = 0
    params, _ = await run.find_accepted()
    for number in range(_FLOOD):
        run.forget_shown()
        await run.ask({**params, "message": f"Please, word-4711 {number}"}, "decline")
        shown += "word-4711" in run.shown
    if not shown:
        raise InconclusiveError("The user interface cannot be observed.", REPORT_SHOWN_TEXT)
    run.expect(shown < _MAX_SHOWN_OF_FLOOD, f"The user was shown {shown} of {_FLOOD} requests in a row.")


async def server_may_die(run: ScenarioRun) -> None:
    run.require_user()
    if not supports_multi_round_trip():
        raise NotApplicableError("mcp 1 does not notice a closed connection while the callback runs.")
    params, _ = await run.find_accepted()

    async def ask() -> None:
        await run.ask(params, "hang")

    await run.interrupt(ask, run.server.disconnect)
