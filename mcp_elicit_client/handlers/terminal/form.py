"""Fill in a form line by line, review it, send it."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any

import anyio

from mcp_elicit_client.core.entry import is_numbered, parse_text
from mcp_elicit_client.core.forms import ChoiceField, Field, MultiChoiceField, TextField
from mcp_elicit_client.exceptions import AnswerError
from mcp_elicit_client.handlers.terminal.console import Console
from mcp_elicit_client.handlers.terminal.layout import quote
from mcp_elicit_client.handlers.terminal.parts import asks, decide, introduce, name_of, say
from mcp_elicit_client.handlers.terminal.wording import expectation, spell
from mcp_elicit_client.typing import Answer, FormRequest, Source

_OPTIONS_AT_ONCE = 20
_HELP = """\
Type your answer and press Enter.
  /back     go back to the field before
  /skip     leave this field out, if it is optional
  /empty    answer with an empty text or list
  /options  list all options
  /decline  say no to the server
  /cancel   close the question without an answer (so does Ctrl-C)
To answer with a text that begins like one of these, put one more / before it."""
_COMMANDS = frozenset({"/back", "/skip", "/empty", "/options", "/decline", "/cancel", "/help"})


@dataclass
class _Draft:
    """What has been answered so far, by field name."""

    values: dict[str, Any] = dataclass_field(default_factory=dict)
    sources: dict[str, Source] = dataclass_field(default_factory=dict)

    def set(self, field: Field, value: Any, source: Source) -> None:
        self.values[field.name] = value
        self.sources[field.name] = source

    def drop(self, field: Field) -> None:
        self.values.pop(field.name, None)
        self.sources.pop(field.name, None)


async def ask_form(console: Console, request: FormRequest) -> Answer:
    """Ask for every field of *request*, then show what would be sent, then send it or not."""
    fields = request.form.fields
    introduce(console, request, asks(request))
    if fields:
        say(console, "Type /help for what you can do, /decline or /cancel to leave.")
    if request.form.left_out:
        say(console, f"Not asked here, since nobody could answer: {len(request.form.left_out)} optional field(s).")
    draft = _Draft()
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
    _show_field(console, field, f"Field {at + 1} of {len(fields)}")
    hidden = isinstance(field, TextField) and field.format == "password"
    while True:
        typed = await console.ask("> ", hidden=hidden)
        if typed in _COMMANDS and typed != "/empty":
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
        case "/decline":
            return Answer.decline(by="user")
        case "/cancel":
            return Answer.cancel(by="user")
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
    """Take the suggestion, or leave the field out; None to ask again."""
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


def _show_field(console: Console, field: Field, place: str) -> None:
    console.write("")
    console.write(quote(field.title, console.width))
    if field.description:
        console.write(quote(field.description, console.width))
    _show_options(console, field, at_most=_OPTIONS_AT_ONCE)
    if field.default is not None:
        console.write(quote(f"Suggested: {spell(field, field.default)}", console.width))
    words = [f"{place}: {expectation(field)}", "required" if field.required else "optional"]
    if field.default is not None:
        words.append("Enter takes the suggestion" + ("" if field.required else ", /skip leaves it out"))
    elif not field.required:
        words.append("Enter leaves it out")
    say(console, "; ".join(words) + ".")


def _show_options(console: Console, field: Field, *, at_most: int | None) -> None:
    if not isinstance(field, (ChoiceField, MultiChoiceField)):
        return
    numbered = is_numbered(field)
    for number, choice in enumerate(field.choices[:at_most], 1):
        name = field.label_of(choice)
        console.write(quote(f"{number}) {name}" if numbered else f"- {name}", console.width))
    if at_most is not None and len(field.choices) > at_most:
        say(console, f"... and {len(field.choices) - at_most} more; /options lists all.")


async def _review(console: Console, request: FormRequest, draft: _Draft) -> Answer:
    fields = request.form.fields
    while True:
        if fields:
            console.write("\nPlease check before it is sent:")
        for number, field in enumerate(fields, 1):
            console.write(quote(f"{number}) {field.title}: {_shown(field, draft)}", console.width))
        say(console, f"This goes to {name_of(request.server)}." if fields else "To send means to confirm.")
        choice = await decide(console, ["send", *(["edit N"] if fields else []), "decline", "cancel"])
        match choice.split():
            case ["send"]:
                return Answer.accept(draft.values, by="user", sources=draft.sources)
            case ["decline"]:
                return Answer.decline(by="user")
            case ["cancel"]:
                return Answer.cancel(by="user")
            case ["edit", place] if place in [str(each) for each in range(1, len(fields) + 1)]:
                step = await _ask_field(console, request, draft, int(place) - 1)
                if isinstance(step, Answer):
                    return step
            case _:
                console.write(f"There is no such field: type edit and a number from 1 to {len(fields)}.")


def _shown(field: Field, draft: _Draft) -> str:
    if field.name not in draft.values:
        return "(left out)"
    suggested = "  (suggested by the server)" if draft.sources[field.name] == "default" else ""
    return spell(field, draft.values[field.name]) + suggested
