"""`Control`: the input for one field, with the parts of its display that do not depend on the kind of field."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from prompt_toolkit.buffer import Buffer

from mcp_elicit_client.core.form import ChoiceField, Field, MultiChoiceField
from mcp_elicit_client.core.validation.field_errors import FieldError
from mcp_elicit_client.handlers.terminal.interactive.rendering import (
    INDENT,
    MARK,
    Drawing,
    Line,
    beside,
    columns,
    cut,
    host_text,
    server_text,
    value_room,
    without_bars,
)
from mcp_elicit_client.handlers.terminal.interactive.theme import Symbols
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.descriptions import FieldDescription, describe_field, format_value, option_label
from mcp_elicit_client.presentation.form_input import FieldInput, FieldState, Intent, read_field
from mcp_elicit_client.presentation.input_parsing import InputContext, accepts_empty

_MIN_HINT = 36
"""The columns from which on hints stand below the value, and not below the label."""

_MAX_LISTED = 500
"""The number of options that the details list."""


class Control(ABC):
    """
    The input for one field.

    Attributes:
        field: The field.
        catalog: The texts.
        title_width: The columns of its label.
        context: The host's limits, and the user and server of the request.
        touched: The user changed something.
        restored: The input is a restored draft.
        insistent: A missing answer is shown as an error.
        is_checking: A pattern is checked.
        buffer: The buffer of the text input; None for other controls.
        state: The state of the field.
        on_change: Called when the user changed something.
    """

    def __init__(self, field: Field, catalog: MessageCatalog, context: InputContext) -> None:
        self.field = field
        self.catalog = catalog
        self.title_width: int = columns(field.title)
        self.context = context
        self.touched: bool = False
        self.restored: bool = False
        self.insistent: bool = False
        self.is_checking: bool = False
        self.buffer: Buffer | None = None
        self.on_change: Callable[[Control], None] = lambda _: None
        self.state: FieldState = self.read(Intent.UNTOUCHED)
        self._row: tuple[object, Line] | None = None

    def read(self, given: FieldInput, *, check_pattern: bool = True) -> FieldState:
        """Return the state of the field for *given*."""
        return read_field(self.field, given, self.context, check_pattern=check_pattern)

    @property
    @abstractmethod
    def given(self) -> FieldInput:
        """What the user did, other than leaving the field untouched."""

    @abstractmethod
    def value(self, room: int) -> Drawing:
        """Return the lines beside the label of the focused field."""

    def options(self, width: int) -> Drawing:  # noqa: ARG002 -- most fields have no options
        """Return the lines below the label and the value of the focused field."""
        return Drawing()

    def remarks(self) -> list[str]:
        """Return what the host says about the input of the focused field."""
        return []

    @abstractmethod
    def press(self, key: str, data: str) -> bool:
        """Handle a key.  Return True if it has a meaning here."""

    @abstractmethod
    def restore(self, given: FieldInput) -> None:
        """Restore the draft of this field."""

    @abstractmethod
    def undo(self) -> None:
        """Undo the last change of the user."""

    def leave(self) -> None:
        """Handle the loss of the focus."""
        self.insistent = self.insistent or self.touched

    def keys(self) -> tuple[tuple[str, str], ...]:
        """Return the keys that have a meaning here, with their hints."""
        return ()

    def check(self) -> None:
        """Update the state from what the user did."""
        self.state = self.read(self.given)

    def change(self) -> None:
        """Handle a change by the user."""
        self.check()
        self.touched = True
        self.restored = False
        self.on_change(self)

    def refuse(self, error: FieldError) -> None:
        """Show an error that the check of the whole form found."""
        self.state = FieldState(errors=(error,))

    @property
    def is_valid(self) -> bool:
        """True if the value was checked and can be sent."""
        return not self.state.errors and not self.is_checking

    @property
    def shown_errors(self) -> tuple[FieldError, ...]:
        """The errors to show now."""
        return tuple(error for error in self.state.errors if error.code != "required" or self.insistent)

    def errors(self) -> list[str]:
        """Return the sentences of the errors to show now."""
        return [self.catalog.error(error) for error in self.shown_errors]

    def summary(self) -> str:
        """Return the value in one line; empty without a value."""
        return format_value(self.field, self.state.value, self.catalog) if self.state.is_set else ""

    def note(self) -> str:
        """Return where the value comes from; empty if the user entered it just now."""
        if self.state.source == "default":
            return self.catalog.text(messages.SUGGESTED)
        return self.catalog.text(messages.RESTORED) if self.restored else ""

    @property
    def style(self) -> str:
        """The style of the value: suggested values differ from those of the user."""
        return "class:suggestion" if self.state.source == "default" else "class:value"

    def row(self, width: int, label_width: int, symbols: Symbols) -> Line:
        """Return the line of the field without the focus."""
        key = (width, label_width, self.state, self.given, self.insistent, self.touched)
        if self._row is None or self._row[0] != key:
            shown = cut(self.summary(), value_room(width, label_width))
            value = Drawing([[(self.style, shown)]])
            drawn = beside(self.mark(symbols, focused=False), self.field.title, label_width, value)
            self._row = key, drawn.lines[0]
        return self._row[1]

    def mark(self, symbols: Symbols, *, focused: bool) -> Line:
        """Return the marks of the focus and of the state."""
        if self.shown_errors or (self.state.errors and self.state.errors[0].code != "required"):
            mark, style = symbols.attention, "class:error"
        elif self.state.is_set:
            mark, style = symbols.valid, "class:valid"
        else:
            mark, style = (symbols.required if self.field.required else ""), "class:focus"
        return [("class:focus", ">" if focused else " "), (style, f"{mark:<2}")]


def join_lines(text: str) -> str:
    """Return the lines of a pasted *text* in one line, without blank ones."""
    return " ".join(line for line in text.replace("\r", "\n").split("\n") if line.strip())


def focused(control: Control, width: int, label_width: int, symbols: Symbols, keys: Sequence[Line]) -> Drawing:
    """
    Return the lines of the focused field: its input, what it accepts and its errors.

    Args:
        control: The control.
        width: The columns of the terminal.
        label_width: The columns for the label.
        symbols: The marks.
        keys: The lines about keys, above the details; empty to show no
            details.
    """
    catalog = control.catalog
    description = describe_field(control.field, catalog)
    mark = control.mark(symbols, focused=True)
    label = description.label or " "
    drawn = Drawing()
    if columns(label) > label_width:
        drawn.lines += server_text(without_bars(label), width, "class:host", mark)
        mark, label = [("", MARK)], ""
    room = value_room(width, label_width)
    drawn.add(beside(mark, label, label_width, control.value(room), "class:host"))
    indent = " " * (width - room - 1) if room >= _MIN_HINT else INDENT
    errors = control.errors()
    for text in errors:  # next to the input, so that they are visible however long the rest is
        drawn.lines += host_text(f"{symbols.attention} {text}", width, "class:error", indent)
    if description.help:
        drawn.lines += server_text(without_bars(description.help), width, "class:hint")
    drawn.add(control.options(width))
    for text in control.remarks():
        drawn.lines += host_text(text, width, "class:hint", indent)
    if not errors:
        hints = [description.requirement, description.accepts, control.note()]
        drawn.lines += host_text("; ".join(filter(None, hints)), width, "class:hint", indent)
    if description.warning:
        warning = f"{symbols.attention} {description.warning}"
        drawn.lines += host_text(warning, width, "class:warning", indent)
    if keys:
        drawn.lines += [*keys, *_details(control, description, width)]
    return drawn


def _details(control: Control, description: FieldDescription, width: int) -> list[Line]:
    """Return the lines of the name, the pattern and all options of a field."""
    text, field = control.catalog.text, control.field
    lines = host_text(text(messages.LABEL, label=text(messages.FIELD_NAME)), width, "class:hint", INDENT)
    lines += server_text(description.name, width)
    if description.pattern:
        lines += host_text(text(messages.LABEL, label=text(messages.PATTERN)), width, "class:hint", INDENT)
        lines += server_text(description.pattern, width)
    if accepts_empty(field):
        lines += host_text(text(messages.EMPTY_KEY), width, "class:hint", INDENT)
    if isinstance(field, (ChoiceField, MultiChoiceField)) and field.choices:
        lines += host_text(text(messages.ALL_OPTIONS), width, "class:hint", INDENT)
        for choice in field.choices[:_MAX_LISTED]:
            lines += server_text(without_bars(f"- {option_label(field, choice, control.catalog)}"), width)
    return lines
