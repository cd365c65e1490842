"""A form's fields as controls of a page, and what was filled in as an answer."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from mcp_elicit_client.core.errors import FORMATS_IN_WORDS, FieldError
from mcp_elicit_client.core.forms import (
    BooleanField,
    ChoiceField,
    Field,
    Form,
    MultiChoiceField,
    NumberField,
    TextField,
)
from mcp_elicit_client.core.text import printable

Filled: TypeAlias = Mapping[str, Sequence[str]]
"""What a page sent: the values of each control."""

FEW = 7
"""Up to how many options are shown as radio buttons."""

LEFT_OUT = "-"
"""The value of the option to leave a field out."""

_LONG = 500
_INPUTS = {"email": "email", "uri": "url", "date": "date"}
_WHOLE = re.compile(r"[+-]?[0-9]{1,30}", re.ASCII)


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
        kind: How it is shown: input, area, radios, select or checks.
        label: What to call it.
        description: More about it.
        hint: What fits, in words of ours.
        type: The type of the input.
        is_required: Whether it must be filled in.
        text: What is filled in, if it is a text.
        options: What there is to choose.
        limits: Attributes of the input: least, greatest, step.
        errors: What is wrong with it.
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

    @property
    def is_group(self) -> bool:
        """Whether it is several controls under one name."""
        return self.kind in ("radios", "checks")

    @property
    def target(self) -> str:
        """Where a link to it leads."""
        return f"{self.id}-0" if self.is_group else self.id

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
        return "••••••" if self.type == "password" and self.text else self.text


def controls_of(form: Form, filled: Filled | None = None, errors: Sequence[FieldError] = ()) -> tuple[Control, ...]:
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


def content_of(form: Form, filled: Filled) -> dict[str, Any]:
    """Read what was filled in; what was left empty is left out."""
    return {
        field.name: value for at, field in enumerate(form.fields) for value in _values(field, filled.get(f"f{at}", ()))
    }


def _values(field: Field, texts: Sequence[str]) -> Iterator[Any]:
    """Return the one value of *field*, or none."""
    match field:
        case MultiChoiceField(choices=()):
            lines = [line for text in texts for line in text.splitlines() if line.strip()]
            if lines or field.required:
                yield lines
        case MultiChoiceField():
            if texts or field.required:
                yield [_choice(field, text) for text in texts]
        case _:
            text = texts[0] if texts else ""
            if text and not (text == LEFT_OUT and not isinstance(field, (TextField, NumberField))):
                yield _value(field, text)


def _value(field: Field, text: str) -> Any:
    match field:
        case ChoiceField():
            return _choice(field, text)
        case BooleanField():
            return {"yes": True, "no": False}.get(text, text)
        case NumberField():
            return _number(text.strip())
        case _:
            return text.replace("\r\n", "\n")


def _choice(field: ChoiceField | MultiChoiceField, text: str) -> Any:
    # What is no option of ours stays a text that is no option of the server's.
    at = int(text) if _WHOLE.fullmatch(text) else -1
    return field.choices[at].value if 0 <= at < len(field.choices) else f"\N{REPLACEMENT CHARACTER}{text}"


def _number(text: str) -> int | float | str:
    if _WHOLE.fullmatch(text):
        return int(text)
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text


def _control(at: int, field: Field, filled: Filled | None, errors: tuple[str, ...]) -> Control:
    name = f"f{at}"
    options = _options(field, None if filled is None else filled.get(name, ()))
    return Control(
        id=name,
        kind=_kind(field, options),
        label=field.title,
        description=field.description,
        hint=_hint(field),
        type=_type(field),
        is_required=field.required,
        text=_suggested(field) if filled is None else "\n".join(filled.get(name, ())),
        options=options,
        limits=_limits(field),
        errors=errors,
    )


def _kind(field: Field, options: Sequence[Option]) -> str:
    match field:
        case MultiChoiceField(choices=()):
            return "area"
        case MultiChoiceField():
            return "checks"
        case TextField() if not field.is_hidden and ("\n" in (field.default or "") or (field.max_length or 0) >= _LONG):
            return "area"
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
            return _INPUTS.get(field.format or "", "text")
        case _:
            return "text"


def _limits(field: Field) -> dict[str, object]:
    if not isinstance(field, NumberField) or field.is_hidden:
        return {}
    limits = {"min": field.minimum, "max": field.maximum, "step": 1 if field.integer else "any"}
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
        labels.append((LEFT_OUT, "Leave out"))
        marked = marked or [LEFT_OUT]
    return tuple(Option(value, label, value in marked) for value, label in labels)


def _hint(field: Field) -> str:
    words: list[str] = []
    if isinstance(field, TextField) and (fitting := FORMATS_IN_WORDS.get(field.format or "")):
        words.append(f"Must be {fitting}.")
    if isinstance(field, BooleanField) and field.default is not None:
        words.append(f"The server suggests {'yes' if field.default else 'no'}.")
    if isinstance(field, NumberField):
        words += _between(field.minimum, field.maximum, "")
    if isinstance(field, TextField):
        words += _between(field.min_length, field.max_length, " characters")
    if isinstance(field, MultiChoiceField):
        words += ["One on each line."] if not field.choices else []
        words += _between(field.min_items, field.max_items, " values")
    if isinstance(field, TextField) and field.pattern:
        words.append(f"Must match {printable(field.pattern, limit=80, multiline=False)}")
    return " ".join(words)


def _between(least: float | None, greatest: float | None, unit: str) -> list[str]:
    if least is not None and greatest is not None:
        return [f"From {least} to {greatest}{unit}."]
    if least is not None:
        return [f"At least {least}{unit}."]
    return [] if greatest is None else [f"At most {greatest}{unit}."]
