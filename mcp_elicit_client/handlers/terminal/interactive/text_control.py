"""`TextControl`: the input for text, numbers, dates and lists."""

from __future__ import annotations

from typing import Any

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document

from mcp_elicit_client.core.form import MultiChoiceField, NumberField, TextField, text_constraints
from mcp_elicit_client.core.text import unify_line_breaks
from mcp_elicit_client.handlers.terminal.interactive.control import Control, join_lines
from mcp_elicit_client.handlers.terminal.interactive.rendering import Drawing, input_text
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.descriptions import sent_note
from mcp_elicit_client.presentation.form_input import FieldInput, FieldState, Intent
from mcp_elicit_client.presentation.input_parsing import InputContext, accepts_empty, accepts_line_breaks, to_text

_MAX_TEXT = 65_536
"""The number of characters that can be typed.  Limits of the answer are usually lower."""


class _SuggestedText(Buffer):
    """
    A suggested text that is replaced by the text that the user types or pastes first, as in the inputs of browsers.

    It is edited if the user has moved the cursor or erased something before,
    or begins with a space.
    """

    def __init__(self, text: str) -> None:
        super().__init__(document=Document(text, len(text)), multiline=True)
        self._is_replaced = True
        self.on_text_changed += self._edit

    @property
    def cursor_position(self) -> int:
        return super().cursor_position

    @cursor_position.setter
    def cursor_position(self, value: int) -> None:
        self._is_replaced = False
        Buffer.cursor_position.fset(self, value)  # type: ignore[attr-defined]

    def insert_text(self, data: str, *options: Any, **named: Any) -> None:
        if self._is_replaced and data[:1].strip():
            self.set_document(Document(data, len(data)))
        else:
            super().insert_text(data, *options, **named)

    def _edit(self, _: Buffer) -> None:
        self._is_replaced = False


class TextControl(Control):
    """
    An input for typed text.

    Attributes:
        multiline: The input accepts line breaks.
        empty: The user wants to send an empty value.
    """

    field: TextField | NumberField | MultiChoiceField

    def __init__(
        self, field: TextField | NumberField | MultiChoiceField, catalog: MessageCatalog, context: InputContext
    ) -> None:
        super().__init__(field, catalog, context)
        self.multiline: bool = accepts_line_breaks(field)
        self.empty: bool = False
        text = "" if field.default is None else to_text(field, field.default, context)
        is_replaced = bool(text) and not self.multiline
        document = Document(text, len(text))
        self.buffer: Buffer = _SuggestedText(text) if is_replaced else Buffer(document=document, multiline=True)
        self.buffer.on_text_changed += self._on_text_changed

    @property
    def text(self) -> str:
        """The text in the input."""
        return self.buffer.text

    @property
    def given(self) -> FieldInput:
        return Intent.EMPTY if self.empty else self.text

    def restore(self, given: FieldInput) -> None:
        text = given if isinstance(given, str) else ""
        self.buffer.set_document(Document(text, len(text)))
        self.empty = given is Intent.EMPTY
        self.touched = self.restored = True
        self.check()

    def undo(self) -> None:
        self.buffer.undo()

    def press(self, key: str, data: str) -> bool:
        match key:
            case "newline" if self.multiline:
                self._insert("\n")
            case "newline":
                return True
            case "omit":
                empty = not self.text.strip() and not self.empty
                self.buffer.save_to_undo_stack()
                self.buffer.set_document(Document(""))
                self.empty = empty
                self.change()
            case "paste":
                text = unify_line_breaks(data) if self.multiline else join_lines(data)
                self._insert(text)
            case "delete":
                self.buffer.save_to_undo_stack()
                self.buffer.delete()
            case "up" if self.multiline and self.buffer.document.cursor_position_row > 0:
                self.buffer.cursor_up()
            case "down" if self.multiline and not self.buffer.document.on_last_line:
                self.buffer.cursor_down()
            case _:
                return False
        return True

    def _insert(self, text: str) -> None:
        self.buffer.save_to_undo_stack()
        self.buffer.insert_text(text)

    def value(self, room: int) -> Drawing:
        return input_text(
            self.text, self.buffer.cursor_position, room, hidden=self.field.is_hidden, style=self.style, rows=8
        )

    def remarks(self) -> list[str]:
        if self.is_checking:
            return [self.catalog.text(messages.CHECKING)]
        if self.empty or (self.state.is_set and self.state.value in ("", [])):
            return [f"({self.catalog.text(messages.EMPTY)})"]
        note = sent_note(self.field, self.text, self.state.value, self.catalog) if self.touched else ""
        return [note] if note else []

    def summary(self) -> str:
        if self.touched and self.text.strip() and not self.state.is_set and not self.field.is_hidden:
            shown = input_text(self.text, None, _MAX_TEXT, hidden=False, style="").lines
            return " ".join(line[-1][1] for line in shown)
        return super().summary()

    def keys(self) -> tuple[tuple[str, str], ...]:
        text = self.catalog.text
        newline = (("Ctrl+J", text(messages.KEY_NEW_LINE)),) if self.multiline else ()
        return (*newline, ("F2", text(messages.KEY_CLEAR_OR_EMPTY))) if accepts_empty(self.field) else newline

    def settle(self, given: FieldInput, state: FieldState) -> None:
        """Use the result of a pattern check, unless the input has changed since."""
        if given == self.given and self.is_checking:
            self.state, self.is_checking = state, False

    def _on_text_changed(self, _: Buffer) -> None:
        if len(self.text) > _MAX_TEXT:
            self.buffer.set_document(Document(self.text[:_MAX_TEXT]))
            return
        self.empty = False
        self.change()

    def check(self) -> None:
        """Check the input except for its pattern, which the form checks in a thread."""
        self.state: FieldState = self.read(self.given, check_pattern=False)
        text = text_constraints(self.field)
        has_pattern = text is not None and bool(text.pattern)
        self.is_checking: bool = has_pattern and self.state.is_set and not self.empty
