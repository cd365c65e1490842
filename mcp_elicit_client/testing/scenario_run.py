"""One callback, one question after the other, and everything that can be seen from outside."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio

from mcp_elicit_client.testing.fake_server import Delivery, FakeServer, Reply
from mcp_elicit_client.testing.process_observer import ProcessObserver
from mcp_elicit_client.testing.user_action import UserAction, UserActionName, UserHook

A_FORM: Mapping[str, Any] = {
    "mode": "form",
    "message": "Please fill this in, word-4711",
    "requestedSchema": {
        "type": "object",
        "properties": {"name": {"type": "string", "title": "Your name"}},
        "required": ["name"],
    },
}
A_CONTENT: Mapping[str, Any] = {"name": "Ada Lovelace"}
A_URL: Mapping[str, Any] = {
    "mode": "url",
    "message": "Please sign in, word-4711",
    "url": "https://login.example/start",
    "elicitationId": "4711",
}

_BEAT = 0.02


class FailedError(Exception):
    """What the callback did wrong."""


class InconclusiveError(Exception):
    """Why a scenario could not come to a verdict."""


class NotApplicableError(Exception):
    """What the installed SDK does not know."""


class NoAnswerError(InconclusiveError):
    """The callback gave no answer in the time that it had."""


@dataclass(frozen=True)
class CallbackUnderTest:
    """
    What is tested.

    Attributes:
        callback: Of the shape of the SDK's ``elicitation_callback``.
        user: Makes its user do something; None if it asks nobody, or if there
            is no way to play its user.
        server: What the callback calls the server in its questions.
    """

    callback: Callable[..., Any]
    user: UserHook | None = None
    server: str = "fake-server"


@dataclass
class ScenarioRun:
    """
    A callback that is asked questions, and watched.

    Attributes:
        subject: What is tested.
        server: Who asks.
        watch: What the process does.
        answer_timeout: How long it has for one answer, in seconds.
        raised: What the callback has raised.
        slowest: The longest time for which the event loop stood still while
            the callback ran, in seconds.
        seen: What its user was shown, as far as the user hook tells.
        finished: How many of its calls have ended, in whatever way.
        started: How many of its calls have begun.
        ended: When the last of them ended, as ``time.monotonic`` tells it.
    """

    under_test: CallbackUnderTest
    server: FakeServer
    observer: ProcessObserver
    answer_timeout: float
    raised: list[BaseException] = field(default_factory=list)
    slowest: float = 0.0
    seen: list[str] = field(default_factory=list)
    finished: int = 0
    started: int = 0
    ended: float = 0.0

    # --- asking

    async def ask(
        self,
        params: Mapping[str, Any],
        deed: UserActionName = "accept",
        content: Mapping[str, Any] | None = None,
        *,
        after: float = 0.0,
    ) -> Reply:
        """
        Ask, while the user does *deed*; return what the server got.

        Raises:
            NoAnswerError: If there is no answer in time.
        """
        return (await self.ask_all([(params, deed, content or {})], after=after))[0]

    async def ask_all(
        self, several: Sequence[tuple[Mapping[str, Any], UserActionName, Mapping[str, Any]]], *, after: float = 0.0
    ) -> list[Reply]:
        """Ask several questions at once; each with what the user does and gives."""
        lines = [
            line for params, deed, content in several for line in self.perform(UserAction(deed, content, params, after))
        ]
        stays = any(deed == "hang" for _, deed, _ in several)
        with self.observer.typing(lines, after=after, until=self.answer_timeout if stays else None):
            with anyio.move_on_after(self.answer_timeout):
                return await self.server.ask_all([params for params, _, _ in several])
        raise NoAnswerError(f"there was no answer within {self.answer_timeout:g} s")

    def perform(self, wish: UserAction) -> list[str | bytes]:
        """Have the user of the callback fulfil *wish*; return the lines that take typing."""
        wish.seen = self.seen
        if self.under_test.user is None:
            return []
        return list(self.under_test.user(wish) or [])

    async def accepts(self, params: Mapping[str, Any], content: Mapping[str, Any] | None = None) -> Reply:
        """
        Ask what should be accepted; return the accept.

        Raises:
            NotReachedError: If it is not accepted, so that nothing can be said.
        """
        reply = await self.ask(params, "accept", content)
        if not reply.accepted:
            raise InconclusiveError(f"it takes an accept, and the server got {reply}")
        return reply

    async def answerable(self) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """
        Find a question that is accepted, and its content: a form, or a URL where only those are served.

        Raises:
            NotReachedError: If there is none.
        """
        if (await self.ask(A_FORM, "accept", A_CONTENT)).accepted:
            return A_FORM, A_CONTENT
        await self.accepts(A_URL)
        return A_URL, {}

    def needs_user(self) -> None:
        """
        Go on only if the user can be played.

        Raises:
            NotReachedError: If not.
        """
        if self.under_test.user is None:
            raise InconclusiveError("it takes a user: say how to play yours (--user)")

    # --- judging

    @property
    def shown(self) -> str:
        """All that the user was shown, as far as it can be seen."""
        return "\n".join([*self.seen, self.observer.printed])

    @staticmethod
    def was_open(still: bool) -> None:  # noqa: FBT001 -- what is judged
        """
        Go on only if a question was *still* open when something happened to it.

        Raises:
            NotReachedError: If not: whoever blocks the event loop is done before anything can happen.
        """
        if not still:
            raise InconclusiveError("it was over before anything could happen: it blocks the event loop")

    def shows(self, text: str) -> None:
        """
        Go on only if the user was shown *text*, so that the interface can be judged.

        Raises:
            NotReachedError: If not.
        """
        if text not in self.shown:
            raise InconclusiveError("what the user is shown cannot be seen from here")

    @staticmethod
    def expect(what: object, otherwise: str) -> None:
        """
        Raises:
            FailedError: If *what* is not true.
        """
        if not what:
            raise FailedError(otherwise)

    # --- how

    async def callback(self, context: Any, params: Any) -> Any:
        """Call the callback under test, and watch it."""
        self.started += 1
        error: Exception | None = None
        result: Any = None
        async with anyio.create_task_group() as group:
            await group.start(self._beat)
            try:
                result = await self.under_test.callback(context, params)
            except Exception as raised:  # noqa: BLE001 -- it is passed on, outside of the group
                error = raised
            finally:
                self.finished += 1
                self.ended = time.monotonic()
                group.cancel_scope.cancel()
        if error is not None:
            self.raised.append(error)
            raise error
        return result

    async def _beat(self, *, task_status: Any) -> None:
        begun = False
        while True:
            before = time.monotonic()
            if not begun:
                task_status.started()
                begun = True
            try:
                await anyio.sleep(_BEAT)
            finally:
                self.slowest = max(self.slowest, time.monotonic() - before - _BEAT)


@asynccontextmanager
async def trying(subject: CallbackUnderTest, delivery: Delivery, patience: float) -> AsyncIterator[ScenarioRun]:
    """Connect *subject* to a server of *delivery*, and watch it."""
    with ProcessObserver() as watch:
        server = FakeServer(delivery, name="fake-server")
        trial = ScenarioRun(subject, server, watch, patience)
        async with server.connected(trial.callback):
            yield trial
