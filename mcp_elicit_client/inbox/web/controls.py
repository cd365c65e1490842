"""The fields of a form as controls of a page, and the meaning of the values that a browser sends."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from typing_extensions import assert_never

from mcp_elicit_client.core.form import (
    BooleanField,
    ChoiceField,
    Field,
    Form,
    MultiChoiceField,
    NumberField,
    TextField,
)
from mcp_elicit_client.core.text import unify_line_breaks
from mcp_elicit_client.core.validation.field_errors import FieldError
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.descriptions import (
    FieldDescription,
    capitalize,
    describe_field,
    option_labels,
    selection_limits,
)
from mcp_elicit_client.presentation.form_input import FieldInput, FormState, Intent, Selection, preselected, read_form
from mcp_elicit_client.presentation.input_parsing import CANONICAL_LOCALE, InputContext, to_text
from mcp_elicit_client.typing import FormRequest, Request

FormData: TypeAlias = Mapping[str, Sequence[str]]
"""The values that a browser sent, by the name of their control."""

Kind: TypeAlias = Literal["input", "area", "radios", "select", "checks", "moment"]
"""The kind of a control.  A moment is an input for a time, with a list of time zones beside it."""

MAX_CHECK_BOXES = 20
"""The number of options up to which they are check boxes instead of a list."""

MAX_RADIO_BUTTONS = 7
"""The number of options up to which they are radio buttons instead of a list."""

ZONE_NAME = "time_zone"
"""The name of the browser's time zone in `FormData`."""

REVIEWED_NAME = "reviewed"
"""The name of the digest of the reviewed content in `FormData`."""

_CONTROL = r"(?a)f[0-9]{1,9}(-zone)?"
_OTHER_NAMES = (ZONE_NAME, REVIEWED_NAME, "confirmed", "remember")
_ZONE = r"(?a)[A-Za-z0-9_+/-]+"
_MAX_ZONE = 64
_OMIT = "-"
_YES, _NO = "yes", "no"
_INDEX = r"(?a)[0-9]{1,9}"

# Browsers show years of up to six digits, but neither leap seconds nor more than three digits after the second.
_MOMENT = (
    r"(?aix)(?P<local> (\d{4,6}-\d\d-\d\dT)? ([01]\d|2[0-3]):[0-5]\d (:[0-5]\d(\.\d{1,3})?)? )"
    r"(?P<zone> Z|[+-]\d{2}:\d{2} )?"
)
_OFFSETS = (
    "-12:00 -11:00 -10:00 -09:30 -09:00 -08:00 -07:00 -06:00 -05:00 -04:00 -03:30 -03:00 -02:30 -02:00 -01:00 Z"
    " +01:00 +02:00 +03:00 +03:30 +04:00 +04:30 +05:00 +05:30 +05:45 +06:00 +06:30 +07:00 +08:00 +08:45 +09:00"
    " +09:30 +10:00 +10:30 +11:00 +12:00 +12:45 +13:00 +13:45 +14:00"
)


class Option(NamedTuple):
    """One of several options.  Its label is spelled by the server, unless *is_host*."""

    value: str
    label: str
    is_selected: bool
    is_host: bool = False


class HtmlControl(NamedTuple):
    """
    The control for one field on a page.

    Controls are numbered, so that no text of the server is a name, an ID or
    an attribute that browsers act upon.

    Attributes:
        id: The name and ID of the control.
        kind: The kind of the control.
        about: The description of the field.
        type: The type of the HTML input.
        hint: What the field accepts, and whether its value is a suggestion.
        is_required: True if the field is required.
        text: The text in the control.
        options: The options to select from.
        input_mode: The keyboard that suits the field; empty for the usual one.
        errors: The sentences about what is wrong with the value.
        time_zones: The time zones of a moment.
    """

    id: str
    kind: Kind
    about: FieldDescription
    type: str
    hint: str
    is_required: bool
    text: str
    options: tuple[Option, ...]
    input_mode: str
    errors: tuple[str, ...]
    time_zones: tuple[Option, ...] = ()

    @property
    def is_group(self) -> bool:
        """True if the control consists of several inputs."""
        return self.kind in ("radios", "checks", "moment")

    @property
    def has_seconds(self) -> bool:
        """True if the time in the control has seconds other than 0."""
        return self.kind == "moment" and self.text.count(":") > 1 and not self.text.endswith(":00")

    @property
    def is_multiple(self) -> bool:
        """True if several options can be selected."""
        return self.about.input_kind == "options"

    @property
    def direction(self) -> str:
        """The direction of the first label of the server.  Browsers take seconds to find it in a list of thousands."""
        labels = (option.label for option in self.options if not option.is_host)
        kinds = (unicodedata.bidirectional(character) for label in labels for character in label)
        return "ltr" if next((kind for kind in kinds if kind in ("L", "R", "AL")), "L") == "L" else "rtl"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its values in `FormData`."""
        return (self.id, _zone_name(self.id)) if self.kind == "moment" else (self.id,)

    @property
    def target(self) -> str:
        """The ID of its first input."""
        return f"{self.id}-0" if self.options and self.is_group else self.id

    @property
    def described_by(self) -> str:
        """The IDs of the elements that describe it."""
        about = self.about
        parts = {"warning": about.warning, "description": about.help, "hint": self.hint, "pattern": about.pattern}
        return " ".join([f"{self.id}-{part}" for part, text in parts.items() if text] + [f"{self.id}-errors"])


def make_controls(
    form: Form, catalog: MessageCatalog, filled: FormData | None = None, errors: Sequence[FieldError] = ()
) -> tuple[HtmlControl, ...]:
    """
    Return a control for each field of *form*.

    Args:
        form: The form.
        catalog: The texts.
        filled: The values that were sent before; None for the default values.
        errors: The errors in these values.
    """
    return tuple(
        _control(_name(index), field, catalog, filled, [error for error in errors if error.field == field.name])
        for index, field in enumerate(form.fields)
    )


def read_form_data(request: FormRequest, filled: FormData, *, locale: str | None = None) -> FormState:
    """
    Return what *filled* means for the form of *request*.  Patterns are not checked: that takes a process.

    Args:
        request: The request.
        filled: The values that the browser sent.
        locale: The locale of the user, as a BCP 47 tag.
    """
    given = {field.name: _given(field, _name(index), filled) for index, field in enumerate(request.form.fields)}
    zone = "".join(filled.get(ZONE_NAME, ())[:1])
    is_zone = len(zone) <= _MAX_ZONE and re.fullmatch(_ZONE, zone)
    context = InputContext.for_request(request, locale=locale, time_zone=zone if is_zone else None)
    return read_form(request.form, given, context)


def storable_values(request: Request, filled: FormData) -> dict[str, list[str]]:
    """Return the values of *filled* that a draft may keep: those of fields whose input is not hidden."""
    if not isinstance(request, FormRequest):
        return {}
    visible = [ZONE_NAME]
    for index, field in enumerate(request.form.fields):
        if not field.is_hidden:
            visible += [_name(index), _zone_name(_name(index))]
    return {name: [*filled[name]] for name in visible if name in filled}


def is_storable(request: Request, filled: FormData) -> bool:
    """Return True if a draft may keep all values of the form."""
    return isinstance(request, FormRequest) and not any(
        field.is_hidden and any(filled.get(_name(index), ())) for index, field in enumerate(request.form.fields)
    )


def is_control(name: str) -> bool:
    """Return True if a page sends *name* in `FormData`, apart from the action."""
    return name in _OTHER_NAMES or bool(re.fullmatch(_CONTROL, name))


def digest(state: FormState) -> str:
    """Return a digest of the content, with which the review is sent."""
    return hashlib.sha256(json.dumps(state.content, sort_keys=True).encode()).hexdigest()


def is_reviewed(filled: FormData, state: FormState) -> bool:
    """Return True unless *filled* comes from a review of other content, which the user has not seen."""
    return all(reviewed == digest(state) for reviewed in filled.get(REVIEWED_NAME, ()))


def _name(index: int) -> str:
    return f"f{index}"


def _zone_name(name: str) -> str:
    return f"{name}-zone"


# --- From fields to controls


def _control(
    name: str, field: Field, catalog: MessageCatalog, filled: FormData | None, errors: Sequence[FieldError]
) -> HtmlControl:
    about = describe_field(field, catalog)
    options = _options(field, catalog, None if filled is None else filled.get(name, ()))
    kind = _kind(field, about, len(field.choices) if isinstance(field, ChoiceField | MultiChoiceField) else 0)
    text = _text(field, name, filled, catalog.locale)
    zones: tuple[Option, ...] = ()
    if kind == "moment":
        text, zone = _split_moment(text)
        zones = _time_zones(zone or "".join((filled or {}).get(_zone_name(name), ())[:1]))
    return HtmlControl(
        id=name,
        kind=kind,
        about=about,
        type="text" if kind == "input" and (_is_moment(about) or about.html_input == "number") else about.html_input,
        hint=_hint(field, kind, about, catalog),
        is_required=field.required,
        text=text,
        options=options,
        input_mode=_input_mode(field),
        errors=tuple(map(catalog.error, errors)),
        time_zones=zones,
    )


def _kind(field: Field, about: FieldDescription, option_count: int) -> Kind:
    match about.input_kind:
        case "text" | "number":
            return "moment" if _is_moment(about) and _can_split(field) else "input"
        case "long_text" | "list":
            return "input" if about.is_hidden else "area"
        case "boolean":
            return "radios"
        case "option":
            return "radios" if option_count <= MAX_RADIO_BUTTONS else "select"
        case "options":
            return "checks" if option_count <= MAX_CHECK_BOXES else "select"


def _text(field: Field, name: str, filled: FormData | None, locale: str | None) -> str:
    if filled is not None:
        return "\n".join(filled.get(name, ()))
    if field.default is None:
        return ""
    # Only numbers are typed as the user writes them: the controls of browsers take dates in ISO 8601.
    context = InputContext(locale=locale if isinstance(field, NumberField) else CANONICAL_LOCALE)
    return to_text(field, field.default, context)


def _hint(field: Field, kind: Kind, about: FieldDescription, catalog: MessageCatalog) -> str:
    parts = []
    if kind == "moment":
        parts.append(catalog.text(messages.SELECT_TIME_ZONE))
    elif isinstance(field, MultiChoiceField) and field.choices:
        parts.append(selection_limits(field, catalog))
    elif about.html_input != "date" and about.accepts != catalog.text(messages.TEXT) and kind in ("input", "area"):
        parts += [about.accepts, about.example]
    if about.suggested and isinstance(field, BooleanField):
        label = catalog.text(messages.LABEL, label=catalog.text(messages.SUGGESTED_VALUE))
        parts.append(f"{label} {about.suggested}")
    elif about.suggested:
        parts.append(catalog.text(messages.SUGGESTED))
    parts = [part for part in parts if part]
    if len(parts) > 1:  # one may be a sentence; several are a list
        parts = [part.rstrip(".。") for part in parts]
    return capitalize(" · ".join(parts))


def _input_mode(field: Field) -> str:
    """Return which keyboard a phone shows.  The browser's own control for numbers drops what it cannot read."""
    if not isinstance(field, NumberField) or field.is_hidden:
        return ""
    has_sign = field.minimum is None or field.minimum < 0
    return "text" if has_sign else "numeric" if field.integer else "decimal"


def _options(field: Field, catalog: MessageCatalog, sent: Sequence[str] | None) -> tuple[Option, ...]:
    match field:
        case BooleanField():
            labels = [(_YES, capitalize(catalog.text(messages.YES))), (_NO, capitalize(catalog.text(messages.NO)))]
            suggested = [_NO] if preselected(field) is False else []
        case ChoiceField() | MultiChoiceField(choices=[_, *_]):
            labels = [(str(index), label) for index, label in enumerate(option_labels(field, catalog))]
            suggested = _suggested_options(field)
        case TextField() | NumberField() | MultiChoiceField():
            return ()
        case _:
            assert_never(field)
    selected = set(suggested if sent is None else sent)
    if not field.required and not isinstance(field, MultiChoiceField):
        # It is always visible: first in a long list, last in a short one.
        omit = (_OMIT, catalog.text(messages.DO_NOT_PROVIDE))
        labels.insert(0 if len(labels) > MAX_RADIO_BUTTONS else len(labels), omit)
        selected = selected or {_OMIT}
    is_host = isinstance(field, BooleanField)
    return tuple(Option(value, label, value in selected, is_host or value == _OMIT) for value, label in labels)


def _suggested_options(field: ChoiceField | MultiChoiceField) -> list[str]:
    default = field.default if isinstance(field, MultiChoiceField) else (field.default,)
    return [
        str(index)
        for index, choice in enumerate(field.choices)
        if any(choice.value == each and type(choice.value) is type(each) for each in default or ())
    ]


# --- From values to inputs


def _given(field: Field, name: str, filled: FormData) -> FieldInput:
    """Return what the user did with one field.  The page showed its default, so nothing sent means not provided."""
    texts = filled.get(name, ())
    if _is_as_shown(field, name, texts):
        return Intent.UNTOUCHED
    match field:
        case BooleanField():
            values = {_YES: True, _NO: False}
            return Selection(tuple(values.get(text, text) for text in texts[:1] if text not in ("", _OMIT)))
        case ChoiceField():
            return Selection(tuple(_option_value(field, text) for text in texts[:1] if text not in ("", _OMIT)))
        case MultiChoiceField(choices=[_, *_]):
            return Selection(tuple(_option_value(field, text) for text in texts))
        case TextField() | NumberField() | MultiChoiceField():
            text = _join_moment("".join(texts[:1]), "".join(filled.get(_zone_name(name), ())[:1]))
            is_empty_list = isinstance(field, MultiChoiceField) and field.required and not text.strip()
            return Intent.EMPTY if is_empty_list else text
        case _:
            assert_never(field)


def _is_as_shown(field: Field, name: str, texts: Sequence[str]) -> bool:
    """Return True if *texts* are what the control of *field* sends if the user does not change its default."""
    if not isinstance(field, (TextField, MultiChoiceField)) or field.default is None:
        return False
    if isinstance(field, MultiChoiceField) and field.choices:
        return [text for text in texts if text] == _suggested_options(field)
    return unify_line_breaks("".join(texts[:1])) == unify_line_breaks(_text(field, name, None, None))


def _option_value(field: ChoiceField | MultiChoiceField, text: str) -> object:
    index = int(text) if re.fullmatch(_INDEX, text) else -1
    # A text that is no index must not be read as a value of the server's.
    return field.choices[index].value if 0 <= index < len(field.choices) else f"\N{REPLACEMENT CHARACTER}{text}"


# --- Date and time


def _is_moment(about: FieldDescription) -> bool:
    return about.html_input in ("datetime-local", "time")


def _can_split(field: Field) -> bool:
    """Return True if a browser's control can show the default of *field*."""
    return field.default is None or bool(_split_moment(str(field.default))[0])


def _split_moment(text: str) -> tuple[str, str]:
    """Split a time into the part that a browser's control shows, and its time zone; either may be empty."""
    match = re.fullmatch(_MOMENT, text)
    return (match["local"].upper(), (match["zone"] or "").upper()) if match else ("", "")


def _join_moment(text: str, zone: str) -> str:
    """Return *text* with *zone*, unless it is no time or already has a time zone."""
    local, own_zone = _split_moment(text)
    return f"{text} {zone}" if zone and local and not own_zone else text


def _time_zones(selected: str) -> tuple[Option, ...]:
    """Return the time zones to select from, with *selected* if there is one."""
    offsets = _OFFSETS.split()
    if selected and selected not in offsets:
        offsets.append(selected)
    return tuple(
        Option(each, "UTC" if each == "Z" else f"UTC{each}", each == selected, is_host=True) for each in offsets
    )
