"""The form: every field in sight, checked while it is typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from prompt_toolkit.buffer import Buffer

from mcp_elicit_client.core.form import BooleanField, ChoiceField, Field, MultiChoiceField
from mcp_elicit_client.core.helpers import validate
from mcp_elicit_client.core.schema.enums import Choice
from mcp_elicit_client.core.validation.content import ValidationResult
from mcp_elicit_client.handlers.terminal.interactive.control import Control, ControlState
from mcp_elicit_client.handlers.terminal.interactive.field_rows import focused, row
from mcp_elicit_client.handlers.terminal.interactive.old_descriptions import format_error
from mcp_elicit_client.handlers.terminal.interactive.rendering import Drawing, host_text
from mcp_elicit_client.handlers.terminal.interactive.review_view import ReviewView
from mcp_elicit_client.handlers.terminal.interactive.select_control import BooleanControl, SelectControl
from mcp_elicit_client.handlers.terminal.interactive.text_control import TextControl
from mcp_elicit_client.handlers.terminal.interactive.view import Button, View
from mcp_elicit_client.presentation.quoting import columns
from mcp_elicit_client.typing import Answer, FormRequest, Source

if TYPE_CHECKING:
    from mcp_elicit_client.handlers.terminal.interactive.application import TerminalApp
    from mcp_elicit_client.handlers.terminal.interactive.old_messages import MessageCatalog

_TITLE = 32


def control_of(field: Field, words: MessageCatalog) -> Control:
    """Make the control that *field* is answered with."""
    match field:
        case BooleanField():
            return BooleanControl(field, words)
        case ChoiceField() | MultiChoiceField(choices=(Choice(), *_)):
            return SelectControl(field, words)
        case _:
            return TextControl(field, words)


class FormView(View):
    """
    A form to be filled in.

    Attributes:
        controls: One for each field.
    """

    request: FormRequest
    busy: bool

    def __init__(self, stage: TerminalApp, request: FormRequest) -> None:
        super().__init__(stage, request)
        self.controls: list[Control] = [control_of(field, stage.words) for field in request.form.fields]
        for control in self.controls:
            control.on_change = self._changed
        self.place: int = 0
        self.more: bool = False
        self.status: str = ""
        self._looking: set[str] = set()

    @property
    def control(self) -> Control | None:
        """The control that the keys go to."""
        return self.controls[self.place] if self.at is None and self.controls else None

    @property
    def buffer(self) -> Buffer | None:
        return self.control.buffer if self.control is not None else None

    @property
    def takes_spaces(self) -> bool:
        return isinstance(self.control, TextControl)

    def is_touched(self) -> bool:
        return any(control.touched for control in self.controls)

    def values(self) -> dict[str, Any]:
        """What would be sent."""
        return {each.field.name: each.state.value for each in self.controls if each.state.is_set}

    def sources(self) -> dict[str, Source]:
        """Who said so, by field."""
        outcomes = {each.field.name: each.state for each in self.controls}
        return {name: each.source for name, each in outcomes.items() if each.is_set and each.source is not None}

    def kept(self) -> dict[str, Any]:
        """What the user answered, for the next time."""
        return {each.field.name: each.state.value for each in self.controls if each.touched and each.state.is_set}

    def kept_texts(self) -> dict[str, str]:
        """What the user typed that is no answer yet, for the next time."""
        return {
            each.field.name: each.text
            for each in self.controls
            if isinstance(each, TextControl) and each.touched and each.text.strip() and not each.state.is_set
        }

    def restore(self, values: Mapping[str, Any], texts: Mapping[str, Any]) -> None:
        """Put back what the user had typed when the question was withdrawn."""
        for control in self.controls:
            name = control.field.name
            if name in texts and isinstance(control, TextControl):
                control.restore_text(str(texts[name]))
            elif name in values:
                control.restore(values[name])

    def buttons(self) -> Sequence[Button]:
        words = self.words
        never = [Button("block", words.do_block, "F4")] if self.request.can_block else []
        return [
            Button("send", words.do_review, "Ctrl+S", guarded=True),
            Button("decline", words.do_decline, "Ctrl+D"),
            *never,
            Button("cancel", words.do_cancel, "Ctrl+C"),
        ]

    def keys(self) -> Sequence[tuple[str, str]]:
        words = self.words
        own = self.control.keys() if self.control is not None else ()
        return [("Tab/Enter", words.key_next), *own, ("F1", words.key_more), ("Esc", words.key_leave)]

    def activate(self, name: str) -> None:
        match name:
            case "send":
                self._review()
            case "decline" | "block":
                self.stage.end(Answer.decline(by="user", block_server=name == "block"))
            case "cancel":
                self.stage.cancel()

    def handle_key(self, key: str, data: str) -> None:
        control = self.control
        if control is not None and key == "enter":
            control.press(key, data)
            self._move(1)
        elif control is not None and control.press(key, data):
            self.status = ""
        elif key in ("next", "down"):
            self._move(1)
        elif key in ("previous", "up"):
            self._move(-1)
        elif key == "more":
            self.more = not self.more
        elif key == "enter":
            self.press_focused()
        elif self.at is not None and key in ("left", "right"):
            last = len(self.buttons()) - 1
            self.at = min(max(self.at + (1 if key == "right" else -1), 0), last)

    def go_to(self, place: int) -> None:
        """Let the keys go to the field at *place*."""
        if self.control is not None:
            self.control.leave()
        self.place = place
        self.at = None

    def _move(self, step: int) -> None:
        count = len(self.controls)
        stops = count + len(self.buttons())
        here = self.place if self.at is None else count + self.at
        there = (here + step) % stops
        if self.control is not None:
            self.control.leave()
        if there < count:
            self.place, self.at = there, None
        else:
            self.at = there - count

    def begin(self) -> None:
        if self.stage.overflows:
            self.look = 0  # what the server says comes first
        for control in self.controls:
            if isinstance(control, TextControl):
                self._look(control)
        self.stage.refresh()

    def _changed(self, control: Control) -> None:
        self.status = ""
        self.look = None
        if isinstance(control, TextControl) and control.field.name not in self._looking:
            self._look(control)
        self.stage.refresh()

    def _look(self, control: TextControl) -> None:
        """Check the pattern of what is typed: one check at a time, of what is there by then."""
        if not control.state.pending or self.stage.application is None:
            return
        text = control.text

        def settle(outcome: ControlState) -> None:
            self._looking.discard(control.field.name)
            control.settle(text, outcome)
            self._look(control)

        self._looking.add(control.field.name)
        self.stage.call_later(lambda: control.look(text), settle)

    def _review(self) -> None:
        for control in self.controls:
            control.nagged = True
        if self._show_wrong():
            return
        self.busy = True
        check = partial(validate, self.request, self.values())
        self.stage.call_later(check, self._checked)

    def _checked(self, validation: ValidationResult) -> None:
        self.busy = False
        if validation.valid:
            self.stage.switch_to(ReviewView(self.stage, self))
            return
        places = {each.field.name: at for at, each in enumerate(self.controls)}
        for error in validation.errors:
            place = places.get(error.field)
            control = self.controls[place] if place is not None else None
            if place is not None and isinstance(control, TextControl):
                control.refuse(error)
                self.go_to(place)
            self.status = format_error(error, self.words)

    def _show_wrong(self) -> bool:
        wrong = [at for at, control in enumerate(self.controls) if control.state.errors]
        if wrong:
            self.go_to(wrong[0])
            self.status = self.words.wrong_fields.format(count=len(wrong))
        return bool(wrong)

    def body(self, width: int) -> Drawing:
        drawing = self.message(width)
        titles = min(max((columns(each.field.title) for each in self.controls), default=0), _TITLE, width // 2)
        for at, control in enumerate(self.controls):
            here = self.at is None and at == self.place
            drawing.add(focused(control, width, more=self.more) if here else row(control, width, titles))
        if self.request.form.unsupported_fields:
            count = len(self.request.form.unsupported_fields)
            drawing.lines += host_text(self.words.left_out_fields.format(count=count), width, "class:hint")
        if self.status:
            drawing.lines += host_text(self.status, width, "class:error")
        if drawing.cursor is None:
            drawing.cursor = (len(drawing.lines) - 1, 0)
        return drawing
