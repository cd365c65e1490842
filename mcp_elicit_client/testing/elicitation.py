"""`Elicitation`: the value of the fixture ``elicitation``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mcp_elicit_client.check.results import ScenarioResult
from mcp_elicit_client.check.scenarios import Delivery
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.exceptions import RequestError
from mcp_elicit_client.handlers.scripted import ScriptedAnswers
from mcp_elicit_client.presentation.answer_files import ScriptedAnswer, read_answers
from mcp_elicit_client.registry import ElicitationRegistry
from mcp_elicit_client.sdk.callback import ElicitationCallback
from mcp_elicit_client.testing.callback_under_test import CallbackUnderTest, UserHook
from mcp_elicit_client.testing.fake_server import FakeServer, Reply
from mcp_elicit_client.testing.scenarios import run_scenario
from mcp_elicit_client.testing.scripted_user import ScriptedUser
from mcp_elicit_client.typing import Answer, Request

_WIDTH = 100


class Elicitation:
    """
    The value of the fixture: a user, a registry and servers for one test.

    Attributes:
        user: A `ScriptedUser`.  The test fails if steps of the script remain
            unused or do not fit their request, or if more requests arrive
            than were scripted.
        registry: A registry whose only handler asks that user.
        strict: False to allow unused steps, steps that do not fit, and
            further requests.
    """

    def __init__(self, test: str) -> None:
        self.user: ScriptedUser = ScriptedUser()
        self.registry: ElicitationRegistry = ElicitationRegistry()
        self.strict: bool = True
        self._test = test
        self._results: list[ScenarioResult] = []
        self._replies: list[Reply] = []
        self._scripted: ScriptedAnswers | None = None
        self._refusals: list[str] = []
        self.registry.on_elicitation(self._answer)
        self.registry.notifier.on_refused = self._note_refusal

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
        found = read_answers(Path(path).read_bytes(), str(path))
        answers = [found] if isinstance(found, ScriptedAnswer) else found
        self._scripted = ScriptedAnswers(answers, accepts_urls=accept_urls)

    def callback(self, server: str = "test-server", *, user: str | None = None) -> ElicitationCallback:
        """Return an ``elicitation_callback`` that asks the user of this test, with *user* as `Request.user`."""
        return self.registry.callback(server, user=user)

    def server(self, delivery: Delivery = "server-initiated") -> FakeServer:
        """Return a server; enter its ``connected(callback)`` to use it."""
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
        self._replies.append(reply)
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
        result = await run_scenario(CallbackUnderTest(callback, user, server), name)
        self._results.append(result)
        return result

    async def _answer(self, request: Request, /) -> Answer:
        if self._scripted is None:
            return await self.user(request)
        self.user.requests.append(request)
        return await self._scripted(request)

    def _note_refusal(self, error: RequestError) -> None:
        self._refusals.append(str(error))
        if self._scripted is not None:
            self._scripted.note_refusal(str(error))

    def _failure(self) -> str:
        """Return why the test fails after its last request; empty if it does not."""
        user = self.user
        if self._scripted is not None and (report := self._scripted.report(width=_WIDTH)):
            return report
        if user._script_errors:  # noqa: SLF001
            return f"The script does not fit a request: {'; '.join(user._script_errors)}"  # noqa: SLF001
        if user.unexpected:
            messages = "; ".join(repr(each.message) for each in user.unexpected)
            return f"More requests arrived than were scripted: {messages}"
        if not user.finished:
            steps, requests = len(user._steps), len(user.requests)  # noqa: SLF001
            return f"Steps of the script remain unused: {steps}. Requests that arrived: {requests}."
        return ""

    def _lines(self) -> Iterator[str]:
        """Yield the lines of the report."""
        for request in self.user.requests:
            yield f"{request.mode}: {sanitize_text(request.message, limit=80, multiline=False)}"
        for reason in self._refusals:
            yield f"refused: {reason}"
        for reply in self._replies:
            yield f"The server received {sanitize_text(str(reply), limit=200, multiline=False)}"
        for result in self._results:
            yield f"{result.outcome}: {result.scenario}{': ' if result.reason else ''}{result.reason}"

    def _to_json(self) -> dict[str, Any]:
        """Return the report as JSON."""
        return {
            "test": self._test,
            "requests": [{"mode": each.mode, "message": each.message} for each in self.user.requests],
            "refused": self._refusals,
            "replies": [{"result": each.result, "error": each.error} for each in self._replies],
            "results": [asdict(each) for each in self._results],
        }
