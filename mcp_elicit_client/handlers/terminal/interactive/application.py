"""
Show views in the terminal and take it back: a prompt_toolkit application below the host's output.

It takes no more lines than it needs, and leaves none behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TextIO, TypeVar

import anyio
from prompt_toolkit.application import Application, create_app_session, get_app_or_none, in_terminal
from prompt_toolkit.input import Input
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.layout import HSplit, Layout, ScrollOffsets, VerticalAlign, Window
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.output import ColorDepth, Output
from prompt_toolkit.styles import Style

from mcp_elicit_client.handlers.terminal.interactive.key_bindings import bindings_of
from mcp_elicit_client.handlers.terminal.interactive.layout import ViewControl, fixed
from mcp_elicit_client.handlers.terminal.interactive.old_messages import ENGLISH, MessageCatalog
from mcp_elicit_client.handlers.terminal.interactive.rendering import Line
from mcp_elicit_client.handlers.terminal.interactive.stdout_proxy import StdoutProxy, lines_above
from mcp_elicit_client.handlers.terminal.interactive.theme import Theme, theme_of
from mcp_elicit_client.handlers.terminal.interactive.tty import open_terminal
from mcp_elicit_client.handlers.terminal.interactive.view import View
from mcp_elicit_client.handlers.terminal.line_mode import EndOfInputError, InterruptedByUserError

T = TypeVar("T")

INERT = 0.5
"""How long a question is on screen before it can be sent, in seconds."""

_ESCAPE = 0.1
"""How long to wait for the rest of a key that begins with Escape, in seconds."""

_TICK = 0.5


@dataclass(kw_only=True)
class TerminalApp:
    """
    Where views are shown, one at a time.

    Attributes:
        words: The texts.
        theme: The colours; None to choose by the environment.
        inert: How long a view is on screen before it can be sent, in seconds.
        input: Where keys come from; None for the terminal of this process.
        output: Where it is drawn; None for the terminal of this process.
    """

    words: MessageCatalog = ENGLISH
    theme: Theme | None = None
    inert: float = INERT
    input: Input | None = None
    output: Output | None = None
    view: View | None = field(default=None, init=False)
    overflows: bool = field(default=False, init=False)
    application: Application[Any] | None = field(default=None, init=False)
    above: StdoutProxy | None = field(default=None, init=False)

    async def show(self, view: View) -> Any:
        """
        Show *view* until it is done with; return what it ended with.

        Where an application of prompt_toolkit runs already, it steps aside
        meanwhile; if it runs in another event loop, the view is shown there.

        Raises:
            EndOfInputError: If nobody is there any more.
            InterruptedByUserError: If the user wants to leave.
        """
        return await self._where_it_belongs(lambda: self._show(view))

    async def say(self, text: str) -> None:
        """Say something that stays on the screen."""
        await self._where_it_belongs(lambda: self._say(text))

    async def _where_it_belongs(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Do *work* in the event loop of the application that runs already, if there is one."""
        running = get_app_or_none()
        if running is None or not running.is_running or running.loop in (None, asyncio.get_running_loop()):
            return await work()
        future = asyncio.run_coroutine_threadsafe(work(), running.loop)
        try:
            return await asyncio.shield(asyncio.wrap_future(future))
        except asyncio.CancelledError:
            future.cancel()
            # Not ended before the other loop has given the terminal back.
            with anyio.CancelScope(shield=True):
                while self.application is not None:  # noqa: ASYNC110 -- no event spans event loops
                    await asyncio.sleep(_ESCAPE / 10)
            raise

    def end(self, result: Any) -> None:
        """End the view with *result*."""
        self._exit(result=result)

    def cancel(self) -> None:
        """End the view since the user wants to leave."""
        self._exit(exception=InterruptedByUserError())

    def switch_to(self, view: View) -> None:
        """Go on with another view, on the same place."""
        self.view = view
        self.refresh()

    @property
    def width(self) -> int:
        """The number of columns."""
        return self.output.get_size().columns if self.output is not None else shutil.get_terminal_size().columns

    def refresh(self) -> None:
        """Draw again."""
        if self.application is not None:
            self.application.invalidate()

    def call_later(self, work: Callable[[], Any], then: Callable[[Any], None]) -> None:
        """Do *work* in a thread, and *then* something with what it returned."""
        application = self.application
        if application is None:
            return

        async def run() -> None:
            try:
                then(await asyncio.get_running_loop().run_in_executor(None, work))
            except Exception as error:  # noqa: BLE001 -- raised where the view is shown
                self._exit(exception=error)
            self.refresh()

        application.create_background_task(run())

    async def _show(self, view: View) -> Any:
        async with in_terminal():
            with (
                open_terminal(self.input, self.output) as (reader, writer, stream),
                create_app_session(input=reader, output=writer),
                _lines_above(stream) as above,
            ):
                return await self._run(view, reader, writer, above)

    async def _say(self, text: str) -> None:
        async with in_terminal():
            # The terminal may be gone; then nobody reads this.
            with contextlib.suppress(OSError, ValueError):
                if self.output is not None:
                    self.output.write(f"{text}\n")
                    self.output.flush()
                else:
                    sys.stdout.write(f"{text}\n")
                    sys.stdout.flush()

    async def _run(self, view: View, reader: Input, writer: Output, above: StdoutProxy | None) -> Any:
        self.view = view
        application = self.application = self._build(reader, writer)
        clear_typeahead(reader)
        if above is not None:
            above.show(application)
        try:
            return await application.run_async(handle_sigint=False, set_exception_handler=False)
        except EOFError:
            raise EndOfInputError from None
        finally:
            # What was typed for this question is not for whatever comes next.
            clear_typeahead(reader)
            if above is not None:
                above.hide()
            self.application = None

    def _exit(self, result: Any = None, exception: BaseException | None = None) -> None:
        if self.application is None or not self.application.is_running or self.application.is_done:
            return
        if exception is not None:
            self.application.exit(exception=exception)
        else:
            self.application.exit(result=result)

    def _build(self, reader: Input, writer: Output) -> Application[Any]:
        theme = self.theme or theme_of()
        deadline = self.view.request.deadline if self.view is not None else None
        body = Window(
            ViewControl(self),
            height=Dimension(min=1),
            scroll_offsets=ScrollOffsets(top=3, bottom=4),
            dont_extend_height=True,
            wrap_lines=False,
        )
        application: Application[Any] = Application(
            layout=Layout(
                HSplit([fixed(self._header), body, fixed(self._footer)], align=VerticalAlign.TOP),
                focused_element=body,
            ),
            key_bindings=bindings_of(lambda: self.view, self._press),
            style=Style.from_dict(dict(theme.styles())),
            color_depth=ColorDepth.DEPTH_1_BIT if os.environ.get("NO_COLOR") else ColorDepth.DEPTH_4_BIT,
            full_screen=False,
            mouse_support=False,
            erase_when_done=True,
            refresh_interval=_TICK if deadline is not None else None,
            input=reader,
            output=writer,
        )
        application.ttimeoutlen = _ESCAPE
        application.timeoutlen = _ESCAPE
        first = True

        def drawn(_: object) -> None:
            nonlocal first
            info = body.render_info
            self.overflows = info is not None and info.window_height < info.ui_content.line_count
            if first:
                # What was typed before anything was to be seen was meant for something else.
                first = False
                _flush(reader)
            if self.view is not None and self.view.drawn():
                self._wake()  # counted from here on: drawing may have taken its time

        application.after_render += drawn
        return application

    def _wake(self) -> None:
        """Draw again once the view can be sent."""
        application = self.application
        if application is not None and application.loop is not None:
            application.loop.call_later(self.inert + 0.01, application.invalidate)

    def _header(self, width: int) -> list[Line]:
        return self.draw(lambda view: view.header(width), [])

    def _footer(self, width: int) -> list[Line]:
        return self.draw(lambda view: view.footer(width), [])

    def _press(self, key: str, data: str = "") -> None:
        try:
            if self.view is not None:
                self.view.press(key, data)
        except Exception as error:  # noqa: BLE001 -- raised where the view is shown
            self._exit(exception=error)

    def draw(self, what: Callable[[View], T], otherwise: T) -> T:
        """Draw the view; if that fails, the view ends with it."""
        try:
            return what(self.view) if self.view is not None else otherwise
        except Exception as error:  # noqa: BLE001 -- raised where the view is shown
            self._exit(exception=error)
            return otherwise


@contextmanager
def _lines_above(stream: TextIO | None) -> Iterator[StdoutProxy | None]:
    if stream is None:
        yield None
    else:
        with lines_above(stream) as above:
            yield above


def _flush(reader: Input) -> None:
    with contextlib.suppress(ImportError, OSError, ValueError, NotImplementedError):
        import termios

        with contextlib.suppress(termios.error):
            if sys.stdin.isatty() and reader.fileno() == sys.stdin.fileno():
                termios.tcflush(reader.fileno(), termios.TCIFLUSH)
