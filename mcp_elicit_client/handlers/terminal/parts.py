"""What the form and the URL question share."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.handlers.terminal.interactive.old_descriptions import name_of
from mcp_elicit_client.handlers.terminal.line_mode import Console
from mcp_elicit_client.presentation.quoting import quote
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
    for problem in request.diagnostics:
        if problem.code in ("impersonation", "sensitive_data"):
            say(console, f"Careful: {problem.message}")
    claimed = request.server.claimed_name
    if claimed and claimed != request.server.name:
        console.write(quote(f'The server calls itself "{claimed}".', console.width))
    console.write("Lines that begin with | are the server's words.")
    if request.deadline is not None:
        say(console, f"The question closes at {request.deadline.astimezone():%H:%M:%S}.")
    say(console, asks)


def say(console: Console, text: str) -> None:
    """Show a line of the host's own, broken between words."""
    console.write(textwrap.fill(text, max(console.width - 1, _NARROWEST), subsequent_indent="  "))


def asks(request: Request) -> str:
    """Say who asks for what: the host's own line."""
    name = name_of(request.server)
    tool = f" (tool {sanitize_text(request.tool, limit=_NAME, multiline=False)})" if request.tool else ""
    turn = (
        f" ({request.batch_position.number} of {request.batch_position.total})"
        if request.batch_position and request.batch_position.total > 1
        else ""
    )
    if isinstance(request, UrlRequest):
        if request.previous_visits:
            return f"{name}{tool} says that you are not finished yet at {request.target.registrable_domain}{turn}."
        return f"{name}{tool} asks you to open a page at {request.target.registrable_domain}{turn}."
    fields = len(request.form.fields)
    what = "to confirm this" if not fields else "for one answer" if fields == 1 else f"for {fields} answers"
    return f"{name}{tool} asks you {what}{turn}."


def show_target(console: Console, request: UrlRequest) -> None:
    """Show the whole URL, on lines of its own, and what to know about it."""
    target = request.target
    console.write(f"The whole address:\n\n{target.url}\n")
    for warning in target.warnings:
        say(console, f"Careful: {warning.message}")


async def decide(console: Console, choices: Sequence[str], *, default: str | None = None, about: str = "") -> str:
    """
    Wait for one of *choices*, typed in full after the prompt was shown.

    A choice like ``edit N`` takes a word more.  Without a *default*, an Enter
    meant for something else decides nothing.
    """
    alone = {choice for choice in choices if " " not in choice}
    longer = {choice.split()[0] for choice in choices if " " in choice}
    hint = f" [{default}]" if default is not None else ""
    while True:
        typed = (await console.ask(f"{about}{' / '.join(choices)}{hint}: ")).strip().casefold().removeprefix("/")
        if not typed and default is not None:
            return default
        if typed in alone or (typed.split()[:1] and typed.split()[0] in longer):
            return typed
        console.write(f"Please type one of: {', '.join(choices)}.")
