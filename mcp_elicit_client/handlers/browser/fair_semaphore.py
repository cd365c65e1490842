"""Few at a time, and the others in line."""

from __future__ import annotations

import threading
from collections import deque

from mcp_elicit_client._concurrency import Waker


class FairSemaphore:
    """
    Lets few in at a time, in the order in which they came, from any thread and event loop.

    Args:
        places: How many at a time.
        longest: How many may wait.
    """

    def __init__(self, places: int, longest: int) -> None:
        self._free = places
        self._longest = longest
        self._lock = threading.Lock()
        self._waiting: deque[Waker] = deque()

    async def acquire(self) -> bool:
        """Wait for a place; False, at once, if too many wait already.  Whoever was let in must `leave`."""
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            if len(self._waiting) >= self._longest:
                return False
            waker = Waker()
            self._waiting.append(waker)
        try:
            await waker.wait()
        except BaseException:
            with self._lock:
                has_place = waker not in self._waiting
                if not has_place:
                    self._waiting.remove(waker)
            if has_place:
                self.release()
            raise
        return True

    def release(self) -> None:
        """Give the place on."""
        while True:
            with self._lock:
                if not self._waiting:
                    self._free += 1
                    return
                following = self._waiting.popleft()
            try:
                following.wake()
            except RuntimeError:  # its event loop has ended, and nobody waits there
                continue
            return
