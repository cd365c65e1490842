"""The forms of the corpus, and what a person who answers every field with an example sends in the terminal."""

from __future__ import annotations

from typing import Any

from mcp_elicit_client import Answer, FormRequest, MultiChoiceField, RequestError, parse_request
from mcp_elicit_client.core.answer import check_answer
from mcp_elicit_client.core.form import Field
from mcp_elicit_client.handlers.terminal import TerminalHandler
from mcp_elicit_client.presentation.input_parsing import to_text
from tests.support import corpus, example_value
from tests.support.console import ScriptedConsole


def forms(user: str) -> list[FormRequest]:
    """Return the forms for *user* that a chat can show: without fields whose input is hidden."""
    found: dict[str, FormRequest] = {}
    for row in corpus("requests.jsonl"):
        try:
            request = parse_request(row["params"], server="mail", user=user)
        except RequestError:
            continue
        if isinstance(request, FormRequest) and not any(each.is_hidden for each in request.form.fields):
            found.setdefault(repr((request.message, request.form)), request)
    return [each for each in found.values() if is_answerable(each)]


def is_answerable(request: FormRequest) -> bool:
    """Return True if there is an example for every field."""
    try:
        return all(example_value(field) is not None for field in request.form.fields)
    except StopIteration:
        return False


def typed(field: Field) -> str:
    """Return the example for *field* as it is typed."""
    return to_text(field, example_value(field))


async def in_terminal(request: FormRequest) -> Answer:
    """Answer every field of *request* in line mode."""
    lines = [typed(field) for field in request.form.fields]
    yes = ["yes"] if not request.form.fields else []
    console = ScriptedConsole([*lines, *yes, "send", "confirm"])
    return check_answer(request, await TerminalHandler(console=console)(request))


def labels(field: Field) -> list[str]:
    """Return the labels of the options of *field* that the example selects."""
    value: Any = example_value(field)
    if isinstance(field, MultiChoiceField):
        return [field.label_of(each) for each in field.choices if each.value in value]
    choices = getattr(field, "choices", ())
    return [field.label_of(each) for each in choices if each.value == value]  # type: ignore[union-attr]
