"""`OptionNames`: which option a typed text selects."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from functools import cached_property
from typing import TypeAlias

from mcp_elicit_client.core.form import ChoiceField, MultiChoiceField
from mcp_elicit_client.core.schema.enums import Choice
from mcp_elicit_client.core.text import normalize_look
from mcp_elicit_client.core.validation.field_errors import AnswerError, FieldError, field_error
from mcp_elicit_client.presentation.locale_conventions import narrow

# Patterns are compiled at their first use, because they would slow down the import.
_INTEGER = r"(?a)[+-]?[0-9]{1,300}"
_LIKE_A_NUMBER = r"[\W_]*\d{1,300}(?:[.,]0{1,300})?[\W_]*"
_COMMA = "[,\uff0c\u3001\u060c]"  # also of East Asian and Arabic keyboards
_QUOTED_OR_PLAIN = rf'\s*(?:"([^"]*)"\s*|([^{_COMMA[1:-1]}]*))(?:{_COMMA}|$)'

_Index: TypeAlias = Mapping[str, AbstractSet[int]]


class OptionNames:
    """
    The texts that select each option of a field.

    A text selects the option that shows it as its label.  It also selects an
    option by its title or its value, in any case, or by its number.  If it
    fits several options, it selects none: the user has to say which.

    Args:
        field: A field with options.
    """

    def __init__(self, field: ChoiceField | MultiChoiceField) -> None:
        self._field = field
        self._labels = _index(field.choices, field.label_of)
        self._titles = _index(field.choices, lambda choice: choice.title)
        self._values = _index(field.choices, lambda choice: str(choice.value))
        self._folded_labels, self._folded_titles, self._folded_values = map(
            _fold, (self._labels, self._titles, self._values)
        )

    def select(self, text: str) -> Choice:
        """
        Return the option that *text* selects.

        Raises:
            AnswerError: If it selects none, or fits several.
        """
        name = normalize_look(text)
        folded = name.casefold()
        for found in (
            _find(name, self._labels),
            # A label in another case counts as much as an exact value: users see only labels.
            _find(folded, self._folded_labels) | _find(name, self._titles, self._values),
            _find(folded, self._folded_titles, self._folded_values),
        ):
            if len(found) > 1:
                raise self._error(ambiguous=True)
            if found:
                return self._field.choices[found.pop()]
        if re.fullmatch(_INTEGER, name) and 1 <= int(name) <= len(self._field.choices) and self._are_numbered:
            return self._field.choices[int(name) - 1]
        narrowed = narrow(name)
        if narrowed != name:
            return self.select(narrowed)
        raise self._error()

    def select_several(self, text: str) -> list[Choice]:
        """
        Return the options that *text* selects, separated by line breaks, or by commas if there are none.

        A label with a comma may be in double quotes.

        Raises:
            AnswerError: If a part selects none or fits several, or if *text*
                can be separated in several ways.
        """
        if "\n" in text:
            return self._select_each(text.split("\n"))
        quoted, plain = split_list(text), split_at_commas(text)
        found: list[list[Choice]] = []
        for parts in (plain, [text], quoted):
            with suppress(AnswerError):
                found.append(self._select_each(parts))
        if any(each != found[0] for each in found):
            raise self._error(ambiguous=True)
        return found[0] if found else self._select_each(plain)

    def _select_each(self, texts: Iterable[str]) -> list[Choice]:
        return list({choice.value: choice for choice in map(self.select, filter(normalize_look, texts))}.values())

    @cached_property
    def _are_numbered(self) -> bool:
        return accepts_option_numbers(self._field)

    def _error(self, **params: object) -> AnswerError:
        error: FieldError = field_error(self._field.name, "choice", **params)
        return AnswerError(error.message, (error,))


def split_at_commas(text: str) -> list[str]:
    """Return the parts of *text* between its commas, also those of East Asian and Arabic keyboards."""
    return re.split(_COMMA, text)


def split_list(text: str) -> list[str]:
    """Return the parts of *text* between its commas.  A part in double quotes may contain commas."""
    matches = re.finditer(_QUOTED_OR_PLAIN, text)
    return [match[2] if match[1] is None else match[1] for match in matches]


def quote_commas(text: str) -> str:
    """Return *text* in double quotes if it contains a comma, for `split_list`."""
    return f'"{text}"' if has_comma(text) else text


def has_comma(text: str) -> bool:
    """Return True if `split_at_commas` would separate *text*."""
    return len(split_at_commas(text)) > 1


def accepts_option_numbers(field: ChoiceField | MultiChoiceField) -> bool:
    """Return True if an option can be selected by its number: no title and no value looks like a whole number."""
    names = (name for choice in field.choices for name in (choice.title, str(choice.value)))
    return not any(re.fullmatch(_LIKE_A_NUMBER, unicodedata.normalize("NFKC", name)) for name in names)


def _index(choices: Iterable[Choice], name: Callable[[Choice], str]) -> _Index:
    """Return the positions of the options by their names."""
    index: dict[str, set[int]] = {}
    for at, choice in enumerate(choices):
        index.setdefault(normalize_look(name(choice)), set()).add(at)
    return index


def _fold(index: _Index) -> _Index:
    folded: dict[str, set[int]] = {}
    for name, found in index.items():
        folded.setdefault(name.casefold(), set()).update(found)
    return folded


def _find(name: str, *indexes: _Index) -> set[int]:
    return {at for index in indexes for at in index.get(name, ())}
