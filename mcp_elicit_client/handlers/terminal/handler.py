"""The handler: takes the terminal, asks, gives it back."""

from __future__ import annotations

import asyncio
import importlib.util
import os
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio

from mcp_elicit_client.exceptions import MissingExtraError
from mcp_elicit_client.handlers.terminal.form import ask_form
from mcp_elicit_client.handlers.terminal.line_mode import Console, EndOfInputError, InterruptedByUserError, terminal
from mcp_elicit_client.handlers.terminal.url import CopyUrl, OpenUrl, UrlConsentFlow
from mcp_elicit_client.presentation.drafts import Drafts
from mcp_elicit_client.presentation.opener import open_url
from mcp_elicit_client.typing import Answer, FormRequest, Request

_GONE: tuple[type[Exception], ...]
try:
    import termios
except ImportError:  # Windows
    _GONE = ()
else:
    _GONE = (termios.error,)

if TYPE_CHECKING:
    from mcp_elicit_client.handlers.terminal.interactive import MessageCatalog, Theme

_UI = "MCP_ELICIT_UI"
_INCAPABLE = frozenset({"", "dumb", "unknown"})
_NARROWEST = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalHandler:
    """
    Ask the person at the terminal: with a form, or line by line.

    The form takes the extra ``terminal``, an event loop of asyncio and a
    terminal that can draw; without, and wherever ``MCP_ELICIT_UI=line`` is
    set, it is asked line by line.  ``MCP_ELICIT_UI=interactive`` insists on the form
    where there is a terminal for it, and fails if the extra is missing.

    One question at a time, however many servers ask.  The event loop goes on
    meanwhile; when the question is cancelled, it disappears, and what was
    typed is there again if the server asks the same again.  Where nobody
    could answer (no terminal, end of input) the answer is cancel.

    Attributes:
        console: Where to ask line by line; None for the terminal of this
            process.
        open_url: What opens a page once the user agreed.
        copy_url: What copies a URL for the user; None where there is nothing
            to copy it to, and then it is not offered.
        theme: The colours of the form; None to choose by the environment.
        catalogue: The texts of the form; None for English.
    """

    console: Console | None = None
    open_url: OpenUrl = open_url
    copy_url: CopyUrl | None = None
    theme: Theme | None = None
    messages: MessageCatalog | None = None
    _drafts: Drafts = field(default_factory=Drafts, init=False, repr=False, compare=False)
    _texts: Drafts = field(default_factory=Drafts, init=False, repr=False, compare=False)

    async def __call__(self, request: Request, /) -> Answer:
        """
        Ask, and return what the person decided.

        Raises:
            MissingExtraError: If the form is insisted on, and not installed.
        """
        if self.console is not None:
            return await self._ask(self.console, request)
        answer = Answer.cancel(by="unattended", reason="the terminal is gone")
        # One that is gone cannot be restored either; what was answered before stands.
        with suppress(*_GONE):
            async with terminal() as tty:
                if tty is None:
                    return Answer.cancel(by="unattended", reason="there is no terminal to ask at")
                if _wants_form(tty.width):
                    answer = await self._ask_on_screen(request)
                else:
                    answer = await self._ask(tty, request)
        return answer

    async def _ask(self, console: Console, request: Request) -> Answer:
        try:
            if isinstance(request, FormRequest):
                return await ask_form(console, request, self._drafts)
            return await UrlConsentFlow(console, request, self.open_url, self.copy_url).ask()
        except EndOfInputError:
            return Answer.cancel(by="unattended", reason="the input ended")
        except InterruptedByUserError:
            return Answer.cancel(by="user", reason="Ctrl-C")
        except anyio.get_cancelled_exc_class():
            console.write("\n(The question was withdrawn.)")
            raise

    async def _ask_on_screen(self, request: Request) -> Answer:
        from mcp_elicit_client.handlers.terminal.interactive import ENGLISH
        from mcp_elicit_client.handlers.terminal.interactive.application import TerminalApp
        from mcp_elicit_client.handlers.terminal.interactive.prompt_user import ScreenDrafts, ask_on_screen

        stage = TerminalApp(words=self.messages or ENGLISH, theme=self.theme)
        drafts = ScreenDrafts(values=self._drafts, texts=self._texts)
        return await ask_on_screen(stage, request, drafts, self.open_url, self.copy_url)


def _wants_form(width: int) -> bool:
    """Tell whether to ask with the form here."""
    wish = os.environ.get(_UI, "").strip().casefold()
    if wish == "line" or not _is_asyncio():
        return False
    installed = importlib.util.find_spec("prompt_toolkit") is not None
    if wish == "interactive":
        if not installed:
            raise MissingExtraError("terminal", "the terminal form")
        return True
    return installed and os.environ.get("TERM", "").casefold() not in _INCAPABLE and width >= _NARROWEST


def _is_asyncio() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
