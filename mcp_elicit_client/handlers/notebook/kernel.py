"""The kernel of this process: its current cell, whether a user is there, and the origins of the notebook."""

from __future__ import annotations

import asyncio
import importlib.metadata
import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from contextvars import Context
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio

from mcp_elicit_client._concurrency import Waker

_SUBSHELLS = 7
"""The major version of ipykernel since which messages of widgets can arrive while a cell runs."""

_WAKE_INTERVAL = 0.5

_ANYWHERE = frozenset({"", "*", "0.0.0.0", "::", "localhost", "127.0.0.1", "::1"})  # noqa: S104 -- compared only
"""The addresses of a notebook server whose notebooks can be opened on this computer as ``localhost``."""


class NotebookKernel:
    """
    The kernel, and the cell that runs or ran last.

    Tasks that were started by earlier cells belong to the output of those
    cells.  What this class displays belongs to the current one.

    Args:
        shell: The shell of IPython.

    Attributes:
        has_failed: The front end has failed to show a widget.
    """

    def __init__(self, shell: Any) -> None:
        # In a context of its own: that of a task may belong to an earlier cell.
        self.parent: Mapping[str, Any] = Context().run(shell.get_parent)
        self.has_failed: bool = False
        self._shell = shell
        self._lock = threading.Lock()
        self._interrupts: list[Waker] = []
        self._corrections: list[Callable[[], object]] = []
        shell.events.register("pre_run_cell", self._begin)
        shell.events.register("post_run_cell", self._end)

    @property
    def has_user(self) -> bool:
        """True if the front end can ask a user; False in programs that run notebooks, such as papermill."""
        return self.parent.get("content", {}).get("allow_stdin") is True

    @property
    def delivers_widgets(self) -> bool:
        """True if messages of widgets may arrive while a cell runs; whether they do depends on the front end."""
        return int(importlib.metadata.version("ipykernel").partition(".")[0]) >= _SUBSHELLS

    async def interrupted(self) -> None:
        """Wait until the current cell is interrupted.  Later cells do not count: the request is not below them."""
        waker = Waker()
        is_interrupted = False
        with self._lock:
            self._interrupts.append(waker)
        try:
            while not is_interrupted:
                # An idle event loop notices the signal only when something wakes it.
                with anyio.move_on_after(_WAKE_INTERVAL):
                    await waker.wait()
                    is_interrupted = True
        finally:
            with self._lock:
                if waker in self._interrupts:
                    self._interrupts.remove(waker)

    def if_interrupted(self, correct: Callable[[], object]) -> None:
        """Call *correct* at the end of the current cell if it was interrupted: its tasks end before that is known."""
        self._corrections.append(correct)

    def display(self, data: Mapping[str, Any], display_id: str, parent: Mapping[str, Any], *, update: bool) -> None:
        """Show *data*, by MIME type, in the output of the cell that sent *parent*."""
        from IPython.display import display

        self._shell.set_parent(parent)
        try:
            display(dict(data), raw=True, display_id=display_id, update=update)  # type: ignore[no-untyped-call]
        finally:
            self._shell.set_parent(self.parent)

    def _begin(self, _info: object) -> None:
        self.parent = self._shell.get_parent()
        self._corrections.clear()
        with self._lock:
            self._interrupts.clear()

    def _end(self, result: Any) -> None:
        error = getattr(result, "error_in_exec", None)
        if result is not None and not isinstance(error, (asyncio.CancelledError, KeyboardInterrupt)):
            return
        for correct in self._corrections:
            correct()
        with self._lock:
            for waker in self._interrupts:
                waker.wake()


_kernel: NotebookKernel | None = None


def current_kernel() -> NotebookKernel | None:
    """Return the kernel of this process; None outside of a kernel."""
    global _kernel  # noqa: PLW0603 -- a process has one kernel
    shells = sys.modules.get("IPython.core.getipython")
    shell: Any = None if shells is None else shells.get_ipython()
    if getattr(shell, "kernel", None) is None:
        return None
    if _kernel is None:
        _kernel = NotebookKernel(shell)
    return _kernel


def notebook_origins() -> tuple[str, ...]:
    """Return the origins of the notebook server that started this kernel; empty if they are unknown."""
    try:
        from jupyter_core.paths import jupyter_runtime_dir
    except ImportError:
        return ()
    path = Path(jupyter_runtime_dir()) / f"jpserver-{os.getppid()}.json"
    try:
        server = json.loads(path.read_text(encoding="utf-8"))
        url = urlsplit(str(server["url"]))
        port = url.port
    except (OSError, ValueError, KeyError, TypeError):
        return ()
    if url.scheme not in ("http", "https") or port is None or server.get("hostname") not in _ANYWHERE:
        return ()
    return tuple(f"{url.scheme}://{host}:{port}" for host in ("localhost", "127.0.0.1"))


def check_origin(origin: object) -> None:
    """
    Refuse what is not an origin, since it becomes a part of a header.

    Raises:
        TypeError: If it is not a string.
        ValueError: If it is not the origin of a web page.
    """
    if not isinstance(origin, str):
        raise TypeError(f"`origin` takes a string such as 'http://localhost:8888', not {type(origin).__name__}.")
    url = urlsplit(origin)
    is_plain = origin.isascii() and origin.isprintable() and not set(origin) & set(" ;,'\"*")
    if (
        url.scheme not in ("http", "https")
        or not url.hostname
        or origin != f"{url.scheme}://{url.netloc}"
        or not is_plain
    ):
        raise ValueError(f"`origin` takes the origin of the notebook, such as 'http://localhost:8888', not {origin!r}.")
