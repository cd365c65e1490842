"""
`TerminalApp`: a prompt_toolkit application that shows views below the host's output.

It uses only the lines that a view needs and removes them at the end.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import termios
from collections.abc import Callable, Coroutine
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any, TypeVar

import anyio
from prompt_toolkit.application import Application, create_app_session, get_app_or_none, in_terminal
from prompt_toolkit.input import Input
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.layout import Layout, Window
from prompt_toolkit.output import ColorDepth, Output
from prompt_toolkit.styles import Style

from mcp_elicit_client.handlers.terminal.console import EndOfInputError, InterruptedByUserError, output_terminal
from mcp_elicit_client.handlers.terminal.interactive.escape_sequences import drop_unknown_sequences
from mcp_elicit_client.handlers.terminal.interactive.layout import ViewControl, bindings_of
from mcp_elicit_client.handlers.terminal.interactive.rendering import Drawing
from mcp_elicit_client.handlers.terminal.interactive.theme import (
    UNICODE,
    Symbols,
    Theme,
    symbols_of,
    theme_of,
)
from mcp_elicit_client.handlers.terminal.interactive.tty import StdoutProxy, lines_above, open_terminal, regain_mode
from mcp_elicit_client.handlers.terminal.interactive.view import View
from mcp_elicit_client.presentation.catalog import ENGLISH, MessageCatalog
from mcp_elicit_client.typing import Answer, Request

T = TypeVar("T")

INERT = 0.5
"""Seconds until a new view can be sent."""

_ESCAPE = 0.1
"""Seconds to wait for the rest of a key that begins with Escape."""

_TICK = 0.5


@dataclass(kw_only=True)
class TerminalApp:
    """
    Shows views, one at a time.

    Attributes:
        catalog: The texts.
        theme: The colors; None to choose by the environment.
        inert: Seconds until a new view can be sent.
        mouse: Clicks and the wheel of the mouse have an effect.
        input: The input; None for the terminal of this process.
        output: The output; None for the terminal of this process.
        view: The view that is shown, or None.
        symbols: The marks.
        remembers: The user chose that the same request is answered the same
            way for some time.
        deadline: When the request expires; None if it does not.
        application: The running application, or None.
    """

    catalog: MessageCatalog = ENGLISH
    theme: Theme | None = None
    inert: float = INERT
    mouse: bool = False
    input: Input | None = None
    output: Output | None = None
    view: View | None = field(default=None, init=False)
    symbols: Symbols = field(default=UNICODE, init=False)
    remembers: bool = field(default=False, init=False)
    deadline: datetime | None = field(default=None, init=False)
    _time: timedelta = field(default=timedelta(), init=False)
    _home: asyncio.AbstractEventLoop | None = field(default=None, init=False)
    application: Application[Any] | None = field(default=None, init=False)

    async def show(self, view: View) -> Any:
        """
        Show *view* until it ends, and return its result.

        An application of prompt_toolkit that is already running is suspended
        meanwhile.  If it runs in another event loop, the view is shown there.

        Raises:
            EndOfInputError: If the input has ended.
            InterruptedByUserError: If the user cancelled the request.
        """
        self._home = asyncio.get_running_loop()
        return await self._in_running_loop(lambda: self._show(view))

    async def say(self, text: str) -> None:
        """Show *text*, which remains on the screen."""
        await self._in_running_loop(lambda: self._say(text))

    async def _in_running_loop(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run *work* in the event loop of the application that is already running, if there is one."""
        running = get_app_or_none()
        if running is None or not running.is_running or running.loop in (None, asyncio.get_running_loop()):
            return await work()
        future = asyncio.run_coroutine_threadsafe(work(), running.loop)
        try:
            return await asyncio.shield(asyncio.wrap_future(future))
        except asyncio.CancelledError:
            future.cancel()
            # Wait until the other event loop has released the terminal.
            with anyio.CancelScope(shield=True):
                while self.application is not None:  # noqa: ASYNC110 -- no event spans event loops
                    await asyncio.sleep(_ESCAPE / 10)
            raise

    def extend_deadline(self, request: Request) -> bool:
        """Extend the deadline of *request* by the time that there was at first.  Return False if that is too late."""
        if self.deadline is None or request.max_deadline is None or self._home is None:
            return False
        until = min(self.deadline + self._time, request.max_deadline)
        if until <= self.deadline:
            return False
        self.deadline = until
        self._home.call_soon_threadsafe(request.extend_deadline, until)
        return True

    def end(self, result: Any) -> None:
        """End the view with *result*."""
        if self.remembers and isinstance(result, Answer):
            result = result.model_copy(update={"remember": True})
        self._exit(result=result)

    def cancel(self) -> None:
        """End the view because the user cancelled the request."""
        self._exit(exception=InterruptedByUserError())

    def switch_to(self, view: View) -> None:
        """Replace the view."""
        self.view = view
        view.viewport.follow_focus()
        self.refresh()

    @property
    def is_running(self) -> bool:
        """True while a view is shown."""
        return self.application is not None

    def refresh(self) -> None:
        """Draw the view again."""
        if self.application is not None:
            self.application.invalidate()

    def call_later(self, work: Callable[[], Any], then: Callable[[Any], None]) -> None:
        """Call *work* in a thread, and *then* with its result."""
        application = self.application
        if application is None:
            return

        async def run() -> None:
            try:
                then(await asyncio.get_running_loop().run_in_executor(None, work))
            except Exception as error:  # noqa: BLE001 -- `show` raises it
                self._exit(exception=error)
            self.refresh()

        application.create_background_task(run())

    async def _show(self, view: View) -> Any:
        async with in_terminal():
            with (
                open_terminal(self.input, self.output) as (reader, writer, stream),
                create_app_session(input=reader, output=writer),
                lines_above(stream) if stream is not None else contextlib.nullcontext() as above,
            ):
                _begin_line(writer)
                return await self._run(view, reader, writer, above)

    async def _say(self, text: str) -> None:
        async with in_terminal():
            # The terminal may be closed.
            with contextlib.suppress(OSError, ValueError):
                if self.output is not None:
                    self.output.write(f"{text}\n")
                    self.output.flush()
                else:
                    print(text, file=output_terminal() or sys.stdout, flush=True)

    async def _run(self, view: View, reader: Input, writer: Output, above: StdoutProxy | None) -> Any:
        self.view = view
        if self.deadline is None and view.request.deadline is not None:
            self.deadline = view.request.deadline
            self._time = self.deadline - datetime.now(timezone.utc)
        application = self.application = self._build(reader, writer)
        clear_typeahead(reader)
        if above is not None:
            above.show(application)
        try:
            return await application.run_async(handle_sigint=False, set_exception_handler=False)
        except EOFError:
            raise EndOfInputError from None
        finally:
            # Keys for this view are not meant for the next one.
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
        self.symbols = symbols_of(writer.encoding())
        body = Window(ViewControl(lambda: self.view, self.draw), dont_extend_height=True, wrap_lines=False)
        application: Application[Any] = _Application(
            layout=Layout(body),
            key_bindings=bindings_of(lambda: self.view, self._press),
            style=Style.from_dict(asdict(theme)),
            color_depth=ColorDepth.DEPTH_1_BIT if os.environ.get("NO_COLOR") else ColorDepth.DEPTH_4_BIT,
            full_screen=False,
            mouse_support=self.mouse,
            erase_when_done=True,
            max_render_postpone_time=0.0,  # a key is drawn at once, however busy the host's event loop is
            refresh_interval=_TICK if self.deadline is not None else None,
            input=reader,
            output=writer,
        )
        application.ttimeoutlen = _ESCAPE
        application.timeoutlen = _ESCAPE
        drop_unknown_sequences(application.key_processor)

        def before(_: object) -> None:
            if application.render_counter == 1:
                # Discard keys from before the view was visible.
                _flush(reader)
                application.create_background_task(_keep_mode(application, reader))
            if self.mouse and application.renderer.last_rendered_screen is None:
                # The row of a click counts from the top of the terminal.  The cursor is where the view begins.
                writer.ask_for_cpr()

        def after(_: object) -> None:
            screen, renderer = application.renderer.last_rendered_screen, application.renderer
            if screen is not None and self.mouse and renderer.height_is_known:
                # The terminal has scrolled for this view, and does not scroll back for a shorter one.
                renderer._min_available_height = max(renderer._min_available_height, screen.height)  # noqa: SLF001
            if self.view is not None:
                self.view.drawn()  # drawing takes time, so the delay begins here

        application.before_render += before
        application.after_render += after
        return application

    def _press(self, key: str, data: str) -> None:
        try:
            if self.view is not None:
                self.view.press(key, data)
        except Exception as error:  # noqa: BLE001 -- `show` raises it
            self._exit(exception=error)

    def draw(self, width: int, height: int) -> Drawing:
        """Return the lines of the view.  An exception ends it."""
        try:
            return self.view.draw(width, height) if self.view is not None else Drawing()
        except Exception as error:  # noqa: BLE001 -- `show` raises it
            self._exit(exception=error)
            return Drawing()


class _Application(Application[Any]):
    """An application that removes all of its rows after the terminal became narrower."""

    def _on_resize(self) -> None:
        # Most terminals then break the lines that are too long: the cursor is further below the first one.
        screen, columns = self.renderer.last_rendered_screen, self.output.get_size().columns
        if screen is not None:
            cursor = screen.get_cursor_position(self.layout.current_window)
            rows = (screen.data_buffer[row] for row in range(cursor.y))
            ends = [max((at for at, cell in row.items() if cell.char != " "), default=0) for row in rows]
            self.output.cursor_up(sum(end // columns for end in (*ends, cursor.x)))
        super()._on_resize()


async def _keep_mode(application: Application[Any], reader: Input) -> None:
    """Draw *application* again after a shell has stopped and continued this process."""
    while True:
        await asyncio.sleep(_TICK)
        is_suspended = application._running_in_terminal  # noqa: SLF001 -- there is no public way to know it
        if not is_suspended and regain_mode(reader):
            _begin_line(application.output)  # keys were shown meanwhile
            application.renderer.reset()
            application.invalidate()


def _begin_line(writer: Output) -> None:
    """
    Begin a new line if the host's output did not end with a line break.

    As many spaces as the terminal has columns stay in the line only if the
    cursor is at its beginning.
    """
    writer.write_raw(f"{' ' * writer.get_size().columns}\r")
    writer.erase_end_of_line()
    writer.flush()


def _flush(reader: Input) -> None:
    # An input of the caller may have no descriptor, or may be closed or no terminal.
    with contextlib.suppress(NotImplementedError, OSError, ValueError, termios.error):
        termios.tcflush(reader.fileno(), termios.TCIFLUSH)
