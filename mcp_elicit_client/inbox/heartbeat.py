"""A sign of life, as long as somebody waits."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Heartbeat:
    """
    Does something again and again in a thread, as long as it is needed.

    A thread, so that it goes on in whichever event loop the questions wait,
    and while that is busy.

    Args:
        beat: What is done; it must not raise.
        is_needed: Whether to go on.
        interval: How long from one beat to the next, in seconds.
    """

    def __init__(self, beat: Callable[[], None], is_needed: Callable[[], bool], interval: float) -> None:
        self._beat = beat
        self._is_needed = is_needed
        self._interval = interval
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._ended = threading.Event()

    def start(self) -> None:
        """Begin, unless it beats already."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._ended.clear()
                self._thread = threading.Thread(target=self._run, name="mcp-elicit-inbox", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """End, and wait for that."""
        with self._lock:
            thread, self._thread = self._thread, None
            self._ended.set()
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while not self._ended.wait(self._interval):
            self._beat()
            with self._lock:
                if not self._is_needed():
                    self._thread = None
                    return
