"""Polling of tasks: `TaskHandle`, what the host application sees of a task, and `TaskPoller`."""

from __future__ import annotations

import functools
import logging
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any, ClassVar, TypeAlias

import anyio
from pydantic import BaseModel, ConfigDict, Field

from mcp_elicit_client._concurrency import call_inside
from mcp_elicit_client.calls.active_call import ActiveCall
from mcp_elicit_client.calls.elicitations import is_closed
from mcp_elicit_client.calls.server_errors import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    error_code,
    raise_if_capability_is_required,
)
from mcp_elicit_client.calls.task_wire import TaskRequests, TaskState, TaskStatus
from mcp_elicit_client.exceptions import TaskError

POLL_INTERVAL = 1.0
"""The interval between two polls if the server does not name one, in seconds."""

MIN_POLL_INTERVAL, MAX_POLL_INTERVAL = 0.1, 60.0
"""The limits of the server's interval, in seconds."""

REQUEST_TIMEOUT = 30.0
"""The maximum time of one request about a task, in seconds.  The next poll repeats it."""

MAX_OUTAGE = 60.0
"""How long requests about a task may fail while no request is open, in seconds."""

MAX_IDLE = 900.0
"""How long a task may require input that it does not ask for, in seconds."""

TTL_MARGIN = 60.0
"""How long a task is polled after its lifetime, in seconds."""

_CANCEL_TIMEOUT = 3.0

_logger = logging.getLogger("mcp_elicit_client")


class TaskHandle(BaseModel):
    """
    A task that runs on the server, for the host application.

    Attributes:
        id: The server's ID.  It may grant access to the task: store it like
            a password, and do not log it.
        server: The name that the host application gave the server.
        tool: The name of the tool; None if it is unknown.
        user: The user that the call is for; None if there is only one.
        status: ``working``, ``input_required``, ``completed``, ``failed`` or
            ``cancelled``.
        status_message: The server's text about the status, sanitized.
        expires_at: Until when the server keeps the task, in UTC; None if it
            does not say.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

    id: str = Field(repr=False)
    server: str
    tool: str | None = None
    user: str | None = None
    status: TaskStatus = "working"
    status_message: str | None = None
    expires_at: datetime | None = None


OnTaskStatus: TypeAlias = Callable[[TaskHandle], Awaitable[None]]
"""Is called with every new status of a task, and every new text about it."""


class TaskPoller:
    """
    Polls one task.

    Args:
        call: The call that the task belongs to.
        state: The state of the task.
        server: The name that the host application gave the server.
        on_status: Is called with every new status.

    Attributes:
        state: The last state that the server reported.
        requests: Sends the requests about the task.
    """

    def __init__(self, call: ActiveCall, state: TaskState, server: str, on_status: OnTaskStatus | None = None) -> None:
        self.state: TaskState = state
        self.requests: TaskRequests = TaskRequests(call.session, state.id)
        self._call = call
        self._server = server
        self._on_status = on_status
        self._created = anyio.current_time()
        self._failing_since: float | None = None
        self._idle_since: float | None = None
        self._reported: tuple[TaskStatus, str | None] | None = None

    @property
    def handle(self) -> TaskHandle:
        """The task for the host application."""
        state, expires_at = self.state, None
        if state.ttl is not None:
            age = timedelta(seconds=anyio.current_time() - self._created)
            expires_at = datetime.now(timezone.utc) - age + timedelta(seconds=state.ttl)
        return TaskHandle(
            id=state.id,
            server=self._server,
            tool=self._call.tool,
            user=self._call.user,
            status=state.status,
            status_message=state.message,
            expires_at=expires_at,
        )

    @property
    def is_reachable(self) -> bool:
        """True if the last request about the task reached the server, so that `state` is not an older one."""
        return self._failing_since is None

    async def next(self, *, is_open: bool = False) -> TaskState:
        """
        Wait for the poll interval, then poll.

        Args:
            is_open: A request is open.  The server may then be unreachable
                for any time.
        """
        await self.pause()
        return await self.poll(is_open=is_open)

    async def wait(self, *, is_with_user: bool) -> TaskState:
        """
        Wait for the server, or for the user if one of the requests is with the user, then poll.

        Raises:
            CallTimeoutError: If the user's timeout has passed.
            TaskError: See `poll` and `_check_idle`.
            CapabilityRequiredError: See `poll`.
        """
        if not is_with_user:
            self._check_idle()
            return await self.next()
        timeouts = self._call.timeouts
        with timeouts.paused_for_user():
            if timeouts.is_user_late:
                raise timeouts.expired("answer_timeout")
            return await self.next()

    async def pause(self) -> None:
        """Wait for the poll interval."""
        interval = POLL_INTERVAL if self.state.poll_interval is None else self.state.poll_interval
        await anyio.sleep(min(max(interval, MIN_POLL_INTERVAL), MAX_POLL_INTERVAL))

    async def poll(self, *, is_open: bool = False) -> TaskState:
        """
        Return the state of the task: the last one if the server cannot be reached for now.

        Raises:
            TaskError: If the task has expired, the response is invalid, the
                server has no tasks, or it cannot be reached for too long.
            CapabilityRequiredError: If the connection does not declare tasks.
        """
        try:
            self.state = await self.requests.get(REQUEST_TIMEOUT)
        except TaskError:
            raise
        except Exception as error:  # noqa: BLE001 -- the SDK raises different errors for a server that is away
            if is_open:
                self._failing_since = None
            self.on_failure(error)
            return self.state
        self._failing_since = None
        await self.report()
        ttl = self.state.ttl
        if not self.state.is_final and ttl is not None and anyio.current_time() > self._created + ttl + TTL_MARGIN:
            raise TaskError("expired", task_id=self.state.id)
        return self.state

    def on_failure(self, error: Exception) -> None:
        """
        Raise the error for a request that failed with *error*; return if it can be repeated.

        Raises:
            TaskError: See `poll`.
            CapabilityRequiredError: See `poll`.
        """
        if error_code(error) == METHOD_NOT_FOUND:
            raise TaskError("unsupported", task_id=self.state.id) from error
        if error_code(error) == INVALID_PARAMS:
            raise TaskError("expired", task_id=self.state.id) from error
        raise_if_capability_is_required(error)
        now = anyio.current_time()
        if self._failing_since is None:
            self._failing_since = now
        is_lost = isinstance(error, (anyio.ClosedResourceError, anyio.BrokenResourceError)) or is_closed(
            self._call.session
        )
        if is_lost or now > self._failing_since + MAX_OUTAGE:
            raise TaskError("interrupted", task_id=self.state.id) from error

    async def send(self, key: str, response: Mapping[str, Any]) -> None:
        """
        Send the response to one request until the server acknowledges it.  Sending it twice is harmless.

        Raises:
            TaskError: See `poll`.
            CapabilityRequiredError: See `poll`.
        """
        while not await self._try_to_send(key, response):
            await self.pause()

    async def _try_to_send(self, key: str, response: Mapping[str, Any]) -> bool:
        try:
            await self.requests.update({key: response}, REQUEST_TIMEOUT)
        except Exception as error:  # noqa: BLE001 -- see poll
            if error_code(error) != INVALID_PARAMS:
                self.on_failure(error)
                return False
            # The request is no longer open, or the task has expired: the next poll tells.
        self._failing_since = None
        return True

    def _check_idle(self) -> None:
        """
        Check how long the server has required input, but has had nothing to ask.

        Raises:
            TaskError: If it is too long.
        """
        now = anyio.current_time()
        if self.state.status != "input_required":
            self._idle_since = None
            return
        self._idle_since = now if self._idle_since is None else self._idle_since
        if now > self._idle_since + MAX_IDLE:
            raise TaskError("invalid", "it requires input, but asks for nothing", task_id=self.state.id)

    def reset_idle(self) -> None:
        """Forget how long the server has had nothing to ask."""
        self._idle_since = None

    async def report(self) -> None:
        """Report a new status to the host application."""
        current = (self.state.status, self.state.message)
        if self._on_status is None or current == self._reported:
            return
        self._reported = current
        try:
            await call_inside(functools.partial(self._on_status, self.handle))
        except Exception:
            _logger.exception("the status of a task of server %r could not be reported", self._server)

    async def cancel(self) -> None:
        """
        Cancel the task.

        Raises:
            TaskError: If the server no longer has it.
            CapabilityRequiredError: See `poll`.
            Exception: The SDK's error, if the server cannot be reached.
        """
        try:
            await self.requests.cancel(REQUEST_TIMEOUT)
        except Exception as error:
            self.on_failure(error)
            raise

    async def abandon_after(self, error: BaseException, *, is_owned: bool) -> None:
        """
        Cancel the task if it must not run on after *error*, even if this call is cancelled.

        Args:
            error: Ends the call.
            is_owned: No other code knows the task.
        """
        if self.state.is_final:
            return
        must_end = error.code in ("limit", "invalid") if isinstance(error, TaskError) else is_owned
        if must_end:
            await self._abandon()

    async def _abandon(self) -> None:
        with anyio.move_on_after(_CANCEL_TIMEOUT, shield=True):
            try:
                await self.requests.cancel(_CANCEL_TIMEOUT)
            except Exception as error:  # noqa: BLE001 -- the server may be away
                _logger.debug("a task of server %r could not be cancelled: %s", self._server, type(error).__name__)
