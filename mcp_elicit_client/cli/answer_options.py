"""The options ``--answers``, ``--set``, ``--decline``, ``--cancel`` and ``--open-url`` of ``mcp-elicit call``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import combinations

from mcp_elicit_client.cli import messages
from mcp_elicit_client.cli.common import UsageError, given_options, quote, read_file, source_name
from mcp_elicit_client.core.messages import Message
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.handlers.scripted import ScriptedAnswers
from mcp_elicit_client.presentation.answer_files import (
    AnswersError,
    ScriptedAnswer,
    read_answers,
    read_texts,
    with_texts,
)
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.typing import Action, UrlRequest

_ANSWERING = ("--answers", "--set", "--open-url", "--decline", "--cancel")
_SUSPENDING = ("--suspend",)
_OF_SUSPENDED_CALLS = ("--store", "--user", "--suspend-timeout")
_ASKING = ("--headless", "--browser")
_OF_OPEN_CALLS = ("--legacy",)
"""Options of calls that cannot be suspended."""

_COMBINED = frozenset({"--answers", "--set", "--open-url"})


def scripted_answers(options: argparse.Namespace) -> ScriptedAnswers | None:
    """
    Return the handler whose answers the options give; None if users are asked, now or later.

    Raises:
        UsageError: If the options or the file are not valid.
    """
    if not options.suspend and (useless := given_options(options, _OF_SUSPENDED_CALLS)):
        raise UsageError(messages.SUSPEND_MISSING, option=useless[0])
    chosen = given_options(options, (*_ANSWERING, *_SUSPENDING))
    if not chosen:
        return None
    _check_combination(options, chosen)
    if options.suspend:
        return None
    action: Action | None = "decline" if options.decline else "cancel" if options.cancel else None
    return ScriptedAnswers(
        _answers(options),
        action=action,
        accepts_urls=options.open_url is not None,
        catalog=options.catalog,
        url_hint=options.catalog.text(messages.OPEN_URL_HINT),
        on_url=lambda request: _print_url(request, options.catalog),
    )


def _check_combination(options: argparse.Namespace, chosen: Sequence[str]) -> None:
    """Check that the *chosen* options fit together, and to the others."""
    others = (*_ASKING, *(_OF_OPEN_CALLS if options.suspend else ()))
    for first, second in combinations([*chosen, *given_options(options, others)], 2):
        if not {first, second} <= _COMBINED:
            raise UsageError(messages.OPTIONS_CONFLICT, first=first, second=second)
    if options.tool is None:
        raise UsageError(messages.TOOL_MISSING, option=chosen[0])


def _print_url(request: UrlRequest, catalog: MessageCatalog) -> None:
    print(catalog.text(messages.URL_NOT_OPENED), file=sys.stderr)
    print(quote(sanitize_text(request.target.as_sent, multiline=False)), file=sys.stderr)


def _answers(options: argparse.Namespace) -> Sequence[ScriptedAnswer]:
    """Return the answers of ``--answers`` and ``--set``."""
    if options.answers is None and not options.set:
        return ()
    found = given_values(options, options.set, messages.SET_SHAPE)
    if isinstance(found, ScriptedAnswer):
        return (found,)
    if options.set:
        raise UsageError(messages.OPTIONS_CONFLICT, first="--set", second=f"--answers {options.answers}")
    return found


def given_values(
    options: argparse.Namespace, assignments: Sequence[str], shape: Message
) -> ScriptedAnswer | Sequence[ScriptedAnswer]:
    """Return the values of ``--answers`` and of *assignments*, which have *shape*; or the answers that a file lists."""
    try:
        texts = read_texts(assignments, shape)
        if options.answers is None:
            return ScriptedAnswer(texts=texts)
        found = read_answers(read_file(options.answers, options.catalog), source_name(options.answers))
        return with_texts(found, texts) if isinstance(found, ScriptedAnswer) else found
    except AnswersError as error:
        raise UsageError(error.message, **error.parameters) from None
