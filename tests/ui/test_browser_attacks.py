"""Attacks on `BrowserHandler` by other pages, users and programs."""

from __future__ import annotations

import contextlib
import http.client
import http.server
import os
import re
import shutil
import socket
import socketserver
import stat
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from mcp_elicit_client import parse_request
from mcp_elicit_client.handlers.browser import BrowserHandler
from mcp_elicit_client.handlers.browser.local_server import PROCESS
from mcp_elicit_client.handlers.browser.tab import BrowserTab
from mcp_elicit_client.inbox.web.security_middleware import MAX_BODY_BYTES
from mcp_elicit_client.presentation.opener import open_file
from tests.support import form_params, skip_or_fail
from tests.support.chromium import IN_A_BROWSER, chromium
from tests.ui.test_browser import NAME, Question, asking, sitting

pytestmark = IN_A_BROWSER

EVIL = '<script>document.title="owned"</script><img src=x onerror="document.title=\'owned\'">'


def page_of(path: Path) -> BrowserTab:
    """Return the page of a file with its secrets, which these attackers know."""
    assert PROCESS._serving is not None
    token = re.search(r'/([\w-]{43})"', path.read_text())
    assert token is not None
    return next(page for page in PROCESS._serving._pages if page.token == token[1])


class Attacker(http.server.BaseHTTPRequestHandler):
    """Serves one page and records the headers of requests."""

    page = ""
    seen: list[dict[str, str]]

    def do_GET(self) -> None:
        type(self).seen.append(dict(self.headers))
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(self.page.encode())

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def attacker(page: str) -> Iterator[tuple[int, list[dict[str, str]]]]:
    """Provide the port of a web server with a page of the attacker, and the headers of its requests."""
    seen: list[dict[str, str]] = []
    handler = type("Here", (Attacker,), {"page": page, "seen": seen})
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_address[1], seen
        finally:
            server.shutdown()


@asynccontextmanager
async def opened(params: Any = NAME, **context: Any) -> AsyncIterator[tuple[Any, Any, Question]]:
    """Provide the context of a browser, a page in it, and the request that the page shows."""
    async with sitting(**context) as desk, asking(desk, params) as question:
        yield desk.context, await desk.page(), question


async def still_waits_and_can_be_answered(page: Any, question: Question) -> None:
    """Check that the form still works."""
    await page.bring_to_front()
    await page.fill("#f0", "Ann")
    await page.click("text=Review")
    await page.wait_for_selector("dl.answers")
    await page.wait_for_selector("body[data-awake]")
    await page.click("text=Send")
    answer = await question.over()
    assert (answer.action, answer.content) == ("accept", {"name": "Ann"})


async def request(
    page: Any,
    method: str,
    path: str,
    headers: Any = (),
    body: str = "",
    version: str = "1.1",
    length: int | None = None,
) -> bytes:
    """Send raw bytes to the server of *page*, and return its response; *length* is what the headers announce."""
    place = urlsplit(page.url if isinstance(page.url, str) else page.url())
    lines = [f"{method} {path} HTTP/{version}", *(f"{name}: {value}" for name, value in headers)]
    text = "\r\n".join(
        [*lines, f"Content-Length: {len(body) if length is None else length}", "Connection: close", "", body]
    )

    def send() -> bytes:
        with socket.create_connection((place.hostname or "", place.port or 0), timeout=10) as connection:
            connection.sendall(text.encode())
            said = b""
            while some := connection.recv(65_536):
                said += some
            return said

    return await anyio.to_thread.run_sync(send)


# --- other pages in the same browser


@pytest.mark.parametrize("site", ["http://127.0.0.1", "http://evil.test"])
async def test_a_form_of_another_origin_is_refused_even_if_it_knows_the_path(site: str) -> None:
    async with opened() as (context, page, question):
        form = (
            f'<form method="post" action="{page.url}"><input name="f0" value="Eve"><input name="action" value="accept">'
            "</form><script>document.forms[0].submit()</script>"
        )
        with attacker(form) as (port, _):
            other = await context.new_page()
            async with other.expect_navigation(url=re.compile(re.escape(page.url))) as arriving:
                await other.goto(f"{site}:{port}/")
            assert (await (await arriving.value).text()) == "Not found"
        await still_waits_and_can_be_answered(page, question)


@pytest.mark.parametrize("site", ["http://127.0.0.1", "http://evil.test"])
async def test_scripts_of_another_origin_read_and_send_nothing_even_if_they_know_the_path(site: str) -> None:
    async with opened() as (context, page, question):
        with attacker("<title>e</title>") as (port, _):
            other = await context.new_page()
            await other.goto(f"{site}:{port}/")
            for how in (
                "{}",
                "{mode: 'no-cors'}",
                (
                    "{method: 'POST', body: 'action=accept&f0=Eve', mode: 'no-cors', "
                    "headers: {'Content-Type': 'application/x-www-form-urlencoded'}}"
                ),
                '{method: \'POST\', body: \'{"action": "accept", "content": {"name": "Eve"}}\', mode: \'no-cors\'}',
            ):
                script = f"fetch('{page.url}', {how}).then((reply) => reply.text(), () => '')"
                assert await other.evaluate(script) == ""
            assert await other.evaluate(f"navigator.sendBeacon('{page.url.rpartition('/')[0]}/left') && ''") == ""
            opened_by_it = await other.evaluate_handle(f"window.open('{page.url}')")
            assert not await opened_by_it.evaluate("(there) => { try { return there.document.title } catch { } }")
        await still_waits_and_can_be_answered(page, question)


async def test_a_rebound_domain_name_finds_nothing() -> None:
    async with opened() as (context, page, question):
        other = await context.new_page()
        for name in ("evil.test", "localhost"):
            reply = await other.goto(page.url.replace("127.0.0.1", name))
            assert (reply.status, await reply.text()) == (404, "Not found")
            sent = await other.evaluate(
                "(path) => fetch(path, {method: 'POST', body: new URLSearchParams('action=accept&f0=Eve')})"
                ".then((reply) => reply.status)",
                urlsplit(page.url).path,
            )
            assert sent == 404
        await still_waits_and_can_be_answered(page, question)


@pytest.mark.parametrize("tag", ["iframe", "embed", "object"])
@pytest.mark.parametrize("site", ["http://127.0.0.1", "http://evil.test"])
async def test_the_page_is_not_framed(site: str, tag: str) -> None:
    async with opened() as (context, page, question):
        with attacker(f'<{tag} src="{page.url}" data="{page.url}"></{tag}>') as (port, _):
            other = await context.new_page()
            await other.goto(f"{site}:{port}/")
            for frame in other.frames[1:]:
                with contextlib.suppress(Exception):
                    assert "Who?" not in await frame.content()
        await still_waits_and_can_be_answered(page, question)


@pytest.mark.parametrize("has_csp", [True, False])
async def test_server_text_is_never_executed(has_csp: bool) -> None:
    choices = [{"const": EVIL, "title": EVIL}, {"const": "b", "title": "b"}]
    properties = {
        "name": {"type": "string", "title": EVIL, "description": EVIL, "default": EVIL},
        "b": {"type": "string", "oneOf": choices},
    }
    params = form_params({"properties": properties, "required": ["name"]}, EVIL)
    # Escaping must suffice without the policy; the next test checks the policy without escaping.
    async with opened(params=params, bypass_csp=not has_csp) as (_, page, question):
        for button in ("Review", "Change", "Review"):
            assert await page.title() != "owned"
            await page.click(f"text={button}")
        await page.wait_for_selector("body[data-awake]")
        assert await page.title() != "owned"
        assert await page.locator("main img").count() == 0
        await page.click("text=Decline")
        assert (await question.over()).action == "decline"


async def test_unescaped_server_text_would_not_be_executed() -> None:
    async with opened() as (_, page, question):
        await page.evaluate("(evil) => document.body.insertAdjacentHTML('beforeend', evil)", EVIL)
        await page.evaluate(
            "() => { const script = document.createElement('script'); document.body.append(script);"
            " script.textContent = 'document.title = \"owned\"'; }"
        )
        assert await page.title() != "owned"
        await page.evaluate("document.querySelector('main').style; void 0")
        await still_waits_and_can_be_answered(page, question)


async def test_no_cookie_is_set_and_none_reaches_another_port() -> None:
    with attacker("<title>e</title>") as (port, seen):
        async with opened() as (context, page, question):
            other = await context.new_page()
            await other.goto(f"http://127.0.0.1:{port}/")
            assert await context.cookies() == []
            await still_waits_and_can_be_answered(page, question)
            await other.goto(f"http://127.0.0.1:{port}/")
            assert await context.cookies() == []

    assert seen
    assert not [headers for headers in seen if "Cookie" in headers]


async def test_cookies_of_another_port_do_not_keep_the_page_from_being_answered() -> None:
    cookies = "for (let i = 0; i < 180; i++) document.cookie = `c${i}=${'x'.repeat(4000)}; max-age=999`"
    with attacker(f"<script>{cookies}</script>") as (port, _):
        async with opened() as (context, page, question):
            other = await context.new_page()
            await other.goto(f"http://127.0.0.1:{port}/")
            assert await other.evaluate("document.cookie.length") > 600_000
            await still_waits_and_can_be_answered(page, question)


async def test_no_other_site_receives_the_path() -> None:
    with attacker("<title>e</title>") as (port, seen):
        url = {"mode": "url", "message": "Go", "url": f"http://127.0.0.1:{port}/x", "elicitationId": "e"}
        from mcp_elicit_client import UrlRules

        asked = parse_request(url, server="mail", url_rules=UrlRules(allow_loopback=True))
        async with opened(params=asked) as (context, page, question):
            path = urlsplit(page.url).path
            await page.wait_for_selector("body[data-awake]")
            await page.click("button[value=confirm]")
            await page.wait_for_selector("main[data-confirm]")
            await page.wait_for_selector("body[data-awake]")
            await page.click("button[value=accept]")
            async with context.expect_page() as coming:
                await page.click("a[target=_blank]")  # the page before has a link, too
            await (await coming.value).wait_for_load_state()
            assert (await question.over()).action == "accept"

    (headers,) = [each for each in seen if "document" in each.get("Sec-Fetch-Dest", "")]
    assert "Referer" not in headers
    assert path not in str(seen)


# --- other programs and users on the same computer


@pytest.fixture
def other_users() -> None:
    """Skip where no program can run as another user."""
    if os.geteuid() != 0:
        pytest.skip("only root can run programs as another user")
    if shutil.which("curl") is None:
        skip_or_fail("curl is not installed; see .ci/run")


def other_user(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a command as the user ``nobody``."""
    return subprocess.run(
        command, user=65_534, group=65_534, extra_groups=[], capture_output=True, text=True, check=False
    )


@pytest.mark.usefixtures("other_users")
async def test_another_user_finds_nothing_and_cannot_read_the_file() -> None:
    files: list[Path] = []

    async def look(path: Path) -> bool:
        files.append(path)
        return True

    question = Question()
    async with anyio.create_task_group() as group:
        group.start_soon(question.ask, BrowserHandler(open_file=look), NAME)
        with anyio.fail_after(60):
            while not files:
                await anyio.lowlevel.checkpoint()
        path, page = files[0], page_of(files[0])
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert page.token in path.read_text()
        assert other_user("cat", str(path)).returncode != 0
        assert other_user("ls", str(path.parent)).returncode != 0
        base = page.origin
        for where in (
            "/",
            "/history",
            "/events",
            "/static/inbox.css",
            "/openapi.json",
            f"/{'x' * 43}",
            f"/{'x' * 43}/",
        ):
            got = other_user("curl", "-sS", "-i", f"{base}{where}")
            sent = other_user(
                "curl", "-sS", "-i", "-H", f"Origin: {base}", "-d", "action=accept&f0=Eve", f"{base}{where}"
            )
            assert got.stdout.startswith("HTTP/1.1 404"), got
            assert sent.stdout.startswith("HTTP/1.1 404"), sent
        question.withdraw()
    assert not path.parent.exists()


async def test_the_token_is_in_no_list_of_processes_while_a_browser_opens_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "browser"
    log = tmp_path / "arguments"
    program.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" > {log}\n'
        f'exec {chromium()} --headless --no-sandbox --disable-gpu --user-data-dir={tmp_path}/profile "$@"\n'
    )
    program.chmod(0o700)
    monkeypatch.setenv("BROWSER", str(program))
    question = Question()
    looked = 0
    pages: list[BrowserTab] = []

    async def note_and_open(path: Path) -> bool:
        pages.append(page_of(path))
        return await open_file(path)

    async with anyio.create_task_group() as group:
        group.start_soon(question.ask, BrowserHandler(open_file=note_and_open, show_url=None), NAME)
        with anyio.fail_after(60):
            while not pages:
                await anyio.lowlevel.checkpoint()
            (page,) = pages
            is_shown = False
            while not is_shown:  # until its script has opened the event stream
                is_shown = page.is_entered and page._streams > 0
                lists = b"".join(_commands())
                looked += str(tmp_path).encode() in lists
                assert page.token.encode() not in lists
                assert page.key.encode() not in lists
                await anyio.sleep(0.01)
        (argument,) = log.read_text().splitlines()
        assert argument.startswith("file:///")
        assert page.token not in argument
        assert not Path(argument.removeprefix("file://")).exists()
        for process in _running(str(tmp_path)):
            os.kill(process, 9)
        # The end of the browser closes the page, which cancels the request.
        answer = await question.over()
        for process in _running(str(tmp_path)):
            os.kill(process, 9)

    assert looked
    assert (answer.action, answer.reason) == ("cancel", "the page was closed")


def _commands() -> Iterator[bytes]:
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            yield (process / "cmdline").read_bytes()
            yield (process / "environ").read_bytes()


def _running(mark: str) -> list[int]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark.encode() in (process / "cmdline").read_bytes():
                found.append(int(process.name))
    return found


# --- raw requests

HOSTS = {
    "none": [],
    "another name": [("Host", "evil.test")],
    "localhost": [("Host", "localhost:{port}")],
    "another port": [("Host", "127.0.0.1:1")],
    "no port": [("Host", "127.0.0.1")],
    "IPv6": [("Host", "[::1]:{port}")],
    "twice": [("Host", "127.0.0.1:{port}"), ("Host", "127.0.0.1:{port}")],
    "two that differ": [("Host", "127.0.0.1:{port}"), ("Host", "evil.test")],
    "a list": [("Host", "127.0.0.1:{port}, evil.test")],
    "forwarded": [("Host", "evil.test"), ("X-Forwarded-Host", "127.0.0.1:{port}")],
    "user": [("Host", "x@127.0.0.1:{port}")],
}


@pytest.mark.parametrize("hosts", HOSTS.values(), ids=HOSTS)
@pytest.mark.parametrize("version", ["1.0", "1.1"])
async def test_a_wrong_host_finds_nothing_even_if_it_knows_the_path(hosts: Any, version: str) -> None:
    async with waiting() as (page, path):
        port = urlsplit(page.origin).port
        headers = [(name, value.format(port=port)) for name, value in hosts]
        own = [("Origin", page.origin)]
        for said in (
            await request(page, "GET", path, headers, version=version),
            await request(page, "POST", path, [*headers, *own], "action=accept&f0=Eve", version),
            await request(page, "GET", f"/{page.token}", headers, version=version),
        ):
            assert said.split()[1] in (b"404", b"400")
            assert b"Who?" not in said
        assert not page.is_entered


POSTS: dict[str, list[tuple[str, str]]] = {
    "no origin": [],
    "null": [("Origin", "null")],
    "null, but from here": [("Origin", "null"), ("Sec-Fetch-Site", "same-origin")],
    "https": [("Origin", "https://{host}")],
    "localhost": [("Origin", "http://localhost:{port}")],
    "another port": [("Origin", "http://127.0.0.1:1"), ("Sec-Fetch-Site", "same-site")],
    "twice": [("Origin", "http://{host}"), ("Origin", "http://{host}")],
    "same site": [("Origin", "http://{host}"), ("Sec-Fetch-Site", "same-site")],
    "cross site": [("Origin", "http://{host}"), ("Sec-Fetch-Site", "cross-site")],
    "framed": [("Origin", "http://{host}"), ("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Dest", "iframe")],
    "JSON": [("Content-Type", "application/json")],
}


@pytest.mark.parametrize("headers", POSTS.values(), ids=POSTS)
async def test_requests_that_the_page_itself_did_not_send_are_refused(headers: Any) -> None:
    async with waiting() as (page, path):
        host = urlsplit(page.origin).netloc
        named = [(name, value.format(host=host, port=host.partition(":")[2])) for name, value in headers]
        kind = [] if dict(headers).get("Content-Type") else [("Content-Type", "application/x-www-form-urlencoded")]
        body = '{"action": "decline"}' if not kind else "action=decline"
        said = await request(page, "POST", path, [("Host", host), *kind, *named], body)
        assert said.startswith(b"HTTP/1.1 404")
        assert said.endswith(b"Not found")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "CONNECT"])
async def test_no_other_method_does_anything(method: str) -> None:
    async with waiting() as (page, path):
        host = urlsplit(page.origin).netloc
        assert b" 404 " in await request(page, method, path, [("Host", host), ("Origin", page.origin)])


async def test_a_long_body_is_refused() -> None:
    async with waiting() as (page, path):
        headers = [("Host", urlsplit(page.origin).netloc), ("Origin", page.origin)]
        said = await request(page, "POST", path, headers, length=MAX_BODY_BYTES + 1)
        assert said.startswith(b"HTTP/1.1 413")


async def test_the_token_opens_the_page_once_and_only_for_a_page() -> None:
    async with waiting() as (page, _):
        host = ("Host", urlsplit(page.origin).netloc)
        for headers in (
            [host, ("Sec-Purpose", "prefetch;prerender")],
            [host, ("Sec-Fetch-Dest", "image"), ("Sec-Fetch-Mode", "no-cors")],
            [host, ("Sec-Fetch-Dest", "iframe")],
            [host, ("Sec-Fetch-Mode", "cors")],
        ):
            assert b" 404 " in await request(page, "GET", f"/{page.token}", headers)
        assert b" 404 " in await request(page, "HEAD", f"/{page.token}", [host])
        assert b" 404 " in await request(page, "POST", f"/{page.token}", [host, ("Origin", page.origin)])
        assert not page.is_entered
        assert b" 200 " in await request(page, "GET", f"/{page.token}", [host, ("Sec-Fetch-Site", "cross-site")])
        assert page.is_entered
        assert b" 404 " in await request(page, "GET", f"/{page.token}", [host])


async def test_every_response_forbids_frames_caches_and_foreign_scripts() -> None:
    async with waiting() as (page, path):
        connection = http.client.HTTPConnection(urlsplit(page.origin).netloc)
        for where in (path, "/nothing", f"/{page.key}/static/inbox.js", f"/{page.token}"):
            await anyio.to_thread.run_sync(connection.request, "GET", where)
            reply = connection.getresponse()
            reply.read()
            assert reply.headers["X-Frame-Options"] == "DENY"
            assert "frame-ancestors 'none'" in reply.headers["Content-Security-Policy"]
            assert "unsafe" not in reply.headers["Content-Security-Policy"]
            assert reply.headers["Cache-Control"] == "no-store"
            assert reply.headers["Cross-Origin-Resource-Policy"] == "same-origin"
            assert reply.headers["Set-Cookie"] is None
            assert reply.headers["Server"] is None
        connection.close()


async def test_the_server_listens_on_no_other_address() -> None:
    async with waiting() as (page, _):
        port = urlsplit(page.origin).port
        table = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
        listening = [line.split()[1] for line in table.splitlines() if line.split()[3] == "0A"]
        assert [each for each in listening if int(each.rpartition(":")[2], 16) == port] == [f"0100007F:{port:04X}"]


@asynccontextmanager
async def waiting() -> AsyncIterator[tuple[BrowserTab, str]]:
    """Provide a pending request, its page and the path of the page; check that it is still pending at the end."""
    question = Question()
    pages: list[BrowserTab] = []

    async def open_nothing(path: Path) -> bool:
        pages.append(page_of(path))
        return True

    async with anyio.create_task_group() as group:
        group.start_soon(question.ask, BrowserHandler(open_file=open_nothing, show_url=None), NAME)
        with anyio.fail_after(60):
            while not pages:
                await anyio.lowlevel.checkpoint()
        (page,) = pages
        assert PROCESS._serving is not None
        entries = (await PROCESS._serving.inbox.list(page.owner)).entries
        path = f"/{page.key}/{entries[0].id}"
        yield page, path
        assert (await PROCESS._serving.inbox.get(page.owner, entries[0].id)).state == "pending"
        host = urlsplit(page.origin).netloc
        own = [("Host", host), ("Origin", page.origin), ("Content-Type", "application/x-www-form-urlencoded")]
        assert b" 303 " in await request(page, "POST", path, own, "action=decline")
        assert (await question.over()).action == "decline"
