"""`OptionSearch`: the options of a field whose names match typed text, best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from mcp_elicit_client.core.form import ChoiceField, MultiChoiceField
from mcp_elicit_client.core.schema.enums import Choice
from mcp_elicit_client.core.text import fold_accents
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.descriptions import option_labels

_MAX_QUERIES = 64


class OptionSearch:
    """
    Incremental search in the options of a field.

    Options whose name or value contains the typed text, with or without
    accents, come first, in the server's order.  Then come those that contain
    its letters in the same order, those with the fewest letters between them
    first.
    """

    def __init__(self, field: ChoiceField | MultiChoiceField, catalog: MessageCatalog) -> None:
        self._field = field
        self._catalog = catalog
        self._found: dict[str, Sequence[int]] = {}
        self._rows: tuple[Sequence[int], Mapping[int, int]] | None = None
        self._latest: Sequence[int] = range(len(field.choices))

    def find(self, typed: str) -> Sequence[int]:
        """Return the indices of the options that match *typed*; of all options, if it is blank."""
        query = fold_accents(typed.strip())
        if not query:
            self._latest = range(len(self._field.choices))
        else:
            if query not in self._found:
                if len(self._found) >= _MAX_QUERIES:
                    self._found.clear()
                self._found[query] = self._search(query)
            self._latest = self._found[query]
        return self._latest

    def contains(self, typed: str) -> bool:
        """Return True if the name or value of an option contains *typed*, with the spaces at its end."""
        query = fold_accents(typed.lstrip())
        return any(query in each for each in self._folded)

    def row_of(self, index: int) -> int | None:
        """Return the row of the option *index* in the latest result; None if it is not there."""
        latest = self._latest
        if isinstance(latest, range):
            return index
        if self._rows is None or self._rows[0] is not latest:
            self._rows = latest, {found: row for row, found in enumerate(latest)}
        return self._rows[1].get(index)

    def index_of(self, choice: Choice) -> int:
        """Return the index of *choice*."""
        return self._indices[id(choice)]

    @cached_property
    def _indices(self) -> Mapping[int, int]:
        return {id(choice): index for index, choice in enumerate(self._field.choices)}

    @cached_property
    def _folded(self) -> Sequence[str]:
        labels = option_labels(self._field, self._catalog)
        return [
            fold_accents(f"{label}\n{choice.value}") for label, choice in zip(labels, self._field.choices, strict=True)
        ]

    def _search(self, query: str) -> Sequence[int]:
        # A longer text matches fewer options than its beginning.
        candidates = self._found.get(query[:-1], range(len(self._folded)))
        exact = [index for index in sorted(candidates) if query in self._folded[index]]
        known = set(exact)
        scattered = [
            (spread, index)
            for index in candidates
            if index not in known and (spread := _spread(query, self._folded[index].partition("\n")[0])) is not None
        ]
        return [*exact, *(index for _, index in sorted(scattered))]


def _spread(query: str, name: str) -> int | None:
    """Return the length of the part of *name* with the letters of *query* in order, or None."""
    at = first = -1
    for letter in query:
        at = name.find(letter, at + 1)
        if at < 0:
            return None
        if first < 0:
            first = at
    return at - first
