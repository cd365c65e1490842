"""`Control`: the input for one field, with the parts of its display that do not depend on the kind of field."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from prompt_toolkit.buffer import Buffer

from mcp_elicit_client.core.form import ChoiceField, Field, MultiChoiceField
from mcp_elicit_client.core.validation.field_errors import FieldError
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
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.descriptions import FieldDescription, describe_field, format_value
from mcp_elicit_client.presentation.form_input import FieldInput, FieldState, Intent, read_field
from mcp_elicit_client.presentation.input_parsing import InputContext, accepts_empty
from mcp_elicit_client.presentation.quoting import GUTTER

_NARROW = 50


class Control(ABC):
    """
    The input for one field.

    Attributes:
        field: The field.
        catalog: The texts.
        context: The host's limits, and the user and server of the request.
        touched: The user changed something.
        restored: The input is a restored draft.
        insistent: A missing answer is shown as an error.
        on_change: Called when the user changed something.
    """

    def __init__(self, field: Field, catalog: MessageCatalog, context: InputContext) -> None:
        self.field = field
        self.catalog = catalog
        self.context = context
        self.touched: bool = False
        self.restored: bool = False
        self.insistent: bool = False
        self.on_change: Callable[[Control], None] = lambda _: None
        self._state = self.read(Intent.UNTOUCHED)

    def read(self, given: FieldInput, *, check_pattern: bool = True) -> FieldState:
        """Return the state of the field for *given*."""
        return read_field(self.field, given, self.context, check_pattern=check_pattern)

    @property
    def state(self) -> FieldState:
        """The state of the field."""
        return self._state

    @property
    def is_checking(self) -> bool:
        """True while a pattern is checked."""
        return False

    @property
    def buffer(self) -> Buffer | None:
        """The buffer of the text input; None if there is none."""
        return None

    @property
    @abstractmethod
    def given(self) -> FieldInput:
        """What the user did, other than leaving the field untouched."""

    @abstractmethod
    def rows(self, width: int) -> Drawing:
        """Return the lines of the focused input."""

    @abstractmethod
    def press(self, key: str, data: str) -> bool:
        """Handle a key.  Return True if it has a meaning here."""

    @abstractmethod
    def restore(self, given: FieldInput) -> None:
        """Restore the draft of this field."""

    def leave(self) -> None:
        """Handle the loss of the focus."""
        self.insistent = self.insistent or self.touched

    def keys(self) -> tuple[tuple[str, str], ...]:
        """Return the keys that have a meaning here, with their hints."""
        return ()

    def change(self) -> None:
        """Handle a change by the user."""
        self.touched = True
        self.restored = False
        self.on_change(self)

    def refuse(self, error: FieldError) -> None:
        """Show an error that the check of the whole form found."""
        self._state = FieldState(errors=(error,))

    def errors(self) -> list[str]:
        """Return the sentences of the errors to show now."""
        shown = [error for error in self.state.errors if error.code != "required" or self.insistent]
        return [self.catalog.error(error) for error in shown]

    def summary(self) -> str:
        """Return the value in one line."""
        if not self.state.is_set and self.field.required:
            return f"({self.catalog.text(messages.NO_ANSWER)})"
        return format_value(self.field, self.state.value, self.catalog)

    def note(self) -> str:
        """Return where the value comes from; empty if the user entered it just now."""
        if self.state.source == "default":
            return self.catalog.text(messages.SUGGESTED)
        return self.catalog.text(messages.RESTORED) if self.restored else ""


def row(control: Control, width: int, title_width: int) -> Drawing:
    """Return the lines of a field without the focus: one line if the terminal is wide enough."""
    state = control.state
    style = "class:suggestion" if state.source == "default" else "class:value" if state.is_set else "class:hint"
    note = f"  ({control.note()})" if control.note() else ""
    value = control.summary()
    drawn = Drawing()
    if width < _NARROW:
        title = ("class:server", cut(control.field.title, width - len(GUTTER)))
        drawn.lines.append([*_mark(control, focused=False), title])
        drawn.lines.append([("class:gutter", VALUE), (style, cut(value, width - len(VALUE)))])
    else:
        room = width - len(GUTTER) - title_width - len(VALUE)
        drawn.lines.append(
            [
                *_mark(control, focused=False),
                ("class:server", pad(control.field.title, title_width)),
                ("class:gutter", VALUE),
                (style, cut(value, room - len(note))),
                ("class:hint", note),
            ]
        )
    drawn.lines += _error_lines(control, width)
    return drawn


def focused(control: Control, width: int, *, details: bool) -> Drawing:
    """Return the lines of the focused field, with its input and description."""
    catalog = control.catalog
    description = describe_field(control.field, catalog)
    title = server_text(description.label or " ", width)
    drawn = Drawing([[*_mark(control, focused=True), *title[0][1:]], *title[1:]])
    if description.help:
        drawn.lines += server_text(description.help, width, "class:hint")
    drawn.add(control.rows(width))
    hints = [description.requirement, description.accepts, control.note()]
    drawn.lines += host_text("; ".join(filter(None, hints)), width, "class:hint", INDENT)
    if description.warning:
        warning = catalog.text(messages.WARNING, message=description.warning)
        drawn.lines += host_text(warning, width, "class:warning", INDENT)
    drawn.lines += _error_lines(control, width)
    if details:
        drawn.lines += _details(control, description, width)
    return drawn


def _mark(control: Control, *, focused: bool) -> Line:
    star = "*" if control.field.required else " "
    return [("class:focus", ">" if focused else " "), ("class:error", star), ("class:gutter", GUTTER[2:])]


def _error_lines(control: Control, width: int) -> list[Line]:
    lines: list[Line] = []
    for text in control.errors():
        lines += host_text(f"! {text}", width, "class:error", INDENT)
    return lines


def _details(control: Control, description: FieldDescription, width: int) -> list[Line]:
    """Return the lines of the name, the pattern and all options of a field."""
    text, field = control.catalog.text, control.field
    lines = host_text(f"{text(messages.FIELD_NAME)}:", width, "class:hint", INDENT)
    lines += server_text(description.name, width)
    if description.pattern:
        lines += host_text(f"{text(messages.PATTERN)}:", width, "class:hint", INDENT)
        lines += server_text(description.pattern, width)
    if accepts_empty(field):
        lines += host_text(text(messages.EMPTY_KEY), width, "class:hint", INDENT)
    if isinstance(field, (ChoiceField, MultiChoiceField)) and field.choices:
        lines += host_text(text(messages.ALL_OPTIONS), width, "class:hint", INDENT)
        for choice in field.choices:
            lines += server_text(f"- {field.label_of(choice)}", width)
    return lines
