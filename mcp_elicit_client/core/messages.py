"""
English sentences for field errors and URL warnings, as gettext message IDs.

User interfaces translate them with the rest of the texts, which are in
`presentation.messages`.  Names in braces are parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Message(NamedTuple):
    """
    A text that can be translated.

    Attributes:
        text: The text; its singular form if there is a plural.
        plural: The plural form; empty if the text counts nothing.
        counted: The name of the parameter that is counted.
    """

    text: str
    plural: str = ""
    counted: str = ""


def english(message: Message, count: int) -> str:
    """Return *message* in English."""
    return message.plural if message.plural and count != 1 else message.text


def format_message(message: Message, parameters: Mapping[str, Any]) -> str:
    """Return the English sentence of *message* with its *parameters*."""
    count = parameters[message.counted] if message.counted else 1
    return english(message, count).format_map(parameters)


FIELD_ERRORS: Mapping[str, Message] = {
    "required": Message("This field is required."),
    "null": Message("Omit this field instead of sending null."),
    "choice": Message("Select one of the options."),
    "min_length": Message("Enter at least {min} character.", "Enter at least {min} characters.", "min"),
    "max_length": Message("Enter at most {max} character.", "Enter at most {max} characters.", "max"),
    "ambiguous": Message("Enter {first} or {second}."),
    "pattern": Message("This does not have the required format."),
    "minimum": Message("Enter {min} or more."),
    "maximum": Message("Enter {max} or less."),
    "exclusive_minimum": Message("Enter more than {min}."),
    "exclusive_maximum": Message("Enter less than {max}."),
    "multiple_of": Message("Enter a multiple of {step}."),
    "min_items": Message("Enter at least {min} value.", "Enter at least {min} values.", "min"),
    "max_items": Message("Enter at most {max} value.", "Enter at most {max} values.", "max"),
    "duplicate": Message("Remove the repeated value."),
    "not_finite": Message("This number is out of range. Enter another number."),
    "unsafe_integer": Message("Enter a whole number between -{max} and {max}."),
    "not_unicode": Message("Remove the invalid characters."),
    "unknown_field": Message("The server did not request this field."),
    "unsupported_field": Message("This field is not supported."),
    "too_large": Message("Your answers exceed {max} characters in total."),
}
"""The message of each error code.  Errors with the code ``format`` or ``type`` say what to enter."""

OPTION_COUNT_ERRORS: Mapping[str, Message] = {
    "min_items": Message("Select at least {min} option.", "Select at least {min} options.", "min"),
    "max_items": Message("Select at most {max} option.", "Select at most {max} options.", "max"),
}
"""The messages that replace those of `FIELD_ERRORS` where a field has options."""

PATTERN_WITH_SPACES = Message("This does not have the required format. It begins or ends with spaces.")
"""The message of the code ``pattern`` for a text with spaces around it, which are easily overlooked."""

AMBIGUOUS_OPTION = Message("Several options fit this. Enter one of them as it is shown.")
"""The message of the code ``choice`` where typed text fits several options."""

TYPE_ERRORS: Mapping[str, Message] = {
    "text": Message("Enter text."),
    "integer": Message("Enter a whole number."),
    "number": Message("Enter a number, such as 7.5."),
    "boolean": Message("Select yes or no."),
    "list": Message("Enter a list."),
    "texts": Message("Enter a list of texts."),
    "value": Message("Enter text, a number, yes or no, or a list of texts."),
    "content": Message("The answer must be an object with one member for each field."),
}
"""The message for a value of the wrong type, by the type that is expected."""

URL_WARNINGS: Mapping[str, Message] = {
    "ip_address": Message("The URL uses an IP address instead of a domain name."),
    "long_host": Message("The domain name is very long. Check how it ends: {domain}."),
    "loopback": Message("The URL opens a program on this computer."),
    "lookalike": Message("This is not {detail}. It belongs to {domain}."),
    "lookalike_letters": Message("The name uses letters that only look like Latin letters."),
    "mixed_scripts": Message("The name mixes several alphabets."),
    "port": Message("The URL uses an unusual port: {detail}."),
    "private": Message("The URL leads to a private network."),
    "punycode": Message("The name contains non-ASCII letters: {detail}."),
    "underscore": Message("The host name contains an underscore, which is unusual."),
}
"""The message of each URL warning code."""
