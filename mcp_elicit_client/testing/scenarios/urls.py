"""Scenarios about URL mode: a URL is shown, then the user consents, and only then it is opened."""

from __future__ import annotations

from mcp_elicit_client.testing.callback_under_test import UserActionName
from mcp_elicit_client.testing.fake_server import Reply
from mcp_elicit_client.testing.hostile_server import SPOOFED_URLS
from mcp_elicit_client.testing.process_observer import Event
from mcp_elicit_client.testing.scenario_run import InconclusiveError, ScenarioRun
from mcp_elicit_client.testing.scenarios.requests import HOST, URL, url_params

_SECRET = "ticket=4711"  # noqa: S105 -- part of the URL, which is secret
_WITHOUT_USER: tuple[UserActionName, ...] = ("absent",)
_WITH_USER: tuple[UserActionName, ...] = ("decline", "accept")


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


async def spoofed_url_is_refused(run: ScenarioRun, url: str) -> None:
    run.require_user()
    await run.require_accept(url_params())
    before = len(run.observer.events)
    reply = await run.ask(url_params(SPOOFED_URLS[url]), "accept")
    opened = [each for each in run.observer.events[before:] if each in run.observer.opened("4711")]
    run.expect(not opened, f"The URL was opened ({_names(opened)}).")
    run.expect(not reply.accepted, f"The server received {reply}.")


async def url_not_logged(run: ScenarioRun) -> None:
    _require_url_mode(await run.ask(url_params(), "decline"))
    run.expect(not any(_SECRET in line for line in run.observer.logged), "The log contains the URL with its query.")


def _require_url_mode(reply: Reply) -> None:
    if reply.result is None:
        raise InconclusiveError(f"The callback does not support URL mode: the server received {reply}.")


def _names(events: list[Event]) -> str:
    return ", ".join(dict.fromkeys(each.name for each in events))
