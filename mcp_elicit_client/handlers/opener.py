"""
Open a page in the user's browser: one argument, never a shell.

Only what `inspect_url` let through comes here, so the argument begins with
``http`` and cannot be taken for an option, a file or another program.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import anyio

from mcp_elicit_client.core.urls import Target

_PATIENCE = 3.0
"""How long an opener may take to fail, in seconds; one that still runs is taken to work."""

_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "fish", "ksh", "csh", "tcsh", "cmd", "powershell", "pwsh", "env"})
_UNIX_OPENERS = (("xdg-open",), ("gio", "open"), ("wslview",))


async def open_url(target: Target) -> bool:
    """
    Try to open *target* in the user's browser.

    Returns:
        Whether a program took the URL.  It is no proof that a page opened.
    """
    if sys.platform == "win32":
        return _start_file(target.url)
    for argv in openers():
        if await _run([*argv, target.url]):
            return True
    return False


def openers() -> Iterator[list[str]]:
    """
    List the programs that open a URL here, as argument lists, best first.

    ``BROWSER`` counts where it names programs; templates, options and shells
    in it are passed over.
    """
    for entry in os.environ.get("BROWSER", "").split(os.pathsep):
        program = shutil.which(entry) if entry and not set(entry) & set("%$&|;<>`'\"() \t\n") else None
        if program and Path(program).stem.lower() not in _SHELLS:
            yield [program]
    if sys.platform == "darwin":
        yield ["/usr/bin/open"]
    elif os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        for name, *options in _UNIX_OPENERS:
            if program := shutil.which(name):
                yield [program, *options]


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
