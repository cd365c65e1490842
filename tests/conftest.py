"""Configuration of the tests: hypothesis, event loops, and what the installed SDK supports."""

from __future__ import annotations

import contextlib
import functools
import gc
import inspect
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from mcp_elicit_client._concurrency import leaf_errors
from mcp_elicit_client.sdk.callback import supports_multi_round_trip
from tests.servers.fork_server import fork_server
from tests.support import EVENT_LOOPS, LONG, PROFILE
from tests.support.slow import needs_posix

if TYPE_CHECKING:
    from tests.servers.tasker import Tasker
    from tests.support.inboxes import Clock, PostgresServer, RedisServer

os.environ["LC_ALL"] = "C.UTF-8"  # tests that need another language choose it

settings.register_profile("ci", derandomize=True, max_examples=150, deadline=None)
settings.register_profile("quick", derandomize=True, max_examples=30, deadline=None, database=None)
settings.register_profile("mutants", derandomize=True, max_examples=15, deadline=None, database=None)
settings.register_profile("long", max_examples=1_000, deadline=None)
settings.load_profile(PROFILE)


@pytest.fixture(scope="module")
def anyio_backend(request: pytest.FixtureRequest) -> Any:
    """The event loop of one test or of a module, as anyio's pytest plugin takes it."""
    return request.param


@pytest.fixture(scope="module")
async def shared_browser(anyio_backend: Any) -> AsyncIterator[None]:
    """
    One event loop for all tests of a module, and one browser for ``tests.support.chromium.browser``.

    All async tests of the module need this fixture, since anyio has one event loop at a time.
    """
    from tests.support.chromium import SharedBrowser

    async with contextlib.AsyncExitStack() as stack:
        SharedBrowser.current = SharedBrowser(stack)
        yield
        SharedBrowser.current = None


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A Redis server for the whole session."""
    from tests.support.inboxes import RedisServer

    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A PostgreSQL server for the whole session.  A test that kills it starts it again."""
    from tests.support.inboxes import PostgresServer

    server = PostgresServer()
    yield server
    server.close()


@pytest.fixture
def clock() -> Clock:
    """A clock that the test sets."""
    from tests.support.inboxes import Clock

    return Clock()


@pytest.fixture
def seen() -> list[str]:
    """What the server saw."""
    return []


@pytest.fixture
def tasker(seen: list[str], monkeypatch: pytest.MonkeyPatch) -> Tasker:
    """The tasks of a server in this process, which are polled in short intervals."""
    from mcp_elicit_client.calls import task_polling
    from tests.servers.tasker import Tasker

    monkeypatch.setattr(task_polling, "MIN_POLL_INTERVAL", 0.005)
    return Tasker(seen.append)


def pytest_configure(config: pytest.Config) -> None:
    """Let the servers that workers start be forks of one process, since an import of the SDK takes a second."""
    has_workers = config.getoption("dist", "no") != "no" and not hasattr(config, "workerinput")
    if has_workers and config.option.markexpr != "not slow" and not LONG and sys.platform == "linux":
        stack = contextlib.ExitStack()
        stack.enter_context(fork_server())
        config.add_cleanup(stack.close)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run async tests on both event loops, or on those of their ``event_loops`` marker."""
    fixtures = metafunc._arg2fixturedefs.get("anyio_backend")  # empty if the test is parametrized with event loops
    if fixtures and fixtures[-1].func.__module__ == __name__:
        marker = metafunc.definition.get_closest_marker("event_loops")
        metafunc.parametrize(
            "anyio_backend",
            marker.args if marker else EVENT_LOOPS,
            indirect=True,
            scope="module" if "shared_browser" in metafunc.fixturenames else "function",
        )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip or deselect tests that the platform or the installed SDK does not support."""
    if sys.platform == "win32":
        for item in filter(needs_posix, items):
            item.add_marker(pytest.mark.skip(reason="needs POSIX"))
    if not supports_multi_round_trip():
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("rounds")])
        items[:] = [item for item in items if not item.get_closest_marker("rounds")]


def pytest_collection_finish() -> None:
    """Let the garbage collector skip all that was collected, which saves a fifth of the time of quick tests."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what a quick run leaves out."""
    if config.option.markexpr == "not slow":
        left_out = "tests that start a process, a browser or a server, or wait"
        terminalreporter.write_line(f"Not run: {left_out}; nox -s \"tests(mcp='2.3')\" runs all")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> None:
    """Let async tests be skipped by what they call in a task group."""
    if inspect.iscoroutinefunction(pyfuncitem.obj) and not hasattr(pyfuncitem.obj, "hypothesis"):
        pyfuncitem.obj = _skipped_in_a_group(pyfuncitem.obj)


def _skipped_in_a_group(test: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    @functools.wraps(test)
    async def run(*args: Any, **arguments: Any) -> None:
        try:
            await test(*args, **arguments)
        except BaseException as error:
            errors = [*leaf_errors(error)]
            if len(errors) == 1 and isinstance(errors[0], pytest.skip.Exception):
                raise errors[0] from None
            raise

    return run
