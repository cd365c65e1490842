"""What the form and the URL question share."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from mcp_elicit_client.core.requests import Server
from mcp_elicit_client.core.text import printable
from mcp_elicit_client.handlers.terminal.console import Console
from mcp_elicit_client.handlers.terminal.layout import quote
from mcp_elicit_client.typing import Request, UrlRequest

_NAME = 200
_NARROWEST = 20


def introduce(console: Console, request: Request, asks: str) -> None:
    """Show what the server says; then, nearest the cursor, who it is and what it asks."""
    console.write("")
    console.write(quote(request.message, console.width))
    console.write("")
    if isinstance(request, UrlRequest):
        show_target(console, request)
    claimed = request.server.claimed_name
    if claimed and claimed != request.server.name:
        console.write(quote(f'The server calls itself "{claimed}".', console.width))
    console.write("Lines that begin with | are the server's words.")
    say(console, asks)


def say(console: Console, text: str) -> None:
    """Show a line of the host's own, broken between words."""
    console.write(textwrap.fill(text, max(console.width - 1, _NARROWEST), subsequent_indent="  "))


def name_of(server: Server) -> str:
    """Return what the host application calls *server*, safe to show."""
    return printable(server.name, limit=_NAME, multiline=False)


def asks(request: Request) -> str:
    """Say who asks for what: the host's own line."""
    name = name_of(request.server)
    tool = f" (tool {printable(request.tool, limit=_NAME, multiline=False)})" if request.tool else ""
    if isinstance(request, UrlRequest):
        return f"{name}{tool} asks you to open a page at {request.target.domain}."
    fields = len(request.form.fields)
    what = "to confirm this" if not fields else "for one answer" if fields == 1 else f"for {fields} answers"
    return f"{name}{tool} asks you {what}."


def show_target(console: Console, request: UrlRequest) -> None:
    """Show the whole URL, on lines of its own, and what to know about it."""
    target = request.target
    console.write(f"The whole address:\n\n{target.url}\n")
    for warning in target.warnings:
        say(console, f"Careful: {warning.message}")


async def decide(console: Console, choices: Sequence[str], *, about: str = "") -> str:
    """
    Wait for one of *choices*, typed in full after the prompt was shown.

    There is no default: an Enter meant for something else decides nothing.
    """
    words = {choice.split()[0] for choice in choices}
    while True:
        typed = (await console.ask(f"{about}{' / '.join(choices)}: ")).strip().casefold()
        typed = typed.removeprefix("/")
        if typed.split()[:1] and typed.split()[0] in words:
            return typed
        console.write(f"Please type one of: {', '.join(choices)}.")
