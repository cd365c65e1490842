"""
`exclusive_keyboard`: the keys of the terminal for the form, although a thread of the host waits for input.

A thread in ``input()`` takes every key, because its read has already begun.
While the form is shown, the descriptor of the standard input leads to an idle
pipe.  A signal makes the threads that wait begin their read again, there.
Afterwards they wait for the terminal as before.
"""

from __future__ import annotations

import builtins
import os
import platform
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

_TASKS = Path("/proc/self/task")
_READ = {"x86_64": 0, "aarch64": 63}
_SELECT = {"x86_64": (23, 270), "aarch64": (72,)}
"""The numbers of the system calls that ``input()`` waits in, without and with readline."""


@contextmanager
def exclusive_keyboard() -> Iterator[TextIO]:
    """
    Divert the standard input from the threads that wait for it.

    Yields:
        The terminal; the standard input itself if no thread waits for it, or
        if it cannot be diverted.
    """
    stream = sys.stdin
    descriptor = stream.fileno()
    waiting = waiting_threads(descriptor)
    if not waiting or not prepare_to_wake():
        yield stream
        return
    terminal = os.fdopen(os.dup(descriptor), encoding=stream.encoding)
    try:
        os.dup2(_idle_pipe(), descriptor)
        _wake(waiting)
        yield terminal
    finally:
        os.dup2(terminal.fileno(), descriptor)
        # Other threads may have begun to wait meanwhile.
        _wake(waiting_threads(descriptor))
        terminal.close()


def waiting_threads(descriptor: int) -> Sequence[threading.Thread]:
    """Return the other threads of this process that wait for input from *descriptor*."""
    others = [each for each in threading.enumerate() if each is not threading.current_thread()]
    if _has_system_calls():
        return [each for each in others if _waits_in_system_call(each, descriptor)]
    frames = sys._current_frames()  # noqa: SLF001 -- documented
    return [each for each in others if _seems_to_wait(frames.get(each.ident or 0))]


@cache
def _has_system_calls() -> bool:
    """Return True if the system tells which system call a thread is in."""
    return platform.machine() in _READ and (_TASKS / str(threading.get_native_id()) / "syscall").is_file()


def _waits_in_system_call(thread: threading.Thread, descriptor: int) -> bool:
    try:
        words = (_TASKS / str(thread.native_id) / "syscall").read_text(encoding="ascii").split()
        number, first = int(words[0]), int(words[1], 16)
    except (OSError, ValueError, IndexError):  # it runs, or has ended
        return False
    machine = platform.machine()
    is_reading = number == _READ[machine] and first == descriptor
    return is_reading or (number in _SELECT[machine] and first == descriptor + 1)


def _seems_to_wait(frame: FrameType | None) -> bool:
    """Return True if the innermost function of a thread calls ``input``."""
    if frame is None:
        return False
    called = frame.f_locals.get("self")
    work = getattr(called, "fn", None)
    parts: tuple[Any, ...] = (work, *getattr(work, "args", ()))
    return builtins.input in parts or bool({"input", "stdin"} & set(frame.f_code.co_names))


def prepare_to_wake() -> bool:
    """
    Prepare the signal that interrupts waiting threads.

    Only the main thread can do so, once.

    Returns:
        True if threads can be interrupted.
    """
    number = getattr(signal, "SIGURG", None)
    if number is None:  # Windows
        return False
    if callable(signal.getsignal(number)):
        return True
    if threading.current_thread() is not threading.main_thread():
        return False
    signal.signal(number, _ignore)
    return True


def _ignore(_number: int, _frame: FrameType | None) -> None:
    """Do nothing: the signal has interrupted the system call."""


def _wake(threads: Sequence[threading.Thread]) -> None:
    for thread in threads:
        with suppress(OSError, ValueError):
            signal.pthread_kill(thread.ident or 0, signal.SIGURG)


@cache
def _idle_pipe() -> int:
    """Return the end of a pipe that never has input.  Its other end stays open, so that no read ends."""
    return os.pipe()[0]
