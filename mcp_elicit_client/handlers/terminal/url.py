"""Ask for consent before a page is opened, and wait where the protocol wants it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from mcp_elicit_client.core.urls import Target
from mcp_elicit_client.handlers.terminal.console import Console
from mcp_elicit_client.handlers.terminal.parts import asks, decide, introduce
from mcp_elicit_client.typing import Answer, UrlRequest

OpenUrl = Callable[[Target], Awaitable[bool]]
"""Tries to open a URL, and says whether a program took it."""

_FIRST_THAT_ASKS_AGAIN = "2026-07-28"
"""
From this revision on, the server learns of the answer only when it is asked
again: an answer before the user is done would be asked for again at once.
"""


async def ask_url(console: Console, request: UrlRequest, open_url: OpenUrl) -> Answer:
    """Show where the URL leads; open it only if the user says so."""
    introduce(console, request, asks(request))
    choice = await decide(console, ["open", "show", "decline", "cancel"])
    if choice in ("decline", "cancel"):
        return _refused(choice)
    opened = choice == "open" and await open_url(request.target)
    if opened and (request.protocol or "") < _FIRST_THAT_ASKS_AGAIN:
        console.write("A browser was asked to open the page.")
        return Answer.accept(by="user", reason="the user agreed; the URL was handed to a browser")
    if choice == "open" and not opened:
        console.write("No browser could be started here.")
    if not opened:
        console.write(f"Open this address yourself, here or on another device:\n\n{request.target.url}\n")
    while True:
        choice = await decide(console, ["done", "again", "decline", "cancel"], about="When you have finished there: ")
        match choice:
            case "done":
                return Answer.accept(by="user", reason="the user says to have been there")
            case "again":
                if not await open_url(request.target):
                    console.write(f"No browser could be started here.\n\n{request.target.url}\n")
            case _:
                return _refused(choice)


def _refused(choice: str) -> Answer:
    return Answer.decline(by="user") if choice == "decline" else Answer.cancel(by="user")
