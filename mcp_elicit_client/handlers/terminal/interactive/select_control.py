"""`SelectControl` and `BooleanControl`: the inputs for options, and for yes or no."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prompt_toolkit.buffer import Buffer

from mcp_elicit_client.core.form import BooleanField, ChoiceField, MultiChoiceField, choices_by_key
from mcp_elicit_client.core.schema.enums import Choice, json_key
from mcp_elicit_client.core.validation.field_errors import field_error
from mcp_elicit_client.handlers.terminal.interactive.control import Control, join_lines
from mcp_elicit_client.handlers.terminal.interactive.option_search import OptionSearch
from mcp_elicit_client.handlers.terminal.interactive.rendering import (
    BAR,
    GUTTER,
    INDENT,
    MARK,
    Drawing,
    Line,
    break_lines,
    columns,
    cut,
    host_text,
    input_text,
    simplify_emoji,
    without_bars,
)
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog, no_keys, yes_keys
from mcp_elicit_client.presentation.descriptions import format_value, option_label
from mcp_elicit_client.presentation.form_input import FieldInput, FieldState, Intent, Selection
from mcp_elicit_client.presentation.input_parsing import InputContext, accepts_empty

_MIN_FILTERED = 9
"""The number of options from which on they can be filtered."""

_ROWS = 7
_MAX_UNDO = 100


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
        self._history: list[tuple[list[Choice], bool]] = []
        self._pointed: int | None = None
        self._is_typing = False
        self._first = 0
        self._search = OptionSearch(field, catalog)
        if len(field.choices) >= _MIN_FILTERED:
            self.buffer: Buffer | None = Buffer(multiline=False)
            self.buffer.on_text_changed += self._on_filter

    @property
    def given(self) -> FieldInput:
        if not self.selected:
            return Intent.EMPTY if self.empty else Intent.OMIT
        return Selection(tuple(choice.value for choice in self.selected))

    @property
    def shown(self) -> Sequence[int]:
        """The indices of the options that match the filter, best first."""
        return self._search.find(self.buffer.text if self.buffer is not None else "")

    def restore(self, given: FieldInput) -> None:
        self.selected = self._find(given.values) if isinstance(given, Selection) else []
        self.empty = given is Intent.EMPTY
        self.touched = self.restored = True
        self.check()

    def undo(self) -> None:
        if self._history:
            self.selected, self.empty = self._history.pop()
            self.change()

    @property
    def _has_unused_text(self) -> bool:
        """True if the filter contains text for which no option was selected."""
        has_text = self.buffer is not None and bool(self.buffer.text.strip())
        return has_text and (self._is_typing or not self.shown)

    def leave(self) -> None:
        super().leave()
        self.refusal = ""
        if self._has_unused_text:  # what was typed is not lost without notice
            self.refuse(field_error(self.field.name, "choice"))
            return
        self._pointed = None
        self._is_typing = False
        if self.buffer is not None:
            self.buffer.reset()

    def press(self, key: str, data: str) -> bool:
        match key:
            case "up" | "down":
                return self._move(-1 if key == "up" else 1)
            case "space" if self.buffer is not None and self._is_part_of_name(f"{self.buffer.text} "):
                self.buffer.insert_text(" ")
            case "space":
                self._select()
            case "enter":
                # Enter selects only an option that the user pointed at; of several, one that the user typed.
                is_meant = self._is_typing if self.several else self._pointed is not None
                if is_meant:
                    self._select()
                    return bool(self.refusal)
                return not self.shown  # the text in the filter is kept
            case "paste" if self.buffer is not None:
                self.buffer.insert_text(join_lines(data))
            case "erase":
                self._change([], empty=False)
            case "omit":
                self._clear()
            case "delete" if self.buffer is not None:
                self.buffer.delete()
            case _:
                return False
        return True

    def value(self, room: int) -> Drawing:
        """Return what is selected.  It stays visible with any filter."""
        values = [choice.value for choice in self.selected]
        text = format_value(self.field, values if self.several else values[0], self.catalog) if values else ""
        return input_text(simplify_emoji(text), None, room, hidden=False, style=self.style, rows=3)

    def options(self, width: int) -> Drawing:
        shown = self.shown
        drawn = self._filter_rows(shown, width)
        at = self._row_in_view(shown)
        self._first = min(max(self._first, at - _ROWS + 1), at) if at is not None else 0
        last = self._first + _ROWS
        for row, index in enumerate(shown[self._first : last], self._first):
            lines = self._option(index, pointed=row == at and self._pointed is not None, width=width)
            if row == at:
                drawn.option = (len(drawn.lines), len(drawn.lines) + len(lines) - 1)
            drawn.lines += lines
        if len(shown) > last:
            text = f"{INDENT}… {self.catalog.text(messages.MORE, count=len(shown) - last)}"
            drawn.lines.append([("class:hint", cut(text, width - 1))])
        if drawn.cursor is None:
            drawn.cursor = (0, 0)
        return drawn

    def remarks(self) -> list[str]:
        if not isinstance(self.field, MultiChoiceField):
            return []
        count = self.catalog.text(messages.SELECTED, count=len(self.selected))
        return [count, f"({self.catalog.text(messages.NONE_SELECTED)})"] if self.empty else [count]

    def keys(self) -> tuple[tuple[str, str], ...]:
        text = self.catalog.text
        select = ("Space", text(messages.KEY_SELECT))
        if accepts_empty(self.field):
            return (select, ("F2", text(messages.KEY_CLEAR_OR_EMPTY)))
        return (select, ("Backspace" if self.buffer is None else "F2", text(messages.KEY_CLEAR)))

    def errors(self) -> list[str]:
        return [*super().errors(), *([self.refusal] if self.refusal else [])]

    def _find(self, values: Sequence[Any]) -> list[Choice]:
        """Return the options with *values*, in the server's order."""
        keys = {json_key(each) for each in values}
        if len(keys) <= 1:
            return [choices_by_key(self.field)[each] for each in keys if each in choices_by_key(self.field)]
        return [choice for key, choice in choices_by_key(self.field).items() if key in keys]

    def _filter_rows(self, shown: Sequence[int], width: int) -> Drawing:
        drawn = Drawing()
        if self.buffer is None:
            return drawn
        count = len(self.field.choices)
        hint = self.catalog.text(messages.FILTER, shown=len(shown), count=count)
        text = hint if shown else self.catalog.text(messages.NO_MATCHES)
        if self.buffer.text:
            cursor = self.buffer.cursor_position
            typed = input_text(self.buffer.text, cursor, width - 7, hidden=False, style="class:value", rows=1)
            typed.lines = [[("", INDENT), *line] for line in typed.lines]
            if typed.cursor is not None:
                typed.cursor = (typed.cursor[0], typed.cursor[1] + len(INDENT))
            drawn.add(typed)
        drawn.lines += host_text(text, width, "class:hint", INDENT)
        if drawn.cursor is None:
            drawn.cursor, drawn.shown = (0, len(INDENT)), True
        return drawn

    def _option(self, index: int, *, pointed: bool, width: int) -> list[Line]:
        """Return one line; all lines of the option that is pointed at, because options may begin alike."""
        choice = self.field.choices[index]
        selected = any(choice is each for each in self.selected)
        box = f"[{'x' if selected else ' '}] " if self.several else f"({'x' if selected else ' '}) "
        mark = "> " if pointed else "  "
        label = without_bars(option_label(self.field, choice, self.catalog))
        room = width - len(GUTTER) - len(mark + box) - 1
        name, *others = break_lines(label, room) if pointed else (cut(label, room),)
        style = "class:value" if selected else "class:server"
        gutter = [("", MARK), ("class:gutter", BAR)]
        margin = " " * len(mark + box)
        return [
            [*gutter, ("class:focus", mark), (style, box + name)],
            *([*gutter, (style, margin + other)] for other in others),
        ]

    def _row_in_view(self, shown: Sequence[int]) -> int | None:
        """Return the row of the option to point at, or to keep in view."""
        if not shown:
            return None
        if self._pointed is not None:
            row = self._search.row_of(self._pointed)
            if row is not None:
                return row
        if not self.selected:
            return 0
        row = self._search.row_of(self._search.index_of(self.selected[0]))
        return 0 if row is None else row

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
        self._is_typing = False
        choice = self.field.choices[self._pointed]
        picked = self._toggled(choice) if self.several else [choice]
        if picked is not None:
            self._change(picked, empty=False)

    def _toggled(self, choice: Choice) -> list[Choice] | None:
        """Return the selection with *choice* added or removed; None if too many options would be selected."""
        maximum = self.field.max_items if isinstance(self.field, MultiChoiceField) else None
        kept = [each for each in self.selected if each is not choice]
        if len(kept) < len(self.selected):
            return kept
        if maximum is not None and len(kept) >= maximum:
            self.refusal = self.catalog.text(messages.TOO_MANY, max=maximum)
            return None
        return self._find([each.value for each in [*kept, choice]])

    def _clear(self) -> None:
        """Clear text in the filter that selected no option; without such text, the selection."""
        if self.buffer is not None and self._has_unused_text:
            self.buffer.text = ""
        else:
            self._change([], empty=self.several and not self.selected and not self.empty)

    def _is_part_of_name(self, typed: str) -> bool:
        """Return True if *typed* is the beginning of a name that the user types, who points at no other option."""
        shown = self.shown
        is_typing = bool(typed.strip()) and self._pointed is not None and self._pointed == shown[0]
        return is_typing and self._search.contains(typed)

    def _change(self, selected: list[Choice], *, empty: bool) -> None:
        self._history = [*self._history[-_MAX_UNDO:], (self.selected, self.empty)]
        self.selected, self.empty, self.refusal = selected, empty, ""
        self.change()

    def _on_filter(self, _: Buffer) -> None:
        shown = self.shown
        self._first = 0
        self._pointed = shown[0] if shown and self.buffer is not None and self.buffer.text.strip() else None
        # What is selected already is not removed again.
        self._is_typing = self._pointed is not None and self.field.choices[self._pointed] not in self.selected
        self.state: FieldState = self.read(self.given if self.touched else Intent.UNTOUCHED)
        self.on_change(self)


class BooleanControl(Control):
    """An input for yes, no, or no answer."""

    field: BooleanField

    def __init__(self, field: BooleanField, catalog: MessageCatalog, context: InputContext) -> None:
        super().__init__(field, catalog, context)
        self.selected: bool | None = field.default
        self._history: list[bool | None] = []

    @property
    def given(self) -> FieldInput:
        return Intent.OMIT if self.selected is None else Selection((self.selected,))

    def restore(self, given: FieldInput) -> None:
        self.selected = given.values[0] if isinstance(given, Selection) else None
        self.touched = self.restored = True
        self.check()

    def undo(self) -> None:
        if self._history:
            self.selected = self._history.pop()
            self.change()

    def press(self, key: str, data: str) -> bool:
        states: list[bool | None] = [True, False] if self.field.required else [True, False, None]
        here = self.selected
        match key:
            case "char" if data and data in yes_keys(self.catalog):
                self._set(True)
            case "char" if data and data in no_keys(self.catalog):
                self._set(False)
            case "right" | "space":
                self._set(states[(states.index(here) + 1) % len(states)] if here in states else True)
            case "left":
                self._set(states[states.index(here) - 1] if here in states else states[-1])
            case "erase" | "omit":
                self._set(None)
            case _:
                return False
        return True

    def _set(self, value: bool | None) -> None:  # noqa: FBT001 -- it is the value
        self._history = [*self._history[-_MAX_UNDO:], self.selected]
        self.selected = value
        self.change()

    def value(self, room: int) -> Drawing:
        text = self.catalog.text
        names: list[tuple[str, bool | None]] = [(text(messages.YES), True), (text(messages.NO), False)]
        if not self.field.required or self.selected is None:
            names.append((text(messages.NO_ANSWER), None))
        marked = [f"({'x' if self.selected is state else ' '}) {name}" for name, state in names]
        together = "  ".join(marked)
        shown = [together] if columns(together) <= room else marked
        return Drawing([[(self.style, cut(each, room))] for each in shown], (0, 0))

    def keys(self) -> tuple[tuple[str, str], ...]:
        keys = f"{yes_keys(self.catalog)[0]}/{no_keys(self.catalog)[0]}/Space"
        return ((keys, self.catalog.text(messages.KEY_SELECT)),)
