"""
The pytest plugin: the fixture ``elicitation``, and the option ``--elicit-report``.

Nothing of it is loaded before a test asks for the fixture.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from mcp_elicit_client.registry import ElicitationRegistry
    from mcp_elicit_client.sdk.callback import ElicitationCallback
    from mcp_elicit_client.testing import Delivery, FakeServer, Reply, ScenarioResult, ScriptedUser, UserHook

_ON_SCREEN = "-"
_REPORTED: pytest.StashKey[list[Elicitation]] = pytest.StashKey()


@dataclass
class Elicitation:
    """
    What a test has at hand.

    Attributes:
        test: The test's name.
        user: A user who follows a script; what it leaves undone, and what it
            is asked beyond it, fails the test.
        registry: A registry whose one handler is that user.
        strict: Whether the script must be kept to the letter.
        verdicts: What came out of `judge`.
        replies: What servers got, of the ones made by `ask`.
    """

    test: str
    user: ScriptedUser
    registry: ElicitationRegistry
    strict: bool = True
    verdicts: list[ScenarioResult] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)

    def callback(self, server: str = "test-server") -> ElicitationCallback:
        """Make a callback that asks the user, for whatever takes an ``elicitation_callback``."""
        return self.registry.callback(server)

    def server(self, delivery: Delivery = "server-initiated") -> FakeServer:
        """Make a server that asks what it is told to; enter its ``connected(callback)``."""
        from mcp_elicit_client.testing import FakeServer

        return FakeServer(delivery)

    async def ask(
        self,
        params: dict[str, Any],
        callback: Callable[..., Any] | None = None,
        *,
        delivery: Delivery = "server-initiated",
    ) -> Reply:
        """
        Ask one question of *callback*, or of the user; return what the server got.

        Args:
            params: The question, as on the wire.
            callback: Who is asked; None for the user of this test.
            delivery: How the server asks.
        """
        async with self.server(delivery).connected(callback or self.callback()) as server:
            reply = await server.ask(params)
        self.replies.append(reply)
        return reply

    async def judge(
        self, name: str, callback: Callable[..., Any], user: UserHook | None = None, *, server: str = "fake-server"
    ) -> ScenarioResult:
        """
        Try the scenario *name* on a callback.

        Args:
            name: The scenario's.
            callback: What is tested.
            user: Plays its user; see `UserHook`.
            server: What the callback calls its server.
        """
        from mcp_elicit_client.testing import SCENARIOS, CallbackUnderTest, run_scenario

        verdict = await run_scenario(CallbackUnderTest(callback, user, server), SCENARIOS[name])
        self.verdicts.append(verdict)
        return verdict


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option ``--elicit-report``."""
    group = parser.getgroup("elicitation", "questions of MCP servers")
    group.addoption(
        "--elicit-report",
        metavar="FILE",
        nargs="?",
        const=_ON_SCREEN,
        default=None,
        help="list what was asked and decided, test by test; into FILE as JSON, or on the screen",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Have a place for what is reported."""
    config.stash[_REPORTED] = []


@pytest.fixture
def elicitation(request: pytest.FixtureRequest) -> Iterator[Elicitation]:
    """
    A user who follows a script, and servers that ask.

    After the test, what the script leaves undone, and what was asked beyond
    it, is a failure, unless ``elicitation.strict`` is False.
    """
    from mcp_elicit_client.registry import ElicitationRegistry
    from mcp_elicit_client.testing import ScriptedUser

    user = ScriptedUser()
    registry = ElicitationRegistry()
    registry.on_elicitation(user)
    at_hand = Elicitation(request.node.nodeid, user, registry)
    request.config.stash[_REPORTED].append(at_hand)
    yield at_hand
    if at_hand.strict and user.unexpected:
        asked = "; ".join(repr(each.message) for each in user.unexpected)
        pytest.fail(f"asked beyond the script: {asked}", pytrace=False)
    if at_hand.strict and not user.finished:
        pytest.fail("the script is not at its end: something was not asked", pytrace=False)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Write the report that was asked for."""
    where = config.getoption("--elicit-report")
    reported = config.stash[_REPORTED]
    if where is None:
        return
    if where != _ON_SCREEN:
        Path(where).write_text(json.dumps([_as_json(each) for each in reported], indent=2), encoding="utf-8")
        terminalreporter.write_line(f"elicitations of {len(reported)} tests: {where}")
        return
    terminalreporter.section("elicitations")
    for each in reported:
        terminalreporter.write_line(each.test)
        for line in _lines(each):
            terminalreporter.write_line(f"  {line}")


def _lines(of: Elicitation) -> Iterator[str]:
    from mcp_elicit_client.core.text import sanitize_text

    for request in of.user.requests:
        yield f"{request.mode}: {sanitize_text(request.message, limit=80, multiline=False)}"
    for reply in of.replies:
        yield f"the server got {sanitize_text(str(reply), limit=200, multiline=False)}"
    for verdict in of.verdicts:
        yield f"{verdict.outcome}: {verdict.scenario}{': ' if verdict.reason else ''}{verdict.reason}"


def _as_json(of: Elicitation) -> dict[str, Any]:
    return {
        "test": of.test,
        "asked": [{"mode": each.mode, "message": each.message} for each in of.user.requests],
        "got": [{"result": each.result, "error": each.error} for each in of.replies],
        "verdicts": [asdict(each) for each in of.verdicts],
    }
