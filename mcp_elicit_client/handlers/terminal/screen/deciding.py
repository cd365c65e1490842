"""A field that is decided: yes, no, or not answered."""

from __future__ import annotations

from typing import Any

from mcp_elicit_client.core.forms import BooleanField
from mcp_elicit_client.handlers.terminal.screen.catalogue import MessageCatalog
from mcp_elicit_client.handlers.terminal.screen.control import Control, ControlState
from mcp_elicit_client.handlers.terminal.screen.drawing import INDENT, Drawing, cut


class BooleanControl(Control):
    """Yes, no, or not answered: nobody's yes until somebody says so."""

    field: BooleanField

    def __init__(self, field: BooleanField, words: MessageCatalog) -> None:
        super().__init__(field, words)
        self.value: bool | None = field.default

    @property
    def state(self) -> ControlState:
        if self.value is None:
            return self.missing()
        return ControlState(self.value, "user" if self.touched else "default")

    def restore(self, value: Any) -> None:
        if isinstance(value, bool):
            self.value = value
            self.touched = self.restored = True

    def press(self, key: str, data: str) -> bool:
        states: list[bool | None] = [True, False] if self.field.required else [True, False, None]
        match key:
            case "char" if data and data in self.words.yes_keys:
                self._set(True)
            case "char" if data and data in self.words.no_keys:
                self._set(False)
            case "right" | "space":
                self._set(states[(states.index(self.value) + 1) % len(states)] if self.value in states else True)
            case "left":
                self._set(states[states.index(self.value) - 1] if self.value in states else states[-1])
            case "erase" | "omit":
                self._set(None)
            case _:
                return False
        return True

    def _set(self, value: bool | None) -> None:  # noqa: FBT001 -- it is the value
        self.value = value
        self.change()

    def rows(self, width: int) -> Drawing:
        names: list[tuple[str, bool | None]] = [(self.words.yes, True), (self.words.no, False)]
        if not self.field.required or self.value is None:
            names.append((self.words.not_answered, None))
        marked = [f"({'x' if self.value is state else ' '}) {name}" for name, state in names]
        together = "  ".join(marked)
        shown = [together] if len(INDENT + together) < width else marked
        return Drawing([[("class:value", cut(INDENT + each, width))] for each in shown], (0, len(INDENT)))

    def keys(self) -> tuple[tuple[str, str], ...]:
        return ((f"{self.words.yes_keys[0]}/{self.words.no_keys[0]}/Space", self.words.key_choose),)
