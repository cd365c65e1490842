"""A field of the form: in one line, or with all there is to know where the keys go to."""

from __future__ import annotations

from mcp_elicit_client.core.form import ChoiceField, Field, MultiChoiceField, TextField
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.handlers.terminal.interactive.control import Control
from mcp_elicit_client.handlers.terminal.interactive.old_descriptions import expectation
from mcp_elicit_client.handlers.terminal.interactive.old_messages import MessageCatalog
from mcp_elicit_client.handlers.terminal.interactive.rendering import (
    INDENT,
    VALUE,
    Drawing,
    Line,
    cut,
    host_text,
    pad,
    server_text,
)
from mcp_elicit_client.presentation.quoting import GUTTER

_NARROW = 50
_PATTERN = 512


def row(control: Control, width: int, titles: int) -> Drawing:
    """Draw a field that the keys do not go to, in one line where there is room."""
    outcome = control.state
    style = "class:suggestion" if outcome.source == "default" else "class:value" if outcome.is_set else "class:hint"
    note = f"  ({control.note()})" if control.note() else ""
    value = control.summary()
    drawn = Drawing()
    if width < _NARROW:
        title = [
            *_mark(control, focused=False),
            ("class:server", cut(control.field.title, width - len(GUTTER))),
        ]
        drawn.lines += [title, [("class:gutter", VALUE), (style, cut(value, width - len(VALUE)))]]
    else:
        room = width - len(GUTTER) - titles - len(VALUE)
        shown = cut(value, room - len(note))
        drawn.lines.append(
            [
                *_mark(control, focused=False),
                ("class:server", pad(control.field.title, titles)),
                ("class:gutter", VALUE),
                (style, shown),
                ("class:hint", note),
            ]
        )
    drawn.lines += _complaints(control, width)
    return drawn


def focused(control: Control, width: int, *, more: bool) -> Drawing:
    """Draw the field that the keys go to, with all there is to know about it."""
    field, words = control.field, control.words
    title = server_text(field.title or " ", width)
    drawn = Drawing([[*_mark(control, focused=True), *title[0][1:]], *title[1:]])
    if field.description:
        drawn.lines += server_text(field.description, width, "class:hint")
    drawn.add(control.rows(width))
    required = words.required if field.required else words.optional
    notes = [required, expectation(field, words), control.note()]
    drawn.lines += host_text("; ".join(each for each in notes if each), width, "class:hint", INDENT)
    if field.sensitive:
        drawn.lines += host_text(words.careful_secret, width, "class:warning", INDENT)
    drawn.lines += _complaints(control, width)
    if more:
        drawn.lines += _more(field, words, width)
    return drawn


def _mark(control: Control, *, focused: bool) -> Line:
    star = "*" if control.field.required else " "
    return [("class:focus", ">" if focused else " "), ("class:error", star), ("class:gutter", GUTTER[2:])]


def _complaints(control: Control, width: int) -> list[Line]:
    lines: list[Line] = []
    for text in control.complaints():
        lines += host_text(f"! {text}", width, "class:error", INDENT)
    return lines


def _more(field: Field, words: MessageCatalog, width: int) -> list[Line]:
    """Draw what is seldom wanted: the field's name, its pattern, its options in full."""
    lines = host_text(words.name_is, width, "class:hint", INDENT)
    lines += server_text(sanitize_text(field.name, limit=_PATTERN, multiline=False), width)
    text = field.item if isinstance(field, MultiChoiceField) else field
    if isinstance(text, TextField) and text.pattern is not None:
        shown = sanitize_text(text.pattern, limit=_PATTERN, multiline=False)
        lines += server_text(words.pattern.format(pattern=shown), width)
    if isinstance(field, (ChoiceField, MultiChoiceField)) and field.choices:
        lines += host_text(words.all_options, width, "class:hint", INDENT)
        for choice in field.choices:
            lines += server_text(f"- {field.label_of(choice)}", width)
    return lines
