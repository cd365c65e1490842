"""`FormView`: all fields of a form, checked while the user types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from prompt_toolkit.buffer import Buffer
from typing_extensions import assert_never

from mcp_elicit_client.core.form import BooleanField, ChoiceField, Field, MultiChoiceField, NumberField, TextField
from mcp_elicit_client.core.helpers import validate
from mcp_elicit_client.core.schema.enums import Choice
from mcp_elicit_client.core.validation.content import ValidationResult
from mcp_elicit_client.handlers.terminal.interactive.confirm_view import ConfirmView
from mcp_elicit_client.handlers.terminal.interactive.control import Control, focused
from mcp_elicit_client.handlers.terminal.interactive.rendering import Drawing, flow
from mcp_elicit_client.handlers.terminal.interactive.review_view import ReviewView, label_width, values_of
from mcp_elicit_client.handlers.terminal.interactive.select_control import BooleanControl, SelectControl
from mcp_elicit_client.handlers.terminal.interactive.text_control import TextControl
from mcp_elicit_client.handlers.terminal.interactive.view import App, KeyAction, View
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.descriptions import is_yes_or_no
from mcp_elicit_client.presentation.form_input import FieldInput, FieldState
from mcp_elicit_client.presentation.input_parsing import InputContext, context_of_this_computer
from mcp_elicit_client.typing import FormRequest


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
        place: The index of the field with the focus; the number of fields if
            the action after them has it.
    """

    request: FormRequest
    busy: bool
    status: str

    def __init__(self, app: App, request: FormRequest, draft: Mapping[str, FieldInput] | None = None) -> None:
        super().__init__(app, request)
        context = context_of_this_computer(request, app.catalog)
        self.controls: list[Control] = [control_of(field, app.catalog, context) for field in request.form.fields]
        for control in self.controls:
            control.on_change = self._changed
        self.place: int = 0
        self._checking: set[str] = set()
        self._restore(draft or {})

    def first(self) -> View:
        """Return the view to begin with: forms with at most one question of yes or no are confirmed."""
        form = self.request.form
        is_simple = not form.fields or is_yes_or_no(form)
        return ConfirmView(self.app, self.request) if is_simple else self

    @property
    def control(self) -> Control | None:
        """The control with the focus."""
        return self.controls[self.place] if self.place < len(self.controls) else None

    @property
    def buffer(self) -> Buffer | None:
        return self.control.buffer if self.control is not None else None

    @property
    def takes_spaces(self) -> bool:
        return isinstance(self.control, TextControl)

    @property
    def scrolls_first(self) -> bool:
        return False  # Enter goes to the next field; the review shows all answers

    def is_touched(self) -> bool:
        return any(control.touched for control in self.controls)

    def draft(self) -> dict[str, FieldInput]:
        """Return what the user entered or cleared, by field name."""
        return {each.field.name: each.given for each in self.controls if each.touched}

    def _restore(self, draft: Mapping[str, FieldInput]) -> None:
        """Restore what the user entered before."""
        for control in self.controls:
            given = draft.get(control.field.name)
            if given is not None and not control.field.is_hidden:
                control.restore(given)
                self.status = self.catalog.text(messages.RESTORED_DRAFT)

    # --- Actions and keys

    def actions(self) -> Sequence[KeyAction]:
        text = self.catalog.text
        style = "class:pressed" if self.control is None else "class:button"
        decline, *others = self.leaving_actions()
        # Beside four other keys there is no room for the one that blocks: it stands in the details.
        others = [replace(each, listed=each.name != "block" or self.details) for each in others]
        refusals = [KeyAction("decline", decline.label, "F3", meaning="decline"), *others]
        following = (
            [KeyAction("next", text(messages.KEY_NEXT), text(messages.ENTER))] if self.control is not None else []
        )
        review = KeyAction("send", text(messages.REVIEW), "Ctrl+S", meaning="send", style=style)
        details = KeyAction("details", text(messages.KEY_DETAILS), "F1", meaning="details")
        return [*following, review, *refusals, details]

    def activate(self, name: str) -> None:
        if name == "send":
            self._check_all()

    def handle_key(self, key: str, data: str) -> None:
        control = self.control
        if key == "enter":
            self._enter(control, data)
        elif key == "undo" and control is not None:
            control.undo()
        elif control is not None and control.press(key, data):
            return
        elif key in ("next", "down"):
            self._move(1)
        elif key in ("previous", "up"):
            self._move(-1)
        elif key in ("char", "paste") and control is not None:
            self._list_keys(dict(control.keys()))

    def _enter(self, control: Control | None, data: str) -> None:
        """Go to the next field; after the last one of a short, valid form, to the review."""
        if control is None:
            self._check_all()
            return
        if control.press("enter", data):
            return
        is_last = self.place == len(self.controls) - 1
        if is_last and not self.viewport.overflows and not self.warned and all(each.is_valid for each in self.controls):
            self._check_all()
        else:
            self._move(1)

    def go_to(self, place: int) -> None:
        """Move the focus to the field with the index *place*."""
        if self.control is not None:
            self.control.leave()
        self.place = place
        self.viewport.follow_focus()

    def _move(self, step: int) -> None:
        self.go_to((self.place + step) % (len(self.controls) + 1))

    def page_turned(self, visible: Sequence[int]) -> None:
        if visible and self.place not in visible:
            if self.control is not None:
                self.control.leave()
            self.place = visible[0]

    def point_at(self, item: int) -> None:
        if not self.busy:
            self.go_to(item)

    def begin(self) -> None:
        for control in self.controls:
            if isinstance(control, TextControl):
                self._check_pattern(control)
        self.app.refresh()

    def _changed(self, control: Control) -> None:
        self.status = ""
        self.viewport.follow_focus()
        if isinstance(control, TextControl) and control.field.name not in self._checking:
            self._check_pattern(control)
        self.app.refresh()

    # --- Checks

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
        self.app.call_later(lambda: control.read(given), settle)

    def _check_all(self) -> None:
        if self.control is not None:
            self.control.leave()
        for control in self.controls:
            control.insistent = True
        if any(control.state.errors for control in self.controls):
            self._go_to_error()
            return
        self.busy = True
        values = values_of(self.controls)
        self.app.call_later(lambda: validate(self.request, values), self._checked)

    def _checked(self, result: ValidationResult) -> None:
        self.busy = False
        if result.valid:
            self.app.switch_to(ReviewView(self.app, self.request, self.controls, self._edit, result.unchecked))
            return
        controls = {each.field.name: each for each in self.controls}
        refused = [error for error in result.errors if error.field in controls]
        for error in refused:
            controls[error.field].refuse(error)
        if refused:
            self._go_to_error()
        else:  # the errors are those of the whole answer
            self.status = self.catalog.error(result.errors[0])

    def _go_to_error(self) -> None:
        """Move the focus to the first field with an error."""
        invalid = [at for at, control in enumerate(self.controls) if control.state.errors]
        self.go_to(invalid[0])
        self.status = self.catalog.text(messages.NEEDS_ATTENTION, count=len(invalid))

    def _edit(self, place: int | None) -> None:
        if place is None:
            place = min(self.place, len(self.controls) - 1)
        self.go_to(place)
        self.app.switch_to(self)

    # --- Drawing

    def position(self) -> str:
        count = len(self.controls)
        if count < 2:
            return ""
        number = min(self.place + 1, count)
        return self.catalog.text(messages.FIELD_POSITION, number=number, count=count)

    def body(self, width: int) -> Drawing:
        drawing = self.message(width)
        symbols, titles = self.app.symbols, label_width(self.controls, width)
        keys = self._all_keys(width) if self.details else []
        for at, control in enumerate(self.controls):
            drawing.items.append(len(drawing.lines))
            if at == self.place:
                start = len(drawing.lines)
                drawing.add(focused(control, width, titles, symbols, keys))
                drawing.focus = (start, len(drawing.lines) - 1)
            else:
                drawing.lines.append(control.row(width, titles, symbols))
        if self.control is None:
            drawing.focus = (len(drawing.lines) - 1, len(drawing.lines) - 1)
            drawing.lines += keys
        if drawing.cursor is None:
            drawing.cursor = (len(drawing.lines) - 1, 0)
        return drawing

    def _all_keys(self, width: int) -> list[list[tuple[str, str]]]:
        """Return the keys that the key line does not show."""
        text = self.catalog.text
        keys = [*(self.control.keys() if self.control is not None else ())]
        keys += [("Tab/Shift+Tab", text(messages.KEY_MOVE)), ("Ctrl+Z", text(messages.KEY_UNDO))]
        keys.append(("PgUp/PgDn", text(messages.KEY_SCROLL)))
        return flow([[("class:hint", f"{key} {hint}")] for key, hint in keys], width)
