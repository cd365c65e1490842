"""What one field is answered with, whatever its kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from prompt_toolkit.buffer import Buffer

from mcp_elicit_client.core.form import Field
from mcp_elicit_client.core.validation.field_errors import FieldError, field_error
from mcp_elicit_client.handlers.terminal.interactive.old_descriptions import format_error, format_value
from mcp_elicit_client.handlers.terminal.interactive.old_messages import MessageCatalog
from mcp_elicit_client.handlers.terminal.interactive.rendering import Drawing
from mcp_elicit_client.typing import Source


class _Omitted:
    """The value of a field that is not in the answer."""

    def __repr__(self) -> str:
        return "LEFT_OUT"


OMITTED = _Omitted()


@dataclass(frozen=True, slots=True)
class ControlState:
    """
    What a field stands at.

    Attributes:
        value: What would be sent; `LEFT_OUT` if nothing.
        source: Who said so; None if nobody.
        errors: What is wrong with it.
        pending: Whether its pattern is still being checked.
    """

    value: Any = OMITTED
    source: Source | None = None
    errors: tuple[FieldError, ...] = ()
    pending: bool = False

    @property
    def is_set(self) -> bool:
        """Whether it would be in the answer."""
        return self.value is not OMITTED


class Control(ABC):
    """
    What one field is answered with.

    Attributes:
        field: The field.
        touched: Whether the user changed anything.
        nagged: Whether to complain about a required field without an answer.
        on_change: What to call when the user changed something.
    """

    def __init__(self, field: Field, words: MessageCatalog) -> None:
        self.field = field
        self.words = words
        self.touched: bool = False
        self.restored: bool = False
        self.nagged: bool = False
        self.on_change: Callable[[Control], None] = lambda _: None

    @property
    def buffer(self) -> Buffer | None:
        """What typing goes to; None if there is nothing to type."""
        return None

    @property
    @abstractmethod
    def state(self) -> ControlState:
        """What the field stands at."""

    @abstractmethod
    def rows(self, width: int) -> Drawing:
        """Draw the control while the keys go to it."""

    @abstractmethod
    def press(self, key: str, data: str) -> bool:
        """Obey a key; tell whether there was anything to obey."""

    @abstractmethod
    def restore(self, value: Any) -> None:
        """Put back what was answered before the question was withdrawn."""

    def leave(self) -> None:
        """Take note that the keys go elsewhere."""
        self.nagged = self.nagged or self.touched

    def keys(self) -> tuple[tuple[str, str], ...]:
        """The keys that do something here, and what."""
        return ()

    def change(self) -> None:
        """Note that the user changed something."""
        self.touched = True
        self.restored = False
        self.on_change(self)

    def complaints(self) -> list[str]:
        """Say what is wrong, as far as the user is to be told by now."""
        errors = [error for error in self.state.errors if error.code != "required" or self.nagged]
        return [format_error(error, self.words) for error in errors]

    def summary(self) -> str:
        """Say in one line what the field stands at."""
        outcome = self.state
        if not outcome.is_set:
            return f"({self.words.not_answered if self.field.required else self.words.left_out})"
        return format_value(self.field, outcome.value, self.words)

    def note(self) -> str:
        """Say where the value comes from, if not from this user now."""
        if self.state.source == "default":
            return self.words.suggested
        return self.words.typed_before if self.restored else ""

    def missing(self) -> ControlState:
        """Return the outcome of a field that was not answered."""
        if self.field.required:
            return ControlState(errors=(field_error(self.field.name, "required"),))
        return ControlState()
