"""`Form` and its five kinds of field."""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, TypeVar, cast

from pydantic import BaseModel, ConfigDict, StrictBool, StrictFloat, StrictInt, StrictStr
from pydantic import Field as Setting
from typing_extensions import Self, assert_never

from mcp_elicit_client._arguments import check_type
from mcp_elicit_client.core.schema.enums import Choice, Scalar, json_key
from mcp_elicit_client.core.text import normalize_look, sanitize_text
from mcp_elicit_client.core.validation.formats import FORMATS

_FEW_OPTIONS = 32

# The attribute for each JSON Schema keyword.
_TEXT_KEYWORDS = {"minLength": "min_length", "maxLength": "max_length", "pattern": "pattern"}
_NUMBER_KEYWORDS = {
    "minimum": "minimum",
    "maximum": "maximum",
    "exclusiveMinimum": "exclusive_minimum",
    "exclusiveMaximum": "exclusive_maximum",
    "multipleOf": "multiple_of",
}
_LIST_KEYWORDS = {"minItems": "min_items", "maxItems": "max_items"}

Value: TypeAlias = StrictStr | StrictBool | StrictInt | StrictFloat | tuple[StrictStr, ...] | list[StrictStr]
"""One value of an answer."""


M = TypeVar("M", bound=BaseModel)


def _without_cached(model: M) -> M:
    for name in model.__dict__.keys() - type(model).model_fields.keys():
        del model.__dict__[name]
    return model


class _WithCached(BaseModel):
    """A model with values that are built once for each instance: a copy, which may differ, builds its own."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, defer_build=True)

    def __copy__(self) -> Self:
        return _without_cached(super().__copy__())

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        return _without_cached(super().__deepcopy__(memo))


class _Field(_WithCached):
    # `defer_build`: a validator is built at its first use; a base class needs none.  The import is faster without.
    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    name: str
    title: str
    description: str = ""
    required: bool = False
    nullable: bool = False
    sensitive: bool = False

    @property
    def is_hidden(self) -> bool:
        """True if user interfaces must not show what is typed."""
        return self.sensitive or is_password(cast("Field", self))


class TextField(_Field, defer_build=False):
    """
    A text field.

    Attributes:
        name: The key in the answer, as the server spells it.  **Not
            sanitized**: show `title`.
        title: The label of the field.  Sanitized.
        description: A help text, or empty.  Sanitized.
        required: The answer must contain the field.
        nullable: The server accepts null.  Null is never sent: null for an
            optional field means that it is not provided.
        sensitive: The field seems to ask for sensitive data.  Hide what is
            typed, and keep it out of logs.
        default: The default value, already checked; None without a default.
        unchecked_default: A default value whose pattern has not been checked
            yet.  `settle_defaults` moves it to `default` or drops it.
        min_length: The minimum number of characters (code points).
        max_length: The maximum number of characters.
        format: The format.  Those in `core.validation.formats.FORMATS` are
            checked; any other format is a hint.
        pattern: An ECMAScript regular expression.  The text must contain a
            match.
        pattern_skipped: Why the pattern is not checked; empty if it is.
    """

    kind: Literal["text"] = "text"
    default: StrictStr | None = None
    unchecked_default: StrictStr | None = None
    min_length: int | None = None
    max_length: int | None = None
    format: str | None = None
    pattern: str | None = None
    pattern_skipped: str = ""

    @property
    def _keywords(self) -> Mapping[str, Any]:
        keywords = _keywords_given(self, "string", _TEXT_KEYWORDS)
        if self.format in FORMATS:
            keywords["format"] = self.format
        return keywords


class NumberField(_Field, defer_build=False):
    """
    A number field.

    Attributes:
        integer: The number must be whole.  ``1.0`` is whole and is sent as 1.
        default: The default value, already checked; None without a default.
        minimum: The smallest value.
        maximum: The largest value.
        exclusive_minimum: The value must be greater than this.
        exclusive_maximum: The value must be less than this.
        multiple_of: The value must be a multiple of this, in decimal.

    The other attributes are those of `TextField`.
    """

    kind: Literal["number"] = "number"
    integer: bool = False
    default: StrictInt | StrictFloat | None = None
    minimum: StrictInt | StrictFloat | None = None
    maximum: StrictInt | StrictFloat | None = None
    exclusive_minimum: StrictInt | StrictFloat | None = None
    exclusive_maximum: StrictInt | StrictFloat | None = None
    multiple_of: StrictInt | StrictFloat | None = None

    @property
    def _keywords(self) -> Mapping[str, Any]:
        return _keywords_given(self, "integer" if self.integer else "number", _NUMBER_KEYWORDS)


class BooleanField(_Field, defer_build=False):
    """
    A yes-or-no field.

    Attributes:
        default: The default value; None without a default.

    The other attributes are those of `TextField`.
    """

    kind: Literal["boolean"] = "boolean"
    default: StrictBool | None = None

    @property
    def _keywords(self) -> Mapping[str, Any]:
        return {"type": "boolean"}


def _with_value(choice: Choice) -> str:
    return f"{choice.title} ({sanitize_text(str(choice.value), limit=200, multiline=False)})"


def _look_of(label: str) -> str:
    return normalize_look(label) or label  # user interfaces quote the spaces of blank labels


class _WithChoices(_Field, defer_build=True):
    choices: tuple[Choice, ...] = ()

    def label_of(self, choice: Choice) -> str:
        """
        Return the label of *choice*: its title, followed by its value if the titles of two options look the same.

        If that still looks like the label of another option, the position of
        the option follows.  Sanitized.
        """
        check_type("choice", choice, Choice, hint="Pass one of `choices`.")
        return self._choice_labels[json_key(choice.value)]

    @cached_property
    def _by_key(self) -> Mapping[tuple[str, object], Choice]:
        return {json_key(choice.value): choice for choice in self.choices}

    @cached_property
    def _choice_labels(self) -> Mapping[tuple[str, object], str]:
        titles = Counter(_look_of(choice.title) for choice in self.choices)
        labels = {
            key: choice.title if titles[_look_of(choice.title)] == 1 else _with_value(choice)
            for key, choice in self._by_key.items()
        }
        counts = Counter(map(_look_of, labels.values()))
        if len(counts) == len(labels):
            return labels
        taken = set(counts)
        for position, (key, label) in enumerate(labels.items(), 1):
            if counts[_look_of(label)] == 1:
                continue
            numbered = label
            while _look_of(numbered) in taken:  # a title may look like this as well
                numbered = f"{numbered} #{position}"
            taken.add(_look_of(numbered))
            labels[key] = numbered
        return labels


class ChoiceField(_WithChoices, defer_build=False):
    """
    A field for one of several options.

    Attributes:
        choices: The options, in the server's order.
        default: The value of the default option; None without a default.

    The other attributes are those of `TextField`.
    """

    kind: Literal["choice"] = "choice"
    default: Scalar | None = None

    @property
    def _keywords(self) -> Mapping[str, Any]:
        return {"enum": [choice.value for choice in self.choices]}


class MultiChoiceField(_WithChoices, defer_build=False):
    """
    A field for several options, or for a list of texts.

    Attributes:
        choices: The options, in the server's order; empty for a list of texts.
        item: The constraints of each text in a list of texts.
        default: The default values; None without a default.
        unchecked_default: As in `TextField`, for a list of texts.
        min_items: The minimum number of values.
        max_items: The maximum number of values.
        unique: No value may repeat.

    The other attributes are those of `TextField`.
    """

    kind: Literal["multichoice"] = "multichoice"
    item: TextField | None = None
    default: tuple[StrictStr, ...] | None = None
    unchecked_default: tuple[StrictStr, ...] | None = None
    min_items: int | None = None
    max_items: int | None = None
    unique: bool = False

    @property
    def _keywords(self) -> Mapping[str, Any]:
        items: Mapping[str, Any]
        if self.choices:
            items = {"type": "string", "enum": [choice.value for choice in self.choices]}
        else:
            items = keywords_of(self.item) if self.item else {"type": "string"}
        return {**self._list_keywords, "items": items}

    @property
    def _list_keywords(self) -> Mapping[str, Any]:
        keywords = _keywords_given(self, "array", _LIST_KEYWORDS)
        if self.unique:
            keywords["uniqueItems"] = True
        return keywords


Field: TypeAlias = Annotated[
    TextField | NumberField | BooleanField | ChoiceField | MultiChoiceField, Setting(discriminator="kind")
]
"""One of the five kinds of field, distinguished by ``field.kind``."""


class Form(_WithCached, defer_build=False):
    """
    A form: the fields that a server requests.

    Attributes:
        fields: The fields, in the server's order.  A form without fields asks
            for confirmation.
        unsupported_fields: The names of optional fields that cannot be
            answered.  No answer contains them.
        rejects_unknown_fields: The server rejects answers with other keys.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

    fields: tuple[Field, ...] = ()
    unsupported_fields: tuple[str, ...] = ()
    rejects_unknown_fields: bool = False

    @cached_property
    def by_name(self) -> Mapping[str, Field]:
        """The fields by name."""
        return {field.name: field for field in self.fields}

    @cached_property
    def _labels(self) -> frozenset[str]:
        return frozenset(chain.from_iterable((each.name, each.title, each.description) for each in self.fields))

    @cached_property
    def _sentences(self) -> frozenset[str]:
        lists = (each.choices for each in self.fields if isinstance(each, (ChoiceField, MultiChoiceField)))
        titles = (choice.title for choices in lists if len(choices) <= _FEW_OPTIONS for choice in choices)
        return frozenset(title for title in titles if " " in title or not title.isascii())

    @cached_property
    def _has_password(self) -> bool:
        return any(map(is_password, self.fields))

    @cached_property
    def _texts_with_pattern(self) -> list[TextField]:
        texts = map(text_constraints, self.fields)
        return [text for text in texts if text is not None and (text.pattern is not None or text.pattern_skipped)]

    @cached_property
    def _has_patterns(self) -> bool:
        return any(not text.pattern_skipped for text in self._texts_with_pattern)

    @cached_property
    def _mentions_patterns(self) -> bool:
        return bool(self._texts_with_pattern)

    @cached_property
    def _option_count(self) -> int:
        return sum(len(field.choices) for field in self.fields if isinstance(field, (ChoiceField, MultiChoiceField)))

    @cached_property
    def _digest(self) -> str:
        # A dump of the model takes a quarter of the time of its own `repr`, and tells 1 from 1.0 and from true.
        return hashlib.sha256(repr(self.model_dump()).encode()).hexdigest()

    @cached_property
    def _schemas(self) -> dict[str, Mapping[str, Any]]:
        return {}


# Host applications have no use for what follows, so it is not part of the classes.
keywords_of: Callable[[Field], Mapping[str, Any]] = attrgetter("_keywords")
"""Return the JSON Schema keywords of a field, without title, description and default."""

list_keywords_of: Callable[[MultiChoiceField], Mapping[str, Any]] = attrgetter("_list_keywords")
"""Return the keywords of a list, without ``items``."""

choices_by_key: Callable[[ChoiceField | MultiChoiceField], Mapping[tuple[str, object], Choice]] = attrgetter("_by_key")
"""Return the options of a field by the `json_key` of their values."""

has_patterns: Callable[[Form], bool] = attrgetter("_has_patterns")
"""Return True if a pattern must be checked, which takes another process."""

mentions_patterns: Callable[[Form], bool] = attrgetter("_mentions_patterns")
"""Return True if a field has a pattern, checked or not."""

labels_of: Callable[[Form], frozenset[str]] = attrgetter("_labels")
"""Return the names, titles and descriptions of all fields."""

option_sentences_of: Callable[[Form], frozenset[str]] = attrgetter("_sentences")
"""Return the titles of options that may be sentences, of lists that are short enough to read."""

has_password: Callable[[Form], bool] = attrgetter("_has_password")
"""Return True if `is_password` is true for a field."""

option_count: Callable[[Form], int] = attrgetter("_option_count")
"""Return the number of options of all fields."""

form_digest: Callable[[Form], str] = attrgetter("_digest")
"""Return a text that equal forms share."""

schemas_of: Callable[[Form], dict[str, Mapping[str, Any]]] = attrgetter("_schemas")
"""Return the schemas that were written for a form, by protocol version."""


def text_constraints(field: Field) -> TextField | None:
    """Return the constraints of the texts of *field*; None if it accepts no free text."""
    # Compared by `kind`: several times faster than `isinstance`.
    if field.kind == "text":
        return field
    if field.kind == "multichoice":
        return field.item
    if field.kind == "number" or field.kind == "boolean" or field.kind == "choice":  # noqa: PLR1714 -- narrows the type
        return None
    assert_never(field)


def is_password(field: Field) -> bool:
    """Return True if the texts of *field* have the format ``password``."""
    text = text_constraints(field)
    return text is not None and text.format == "password"


def texts_of(value: object) -> Sequence[str]:
    """Return the texts in a value, or in a list of values."""
    if isinstance(value, (list, tuple)):
        return [each for each in value if isinstance(each, str)]
    return (value,) if isinstance(value, str) else ()


def _keywords_given(field: _Field, type_: str, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the type and those of *names* that *field* has.  Reading its attributes one by one takes longer."""
    values = field.__dict__
    keywords: dict[str, Any] = {"type": type_}
    for keyword, name in names.items():
        value = values[name]
        if value is not None:
            keywords[keyword] = value
    return keywords
