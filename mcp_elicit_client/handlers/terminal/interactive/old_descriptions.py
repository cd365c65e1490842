"""What to say about a request, a field, its value and its errors, in the words of a catalogue."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from mcp_elicit_client.core.form import (
    BooleanField,
    ChoiceField,
    Field,
    MultiChoiceField,
    NumberField,
    TextField,
)
from mcp_elicit_client.core.request import Server
from mcp_elicit_client.core.schema.enums import json_equal
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.core.validation.field_errors import FieldError
from mcp_elicit_client.core.validation.formats import FORMATS
from mcp_elicit_client.handlers.terminal.interactive.old_messages import MessageCatalog
from mcp_elicit_client.typing import Request, UrlRequest

_NAME = 200
_VALUE = 2_000
_PATTERN = 80


def title_line(request: Request, words: MessageCatalog) -> str:
    """Say who asks for what: the host's own line."""
    tool = words.of_tool.format(tool=sanitize_text(request.tool, limit=_NAME, multiline=False)) if request.tool else ""
    turn = request.batch_position
    place = words.of_turn.format(number=turn.number, of=turn.total) if turn and turn.total > 1 else ""
    common = {"server": name_of(request.server), "tool": tool, "turn": place}
    if isinstance(request, UrlRequest):
        sentence = words.asks_again if request.previous_visits else words.asks_to_open
        return sentence.format(**common, domain=request.target.registrable_domain)
    fields = len(request.form.fields)
    sentence = words.asks_many if fields > 1 else words.asks_one if fields else words.asks_to_confirm
    return sentence.format(**common, fields=fields)


def expectation(field: Field, words: MessageCatalog) -> str:
    """Say what a field takes: its kind and its limits."""
    return ", ".join(_expectation(field, words))


def _expectation(field: Field, words: MessageCatalog) -> Iterator[str]:
    match field:
        case NumberField():
            yield words.kinds["integer" if field.integer else "number"]
            yield from _range(field, words)
        case BooleanField():
            yield words.kinds["boolean"]
        case ChoiceField():
            yield words.kinds["choice"].format(options=len(field.choices))
        case MultiChoiceField(choices=()):
            yield words.kinds["list"]
            if field.item is not None:
                yield from _text(field.item, words)
        case MultiChoiceField():
            yield words.kinds["multichoice"].format(options=len(field.choices))
        case TextField():
            yield from _text(field, words)
    if isinstance(field, MultiChoiceField) and (count := how_many(field, words)):
        yield count


class _Amounts(NamedTuple):
    """The sentences for an amount with limits."""

    exactly: str
    between: str
    least: str
    most: str

    def say(self, least: int | None, most: int | None) -> str:
        """Put limits into words; nothing if there are none."""
        if least and most is not None:
            sentence = self.exactly if least == most else self.between
        elif least:
            sentence = self.least
        else:
            sentence = self.most if most is not None else ""
        return sentence.format(least=least, most=most)


def how_many(field: MultiChoiceField, words: MessageCatalog) -> str:
    """Say how many values may be chosen; nothing if any number may."""
    ways = _Amounts(words.choose_exactly, words.choose_between, words.choose_least, words.choose_most)
    return ways.say(field.min_items, field.max_items)


def _text(field: TextField, words: MessageCatalog) -> Iterator[str]:
    row = FORMATS.get(field.format or "")
    yield words.kinds["text"] if row is None else words.translate(row.name, 1)
    ways = _Amounts(words.characters_exactly, words.characters_between, words.characters_least, words.characters_most)
    if amount := ways.say(field.min_length, field.max_length):
        yield amount


def _range(field: NumberField, words: MessageCatalog) -> Iterator[str]:
    if field.minimum is not None:
        yield words.number_from.format(least=field.minimum)
    if field.exclusive_minimum is not None:
        yield words.number_above.format(least=field.exclusive_minimum)
    if field.maximum is not None:
        yield words.number_to.format(most=field.maximum)
    if field.exclusive_maximum is not None:
        yield words.number_below.format(most=field.exclusive_maximum)
    if field.multiple_of is not None:
        yield words.number_steps.format(step=field.multiple_of)


def format_value(field: Field, value: Any, words: MessageCatalog) -> str:
    """Show the value of a field, safely, in one line."""
    match field, value:
        case _ if field.is_hidden:
            return f"({words.hidden})"
        case BooleanField(), _:
            return words.yes if value else words.no
        case ChoiceField(), _:
            return next(field.label_of(choice) for choice in field.choices if json_equal(choice.value, value))
        case MultiChoiceField(), _:
            names = {choice.value: field.label_of(choice) for choice in field.choices}
            shown = (names.get(each) or sanitize_text(each, limit=_VALUE, multiline=False) for each in value)
            return ", ".join(shown) or f"({words.none_chosen})"
        case _:
            return sanitize_text(str(value), limit=_VALUE, multiline=False) or f"({words.empty})"


def format_error(error: FieldError, words: MessageCatalog) -> str:
    """Return the message of *error*."""
    return error.translate(words.translate)


def name_of(server: Server) -> str:
    """Return what the host application calls *server*, safe to show."""
    return sanitize_text(server.name, limit=_NAME, multiline=False)
