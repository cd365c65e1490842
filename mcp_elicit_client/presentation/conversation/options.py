"""`OptionView`: which options of a long list are offered, and which the user has selected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from typing_extensions import assert_never

from mcp_elicit_client.core.form import BooleanField, ChoiceField, Field, MultiChoiceField, NumberField, TextField
from mcp_elicit_client.core.text import fold_accents


class OptionPage(NamedTuple):
    """
    The options that are offered at once.

    Attributes:
        positions: Their positions among all options of the field.
        start: How many of the options that were found are on the pages
            before.
        found: The number of options that were found.
    """

    positions: Sequence[int]
    start: int
    found: int

    @property
    def has_more(self) -> bool:
        """True if there are more options after this page."""
        return self.found > self.start + len(self.positions)


@dataclass(frozen=True, slots=True)
class OptionView:
    """
    What a user sees of a list of options.

    Attributes:
        page: The number of the page, from 0 on.
        search: What the user searches for; empty for all options.
        selected: The positions of the options that are selected.
    """

    page: int = 0
    search: str = ""
    selected: tuple[int, ...] = ()

    def toggled(self, at: int) -> OptionView:
        """Return the view after option *at* was selected, or no longer is."""
        others = tuple(each for each in self.selected if each != at)
        return OptionView(self.page, self.search, others if at in self.selected else (*others, at))

    def adding(self, positions: Sequence[int]) -> OptionView:
        """Return the view after the options at *positions* were selected as well."""
        return OptionView(self.page, self.search, tuple(dict.fromkeys((*self.selected, *positions))))

    def turned(self, by: int) -> OptionView:
        """Return the view *by* pages further."""
        return OptionView(max(self.page + by, 0), self.search, self.selected)

    def searching(self, text: str) -> OptionView:
        """Return the view of the options that contain *text*."""
        return OptionView(0, text, self.selected)

    def shown(self, labels: Sequence[str], size: int) -> OptionPage:
        """Return the options on the page, at most *size*."""
        found = matches(labels, self.search) if self.search else range(len(labels))
        start = self.page * size
        return OptionPage(found[start : start + size], start, len(found))


def matches(labels: Sequence[str], text: str) -> list[int]:
    """Return the positions of the *labels* that contain *text*, in any case, with or without accents."""
    word = fold_accents(" ".join(text.split()))
    return [at for at, label in enumerate(labels) if word in fold_accents(label)]


def option_values(field: Field) -> list[object]:
    """Return the values that the buttons of *field* stand for, by their positions."""
    match field:
        case BooleanField():
            return [True, False]
        case ChoiceField() | MultiChoiceField():
            return [each.value for each in field.choices]
        case TextField() | NumberField():
            return []
        case _:
            assert_never(field)
