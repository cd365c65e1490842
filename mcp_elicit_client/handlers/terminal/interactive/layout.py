"""The window and key bindings of the application."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prompt_toolkit.application import get_app_or_none
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Point
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import BufferControl, UIContent
from prompt_toolkit.layout.controls import GetLinePrefixCallable
from prompt_toolkit.mouse_events import MouseEvent, MouseEventType

from mcp_elicit_client.handlers.terminal.interactive.rendering import Drawing, Line, columns, has_disputed_width
from mcp_elicit_client.handlers.terminal.interactive.view import View

_KEYS: dict[str, str] = {
    "c-c": "cancel",
    "<sigint>": "cancel",
    "f3": "decline",
    "f4": "block",
    "f6": "remember",
    "f5": "more-time",
    "c-s": "send",
    "escape": "escape",
    "tab": "next",
    "s-tab": "previous",
    "up": "up",
    "down": "down",
    "enter": "enter",
    "c-j": "newline",
    "f1": "details",
    "f2": "omit",
    "pageup": "page-up",
    "pagedown": "page-down",
    "c-z": "undo",
    "c-q": "ignored",
    "c-r": "ignored",
}
"""The keys of all views, with their meanings."""

_KEYS_WITHOUT_INPUT: dict[str, str] = {
    "left": "left",
    "right": "right",
    "backspace": "erase",
    "delete": "erase",
    "c-h": "erase",
    "c-d": "erase",
}
"""The keys that edit text if a text input has the focus, with their meanings otherwise."""


_ERASE_LINE = "\r\x1b[2K"
_WHEEL = {MouseEventType.SCROLL_UP: "page-up", MouseEventType.SCROLL_DOWN: "page-down"}


class ViewControl(BufferControl):
    """
    Shows a view and passes typed text to the buffer of its focused input.

    Args:
        view: Returns the view.
        draw: Returns the lines of the view, for a width and a height.
    """

    def __init__(self, view: Callable[[], View | None], draw: Callable[[int, int], Drawing]) -> None:
        self._view = view
        self._draw = draw
        # This buffer is not read-only, because letters would then search in it.
        self._no_input = Buffer()
        super().__init__(buffer=self._no_input, focusable=True)
        self._kept: tuple[object, UIContent] | None = None
        self._lines: list[Line] = []
        self._is_disputed = False
        self._is_odd = False

    @property
    def buffer(self) -> Buffer:
        view = _interactive(self._view())
        return self._no_input if view is None or view.buffer is None else view.buffer

    @buffer.setter
    def buffer(self, buffer: Buffer) -> None:
        """Ignore the buffer of the base class."""

    def mouse_handler(self, mouse_event: MouseEvent) -> None:
        """Scroll, or pass a click to the view.  A click only moves the focus."""
        application = get_app_or_none()
        view = self._view() if application is not None and application.mouse_support() else None
        if view is not None and mouse_event.event_type is MouseEventType.MOUSE_UP:
            view.click(mouse_event.position.y)
        elif view is not None and mouse_event.event_type in _WHEEL:
            view.press(_WHEEL[mouse_event.event_type])

    def preferred_height(
        self,
        width: int,
        max_available_height: int,  # noqa: ARG002
        wrap_lines: bool,  # noqa: ARG002, FBT001
        get_line_prefix: GetLinePrefixCallable | None,  # noqa: ARG002
    ) -> int | None:
        return self._content(width).line_count

    def preferred_width(self, max_available_width: int) -> int | None:
        return max_available_width

    def create_content(self, width: int, height: int, preview_search: bool = False) -> UIContent:  # noqa: ARG002, FBT001, FBT002
        return self._content(width)

    def _content(self, width: int) -> UIContent:
        application = get_app_or_none()
        rows = application.output.get_size().rows if application is not None else 24
        key = (application.render_counter if application is not None else 0, width, rows, self._view())
        if self._kept is None or self._kept[0] != key:
            drawing = self._draw(width, rows)
            self._kept = (key, _as_content(drawing, width, self._whole_lines(drawing)))
        return self._kept[1]

    def _whole_lines(self, drawing: Drawing) -> str:
        """
        Return a style that makes prompt_toolkit write all lines of *drawing*; empty if it may write what has changed.

        What has changed is written to columns that are counted.  Where the
        terminal counts others, it would remain between letters from before.
        """
        was_disputed = self._is_disputed
        self._is_disputed = any(has_disputed_width(text) for line in drawing.lines for _, text in line)
        if drawing.lines != self._lines:
            self._lines, self._is_odd = drawing.lines, not self._is_odd
        if not (was_disputed or self._is_disputed):
            return ""
        return "class:odd" if self._is_odd else "class:even"  # no character keeps its style


def _as_content(drawing: Drawing, width: int, style: str) -> UIContent:
    lines: list[StyleAndTextTuples] = [[*line, ("", " ")] for line in drawing.lines]
    if style:
        erase = ("[ZeroWidthEscape]", _ERASE_LINE)
        lines = [[erase, *((f"{each[0]} {style}", each[1]) for each in line)] for line in lines]
    row, at = drawing.cursor or (0, 0)
    before = "".join(text for _, text in drawing.lines[row])[:at] if drawing.lines else ""
    while columns(before) >= width:  # the window would scroll, and hide the marks before text of the server
        before = before[:-1]
    return UIContent(
        get_line=lambda number: lines[number] if number < len(lines) else [],
        line_count=max(len(lines), 1),
        cursor_position=Point(x=len(before), y=row),
        show_cursor=drawing.shown and drawing.cursor is not None,
    )


def bindings_of(view: Callable[[], View | None], press: Callable[[str, str], None]) -> KeyBindings:
    """
    Return the key bindings.

    Args:
        view: Returns the view.
        press: Handles the meaning of a key and the text that it typed.
    """
    bindings = KeyBindings()

    def is_typing() -> bool:
        shown = _interactive(view())
        return shown is not None and shown.buffer is not None

    def takes_spaces() -> bool:
        shown = _interactive(view())
        return shown is not None and shown.takes_spaces

    def bind(key: str, name: str, **options: Any) -> None:
        def handle(event: KeyPressEvent) -> None:
            press(name, event.data)

        bindings.add(key, **options)(handle)

    typing = Condition(is_typing)
    for key, name in _KEYS.items():
        # Escape does not begin another key.
        bind(key, name, eager=key == "escape")
    for key, name in _KEYS_WITHOUT_INPUT.items():
        bind(key, name, filter=~typing)
    bind("c-d", "delete", filter=typing)
    bind(" ", "space", filter=~Condition(takes_spaces))
    bind(Keys.BracketedPaste, "paste")
    bind(Keys.Any, "char", filter=~typing)
    return bindings


def _interactive(view: View | None) -> View | None:
    """Return *view* unless it asks a question or is busy."""
    return view if view is not None and view.question is None and not view.busy else None
