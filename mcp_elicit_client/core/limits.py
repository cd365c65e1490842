"""How much of a server's request is looked at."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """
    Bounds on what an untrusted server may make us read, show or send.

    What is longer is cut if it is only shown (message, title, description);
    a field over its limits is left out if it is optional; everything else
    ends in a `RequestError`.  Lengths are in characters (code points).

    Attributes:
        request: The whole request: the characters of all its texts and
            names, plus 8 for every value.
        message: The message shown to the user.
        fields: Fields in one form.
        name: A field's name.
        title: A field's title.
        description: A field's description.
        options: Options of one field.
        option_title: The title of one option.
        option_value: The value of one option, if it is a text.
        pattern: A regular expression; longer ones are not checked here.
        patterns: Whether regular expressions are checked here at all.
        answer: The content of one answer, counted as JSON text.
        depth: How many wrappers around a field (``$ref``, ``allOf`` of one,
            a union with null) are opened to find what it is.
        nesting: How deep objects and arrays may nest anywhere in the request.
        integer: The largest magnitude of an integer: 2**53, past which
            JavaScript servers no longer tell neighbours apart.
    """

    max_request: int = 262_144
    max_message: int = 4_000
    max_fields: int = 64
    max_name: int = 128
    max_title: int = 200
    max_description: int = 1_000
    max_options: int = 256
    max_option_title: int = 200
    max_option_value: int = 1_000
    max_pattern: int = 512
    check_patterns: bool = True
    max_answer: int = 16_384
    max_depth: int = 4
    max_nesting: int = 64
    max_integer: int = 2**53


DEFAULT_LIMITS = Limits()
