"""A user at the interactive form: types keys and reads the screen."""

from __future__ import annotations

import asyncio
import select
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from prompt_toolkit.application.current import set_app
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from mcp_elicit_client import Answer, TargetUrl, parse_request
from mcp_elicit_client.core.answer import check_answer
from mcp_elicit_client.handlers.terminal.interactive.application import TerminalApp
from mcp_elicit_client.handlers.terminal.interactive.prompt_user import ask_on_screen
from mcp_elicit_client.presentation.drafts import Drafts
from mcp_elicit_client.typing import Request
from tests.support import form_params

ENTER = "\r"
TAB = "\t"
BACK_TAB = "\x1b[Z"
UP = "\x1b[A"
DOWN = "\x1b[B"
RIGHT = "\x1b[C"
LEFT = "\x1b[D"
BACKSPACE = "\x7f"
ESCAPE = "\x1b"
NEWLINE = "\n"
F1 = "\x1bOP"
F2 = "\x1bOQ"
F4 = "\x1bOS"
PAGE_UP = "\x1b[5~"
PAGE_DOWN = "\x1b[6~"
SEND = "\x13"
F3 = "\x1bOR"
F5 = "\x1b[15~"
DECLINE = F3
DELETE = "\x04"
UNDO = "\x1a"
CANCEL = "\x03"
SENT = SEND + SEND
LEAVE = (CANCEL, CANCEL)
"""Cancels also if something was typed."""
PATIENCE = 60


class Screen(DummyOutput):
    """A terminal with a size that records the text that remains on the screen."""

    def __init__(self, columns: int = 80, rows: int = 40) -> None:
        self.columns = columns
        self.rows = rows
        self.told = ""

    def get_size(self) -> Size:
        return Size(rows=self.rows, columns=self.columns)

    def write(self, data: str) -> None:
        self.told += data


class Person:
    """A user who answers one request."""

    def __init__(self, app: TerminalApp, keyboard: PipeInput, screen: Screen) -> None:
        self.app = app
        self.keyboard = keyboard
        self.screen = screen
        self.answer: Answer | None = None

    @property
    def lines(self) -> list[str]:
        """The lines on the screen."""
        application = self.app.application
        drawn = application.renderer.last_rendered_screen if application is not None else None
        if drawn is None:
            return []
        rows = [drawn.data_buffer[row] for row in range(drawn.height)]
        return ["".join(row[at].char for at in range(self.screen.columns)).rstrip() for row in rows]

    @property
    def cursor(self) -> tuple[int, int]:
        """The row and column of the cursor."""
        application = self.app.application
        assert application is not None and application.renderer.last_rendered_screen is not None
        place = application.renderer.last_rendered_screen.get_cursor_position(application.layout.current_window)
        return place.y, place.x

    @property
    def shown(self) -> str:
        """The text on the screen."""
        return "\n".join(self.lines).rstrip()

    async def sees(self, *texts: str) -> None:
        """Wait until all *texts* are on the screen."""
        with anyio.move_on_after(PATIENCE):
            while not all(text in self.shown for text in texts):
                await anyio.sleep(0.005)
            return
        raise AssertionError(f"{texts} not in:\n{self.shown}")

    async def types(self, *keys: str) -> None:
        """Type *keys* and wait until all of them were handled."""
        for key in [part for each in keys for part in ((SEND, SEND) if each == SENT else (each,))]:
            if self.answer is not None:
                return
            self.keyboard.send_text(key)
            await self._settle()
            if key == ESCAPE:
                await self._pause()

    def resizes(self, columns: int, rows: int) -> None:
        """Change the size of the window."""
        self.screen.columns, self.screen.rows = columns, rows
        application = self.app.application
        assert application is not None
        application._on_resize()

    async def _pause(self) -> None:
        """Type nothing until the last key is known to be Escape, and not the beginning of another one."""
        application = self.app.application
        if application is not None:
            with set_app(application):
                application.key_processor.feed_multiple(self.keyboard.flush_keys())
                application.key_processor.process_keys()
            await self._settle()

    async def _settle(self) -> None:
        with anyio.fail_after(PATIENCE):
            while self.answer is None and self._is_changing():
                await anyio.sleep(0.001)

    def _is_changing(self) -> bool:
        """Return True if a key was not read, or what it changes was not drawn."""
        application, view = self.app.application, self.app.view
        if application is None or application.is_done or application.invalidated:
            return True
        has_unread_keys = bool(select.select([self.keyboard.fileno()], [], [], 0)[0])
        return has_unread_keys or view is None or view.busy or view._visible_since is None

    async def done(self) -> Answer:
        """Wait for the answer."""
        with anyio.fail_after(PATIENCE):
            while self.answer is None:
                await anyio.sleep(0.001)
        return self.answer


@asynccontextmanager
async def asking(
    request: Request,
    *,
    columns: int = 80,
    rows: int = 40,
    drafts: Drafts | None = None,
    opens: bool | None = True,
    copies: bool | None = None,
    opened: list[str] | None = None,
    **options: Any,
) -> AsyncIterator[Person]:
    """Show *request* while the body of the context answers it."""
    seen = [] if opened is None else opened

    async def open_url(target: TargetUrl) -> bool:
        seen.append(target.url)
        return bool(opens)

    async def copy_url(target: TargetUrl) -> bool:
        seen.append(f"copied {target.url}")
        return bool(copies)

    with create_pipe_input() as keyboard:
        screen = Screen(columns, rows)
        app = TerminalApp(**{"inert": 0.0, "input": keyboard, "output": screen, **options})
        person = Person(app, keyboard, screen)

        async def ask() -> None:
            answer = await ask_on_screen(
                app,
                request,
                drafts or Drafts(),
                open_url,
                None if copies is None else copy_url,
            )
            person.answer = check_answer(request, answer)

        task = asyncio.ensure_future(ask())
        try:
            with anyio.fail_after(PATIENCE):
                while not person.lines and not task.done():
                    await anyio.sleep(0.001)
            yield person
            if person.answer is None:
                task.cancel()
        finally:
            task.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.wait([task])
            if not task.cancelled() and task.exception() is not None:
                raise task.exception()  # type: ignore[misc]


async def fill(schema: object, *keys: str, message: str = "Hello", **options: Any) -> Answer:
    """Answer a form with *keys*, and cancel it if it is still open."""
    request = parse_request(form_params(schema, message), server="mail")
    async with asking(request, **options) as person:
        await person.types(*keys)
        if person.answer is None and person.app.application is not None:
            await person.types(*LEAVE)
        return await person.done()
