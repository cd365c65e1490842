"""`Screen`: a pseudo terminal on which an application of prompt_toolkit is shown, and the keys of its user."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import termios
import threading
import tty
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import anyio
from prompt_toolkit.application import Application
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.output.vt100 import Vt100_Output

_SIZE = Size(rows=60, columns=100)
_KEY = re.compile(r"\x1b\[[A-Z]|.", re.DOTALL)
_CHUNK = 200
"""Keys that are typed at once: a terminal holds only some that are not read yet."""

_POLL_INTERVAL = 0.002


class Screen:
    """
    A pseudo terminal with a user.

    Args:
        running: Returns the application that is shown, or None.

    Attributes:
        input: The input for applications.
        output: The output for applications.
    """

    def __init__(self, running: Callable[[], Application[Any] | None]) -> None:
        self._running = running
        self._user, terminal = pty.openpty()
        tty.setraw(terminal)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", _SIZE.rows, _SIZE.columns, 0, 0))
        self._terminal = terminal
        self.input = Vt100Input(os.fdopen(terminal, encoding="utf-8", closefd=False))
        stream = os.fdopen(os.dup(terminal), "w", encoding="utf-8")
        self.output = Vt100_Output(stream, lambda: _SIZE, term="xterm-256color", enable_cpr=False)
        threading.Thread(target=self._drain, daemon=True).start()

    @property
    def application(self) -> Application[Any] | None:
        """The application that runs, or None."""
        application = self._running()
        return application if application is not None and application.is_running and not application.is_done else None

    @property
    def shown(self) -> str:
        """The text on the screen; empty if nothing is shown."""
        application = self.application
        drawn = application.renderer.last_rendered_screen if application is not None else None
        if drawn is None:
            return ""
        rows = (drawn.data_buffer[row] for row in range(drawn.height))
        return "\n".join("".join(row[at].char for at in range(_SIZE.columns)).rstrip() for row in rows)

    async def next_view(self, before: object = None) -> str:
        """Wait until an application other than *before* is drawn; return the text on the screen."""
        while self.application is before or not self.shown:  # noqa: ASYNC110 -- applications set no event
            await anyio.sleep(_POLL_INTERVAL)
        return self.shown

    async def press(self, *keys: str) -> None:
        """Type *keys* into the application that is shown; return when they were handled and the result is drawn."""
        application = self.application
        for part in keys:
            several = _KEY.findall(part)
            for start in range(0, len(several), _CHUNK):
                if application is None or self.application is not application:
                    return
                os.write(self._user, "".join(several[start : start + _CHUNK]).encode())
                await self._settle(application)

    async def _settle(self, application: Application[Any]) -> None:
        while self.application is application and self._has_unread_keys():  # noqa: ASYNC110 -- applications set no event
            await anyio.sleep(_POLL_INTERVAL)
        application.invalidate()
        count = application.render_counter
        while self.application is application and application.render_counter == count:  # noqa: ASYNC110 -- applications set no event
            await anyio.sleep(_POLL_INTERVAL)

    def _has_unread_keys(self) -> bool:
        return bool(select.select([self._terminal], [], [], 0)[0])

    def _drain(self) -> None:
        with suppress(OSError):
            while os.read(self._user, 65_536):
                pass
