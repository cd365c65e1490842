"""One run of a scenario: requests to the callback under test, its replies, and what the process does meanwhile."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import anyio
import anyio.lowlevel
from pydantic import BaseModel

from mcp_elicit_client.check.scenarios import Delivery
from mcp_elicit_client.check.settings import SILENCE
from mcp_elicit_client.testing.callback_under_test import (
    CallbackUnderTest,
    UnsupportedActionError,
    UserAction,
    UserActionName,
)
from mcp_elicit_client.testing.fake_server import FakeServer, Reply
from mcp_elicit_client.testing.process_observer import ProcessObserver

Params: TypeAlias = Mapping[str, Any]
"""The params of a request, as JSON."""

SENTINEL_FORM: Params = {
    "mode": "form",
    "message": "Please fill this in, word-4711",
    "requestedSchema": {
        "type": "object",
        "properties": {"name": {"type": "string", "title": "Your name"}},
        "required": ["name"],
    },
}
SENTINEL_CONTENT: Mapping[str, Any] = {"name": "Ada Lovelace"}
SENTINEL_URL: Params = {
    "mode": "url",
    "message": "Please sign in, word-4711",
    "url": "https://login.example/start",
    "elicitationId": "4711",
}

PLAY_USER = "Pass --user to name the hook that plays the user."
CORRECT_HOOK = "Make the user hook a function that takes a UserAction and returns lines of text, or None."
ENTER_CONTENT = "Make the user hook enter the content of the UserAction; if it does, correct the callback."
REPORT_SHOWN_TEXT = "Make the user hook report what the user is shown, with UserAction.saw."
ALLOW_INCONCLUSIVE = "If this is intended, pass --allow-inconclusive."

_HEARTBEAT = 0.02
_BEFORE_INTERRUPTION = 0.1
_END_TIMEOUT = 1.0
_AFTER_SILENCE = 1.0


class FailedError(Exception):
    """The callback did something wrong.  The text says what."""


class InconclusiveError(Exception):
    """
    The scenario did not reach the tested step.

    Args:
        reason: Why, as a sentence.
        next_step: What to do so that it does, as a sentence.
    """

    def __init__(self, reason: str, next_step: str) -> None:
        super().__init__(reason)
        self.next_step = next_step


class NotApplicableError(Exception):
    """The installed SDK does not support what the scenario tests.  The text says why."""


class NoAnswerError(InconclusiveError):
    """The callback did not answer within the answer timeout."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, "Make the user hook answer this request, or raise --answer-timeout.")


@dataclass
class ScenarioRun:
    """
    A callback that is sent requests and observed.

    Attributes:
        under_test: The callback under test.
        server: The server that sends the requests.
        observer: Observes the process.
        answer_timeout: Maximum seconds for one answer.
        silence: Seconds for which a silent user is watched.
        raised: Exceptions that the callback raised.
        wrong_type: The type of the latest result of the callback, if it is
            neither an answer nor an error; otherwise empty.
        longest_block: The longest time for which the callback blocked the
            event loop, in seconds.
        seen: Texts that the user was shown, as far as the user hook reports
            them.
        started: The number of calls of the callback that have started.
        finished: The number of calls that have ended in any way.
    """

    under_test: CallbackUnderTest
    server: FakeServer
    observer: ProcessObserver
    answer_timeout: float
    silence: float = SILENCE
    raised: list[BaseException] = field(default_factory=list)
    wrong_type: str = ""
    longest_block: float = 0.0
    seen: list[str] = field(default_factory=list)
    started: int = 0
    finished: int = 0
    _printed_before: int = 0
    _context: Any = None
    _count_changed: anyio.Event = field(default_factory=anyio.Event)

    # --- requests

    async def ask(
        self,
        params: Params,
        action: UserActionName = "accept",
        content: Mapping[str, Any] | None = None,
        *,
        after: float = 0.0,
    ) -> Reply:
        """
        Send a request while the user performs *action*; return the reply.

        Raises:
            NoAnswerError: If there is no answer in time.
        """
        return (await self.ask_all([(params, action, content or {})], after=after))[0]

    async def ask_all(
        self,
        several: Sequence[tuple[Params, UserActionName, Mapping[str, Any]]],
        *,
        after: float = 0.0,
        in_turn: bool = False,
    ) -> list[Reply]:
        """
        Send several requests in one call, each with the action of the user and its content; return the replies.

        Args:
            several: The requests.
            after: Seconds until the user acts.
            in_turn: True to send each request after the reply to the one
                before, False to send all at once.
        """
        lines = [
            line
            for params, action, content in several
            for line in self.perform(UserAction(action, content, params, after))
        ]
        hangs = any(action == "hang" for _, action, _ in several)
        with self._answering(lines, after=after, until=self.answer_timeout if hangs else None):
            return await self.server.ask_all([params for params, _, _ in several], in_turn=in_turn)

    async def ask_over_two_connections(self, actions: Sequence[UserAction]) -> list[Reply]:
        """
        Send the requests of two *actions*, each over a new connection; return the replies.

        The second one is sent as soon as the callback was called with the
        first one, so that lines at standard input are read in their order.
        """
        replies: dict[int, Reply] = {}

        async def ask(at: int, server: FakeServer) -> None:
            replies[at] = await server.ask(actions[at].params)

        async with self._connected() as first, self._connected() as second:
            lines = [line for action in actions for line in self.perform(action)]
            before = self.started
            with self._answering(lines):
                async with anyio.create_task_group() as group:
                    group.start_soon(ask, 0, first)
                    await self._wait_for(lambda: self.started > before, self.answer_timeout)
                    group.start_soon(ask, 1, second)
        return [replies[at] for at in range(len(actions))]

    async def ask_over_new_connection(self, action: UserAction) -> Reply:
        """Send the request of *action* as the first one of a restarted server; return the reply."""
        with self._answering(self.perform(action)):
            async with self._connected() as server:
                return await server.ask(action.params)

    def _connected(self) -> AbstractAsyncContextManager[FakeServer]:
        """Return a new connection of the callback to a server with the same name."""
        return FakeServer(self.server.delivery, name=self.server.name).connected(self.callback)

    async def ask_in_tasks(self, actions: Sequence[UserAction]) -> list[Reply]:
        """Send the requests of *actions* at the same time, each from a task; return the replies."""
        from mcp_elicit_client.testing.task_server import ask_in_tasks

        lines = [line for action in actions for line in self.perform(action)]
        with self._answering(lines):
            return await ask_in_tasks(self.callback, [each.params for each in actions], name=self.server.name)

    async def call_back(self, action: UserAction, params: Any) -> Any:
        """
        Call the callback with *params* of the SDK while the user performs *action*; return its result.

        Some requests do not pass the SDK, but other transports pass them on.
        If the callback raises, the result is None.

        Raises:
            NoAnswerError: If the callback does not return in time.
        """
        if self._context is None:
            await self.ask(SENTINEL_FORM, "decline")
        with self._answering(self.perform(action)), suppress(Exception):  # it is in `raised`
            return await self.callback(self._context, params)
        return None

    async def ask_silent_user(self, params: Params) -> Reply | None:
        """Send a request that the user does not answer; return the reply that arrives nevertheless, or None."""
        lines = self.perform(UserAction("hang", {}, params))
        with self.observer.typing(lines, until=self.silence + _AFTER_SILENCE), anyio.move_on_after(self.silence):
            return await self.server.ask(params)
        return None

    @contextmanager
    def _answering(self, lines: Sequence[bytes], *, after: float = 0.0, until: float | None = None) -> Iterator[None]:
        """Let the user type *lines* during the block; raise `NoAnswerError` if it takes longer than an answer may."""
        with self.observer.typing(lines, after=after, until=until), anyio.move_on_after(self.answer_timeout) as limit:
            yield
        if limit.cancelled_caught:
            raise NoAnswerError(f"There was no answer within {self.answer_timeout:g} s.")

    def perform(self, action: UserAction) -> list[bytes]:
        """
        Make the user of the callback perform *action*; return the lines to type.

        Raises:
            InconclusiveError: If the user hook fails.
            UnsupportedActionError: If the interface does not support *action*.
        """
        action.seen = self.seen
        if self.under_test.user is None:
            return []
        try:
            lines = self.under_test.user(action) or []
            return [line if isinstance(line, bytes) else line.encode() for line in lines]
        except UnsupportedActionError:
            raise
        except Exception as error:  # noqa: BLE001 -- the hook is not ours
            reason = f"The user hook failed: {type(error).__name__}: {error}"
            raise InconclusiveError(reason, CORRECT_HOOK) from None

    async def interrupt(
        self, ask: Callable[[], Awaitable[object]], interruption: Callable[[], Awaitable[None]]
    ) -> None:
        """
        Call *interruption* while the request of *ask* is pending.

        Raises:
            InconclusiveError: If the request was not pending any more.
            FailedError: If the callback goes on for more than a second.
        """
        before = self.finished

        async def ask_once() -> None:
            with suppress(NoAnswerError):
                await ask()

        async with anyio.create_task_group() as group:
            group.start_soon(ask_once)
            await self._wait_for(lambda: self.started > before, self.answer_timeout)
            await anyio.sleep(_BEFORE_INTERRUPTION)
            was_pending = self.started > self.finished
            await interruption()
            await self._wait_for(lambda: self.finished > before, _END_TIMEOUT)
            has_ended = self.finished > before
            group.cancel_scope.cancel()
        if not was_pending:
            raise InconclusiveError(
                "The request ended before it could be interrupted: the callback blocks the event loop.",
                "Make the callback wait without blocking the event loop, for example in a thread.",
            )
        self.expect(has_ended, f"The request was still pending {_END_TIMEOUT:g} s later.")

    async def _wait_for(self, condition: Callable[[], bool], seconds: float) -> None:
        with anyio.move_on_after(seconds):
            while not condition():
                await self._count_changed.wait()

    # --- conditions without which there is no result

    async def require_accept(self, params: Params, content: Mapping[str, Any] | None = None) -> Reply:
        """
        Send a request that must be accepted; return the reply.

        Raises:
            InconclusiveError: If it is not accepted.
        """
        reply = await self.ask(params, "accept", content)
        if not reply.accepted:
            raise self.not_accepted(reply)
        return reply

    def not_accepted(self, reply: Reply) -> InconclusiveError:
        """Return the error for a scenario that needs an accept but got *reply*."""
        reason = f"The scenario needs an accept, but the server received {reply}."
        return InconclusiveError(reason, PLAY_USER if self.under_test.user is None else ENTER_CONTENT)

    async def find_accepted(self) -> tuple[Params, Mapping[str, Any]]:
        """
        Return the params and content of a request that is accepted: a form, or a URL if forms are not.

        Raises:
            InconclusiveError: If neither is accepted.
        """
        if (await self.ask(SENTINEL_FORM, "accept", SENTINEL_CONTENT)).accepted:
            return SENTINEL_FORM, SENTINEL_CONTENT
        await self.require_accept(SENTINEL_URL)
        return SENTINEL_URL, {}

    def require_user(self) -> None:
        """
        Continue only if the user can be played.

        Raises:
            InconclusiveError: If there is no user hook.
        """
        if self.under_test.user is None:
            raise InconclusiveError("The scenario needs a user.", PLAY_USER)

    def require_shown(self, text: str) -> None:
        """
        Continue only if the user was shown *text*.

        Raises:
            InconclusiveError: If not: then it is unknown what the user is shown.
        """
        if text not in self.shown:
            raise InconclusiveError("The user interface cannot be observed.", REPORT_SHOWN_TEXT)

    # --- checks

    @property
    def shown(self) -> str:
        """The texts that the user was shown, as far as they can be observed, since `forget_shown`."""
        return "\n".join([*self.seen, self.observer.printed[self._printed_before :]])

    def forget_shown(self) -> None:
        """Forget the texts that the user was shown so far."""
        self.seen.clear()
        self._printed_before = len(self.observer.printed)

    @staticmethod
    def expect(condition: object, otherwise: str) -> None:
        """
        Check *condition*.

        Raises:
            FailedError: If it is false, with the text *otherwise*.
        """
        if not condition:
            raise FailedError(otherwise)

    def expect_nothing_raised(self) -> None:
        """
        Check that the callback has raised no exception.

        Raises:
            FailedError: If it has.
        """
        if self.raised:
            raise FailedError(f"The callback raised {type(self.raised[0]).__name__}.")

    def expect_no_block(self, max_seconds: float) -> None:
        """
        Check that the callback blocked the event loop for less than *max_seconds*.

        Raises:
            FailedError: If it blocked it for longer.
        """
        self.expect(
            self.longest_block < max_seconds, f"The callback blocked the event loop for {self.longest_block:.1f} s."
        )

    # --- the callback

    async def callback(self, context: Any, params: Any) -> Any:
        """Call the callback under test and observe it."""
        self._count(started=1)
        self._context = context
        error: BaseException | None = None
        result: Any = None
        async with anyio.create_task_group() as group:
            await group.start(self._measure_blocking)
            try:
                result = await self.under_test.callback(context, params)
            except Exception as raised:  # noqa: BLE001 -- raised again outside of the task group
                error = raised
            except anyio.get_cancelled_exc_class() as raised:
                await anyio.lowlevel.checkpoint()  # raises again if the callback was cancelled by another task
                error = raised
            finally:
                self._count(finished=1)
                group.cancel_scope.cancel()
        if error is not None:
            self.raised.append(error)
            raise error
        self.wrong_type = "" if isinstance(result, (BaseModel, Mapping)) else type(result).__name__
        return result

    def _count(self, *, started: int = 0, finished: int = 0) -> None:
        self.started += started
        self.finished += finished
        self._count_changed.set()
        self._count_changed = anyio.Event()

    async def _measure_blocking(self, *, task_status: Any) -> None:
        task_status.started()
        while True:
            before = time.monotonic()
            try:
                await anyio.sleep(_HEARTBEAT)
            finally:
                self.longest_block = max(self.longest_block, time.monotonic() - before - _HEARTBEAT)


@asynccontextmanager
async def start_run(
    under_test: CallbackUnderTest, delivery: Delivery, answer_timeout: float, silence: float
) -> AsyncIterator[ScenarioRun]:
    """Connect *under_test* to a server with *delivery* and observe it."""
    with ProcessObserver() as observer:
        server = FakeServer(delivery, name="fake-server")
        run = ScenarioRun(under_test, server, observer, answer_timeout, silence)
        async with server.connected(run.callback):
            yield run
