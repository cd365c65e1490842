"""Descriptions of requests, fields and values, in words: the same for every user interface."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta, timezone
from typing import Any, Literal, NamedTuple, TypeAlias

from typing_extensions import assert_never

from mcp_elicit_client.core.form import (
    BooleanField,
    ChoiceField,
    Field,
    Form,
    MultiChoiceField,
    NumberField,
    TextField,
    choices_by_key,
    text_constraints,
)
from mcp_elicit_client.core.messages import Message
from mcp_elicit_client.core.origin import join_origin
from mcp_elicit_client.core.request import Server
from mcp_elicit_client.core.schema.enums import Choice, json_key
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.core.validation.field_errors import FieldError
from mcp_elicit_client.core.validation.formats import FORMATS
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.form_input import OMITTED
from mcp_elicit_client.presentation.formatting import format_number, format_temporal
from mcp_elicit_client.presentation.input_parsing import is_long_text
from mcp_elicit_client.presentation.option_names import quote_commas
from mcp_elicit_client.typing import Request, Source, UrlRequest

_CLOCK_TOLERANCE = timedelta(seconds=1)
_MAX_NAME = 200
_MAX_VALUE = 2_000
_MAX_PATTERN = 512
# Compiled at its first use, because it would slow down the import.
_MOMENT = r"(?a)(?:[0-9-]{10}T)?[0-9:.]{8,}(?P<zone>Z|[+-][0-9:]{5})"

InputKind: TypeAlias = Literal["text", "long_text", "number", "boolean", "option", "options", "list"]
"""
The kind of input that suits a field: one line of text, several lines, a
number, yes or no, one of several options, any of several options, or a list
of texts.
"""


class FieldDescription(NamedTuple):
    """
    The description of a field.

    `label`, `help`, `suggested`, `pattern` and `name` are the server's words:
    sanitized, and to be marked as such.  The other texts are the host's.

    Attributes:
        label: The label of the field.
        help: A help text; may be empty.
        accepts: What the field accepts, such as ``whole number, from 1 to 8``.
        requirement: The word for required or optional.
        suggested: The suggested value in words; may be empty.
        example: A valid value, such as ``name@example.com``; empty if the
            field has no format.
        warning: A warning about the field; may be empty.
        pattern: The regular expression; may be empty.
        name: The key in the answer.
        input_kind: The kind of input that suits the field.
        html_input: The type of the HTML input, if `input_kind` is ``text`` or
            ``number``.
        is_hidden: What is typed must not be shown.
    """

    label: str
    help: str
    accepts: str
    requirement: str
    suggested: str
    example: str
    warning: str
    pattern: str
    name: str
    input_kind: InputKind
    html_input: str
    is_hidden: bool


class Detail(NamedTuple):
    """A fact about a request that the server spelled: the host's label, and the server's text, sanitized."""

    label: str
    text: str


# --- Requests


def capitalize(text: str) -> str:
    """Return *text* with a capital at its beginning; the rest keeps its case."""
    return text[:1].upper() + text[1:]


def server_name(server: Server) -> str:
    """Return the name that the host gave *server*, sanitized."""
    return sanitize_text(server.name, limit=_MAX_NAME, multiline=False)


def title_line(request: Request, catalog: MessageCatalog) -> str:
    """Return the heading of *request*: the server, and what it requests."""
    name = server_name(request.server)
    if isinstance(request, UrlRequest):
        message = messages.NOT_FINISHED if request.previous_visits else messages.ASKS_TO_OPEN
        title = catalog.text(message, server=name, domain=request.target.registrable_domain)
    elif request.form.fields:
        title = catalog.text(messages.ASKS_FOR_ANSWERS, server=name, count=len(request.form.fields))
    else:
        title = catalog.text(messages.ASKS_TO_CONFIRM, server=name)
    position = request.batch_position
    if position is None or position.total < 2:
        return title
    return catalog.text(messages.POSITION, title=title, number=position.number, total=position.total)


def ended_line(request: Request, deadline: datetime | None, catalog: MessageCatalog) -> str:
    """Return why *request* is no longer shown; *deadline* is its present one, with the time that the user added."""
    has_expired = deadline is not None and datetime.now(timezone.utc) > deadline - _CLOCK_TOLERANCE
    return catalog.text(messages.EXPIRED if has_expired else messages.WITHDRAWN, server=server_name(request.server))


def request_details(request: Request, catalog: MessageCatalog) -> tuple[Detail, ...]:
    """Return the name of the tool, the name that the server reports if it is another one, and the reported origin."""
    claimed = request.server.claimed_name
    details = []
    if request.tool:
        tool = sanitize_text(request.tool, limit=_MAX_NAME, multiline=False)
        details.append(Detail(catalog.text(messages.TOOL), tool))
    if claimed and claimed != request.server.name:
        shown = sanitize_text(claimed, limit=_MAX_NAME, multiline=False)
        details.append(Detail(catalog.text(messages.CLAIMED_NAME), shown))
    return (*details, *origin_details(request, catalog))


def origin_details(request: Request, catalog: MessageCatalog) -> tuple[Detail, ...]:
    """Return the servers that gateways relayed *request* for, as the server reports them; empty if it reports none."""
    if not request.claimed_origin:
        return ()
    return (Detail(catalog.text(messages.CLAIMED_ORIGIN), join_origin(request.origin)),)


# --- Fields


def is_yes_or_no(form: Form) -> bool:
    """Return True if *form* has only one field, which asks for a yes or a no: one input answers and sends it."""
    return len(form.fields) == 1 and isinstance(form.fields[0], BooleanField)


def describe_field(field: Field, catalog: MessageCatalog) -> FieldDescription:
    """Return the description of *field* in the language of *catalog*."""
    constraints = text_constraints(field)
    row = FORMATS.get((constraints.format if constraints else None) or "")
    pattern = (constraints.pattern if constraints else None) or ""
    return FieldDescription(
        label=field.title,
        help=field.description,
        accepts=", ".join(filter(None, _accepts(field, catalog))),
        requirement=catalog.text(messages.REQUIRED if field.required else messages.OPTIONAL),
        suggested="" if field.default is None else format_value(field, field.default, catalog),
        example=row.example if row else "",
        warning=catalog.text(messages.SENSITIVE_FIELD) if field.sensitive else "",
        pattern=sanitize_text(pattern, limit=_MAX_PATTERN, multiline=False),
        name=sanitize_text(field.name, limit=_MAX_PATTERN, multiline=False),
        input_kind=_input_kind(field),
        html_input=_html_input(field),
        is_hidden=field.is_hidden,
    )


def selection_limits(field: MultiChoiceField, catalog: MessageCatalog) -> str:
    """Return how many options may be selected, in words; empty if any number may."""
    return _range(_SELECTIONS, field.min_items, field.max_items, catalog)


def _input_kind(field: Field) -> InputKind:
    match field:
        case TextField():
            return "long_text" if is_long_text(field) else "text"
        case NumberField():
            return "number"
        case BooleanField():
            return "boolean"
        case ChoiceField():
            return "option"
        case MultiChoiceField():
            return "options" if field.choices else "list"
        case _:
            assert_never(field)


def _html_input(field: Field) -> str:
    if field.is_hidden:
        return "password"
    match field:
        case NumberField():
            return "number"
        case TextField():
            row = FORMATS.get(field.format or "")
            return row.html_input if row else "text"
        case BooleanField() | ChoiceField() | MultiChoiceField():
            return "text"
        case _:
            assert_never(field)


def _accepts(field: Field, catalog: MessageCatalog) -> Iterator[str]:
    match field:
        case TextField():
            yield from _accepts_text(field, catalog)
        case NumberField():
            yield catalog.text(messages.WHOLE_NUMBER if field.integer else messages.NUMBER)
            yield from _accepts_numbers(field, catalog)
        case BooleanField():
            yield catalog.text(messages.YES_OR_NO)
        case ChoiceField():
            yield catalog.text(messages.OPTIONS, count=len(field.choices))
        case MultiChoiceField(choices=()):
            yield catalog.text(messages.LIST)
            yield _range(_VALUES, field.min_items, field.max_items, catalog)
            each = ", ".join(filter(None, _accepts_text(field.item, catalog))) if field.item else ""
            if each and each != catalog.text(messages.TEXT):
                yield catalog.text(messages.EACH_VALUE, accepts=each)
        case MultiChoiceField():
            yield catalog.text(messages.OPTIONS, count=len(field.choices))
            yield selection_limits(field, catalog)


def _accepts_text(field: TextField, catalog: MessageCatalog) -> Iterator[str]:
    row = FORMATS.get(field.format or "")
    yield catalog.text(messages.HIDDEN_TEXT if field.is_hidden else row.name if row else messages.TEXT)
    yield _range(_CHARACTERS, field.min_length, field.max_length, catalog)


def _accepts_numbers(field: NumberField, catalog: MessageCatalog) -> Iterator[str]:
    if field.minimum is not None and field.maximum is not None:
        yield catalog.text(messages.NUMBER_BETWEEN, min=field.minimum, max=field.maximum)
    elif field.minimum is not None:
        yield catalog.text(messages.NUMBER_AT_LEAST, min=field.minimum)
    elif field.maximum is not None:
        yield catalog.text(messages.NUMBER_AT_MOST, max=field.maximum)
    if field.exclusive_minimum is not None:
        yield catalog.text(messages.NUMBER_MORE_THAN, min=field.exclusive_minimum)
    if field.exclusive_maximum is not None:
        yield catalog.text(messages.NUMBER_LESS_THAN, max=field.exclusive_maximum)
    if field.multiple_of is not None:
        yield catalog.text(messages.NUMBER_MULTIPLE, step=field.multiple_of)


class _Range(NamedTuple):
    """The messages for a number of things with limits."""

    between: Message
    exactly: Message
    at_least: Message
    at_most: Message


_CHARACTERS = _Range(
    messages.CHARACTERS_BETWEEN,
    messages.CHARACTERS_EXACTLY,
    messages.CHARACTERS_AT_LEAST,
    messages.CHARACTERS_AT_MOST,
)
_VALUES = _Range(messages.VALUES_BETWEEN, messages.VALUES_EXACTLY, messages.VALUES_AT_LEAST, messages.VALUES_AT_MOST)
_SELECTIONS = _Range(
    messages.SELECT_BETWEEN, messages.SELECT_EXACTLY, messages.SELECT_AT_LEAST, messages.SELECT_AT_MOST
)


def _range(texts: _Range, minimum: int | None, maximum: int | None, catalog: MessageCatalog) -> str:
    if minimum and maximum is not None:
        return catalog.text(texts.exactly if minimum == maximum else texts.between, min=minimum, max=maximum)
    if minimum:
        return catalog.text(texts.at_least, min=minimum)
    return "" if maximum is None else catalog.text(texts.at_most, max=maximum)


def error_text(form: Form, errors: Iterable[FieldError], catalog: MessageCatalog) -> str:
    """Return what is wrong with an answer: for each field its title, after ``|``, and a sentence.  It has no values."""
    titles = {field.name: f"| {field.title}\n" for field in form.fields}
    return "\n".join(titles.get(error.field, "") + catalog.error(error) for error in errors)


# --- Options


def option_label(field: ChoiceField | MultiChoiceField, choice: Choice, catalog: MessageCatalog) -> str:
    """
    Return the label of an option of *field*, sanitized and never blank.

    If the server's label is blank, the host says that the value is empty, or
    shows its spaces in quotation marks.
    """
    label = field.label_of(choice)
    if label.strip():
        return label
    return f'"{label}"' if choice.value else f"({catalog.text(messages.EMPTY)})"


def option_labels(field: Field, catalog: MessageCatalog) -> list[str]:
    """Return the labels of the options of *field*; none if it has no options of the server."""
    if not isinstance(field, (ChoiceField, MultiChoiceField)):
        return []
    return [option_label(field, each, catalog) for each in field.choices]


# --- Values


def format_value(
    field: Field, value: Any, catalog: MessageCatalog, *, limit: int | None = _MAX_VALUE, multiline: bool = False
) -> str:
    """
    Return *value* of *field* in words: sanitized.

    Words of the host, such as ``not provided``, ``hidden`` and how many
    characters are not shown, are in parentheses.  A text with spaces at its
    beginning or end is in quotation marks.

    Args:
        field: The field.
        value: A valid value, or `OMITTED`.
        catalog: The texts.
        limit: The number of characters of a text to show; None for all.
        multiline: Keep the line breaks of a text; otherwise they become spaces.
    """
    match field:
        case _ if value is OMITTED:
            return f"({catalog.text(messages.NOT_PROVIDED)})"
        case _ if field.is_hidden:
            return f"({catalog.text(messages.HIDDEN)})"
        case BooleanField():
            return catalog.text(messages.YES if value else messages.NO)
        case ChoiceField():
            return option_label(field, choices_by_key(field)[json_key(value)], catalog)
        case MultiChoiceField():
            labels = [_label(field, each, catalog, limit) for each in value]
            nothing = messages.NONE_SELECTED if field.choices else messages.EMPTY
            return ", ".join(map(quote_commas, labels)) or f"({catalog.text(nothing)})"
        case NumberField():
            return format_number(value, catalog.locale)
        case TextField():
            temporal = format_temporal(value, field.format or "", catalog.locale)
            shown = _sanitize(temporal, catalog, limit, multiline=multiline) or f"({catalog.text(messages.EMPTY)})"
            return f'"{shown}"' if _has_outer_spaces(value) else shown
        case _:
            assert_never(field)


def answer_note(field: Field, shown: str, value: Any, source: Source | None, catalog: MessageCatalog) -> str:
    """
    Return what a review says about a value besides the value: where it comes from, or how it is sent.

    Args:
        field: The field.
        shown: The value as it is shown.
        value: The value, or `OMITTED`.
        source: Where the value comes from.
        catalog: The texts.
    """
    return catalog.text(messages.SUGGESTED) if source == "default" else sent_note(field, shown, value, catalog)


def sent_note(field: Field, typed: str, value: Any, catalog: MessageCatalog) -> str:
    """
    Return a sentence about what is sent, if it differs from what the user typed; else empty text.

    Numbers, dates and times are sent in one format, independent of the
    user's.  The time zone is named if the user did not name it.

    Args:
        field: The field.
        typed: The text that the user typed.
        value: Its value, or `OMITTED`.
        catalog: The texts.
    """
    is_formatted = isinstance(field, NumberField) or (isinstance(field, TextField) and field.format in FORMATS)
    if not is_formatted or value is OMITTED or field.is_hidden or typed.strip() == str(value):
        return ""
    sent = catalog.text(messages.SENT_AS, value=_sanitize(value, catalog))
    moment = re.fullmatch(_MOMENT, str(value))
    if moment is None:
        return sent
    from mcp_elicit_client.presentation.date_parsing import names_time_zone  # slow, and only for times

    if names_time_zone(typed.strip()):
        return sent
    zone = "UTC" if moment["zone"] == "Z" else moment["zone"]
    return catalog.text(messages.SENT_WITH_ZONE, zone=zone, sent=sent)


def _has_outer_spaces(text: str) -> bool:
    """Return True if *text* begins or ends with spaces, which would not be seen.  Line breaks are seen."""
    return text.strip("\n") != text.strip()


def _label(field: MultiChoiceField, value: str, catalog: MessageCatalog, limit: int | None) -> str:
    choice = choices_by_key(field).get(json_key(value))
    return _sanitize(value, catalog, limit) if choice is None else option_label(field, choice, catalog)


def _sanitize(
    value: object, catalog: MessageCatalog, limit: int | None = _MAX_VALUE, *, multiline: bool = False
) -> str:
    """Return *value* sanitized.  If it is cut, the host says how many characters are not shown."""
    text = str(value)
    shown = sanitize_text(text, limit=limit, multiline=multiline)
    if limit is None or len(text) <= limit:
        return shown
    return f"{shown} ({catalog.text(messages.MORE_CHARACTERS, count=len(text) - limit)})"
