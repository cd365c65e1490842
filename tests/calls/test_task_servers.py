"""Tasks of real servers: over stdio and HTTP, also when the server stops and starts again."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcp_elicit_client import Answer, ElicitationRegistry
from mcp_elicit_client.calls import Caller, SuspendedCall, SuspendOptions, task_polling
from mcp_elicit_client.exceptions import CallError, TaskError
from mcp_elicit_client.inbox import Inbox, InboxHandler, SqliteStore
from tests.servers.tasker import ask
from tests.support import ROOT, free_port, read_line, until
from tests.support.inprocess import in_process
from tests.support.taskers import TEXT, User, accepted, plan, told

pytestmark = [pytest.mark.anyio, pytest.mark.event_loops("asyncio")]

TASKER = [sys.executable, "-m", "tests.servers.tasker"]


class Server:
    """The server `tasker` in a process of its own.  Its tasks survive it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "seen.txt"
        (folder / "tasks").mkdir()
        self.port = free_port()
        self.environ = {
            **os.environ,
            "ELICIT_TASKS": str(folder / "tasks"),
            "ELICIT_SEEN": str(self.path),
            "ELICIT_PORT": str(self.port),
        }
        self.url = f"http://127.0.0.1:{self.port}/mcp"

    def seen(self, beginning: str) -> list[str]:
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        lines = [line.partition(" ")[2] for line in text.splitlines()]
        return [line for line in lines if line.startswith(beginning)]

    async def until_seen(self, beginning: str, count: int = 1) -> None:
        await until(lambda: len(self.seen(beginning)) >= count)

    @contextmanager
    def over_http(self) -> Iterator[None]:
        with subprocess.Popen(
            [*TASKER, "--http"], cwd=ROOT, env=self.environ, stdout=subprocess.PIPE, text=True
        ) as process:
            read_line(process)
            try:
                yield
            finally:
                process.kill()

    def over_stdio(self, *options: str) -> Any:
        from mcp import StdioServerParameters

        return StdioServerParameters(command=TASKER[0], args=[*TASKER[1:], *options], env=self.environ, cwd=str(ROOT))


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(tmp_path)


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_polling, "MIN_POLL_INTERVAL", 0.02)


class Failures:
    """The requests about tasks that failed."""

    def __init__(self) -> None:
        self.count = 0

    async def more(self, number: int) -> None:
        """Wait until *number* more requests have failed."""
        wanted = self.count + number
        await until(lambda: self.count >= wanted)


@pytest.fixture
def failures(monkeypatch: pytest.MonkeyPatch) -> Failures:
    counted = Failures()
    on_failure = task_polling.TaskPoller.on_failure

    def count(poller: task_polling.TaskPoller, error: Exception) -> None:
        counted.count += 1
        on_failure(poller, error)

    monkeypatch.setattr(task_polling.TaskPoller, "on_failure", count)
    return counted


@asynccontextmanager
async def connected(caller: Caller, target: Any) -> AsyncIterator[Any]:
    with anyio.fail_after(60):
        async with caller.client(target) as client:
            yield client


@pytest.mark.rounds
@pytest.mark.parametrize("options", [[], ["--sdk"]], ids=["by hand", "SDK"])
async def test_a_task_is_finished_over_stdio(server: Server, options: list[str]) -> None:
    user = User()
    caller = Caller(user, "mail")
    async with connected(caller, server.over_stdio(*options)) as client:
        result = await caller.call_tool(client, "run", plan({"work": 2}, ask("a", "b", late=2)))
    assert told(result) == accepted("a", "b")
    assert user.asked == ["Name for a?", "Name for b?"]


@pytest.mark.rounds
async def test_an_invalid_list_of_tools_is_reported_after_a_task_as_after_other_calls(server: Server) -> None:
    caller = Caller(User(), "mail")
    async with connected(caller, server.over_stdio("--invalid-tools")) as client:
        with pytest.raises(CallError, match="a result that the protocol version of this connection does not allow"):
            await caller.call_tool(client, "run", plan({"end": {"result": TEXT}}))


@pytest.mark.rounds
async def test_every_request_about_a_task_names_it_in_a_header(server: Server) -> None:
    caller = Caller(User(), "mail")
    with server.over_http():
        async with connected(caller, server.url) as client:
            await caller.call_tool(client, "run", plan(ask("a"), id="t-4711"))
            task: Any = await caller.call_tool(client, "run", plan({"work": 9_999}, id="t-4712"), wait=False)
            await caller.cancel_task(task, client)
    headers = set(server.seen("header tasks/"))
    assert headers == {"header tasks/get t-4711", "header tasks/update t-4711", "header tasks/cancel t-4712"}


@pytest.mark.rounds
async def test_a_server_that_is_restarted_loses_no_answer(server: Server, failures: Failures) -> None:
    """It stops while the user types, and again while the task works.  Over HTTP, there is no connection to lose."""
    user = User()
    results: list[Any] = []
    is_open, is_down, has_answered = anyio.Event(), anyio.Event(), anyio.Event()

    async def thinks() -> None:
        is_open.set()
        await is_down.wait()
        await failures.more(2)  # polls, meanwhile
        has_answered.set()

    user.thinks = thinks
    caller = Caller(user, "mail")

    async def call(client: Any) -> None:
        results.append(told(await caller.call_tool(client, "run", plan(ask("a"), {"work": 60}))))

    with ExitStack() as first:
        first.enter_context(server.over_http())
        async with connected(caller, server.url) as client, anyio.create_task_group() as group:
            group.start_soon(call, client)
            await is_open.wait()
            first.close()
            is_down.set()
            await has_answered.wait()
            await failures.more(2)  # the answer does not reach the server
            with server.over_http():
                await server.until_seen("update")
            await failures.more(2)
            with server.over_http():
                await until(lambda: results)
    assert (results, user.asked, user.withdrawn) == ([accepted("a")], ["Name for a?"], [])
    assert len(set(server.seen("update"))) == 1  # it may be repeated, if the server stopped before it acknowledged it


@pytest.mark.rounds
async def test_a_task_goes_on_over_another_connection(server: Server) -> None:
    user = User()
    caller = Caller(user, "mail")
    failures: list[TaskError] = []
    async with connected(caller, server.over_stdio()) as client:
        task: Any = await caller.call_tool(client, "run", plan(ask("a", late=5), {"work": 60}, ask("b")), wait=False)

        async def resume() -> None:
            try:
                await caller.resume_task(task, client)
            except TaskError as error:
                failures.append(error)

        async with anyio.create_task_group() as group:
            group.start_soon(resume)
            await server.until_seen("update")
            (pid,) = {line.split()[1] for line in server.seen("pid")}
            os.kill(int(pid), 9)
    assert [(error.code, error.task_id) for error in failures] == [("interrupted", task.id)]
    async with connected(caller, server.over_stdio()) as client:
        assert told(await caller.resume_task(failures[0].task_id or "", client)) == accepted("a", "b")
    assert user.asked == ["Name for a?", "Name for b?"]


@pytest.mark.rounds
async def test_a_server_that_stops_while_its_request_is_stored_is_not_answered(server: Server, tmp_path: Path) -> None:
    stops = ["stop"]
    sessions: list[Any] = []

    def stop_once(handler: Any) -> Any:
        async def decide(request: Any) -> Answer:
            if stops:
                stops.pop()
                (pid,) = {line.split()[1] for line in server.seen("pid")}
                os.kill(int(pid), 9)
                with sessions[0].disconnected.cancelling():
                    await anyio.sleep_forever()
            return await handler(request)  # type: ignore[no-any-return]

        return decide

    inbox = Inbox(SqliteStore(tmp_path / "inbox.db"))
    registry, options = ElicitationRegistry(policy=stop_once), SuspendOptions(inbox)
    registry.on_elicitation(InboxHandler(inbox))
    caller = Caller(registry, "mail", user="ann")
    async with connected(caller, server.over_stdio()) as client:
        sessions.append(client.session)
        suspended = await caller.call_tool(client, "run", plan(ask("a", "b")), suspend=options)
    assert isinstance(suspended, SuspendedCall)
    for entry in (await inbox.list("ann")).entries:
        await inbox.answer("ann", entry.id, "accept", {"name": "Ann"})
    async with connected(caller, server.over_stdio()) as client:
        assert told(await caller.resume(suspended.id, client, options)) == accepted("a", "b")
    await inbox.aclose()


@pytest.mark.rounds
async def test_a_server_without_tasks_is_reported_at_once() -> None:
    caller = Caller(User(), "visitor")
    async with in_process(caller, "auto") as client:
        for use in (caller.resume_task, caller.cancel_task):
            with anyio.fail_after(10), pytest.raises(TaskError, match="does not support tasks") as caught:
                await use("t", client)
            assert (caught.value.code, caught.value.task_id) == ("unsupported", "t")


async def test_tasks_need_a_newer_sdk_or_protocol_version(anyio_backend: Any) -> None:
    caller = Caller(User(), "visitor")
    async with in_process(caller, "legacy") as client:
        for use in (caller.resume_task, caller.cancel_task):
            with pytest.raises(TaskError, match=r"protocol version 2026-07-28 .* mcp 2\.3") as caught:
                await use("t", client)
            assert caught.value.code == "unsupported"
