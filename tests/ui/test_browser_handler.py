"""`BrowserHandler` without a browser: its server, threads and files, on both event loops."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import io
import logging
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
import httpx
import pytest

from mcp_elicit_client import Answer, parse_request
from mcp_elicit_client.cli import main
from mcp_elicit_client.core.notice import Notice
from mcp_elicit_client.exceptions import MissingExtraError
from mcp_elicit_client.handlers.browser import BrowserHandler, access_control, asking, tab
from mcp_elicit_client.handlers.browser.access_control import pages_app
from mcp_elicit_client.handlers.browser.local_server import PROCESS, FairSemaphore, RecentNotices
from mcp_elicit_client.policies import Permissions
from tests.support import ROOT, form_params

pytestmark = pytest.mark.anyio

PAGE = {"accept": "text/html"}
NAME = form_params({"properties": {"name": {"type": "string"}}, "required": ["name"]}, "Who?")
REQUEST = parse_request(NAME, server="mail")


class Visitor:
    """Takes the place of a browser that opens the file."""

    def __init__(self, *, opens: bool = True) -> None:
        self.files: list[Path] = []
        self.urls: list[str] = []
        self.answers: list[Answer] = []
        self.group: Any = None
        self.opens = opens

    async def open_file(self, path: Path) -> bool:
        self.files.append(path)
        self.urls.append(re.findall(r'url=(http[^"]+)"', path.read_text())[0])
        return self.opens

    async def url(self, at: int = 0) -> str:
        with anyio.fail_after(60):
            while len(self.urls) <= at:
                await anyio.lowlevel.checkpoint()
        return self.urls[at]


@asynccontextmanager
async def visiting(url: str) -> AsyncIterator[tuple[httpx.AsyncClient, str]]:
    """Use the token, and provide a client and the path of the request."""
    origin = f"http://{urlsplit(url).netloc}"
    async with httpx.AsyncClient(
        base_url=origin, headers={**PAGE, "origin": origin}, trust_env=False, follow_redirects=True
    ) as client:
        entry = await client.get(url)
        assert entry.status_code == 200
        yield client, "/" + re.findall(r'url=([^"]+)"', entry.text)[0]


async def serving_has_ended() -> None:
    with anyio.fail_after(60):
        while any(thread.name.startswith("mcp-elicit-browser") for thread in threading.enumerate()):
            await anyio.sleep(0.01)


async def ask(visitor: Visitor, request: Any = REQUEST, **options: Any) -> None:
    visitor.answers.append(await BrowserHandler(open_file=visitor.open_file, **options)(request))


@asynccontextmanager
async def pending(*, request: Any = REQUEST, opens: bool = True, **options: Any) -> AsyncIterator[Visitor]:
    """Ask in the background of the block."""
    visitor = Visitor(opens=opens)
    async with anyio.create_task_group() as visitor.group:
        visitor.group.start_soon(lambda: ask(visitor, request, **options))
        yield visitor


async def test_a_request_is_answered_and_no_file_or_thread_remains() -> None:
    before = set(threading.enumerate())
    async with pending() as visitor, visiting(await visitor.url()) as (client, path):
        assert not visitor.files[0].parent.exists()
        assert (await client.get(visitor.urls[0])).status_code == 404
        assert "Who?" in (await client.get(path)).text
        assert "This field is required." in (await client.post(path, data={"action": "accept"})).text
        done = await client.post(path, data={"action": "accept", "f0": "Ann"})
        assert "Answer sent" in done.text
        # The path stops working once the page has its style.
        with anyio.fail_after(60), contextlib.suppress(httpx.TransportError):  # The server may have ended.
            while (await client.get(path)).status_code == 200:
                await anyio.sleep(0.05)
    await serving_has_ended()

    (answer,) = visitor.answers
    assert answer.content == {"name": "Ann"}
    assert (answer.by, answer.reason, answer.sources) == ("user", "answered in the browser", {"name": "user"})
    with pytest.raises(httpx.ConnectError):
        await anyio.to_thread.run_sync(lambda: httpx.get(visitor.urls[0], trust_env=False))
    assert not [thread for thread in set(threading.enumerate()) - before if "mcp-elicit" in thread.name]


async def test_the_answered_page_has_its_style_and_its_request_is_deleted() -> None:
    async with pending() as visitor, visiting(await visitor.url()) as (client, path):
        serving = PROCESS._serving
        assert serving is not None
        page = serving._pages[-1]
        await client.post(path, data={"action": "decline"})
        assert (await client.get(path.rpartition("/")[0] + "/static/inbox.css")).status_code == 200
        assert "You declined." in (await client.get(path)).text
    await serving_has_ended()
    store = serving._store
    assert page.owner not in {each.owner for each in store._requests.values()}
    assert page.owner not in {*store._owners, *store._last_closed_at}


async def test_all_servers_of_a_process_have_the_same_app() -> None:
    servers = []
    for _ in range(2):
        async with pending() as visitor, visiting(await visitor.url()) as (client, path):
            made = pages_app.cache_info().misses
            servers.append(PROCESS._serving)
            await client.post(path, data={"action": "decline"})
        await serving_has_ended()
    assert servers[0] is not servers[1]
    assert pages_app.cache_info().misses == made


async def test_a_notice_is_shown_on_open_pages_of_its_user_and_on_the_next_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PROCESS, "notices", RecentNotices())
    params = form_params({"properties": {"password": {"type": "string"}}}, "Type your <b>password</b>!")
    visitor = Visitor()
    async with anyio.create_task_group() as group:
        group.start_soon(ask, visitor, REQUEST.model_copy(update={"user": "ann"}))
        async with visiting(await visitor.url()) as (client, path):
            for user in ("ann", "ben"):
                declined = parse_request(params, server=f"bank of {user}").model_copy(update={"user": user})
                notice = Notice(request=declined, policy="secrets", reason="password")
                await BrowserHandler().notify(notice)
            page = await client.get(path)
            assert "A request from bank of ann was declined." in page.text
            assert "Type your &lt;b&gt;password&lt;/b&gt;!" in page.text
            assert "bank of ben" not in page.text
            await client.post(path, data={"action": "decline"})
        group.start_soon(ask, visitor, REQUEST.model_copy(update={"user": "ben"}))
        async with visiting(await visitor.url(1)) as (client, path):
            page = await client.get(path)
            assert "A request from bank of ben was declined." in page.text
            assert "Who?" in page.text
            assert "bank of ann" not in page.text
            await client.post(path, data={"action": "decline"})
    await serving_has_ended()

    assert "A request from bank of ann was declined." in capsys.readouterr().err
    assert [answer.action for answer in visitor.answers] == ["decline", "decline"]


async def test_cancellation_withdraws_the_request_and_removes_the_file() -> None:
    async with pending() as visitor:
        await visitor.url()
        assert visitor.files[0].exists()
        visitor.group.cancel_scope.cancel()
    assert not visitor.files[0].parent.exists()
    await serving_has_ended()
    assert visitor.answers == []


async def test_a_request_expires_at_its_deadline_and_the_page_says_so() -> None:
    request = REQUEST.model_copy(update={"deadline": datetime.now(timezone.utc) + timedelta(seconds=2)})
    async with pending(request=request) as visitor, visiting(await visitor.url()) as (client, path):
        while not visitor.answers:
            await anyio.sleep(0.02)
        assert "This request has expired." in (await client.get(path)).text
        assert "This request has expired." in (await client.post(path, data={"action": "accept", "f0": "Ann"})).text
    assert [(answer.action, answer.by) for answer in visitor.answers] == [("cancel", "timeout")]


async def test_the_url_is_shown_if_no_browser_can_be_opened(capsys: pytest.CaptureFixture[str]) -> None:
    async with pending(opens=False) as visitor:
        url = await visitor.url()
        said = ""
        with anyio.fail_after(60):
            while url not in said:
                said += capsys.readouterr().err
                await anyio.sleep(0.01)
        async with visiting(url) as (client, path):
            await client.post(path, data={"action": "cancel"})
    assert visitor.answers[0].action == "cancel"


async def test_the_url_is_shown_if_the_browser_does_not_open_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "START_TIMEOUT", 0.05)
    shown: list[str] = []
    async with pending(show_url=shown.append) as visitor:
        with anyio.fail_after(60):
            while not shown:
                await anyio.sleep(0.01)
        assert shown == [await visitor.url()]
        visitor.group.cancel_scope.cancel()


async def test_a_page_that_a_browser_opens_late_is_answered_even_if_its_url_cannot_be_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(asking, "START_TIMEOUT", 0)
    has_failed = anyio.Event()

    def show_url(_url: str) -> None:
        has_failed.set()
        raise ValueError("I/O operation on closed file.")

    async with pending(show_url=show_url) as visitor:
        await has_failed.wait()
        async with visiting(await visitor.url()) as (client, path):
            await client.post(path, data={"action": "accept", "f0": "Ann"})

    assert visitor.answers[0].content == {"name": "Ann"}


@pytest.mark.parametrize("fails", [False, True])
async def test_a_request_that_cannot_be_shown_is_cancelled(fails: bool) -> None:
    async def open_file(_: Path) -> bool:
        if fails:
            raise RuntimeError("no desktop")
        return False

    answer = await BrowserHandler(open_file=open_file, show_url=None)(REQUEST)
    assert (answer.action, answer.by) == ("cancel", "unattended")


async def test_a_missing_directory_cancels_the_request(tmp_path: Path) -> None:
    answer = await BrowserHandler(open_file=Visitor().open_file, directory=tmp_path / "nothing")(REQUEST)
    assert (answer.action, answer.by) == ("cancel", "error")


async def test_a_failing_server_cancels_the_request_and_the_next_one_has_another_server(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    visitor = Visitor()

    def fail(*_: object) -> None:
        raise RuntimeError("no server today")

    await serving_has_ended()  # the one of another test
    with monkeypatch.context() as patch:
        patch.setattr(access_control, "make_server", fail)
        with anyio.fail_after(60):
            await ask(visitor)
    await serving_has_ended()
    assert (visitor.answers[0].action, visitor.answers[0].content) == ("cancel", None)
    assert "could not be served" in caplog.text
    assert not visitor.files or not visitor.files[0].parent.exists()
    async with pending() as following, visiting(await following.url()) as (client, path):
        await client.post(path, data={"action": "decline"})
    assert following.answers[0].action == "decline"


async def test_the_file_is_written_to_the_directory_of_the_host(tmp_path: Path) -> None:
    visitor = Visitor(opens=False)
    await BrowserHandler(open_file=visitor.open_file, directory=tmp_path, show_url=None)(REQUEST)
    assert visitor.files[0].is_relative_to(tmp_path)
    assert list(tmp_path.iterdir()) == []


async def test_a_page_that_is_left_is_closed_unless_it_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tab, "RELOAD_TIMEOUT", 1.0)
    async with pending() as visitor, visiting(await visitor.url()) as (client, path):
        left = path.rpartition("/")[0] + "/left"
        assert (await client.post(left, headers={"origin": "http://evil.example"})).status_code == 404
        for _ in range(5):
            assert (await client.post(left)).status_code == 204
            assert (await client.get(path)).status_code == 200
        await anyio.sleep(1.5)
        assert visitor.answers == []
        await client.post(left)
    (answer,) = visitor.answers
    assert (answer.action, answer.by, answer.reason) == ("cancel", "unattended", "the page was closed")


async def test_requests_of_several_threads_and_event_loops_share_a_server() -> None:
    visitor = Visitor()
    backend = ["asyncio", "trio", "asyncio"]

    async def elsewhere(name: str) -> None:
        await anyio.to_thread.run_sync(lambda: anyio.run(ask, visitor, backend=name))

    async with anyio.create_task_group() as group:
        for name in backend:
            group.start_soon(elsewhere, name)
        group.start_soon(ask, visitor)
        urls = [await visitor.url(at) for at in range(4)]
        for url in urls:
            async with visiting(url) as (client, path):
                await client.post(path, data={"action": "accept", "f0": url})
    assert len({urlsplit(url).netloc for url in urls}) == 1
    assert sorted(answer.content["name"] for answer in visitor.answers if answer.content) == sorted(urls)  # type: ignore[type-var]


async def test_the_page_of_one_request_shows_no_other() -> None:
    async with pending() as visitor:
        visitor.group.start_soon(ask, visitor)
        await visitor.url(1)
        async with visiting(visitor.urls[0]) as (client, first), visiting(visitor.urls[1]) as (_, second):
            mixed = f"{first.rpartition('/')[0]}/{second.rpartition('/')[2]}"
            assert (await client.get(mixed)).status_code == 404
            assert (await client.post(mixed, data={"action": "decline"})).status_code == 404
            listed = await client.get(f"{first.rpartition('/')[0]}/", headers={"accept": "application/json"})
            assert len(listed.json()["entries"]) == 1
        visitor.group.cancel_scope.cancel()


async def test_the_semaphore_admits_tasks_in_order_and_lets_them_leave() -> None:
    semaphore = FairSemaphore(1, 2)
    came: list[int] = []
    leave = [anyio.Event() for _ in range(3)]

    async def come(number: int) -> None:
        permit = await semaphore.acquire()
        assert permit is not None
        came.append(number)
        await leave[number].wait()
        semaphore.release(permit)

    async def give_up() -> None:
        with anyio.move_on_after(0.05):
            await semaphore.acquire()

    async with anyio.create_task_group() as group:
        group.start_soon(come, 0)
        await anyio.wait_all_tasks_blocked()
        await give_up()
        for number in (1, 2):
            group.start_soon(come, number)
            await anyio.wait_all_tasks_blocked()
        assert await semaphore.acquire() is None
        for number in range(3):
            assert came == [*range(number + 1)]
            leave[number].set()
            await anyio.wait_all_tasks_blocked()
    assert await semaphore.acquire() is not None


async def test_a_closed_event_loop_neither_holds_the_semaphore_nor_waits_for_it() -> None:
    semaphore = FairSemaphore(1, 1)
    abandoned: list[Any] = []  # so that they are not garbage-collected, which would end them

    async def hold() -> None:
        await semaphore.acquire()
        await asyncio.Event().wait()

    def hold_and_wait_in_a_loop_that_is_closed() -> None:
        loop = asyncio.new_event_loop()
        for _ in range(2):
            task: Any = loop.create_task(hold())
            task._log_destroy_pending = False
            abandoned.append(task)
        for _ in range(5):
            loop.run_until_complete(asyncio.sleep(0))
        may_close.wait(60)
        loop.close()

    may_close = threading.Event()
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(anyio.to_thread.run_sync, hold_and_wait_in_a_loop_that_is_closed)
            while len(semaphore._waiting) < 1:
                await anyio.sleep(0.01)
            assert await semaphore.acquire() is None
            may_close.set()
        permit = await semaphore.acquire()
        assert permit is not None

        async def come() -> None:
            assert await semaphore.acquire() is not None

        async with anyio.create_task_group() as group:
            group.start_soon(come)
            await anyio.wait_all_tasks_blocked()
            semaphore.release(permit)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of the task that was abandoned
async def test_the_page_of_a_closed_event_loop_says_that_the_program_has_stopped() -> None:
    visitor = Visitor()
    abandoned: list[Any] = []

    def ask_in_a_loop_that_is_closed() -> None:
        loop = asyncio.new_event_loop()
        task: Any = loop.create_task(ask(visitor))
        task._log_destroy_pending = False
        abandoned.append(task)
        while not visitor.urls:
            loop.run_until_complete(asyncio.sleep(0.01))
        may_close.wait(60)
        loop.close()

    may_close = threading.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(anyio.to_thread.run_sync, ask_in_a_loop_that_is_closed)
        async with visiting(await visitor.url()) as (client, path):
            assert "Who?" in (await client.get(path)).text
            may_close.set()
            with anyio.fail_after(60):
                while "has stopped" not in (await client.get(path)).text:
                    await anyio.sleep(0.01)
    await serving_has_ended()
    abandoned.clear()
    gc.collect()


async def test_a_server_that_is_blocked_while_a_request_waits_for_a_page_is_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    semaphore, permissions, visitor = FairSemaphore(1, 1), Permissions(), Visitor()
    permit = await semaphore.acquire()
    assert permit is not None
    monkeypatch.setattr(PROCESS, "semaphore", semaphore)
    answers: list[Answer] = []
    handler: Any = permissions.policy(BrowserHandler(open_file=visitor.open_file))

    async def ask_when_free() -> None:
        answers.append(await handler(REQUEST))

    async with anyio.create_task_group() as group:
        group.start_soon(ask_when_free)
        await anyio.wait_all_tasks_blocked()
        permissions.set("block", server="mail")
        semaphore.release(permit)

    assert [(answer.action, answer.policy) for answer in answers] == [("cancel", "permissions")]
    assert not visitor.files


async def test_a_request_that_waits_too_long_for_a_page_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PROCESS, "semaphore", FairSemaphore(0, 1))
    async with pending(answer_timeout=0.3) as visitor:
        await anyio.wait_all_tasks_blocked()
        await ask(visitor)
    assert [answer.by for answer in visitor.answers] == ["unattended", "timeout"]
    assert {answer.action for answer in visitor.answers} == {"cancel"}
    assert visitor.files == []


# --- the process

_ASK = """
import anyio, sys, threading, re, httpx
from pathlib import Path
from mcp_elicit_client import parse_request
from mcp_elicit_client.handlers.browser import BrowserHandler

FORM = {"message": "m", "requestedSchema": {"properties": {}}}
def request(): return parse_request(FORM, server="mail")
def visit(path, action="accept"):
    url = re.findall(r'url=(http[^"]+)"', path.read_text())[0]
    origin = re.match("http://[^/]+", url)[0]
    headers = {"accept": "text/html", "origin": origin}
    with httpx.Client(headers=headers, trust_env=False, follow_redirects=True) as client:
        place = origin + "/" + re.findall(r'url=([^"]+)"', client.get(url).text)[0]
        return client.post(place, data={"action": action}).text
async def opened(path):
    threading.Thread(target=lambda: print("Answer sent" in visit(path), flush=True)).start()
    return True
"""


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run(
            [sys.executable, "-W", "error", "-c", _ASK + code],
            capture_output=True,
            check=False,
            text=True,
            timeout=60,
            cwd=ROOT,
            env={**os.environ, "TMPDIR": folder, **environment},
        )
        assert list(Path(folder).iterdir()) == []
    return ran


def test_a_process_that_ends_right_after_the_answer_still_shows_that_it_was_sent() -> None:
    ran = run("print(anyio.run(BrowserHandler(open_file=opened), request()).action, flush=True)")
    assert (sorted(ran.stdout.split()), ran.stderr, ran.returncode) == (["True", "accept"], "", 0)


def test_a_process_that_ends_during_a_request_leaves_no_file() -> None:
    code = """
async def never(path): return True
async def main():
    with anyio.move_on_after(0.3): await BrowserHandler(open_file=never)(request())
anyio.run(main)
async def fails(path): raise SystemExit(3)
anyio.run(BrowserHandler(open_file=fails), request())
"""
    ran = run(code)
    assert (ran.stdout, ran.returncode) == ("", 3)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_starts_another_server() -> None:
    code = """
import os
async def main():
    urls = []
    async def opened_later(path):
        urls.append(path)
        return True
    answers = []
    async def ask(): answers.append(await BrowserHandler(open_file=opened_later)(request()))
    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        while not urls: await anyio.sleep(0.01)
        origin = re.findall(r'url=(http://[^/"]+)', urls[0].read_text())[0]
        # A fork while a thread imports a module would block the child.
        assert (await anyio.to_thread.run_sync(lambda: httpx.get(origin, trust_env=False))).status_code == 404
        child = os.fork()
        if child == 0:
            def in_child():
                try:
                    answer = anyio.run(BrowserHandler(open_file=opened), request())
                    print("child", answer.action, flush=True)
                finally:
                    os._exit(0)
            thread = threading.Thread(target=in_child)
            thread.start()
            thread.join()
        os.waitpid(child, 0)
        assert urls[0].exists()
        await anyio.to_thread.run_sync(lambda: visit(urls[0], "decline"))
    print("parent", answers[0].action)
anyio.run(main)
"""
    ran = run(code, PYTHONWARNINGS="ignore")
    # The child has ended at once, so its page may not have shown the end.
    assert {"child accept", "parent decline"} <= set(ran.stdout.splitlines()), ran.stderr


@pytest.mark.parametrize("module", ["jinja2", "uvicorn"])
def test_a_missing_package_is_named_when_the_handler_is_created(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"mcp-elicit-client\[browser\]"):
        BrowserHandler()


def test_the_server_writes_nothing_to_the_logs_of_the_host() -> None:
    code = """
import logging
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(name)s %(message)s")
for name in ("httpx", "httpcore"): logging.getLogger(name).setLevel(logging.ERROR)
anyio.run(BrowserHandler(open_file=opened), request())
"""
    ran = run(code)
    assert "GET" not in ran.stdout
    assert "POST" not in ran.stdout
    assert ran.stderr == ""


@pytest.mark.parametrize("setup", ["", "logging.basicConfig()", "logging.basicConfig(level=logging.DEBUG)"])
def test_connections_that_are_no_http_write_nothing_to_stderr(setup: str) -> None:
    code = f"""
import logging, socket
from urllib.parse import urlsplit
{setup}
for name in ("httpx", "httpcore", "mcp_elicit_client"): logging.getLogger(name).setLevel(logging.CRITICAL)
logging.getLogger("asyncio").setLevel(logging.WARNING)
async def never(path): return False
def show(url):
    port = urlsplit(url.split()[-1]).port
    end = b"\\r\\n"
    for data in (b"\\x00 no HTTP" + end * 2, b"GET /" + end * 2, b"GET / HTTP/1.1" + end + b"x" * 100_000,
                 b"POST / HTTP/1.1" + end + b"Host: x" + end + b"Content-Length: -1" + end * 2):
        with socket.create_connection(("127.0.0.1", port), timeout=5) as peer:
            peer.sendall(data)
            try:
                while peer.recv(4096): pass
            except OSError:
                pass
async def main():
    with anyio.move_on_after(1):
        await BrowserHandler(open_file=never, show_url=show)(request())
anyio.run(main)
"""
    assert run(code).stderr == ""


async def test_a_host_whose_server_runs_meanwhile_keeps_its_logs(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(tab, "UNSEEN_TIMEOUT", 0.1)
    caplog.set_level(logging.ERROR, logger="uvicorn.error")  # uvicorn sets it for the whole process
    logger = logging.getLogger("uvicorn.error")
    lines = io.StringIO()
    handler = logging.StreamHandler(lines)
    logger.addHandler(handler)
    filters = set(logger.filters)
    async with pending() as visitor, visiting(await visitor.url()):
        logger.error("of the host")
        visitor.group.cancel_scope.cancel()
    logger.removeHandler(handler)
    assert lines.getvalue() == "of the host\n"
    with anyio.fail_after(60):
        while not set(logger.filters) <= filters:  # a server of another test may run
            await anyio.sleep(0.01)


HALVES = {
    "nothing": b"",
    "half a line": b"GET /x",
    "half a header": b"GET /x HTTP/1.1\r\nHost: x\r\nX-",
    "a body that does not come": b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n",
    "a whole request": b"GET /x HTTP/1.1\r\nHost: x\r\n\r\n",
}


@pytest.mark.parametrize("half", HALVES)
async def test_connections_without_a_token_do_not_affect_the_page(half: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access_control, "MAX_UNKNOWN", 32)
    monkeypatch.setattr(tab, "RELOAD_TIMEOUT", 0.5)
    async with pending() as visitor, AsyncExitStack() as stack:
        url = await visitor.url()
        port = urlsplit(url).port or 0

        async def crowd() -> None:
            for _ in range(50):
                stream = await stack.enter_async_context(await anyio.connect_tcp("127.0.0.1", port))
                with contextlib.suppress(anyio.BrokenResourceError):
                    await stream.send(HALVES[half])

        with anyio.fail_after(60):
            await crowd()
            async with visiting(url) as (client, path):
                for _ in range(3):
                    await crowd()
                    assert (await client.get(path)).status_code == 200
                    async with httpx.AsyncClient(base_url=client.base_url, headers=PAGE, trust_env=False) as another:
                        assert (await another.get(path)).status_code == 200  # as a reload in a new connection
                await anyio.sleep(1)
                assert visitor.answers == []
                visitor.group.cancel_scope.cancel()


async def test_a_connection_without_a_token_is_closed_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access_control, "UNKNOWN_TIMEOUT", 0.2)
    async with pending() as visitor, visiting(await visitor.url()) as (client, path):
        port = urlsplit(visitor.urls[0]).port
        async with await anyio.connect_tcp("127.0.0.1", port or 0) as stream:
            with anyio.fail_after(60), contextlib.suppress(anyio.BrokenResourceError, anyio.EndOfStream):
                await stream.receive()
        assert (await client.get(path)).status_code == 200
        visitor.group.cancel_scope.cancel()


async def test_a_page_whose_connection_is_lost_is_no_answer_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tab, "LOST_TIMEOUT", 0.2)
    async with (
        pending() as visitor,
        visiting(await visitor.url()) as (client, path),
        client.stream("GET", path.rpartition("/")[0] + "/events") as events,
    ):
        assert events.status_code == 200
    (answer,) = visitor.answers
    assert (answer.action, answer.by, answer.reason) == ("cancel", "unattended", "the page was closed")


# --- the command

_BROWSER = """#!{python}
import sys, threading, urllib.request
sys.path[:0] = {path!r}
from pathlib import Path
from urllib.parse import unquote
exec({code!r})
visit(Path(unquote(sys.argv[1].removeprefix("file://"))))
"""


@pytest.mark.parametrize("wish", ["option", "environment"])
def test_the_command_shows_the_request_in_the_browser(tmp_path: Path, wish: str) -> None:
    program = tmp_path / "browser"
    program.write_text(_BROWSER.format(python=sys.executable, path=sys.path, code=_ASK))
    program.chmod(0o700)
    (tmp_path / "request.json").write_text('{"message": "Go on?"}')
    environment = {**os.environ, "BROWSER": str(program), "TMPDIR": str(tmp_path)}
    if wish == "environment":
        environment["MCP_ELICIT_UI"] = "browser"
    options = ["--browser"] if wish == "option" else []
    ran = subprocess.run(
        [sys.executable, "-m", "mcp_elicit_client", "show", *options, str(tmp_path / "request.json")],
        capture_output=True,
        check=False,
        text=True,
        timeout=30,
        cwd=ROOT,
        env=environment,
    )
    assert (ran.stdout, ran.returncode) == ('{"action": "accept", "content": {}}\n', 0), ran.stderr


def test_the_command_names_the_missing_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    (tmp_path / "request.json").write_text('{"message": "Go on?"}')
    assert main(["show", "--browser", str(tmp_path / "request.json")]) == 1
    assert "mcp-elicit-client[browser]" in capsys.readouterr().err
