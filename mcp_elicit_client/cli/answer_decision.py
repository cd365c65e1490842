"""What the arguments of ``mcp-elicit answer`` say: the answer to a request, or why it is none."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcp_elicit_client.cli import messages
from mcp_elicit_client.cli.answer_options import given_values
from mcp_elicit_client.cli.common import UsageError, source_name
from mcp_elicit_client.core.form import Form
from mcp_elicit_client.handlers.scripted import FilledForm, fill_form
from mcp_elicit_client.presentation.answer_files import ScriptedAnswer
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.descriptions import format_value
from mcp_elicit_client.presentation.quoting import quote_name
from mcp_elicit_client.presentation.warnings import answer_warnings, must_confirm
from mcp_elicit_client.typing import Action, FormRequest, Request, Source

_EXAMPLE = '{"size": "large", "guests": 4}'
_HIDDEN = "********"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """
    An answer to a request.

    Attributes:
        action: Accept, decline or cancel.
        content: The values of a form; None without one.
        is_confirmed: The user confirmed to send sensitive data.
        problems: Why it cannot be sent, as sentences.
        lines: The values of fields, for the user.  Sensitive ones are hidden.
        shown: The action and the values as JSON.
    """

    action: Action = "accept"
    content: Mapping[str, Any] | None = None
    is_confirmed: bool = False
    problems: Sequence[str] = ()
    lines: Sequence[str] = ()
    shown: Mapping[str, Any] = field(default_factory=dict)


async def decide(options: argparse.Namespace, request: Request) -> Decision:
    """
    Return the answer in the options.

    Raises:
        UsageError: If the options contain no answer or two, or one that does
            not belong to this kind of request.
    """
    catalog: MessageCatalog = options.catalog
    has_values = bool(options.fields or options.answers is not None)
    if sum((options.accept, options.decline, options.cancel, options.done, has_values)) != 1:
        raise UsageError(messages.CHOOSE_ANSWER)
    is_form = isinstance(request, FormRequest)
    if is_form and options.done:
        raise UsageError(messages.NOT_A_URL)
    if not is_form and (has_values or options.accept):
        raise UsageError(messages.NOT_A_FORM)
    action: Action = "decline" if options.decline else "cancel" if options.cancel else "accept"
    if not isinstance(request, FormRequest) or action != "accept":
        return Decision(action=action, shown={"action": action})
    filled = await fill_form(request, _values(options, request.form), catalog)
    if filled.problems:
        return Decision(problems=filled.problems)
    return _checked(request, filled, catalog, is_confirmed=options.send_anyway)


def _values(options: argparse.Namespace, form: Form) -> ScriptedAnswer:
    """Return the values of the form."""
    found = given_values(options, options.fields, messages.FIELD_SHAPE)
    if not isinstance(found, ScriptedAnswer) or found.is_unlisted(form.by_name):
        raise UsageError(messages.VALUES_SHAPE, path=source_name(options.answers), example=_EXAMPLE)
    return found


def _checked(request: FormRequest, filled: FilledForm, catalog: MessageCatalog, *, is_confirmed: bool) -> Decision:
    """Return the accept, unless it contains sensitive data that the user must confirm."""
    typed: dict[str, Source] = {name: "user" for name in filled.content if name not in filled.defaults}
    warnings = answer_warnings(request.form, filled.content, typed, catalog)
    if must_confirm(warnings) and not is_confirmed:
        texts = [each.text for each in warnings if not each.is_note]
        return Decision(problems=[*texts, catalog.text(messages.SEND_ANYWAY_HINT)])
    fields = request.form.by_name
    lines = [
        f"{quote_name(name)}: {format_value(fields[name], value, catalog)}" for name, value in filled.content.items()
    ]
    shown = {name: _HIDDEN if fields[name].is_hidden else value for name, value in filled.content.items()}
    return Decision(
        content=filled.content,
        is_confirmed=is_confirmed,
        lines=lines,
        shown={"action": "accept", "content": shown},
    )
