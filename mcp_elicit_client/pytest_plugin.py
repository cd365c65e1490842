"""
The pytest plugin: the fixture ``elicitation`` and the option ``--elicit-report``.

The rest of the package is imported when a test uses the fixture.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from mcp_elicit_client.exceptions import RequestError
    from mcp_elicit_client.handlers.scripted import ScriptedAnswers
    from mcp_elicit_client.registry import ElicitationRegistry
    from mcp_elicit_client.sdk.callback import ElicitationCallback
    from mcp_elicit_client.testing import Delivery, FakeServer, Reply, ScenarioResult, ScriptedUser, UserHook
    from mcp_elicit_client.typing import Answer, Request

_TERMINAL = "-"
_WIDTH = 100
_VALUE: pytest.StashKey[Elicitation] = pytest.StashKey()
_REPORTED: pytest.StashKey[_Reported] = pytest.StashKey()


@dataclass
class Elicitation:
    """
    The value of the fixture: a user, a registry and servers for one test.

    Attributes:
        test: The node ID of the test.
        user: A `ScriptedUser`.  The test fails if steps of the script remain
            unused or do not fit their request, or if more requests arrive
            than were scripted.
        registry: A registry whose only handler asks that user.
        strict: False to allow unused steps, steps that do not fit, and
            further requests.
        results: The results of `run_scenario`.
        replies: The replies to the requests of `ask`.
    """

    test: str
    user: ScriptedUser
    registry: ElicitationRegistry
    strict: bool = True
    results: list[ScenarioResult] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    _scripted: ScriptedAnswers | None = None
    _refusals: list[str] = field(default_factory=list)

    def read_answers(self, path: str | Path, *, accept_urls: bool = False) -> None:
        """
        Answer the requests of this test from a file, in place of `user`.

        The file is one for ``mcp-elicit call --answers``.  The test fails if
        a request has no valid answer, or an answer is not used.

        Args:
            path: The file: JSON with the values of one form, or with a list
                of answers.
            accept_urls: Accept URLs that have no answer, without opening
                them.

        Raises:
            AnswersError: If the file does not contain answers.
            OSError: If it cannot be read.
        """
        from mcp_elicit_client.handlers.scripted import ScriptedAnswers
        from mcp_elicit_client.presentation.answer_files import ScriptedAnswer, read_answers

        found = read_answers(Path(path).read_bytes(), str(path))
        answers = [found] if isinstance(found, ScriptedAnswer) else found
        self._scripted = ScriptedAnswers(answers, accepts_urls=accept_urls)

    async def _answer(self, request: Request, /) -> Answer:
        if self._scripted is None:
            return await self.user(request)
        self.user.requests.append(request)
        return await self._scripted(request)

    def _note_refusal(self, error: RequestError) -> None:
        self._refusals.append(str(error))
        if self._scripted is not None:
            self._scripted.note_refusal(str(error))

    def callback(self, server: str = "test-server", *, user: str | None = None) -> ElicitationCallback:
        """Return an ``elicitation_callback`` that asks the user of this test, with *user* as `Request.user`."""
        return self.registry.callback(server, user=user)

    def server(self, delivery: Delivery = "server-initiated") -> FakeServer:
        """Return a server; enter its ``connected(callback)`` to use it."""
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
        Send one request; return the reply.

        Args:
            params: The params of the request, as JSON.
            callback: The callback; None for the user of this test.
            delivery: How the server sends the request.
        """
        async with self.server(delivery).connected(callback or self.callback()) as server:
            reply = await server.ask(params)
        self.replies.append(reply)
        return reply

    async def run_scenario(
        self, name: str, callback: Callable[..., Any], user: UserHook | None = None, *, server: str = "fake-server"
    ) -> ScenarioResult:
        """
        Run a scenario on a callback.

        Args:
            name: The name of the scenario.
            callback: The callback.
            user: The user hook; see `UserHook`.
            server: The server name that the callback shows.
        """
        from mcp_elicit_client.testing import CallbackUnderTest, run_scenario

        result = await run_scenario(CallbackUnderTest(callback, user, server), name)
        self.results.append(result)
        return result


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option ``--elicit-report``."""
    group = parser.getgroup("elicitation", "elicitation requests of MCP servers")
    group.addoption(
        "--elicit-report",
        metavar="FILE",
        nargs="?",
        const=_TERMINAL,
        default=None,
        help="list the requests and replies of each test; in FILE as JSON, or in the terminal",
    )


def pytest_configure(config: pytest.Config) -> None:
    """
    Prepare the report.

    Raises:
        pytest.UsageError: If the report would replace tests, or cannot be
            written.
    """
    where = config.getoption("--elicit-report")
    if where and ("::" in where or Path(where).suffix == ".py" or Path(where).is_dir()):
        raise pytest.UsageError(
            f"--elicit-report takes a file for the report, but {where} contains tests. "
            "Write the option after the tests, or as --elicit-report=FILE."
        )
    if where not in (None, _TERMINAL):
        try:
            Path(where).parent.mkdir(parents=True, exist_ok=True)
            Path(where).touch()
        except OSError as error:
            raise pytest.UsageError(f"--elicit-report cannot write {where}: {error}") from error
    config.stash[_REPORTED] = _Reported()
    config.pluginmanager.register(config.stash[_REPORTED])


class _Reported:
    """What is reported of each test, also of those in the processes of pytest-xdist."""

    def __init__(self) -> None:
        self.tests: list[dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what `pytest_runtest_makereport` has added."""
        if hasattr(report, "elicitation"):
            self.tests.append(json.loads(report.elicitation))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[Any]:
    """Add the requests and replies of a test to its report, as JSON."""
    made: Any = yield
    if call.when == "teardown" and (value := item.stash.get(_VALUE, None)) is not None:
        made.get_result().elicitation = json.dumps({"lines": [*_lines(value)], "json": _as_json(value)})


@pytest.fixture
def elicitation(request: pytest.FixtureRequest) -> Iterator[Elicitation]:
    """
    A user who follows a script, and servers.

    The test fails if steps of the script remain unused or do not fit their
    request, or if more requests arrive than were scripted, unless
    ``elicitation.strict`` is False.
    """
    from mcp_elicit_client.registry import ElicitationRegistry
    from mcp_elicit_client.testing import ScriptedUser

    user = ScriptedUser()
    registry = ElicitationRegistry()
    value = Elicitation(request.node.nodeid, user, registry)
    registry.on_elicitation(value._answer)  # noqa: SLF001 -- asks the user, or a file
    registry.notifier.on_refused = value._note_refusal  # noqa: SLF001
    request.node.stash[_VALUE] = value
    yield value
    scripted = value._scripted  # noqa: SLF001
    if value.strict and scripted is not None and (report := scripted.report(width=_WIDTH)):
        pytest.fail(report, pytrace=False)
    if value.strict and user._script_errors:  # noqa: SLF001 -- the user of this fixture
        pytest.fail(f"The script does not fit a request: {'; '.join(user._script_errors)}", pytrace=False)  # noqa: SLF001
    if value.strict and user.unexpected:
        messages = "; ".join(repr(each.message) for each in user.unexpected)
        pytest.fail(f"More requests arrived than were scripted: {messages}", pytrace=False)
    if value.strict and not user.finished:
        steps, requests = len(user._steps), len(user.requests)  # noqa: SLF001 -- the user of this fixture
        pytest.fail(f"Steps of the script remain unused: {steps}. Requests that arrived: {requests}.", pytrace=False)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Write the report if the option was passed."""
    where = config.getoption("--elicit-report")
    reported = config.stash[_REPORTED].tests
    if where is None:
        return
    if where != _TERMINAL:
        Path(where).write_text(json.dumps([each["json"] for each in reported], indent=2), encoding="utf-8")
        terminalreporter.write_line(f"elicitations of {len(reported)} tests: {where}")
        return
    terminalreporter.section("elicitations")
    for each in reported:
        terminalreporter.write_line(each["json"]["test"])
        for line in each["lines"]:
            terminalreporter.write_line(f"  {line}")


def _lines(of: Elicitation) -> Iterator[str]:
    from mcp_elicit_client.core.text import sanitize_text

    for request in of.user.requests:
        yield f"{request.mode}: {sanitize_text(request.message, limit=80, multiline=False)}"
    for reason in of._refusals:  # noqa: SLF001
        yield f"refused: {reason}"
    for reply in of.replies:
        yield f"The server received {sanitize_text(str(reply), limit=200, multiline=False)}"
    for result in of.results:
        yield f"{result.outcome}: {result.scenario}{': ' if result.reason else ''}{result.reason}"


def _as_json(of: Elicitation) -> dict[str, Any]:
    return {
        "test": of.test,
        "requests": [{"mode": each.mode, "message": each.message} for each in of.user.requests],
        "refused": of._refusals,  # noqa: SLF001
        "replies": [{"result": each.result, "error": each.error} for each in of.replies],
        "results": [asdict(each) for each in of.results],
    }
