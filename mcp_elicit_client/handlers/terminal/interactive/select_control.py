"""A field that is chosen: one of several options, or some of them."""

from __future__ import annotations

from typing import Any

from prompt_toolkit.buffer import Buffer

from mcp_elicit_client.core.form import BooleanField, ChoiceField, MultiChoiceField
from mcp_elicit_client.core.schema.enums import Choice, json_equal
from mcp_elicit_client.core.validation.content import validate_value
from mcp_elicit_client.handlers.terminal.interactive.control import OMITTED, Control, ControlState
from mcp_elicit_client.handlers.terminal.interactive.old_descriptions import how_many
from mcp_elicit_client.handlers.terminal.interactive.old_messages import MessageCatalog
from mcp_elicit_client.handlers.terminal.interactive.rendering import INDENT, Drawing, Line, cut, host_text, input_text
from mcp_elicit_client.presentation.quoting import GUTTER

_FILTER_FROM = 9
"""From so many options on they are found by typing."""

_ROWS = 8


class SelectControl(Control):
    """One of several options, or some of them; many are found by typing a part of their names."""

    field: ChoiceField | MultiChoiceField

    def __init__(self, field: ChoiceField | MultiChoiceField, words: MessageCatalog) -> None:
        super().__init__(field, words)
        self.several: bool = isinstance(field, MultiChoiceField)
        default = (
            [] if field.default is None else field.default if isinstance(field.default, tuple) else [field.default]
        )
        self.chosen: list[Choice] = [
            choice for choice in field.choices if any(json_equal(choice.value, each) for each in default)
        ]
        self.empty: bool = field.default == ()
        self.refusal: str = ""
        self._at: int | None = None
        self._first = 0
        self._buffer: Buffer | None = None
        if len(field.choices) >= _FILTER_FROM:
            self._buffer = Buffer(multiline=False)
            self._buffer.on_text_changed += self._on_filter
        self._names = [(field.label_of(choice), str(choice.value)) for choice in field.choices]
        self._folded = [f"{name}\n{value}".casefold() for name, value in self._names]
        self._outcome = self._look()

    @property
    def buffer(self) -> Buffer | None:
        return self._buffer

    @property
    def state(self) -> ControlState:
        return self._outcome

    @property
    def shown(self) -> list[int]:
        """The places of the options that fit what was typed."""
        part = self._buffer.text.strip().casefold() if self._buffer is not None else ""
        return [at for at, folded in enumerate(self._folded) if not part or part in folded]

    def restore(self, value: Any) -> None:
        values = list(value) if self.several else [value]
        self.chosen = [
            choice for choice in self.field.choices if any(json_equal(choice.value, each) for each in values)
        ]
        self.empty = self.several and not values
        self.touched = self.restored = True
        self._outcome = self._look()

    def leave(self) -> None:
        super().leave()
        self._at = None
        self.refusal = ""
        if self._buffer is not None:
            self._buffer.reset()

    def press(self, key: str, data: str) -> bool:  # noqa: ARG002 -- what is typed goes to the filter
        match key:
            case "up" | "down":
                return self._move(-1 if key == "up" else 1)
            case "space":
                self._choose()
            case "enter":
                # Enter alone chooses nothing: what it would choose has to be pointed at first.
                if not self.several and self._at is not None:
                    self._choose()
                return False
            case "erase":
                self._clear()
            case "omit":
                empty = self.several and not self.chosen and not self.empty
                self._clear()
                self.empty = empty
                self._outcome = self._look()
            case _:
                return False
        return True

    def rows(self, width: int) -> Drawing:
        shown = self.shown
        drawn = Drawing()
        if self._buffer is not None:
            text = self._buffer.text
            hint = self.words.filter.format(shown=len(shown), options=len(self.field.choices))
            drawn.lines += host_text(hint if shown else self.words.filter_none, width, "class:hint", INDENT)
            drawn.add(input_text(text, self._buffer.cursor_position, width, hidden=False, style="class:value", rows=2))
        at = self._pointed(shown)
        self._first = min(max(self._first, at - _ROWS + 1), at) if at is not None else 0
        last = self._first + _ROWS
        if self._first:
            drawn.lines.append(self._more(self._first, width))
        for row, place in enumerate(shown[self._first : last], self._first):
            if row == at and self._buffer is None:
                drawn.cursor = (len(drawn.lines), 0)
            drawn.lines.append(self._option(place, pointed=row == at and self._at is not None, width=width))
        if len(shown) > last:
            drawn.lines.append(self._more(len(shown) - last, width))
        if drawn.cursor is None:
            drawn.cursor = (0, 0)
        for text in self._status():
            drawn.lines += host_text(text, width, "class:hint", INDENT)
        return drawn

    def keys(self) -> tuple[tuple[str, str], ...]:
        clear = (("F2", self.words.key_empty),) if self.several and not self.field_min else ()
        back = (("Backspace", self.words.key_clear),) if self._buffer is None and not clear else ()
        return (("Space", self.words.key_choose), *back, *clear)

    @property
    def field_min(self) -> int:
        """The least number of values."""
        return (self.field.min_items or 0) if isinstance(self.field, MultiChoiceField) else 1

    def complaints(self) -> list[str]:
        return [*super().complaints(), *([self.refusal] if self.refusal else [])]

    def _status(self) -> list[str]:
        if not isinstance(self.field, MultiChoiceField):
            return []
        count = self.words.chosen.format(count=len(self.chosen))
        limits = how_many(self.field, self.words)
        status = [f"{count}; {limits}" if limits else count]
        return [*status, f"({self.words.none_chosen})"] if self.empty else status

    def _more(self, count: int, width: int) -> Line:
        return [("class:hint", cut(f"{INDENT}... {self.words.more_options.format(count=count)}", width))]

    def _option(self, place: int, *, pointed: bool, width: int) -> Line:
        chosen = any(json_equal(self.field.choices[place].value, each.value) for each in self.chosen)
        box = ("[x] " if chosen else "[ ] ") if self.several else ("(x) " if chosen else "( ) ")
        mark = "> " if pointed else "  "
        style = "class:value" if chosen else "class:server"
        name = cut(self._names[place][0], width - len(GUTTER) - len(mark + box) - 1)
        return [("class:gutter", GUTTER), ("class:focus", mark), (style, box + name)]

    def _pointed(self, shown: list[int]) -> int | None:
        """Return the row of the option to point at, or to have in view."""
        if self._at is not None and self._at in shown:
            return shown.index(self._at)
        chosen = [row for row, place in enumerate(shown) if self.field.choices[place] in self.chosen]
        return chosen[0] if chosen else (0 if shown else None)

    def _move(self, step: int) -> bool:
        shown = self.shown
        if not shown:
            return False
        at = self._pointed(shown)
        if self._at is None and not (self.chosen and at is not None):
            self._at = shown[0] if step > 0 else None
            return step > 0
        row = (at or 0) + step
        if not 0 <= row < len(shown):
            return False
        self._at = shown[row]
        return True

    def _choose(self) -> None:
        shown = self.shown
        at = self._pointed(shown)
        if at is None:
            return
        self._at = shown[at]
        choice = self.field.choices[self._at]
        if not self.several:
            self.chosen = [choice]
        elif not self._toggle(choice):
            return
        self.refusal = ""
        self.empty = False
        self._outcome = self._look(touched=True)
        self.change()

    def _toggle(self, choice: Choice) -> bool:
        most = self.field.max_items if isinstance(self.field, MultiChoiceField) else None
        kept = [each for each in self.chosen if not json_equal(each.value, choice.value)]
        if len(kept) == len(self.chosen) and most is not None and len(kept) >= most:
            self.refusal = self.words.too_many.format(most=most)
            return False
        picked = kept if len(kept) < len(self.chosen) else [*kept, choice]
        # In the server's order, whatever the order of choosing.
        self.chosen = [each for each in self.field.choices if each in picked]
        return True

    def _clear(self) -> None:
        self.chosen = []
        self.empty = False
        self.refusal = ""
        self._outcome = self._look(touched=True)
        self.change()

    def _on_filter(self, _: Buffer) -> None:
        shown = self.shown
        self._first = 0
        self._at = shown[0] if shown and self._buffer is not None and self._buffer.text.strip() else None
        self.on_change(self)

    def _look(self, *, touched: bool = False) -> ControlState:
        if not self.chosen and not self.empty:
            return self.missing()
        values = [choice.value for choice in self.chosen]
        value: Any = values if self.several else values[0]
        errors = validate_value(self.field, value)
        if errors:
            return ControlState(OMITTED, errors=errors)
        return ControlState(value, "user" if touched or self.touched else "default")


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
