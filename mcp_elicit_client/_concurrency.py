"""
Helpers for asyncio and trio.

`run_until`, `collect_in_turns`, `CancellingEvent`, `not_cancelled_inside`, `call_inside`, `call_sync_inside`,
`start_in_background`, `is_trio`, `without_groups`, `Waker`, `OfEventLoop` and `ForkSafeLock`.
"""

from __future__ import annotations

import asyncio
import functools
import math
import os
import sys
import threading
import types
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager
from typing import Any, Generic, TypeVar

import anyio
import anyio.lowlevel

T = TypeVar("T")


class OfEventLoop(Generic[T]):
    """A value of each event loop, which *make* makes when the loop first needs it."""

    def __init__(self, name: str, make: Callable[[], T]) -> None:
        self._values: anyio.lowlevel.RunVar[T] = anyio.lowlevel.RunVar(name)
        self._make = make

    def get(self) -> T:
        """Return the value of the running event loop."""
        try:
            return self._values.get()
        except LookupError:
            value = self._make()
            self._values.set(value)
            return value


class ForkSafeLock:
    """A lock for threads.  In a forked process it is free: the thread that holds it does not run there."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _fork_safe_locks.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_error: object) -> None:
        self._lock.release()

    def reset(self) -> None:
        """Free the lock, in the child of a fork."""
        self._lock = threading.Lock()


_fork_safe_locks: weakref.WeakSet[ForkSafeLock] = weakref.WeakSet()


def _after_fork() -> None:
    for lock in _fork_safe_locks:
        lock.reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


async def run_until(stop: Callable[[], Awaitable[object]], work: Callable[[], Awaitable[T]]) -> T | None:
    """
    Run *work* until it returns, or until *stop* returns.

    Returns:
        The result of *work*; None if *stop* returned first, and *work* was
        cancelled.

    Raises:
        Exception: The exception of *work*.
    """
    result: T | None = None
    failure: Exception | None = None

    async def watch() -> None:
        await stop()
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        await anyio.lowlevel.checkpoint()
        try:
            result = await call_inside(work)
        except Exception as error:  # noqa: BLE001 -- raised again outside of the group, which would wrap it
            failure = error
        group.cancel_scope.cancel()
    if failure is not None:
        raise failure
    return result


async def collect_in_turns(steps: Iterable[Iterable[T]]) -> list[T]:
    """Return what all *steps* yield.  Other tasks get their turns between the steps."""
    collected: list[T] = []
    for index, step in enumerate(steps):
        if index:
            await anyio.lowlevel.checkpoint()
        collected += step
    return collected


class CancellingEvent:
    """An event that cancels the blocks which run until it is set.  No task waits for it, as it does in `run_until`."""

    def __init__(self) -> None:
        self._is_set = False
        self._scopes: set[anyio.CancelScope] = set()

    def is_set(self) -> bool:
        """Return True if `set` was called."""
        return self._is_set

    def set(self) -> None:
        """Set the event, and cancel the blocks."""
        self._is_set = True
        for scope in self._scopes:
            scope.cancel()

    def cancelling(self, deadline: float = math.inf) -> AbstractContextManager[None, bool]:
        """Return a block that runs until the event is set or *deadline* passes; not at all if it is set already."""
        scope = anyio.CancelScope(deadline=deadline)
        if self._is_set:
            scope.cancel()
        return _Registered(scope, self._scopes)


class _Registered:
    """The block of *scope*, which is one of *scopes* meanwhile."""

    __slots__ = ("_scope", "_scopes")

    def __init__(self, scope: anyio.CancelScope, scopes: set[anyio.CancelScope]) -> None:
        self._scope = scope
        self._scopes = scopes

    def __enter__(self) -> None:
        self._scope.__enter__()
        self._scopes.add(self._scope)

    def __exit__(self, *error: Any) -> bool:  # noqa: PYI036 -- passed on
        self._scopes.discard(self._scope)
        return self._scope.__exit__(*error)


class CancelledInsideError(Exception):
    """Work ended as if it was cancelled, but the task that waited for it was not."""


async def not_cancelled_inside(work: Coroutine[Any, Any, T]) -> T:
    """
    Return the result of *work*.  Only a cancellation of the task that waits passes through.

    Start it after a checkpoint: a cancellation that is due by then does not
    come from *work*.

    Raises:
        CancelledInsideError: If *work* raised the event loop's cancellation
            error, for example because a future that it waited for was
            cancelled, and nothing cancelled the task.
    """
    is_cancelled = _watch_trio() if is_trio() else None
    if is_cancelled is None and _COUNTS_CANCELS:
        is_cancelled = _watch_task()
    elif is_cancelled is None:
        watched = _Watched()
        work, is_cancelled = watched.run(work), watched.is_cancelled
    try:
        return await work
    except (Exception, GeneratorExit, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        if is_cancelled() or not _is_cancellation(error):
            raise
        raise CancelledInsideError from error


_COUNTS_CANCELS = sys.version_info >= (3, 11)


async def call_inside(work: Callable[[], Awaitable[T]]) -> T:
    """
    Return the result of *work*, a function of the host application: see `not_cancelled_inside`.

    Raises:
        CancelledInsideError: As `not_cancelled_inside`.
    """

    async def called() -> T:
        return await work()

    return await not_cancelled_inside(called())


def call_sync_inside(function: Callable[[], T]) -> T:
    """
    Return the result of *function*, one of the host application that is not async.

    Raises:
        CancelledInsideError: If it raised a cancellation error, such as from
            the result of a cancelled future: it cannot be cancelled itself.
    """
    try:
        return function()
    except asyncio.CancelledError as error:
        raise CancelledInsideError from error


def _is_cancellation(error: BaseException) -> bool:
    """Return True for a cancellation error of any event loop, or a group with nothing worse."""
    members = getattr(error, "exceptions", None)
    if members is not None:
        return all(isinstance(each, Exception) or _is_cancellation(each) for each in members)
    trio_cancelled = getattr(sys.modules.get("trio"), "Cancelled", None)  # None while another thread imports trio
    return isinstance(error, asyncio.CancelledError) or (
        trio_cancelled is not None and isinstance(error, trio_cancelled)
    )


def _watch_trio() -> Callable[[], bool]:
    import trio

    return lambda: trio.current_effective_deadline() == float("-inf")


def _watch_task() -> Callable[[], bool]:
    task: Any = asyncio.current_task()
    before = task.cancelling()
    return lambda: task.cancelling() > before


class _Watched:
    """
    Runs a coroutine and notices whether its task is cancelled, for Python 3.10.

    The task waits for a future of this class instead of the coroutine's own.
    It is cancelled only if the task is.
    """

    def __init__(self) -> None:
        self._is_cancelled = False

    def is_cancelled(self) -> bool:
        """Return True if the task was cancelled."""
        return self._is_cancelled

    @types.coroutine
    def run(self, coroutine: Coroutine[Any, Any, T]) -> Generator[Any, Any, T]:
        """Run *coroutine* in the current task."""
        resume: Callable[[], Any] = functools.partial(coroutine.send, None)
        while True:
            try:
                awaited = resume()
            except StopIteration as end:
                result: T = end.value
                return result
            try:
                yield from self._wait(awaited)
                resume = functools.partial(coroutine.send, None)
            except BaseException as error:  # noqa: BLE001 -- passed on to the coroutine
                self._is_cancelled = True
                resume = functools.partial(coroutine.throw, error)

    def _wait(self, awaited: Any) -> Generator[Any, Any, None]:
        if awaited is None:  # a checkpoint
            yield
            return
        awaited._asyncio_future_blocking = False  # noqa: SLF001 -- as tasks do
        while not awaited.done():
            proxy = asyncio.get_running_loop().create_future()
            wake = functools.partial(_finish, proxy)
            awaited.add_done_callback(wake)
            try:
                yield from proxy
            except asyncio.CancelledError as error:
                # As `Task.cancel` does: the coroutine continues when its future has ended.
                self._is_cancelled = True
                if not awaited.cancel(*error.args):  # with its message
                    raise
            finally:
                awaited.remove_done_callback(wake)


def _finish(proxy: asyncio.Future[None], _ended: object) -> None:
    if not proxy.done():
        proxy.set_result(None)


@asynccontextmanager
async def without_groups(manager: AbstractAsyncContextManager[T]) -> AsyncIterator[T]:
    """Enter *manager*.  An error leaves it as it was raised, not in an exception group; see `single_error`."""
    raised: BaseException | None = None
    try:
        async with manager as entered:
            try:
                yield entered
            except BaseException as error:
                raised = error
                raise
    except BaseException as error:
        single = single_error(error, raised)
        if single is error:
            raise
        raise single from single.__cause__


def single_error(error: BaseException, raised: BaseException | None) -> BaseException:
    """
    Return the error that *error*, possibly an exception group, stands for.

    Args:
        error: What came out of task groups, or of what was closed at the end.
        raised: What was raised into them, if anything.

    Returns:
        *raised*, if it is an error, since the others result from it; the only
        error in the group; otherwise *error*.  A ``KeyboardInterrupt`` or
        ``SystemExit`` beside other errors stays in its group.
    """
    errors = tuple(leaf_errors(error))
    if isinstance(raised, Exception) and all(isinstance(each, Exception) for each in errors):
        return raised
    return errors[0] if len(errors) == 1 else error


def leaf_errors(error: BaseException) -> Iterator[BaseException]:
    """Yield the errors in an exception group, also in nested ones; *error* itself if it is not a group."""
    members = getattr(error, "exceptions", None)
    if members is None:
        yield error
        return
    for each in members:
        yield from leaf_errors(each)


def is_trio() -> bool:
    """Return True if the running event loop is one of trio, False if it is one of asyncio."""
    # Another thread may be importing trio.
    in_trio_run = getattr(sys.modules.get("trio.lowlevel"), "in_trio_run", None)
    return in_trio_run is not None and bool(in_trio_run())


_background: set[asyncio.Task[None]] = set()
"""The event loop itself keeps no reference to a task."""


def start_in_background(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run *work*, which must not raise, as a task of the event loop.  It is cancelled when the event loop ends."""
    if is_trio():
        import contextvars

        import trio

        trio.lowlevel.spawn_system_task(work, context=contextvars.copy_context())
        return
    task = asyncio.get_running_loop().create_task(work())
    _background.add(task)
    task.add_done_callback(_background.discard)


class LoopHandle:
    """The event loop in which this was created: any thread may ask whether it has ended."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self._loop = None if is_trio() else asyncio.get_running_loop()

    def is_abandoned(self) -> bool:
        """Return True if the event loop was closed, so that the task never runs again.  Trio ends its tasks first."""
        return self._loop is not None and self._loop.is_closed()

    def is_stopped(self) -> bool:
        """
        Return True if the event loop was stopped, or closed.

        It may go on later, but not before the one that runs here now has ended:
        a thread runs one event loop at a time.  Of other threads, this is
        not known.
        """
        if self._loop is None or threading.get_ident() != self._thread:
            return self.is_abandoned()
        running = asyncio._get_running_loop()  # noqa: SLF001 -- without the error
        return running is not self._loop and (running is not None or is_trio())


class Waker(LoopHandle):
    """Wakes one waiting task from any thread.  Create it in the event loop that waits."""

    def __init__(self) -> None:
        super().__init__()
        self._event = anyio.Event()
        self._schedule: Any
        if self._loop is None:
            import trio.lowlevel

            self._schedule = trio.lowlevel.current_trio_token().run_sync_soon
        else:
            self._schedule = self._loop.call_soon_threadsafe

    def wake(self) -> bool:
        """Wake the task that waits, now or later.  Return False if its event loop has ended: no task waits any more."""
        try:
            if self.is_abandoned():
                return False
            if threading.get_ident() == self._thread:
                self._event.set()
            else:
                self._schedule(self._event.set)
        except RuntimeError:
            return False
        return True

    async def wait(self) -> None:
        """Wait until `wake` is called."""
        if not self._event.is_set():
            await self._event.wait()
