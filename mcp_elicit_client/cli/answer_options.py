"""The options ``--answers``, ``--set``, ``--decline``, ``--cancel`` and ``--open-url`` of ``mcp-elicit call``."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, get_args

from mcp_elicit_client.cli import messages
from mcp_elicit_client.cli.common import UsageError, quote_name, read_file
from mcp_elicit_client.cli.scripted_answers import ScriptedAnswer, ScriptedAnswers, normalize_message
from mcp_elicit_client.typing import Action

_ANSWERING = ("--answers", "--set", "--open-url", "--decline", "--cancel")
_ASKING = ("--headless", "--browser")
_COMBINED = frozenset({"--answers", "--set", "--open-url"})
_MEMBERS = frozenset({"message", "action", "content"})
_EXAMPLE = '[{"message": "Your order?", "content": {"size": "large"}}, {"action": "decline"}]'


def scripted_answers(options: argparse.Namespace) -> ScriptedAnswers | None:
    """
    Return the handler whose answers the options give; None if users are asked.

    Raises:
        UsageError: If the options or the file are not valid.
    """
    chosen = [name for name in _ANSWERING if _is_given(options, name)]
    if not chosen:
        return None
    for first, second in combinations([*chosen, *(name for name in _ASKING if _is_given(options, name))], 2):
        if not {first, second} <= _COMBINED:
            raise UsageError(messages.OPTIONS_CONFLICT, first=first, second=second)
    if options.tool is None:
        raise UsageError(messages.TOOL_MISSING, option=chosen[0])
    action: Action | None = "decline" if options.decline else "cancel" if options.cancel else None
    accepts_urls = options.open_url is not None
    return ScriptedAnswers(_answers(options), action=action, accepts_urls=accepts_urls, catalog=options.catalog)


def _is_given(options: argparse.Namespace, name: str) -> bool:
    return getattr(options, name.removeprefix("--").replace("-", "_")) not in (None, False, [])


def _texts(assignments: Sequence[str]) -> dict[str, str]:
    """Return the texts of ``--set``, by field name."""
    texts: dict[str, str] = {}
    for assignment in assignments:
        name, separator, text = assignment.partition("=")
        if not separator or not name:
            raise UsageError(messages.SET_SHAPE)
        if name in texts:
            raise UsageError(messages.TWO_ANSWERS, name=quote_name(name))
        texts[name] = text
    return texts


def _answers(options: argparse.Namespace) -> Sequence[ScriptedAnswer]:
    """Return the answers of ``--answers`` and ``--set``."""
    path, texts = options.answers, _texts(options.set)
    if path is None:
        return (ScriptedAnswer(texts=texts),) if texts else ()
    found = _read(path)
    if isinstance(found, dict):
        for name in texts:
            if name in found:
                raise UsageError(messages.TWO_ANSWERS, name=quote_name(name))
        return (ScriptedAnswer(content=found, texts=texts),)
    if texts:
        raise UsageError(messages.OPTIONS_CONFLICT, first="--set", second=f"--answers {path}")
    if not isinstance(found, list):
        raise UsageError(messages.ANSWERS_SHAPE, path=path, example=_EXAMPLE)
    answers = [_answer(number, each) for number, each in enumerate(found, 1)]
    named = Counter(each.message for each in answers if each.message is not None)
    for message, count in named.items():
        if count > 1:
            raise UsageError(messages.TWO_ANSWERS, name=quote_name(message))
    return answers


def _read(path: str) -> object:
    data = read_file(path)
    try:
        return json.loads(data, object_pairs_hook=_without_duplicates)
    except (ValueError, RecursionError) as error:
        raise UsageError(messages.NOT_JSON, source=path, reason=str(error)) from None


def _without_duplicates(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise UsageError(messages.TWO_ANSWERS, name=quote_name(name))
        found[name] = value
    return found


def _answer(number: int, entry: object) -> ScriptedAnswer:
    """Return one answer of a list."""
    if not isinstance(entry, dict) or not _is_answer(entry):
        raise UsageError(messages.ANSWER_SHAPE, number=number, example=_EXAMPLE)
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
        entry.keys() <= _MEMBERS
        and bool(entry.keys() & {"action", "content"})
        and action in get_args(Action)
        and isinstance(entry.get("content", {}), dict)
        and (action == "accept" or "content" not in entry)
        and isinstance(entry.get("message", ""), str)
    )
