"""A form and its five kinds of field: all that is left of a server's schema."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, StrictBool, StrictFloat, StrictInt, StrictStr
from pydantic import Field as Setting

from mcp_elicit_client.core.schema.enums import Choice, Scalar, json_key
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.core.validation.formats import CHECKS

Value: TypeAlias = StrictStr | StrictBool | StrictInt | StrictFloat | tuple[StrictStr, ...] | list[StrictStr]
"""One value of an answer."""


class _Field(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid")

    name: str
    title: str
    description: str = ""
    required: bool = False
    nullable: bool = False
    sensitive: bool = False

    @property
    def is_hidden(self) -> bool:
        """Whether what is typed is not to be shown."""
        return self.sensitive or getattr(self, "format", None) == "password"


class TextField(_Field):
    """
    A text.

    Attributes:
        name: The key in the answer, exactly as the server spells it.  **Not
            safe to show**: show `title`.
        title: What to call the field.  Safe to show.
        description: More about it, or empty.  Safe to show.
        required: Whether an answer must have it.
        nullable: Whether the server takes null for it.  Null is never sent:
            if the field is optional, it counts as left out.
        secret: Whether it seems to ask for what should not travel: hide what
            is typed, and keep it out of logs.
        default: What the server suggests, already checked; None if nothing.
        min_length: The least number of characters (code points).
        max_length: The greatest number of characters.
        format: What the text stands for.  The formats of
            `core.formats.CHECKS` are checked, everything else is a hint.
        pattern: An ECMAScript regular expression that the text must contain
            a match of.
        pattern_skipped: Why a pattern of the server's is not checked here;
            empty if it is, or if there is none.
    """

    kind: Literal["text"] = "text"
    default: StrictStr | None = None
    min_length: int | None = None
    max_length: int | None = None
    format: str | None = None
    pattern: str | None = None
    pattern_skipped: str = ""

    def keywords(self) -> dict[str, Any]:
        """The field as JSON Schema, without its title, description and default."""
        rules = {"type": "string", "minLength": self.min_length, "maxLength": self.max_length, "pattern": self.pattern}
        if self.format in CHECKS:
            rules["format"] = self.format
        return _present(rules)


class NumberField(_Field):
    """
    A number.

    Attributes:
        integer: Whether it must be whole.  ``1.0`` is whole, and is sent as 1.
        default: What the server suggests, already checked; None if nothing.
        minimum: The least value.
        maximum: The greatest value.
        exclusive_minimum: What the value must be more than.
        exclusive_maximum: What the value must be less than.
        multiple_of: What the value must be a whole multiple of.

    The others are as in `TextField`.
    """

    kind: Literal["number"] = "number"
    integer: bool = False
    default: StrictInt | StrictFloat | None = None
    minimum: StrictInt | StrictFloat | None = None
    maximum: StrictInt | StrictFloat | None = None
    exclusive_minimum: StrictInt | StrictFloat | None = None
    exclusive_maximum: StrictInt | StrictFloat | None = None
    multiple_of: StrictInt | StrictFloat | None = None

    def keywords(self) -> dict[str, Any]:
        """The field as JSON Schema, without its title, description and default."""
        return _present(
            {
                "type": "integer" if self.integer else "number",
                "minimum": self.minimum,
                "maximum": self.maximum,
                "exclusiveMinimum": self.exclusive_minimum,
                "exclusiveMaximum": self.exclusive_maximum,
                "multipleOf": self.multiple_of,
            }
        )


class BooleanField(_Field):
    """
    A yes or a no.

    Attributes:
        default: What the server suggests; None if nothing.

    The others are as in `TextField`.
    """

    kind: Literal["boolean"] = "boolean"
    default: StrictBool | None = None

    def keywords(self) -> dict[str, Any]:
        """The field as JSON Schema, without its title, description and default."""
        return {"type": "boolean"}


class _WithChoices(_Field):
    choices: tuple[Choice, ...] = ()

    def label_of(self, choice: Choice) -> str:
        """
        What to call *choice*: its title, told apart by its value if two share it.

        Safe to show.
        """
        if self._titles[choice.title] == 1:
            return choice.title
        return f"{choice.title} ({sanitize_text(str(choice.value), limit=200, multiline=False)})"

    @cached_property
    def by_key(self) -> Mapping[tuple[str, object], Choice]:
        """The options by what `scalar_key` makes of their values."""
        return {json_key(choice.value): choice for choice in self.choices}

    @cached_property
    def _titles(self) -> Counter[str]:
        return Counter(choice.title for choice in self.choices)


class ChoiceField(_WithChoices):
    """
    One of several options.

    Attributes:
        choices: The options, in the server's order.
        default: The value of the option that the server suggests; None if none.

    The others are as in `TextField`.
    """

    kind: Literal["choice"] = "choice"
    default: Scalar | None = None

    def keywords(self) -> dict[str, Any]:
        """The field as JSON Schema, without its title, description and default."""
        return {"enum": [choice.value for choice in self.choices]}


class MultiChoiceField(_WithChoices):
    """
    Any number of options, or of texts.

    Attributes:
        choices: The options, in the server's order; none if texts are asked for.
        item: What each text must be like, where there are no options.
        default: The values that the server suggests; None if nothing.
        min_items: The least number of values.
        max_items: The greatest number of values.
        unique: Whether no value may repeat.

    The others are as in `TextField`.
    """

    kind: Literal["multichoice"] = "multichoice"
    item: TextField | None = None
    default: tuple[StrictStr, ...] | None = None
    min_items: int | None = None
    max_items: int | None = None
    unique: bool = False

    def keywords(self) -> dict[str, Any]:
        """The field as JSON Schema, without its title, description and default."""
        if self.choices:
            items = {"type": "string", "enum": [choice.value for choice in self.choices]}
        else:
            items = self.item.keywords() if self.item else {"type": "string"}
        return {**self.list_keywords(), "items": items}

    def list_keywords(self) -> dict[str, Any]:
        """The same, without what each value must be like."""
        limits = {"minItems": self.min_items, "maxItems": self.max_items, "uniqueItems": self.unique or None}
        return {"type": "array", **_present(limits)}


Field: TypeAlias = TextField | NumberField | BooleanField | ChoiceField | MultiChoiceField
"""One of the five kinds of field; ``field.kind`` tells which."""


class Form(BaseModel):
    """
    The fields that a server asks for, in its order.

    Attributes:
        fields: The fields that a person can answer.
        left_out: Names of optional fields that nobody could answer.  No
            answer holds them.
        closed: Whether the server refuses answers with other keys.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

    fields: tuple[Annotated[Field, Setting(discriminator="kind")], ...] = ()
    unsupported_fields: tuple[str, ...] = ()
    rejects_unknown_fields: bool = False

    @cached_property
    def by_name(self) -> Mapping[str, Field]:
        """The fields by their names."""
        return {field.name: field for field in self.fields}

    @cached_property
    def has_patterns(self) -> bool:
        """Whether checking an answer takes the process that checks patterns."""
        return any(text is not None and text.pattern is not None for text in map(text_constraints, self.fields))

    @cached_property
    def mentions_patterns(self) -> bool:
        """Whether the server has patterns for some field, checked or not."""
        for field in self.fields:
            text = text_constraints(field)
            if text is not None and (text.pattern is not None or text.pattern_skipped):
                return True
        return False

    def json_schema(self) -> dict[str, Any]:
        """
        Build the JSON Schema (2020-12) of an answer, from nothing but the fields.

        Nothing of the server's schema is in it but names, limits and the
        values of options: no ``$ref``, no unknown keyword.
        """
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {field.name: field.keywords() for field in self.fields},
            "required": [field.name for field in self.fields if field.required],
        }
        if self.rejects_unknown_fields:
            schema["additionalProperties"] = False
        return schema


def text_constraints(field: Field) -> TextField | None:
    """Return what the texts of *field* must be like; None if it takes no free texts."""
    if field.kind == "text":
        return field
    return field.item if field.kind == "multichoice" else None


def _present(rules: Mapping[str, Any]) -> dict[str, Any]:
    return {keyword: rule for keyword, rule in rules.items() if rule is not None}
