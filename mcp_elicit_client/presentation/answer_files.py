"""Answers that are given in advance: `ScriptedAnswer`, and the reader of the JSON files that contain them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from mcp_elicit_client.core.messages import Message
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.exceptions import ElicitationError
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import ENGLISH
from mcp_elicit_client.presentation.quoting import quote_name
from mcp_elicit_client.typing import Action

_MEMBERS = frozenset({"message", "action", "content"})
_EXAMPLE = '[{"message": "Your order?", "content": {"size": "large"}}, {"action": "decline"}]'


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedAnswer:
    """
    One answer that was given in advance.

    Attributes:
        number: Its position, from 1 on.
        action: Accept, decline or cancel.
        content: Values by field name, as they are sent.
        texts: Texts by field name, which are read as typed text.
        message: The message of the request that it answers; None for the
            next request.
    """

    number: int = 1
    action: Action = "accept"
    content: Mapping[str, Any] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    message: str | None = None

    def is_unlisted(self, fields: Container[str]) -> bool:
        """Return True if a form with *fields* gets what belongs into a list, such as ``{"action": "decline"}``."""
        return "action" not in fields and self.content.keys() <= _MEMBERS and _is_answer(self.content)


class AnswersError(ElicitationError):
    """
    Answers that cannot be read.

    Attributes:
        message: What is wrong.
        parameters: The parameters of the message.
    """

    def __init__(self, message: Message, **parameters: object) -> None:
        super().__init__(ENGLISH.text(message, **parameters))
        self.message = message
        self.parameters: Mapping[str, object] = parameters


def read_texts(assignments: Iterable[str], shape: Message) -> dict[str, str]:
    """
    Return the texts of arguments such as ``name=Ada``, by field name.

    Args:
        assignments: The arguments.
        shape: Says what an argument must look like.

    Raises:
        AnswersError: If an argument is something else, or a field has two
            texts.
    """
    texts: dict[str, str] = {}
    for assignment in assignments:
        name, separator, text = assignment.partition("=")
        if not separator or not name:
            raise AnswersError(shape)
        if name in texts:
            raise AnswersError(messages.TWO_ANSWERS, name=quote_name(name))
        texts[name] = text
    return texts


def read_answers(data: str | bytes, source: str) -> ScriptedAnswer | Sequence[ScriptedAnswer]:
    """
    Read an object with the values of one form, or a list of answers.

    Args:
        data: JSON.
        source: Where it comes from.

    Raises:
        AnswersError: If the data are something else, or contain two answers
            for the same message or field.
    """
    found = _parse(data, source)
    if isinstance(found, dict) and not any(isinstance(value, dict) for value in found.values()):
        return ScriptedAnswer(content=found)
    if not isinstance(found, list):  # also one answer without its list: no field has an object as its value
        raise AnswersError(messages.ANSWERS_SHAPE, path=source, example=_EXAMPLE)
    answers = [_answer(number, each) for number, each in enumerate(found, 1)]
    named = Counter(each.message for each in answers if each.message is not None)
    for message, count in named.items():
        if count > 1:
            raise AnswersError(messages.TWO_ANSWERS, name=quote_name(message))
    return answers


def with_texts(answer: ScriptedAnswer, texts: Mapping[str, str]) -> ScriptedAnswer:
    """
    Return *answer* with further fields as typed texts.

    Raises:
        AnswersError: If a field has a value and a text.
    """
    for name in texts:
        if name in answer.content:
            raise AnswersError(messages.TWO_ANSWERS, name=quote_name(name))
    return replace(answer, texts=texts)


def normalize_message(text: str) -> str:
    """Return a message so that it equals the same message with other white space."""
    return " ".join(sanitize_text(text, limit=None).split())


def _parse(data: str | bytes, source: str) -> object:
    try:
        return json.loads(data, object_pairs_hook=_without_duplicates)
    except (ValueError, RecursionError) as error:
        raise AnswersError(messages.NOT_JSON, source=source, reason=str(error)) from None


def _without_duplicates(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise AnswersError(messages.TWO_ANSWERS, name=quote_name(name))
        found[name] = value
    return found


def _answer(number: int, entry: object) -> ScriptedAnswer:
    """Return one answer of a list."""
    if isinstance(entry, dict) and (unknown := entry.keys() - _MEMBERS):
        raise AnswersError(messages.ANSWER_MEMBER, number=number, name=quote_name(min(unknown)))
    if not isinstance(entry, dict) or not _is_answer(entry):
        raise AnswersError(messages.ANSWER_SHAPE, number=number, example=_EXAMPLE)
    message = entry.get("message")
    return ScriptedAnswer(
        number=number,
        action=entry.get("action", "accept"),
        content=entry.get("content", {}),
        message=None if message is None else normalize_message(message),
    )


def _is_answer(entry: Mapping[str, Any]) -> bool:
    """Return True if *entry* is what a server gets as an answer, with or without a message."""
    action = entry.get("action", "accept")
    return (
        bool(entry.keys() & {"action", "content"})
        and action in get_args(Action)
        and isinstance(entry.get("content", {}), dict)
        and (action == "accept" or "content" not in entry)
        and isinstance(entry.get("message", ""), str)
    )
