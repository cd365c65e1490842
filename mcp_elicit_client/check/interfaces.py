"""The user interfaces of this package that ``mcp-elicit check --interface`` tests."""

from __future__ import annotations

from collections.abc import Mapping

INTERFACES: Mapping[str, str] = {
    "pages": "web pages over HTTP (inbox_app, as BrowserHandler shows them)",
    "inbox": "the JSON API of the inbox over HTTP (inbox_app)",
    "terminal": "the interactive form of the terminal, by keys (TerminalHandler)",
    "chat": "the conversation in a chat with buttons and replies (ChatHandler)",
}
"""What is driven, by the name of the interface."""

SERVER = "mail"
"""The server name that the interfaces show."""

_MODULES = {"pages": "web", "inbox": "web", "terminal": "screen", "chat": "chats"}
_PACKAGE = "mcp_elicit_client.testing.interfaces"


def spec_of(name: str) -> str:
    """Return the ``MODULE:OBJECT`` of the interface *name*; its members are ``callback`` and ``follow``."""
    return f"{_PACKAGE}.{_MODULES[name]}:{name}"
