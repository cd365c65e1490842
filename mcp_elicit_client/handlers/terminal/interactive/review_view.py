"""`ReviewView`: the answers of a form before they are sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.form import NumberField, TextField
from mcp_elicit_client.handlers.terminal.interactive.control import Control
from mcp_elicit_client.handlers.terminal.interactive.rendering import (
    CLOSE,
    GUTTER,
    Drawing,
    Line,
    beside,
    columns,
    host_text,
    input_text,
    server_text,
    value_room,
    without_bars,
)
from mcp_elicit_client.handlers.terminal.interactive.view import App, KeyAction, View
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import no_keys, yes_keys
from mcp_elicit_client.presentation.descriptions import format_value, server_name
from mcp_elicit_client.presentation.remembering import remember_label
from mcp_elicit_client.presentation.warnings import RequestWarning, answer_warnings, must_confirm
from mcp_elicit_client.typing import Answer, FormRequest, Source

_INERT = 0.3
"""Seconds until the answers can be sent."""

_MAX_LABEL = 32
_NO_LIMIT = 100_000


def values_of(controls: Sequence[Control]) -> dict[str, Any]:
    """Return the values to send, by field name."""
    return {each.field.name: each.state.value for each in controls if each.state.is_set}


def label_width(controls: Sequence[Control], width: int) -> int:
    """Return the columns for the labels of all fields."""
    room = max(min(_MAX_LABEL, (width - len(GUTTER) - len(CLOSE)) * 2 // 5), 0)
    return min(max(each.title_width for each in controls), room)


class ReviewView(View):
    """
    The answers of a form.

    Attributes:
        controls: The controls of the form.
        row: The index of the field that Enter edits; None if no field is
            pointed at.

    Args:
        app: The application.
        request: The request.
        controls: The controls of the form.
        edit: Returns to the form, at the field with an index or where it was.
        unchecked: The patterns that could not be checked.
    """

    request: FormRequest

    def __init__(
        self,
        app: App,
        request: FormRequest,
        controls: Sequence[Control],
        edit: Callable[[int | None], None],
        unchecked: Sequence[Diagnostic],
    ) -> None:
        super().__init__(app, request)
        self.controls = controls
        self.row: int | None = None
        self._edit = edit
        sources = self._sources()
        self._found = answer_warnings(request.form, values_of(controls), sources, self.catalog, unchecked)

    @property
    def inert(self) -> float:
        return min(self.app.inert, _INERT)

    @property
    def scrolls_first(self) -> bool:
        return self.row is None and super().scrolls_first

    def is_touched(self) -> bool:
        return any(control.touched for control in self.controls)

    def warnings(self) -> Iterable[RequestWarning]:
        return [*super().warnings(), *(each for each in self._found if not each.is_note)]

    def actions(self) -> Sequence[KeyAction]:
        text = self.catalog.text
        back = KeyAction("back", text(messages.BACK), "←", meaning="left")
        refusals = self.leaving_actions()
        if self.row is not None:
            return [KeyAction("edit", text(messages.CHANGE), text(messages.ENTER), meaning="enter"), back, *refusals]
        if self.warned or must_confirm(self._found):
            taken = yes_keys(self.catalog) + no_keys(self.catalog) + refusals[0].letters
            letter = next(each for each in "swa" if each not in taken)
            letters, label = letter + letter.upper(), text(messages.SEND_WITH_WARNINGS)
            send = KeyAction("send", label, letter, letters, meaning="send", guarded=True, careful=True)
            return [refusals[0], back, send, *refusals[1:]]
        if self.scrolls_first:
            send = KeyAction("send", text(messages.SEND), "Ctrl+S", meaning="send", guarded=True)
            return [send, back, *refusals]
        label, enter = text(messages.SEND), text(messages.ENTER)
        send = KeyAction("send", label, enter, meaning="enter", guarded=True, style="class:pressed")
        return [send, back, *refusals]

    @property
    def remember_label(self) -> str:
        return "" if must_confirm(self._found) else remember_label(self.request, self.catalog)

    def activate(self, name: str) -> None:
        match name:
            case "send":
                self._send()
            case "back":
                self._edit(None)
            case "edit":
                self._edit(self.row)

    def handle_key(self, key: str, data: str) -> None:  # noqa: ARG002 -- nothing is typed here
        count = len(self.controls)
        match key:
            case "send" if self.row is None:  # the same as Enter, where Enter sends
                self._press("enter", "")
            case "down" | "next":
                row = 0 if self.row is None else self.row + 1
                self.row = row if row < count else None
            case "up" | "previous":
                row = (count if self.row is None else self.row) - 1
                self.row = row if row >= 0 else None
            case _:
                self._list_keys(action.key for action in self.actions())

    def point_at(self, item: int) -> None:
        self.row = item

    def _send(self) -> None:
        answer = Answer.accept(values_of(self.controls), by="user", sources=self._sources())
        confirmed = {"confirmed": True} if must_confirm(self._found) else {}
        self.app.end(answer.model_copy(update=confirmed))

    def _sources(self) -> dict[str, Source]:
        return {each.field.name: each.state.source for each in self.controls if each.state.source is not None}

    # --- Drawing

    def title(self) -> Line:
        return [("class:host", self.catalog.text(messages.CHECK_ANSWERS))]

    def body(self, width: int) -> Drawing:
        drawing = Drawing()
        titles = label_width(self.controls, width)
        for at, control in enumerate(self.controls):
            drawing.items.append(len(drawing.lines))
            lines = self._row(control, width, titles, pointed=at == self.row)
            if at == self.row:
                drawing.cursor = (len(drawing.lines), 0)
                drawing.focus = (len(drawing.lines), len(drawing.lines) + len(lines) - 1)
            drawing.lines += lines
        drawing.lines.append([])
        for warning in self._found:
            if warning.is_note:
                drawing.lines += host_text(warning.text, width, "class:hint", " ")
        drawing.lines += self.remember_lines(width)
        sent_to = self.catalog.text(messages.SENT_TO, server=server_name(self.request.server))
        drawing.lines += host_text(sent_to, width, "class:host", " ")
        if drawing.cursor is None:
            drawing.cursor = (0, 0)
        return drawing

    def _row(self, control: Control, width: int, titles: int, *, pointed: bool) -> list[Line]:
        mark: Line = [("class:focus", ">" if pointed else " "), ("", "  ")]
        label, style = control.field.title, control.style if control.state.is_set else "class:hint"
        lines: list[Line] = []
        if columns(label) > titles:
            lines += server_text(without_bars(label), width, "class:server", mark)
            label, mark = "", [("", "   ")]
        value = input_text(
            self._shown(control), None, value_room(width, titles), hidden=False, style=style, rows=_NO_LIMIT
        )
        note = control.note()
        last = columns(value.lines[-1][-1][1])
        if note and last + columns(note) + 4 < value_room(width, titles):
            value.lines[-1] = [*value.lines[-1], ("class:hint", f"  ({note})")]
        return [*lines, *beside(mark, label, titles, value).lines]

    def _shown(self, control: Control) -> str:
        """Return the value as it is sent, line breaks included."""
        value = control.state.value
        is_text = isinstance(control.field, (TextField, NumberField)) and not control.field.is_hidden
        if is_text and control.state.is_set and value != "":
            return str(value)
        return format_value(control.field, value, self.catalog)
