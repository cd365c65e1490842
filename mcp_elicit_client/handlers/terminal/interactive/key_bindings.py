"""Keys, and what they mean to a view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from mcp_elicit_client.handlers.terminal.interactive.view import View

# The keys that every view knows, by what they mean.
_ALWAYS: dict[str, str] = {
    "c-c": "cancel",
    "<sigint>": "cancel",
    "c-d": "decline",
    "f4": "block",
    "c-s": "send",
    "escape": "escape",
    "tab": "next",
    "s-tab": "previous",
    "up": "up",
    "down": "down",
    "enter": "enter",
    "c-j": "newline",
    "f1": "more",
    "f2": "omit",
    "pageup": "page-up",
    "pagedown": "page-down",
    "c-z": "ignored",
    "c-q": "ignored",
    "c-r": "ignored",
}

# The keys that edit where there is something to edit.
_UNLESS_TYPING: dict[str, str] = {
    "left": "left",
    "right": "right",
    "backspace": "erase",
    "delete": "erase",
    "c-h": "erase",
}


def bindings_of(view: Callable[[], View | None], press: Callable[[str, str], None]) -> KeyBindings:
    """
    Bind the keys.

    Args:
        view: Returns what is on screen.
        press: Takes what a key means, and what it typed.
    """
    bindings = KeyBindings()

    def takes_keys() -> View | None:
        """Return the view unless it is asking something, or waiting."""
        shown = view()
        return shown if shown is not None and shown.confirmation is None and not shown.busy else None

    def is_typing() -> bool:
        shown = takes_keys()
        return shown is not None and shown.buffer is not None

    def takes_spaces() -> bool:
        shown = takes_keys()
        return shown is not None and shown.takes_spaces

    def bind(key: str, name: str, **options: Any) -> None:
        def handle(event: KeyPressEvent) -> None:
            press(name, event.data)

        bindings.add(key, **options)(handle)

    typing = Condition(is_typing)
    for key, name in _ALWAYS.items():
        # Escape means itself, and begins no other key.
        bind(key, name, eager=key == "escape")
    for key, name in _UNLESS_TYPING.items():
        bind(key, name, filter=~typing)
    bind(" ", "space", filter=~Condition(takes_spaces))
    bind(Keys.BracketedPaste, "paste")
    bind(Keys.Any, "char", filter=~typing)
    return bindings
