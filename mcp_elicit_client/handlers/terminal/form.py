"""Forms in line mode: each field is asked, then the answers are reviewed and sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any

import anyio

from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.form import BooleanField, ChoiceField, Field, MultiChoiceField, TextField
from mcp_elicit_client.handlers.terminal.line_mode import Console, decide, introduce, say, say_with_quote
from mcp_elicit_client.handlers.terminal.url import refusal
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.descriptions import describe_field, format_value, server_name
from mcp_elicit_client.presentation.drafts import Drafts
from mcp_elicit_client.presentation.form_input import OMITTED, FieldInput, FieldState, Intent, read_field
from mcp_elicit_client.presentation.input_parsing import InputContext, accepts_empty, accepts_option_numbers
from mcp_elicit_client.presentation.quoting import quote
from mcp_elicit_client.presentation.warnings import RequestWarning, answer_warnings, warning_line
from mcp_elicit_client.typing import Answer, FormRequest, Source

_MAX_OPTIONS = 20
"""The number of options that are listed without a command."""

_COMMANDS = frozenset({*messages.HELP_COMMANDS, "/help"})


@dataclass
class _Draft:
    """The answers so far, and those *before* the request was withdrawn or cancelled, by field name."""

    before: dict[str, FieldInput]
    inputs: dict[str, FieldInput] = dataclass_field(default_factory=dict)
    values: dict[str, Any] = dataclass_field(default_factory=dict)
    sources: dict[str, Source] = dataclass_field(default_factory=dict)
    unchecked: dict[str, tuple[Diagnostic, ...]] = dataclass_field(default_factory=dict)

    def set(self, field: Field, given: FieldInput, state: FieldState) -> None:
        name = field.name
        for answers in (self.inputs, self.values, self.sources, self.unchecked):
            answers.pop(name, None)
        if state.unchecked:
            self.unchecked[name] = state.unchecked
        if state.source is not None:
            self.values[name], self.sources[name] = state.value, state.source
        if state.source == "user":
            self.inputs[name] = given


async def ask_form(console: Console, request: FormRequest, drafts: Drafts, catalog: MessageCatalog) -> Answer:
    """
    Ask for every field of *request*, show the answers, and send them if the user decides to.

    Answers that were not sent or declined are kept in *drafts*.
    """
    draft = _Draft(before=drafts.take(request))
    keep = True
    try:
        answer = await _LineForm(console, request, catalog, draft).ask()
        keep = answer.action == "cancel"
        return answer
    finally:
        if keep:
            drafts.keep(request, {**draft.before, **draft.inputs})


@dataclass(frozen=True, slots=True)
class _LineForm:
    """One form in line mode."""

    console: Console
    request: FormRequest
    catalog: MessageCatalog
    draft: _Draft

    @property
    def context(self) -> InputContext:
        """The host's limits, and the user and server of the request."""
        return InputContext.of_this_computer(self.request, locale=self.catalog.locale)

    async def ask(self) -> Answer:
        fields = self.request.form.fields
        introduce(self.console, self.request, self.catalog)
        if fields:
            self._say(self.catalog.text(messages.COMMANDS_HINT))
        at = 0
        while at < len(fields):
            step = await self._ask_field(at)
            if isinstance(step, Answer):
                return step
            at = max(at + step, 0)
        return await self._review()

    def _say(self, text: str) -> None:
        say(self.console, text)

    async def _ask_field(self, at: int) -> Answer | int:
        """Ask for one field.  Return the number of fields to advance, or the answer that ends the request."""
        field = self.request.form.fields[at]
        self._show_field(field, at)
        while True:
            typed = await self.console.ask("> ", hidden=field.is_hidden)
            if typed == "/block" and self.request.can_block:
                return refusal("block")
            if typed in _COMMANDS and typed != "/empty":
                step = self._command(field, typed)
            elif not typed.strip():
                step = await self._apply(field, self.draft.before.get(field.name, Intent.UNTOUCHED))
            else:
                step = await self._value(field, typed)
            if step is not None:
                return step

    def _command(self, field: Field, command: str) -> Answer | int | None:
        """Execute a command; None to ask for the field again."""
        match command:
            case "/decline" | "/cancel":
                return refusal(command[1:])
            case "/back":
                return -1
            case "/skip" if not field.required:
                self.draft.set(field, Intent.OMIT, FieldState())
                return 1
            case "/skip":
                self._show_errors(field, read_field(field, Intent.OMIT, self.context))
            case "/options":
                self._show_options(field, at_most=None)
            case _:
                self._show_help()
        return None

    async def _value(self, field: Field, typed: str) -> int | None:
        """Use what the user typed; None to ask again."""
        given: FieldInput = typed
        if typed == "/empty":
            given = Intent.EMPTY
        elif typed.startswith("//") and f"/{typed.lstrip('/')}" in _COMMANDS:
            given = typed[1:]
        elif isinstance(field, BooleanField):
            given = self._boolean(typed)
        return await self._apply(field, given)

    async def _apply(self, field: Field, given: FieldInput) -> int | None:
        """Use *given* if it is valid; None to ask again."""
        # Patterns are checked in another process.
        state = await anyio.to_thread.run_sync(read_field, field, given, self.context, abandon_on_cancel=True)
        if state.errors:
            self._show_errors(field, state)
            if state.errors[0].code == "required" and isinstance(field, TextField) and accepts_empty(field):
                self._say(self.catalog.text(messages.TYPE_EMPTY))
            return None
        self.draft.set(field, given, state)
        return 1

    def _boolean(self, typed: str) -> str:
        """Return yes or no in English if *typed* is one of them in the user's language."""
        word = typed.strip().casefold()
        if word == self.catalog.text(messages.YES).casefold() or word in [*self.catalog.yes_keys]:
            return "yes"
        if word == self.catalog.text(messages.NO).casefold() or word in [*self.catalog.no_keys]:
            return "no"
        return typed

    def _show_errors(self, field: Field, state: FieldState) -> None:
        for error in state.errors:
            self._say(f"  {self.catalog.error(error)}")
            if error.code == "pattern":
                pattern = describe_field(field, self.catalog).pattern
                say_with_quote(self.console, f"  {self.catalog.text(messages.PATTERN)}", pattern)

    def _show_help(self) -> None:
        text = self.catalog.text
        commands = [(name, text(message)) for name, message in messages.HELP_COMMANDS.items()]
        self._say(text(messages.HELP))
        for name, meaning in commands:
            if name != "/block" or self.request.can_block:
                self._say(f"  {name:<9} {meaning}")
        self._say(text(messages.HELP_SLASH))

    def _show_field(self, field: Field, at: int) -> None:
        text, draft = self.catalog.text, self.draft
        description = describe_field(field, self.catalog)
        self.console.write("")
        self.console.write(quote(description.label, self.console.width))
        if description.help:
            self.console.write(quote(description.help, self.console.width))
        self._show_options(field, at_most=_MAX_OPTIONS)
        if field.default is not None:
            say_with_quote(self.console, text(messages.SUGGESTED_VALUE), description.suggested)
        if description.warning:
            self._say(text(messages.WARNING, message=description.warning))
        if field.name in draft.before:
            restored = read_field(field, draft.before[field.name], self.context, check_pattern=False)
            value = format_value(field, restored.value, self.catalog)
            say_with_quote(self.console, text(messages.RESTORED_DRAFT), value)
        position = text(messages.FIELD_POSITION, number=at + 1, count=len(self.request.form.fields))
        hints = [description.accepts, description.requirement, *self._hints(field)]
        self._say(f"{position}: {'; '.join(hints)}")

    def _hints(self, field: Field) -> Iterator[str]:
        """Yield how to select options, and what an empty line means."""
        text = self.catalog.text
        if isinstance(field, (ChoiceField, MultiChoiceField)) and field.choices:
            numbered = accepts_option_numbers(field)
            if isinstance(field, ChoiceField):
                yield text(messages.TYPE_NUMBER_OR_NAME if numbered else messages.TYPE_NAME)
            else:
                yield text(messages.TYPE_NUMBERS_OR_NAMES if numbered else messages.TYPE_NAMES)
        if field.name in self.draft.before:
            yield text(messages.ENTER_RESTORED)
        elif field.default is not None:
            yield text(messages.ENTER_SUGGESTED)
            if not field.required:
                yield text(messages.SKIP)
        elif not field.required:
            yield text(messages.ENTER_SKIPS)

    def _show_options(self, field: Field, *, at_most: int | None) -> None:
        if not isinstance(field, (ChoiceField, MultiChoiceField)):
            return
        numbered = accepts_option_numbers(field)
        for number, choice in enumerate(field.choices[:at_most], 1):
            name = field.label_of(choice)
            self.console.write(quote(f"{number}) {name}" if numbered else f"- {name}", self.console.width))
        if at_most is not None and len(field.choices) > at_most:
            self._say(self.catalog.text(messages.MORE_OPTIONS, count=len(field.choices) - at_most))

    async def _review(self) -> Answer:
        fields = self.request.form.fields
        block = ["block"] if self.request.can_block else []
        choices = ["send", *(["edit N"] if fields else []), "decline", *block, "cancel"]
        while True:
            self._show_review()
            choice = await decide(self.console, choices, self.catalog)
            match choice.split():
                case ["send"]:
                    answer = await self._send()
                    if answer is not None:
                        return answer
                case ["edit", number] if number in [str(each) for each in range(1, len(fields) + 1)]:
                    step = await self._ask_field(int(number) - 1)
                    if isinstance(step, Answer):
                        return step
                case ["decline" | "block" | "cancel"]:
                    return refusal(choice)
                case _:
                    self._say(self.catalog.text(messages.TYPE_EDIT, count=len(fields)))

    def _show_review(self) -> None:
        text, fields = self.catalog.text, self.request.form.fields
        if not fields:
            self._say(text(messages.SEND_CONFIRMS))
            return
        self.console.write(f"\n{text(messages.CHECK_ANSWERS)}")
        for number, field in enumerate(fields, 1):
            value = format_value(field, self.draft.values.get(field.name, OMITTED), self.catalog)
            is_default = self.draft.sources.get(field.name) == "default"
            note = f"  ({text(messages.SUGGESTED)})" if is_default else ""
            self.console.write(quote(f"{number}) {field.title}: {value}{note}", self.console.width))
        for warning in self._warnings():
            if warning.is_note:
                self._say(warning.text)
        self._say(text(messages.SENT_TO, server=server_name(self.request.server)))

    def _warnings(self) -> Sequence[RequestWarning]:
        draft = self.draft
        unchecked = [each for found in draft.unchecked.values() for each in found]
        return answer_warnings(self.request.form, draft.values, draft.sources, self.catalog, unchecked)

    async def _send(self) -> Answer | None:
        """Return the answer; None if it seems to contain sensitive data and the user does not confirm it."""
        draft = self.draft
        warnings = [warning for warning in self._warnings() if not warning.is_note]
        for warning in warnings:
            self._say(warning_line(warning, self.catalog))
        if warnings:
            typed = await self.console.ask(f"{self.catalog.text(messages.SEND_ANYWAY)} ")
            if self._boolean(typed) != "yes":
                return None
        answer = Answer.accept(draft.values, by="user", sources=draft.sources)
        return answer.model_copy(update={"confirmed": True}) if warnings else answer
