"""The windows of the application: a part that scrolls, between two that do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from prompt_toolkit.application import get_app_or_none
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Point
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout import BufferControl, UIContent, Window
from prompt_toolkit.layout.controls import FormattedTextControl, GetLinePrefixCallable
from prompt_toolkit.layout.dimension import Dimension

from mcp_elicit_client.handlers.terminal.interactive.rendering import Drawing, Line

if TYPE_CHECKING:
    from mcp_elicit_client.handlers.terminal.interactive.application import TerminalApp


class ViewControl(BufferControl):
    """Draws the view; what is typed goes to the buffer of the field that has the keys."""

    def __init__(self, stage: TerminalApp) -> None:
        self._stage = stage
        # Not read-only: then letters would search in it.
        self._nothing = Buffer()
        super().__init__(buffer=self._nothing, focusable=True)
        self._kept: tuple[object, UIContent] | None = None

    @property
    def buffer(self) -> Buffer:
        view = self._stage.view
        if view is None or view.confirmation is not None or view.busy or view.buffer is None:
            return self._nothing
        return view.buffer

    @buffer.setter
    def buffer(self, buffer: Buffer) -> None:
        """Ignore what the base class would set."""

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
        application = self._stage.application
        key = (application.render_counter if application is not None else 0, width, self._stage.view)
        if self._kept is None or self._kept[0] != key:
            drawing = self._stage.draw(lambda view: view.content(width), Drawing())
            self._kept = (key, _as_content(drawing))
        return self._kept[1]


def _as_content(drawing: Drawing) -> UIContent:
    lines: list[StyleAndTextTuples] = [[*line, ("", " ")] for line in drawing.lines]
    row, at = drawing.cursor or (0, 0)
    return UIContent(
        get_line=lambda number: lines[number] if number < len(lines) else [],
        line_count=max(len(lines), 1),
        cursor_position=Point(x=at, y=row),
        show_cursor=drawing.shown and drawing.cursor is not None,
    )


def fixed(draw: Callable[[int], list[Line]]) -> Window:
    """Show lines that do not scroll."""

    def text() -> StyleAndTextTuples:
        application = get_app_or_none()
        width = application.output.get_size().columns if application is not None else 80
        pieces: StyleAndTextTuples = []
        for at, line in enumerate(draw(width)):
            pieces += [("", "\n"), *line] if at else line
        return pieces

    return Window(
        FormattedTextControl(text, focusable=False), dont_extend_height=True, wrap_lines=False, height=Dimension(min=1)
    )
