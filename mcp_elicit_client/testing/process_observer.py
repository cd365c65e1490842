"""What the process does while a callback answers: output, log lines, started programs, files and connections."""

from __future__ import annotations

import contextlib
import functools
import io
import logging
import os
import shutil
import sys
import tempfile
import threading
import warnings
import webbrowser
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any
from unittest import mock

_PROGRAMS = frozenset({"subprocess.Popen", "os.posix_spawn", "os.exec", "os.spawn", "os.startfile", "webbrowser.open"})
_NETWORK = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.connect", "urllib.Request"})
_OBSERVED = _PROGRAMS | _NETWORK | {"os.system", "open"}
_OPENERS = ("xdg-open", "gio", "open", "wslview", "sensible-browser", "x-www-browser", "www-browser", "start")
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "cmd", "cmd.exe", "powershell", "pwsh"})

_observers: list[ProcessObserver] = []


@dataclass(frozen=True, slots=True)
class Event:
    """
    An action of the process.

    Attributes:
        name: The name of Python's audit event.
        arguments: Its arguments, as texts.
    """

    name: str
    arguments: tuple[str, ...]

    def mentions(self, text: str) -> bool:
        """Return True if *text* is part of an argument."""
        return any(text in argument for argument in self.arguments)


@dataclass
class ProcessObserver:
    """
    Observes this process while the context is entered.

    Programs that open web pages are replaced by a program that does nothing,
    so that no page is really opened.

    Attributes:
        events: Started programs, opened files and connections.
        logged: Log messages of level INFO and above.
    """

    events: list[Event] = field(default_factory=list)
    logged: list[str] = field(default_factory=list)
    _stack: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    _output: Any = None

    def __enter__(self) -> ProcessObserver:  # noqa: PYI034 -- it has no subclasses
        with contextlib.ExitStack() as stack:
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")  # warnings of the callback are not part of the result
            self._capture_output(stack)
            self._replace_input(stack)
            self._replace_openers(stack)
            self._record_log(stack)
            _install_audit_hook()
            _observers.append(self)
            stack.callback(_observers.remove, self)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    # --- observations

    @property
    def printed(self) -> str:
        """The output on standard output and standard error so far."""
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(ValueError, OSError):
                stream.flush()
        return Path(self._output.name).read_bytes().decode("utf-8", "replace")

    def opened(self, url: str) -> list[Event]:
        """Return the starts of programs with *url*."""
        return [each for each in self.events if each.name in _PROGRAMS | {"os.system"} and each.mentions(url)]

    def reached(self, host: str) -> list[Event]:
        """Return the name lookups of *host* and the connections to it."""
        return [each for each in self.events if each.name in _NETWORK and each.mentions(host)]

    def read(self, path: str) -> list[Event]:
        """Return the events that opened the file *path*."""
        return [each for each in self.events if each.name == "open" and each.mentions(path)]

    def through_shell(self, url: str) -> list[Event]:
        """Return the events that passed *url* to a shell."""
        return [
            each
            for each in self.opened(url)
            if each.name == "os.system" or any(Path(argument).name in _SHELLS for argument in each.arguments[:2])
        ]

    # --- standard input

    @contextlib.contextmanager
    def typing(self, lines: Iterable[bytes], *, after: float = 0.0, until: float | None = None) -> Iterator[None]:
        """
        Type *lines* at standard input, followed by its end.

        Args:
            lines: The lines.
            after: Seconds before the first line.
            until: Seconds between the last line and the end of the input.
        """
        data = b"".join(line + b"\n" for line in lines)
        reader, writer = os.pipe()
        os.dup2(reader, 0)
        os.close(reader)
        if hasattr(os, "set_blocking"):
            os.set_blocking(writer, False)
        done = threading.Event()
        typist = threading.Thread(target=_type, args=(writer, data, after, until or 0.0, done), daemon=True)
        typist.start()
        try:
            yield
        finally:
            done.set()
            typist.join()

    # --- replacements in the process

    def _capture_output(self, stack: contextlib.ExitStack) -> None:
        self._output = stack.enter_context(
            tempfile.NamedTemporaryFile("wb", prefix="mcp-elicit-")  # noqa: SIM115 -- it is entered here
        )
        for number, name in ((1, "stdout"), (2, "stderr")):
            getattr(sys, name).flush()
            _redirect(stack, number, self._output.fileno())
            stream = io.TextIOWrapper(
                io.FileIO(number, "wb", closefd=False), "utf-8", "backslashreplace", write_through=True
            )
            stack.enter_context(mock.patch.object(sys, name, stream))

    @staticmethod
    def _replace_input(stack: contextlib.ExitStack) -> None:
        nothing = os.open(os.devnull, os.O_RDONLY)
        _redirect(stack, 0, nothing)
        os.close(nothing)
        stack.enter_context(mock.patch.object(sys, "stdin", io.TextIOWrapper(io.FileIO(0, closefd=False), "utf-8")))

    def _replace_openers(self, stack: contextlib.ExitStack) -> None:
        nothing = shutil.which("true")
        if nothing is not None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="mcp-elicit-"))
            for name in _OPENERS:
                (Path(folder) / name).symlink_to(nothing)
            path = f"{folder}{os.pathsep}{os.environ.get('PATH', '')}"
            stack.enter_context(mock.patch.dict(os.environ, {"PATH": path, "BROWSER": nothing}))
        for name in ("open", "open_new", "open_new_tab"):
            stack.enter_context(mock.patch.object(webbrowser, name, self._open))

    def _open(self, url: str, *_: object) -> bool:
        self.events.append(Event("webbrowser.open", (url,)))
        return True

    def _record_log(self, stack: contextlib.ExitStack) -> None:
        handler = _LogRecorder(self.logged)
        root = logging.getLogger()
        level = root.level
        root.addHandler(handler)
        stack.callback(root.removeHandler, handler)
        if not level or level > logging.INFO:
            root.setLevel(logging.INFO)
            stack.callback(root.setLevel, level)


class _LogRecorder(logging.Handler):
    def __init__(self, messages: list[str]) -> None:
        super().__init__(logging.INFO)
        self._messages = messages

    def emit(self, record: logging.LogRecord) -> None:
        with contextlib.suppress(Exception):
            self._messages.append(record.getMessage())


def _type(writer: int, data: bytes, after: float, until: float, done: threading.Event) -> None:
    done.wait(after)
    with contextlib.suppress(OSError):
        os.write(writer, data)
    done.wait(until)
    os.close(writer)


def _redirect(stack: contextlib.ExitStack, number: int, target: int) -> None:
    kept = os.dup(number)
    os.dup2(target, number)

    def restore() -> None:
        os.dup2(kept, number)
        os.close(kept)

    stack.callback(restore)


@functools.cache
def _install_audit_hook() -> None:
    # An audit hook cannot be removed, so it is installed once and does nothing without an observer.
    sys.addaudithook(_on_audit_event)


def _on_audit_event(name: str, arguments: tuple[Any, ...]) -> None:
    if _observers and name in _OBSERVED:
        _observers[-1].events.append(Event(name, tuple(_texts(arguments))))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, bytes):
        yield value.decode("utf-8", "replace")
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, (str, int)):
        yield str(value)
    elif hasattr(value, "full_url"):
        yield value.full_url
