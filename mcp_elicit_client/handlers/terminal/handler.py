"""`TerminalHandler`: answers requests in the terminal, in an interactive form or in line mode."""

from __future__ import annotations

import functools
import importlib.util
import logging
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import NoneType

import anyio

from mcp_elicit_client._arguments import check_async, check_method, check_type
from mcp_elicit_client.core.notice import Notice
from mcp_elicit_client.core.url.inspect import TargetUrl
from mcp_elicit_client.dispatch import refusal_by_now
from mcp_elicit_client.exceptions import MissingExtraError
from mcp_elicit_client.handlers.terminal.console import Console, EndOfInputError, InterruptedByUserError
from mcp_elicit_client.handlers.terminal.interactive import Theme
from mcp_elicit_client.handlers.terminal.interactive.keyboard import prepare_to_wake
from mcp_elicit_client.handlers.terminal.interactive.theme import has_every_character
from mcp_elicit_client.handlers.terminal.line_mode import LineMode
from mcp_elicit_client.handlers.terminal.terminal import running_loop, suspended_prompt, terminal
from mcp_elicit_client.presentation.catalog import MessageCatalog, catalog_of_environment
from mcp_elicit_client.presentation.descriptions import ended_line
from mcp_elicit_client.presentation.drafts import Drafts
from mcp_elicit_client.presentation.notices import notice_lines
from mcp_elicit_client.presentation.opener import open_url
from mcp_elicit_client.typing import Answer, Request

_logger = logging.getLogger("mcp_elicit_client")

_CLOSED: tuple[type[Exception], ...]
try:
    import termios
except ImportError:  # Windows
    _CLOSED = ()
else:
    _CLOSED = (termios.error,)

_UI_VARIABLE = "MCP_ELICIT_UI"
USER_INTERFACES = ("interactive", "line", "browser")
"""The values of ``MCP_ELICIT_UI``.  Only ``mcp-elicit`` uses the last one."""

_TERMS_WITHOUT_CURSOR = frozenset({"", "dumb", "unknown"})
_MIN_WIDTH = 20


class TerminalHandler:
    """
    Asks the user in the terminal: in an interactive form, or in line mode.

    The interactive form needs the extra ``terminal``, the event loop of
    asyncio, and a terminal in UTF-8 that can move its cursor.  Otherwise,
    and if ``MCP_ELICIT_UI=line`` is set, line mode is used.  With
    ``MCP_ELICIT_UI=interactive`` a missing extra is an error.

    Requests of all servers are shown one at a time, and the event loop is
    not blocked.  A request that is cancelled disappears.  What the user
    typed is restored if the server sends the same request again.  If no user
    can answer (no terminal, end of input), the answer is ``cancel``.

    Args:
        console: The console for line mode; None for the terminal of this
            process.
        open_url: Opens a URL after the user agreed.
        copy_url: Copies a URL for the user; None to not offer it.
        theme: The colors of the interactive form; None to choose by the
            environment.
        messages: The texts, in one language; None for the language of the
            environment (``LC_ALL``, ``LANG``).
        mouse: Use the mouse in the interactive form: a click moves the focus,
            the wheel scrolls.  The terminal then selects no text.

    Raises:
        TypeError: If an argument is of the wrong type, such as an `open_url`
            that is not async.
    """

    def __init__(  # noqa: PLR0913 -- options by keyword
        self,
        *,
        console: Console | None = None,
        open_url: Callable[[TargetUrl], Awaitable[bool]] = open_url,
        copy_url: Callable[[TargetUrl], Awaitable[bool]] | None = None,
        theme: Theme | None = None,
        messages: MessageCatalog | None = None,
        mouse: bool = False,
    ) -> None:
        if console is not None:
            check_method("console", console, "ask", "a `Console`")
        check_async("open_url", open_url, "target")
        if copy_url is not None:
            check_async("copy_url", copy_url, "target")
        check_type("theme", theme, Theme, NoneType)
        check_type("messages", messages, MessageCatalog, NoneType)
        check_type("mouse", mouse, bool)
        self._console = console
        self._open_url = open_url
        self._copy_url = copy_url
        self._theme = theme
        self._messages = messages
        self._mouse = mouse
        self._drafts = Drafts()
        prepare_to_wake()

    async def __call__(self, request: Request, /) -> Answer:
        """
        Ask the user and return their answer.

        Raises:
            MissingExtraError: If ``MCP_ELICIT_UI=interactive`` is set and the
                extra ``terminal`` is not installed.
        """
        if self._console is not None:
            return await self._ask(self._console, request)
        answer = Answer.cancel(by="unattended", reason="the terminal was closed")
        # The mode of a closed terminal cannot be restored.  An answer from before remains valid.
        with suppress(*_CLOSED):
            async with terminal() as tty:
                if tty is None:
                    _logger.warning(
                        "a request of server %r is cancelled: there is no terminal. Register another handler, "
                        "such as `HeadlessHandler`.",
                        request.server.name,
                    )
                    return Answer.cancel(by="unattended", reason="there is no terminal")
                refusal = refusal_by_now()  # the request may have waited for the terminal
                if refusal is not None:
                    answer = refusal
                elif _is_interactive(tty.width, tty.encoding):
                    answer = await self._ask_on_screen(request)
                else:
                    async with suspended_prompt():
                        with tty.exclusive():
                            answer = await self._ask(tty, request)
        return answer

    async def notify(self, notice: Notice, /) -> None:
        """Show that a policy declined a request, once the terminal is free; nothing without a terminal."""
        if self._console is not None:
            self._console.write(notice_lines(notice, self._catalog, self._console.width))
            return
        with suppress(*_CLOSED):
            async with terminal() as tty:
                if tty is not None:
                    tty.write(notice_lines(notice, self._catalog, tty.width))

    @property
    def _catalog(self) -> MessageCatalog:
        return self._messages or catalog_of_environment()

    async def _ask(self, console: Console, request: Request) -> Answer:
        catalog = self._catalog
        try:
            return await LineMode(console, catalog, self._drafts, self._open_url, self._copy_url).ask(request)
        except EndOfInputError:
            return Answer.cancel(by="unattended", reason="the input ended")
        except InterruptedByUserError:
            return Answer.cancel(by="user", reason="Ctrl+C")
        except anyio.get_cancelled_exc_class():
            console.write(f"\n{ended_line(request, request.deadline, catalog)}")
            raise

    async def _ask_on_screen(self, request: Request) -> Answer:
        from mcp_elicit_client.handlers.terminal.interactive.application import TerminalApp
        from mcp_elicit_client.handlers.terminal.interactive.prompt_user import ask_on_screen

        app = TerminalApp(catalog=self._catalog, theme=self._theme, mouse=self._mouse)
        return await ask_on_screen(app, request, self._drafts, self._open_url, self._copy_url)


def chosen_interface() -> str:
    """Return the value of ``MCP_ELICIT_UI`` in lower case; blank if it is not set."""
    return os.environ.get(_UI_VARIABLE, "").strip().casefold()


@functools.cache
def _warn_of_unknown(choice: str) -> None:
    expected = ", ".join(USER_INTERFACES)
    _logger.warning("%s=%r is unknown and has no effect. Use one of these values: %s", _UI_VARIABLE, choice, expected)


def _is_interactive(width: int, encoding: str) -> bool:
    """Return True if the interactive form can be used in this terminal."""
    choice = chosen_interface()
    if choice and choice not in USER_INTERFACES:
        _warn_of_unknown(choice)
    if choice == "line" or running_loop() is None or not _CLOSED:  # prompt_toolkit is used on POSIX only
        return False
    installed = importlib.util.find_spec("prompt_toolkit") is not None
    if choice == "interactive":
        if not installed:
            raise MissingExtraError("terminal", "the interactive form")
        return True
    has_cursor = os.environ.get("TERM", "").casefold() not in _TERMS_WITHOUT_CURSOR
    # Only line mode shows which characters the terminal lacks.
    return installed and has_cursor and width >= _MIN_WIDTH and has_every_character(encoding)
