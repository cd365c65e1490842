"""
Opening of URLs and local files in the user's browser, as one argument and without a shell.

A URL was accepted by `inspect_url`, and a file was written by this package.
The argument therefore begins with ``http`` or ``file`` and is neither an
option nor another program.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import anyio

from mcp_elicit_client._arguments import check_type
from mcp_elicit_client.core.messages import Message
from mcp_elicit_client.core.url.inspect import TargetUrl
from mcp_elicit_client.presentation import messages

__all__ = ["open_url"]

UrlAction: TypeAlias = Callable[[TargetUrl], Awaitable[bool]]
"""Tries to open or copy a URL, and returns True if that succeeded."""

_FAILURE_TIMEOUT = 3.0
"""Seconds in which a program can fail.  A program that still runs counts as successful."""

_MAC_OPENER = "/usr/bin/open"
_UNIX_OPENERS = (("xdg-open",), ("gio", "open"), ("wslview",), ("sensible-browser",))

# Programs that may execute their arguments, themselves or in a shell, or programs that a URL leads to.
_RUNNERS = frozenset(
    """
    alacritty ansible-pull apptainer ash at awk bash batch bun bunx busctl busybox bwrap capsh catchsegv chpst
    chroot chrt cmd command conda cscript csh daemonize dash dbus-launch dbus-run-session deno distrobox
    distrobox-enter dnx doas docker dtach dumb-init easy_install elvish emacs emacsclient env eval ex exec
    expect fakeroot find firejail fish flatpak-spawn flock foot gawk gdb gdbserver gem ghci ghostty git
    gnome-terminal go gosu groovy guile ionice ipython java javaws jshell just kitty konsole ksh kubectl ld lima
    ltrace lua luajit lxterminal make mawk mksh mosh mpirun mshta nawk nerdctl nice nix nix-shell node nodejs
    nohup npm npx nsenter nu numactl nvim ocaml octave osascript osh parallel perl php pip pipenv pipx pkexec
    pnpm podman poetry powershell prlimit proot proxychains ptyxis pwsh pypy python r rbash rc rlwrap rr rscript
    rsh ruby run0 runcon rundll runuser rxvt s6-setuidgid screen script sed setarch setlock setpriv setsid sg sh
    singularity softlimit ssh st start start-stop-daemon stdbuf strace su su-exec sudo swift systemd-inhibit
    systemd-run taskset tclsh tcsh terminator time timeout tini tmux toolbox torify torsocks toybox trap tsx
    unbuffer unshare urxvt urxvtc uv uvx uxterm valgrind vi view vim watch watchexec wezterm wish wscript wsl
    x-terminal-emulator xargs xdg-terminal-exec xfce4-terminal xonsh xterm xvfb-run yarn yash zellij zsh
    """.split()  # noqa: SIM905 -- a list of words is easier to read as text
)
_COMMAND_OPTION = r"(?i)-{1,2}([a-z]{0,2}[cex]|command|eval|exec|execute)(=.*)?|/[ck]"
_FORBIDDEN = set("$&|;<>`\n")


async def open_url(target: TargetUrl) -> bool:
    """
    Try to open *target* in the user's browser.

    Returns:
        True if a program accepted the URL.  This does not prove that a page
        was opened.

    Raises:
        TypeError: If *target* is not a `TargetUrl`.
    """
    check_type("target", target, TargetUrl, hint="Pass `request.target`, or the result of `inspect_url`.")
    return await _open(target.url)


async def open_file(path: Path) -> bool:
    """
    Try to open *path*, a file that this package wrote, in the user's browser.

    Unlike a URL, the content of a file is not visible in lists of processes.

    Returns:
        True if a program accepted the file, as in `open_url`.
    """
    return await _open(Path(os.path.abspath(path)).as_uri())  # noqa: ASYNC240, PTH100 -- it only reads the current directory


def commands(url: str) -> Iterator[list[str]]:
    """
    Yield the commands that open *url* here, as argument lists, in order of preference.

    The entries of ``BROWSER`` come first: a program with optional arguments,
    in which ``%s`` is the URL.  Without ``%s`` the URL is the last argument.
    Shells, interpreters and programs that start other programs are skipped.
    Without ``BROWSER`` there is no
    command over SSH, because the browser would run on another computer, and
    none without a display.
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
    """Return True if this process was started over SSH."""
    return bool(os.environ.get("SSH_CONNECTION") or os.environ.get("SSH_TTY"))


def opening_failure() -> Message:
    """Return why no browser could be opened here."""
    return messages.NO_BROWSER_OVER_SSH if over_ssh() else messages.NO_BROWSER


def _from_template(entry: str, url: str) -> list[str] | None:
    if _FORBIDDEN & set(entry):
        return None
    try:
        words = shlex.split(entry)
    except ValueError:  # a quote that is not closed
        return None
    program = shutil.which(words[0]) if words else None
    options = words[1:]
    if program is None or any(map(_is_runner, (words[0], program))) or _names_program(Path(program).name, options):
        return None
    if any("%" in option and option != "%s" for option in options) or options.count("%s") > 1:
        return None
    if "%s" not in options:
        options.append("%s")
    return [program, *(url if option == "%s" else option for option in options)]


def _is_runner(program: str) -> bool:
    names = {Path(path).name.lower().removesuffix(".exe") for path in (program, os.path.realpath(program))}
    variants = {each for name in names for each in (name, name.rstrip("0123456789.-"), name.partition(".")[0])}
    return not _RUNNERS.isdisjoint(variants) or any(name.startswith(("ld-linux", "ld-musl")) for name in names)


def _names_program(program: str, options: list[str]) -> bool:
    """Return True if *program* may start another program, or a command, that its options name."""
    for option in options:
        value = option.rpartition("=")[2]
        if re.fullmatch(_COMMAND_OPTION, option) or (value and _is_runner(value)):
            return True
        if (program, option) != ("gio", "open") and shutil.which(value):
            return True
    return False


async def _open(url: str) -> bool:
    if sys.platform == "win32":
        return _start_file(url)
    for argv in commands(url):
        if await _run(argv):
            return True
    return False


async def _run(argv: list[str]) -> bool:
    try:
        process = subprocess.Popen(  # noqa: ASYNC220, S603 -- it only starts a program, without a shell
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            # The openers of desktops are scripts that would pass the URL to whatever BROWSER says.
            env={name: value for name, value in os.environ.items() if name != "BROWSER"},
        )
    except OSError:
        return False
    try:
        with anyio.move_on_after(_FAILURE_TIMEOUT):
            while process.poll() is None:  # noqa: ASYNC110 -- an exit code has no event on every loop
                await anyio.sleep(0.02)
    finally:
        if process.returncode is None:
            # The browser stays in the foreground; a thread collects its exit code.
            threading.Thread(target=process.wait, daemon=True).start()
    return process.returncode in (None, 0)


def _start_file(url: str) -> bool:
    try:
        os.startfile(url)  # type: ignore[attr-defined,unused-ignore]  # noqa: S606
    except OSError:
        return False
    return True
