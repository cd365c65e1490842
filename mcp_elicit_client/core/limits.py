"""`Limits`: maximum sizes and counts for untrusted input."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_elicit_client._arguments import check_int, check_type


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """
    Maximum sizes and counts for untrusted input.

    Texts that are only shown (message, titles, descriptions) are cut.  A
    field above its limits is unsupported if it is optional.  Everything else
    above a limit raises `RequestError`.  Lengths are in characters (code
    points).

    Attributes:
        max_request: The whole request: the characters of all texts and names,
            plus 8 for each value.  Also the patterns, defaults and options
            of all fields, counted for each field that refers to them.
        max_message: The message.
        max_fields: The fields of a form.
        max_name: The name of a field.
        max_title: The title of a field.
        max_description: The description of a field.
        max_options: The options of a field.  All fields of a form together
            may have twice as many, and at least 20 000.
        max_option_title: The title of an option.
        max_option_value: The value of an option that is a text.
        max_pattern: A regular expression.  Longer ones are not checked.
        check_patterns: Check regular expressions.
        max_answer: The content of an answer, as JSON text.
        max_depth: The wrappers around a field (``$ref``, ``allOf``, a
            union with null).
        max_nesting: The depth of objects and arrays anywhere in the request.
        max_integer: The magnitude of an integer.  JavaScript servers cannot
            tell integers above 2**53 from their neighbors.

    Raises:
        TypeError: If a limit is not an int, or `check_patterns` not a bool.
        ValueError: If a limit is negative.
    """

    max_request: int = 4_194_304
    max_message: int = 4_000
    max_fields: int = 200
    max_name: int = 128
    max_title: int = 200
    max_description: int = 1_000
    max_options: int = 10_000
    max_option_title: int = 200
    max_option_value: int = 1_000
    max_pattern: int = 512
    check_patterns: bool = True
    max_answer: int = 16_384
    max_depth: int = 4
    max_nesting: int = 64
    max_integer: int = 2**53

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if name == "check_patterns":
                check_type(name, self.check_patterns, bool)
            else:
                check_int(name, getattr(self, name))


DEFAULT_LIMITS = Limits()


_OPTIONS_OF_FORM = 20_000


def max_options_of_form(limits: Limits) -> int:
    """Return the maximum number of options of all fields of a form together."""
    return max(2 * limits.max_options, _OPTIONS_OF_FORM)
