"""`ReviewView`: the answers of a form before they are sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.handlers.terminal.interactive.control import Control
from mcp_elicit_client.handlers.terminal.interactive.rendering import Drawing, Line, host_text, server_text
from mcp_elicit_client.handlers.terminal.interactive.view import App, Button, Confirmation, View
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.descriptions import format_value, server_name
from mcp_elicit_client.presentation.warnings import RequestWarning, answer_warnings, must_confirm
from mcp_elicit_client.typing import Answer, FormRequest, Source


def values_of(controls: Sequence[Control]) -> dict[str, Any]:
    """Return the values to send, by field name."""
    return {each.field.name: each.state.value for each in controls if each.state.is_set}


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
    confirmation: Confirmation | None

    def __init__(
        self,
        app: App,
        request: FormRequest,
        controls: Sequence[Control],
        edit: Callable[[int | None], None],
        unchecked: Sequence[Diagnostic] = (),
    ) -> None:
        super().__init__(app, request)
        self.controls = controls
        self.row: int | None = None
        self._edit = edit
        self._unchecked = unchecked

    def is_touched(self) -> bool:
        return any(control.touched for control in self.controls)

    def buttons(self) -> Sequence[Button]:
        text = self.catalog.text
        edit = [Button("edit", text(messages.BACK), "Esc")] if self.controls else []
        return [Button("send", text(messages.SEND), "Ctrl+S", guarded=True), *edit, *self.refusal_buttons()]

    def keys(self) -> Sequence[tuple[str, str]]:
        return [("Up/Down Enter", self.catalog.text(messages.KEY_EDIT))] if self.controls else []

    def activate(self, name: str) -> None:
        match name:
            case "send":
                self._send()
            case "edit":
                self._edit(None)
            case _:
                super().activate(name)

    def handle_key(self, key: str, data: str) -> None:  # noqa: ARG002 -- nothing is typed here
        last = len(self.buttons()) - 1
        match key:
            case "next" | "right":
                self.row, self.at = None, 0 if self.at is None else min(self.at + 1, last)
            case "previous" | "left":
                self.row, self.at = None, last if self.at is None else max(self.at - 1, 0)
            case "down" | "up" if self.controls:
                step = 1 if key == "down" else -1
                rows = len(self.controls)
                self.row = (0 if step > 0 else rows - 1) if self.row is None else (self.row + step) % rows
                self.at = None
            case "enter" if self.row is not None:
                self._edit(self.row)
            case "enter":
                self.press_focused()

    def _escape(self) -> None:
        if self.controls:
            self.activate("edit")
        else:
            self.app.cancel()

    def _send(self) -> None:
        answer = Answer.accept(values_of(self.controls), by="user", sources=self._sources())
        warnings = self._warnings()
        if not must_confirm(warnings):
            self.app.end(answer)
            return
        confirmed = answer.model_copy(update={"confirmed": True})
        text = self.catalog.text(messages.SEND_ANYWAY)
        cautions = [warning.text for warning in warnings if not warning.is_note]
        self.confirmation = Confirmation(text, lambda: self.app.end(confirmed), warnings=cautions)

    def _sources(self) -> dict[str, Source]:
        return {each.field.name: each.state.source for each in self.controls if each.state.source is not None}

    def _warnings(self) -> Sequence[RequestWarning]:
        form, values = self.request.form, values_of(self.controls)
        return answer_warnings(form, values, self._sources(), self.catalog, self._unchecked)

    def body(self, width: int) -> Drawing:
        text = self.catalog.text
        if not self.controls:
            drawing = self.message(width)
            drawing.lines += host_text(text(messages.SEND_CONFIRMS), width)
            drawing.cursor = (len(drawing.lines) - 1, 0)
            return drawing
        drawing = Drawing(host_text(text(messages.CHECK_ANSWERS), width))
        for at, control in enumerate(self.controls):
            if at == self.row:
                drawing.cursor = (len(drawing.lines), 0)
            drawing.lines += self._row(control, width, pointed=at == self.row)
        for warning in self._warnings():
            if warning.is_note:
                drawing.lines += host_text(warning.text, width, "class:hint")
        drawing.lines += host_text(text(messages.SENT_TO, server=server_name(self.request.server)), width)
        if drawing.cursor is None:
            drawing.cursor = (0, 0)
        return drawing

    def _row(self, control: Control, width: int, *, pointed: bool) -> list[Line]:
        value = format_value(control.field, control.state.value, self.catalog)
        lines = server_text(f"{control.field.title}: {value}", width)
        if pointed:
            lines[0] = [("class:focus", ">"), ("class:gutter", lines[0][0][1][1:]), *lines[0][1:]]
        if control.note():
            lines += host_text(f"({control.note()})", width, "class:hint", "    ")
        return lines
