"""The browser is started with one argument and without a shell, wherever that is."""

from __future__ import annotations

import contextlib
import http.server
import os
import shutil
import signal
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mcp_elicit_client import Server, UnsafeUrlError, UrlRules, inspect_url
from mcp_elicit_client.dispatch import Dispatcher
from mcp_elicit_client.handlers.terminal import TerminalHandler
from mcp_elicit_client.presentation import opener
from mcp_elicit_client.presentation.qr import qr_code
from tests.support import skip_or_fail, table
from tests.support.console import ScriptedConsole

pytestmark = pytest.mark.anyio

URL = "https://example.com/$(touch%20x)?a=b&c=d;e='f'#g"


class Place:
    """A computer with the browsers that a test puts there, each noting its arguments."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.patch = patch
        for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION", "SSH_TTY"):
            patch.delenv(name, raising=False)
        patch.setenv("PATH", str(folder))
        patch.setattr(sys, "platform", "linux")

    def put(self, name: str, status: int = 0) -> Path:
        program = self.folder / name
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$#" "$@" >> {self.folder}/seen\nexit {status}\n')
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return program

    def set(self, **environment: str) -> None:
        for name, value in environment.items():
            self.patch.setenv(name, value)

    @property
    def seen(self) -> list[str]:
        seen = self.folder / "seen"
        return seen.read_text().splitlines() if seen.exists() else []


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    return Place(tmp_path, monkeypatch)


def browser_variable(place: Place) -> list[str]:
    place.set(BROWSER=str(place.put("browser")))
    return []


def browser_with_options(place: Place) -> list[str]:
    place.set(BROWSER=f"{place.put('browser')} --new-window %s --quiet")
    return ["--new-window", "--quiet"]


def second_browser(place: Place) -> list[str]:
    place.set(BROWSER=f"missing{os.pathsep}{place.put('browser')}")
    return []


def desktop(place: Place) -> list[str]:
    place.put("xdg-open")
    place.set(DISPLAY=":9")
    return []


def gnome(place: Place) -> list[str]:
    place.put("gio")
    place.set(WAYLAND_DISPLAY="wayland-0")
    return ["open"]


def windows_beside_linux(place: Place) -> list[str]:
    place.put("wslview")
    place.set(DISPLAY=":0")
    return []


def debian(place: Place) -> list[str]:
    place.put("sensible-browser")
    place.set(DISPLAY=":0")
    return []


def mac(place: Place) -> list[str]:
    place.patch.setattr(sys, "platform", "darwin")
    place.patch.setattr(opener, "_MAC_OPENER", str(place.put("open")))
    return []


def windows(place: Place) -> list[str]:
    def start_file(url: str) -> None:
        with (place.folder / "seen").open("a") as seen:
            seen.write(f"1\n{url}\n")

    place.patch.setattr(sys, "platform", "win32")
    place.patch.setattr(os, "startfile", start_file, raising=False)
    return []


def remote_editor(place: Place) -> list[str]:
    place.set(BROWSER=str(place.put("helper")), SSH_CONNECTION="a b c d")
    return []


WAYS = [
    *(browser_variable, browser_with_options, second_browser, desktop, gnome, windows_beside_linux, debian, mac),
    *(windows, remote_editor),
]


@pytest.mark.parametrize("way", WAYS)
async def test_the_url_is_one_argument_of_one_program(way: Any, place: Place) -> None:
    options = way(place)
    target = inspect_url(URL)

    assert await opener.open_url(target)
    count, *arguments = place.seen
    assert int(count) == len(arguments) == len(options) + 1
    assert sorted(arguments) == sorted([*options, target.url])


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("way", WAYS)
async def test_each_accepted_url_is_opened_once_and_no_rejected_one(way: Any, place: Place) -> None:
    options = way(place)
    expected = []
    for row in table("urls"):
        params = {"mode": "url", "message": "m", "url": row["url"]}
        handler = TerminalHandler(console=ScriptedConsole(["open", "confirm"]))
        with contextlib.suppress(UnsafeUrlError):
            answer = await Dispatcher(handler).answer(params, server=Server(name="s"))
            assert answer.action == "accept"
        if row["expect"] != "refuse":
            expected.append(row.get("opens", row["url"]))

    assert [seen for seen in place.seen if "://" in seen] == expected
    assert [seen for seen in place.seen if "://" not in seen] == [str(len(options) + 1), *options] * len(expected)


async def test_the_next_program_is_tried_if_one_fails(place: Place) -> None:
    place.put("xdg-open", status=3)
    place.put("gio")
    place.set(DISPLAY=":9")

    assert await opener.open_url(inspect_url("https://example.com/"))
    assert place.seen == ["1", "https://example.com/", "2", "open", "https://example.com/"]


@pytest.mark.parametrize(
    "environment", [{}, {"DISPLAY": ":9", "SSH_CONNECTION": "a b c d"}, {"DISPLAY": ":9", "SSH_TTY": "/dev/pts/1"}]
)
async def test_no_browser_is_opened_where_the_user_cannot_see_it(environment: dict[str, str], place: Place) -> None:
    place.put("xdg-open")
    place.set(**environment)

    assert not await opener.open_url(inspect_url("https://example.com/"))
    assert place.seen == []


async def test_over_ssh_a_mac_opens_nothing(place: Place) -> None:
    mac(place)
    place.set(SSH_CONNECTION="a b c d")

    assert not await opener.open_url(inspect_url("https://example.com/"))
    assert place.seen == []


REFUSED = [
    "sh -c 'x %s'",
    "bash",
    "/bin/sh",
    "missing",
    "$(x)",
    "env",
    "",
    "a;b",
    "browser '",
    "browser --url=%s",
    "browser %s %s",
    "browser %action",
    "python3 -c %s",
    "linked",
    "xargs browser",
]


@pytest.mark.parametrize("template", REFUSED)
def test_programs_that_pass_urls_to_a_shell_are_skipped(template: str, place: Place) -> None:
    place.put("browser")
    for name in ("bash", "env", "python3", "xargs"):
        place.put(name)
    (place.folder / "sh").symlink_to("/bin/sh")
    (place.folder / "linked").symlink_to("/bin/sh")
    place.set(BROWSER=template)

    assert list(opener.commands("https://example.com/")) == []


RUNNING = [
    *("nohup sh -c", "nohup sh -c %s", "setsid sh -c", "timeout 9 sh -c", "nice -n 5 bash -c %s", "stdbuf -o0 sh -c"),
    *("env A=b sh -c %s", "busybox sh -c", "xterm -e %s", "xterm -e sh -c", "script -qc %s /dev/null", "watch %s"),
    *(
        "tmux new-window %s",
        "screen sh -c",
        "find . -exec sh -c %s",
        "browser -c %s",
        "browser -lc %s",
        "unknown sh -c",
    ),
    *("browser --eval %s", "browser --command=sh %s", "unknown /bin/sh %s", "unknown browser", "unknown --run=browser"),
    *(
        "perl -e %s",
        "ruby -e",
        "node -e",
        "php -r",
        "python3.11 -c",
        "awk %s",
        "make --eval %s",
        "git %s",
        "cmd /c start",
    ),
    *(
        "sudo -u ann sh -c",
        "nohup",
        "nohup browser",
        "setsid browser %s",
        "unknown bash3 -c",
        "gio sh",
        "flock x -c %s",
    ),
    # Programs that fetch and run what a URL leads to, and other names of programs that run others.
    *(
        "npx",
        "uvx %s",
        "pipx run",
        "uv run %s",
        "nix run %s",
        "systemd-inhibit browser",
        "sh.distrib -c",
        "ld-linux-x86-64.so.2",
    ),
]


@pytest.mark.parametrize("desktop", [False, True])
@pytest.mark.parametrize("template", RUNNING)
async def test_a_program_that_runs_another_program_is_not_used(template: str, desktop: bool, place: Place) -> None:
    for word in {"browser", "unknown", "sh", "bash", *template.split()[:1]}:
        place.put(word)
    expected = []
    if desktop:
        place.put("xdg-open")
        place.set(DISPLAY=":9")
        expected = ["1", "https://example.com/"]
    place.set(BROWSER=template)

    assert await opener.open_url(inspect_url("https://example.com/")) == desktop
    assert place.seen == expected


@pytest.mark.parametrize("template", ["nohup sh -c", "sh -c %s", "xterm -e"])
async def test_no_shell_runs_a_url_of_the_users_browser_variable(
    template: str, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.defpath + os.pathsep + str(place.folder))
    monkeypatch.chdir(place.folder)
    opened = place.folder / "xdg-open"
    opened.write_text('#!/bin/sh\n[ -n "$BROWSER" ] && exec $BROWSER "$1"\nexit 0\n')
    opened.chmod(0o755)
    monkeypatch.setenv("PATH", f"{place.folder}{os.pathsep}{os.defpath}")
    place.set(BROWSER=template, DISPLAY=":9")

    assert await opener.open_url(inspect_url(f"https://shop.example/a?x=1;touch$IFS{place.folder}/made"))
    assert not (place.folder / "made").exists()


@pytest.mark.parametrize(
    "template", ["gio open", "flatpak run org.mozilla.firefox", "firefox -P work --new-tab %s", "chromium --incognito"]
)
def test_browsers_with_ordinary_options_are_used(template: str, place: Place) -> None:
    for name in ("gio", "open", "flatpak", "firefox", "chromium"):
        place.put(name)
    place.set(BROWSER=template)

    program, *options = template.replace(" %s", "").split()
    assert list(opener.commands(URL)) == [[str(place.folder / program), *options, URL]]


async def test_a_program_that_cannot_be_started_opens_nothing(place: Place) -> None:
    broken = place.folder / "broken"
    broken.write_text("#!/does/not/exist\n")
    broken.chmod(0o755)
    place.set(BROWSER=str(broken))

    assert not await opener.open_url(inspect_url("https://example.com/"))


async def test_windows_without_a_browser_opens_nothing(place: Place) -> None:
    def fail(_url: str) -> None:
        raise OSError

    place.patch.setattr(sys, "platform", "win32")
    place.patch.setattr(os, "startfile", fail, raising=False)

    assert not await opener.open_url(inspect_url("https://example.com/"))


async def test_a_browser_in_the_foreground_counts_as_opened(place: Place) -> None:
    browser = place.folder / "browser"
    browser.write_text(f"#!/bin/sh\necho $$ > {place.folder}/pid\nexec /bin/cat /dev/zero > /dev/null\n")
    browser.chmod(0o755)
    place.set(BROWSER=str(browser))
    place.patch.setattr(opener, "_FAILURE_TIMEOUT", 0.5)

    assert await opener.open_url(inspect_url("https://example.com/"))
    os.kill(int((place.folder / "pid").read_text()), signal.SIGKILL)


@contextmanager
def page() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """A page on this machine; it notes who asks for what."""
    visits: list[tuple[str, str]] = []
    arrived = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            visits.append((self.path, self.headers["User-Agent"]))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<title>here</title>")
            if self.path != "/favicon.ico":
                arrived.set()

        def log_message(self, *_: object) -> None: ...

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", visits
            assert arrived.wait(60), "no browser came"
        finally:
            server.shutdown()


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_chromium_opens_the_page_that_was_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        skip_or_fail("chromium is not installed; see .ci/run")
    options = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-sync"
    monkeypatch.setenv("BROWSER", f"{chromium} {options} --user-data-dir={tmp_path / 'profile'} --dump-dom %s")
    with page() as (origin, visits):
        target = inspect_url(f"{origin}/visit?state=a%20b&x=$(id)", UrlRules(allow_loopback=True))
        assert await opener.open_url(target)

    path, agent = next(visit for visit in visits if visit[0] != "/favicon.ico")
    assert path == "/visit?state=a%20b&x=$(id)"
    assert "Chrome/" in agent


def test_a_qr_code_is_dark_on_light_and_fits() -> None:
    code = qr_code("https://example.com/", 80)

    assert code is not None
    lines = code.split("\n")
    assert {len(line) for line in lines} == {max(map(len, lines))}
    assert len(lines[0]) <= 80
    assert set(code) <= set("\u2580\u2584\u2588\xa0 \n")
    assert qr_code("https://example.com/", 20) is None
    assert qr_code("https://example.com/" + "a" * 5_000, 500) is None
