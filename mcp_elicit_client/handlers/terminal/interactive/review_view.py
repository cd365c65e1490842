"""The review: what would be sent, field by field, before it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mcp_elicit_client.core.secrets.in_answer import typed_secrets
from mcp_elicit_client.handlers.terminal.interactive.old_descriptions import format_value
from mcp_elicit_client.handlers.terminal.interactive.rendering import Drawing, Line, host_text, server_text
from mcp_elicit_client.handlers.terminal.interactive.view import Button, Confirmation, View
from mcp_elicit_client.typing import Answer

if TYPE_CHECKING:
    from mcp_elicit_client.handlers.terminal.interactive.application import TerminalApp
    from mcp_elicit_client.handlers.terminal.interactive.control import Control
    from mcp_elicit_client.handlers.terminal.interactive.form_view import FormView


class ReviewView(View):
    """
    What would be sent.

    Attributes:
        form: Where it comes from, and goes back to.
        row: The field that Enter would go back to; None if none.
    """

    confirmation: Confirmation | None

    def __init__(self, stage: TerminalApp, form: FormView) -> None:
        super().__init__(stage, form.request)
        self.form = form
        self.row: int | None = None

    def is_touched(self) -> bool:
        return self.form.is_touched()

    def buttons(self) -> Sequence[Button]:
        words = self.words
        edit = [Button("edit", words.do_edit, "Esc")] if self.form.controls else []
        never = [Button("block", words.do_block, "F4")] if self.request.can_block else []
        return [
            Button("send", words.do_send, "Ctrl+S", guarded=True),
            *edit,
            Button("decline", words.do_decline, "Ctrl+D"),
            *never,
            Button("cancel", words.do_cancel, "Ctrl+C"),
        ]

    def keys(self) -> Sequence[tuple[str, str]]:
        return [("Up/Down Enter", self.words.key_edit)] if self.form.controls else []

    def activate(self, name: str) -> None:
        match name:
            case "send":
                self._send()
            case "edit":
                self.stage.switch_to(self.form)
            case _:
                self.form.activate(name)

    def handle_key(self, key: str, data: str) -> None:  # noqa: ARG002 -- nothing is typed here
        last = len(self.buttons()) - 1
        match key:
            case "next" | "right":
                self.row, self.at = None, 0 if self.at is None else min(self.at + 1, last)
            case "previous" | "left":
                self.row, self.at = None, last if self.at is None else max(self.at - 1, 0)
            case "down" | "up" if self.form.controls:
                step = 1 if key == "down" else -1
                rows = len(self.form.controls)
                self.row = (0 if step > 0 else rows - 1) if self.row is None else (self.row + step) % rows
                self.at = None
            case "enter" if self.row is not None:
                self.form.go_to(self.row)
                self.stage.switch_to(self.form)
            case "enter":
                self.press_focused()

    def _escape(self) -> None:
        if self.form.controls:
            self.activate("edit")
        else:
            self.stage.cancel()

    def _send(self) -> None:
        sources = self.form.sources()
        values = self.form.values()
        found = typed_secrets(self.form.request.form, values, sources)
        answer = Answer.accept(values, by="user", sources=sources)
        if not found:
            self.stage.end(answer)
            return
        confirmed = answer.model_copy(update={"confirmed": True})
        warnings = dict.fromkeys(self.words.problems.get("sensitive_data", each.message) for each in found)
        self.confirmation = Confirmation(
            self.words.ask_secret, lambda: self.stage.end(confirmed), warnings=list(warnings)
        )

    def body(self, width: int) -> Drawing:
        if not self.form.controls:
            drawing = self.message(width)
            drawing.lines += host_text(self.words.send_confirms, width)
            drawing.cursor = (len(drawing.lines) - 1, 0)
            return drawing
        drawing = Drawing(host_text(self.words.review, width))
        for at, control in enumerate(self.form.controls):
            if at == self.row:
                drawing.cursor = (len(drawing.lines), 0)
            drawing.lines += self._row(control, width, pointed=at == self.row)
        drawing.lines += host_text(self.words.goes_to.format(server=self.name), width)
        if drawing.cursor is None:
            drawing.cursor = (0, 0)
        return drawing

    def _row(self, control: Control, width: int, *, pointed: bool) -> list[Line]:
        outcome = control.state
        value = format_value(control.field, outcome.value, self.words) if outcome.is_set else f"({self.words.left_out})"
        lines = server_text(f"{control.field.title}: {value}", width)
        if pointed:
            lines[0] = [("class:focus", ">"), ("class:gutter", lines[0][0][1][1:]), *lines[0][1:]]
        if control.note():
            lines += host_text(f"({control.note()})", width, "class:hint", "    ")
        return lines
