"""The handler: takes the terminal, asks, gives it back."""

from __future__ import annotations

from dataclasses import dataclass

import anyio

from mcp_elicit_client.handlers.opener import open_url
from mcp_elicit_client.handlers.terminal.console import Console, EndOfInputError, InterruptedByUserError, terminal
from mcp_elicit_client.handlers.terminal.form import ask_form
from mcp_elicit_client.handlers.terminal.url import CopyUrl, OpenUrl, Visit
from mcp_elicit_client.typing import Answer, FormRequest, Request


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalHandler:
    """
    Ask the person at the terminal, line by line.

    One question at a time, however many servers ask.  The event loop goes on
    meanwhile; when the question is cancelled, it disappears.  Where nobody
    could answer (no terminal, end of input) the answer is cancel.

    Attributes:
        console: Where to ask; None for the terminal of this process.
        open_url: What opens a page once the user agreed.
        copy_url: What copies a URL for the user; None where there is nothing
            to copy it to, and then it is not offered.
    """

    console: Console | None = None
    open_url: OpenUrl = open_url
    copy_url: CopyUrl | None = None

    async def __call__(self, request: Request, /) -> Answer:
        """Ask, and return what the person decided."""
        if self.console is not None:
            return await self._ask(self.console, request)
        async with terminal() as tty:
            if tty is None:
                return Answer.cancel(by="nobody", reason="there is no terminal to ask at")
            return await self._ask(tty, request)

    async def _ask(self, console: Console, request: Request) -> Answer:
        try:
            if isinstance(request, FormRequest):
                return await ask_form(console, request)
            return await Visit(console, request, self.open_url, self.copy_url).ask()
        except EndOfInputError:
            return Answer.cancel(by="nobody", reason="the input ended")
        except InterruptedByUserError:
            return Answer.cancel(by="user", reason="Ctrl-C")
        except anyio.get_cancelled_exc_class():
            console.write("\n(The question was withdrawn.)")
            raise
