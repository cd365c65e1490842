"""The visible part of a view that is longer than the terminal."""

from __future__ import annotations

from mcp_elicit_client.handlers.terminal.interactive.rendering import Drawing
from mcp_elicit_client.handlers.terminal.interactive.viewport import Viewport


def ten_lines(focus: int = 0) -> Drawing:
    """Five fields of two lines each."""
    lines = [[("", str(at))] for at in range(10)]
    return Drawing(lines, cursor=(focus, 0), focus=(focus, focus + 1), items=[0, 2, 4, 6, 8])


def shown(viewport: Viewport, drawing: Drawing, height: int = 4) -> str:
    return "".join(text for line in viewport.show(drawing, height) for _, text in line)


def test_a_page_begins_with_the_last_line_of_the_one_before() -> None:
    viewport = Viewport()

    pages = [shown(viewport, ten_lines())]
    for _ in range(3):
        viewport.turn_page(1)
        pages.append(shown(viewport, ten_lines()))

    assert pages == ["0123", "3456", "6789", "6789"]


def test_the_focus_is_visible_until_the_user_turns_the_page() -> None:
    viewport = Viewport()
    viewport.follow_focus()

    assert "67" in shown(viewport, ten_lines(focus=6))
    assert viewport.turn_page(-2) == [0, 1]
    assert shown(viewport, ten_lines(focus=6)) == "0123"


def test_a_focus_that_is_longer_than_the_page_is_read_page_by_page() -> None:
    viewport = Viewport()
    drawing = Drawing([[("", str(at))] for at in range(10)], cursor=(1, 0), focus=(1, 7), items=[0, 1, 8])
    viewport.follow_focus()

    pages = [shown(viewport, drawing)]
    visible = []
    for _ in range(2):
        visible.append(viewport.turn_page(1))
        pages.append(shown(viewport, drawing))

    assert pages == ["1234", "4567", "6789"]
    assert visible == [[1], [1, 2]]


def test_a_focus_as_long_as_the_page_does_not_hold_it() -> None:
    viewport = Viewport()
    drawing = Drawing([[("", str(at))] for at in range(10)], cursor=(0, 0), focus=(0, 3), items=[0, 4, 5, 6])

    pages = [shown(viewport, drawing)]
    for _ in range(2):
        viewport.turn_page(1)
        pages.append(shown(viewport, drawing))

    assert pages == ["0123", "3456", "6789"]


def test_lines_are_unseen_until_the_end_was_visible() -> None:
    viewport = Viewport()

    shown(viewport, ten_lines())
    assert viewport.has_unseen_lines
    viewport.turn_page(2)
    shown(viewport, ten_lines())
    viewport.turn_page(-2)
    shown(viewport, ten_lines())
    assert viewport.overflows
    assert not viewport.has_unseen_lines


def test_a_row_of_the_terminal_belongs_to_the_field_that_is_drawn_there() -> None:
    viewport = Viewport()
    shown(viewport, ten_lines())
    viewport.turn_page(1)
    shown(viewport, ten_lines())

    assert [viewport.item_at(row) for row in range(-1, 5)] == [None, 1, 2, 2, 3, None]
    assert [viewport.row_of(line) for line in (2, 3, 6, 7)] == [None, 0, 3, None]
    assert viewport.count_hidden() == (2, 1)
