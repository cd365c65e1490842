"""Fill in a form line by line, review it, send it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any

import anyio

from mcp_elicit_client.core.form import ChoiceField, Field, MultiChoiceField, TextField
from mcp_elicit_client.core.secrets.in_answer import typed_secrets
from mcp_elicit_client.core.validation.field_errors import AnswerError
from mcp_elicit_client.handlers.terminal.interactive.old_descriptions import name_of
from mcp_elicit_client.handlers.terminal.line_mode import Console
from mcp_elicit_client.handlers.terminal.parts import asks, decide, introduce, say
from mcp_elicit_client.handlers.terminal.wording import expectation, spell
from mcp_elicit_client.presentation.drafts import Drafts
from mcp_elicit_client.presentation.input_parsing import accepts_option_numbers, parse_text
from mcp_elicit_client.presentation.quoting import quote
from mcp_elicit_client.typing import Answer, FormRequest, Source

_OPTIONS_AT_ONCE = 20
_HELP = """\
Type your answer and press Enter.
  /back     go back to the field before
  /skip     leave this field out, if it is optional
  /empty    answer with an empty text or list
  /options  list all options
  /decline  say no to the server
  /block    say no, and never be asked for this server again, where that is offered
  /cancel   close the question without an answer (so does Ctrl-C)
To answer with a text that begins like one of these, put one more / before it."""
_COMMANDS = frozenset({"/back", "/skip", "/empty", "/options", "/decline", "/block", "/cancel", "/help"})


@dataclass
class _Draft:
    """What has been answered so far, by field name, and *before*, when the question was withdrawn."""

    values: dict[str, Any] = dataclass_field(default_factory=dict)
    sources: dict[str, Source] = dataclass_field(default_factory=dict)
    before: dict[str, Any] = dataclass_field(default_factory=dict)

    def set(self, field: Field, value: Any, source: Source) -> None:
        self.values[field.name] = value
        self.sources[field.name] = source

    def drop(self, field: Field) -> None:
        self.values.pop(field.name, None)
        self.sources.pop(field.name, None)


async def ask_form(console: Console, request: FormRequest, drafts: Drafts) -> Answer:
    """Ask for every field of *request*, then show what would be sent, then send it or not."""
    draft = _Draft(before=drafts.take(request))
    try:
        return await _ask_form(console, request, draft)
    except anyio.get_cancelled_exc_class():
        drafts.keep(request, {**draft.before, **draft.values})
        raise


async def _ask_form(console: Console, request: FormRequest, draft: _Draft) -> Answer:
    fields = request.form.fields
    introduce(console, request, asks(request))
    if fields:
        say(console, "Type /help for what you can do, /decline or /cancel to leave.")
    if request.form.unsupported_fields:
        say(
            console,
            f"Not asked here, since nobody could answer: {len(request.form.unsupported_fields)} optional field(s).",
        )
    at = 0
    while at < len(fields):
        step = await _ask_field(console, request, draft, at)
        if isinstance(step, Answer):
            return step
        at = max(at + step, 0)
    return await _review(console, request, draft)


async def _ask_field(console: Console, request: FormRequest, draft: _Draft, at: int) -> Answer | int:
    """Ask for one field.  Returns how many fields to go on, or the end of the question."""
    fields = request.form.fields
    field = fields[at]
    _show_field(console, field, draft, f"Field {at + 1} of {len(fields)}")
    while True:
        typed = await console.ask("> ", hidden=field.is_hidden)
        if typed == "/block" and request.can_block:
            step: Answer | int | None = _refuse("block")
        elif typed in _COMMANDS and typed != "/empty":
            step = _command(console, field, draft, typed)
        elif not typed.strip():
            step = _enter(console, field, draft)
        else:
            step = await _value(console, field, draft, typed)
        if step is not None:
            return step


def _command(console: Console, field: Field, draft: _Draft, command: str) -> Answer | int | None:
    """Obey a command; None to ask again."""
    match command:
        case "/decline" | "/cancel":
            return _refuse(command[1:])
        case "/back":
            return -1
        case "/skip" if not field.required:
            draft.drop(field)
            return 1
        case "/skip":
            say(console, "This field is required: the server takes no answer without it.")
        case "/options":
            _show_options(console, field, at_most=None)
        case _:
            console.write(_HELP)
    return None


def _enter(console: Console, field: Field, draft: _Draft) -> int | None:
    """Take what was typed before, or the suggestion, or leave the field out; None to ask again."""
    if field.name in draft.before:
        draft.set(field, draft.before[field.name], "user")
        return 1
    if field.default is not None:
        draft.set(field, field.default, "default")
        return 1
    if not field.required:
        draft.drop(field)
        return 1
    say(console, _required_hint(field))
    return None


async def _value(console: Console, field: Field, draft: _Draft, typed: str) -> int | None:
    """Take what was typed; None to ask again."""
    if typed == "/empty":
        typed = ""
    elif typed.startswith("//") and f"/{typed.lstrip('/')}" in _COMMANDS:
        typed = typed[1:]
    try:
        value = await anyio.to_thread.run_sync(parse_text, field, typed, abandon_on_cancel=True)
    except AnswerError as error:
        for each in error.errors:
            say(console, f"  {each.message}")
        return None
    draft.set(field, value, "user")
    return 1


def _required_hint(field: Field) -> str:
    if isinstance(field, TextField) and not field.min_length and field.format is None:
        return "An answer is required.  To send an empty text, type /empty."
    return "An answer is required."


def _show_field(console: Console, field: Field, draft: _Draft, place: str) -> None:
    console.write("")
    console.write(quote(field.title, console.width))
    if field.description:
        console.write(quote(field.description, console.width))
    _show_options(console, field, at_most=_OPTIONS_AT_ONCE)
    if field.default is not None:
        console.write(quote(f"Suggested: {spell(field, field.default)}", console.width))
    if field.sensitive:
        say(console, "Careful: do not type a password, a key or a card number here.")
    if field.name in draft.before:
        say(console, f"You had typed: {spell(field, draft.before[field.name])}")
    say(console, f"{place}: {expectation(field)}; {'; '.join(_what_enter_does(field, draft))}.")


def _what_enter_does(field: Field, draft: _Draft) -> Iterator[str]:
    yield "required" if field.required else "optional"
    if field.name in draft.before:
        yield "Enter takes what you had typed"
    elif field.default is not None:
        yield "Enter takes the suggestion" + ("" if field.required else ", /skip leaves it out")
    elif not field.required:
        yield "Enter leaves it out"


def _show_options(console: Console, field: Field, *, at_most: int | None) -> None:
    if not isinstance(field, (ChoiceField, MultiChoiceField)):
        return
    numbered = accepts_option_numbers(field)
    for number, choice in enumerate(field.choices[:at_most], 1):
        name = field.label_of(choice)
        console.write(quote(f"{number}) {name}" if numbered else f"- {name}", console.width))
    if at_most is not None and len(field.choices) > at_most:
        say(console, f"... and {len(field.choices) - at_most} more; /options lists all.")


async def _review(console: Console, request: FormRequest, draft: _Draft) -> Answer:
    fields = request.form.fields
    choices = [
        "send",
        *(["edit N"] if fields else []),
        "decline",
        *(["block"] if request.can_block else []),
        "cancel",
    ]
    while True:
        if fields:
            console.write("\nPlease check before it is sent:")
        for number, field in enumerate(fields, 1):
            console.write(quote(f"{number}) {field.title}: {_shown(field, draft)}", console.width))
        say(console, f"This goes to {name_of(request.server)}." if fields else "To send means to confirm.")
        choice = await decide(console, choices)
        match choice.split():
            case ["send"]:
                answer = await _send(console, request, draft)
                if answer is not None:
                    return answer
            case ["edit", place] if place in [str(each) for each in range(1, len(fields) + 1)]:
                step = await _ask_field(console, request, draft, int(place) - 1)
                if isinstance(step, Answer):
                    return step
            case ["decline" | "block" | "cancel"]:
                return _refuse(choice)
            case _:
                console.write(f"There is no such field: type edit and a number from 1 to {len(fields)}.")


async def _send(console: Console, request: FormRequest, draft: _Draft) -> Answer | None:
    """Send, unless the answer seems to hold a secret and the user thinks better of it."""
    found = typed_secrets(request.form, draft.values, draft.sources)
    for finding in found:
        say(console, f"Careful: {finding.message}")
    if found and await decide(console, ["yes", "no"], default="no", about="Send it anyway? ") == "no":
        return None
    answer = Answer.accept(draft.values, by="user", sources=draft.sources)
    return answer.model_copy(update={"confirmed": True}) if found else answer


def _refuse(how: str) -> Answer:
    if how == "cancel":
        return Answer.cancel(by="user")
    return Answer.decline(by="user", block_server=how == "block")


def _shown(field: Field, draft: _Draft) -> str:
    if field.name not in draft.values:
        return "(left out)"
    suggested = "  (suggested by the server)" if draft.sources[field.name] == "default" else ""
    return spell(field, draft.values[field.name]) + suggested
