"""`FormView`: all fields of a form, checked while the user types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from prompt_toolkit.buffer import Buffer
from typing_extensions import assert_never

from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.form import BooleanField, ChoiceField, Field, MultiChoiceField, NumberField, TextField
from mcp_elicit_client.core.helpers import validate
from mcp_elicit_client.core.schema.enums import Choice
from mcp_elicit_client.core.validation.content import ValidationResult
from mcp_elicit_client.handlers.terminal.interactive.control import Control, focused, row
from mcp_elicit_client.handlers.terminal.interactive.rendering import Drawing, host_text
from mcp_elicit_client.handlers.terminal.interactive.review_view import ReviewView, values_of
from mcp_elicit_client.handlers.terminal.interactive.select_control import BooleanControl, SelectControl
from mcp_elicit_client.handlers.terminal.interactive.text_control import TextControl
from mcp_elicit_client.handlers.terminal.interactive.view import App, Button, View
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.form_input import FieldInput, FieldState, Intent
from mcp_elicit_client.presentation.input_parsing import InputContext
from mcp_elicit_client.presentation.quoting import columns
from mcp_elicit_client.typing import FormRequest

_MAX_TITLE = 32


def control_of(field: Field, catalog: MessageCatalog, context: InputContext) -> Control:
    """Return the control for *field*."""
    match field:
        case BooleanField():
            return BooleanControl(field, catalog, context)
        case ChoiceField() | MultiChoiceField(choices=(Choice(), *_)):
            return SelectControl(field, catalog, context)
        case TextField() | NumberField() | MultiChoiceField():
            return TextControl(field, catalog, context)
        case _:
            assert_never(field)


class FormView(View):
    """
    A form.

    Attributes:
        controls: One control for each field.
        place: The index of the field with the focus.
        details: The details of the focused field are shown.
        status: A sentence below the fields; empty if there is none.
    """

    request: FormRequest
    busy: bool

    def __init__(self, app: App, request: FormRequest) -> None:
        super().__init__(app, request)
        context = InputContext.of_this_computer(request, locale=app.catalog.locale)
        self.controls: list[Control] = [control_of(field, app.catalog, context) for field in request.form.fields]
        for control in self.controls:
            control.on_change = self._changed
        self.place: int = 0
        self.details: bool = False
        self.status: str = ""
        self._checking: set[str] = set()

    def first(self) -> View:
        """Return the view to begin with: the review if the form has no fields."""
        return self if self.controls else self._review()

    @property
    def control(self) -> Control | None:
        """The control with the focus."""
        return self.controls[self.place] if self.at is None and self.controls else None

    @property
    def buffer(self) -> Buffer | None:
        return self.control.buffer if self.control is not None else None

    @property
    def takes_spaces(self) -> bool:
        return isinstance(self.control, TextControl)

    def is_touched(self) -> bool:
        return any(control.touched for control in self.controls)

    def draft(self) -> dict[str, FieldInput]:
        """Return what the user entered, by field name."""
        given = {each.field.name: each.given for each in self.controls if each.touched}
        return {name: each for name, each in given.items() if each is not Intent.OMIT and each != ""}

    def restore(self, draft: Mapping[str, FieldInput]) -> None:
        """Restore what the user entered before."""
        for control in self.controls:
            given = draft.get(control.field.name)
            if given is not None and not control.field.is_hidden:
                control.restore(given)

    def buttons(self) -> Sequence[Button]:
        review = Button("send", self.catalog.text(messages.REVIEW), "Ctrl+S", guarded=True)
        return [review, *self.refusal_buttons()]

    def keys(self) -> Sequence[tuple[str, str]]:
        text = self.catalog.text
        keys = self.control.keys() if self.control is not None else ()
        details, cancel = ("F1", text(messages.KEY_DETAILS)), ("Esc", text(messages.KEY_CANCEL))
        return [("Tab/Enter", text(messages.KEY_NEXT)), *keys, details, cancel]

    def activate(self, name: str) -> None:
        if name == "send":
            self._check_all()
        else:
            super().activate(name)

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
        elif key == "details":
            self.details = not self.details
        elif key == "enter":
            self.press_focused()
        elif self.at is not None and key in ("left", "right"):
            last = len(self.buttons()) - 1
            self.at = min(max(self.at + (1 if key == "right" else -1), 0), last)

    def go_to(self, place: int) -> None:
        """Move the focus to the field with the index *place*."""
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
        if self.app.overflows:
            self.look = 0  # begin with the server's message
        for control in self.controls:
            if isinstance(control, TextControl):
                self._check_pattern(control)
        self.app.refresh()

    def _changed(self, control: Control) -> None:
        self.status = ""
        self.look = None
        if isinstance(control, TextControl) and control.field.name not in self._checking:
            self._check_pattern(control)
        self.app.refresh()

    def _check_pattern(self, control: TextControl) -> None:
        """Check the pattern of an input in a thread, and again if the input has changed meanwhile."""
        if not control.is_checking or not self.app.is_running:
            return
        given = control.given

        def settle(state: FieldState) -> None:
            self._checking.discard(control.field.name)
            control.settle(given, state)
            self._check_pattern(control)

        self._checking.add(control.field.name)
        self.app.call_later(lambda: control.check_pattern(given), settle)

    def _check_all(self) -> None:
        for control in self.controls:
            control.insistent = True
        invalid = [at for at, control in enumerate(self.controls) if control.state.errors]
        if invalid:
            self.go_to(invalid[0])
            self.status = self.catalog.text(messages.NEEDS_ATTENTION, count=len(invalid))
            return
        self.busy = True
        values = values_of(self.controls)
        self.app.call_later(lambda: validate(self.request, values), self._checked)

    def _checked(self, result: ValidationResult) -> None:
        self.busy = False
        if result.valid:
            self.app.switch_to(self._review(result.unchecked))
            return
        places = {each.field.name: at for at, each in enumerate(self.controls)}
        for error in result.errors:
            place = places.get(error.field)
            if place is not None:
                self.controls[place].refuse(error)
                self.go_to(place)
            self.status = self.catalog.error(error)

    def _review(self, unchecked: Sequence[Diagnostic] = ()) -> ReviewView:
        return ReviewView(self.app, self.request, self.controls, self._edit, unchecked)

    def _edit(self, place: int | None) -> None:
        if place is not None:
            self.go_to(place)
        self.app.switch_to(self)

    def body(self, width: int) -> Drawing:
        drawing = self.message(width)
        titles = max((columns(each.field.title) for each in self.controls), default=0)
        title_width = min(titles, _MAX_TITLE, width // 2)
        for at, control in enumerate(self.controls):
            if self.at is None and at == self.place:
                drawing.add(focused(control, width, details=self.details))
            else:
                drawing.add(row(control, width, title_width))
        if self.status:
            drawing.lines += host_text(self.status, width, "class:error")
        if drawing.cursor is None:
            drawing.cursor = (len(drawing.lines) - 1, 0)
        return drawing
