"""`Viewport`: the lines of a view that are visible if the terminal is too small for all of them."""

from __future__ import annotations

from mcp_elicit_client.handlers.terminal.interactive.rendering import Drawing, Line


class Viewport:
    """
    The visible lines of a drawing, which scroll.

    Attributes:
        overflows: There are more lines than fit.
    """

    def __init__(self) -> None:
        self.overflows: bool = False
        self._was_at_end = False
        self._top = 0
        self._height = 1
        self._length = 0
        self._items: list[int] = []
        self._follows = False

    @property
    def has_unseen_lines(self) -> bool:
        """True if the end of the drawing was never visible."""
        return self.overflows and not self._was_at_end

    def follow_focus(self) -> None:
        """Scroll to the focus when the next drawing is shown."""
        self._follows = True

    def show(self, drawing: Drawing, height: int) -> list[Line]:
        """Return the lines of *drawing* that are visible in *height* rows: those of before, or around the focus."""
        self._items, self._length, self._height = drawing.items, len(drawing.lines), height
        last = max(self._length - height, 0)
        if self._follows and drawing.focus is not None:
            first, end = drawing.focus
            self._top = max(self._top, end - height + 2) if end < self._length - 1 else last
            self._top = min(self._top, first)
            cursor = drawing.cursor[:1] if drawing.cursor is not None else ()
            for line in (*cursor, *reversed(drawing.option or ())):
                self._top = min(max(self._top, line - height + 1), line)
        elif drawing.focus is not None and drawing.focus[0] < self._top <= drawing.focus[1]:
            first, end = drawing.focus
            if end - first + 1 < height:
                self._top = first  # the page begins with the label of its first field
        self._top = min(max(self._top, 0), last)
        self.overflows = last > 0
        self._was_at_end = self._was_at_end or self._top >= last
        return drawing.lines[self._top : self._top + height]

    def turn_page(self, step: int) -> list[int]:
        """Scroll *step* pages down, and return the indices of the fields or answers on the page, in part or whole."""
        last = max(self._length - self._height, 0)
        self._top = min(max(self._top + step * max(self._height - 1, 1), 0), last)
        self._follows = False
        ends = [*self._items[1:], self._length]
        spans = enumerate(zip(self._items, ends, strict=False))
        return [at for at, (first, end) in spans if first < self._top + self._height and end > self._top]

    def row_of(self, line: int) -> int | None:
        """Return the row, from 0 on, in which *line* of the drawing is visible; None if it is not."""
        row = line - self._top
        return row if 0 <= row < self._height else None

    def item_at(self, row: int) -> int | None:
        """Return the index of the field or answer in *row*, which counts from 0; None if the row has none."""
        if not 0 <= row < min(self._height, self._length - self._top):
            return None
        before = [at for at, first in enumerate(self._items) if first <= row + self._top]
        return before[-1] if before else None

    def count_hidden(self) -> tuple[int, int]:
        """Return how many fields or answers begin above and below the page; without any, how many lines are there."""
        end = self._top + self._height
        if not self._items:
            return self._top, max(self._length - end, 0)
        return sum(line < self._top for line in self._items), sum(line >= end for line in self._items)
