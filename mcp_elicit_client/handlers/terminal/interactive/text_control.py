"""A field that is typed: a text, a number, a date, a list."""

from __future__ import annotations

from typing import Any

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document

from mcp_elicit_client.core.form import Field, MultiChoiceField, NumberField, TextField, text_constraints
from mcp_elicit_client.core.validation.content import validate_value
from mcp_elicit_client.core.validation.field_errors import AnswerError, FieldError
from mcp_elicit_client.handlers.terminal.interactive.control import OMITTED, Control, ControlState
from mcp_elicit_client.handlers.terminal.interactive.old_descriptions import format_value
from mcp_elicit_client.handlers.terminal.interactive.old_messages import MessageCatalog
from mcp_elicit_client.handlers.terminal.interactive.rendering import INDENT, Drawing, cut, host_text, input_text
from mcp_elicit_client.presentation.input_parsing import parse_text

_LONGEST = 65_536
"""How many characters a field takes; what is sent may be far less."""


class TextControl(Control):
    """
    A field that is typed.

    Attributes:
        lines: Whether it takes more than one line.
    """

    def __init__(self, field: TextField | NumberField | MultiChoiceField, words: MessageCatalog) -> None:
        super().__init__(field, words)
        self.lines: bool = isinstance(field, MultiChoiceField) or (
            isinstance(field, TextField) and field.format is None and not field.is_hidden
        )
        self.empty: bool = False
        self._outcome = self._untouched()
        text = "" if field.default is None else _as_text(field, field.default)
        self._buffer = Buffer(document=Document(text, len(text)), multiline=True)
        self._buffer.on_text_changed += self._on_text_changed

    @property
    def buffer(self) -> Buffer:
        return self._buffer

    @property
    def text(self) -> str:
        """What is in the field now."""
        return self._buffer.text

    @property
    def state(self) -> ControlState:
        return self._outcome

    def restore(self, value: Any) -> None:
        self.restore_text(_as_text(self.field, value))

    def restore_text(self, text: str) -> None:
        """Put back what was typed, right or wrong."""
        if self.field.is_hidden:
            return
        self._buffer.set_document(Document(text, len(text)))
        self.touched = self.restored = True
        self._check()

    def press(self, key: str, data: str) -> bool:
        match key:
            case "newline" if self.lines:
                self._buffer.insert_text("\n")
            case "newline":
                return True
            case "omit":
                self.empty = not self.text.strip() and not self.empty
                self._buffer.set_document(Document(""))
                self.change()
                self._check()
            case "paste":
                text = data.replace("\r\n", "\n").replace("\r", "\n")
                self._buffer.insert_text(text if self.lines else " ".join(text.splitlines()))
            case "up" if self.lines and self._buffer.document.cursor_position_row > 0:
                self._buffer.cursor_up()
            case "down" if self.lines and not self._buffer.document.on_last_line:
                self._buffer.cursor_down()
            case _:
                return False
        return True

    def rows(self, width: int) -> Drawing:
        style = "class:suggestion" if self._outcome.source == "default" else "class:value"
        drawn = input_text(self.text, self._buffer.cursor_position, width, hidden=self.field.is_hidden, style=style)
        if self._outcome.pending:
            drawn.lines += host_text(self.words.checking, width, "class:hint", INDENT)
        elif self.empty:
            drawn.lines += host_text(f"({self._spell_empty()})", width, "class:hint", INDENT)
        elif (sent := self._sent_otherwise()) is not None:
            shown = cut(self.words.sent_as.format(value=sent), width - len(INDENT) - 1)
            drawn.lines.append([("class:hint", INDENT + shown)])
        if self.field.required and not self.text and not self.empty and self._may_be_empty():
            drawn.lines += host_text(self.words.to_send_empty, width, "class:hint", INDENT)
        return drawn

    def summary(self) -> str:
        if self.touched and self.text.strip() and not self._outcome.is_set and not self.field.is_hidden:
            shown = input_text(self.text, None, _LONGEST, hidden=False, style="").lines
            return " ".join(line[-1][1] for line in shown)
        return super().summary()

    def keys(self) -> tuple[tuple[str, str], ...]:
        newline = (("Ctrl+J", self.words.key_newline),) if self.lines else ()
        return (*newline, ("F2", self.words.key_empty)) if self._may_be_empty() else newline

    def settle(self, text: str, outcome: ControlState) -> None:
        """Take what the check of a pattern found, unless the text is another by now."""
        if text == self.text and self._outcome.pending:
            self._outcome = outcome

    def refuse(self, error: FieldError) -> None:
        """Take note of what the last check of all found."""
        self._outcome = ControlState(errors=(error,))

    def look(self, text: str) -> ControlState:
        """Check *text*, its pattern included: takes time, may run in any thread."""
        return _read(self.field, text)

    def _untouched(self) -> ControlState:
        if self.field.default is None:
            return self.missing()
        return ControlState(self.field.default, "default")

    def _on_text_changed(self, _: Buffer) -> None:
        if len(self.text) > _LONGEST:
            self._buffer.set_document(Document(self.text[:_LONGEST]))
            return
        self.empty = False
        self._check()
        self.change()

    def _check(self) -> None:
        if self.empty:
            value = "" if isinstance(self.field, TextField) else []
            errors = validate_value(_without_pattern(self.field), value)
            self._outcome = ControlState(errors=errors) if errors else ControlState(value, "user")
        elif not self.text.strip():
            self._outcome = self.missing()
        else:
            outcome = _read(_without_pattern(self.field), self.text)
            text = text_constraints(self.field)
            pending = text is not None and bool(text.pattern) and not outcome.errors
            self._outcome = ControlState(outcome.value, outcome.source, outcome.errors, pending)

    def _may_be_empty(self) -> bool:
        match self.field:
            case TextField():
                return not self.field.min_length and self.field.format is None
            case MultiChoiceField():
                return not self.field.min_items
            case _:
                return False

    def _spell_empty(self) -> str:
        return self.words.empty if isinstance(self.field, TextField) else self.words.none_chosen

    def _sent_otherwise(self) -> str | None:
        """Return what would be sent, where it is not what was typed."""
        value = self._outcome.value
        if self.field.is_hidden or not self.touched or value is OMITTED or isinstance(value, list):
            return None
        return None if str(value) == self.text else format_value(self.field, value, self.words)


def _read(field: Field, text: str) -> ControlState:
    try:
        if isinstance(field, MultiChoiceField) and "\n" in text.strip():
            values = [line.strip() for line in text.split("\n") if line.strip()]
            errors = validate_value(field, values)
            return ControlState(errors=errors) if errors else ControlState(values, "user")
        return ControlState(parse_text(field, text), "user")
    except AnswerError as error:
        return ControlState(errors=error.errors)


def _without_pattern(field: Field) -> Field:
    if isinstance(field, TextField) and field.pattern is not None:
        return field.model_copy(update={"pattern": None})
    if isinstance(field, MultiChoiceField) and field.item is not None and field.item.pattern is not None:
        return field.model_copy(update={"item": field.item.model_copy(update={"pattern": None})})
    return field


def _as_text(field: Field, value: Any) -> str:
    if isinstance(field, MultiChoiceField):
        values = [str(each) for each in value]
        return "\n".join(values) if any("," in each for each in values) else ", ".join(values)
    return str(value)
