"""A form's fields as controls of a page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mcp_elicit_client.core.form import BooleanField, ChoiceField, Field, Form, MultiChoiceField, NumberField, TextField
from mcp_elicit_client.core.validation.field_errors import FieldError
from mcp_elicit_client.inbox.web import datetime_fields as moments
from mcp_elicit_client.inbox.web.form_data import LEFT_OUT, FormData, with_zone, zone_of
from mcp_elicit_client.inbox.web.hints import hint_of

FEW = 7
"""Up to how many options are shown as radio buttons."""

_LONG = 500
_INPUTS = {"email": "email", "uri": "url", "date": "date"}


@dataclass(frozen=True, slots=True)
class Option:
    """One of several things to choose."""

    value: str
    label: str
    is_chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """
    One field on a page.

    Nothing of the server's is a name, an id or an attribute that browsers act
    upon: controls are numbered.

    Attributes:
        id: Its name and id in the page.
        kind: How it is shown: input, area, radios, select, checks or moment.
        label: What to call it.
        description: More about it.
        hint: What fits, in words of ours.
        type: The type of the input.
        is_required: Whether it must be filled in.
        text: What is filled in, if it is a text.
        options: What there is to choose.
        limits: Attributes of the input: least, greatest, step.
        errors: What is wrong with it.
        zones: The zones of a moment.
    """

    id: str
    kind: str
    label: str
    description: str
    hint: str
    type: str
    is_required: bool
    text: str
    options: tuple[Option, ...]
    limits: Mapping[str, object]
    errors: tuple[str, ...]
    zones: tuple[Option, ...] = ()

    @property
    def is_group(self) -> bool:
        """Whether it is several controls under one name."""
        return self.kind in ("radios", "checks", "moment")

    @property
    def names(self) -> tuple[str, ...]:
        """What its values are called when they are sent."""
        return (self.id, zone_of(self.id)) if self.zones else (self.id,)

    @property
    def target(self) -> str:
        """Where a link to it leads."""
        return f"{self.id}-0" if self.options and self.is_group else self.id

    @property
    def described_by(self) -> str:
        """The ids of what describes it."""
        parts = {"description": self.description, "hint": self.hint, "errors": True}
        return " ".join(f"{self.id}-{part}" for part, there in parts.items() if there)

    @property
    def shown(self) -> str:
        """What is filled in, for a person to review."""
        if self.options:
            return ", ".join(option.label for option in self.options if option.is_chosen and option.value != LEFT_OUT)
        if self.zones:
            return f"{self.text.replace('T', ' ')} {''.join(zone.label for zone in self.zones if zone.is_chosen)}"
        return "••••••" if self.type == "password" and self.text else self.text


def controls_of(form: Form, filled: FormData | None = None, errors: Sequence[FieldError] = ()) -> tuple[Control, ...]:
    """
    Turn the fields of *form* into controls.

    Args:
        form: What is asked for.
        filled: What was filled in before; None for what the server suggests.
        errors: What was wrong with that.
    """
    return tuple(
        _control(at, field, filled, tuple(error.message for error in errors if error.field == field.name))
        for at, field in enumerate(form.fields)
    )


def _control(at: int, field: Field, filled: FormData | None, errors: tuple[str, ...]) -> Control:
    name = f"f{at}"
    options = _options(field, None if filled is None else filled.get(name, ()))
    text = _suggested(field) if filled is None else "\n".join(filled.get(name, ()))
    zones: tuple[Option, ...] = ()
    if moments.control_type(field):
        text, zone = moments.split(text if filled is None else "".join(with_zone(field, name, filled)))
        zone = zone or ("" if filled is None else next(iter(filled.get(zone_of(name), ())), ""))
        zones = tuple(Option(offset, label, offset == zone) for offset, label in moments.zones(zone))
    return Control(
        id=name,
        kind=_kind(field, options),
        label=field.title,
        description=field.description,
        hint=hint_of(field),
        type=_type(field),
        is_required=field.required,
        text=text,
        options=options,
        limits=_limits(field),
        errors=errors,
        zones=zones,
    )


def _kind(field: Field, options: Sequence[Option]) -> str:
    match field:
        case MultiChoiceField(choices=()):
            return "area"
        case MultiChoiceField():
            return "checks"
        case TextField() if not field.is_hidden and ("\n" in (field.default or "") or (field.max_length or 0) >= _LONG):
            return "area"
        case TextField() if moments.control_type(field):
            return "moment"
        case BooleanField():
            return "radios"
        case ChoiceField():
            return "radios" if len(options) - (not field.required) <= FEW else "select"
        case _:
            return "input"


def _type(field: Field) -> str:
    if field.is_hidden:
        return "password"
    match field:
        case NumberField():
            return "number"
        case TextField():
            return moments.control_type(field) or _INPUTS.get(field.format or "", "text")
        case _:
            return "text"


def _limits(field: Field) -> dict[str, object]:
    if not isinstance(field, NumberField) or field.is_hidden:
        return {}
    least, greatest = field.minimum, field.maximum
    if field.integer:  # browsers count their steps from the least value
        least = None if least is None else math.ceil(least)
        greatest = None if greatest is None else math.floor(greatest)
    limits = {"min": least, "max": greatest, "step": 1 if field.integer else "any"}
    return {name: limit for name, limit in limits.items() if limit is not None}


def _suggested(field: Field) -> str:
    match field:
        case MultiChoiceField():
            return "\n".join(field.default or ())
        case BooleanField() | ChoiceField():
            return ""
        case _:
            return "" if field.default is None else str(field.default)


def _options(field: Field, chosen: Sequence[str] | None) -> tuple[Option, ...]:
    match field:
        case BooleanField():
            labels = [("yes", "Yes"), ("no", "No")]
            # A yes is never given beforehand.
            suggested = ["no"] if field.default is False else []
        case ChoiceField() | MultiChoiceField(choices=[_, *_]):
            labels = [(str(at), field.label_of(choice)) for at, choice in enumerate(field.choices)]
            default = field.default if isinstance(field, MultiChoiceField) else (field.default,)
            suggested = [
                str(at)
                for at, choice in enumerate(field.choices)
                if any(choice.value == each and type(choice.value) is type(each) for each in default or ())
            ]
        case _:
            return ()
    marked = suggested if chosen is None else [*chosen]
    if not field.required and not isinstance(field, MultiChoiceField):
        # It is always in sight: first in a long list, last in a short one.
        labels.insert(0 if len(labels) > FEW else len(labels), (LEFT_OUT, "Leave out"))
        marked = marked or [LEFT_OUT]
    return tuple(Option(value, label, value in marked) for value, label in labels)
