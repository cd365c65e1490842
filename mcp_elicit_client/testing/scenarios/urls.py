"""A URL is shown, agreed to, and only then opened."""

from __future__ import annotations

from mcp_elicit_client.testing.hostile_server import SPOOFED_URLS
from mcp_elicit_client.testing.scenario_run import InconclusiveError, ScenarioRun
from mcp_elicit_client.testing.scenarios.base import ADDRESS, HOST, URL_MODE, URLS, Group, visit
from mcp_elicit_client.testing.user_action import UserActionName

GROUP = Group("URLs")

_CONSENT = '"MUST NOT open the URL without explicit consent from the user"'


def _not_opened(deed: UserActionName, name: str, title: str, source: str) -> None:
    async def run(trial: ScenarioRun) -> None:
        if deed != "absent":
            trial.needs_user()
            await trial.accepts(visit(f"https://{HOST}/control"))
        reply = await trial.ask(visit(), deed)
        opened = trial.observer.opened("ticket=4711")
        trial.expect(not opened, f"the user did not agree, and it was opened ({opened[0].name if opened else ''})")
        trial.expect(not reply.accepted, f"the user did not agree, and the server got {reply}")

    GROUP.add(name, title, run, because=_CONSENT, source=source)


_not_opened(
    "decline",
    "url-not-opened-when-declined",
    "A URL that the user declines is not opened.",
    URLS,
)
_not_opened(
    "absent",
    "url-not-opened-by-nobody",
    "Where nobody is there, no URL is opened or agreed to.",
    f"{URLS}; fast-agent, mcp/elicitation_handlers.py:191-221, which accepts by itself",
)


@GROUP.scenario(
    "url-mode-gets-an-answer",
    "A URL request gets an answer, also from whoever serves only forms.",
    because="code written for forms fails without requestedSchema; accept, decline, cancel and -32602 are right",
    source="2025-11-25, client/elicitation, Error Handling",
)
async def _url_answered(trial: ScenarioRun) -> None:
    reply = await trial.ask(visit(), "decline")
    trial.expect(not trial.raised, f"{type(trial.raised[0]).__name__ if trial.raised else ''} was raised")
    trial.expect(reply.result is not None or reply.refused, f"the server got {reply}")


@GROUP.scenario(
    "url-not-fetched",
    "Nothing of a URL is fetched or looked up.",
    because='"MUST NOT automatically pre-fetch the URL or any of its metadata"; the browser does that, after consent',
    source=URLS,
)
async def _not_fetched(trial: ScenarioRun) -> None:
    deeds: tuple[UserActionName, ...] = ("decline", "accept") if trial.under_test.user else ("absent",)
    for deed in deeds:
        reply = await trial.ask(visit(), deed)
        if reply.result is None:
            raise InconclusiveError(f"URL requests are not served: the server got {reply}")
        reached = trial.observer.reached(HOST)
        trial.expect(not reached, f"the host was looked up or reached ({reached[0].name if reached else ''})")


@GROUP.scenario(
    "url-not-through-a-shell",
    "A URL is not handed to a shell.",
    because="a shell runs what is in the URL; the SDK's own example did it",
    source="modelcontextprotocol/python-sdk#2082; 2025-11-25, basic/security_best_practices",
)
async def _no_shell(trial: ScenarioRun) -> None:
    await trial.accepts(visit())
    trial.expect(not trial.observer.through_shell("ticket=4711"), "it was handed to a shell")


@GROUP.scenario(
    "url-opened-once",
    "A URL is opened once at most.",
    because="what is at a URL may act at each visit: links are made to be used once",
    source="found in a host",
)
async def _once(trial: ScenarioRun) -> None:
    await trial.accepts(visit())
    opened = trial.observer.opened("ticket=4711")
    trial.expect(len(opened) <= 1 or len({each.name for each in opened}) > 1, f"it was opened {len(opened)} times")


@GROUP.scenario(
    "url-shown-whole",
    "The user is shown the whole URL before agreeing.",
    because='"MUST show the full URL to the user for examination before consent"',
    source=f"{URLS}; FastMCP CLI, fastmcp/cli/client.py:184, which never prints it",
)
async def _shown(trial: ScenarioRun) -> None:
    trial.needs_user()
    marker = "Please sign in, 4712"
    await trial.accepts(visit(message=marker))
    trial.shows("4712")
    trial.expect(ADDRESS in trial.shown, "the user is shown the message, and not the URL")


_HOSTILE: dict[str, tuple[str, str]] = {
    "javascript": ("A javascript: URL is refused.", "CVE-2025-58444"),
    "file": ("A file: URL is refused.", "openai/codex#37077"),
    "data": ("A data: URL is refused.", "openai/codex#37077"),
    "option": ("An option of the browser's in the place of a URL is refused.", "CVE-2026-4519"),
    "program": ("A program in the place of a URL is refused.", "CPython issue 80202"),
    "backslash": (
        "A URL with a backslash is refused: Python reads one host, a browser goes to another.",
        "measured with Chromium 156",
    ),
    "line-break": ("A URL with line breaks is refused.", "measured with a terminal and a browser"),
}


def _hostile(kind: str, title: str, source: str) -> None:
    async def run(trial: ScenarioRun) -> None:
        trial.needs_user()
        await trial.accepts(visit())
        before = len(trial.observer.events)
        reply = await trial.ask(visit(SPOOFED_URLS[kind]), "accept")
        opened = [each for each in trial.observer.events[before:] if each in trial.observer.opened("4711")]
        trial.expect(not opened, f"it was opened ({opened[0].name if opened else ''})")
        trial.expect(not reply.accepted, f"the server got {reply}")

    GROUP.add(
        f"url-{kind}-refused",
        title,
        run,
        because='"The url parameter MUST contain a valid URL", and only http and https lead to a page to consent to',
        source=f"{URL_MODE}; {source}",
    )


for _kind, (_title, _source) in _HOSTILE.items():
    _hostile(_kind, _title, _source)


@GROUP.scenario(
    "url-not-logged",
    "A URL is not logged whole.",
    because="the path and query of such URLs are tickets; a log is read by others, and later",
    source="fast-agent, mcp/elicitation_handlers.py:191-221 (at level INFO)",
)
async def _not_logged(trial: ScenarioRun) -> None:
    reply = await trial.ask(visit(), "decline")
    if reply.result is None:
        raise InconclusiveError(f"URL requests are not served: the server got {reply}")
    trial.expect(not any("ticket=4711" in line for line in trial.observer.logged), "it is in the log, ticket and all")
