"""`SelectControl` and `BooleanControl`: the inputs for options, and for yes or no."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prompt_toolkit.buffer import Buffer

from mcp_elicit_client.core.form import BooleanField, ChoiceField, MultiChoiceField
from mcp_elicit_client.core.schema.enums import Choice, json_equal
from mcp_elicit_client.handlers.terminal.interactive.control import Control
from mcp_elicit_client.handlers.terminal.interactive.rendering import INDENT, Drawing, Line, cut, host_text, input_text
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.descriptions import selection_limits
from mcp_elicit_client.presentation.form_input import FieldInput, Intent, Selection
from mcp_elicit_client.presentation.input_parsing import InputContext, accepts_empty
from mcp_elicit_client.presentation.quoting import GUTTER

_MIN_FILTERED = 9
"""The number of options from which on they can be filtered."""

_ROWS = 8


class SelectControl(Control):
    """An input for one or several options.  Many options can be filtered by parts of their names."""

    field: ChoiceField | MultiChoiceField

    def __init__(self, field: ChoiceField | MultiChoiceField, catalog: MessageCatalog, context: InputContext) -> None:
        super().__init__(field, catalog, context)
        self.several: bool = isinstance(field, MultiChoiceField)
        default = () if field.default is None else field.default
        self.selected: list[Choice] = self._find(default if isinstance(default, tuple) else (default,))
        self.empty: bool = field.default == ()
        self.refusal: str = ""
        self._pointed: int | None = None
        self._first = 0
        self._buffer: Buffer | None = None
        if len(field.choices) >= _MIN_FILTERED:
            self._buffer = Buffer(multiline=False)
            self._buffer.on_text_changed += self._on_filter
        self._labels = [field.label_of(choice) for choice in field.choices]
        self._folded = [
            f"{label}\n{choice.value}".casefold() for label, choice in zip(self._labels, field.choices, strict=True)
        ]

    @property
    def buffer(self) -> Buffer | None:
        return self._buffer

    @property
    def given(self) -> FieldInput:
        if not self.selected:
            return Intent.EMPTY if self.empty else Intent.OMIT
        return Selection(tuple(choice.value for choice in self.selected))

    @property
    def shown(self) -> list[int]:
        """The indices of the options that match the filter."""
        part = self._buffer.text.strip().casefold() if self._buffer is not None else ""
        return [at for at, folded in enumerate(self._folded) if not part or part in folded]

    def restore(self, given: FieldInput) -> None:
        self.selected = self._find(given.values) if isinstance(given, Selection) else []
        self.empty = given is Intent.EMPTY
        self.touched = self.restored = True
        self._state = self.read(self.given)

    def leave(self) -> None:
        super().leave()
        self._pointed = None
        self.refusal = ""
        if self._buffer is not None:
            self._buffer.reset()

    def press(self, key: str, data: str) -> bool:  # noqa: ARG002 -- the filter receives the text
        match key:
            case "up" | "down":
                return self._move(-1 if key == "up" else 1)
            case "space":
                self._select()
            case "enter":
                # Enter selects only an option that the user pointed at.
                if not self.several and self._pointed is not None:
                    self._select()
                return False
            case "erase":
                self._clear(empty=False)
            case "omit":
                self._clear(empty=self.several and not self.selected and not self.empty)
            case _:
                return False
        return True

    def rows(self, width: int) -> Drawing:
        shown = self.shown
        drawn = self._filter_rows(shown, width)
        at = self._row_in_view(shown)
        self._first = min(max(self._first, at - _ROWS + 1), at) if at is not None else 0
        last = self._first + _ROWS
        if self._first:
            drawn.lines.append(self._more(self._first, width))
        for row, index in enumerate(shown[self._first : last], self._first):
            if row == at and self._buffer is None:
                drawn.cursor = (len(drawn.lines), 0)
            drawn.lines.append(self._option(index, pointed=row == at and self._pointed is not None, width=width))
        if len(shown) > last:
            drawn.lines.append(self._more(len(shown) - last, width))
        if drawn.cursor is None:
            drawn.cursor = (0, 0)
        for text in self._status():
            drawn.lines += host_text(text, width, "class:hint", INDENT)
        return drawn

    def keys(self) -> tuple[tuple[str, str], ...]:
        text = self.catalog.text
        select = ("Space", text(messages.KEY_SELECT))
        if accepts_empty(self.field):
            return (select, ("F2", text(messages.KEY_CLEAR_OR_EMPTY)))
        return (select, ("Backspace", text(messages.KEY_CLEAR))) if self._buffer is None else (select,)

    def errors(self) -> list[str]:
        return [*super().errors(), *([self.refusal] if self.refusal else [])]

    def _find(self, values: Sequence[Any]) -> list[Choice]:
        return [choice for choice in self.field.choices if any(json_equal(choice.value, each) for each in values)]

    def _is_selected(self, index: int) -> bool:
        value = self.field.choices[index].value
        return any(json_equal(value, each.value) for each in self.selected)

    def _filter_rows(self, shown: list[int], width: int) -> Drawing:
        drawn = Drawing()
        if self._buffer is None:
            return drawn
        hint = self.catalog.text(messages.FILTER, shown=len(shown), count=len(self.field.choices))
        text = hint if shown else self.catalog.text(messages.NO_MATCHES)
        drawn.lines += host_text(text, width, "class:hint", INDENT)
        cursor = self._buffer.cursor_position
        drawn.add(input_text(self._buffer.text, cursor, width, hidden=False, style="class:value", rows=2))
        return drawn

    def _status(self) -> list[str]:
        if not isinstance(self.field, MultiChoiceField):
            return []
        count = self.catalog.text(messages.SELECTED, count=len(self.selected))
        limits = selection_limits(self.field, self.catalog)
        status = [f"{count}; {limits}" if limits else count]
        return [*status, f"({self.catalog.text(messages.NONE_SELECTED)})"] if self.empty else status

    def _more(self, count: int, width: int) -> Line:
        return [("class:hint", cut(f"{INDENT}... {self.catalog.text(messages.MORE, count=count)}", width))]

    def _option(self, index: int, *, pointed: bool, width: int) -> Line:
        selected = self._is_selected(index)
        box = ("[x] " if selected else "[ ] ") if self.several else ("(x) " if selected else "( ) ")
        mark = "> " if pointed else "  "
        style = "class:value" if selected else "class:server"
        name = cut(self._labels[index], width - len(GUTTER) - len(mark + box) - 1)
        return [("class:gutter", GUTTER), ("class:focus", mark), (style, box + name)]

    def _row_in_view(self, shown: list[int]) -> int | None:
        """Return the row of the option to point at, or to keep in view."""
        if self._pointed is not None and self._pointed in shown:
            return shown.index(self._pointed)
        selected = [row for row, index in enumerate(shown) if self._is_selected(index)]
        return selected[0] if selected else (0 if shown else None)

    def _move(self, step: int) -> bool:
        shown = self.shown
        if not shown:
            return False
        at = self._row_in_view(shown)
        if self._pointed is None and not (self.selected and at is not None):
            self._pointed = shown[0] if step > 0 else None
            return step > 0
        row = (at or 0) + step
        if not 0 <= row < len(shown):
            return False
        self._pointed = shown[row]
        return True

    def _select(self) -> None:
        shown = self.shown
        at = self._row_in_view(shown)
        if at is None:
            return
        self._pointed = shown[at]
        choice = self.field.choices[self._pointed]
        if not self.several:
            self.selected = [choice]
        elif not self._toggle(choice):
            return
        self.refusal = ""
        self._changed(empty=False)

    def _toggle(self, choice: Choice) -> bool:
        """Select or deselect *choice*.  Return False if too many options would be selected."""
        maximum = self.field.max_items if isinstance(self.field, MultiChoiceField) else None
        kept = [each for each in self.selected if not json_equal(each.value, choice.value)]
        is_added = len(kept) == len(self.selected)
        if is_added and maximum is not None and len(kept) >= maximum:
            self.refusal = self.catalog.text(messages.TOO_MANY, max=maximum)
            return False
        picked = [*kept, choice] if is_added else kept
        self.selected = self._find([each.value for each in picked])
        return True

    def _clear(self, *, empty: bool) -> None:
        self.selected = []
        self.refusal = ""
        self._changed(empty=empty)

    def _changed(self, *, empty: bool) -> None:
        self.empty = empty
        self._state = self.read(self.given)
        self.change()

    def _on_filter(self, _: Buffer) -> None:
        shown = self.shown
        self._first = 0
        self._pointed = shown[0] if shown and self._buffer is not None and self._buffer.text.strip() else None
        self.on_change(self)


class BooleanControl(Control):
    """An input for yes, no, or no answer."""

    field: BooleanField

    def __init__(self, field: BooleanField, catalog: MessageCatalog, context: InputContext) -> None:
        super().__init__(field, catalog, context)
        self.value: bool | None = field.default

    @property
    def given(self) -> FieldInput:
        return Intent.OMIT if self.value is None else Selection((self.value,))

    def restore(self, given: FieldInput) -> None:
        if isinstance(given, Selection):
            (self.value,) = given.values
            self.touched = self.restored = True
            self._state = self.read(given)

    def press(self, key: str, data: str) -> bool:
        states: list[bool | None] = [True, False] if self.field.required else [True, False, None]
        match key:
            case "char" if data and data in self.catalog.yes_keys:
                self._set(True)
            case "char" if data and data in self.catalog.no_keys:
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
        self._state = self.read(self.given)
        self.change()

    def rows(self, width: int) -> Drawing:
        text = self.catalog.text
        names: list[tuple[str, bool | None]] = [(text(messages.YES), True), (text(messages.NO), False)]
        if not self.field.required or self.value is None:
            names.append((text(messages.NO_ANSWER), None))
        marked = [f"({'x' if self.value is state else ' '}) {name}" for name, state in names]
        together = "  ".join(marked)
        shown = [together] if len(INDENT + together) < width else marked
        return Drawing([[("class:value", cut(INDENT + each, width))] for each in shown], (0, len(INDENT)))

    def keys(self) -> tuple[tuple[str, str], ...]:
        keys = f"{self.catalog.yes_keys[0]}/{self.catalog.no_keys[0]}/Space"
        return ((keys, self.catalog.text(messages.KEY_SELECT)),)
