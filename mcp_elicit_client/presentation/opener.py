"""
Open a page in the user's browser: one argument, never a shell.

Only what `inspect_url` let through comes here, or a file of our own, so the
argument begins with ``http`` or ``file`` and cannot be taken for an option or
another program.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import anyio

from mcp_elicit_client.core.url.inspect import TargetUrl

__all__ = ["open_url"]

_PATIENCE = 3.0
"""How long an opener may take to fail, in seconds; one that still runs is taken to work."""

_MAC_OPENER = "/usr/bin/open"
_UNIX_OPENERS = (("xdg-open",), ("gio", "open"), ("wslview",), ("sensible-browser",))

# Programs that take one of their arguments for a program: a URL is none.
_SHELLS = frozenset(
    {"sh", "bash", "dash", "zsh", "fish", "ksh", "csh", "tcsh", "busybox", "cmd", "powershell", "pwsh"}
    | {"env", "xargs", "eval", "ssh", "su", "sudo", "python", "perl", "ruby", "node", "osascript", "rundll32"}
)
_FORBIDDEN = set("$&|;<>`\n")


async def open_url(target: TargetUrl) -> bool:
    """
    Try to open *target* in the user's browser.

    Returns:
        Whether a program took the URL.  It is no proof that a page opened:
        `False` is sure, `True` is not.
    """
    return await _open(target.url)


async def open_file(path: Path) -> bool:
    """
    Try to open *path*, a file that we wrote, in the user's browser.

    Unlike a URL's, its content is in no list of processes.

    Returns:
        As `open_url`.
    """
    return await _open(Path(os.path.abspath(path)).as_uri())  # noqa: ASYNC240, PTH100 -- it only looks up where we are


def commands(url: str) -> Iterator[list[str]]:
    """
    List the commands that open *url* here, as argument lists, best first.

    ``BROWSER`` counts first, entry by entry: a program, with options if need
    be, and ``%s`` where the URL goes (else it goes last).  What would hand
    the URL to a shell or an interpreter is passed over.  Without it nothing is
    opened over SSH, where the browser would not be the user's, nor without a
    display.
    """
    for entry in os.environ.get("BROWSER", "").split(os.pathsep):
        if argv := _from_template(entry, url):
            yield argv
    if over_ssh():
        return
    if sys.platform == "darwin":
        yield [_MAC_OPENER, url]
    elif os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        for name, *options in _UNIX_OPENERS:
            if program := shutil.which(name):
                yield [program, *options, url]


def over_ssh() -> bool:
    """Tell whether the user sits at another computer."""
    return bool(os.environ.get("SSH_CONNECTION") or os.environ.get("SSH_TTY"))


def _from_template(entry: str, url: str) -> list[str] | None:
    if _FORBIDDEN & set(entry):
        return None
    try:
        words = shlex.split(entry)
    except ValueError:  # a quote that is not closed
        return None
    program = shutil.which(words[0]) if words else None
    if program is None or _is_shell(words[0]) or _is_shell(program) or _is_shell(os.path.realpath(program)):
        return None
    options = words[1:]
    if any("%" in option and option != "%s" for option in options) or options.count("%s") > 1:
        return None
    if "%s" not in options:
        options.append("%s")
    return [program, *(url if option == "%s" else option for option in options)]


def _is_shell(program: str) -> bool:
    return Path(program).stem.lower().rstrip("0123456789.") in _SHELLS


async def _open(url: str) -> bool:
    if sys.platform == "win32":
        return _start_file(url)
    for argv in commands(url):
        if await _run(argv):
            return True
    return False


async def _run(argv: list[str]) -> bool:
    try:
        process = subprocess.Popen(  # noqa: ASYNC220, S603 -- it only starts, and without a shell
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return False
    try:
        with anyio.move_on_after(_PATIENCE):
            while process.poll() is None:  # noqa: ASYNC110 -- an exit code has no event on every loop
                await anyio.sleep(0.02)
    finally:
        if process.returncode is None:
            # A browser that stays in the foreground: somebody must fetch its exit code.
            threading.Thread(target=process.wait, daemon=True).start()
    return process.returncode in (None, 0)


def _start_file(url: str) -> bool:
    try:
        os.startfile(url)  # type: ignore[attr-defined,unused-ignore]  # noqa: S606
    except OSError:
        return False
    return True
