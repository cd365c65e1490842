"""`FormConversation`: the conversation about a form, field by field, with a review before it is sent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.form import ChoiceField, Field, MultiChoiceField
from mcp_elicit_client.core.schema.enums import json_key
from mcp_elicit_client.core.text import fold_accents
from mcp_elicit_client.core.validation.field_errors import AnswerError, FieldError, field_error
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.conversation.answers import FormAnswers
from mcp_elicit_client.presentation.conversation.form_turns import FormTurns
from mcp_elicit_client.presentation.conversation.options import OptionView, matches, option_values
from mcp_elicit_client.presentation.conversation.progress import FormProgress, FormStep
from mcp_elicit_client.presentation.conversation.questions import find_command, help_lines
from mcp_elicit_client.presentation.conversation.turns import HostText, Part, Style, Turn
from mcp_elicit_client.presentation.descriptions import option_labels, sent_note
from mcp_elicit_client.presentation.form_input import (
    FieldInput,
    FieldState,
    Intent,
    Selection,
    inputs_from_json,
    inputs_to_json,
    read_field,
)
from mcp_elicit_client.presentation.input_parsing import InputContext
from mcp_elicit_client.presentation.option_names import OptionNames, accepts_option_numbers, split_at_commas
from mcp_elicit_client.presentation.url_prompts import refusal
from mcp_elicit_client.presentation.word_choices import find_choice
from mcp_elicit_client.typing import Answer, FormRequest

_MAX_DIGITS = 9


class FormConversation:
    """
    The conversation about a form.

    Each reply leads to one turn.  Nothing is sent before the user said so in
    the review: with a word or a button that is offered only there.  If there
    are warnings, another input has to confirm it.  A form with a single
    yes/no field needs no review.

    Patterns are checked in another process, which takes up to 0.08 s: call
    `reply`, `press`, `give` and `fill` in a thread.

    Args:
        request: The request.
        catalog: The texts.
        context: The user's locale and time zone.
        draft: What the user had entered before, by field name.
        style: How the conversation is held.
    """

    def __init__(
        self,
        request: FormRequest,
        catalog: MessageCatalog,
        context: InputContext,
        *,
        draft: Mapping[str, FieldInput] | None,
        style: Style,
    ) -> None:
        self.request = request
        self._style = style
        self._catalog = catalog
        self._context = context
        self._answers = FormAnswers(request, catalog, context, draft or {})
        first: FormStep = "start" if style.begins_with_dialog else "field"
        self._progress = FormProgress(style.first_turn, first if request.form.fields else "review")
        self._turns = FormTurns(request, catalog, style, self._answers, self._progress)
        self._enter()

    # --- What the user does

    @property
    def draft(self) -> dict[str, FieldInput]:
        """What the user has entered so far, to be passed on if the server asks again."""
        return self._answers.draft

    @property
    def stored_draft(self) -> dict[str, FieldInput]:
        """`draft` so that it means the same in any language and time zone."""
        return self._answers.stored_draft

    @property
    def turn(self) -> int:
        """The number of the present turn."""
        return self._progress.turn

    def start(self) -> Turn:
        """Return the first turn."""
        has_commands = self._progress.step == "field" and not self._style.has_buttons
        hint = [HostText(self._catalog.text(messages.COMMANDS_HINT))] if has_commands else []
        return self._turns.start(*hint)

    def ask_again(self, errors: Iterable[FieldError] = ()) -> Turn:
        """
        Return the turn that asks the present question, with buttons that were not pressed yet.

        Args:
            errors: Why the answer was refused as a whole.
        """
        return self._turns.ask(*self._answers.refusal_parts(errors))

    def is_offered(self, button: str) -> bool:
        """Return True if the present turn offers *button*, which is the ID of a button."""
        return any(each.id == button for each in self._turns.buttons())

    def reply(self, text: str) -> Turn:
        """Return the turn after the user typed *text*."""
        choice = find_choice(text, self._turns.choices())
        if choice is not None:
            return self._choose(choice)
        if self._progress.step == "field":
            return self._reply_to_field(text)
        number = self._field_to_edit(text)
        return self._turns.repeat(self._turns.list_choices()) if number is None else self._edit(number)

    def press(self, button: str) -> Turn:
        """Return the turn after the user pressed *button*, which is the ID of a button."""
        if not self.is_offered(button):
            return self._turns.ask(HostText(self._catalog.text(messages.OLD_BUTTON)))
        name = button.partition(":")[2]
        match name.split(":"):
            case ["option", index]:
                return self._press_option(int(index))
            case ["edit", index]:
                return self._edit(int(index))
            case ["page", by]:
                return self._look(self._progress.view.turned(int(by)))
            case ["all"]:
                return self._look(self._progress.view.searching(""))
            case ["choose"]:
                values = option_values(self._field)
                return self.give(Selection(tuple(values[at] for at in sorted(self._progress.view.selected))))
            case ["empty"]:
                return self.give(Intent.EMPTY)
            case ["use"]:
                return self._reply_to_field("")
            case ["type"]:  # a dialog that could not be opened
                return self._turns.ask(HostText(self._catalog.text(messages.CANNOT_CONTINUE)))
        return self._choose(name)

    def give(self, given: FieldInput) -> Turn:
        """Return the turn after the user entered *given* in a widget for the field that is asked."""
        if self._progress.step != "field":
            return self._turns.repeat(self._turns.list_choices())
        field = self._field
        state = self._answers.set(field, given)
        if state.errors:
            has_commands = not self._style.has_buttons
            errors = self._answers.error_parts(field, state, has_commands=has_commands)
            return self._turns.repeat(*errors, *self._similar_options(given))
        note = self._note(field, given)
        self._advance(1)
        return self._turns.ask(*([HostText(note)] if note else []))

    def fill(self, given: Mapping[str, FieldInput]) -> Turn | dict[str, str]:
        """
        Return the turn after the user filled in a dialog, or the errors by field name.

        A dialog with all fields shows all that is sent.  It is reviewed only
        if there is more to say.

        Args:
            given: What the user entered in each field of the dialog.
        """
        fields = [self.request.form.by_name[name] for name in given]
        errors: dict[str, str] = {}
        for field in fields:
            state = self._answers.set(field, given[field.name])
            if state.errors:
                errors[field.name] = self._answers.error_text(field, state)
        if errors:
            return errors
        notes = [HostText(note) for field in fields if (note := self._note(field, given[field.name]))]
        if len(fields) < len(self.request.form.fields):
            self._advance(1)
            return self._turns.ask(*notes)
        self._progress.step, self._progress.is_editing = "review", False
        has_more_to_say = notes or self._answers.must_confirm or self._answers.warnings()
        return self._turns.ask() if has_more_to_say else self._send_or_warn()

    @property
    def asked(self) -> Field | None:
        """The field that is asked at present; None for other questions."""
        return self._field if self._progress.step == "field" else None

    @property
    def offers_to_remember(self) -> bool:
        """True if the user may choose at present that the answer is given again to the same request."""
        return self._turns.offers_to_remember

    def remember(self, *, is_chosen: bool) -> None:
        """Note whether the user chose so in a dialog."""
        self._progress.remembers = is_chosen

    def dialog_fields(self, button: str) -> Sequence[Field]:
        """Return the fields of the dialog that *button* opens; none if it opens no dialog."""
        return self._turns.dialog_fields(button)

    def present_value(self, field: Field) -> Any:
        """Return what the user has entered for *field*, or its default value; `OMITTED` without either."""
        return self._answers.present_value(field)

    def is_suggested(self, field: Field) -> bool:
        """Return True if `present_value` of *field* is its default value, which the user has not entered."""
        return self._answers.present(field) == "suggested"

    # --- Continued in another process

    def save(self) -> dict[str, Any]:
        """Return the state of the conversation as JSON data."""
        return {
            **self._progress.to_json(),
            "inputs": inputs_to_json(self._answers.stored_inputs),
            "unchecked": [each.model_dump() for each in self._answers.unchecked],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """
        Continue where `save` was called.

        Raises:
            ValueError: If *state* does not belong to the form.
            LookupError: The same.
            TypeError: The same.
        """
        inputs = inputs_from_json(state["inputs"])
        unchecked = [Diagnostic.model_validate(each) for each in state["unchecked"]]
        self._progress.restore(state, len(self.request.form.fields))
        self._answers.restore(inputs, unchecked)

    # --- Steps

    @property
    def _field(self) -> Field:
        return self._turns.field

    def _reply_to_field(self, text: str) -> Turn:
        field = self._field
        command = find_command(text, field, can_block=self.request.can_block)
        if command == "/empty":
            return self.give(Intent.EMPTY)
        if command is not None:
            return self._command(command)
        if not text.strip():
            return self.give(self._answers.on_enter(field))
        if text.startswith("//") and find_command(f"/{text.lstrip('/')}", field) is not None:
            text = text[1:]
        if self._is_unclear(text):
            return self._search_or_refuse(text)
        given = self._translate(text)
        named = self._positions(given) if self._style.has_buttons and self._progress.view.selected else ()
        if named:
            return self._look(self._progress.view.adding(named))
        if self._style.has_buttons and self._finds_options(text):
            return self._look(self._progress.view.searching(text))
        return self.give(given)

    def _is_unclear(self, text: str) -> bool:
        """
        Return True if a part of *text* selects another option than the one with this word or number in its label.

        It may be the value of that option, which is not shown, or its
        position, which chats do not show.
        """
        field = self._field
        if not isinstance(field, (ChoiceField, MultiChoiceField)):
            return False
        labels = [fold_accents(each) for each in option_labels(field, self._catalog)]
        if fold_accents(text.strip()) in labels:
            return False
        has_numbers = any(map(str.isdigit, "".join(labels)))
        are_shown = not self._style.has_buttons and accepts_option_numbers(field)
        names = OptionNames(field)
        for part in {fold_accents(each.strip()) for each in split_at_commas(text.replace("\n", ","))}:
            if part in labels or (part.isdigit() and are_shown):
                continue
            named = zip(field.choices, labels, strict=True)
            meant = [choice for choice, label in named if part in label and part in re.findall(r"\w+", label)]
            if not (meant or (part.isdigit() and has_numbers)):
                continue
            with suppress(AnswerError):
                chosen = names.select(part)
                if len(meant) != 1 or meant[0] is not chosen:
                    return True
        return False

    def _search_or_refuse(self, text: str) -> Turn:
        """Return the turn with the options that contain *text*; an error if there are none."""
        is_found = bool(matches(option_labels(self._field, self._catalog), text))
        if is_found and self._style.has_buttons:
            return self._look(self._progress.view.searching(text))
        state = FieldState(errors=(field_error(self._field.name, "choice"),))
        similar = self._options_with(text) if is_found else ()
        return self._turns.repeat(*self._answers.error_parts(self._field, state, has_commands=False), *similar)

    def _options_with(self, text: str) -> Iterable[Part]:
        return self._turns.question._replace(view=OptionView(search=text)).options(is_short=True)

    def _finds_options(self, text: str) -> bool:
        """Return True if *text* selects no option, but a search for it finds some."""
        if not matches(option_labels(self._field, self._catalog), text):
            return False
        errors = read_field(self._field, text, self._context, check_pattern=False).errors
        return any(error.code == "choice" for error in errors)

    def _similar_options(self, given: FieldInput) -> Iterable[Part]:
        """Return the options that contain the typed text *given*, which selects none, where they are no buttons."""
        if self._style.has_buttons or not isinstance(given, str) or not self._finds_options(given):
            return ()
        return self._options_with(given)

    def _positions(self, given: FieldInput) -> Sequence[int]:
        """Return the positions of the options that *given* names, however few or many; empty if it names another."""
        if not isinstance(self._field, MultiChoiceField):
            return ()
        field = self._field.model_copy(update={"min_items": None, "max_items": None})
        value = read_field(field, given, self._context).value
        named = {json_key(each) for each in value} if isinstance(value, list) else set()
        return [at for at, each in enumerate(option_values(field)) if json_key(each) in named]

    def _press_option(self, at: int) -> Turn:
        if isinstance(self._field, MultiChoiceField):
            return self._look(self._progress.view.toggled(at))
        return self.give(Selection((option_values(self._field)[at],)))

    def _look(self, view: OptionView) -> Turn:
        self._progress.view = view
        return self._turns.ask()

    def _enter(self) -> None:
        """Start the question for a field: with what the user has selected before."""
        self._progress.view = OptionView()
        if self._progress.step != "field" or self._answers.present(self._field) not in ("answered", "restored"):
            return
        value = self._answers.present_value(self._field)
        if isinstance(self._field, MultiChoiceField) and isinstance(value, list):
            before = {json_key(each) for each in value}
            keys = [json_key(each) for each in option_values(self._field)]
            self._progress.view = OptionView(selected=tuple(at for at, key in enumerate(keys) if key in before))

    def _note(self, field: Field, given: FieldInput) -> str:
        return sent_note(field, given, self._answers.value(field), self._catalog) if isinstance(given, str) else ""

    def _translate(self, text: str) -> FieldInput:
        """Return the option with a blank label that *text* means in the language of the user."""
        field = self._field
        labels = option_labels(field, self._catalog)
        if isinstance(field, (ChoiceField, MultiChoiceField)) and labels.count(text.strip()) == 1:
            option = field.choices[labels.index(text.strip())]
            return text if option.title.strip() else Selection((option.value,))
        return text

    def _command(self, command: str) -> Turn:
        match command:
            case "/help":
                lines = help_lines(self._catalog, can_block=self.request.can_block, has_buttons=self._style.has_buttons)
                return self._turns.repeat(*lines)
            case "/options" if self._style.has_buttons:
                return self._look(self._progress.view.searching(""))
            case "/options":
                return self._turns.repeat(*self._turns.question.options(is_short=False))
            case _:
                return self._choose(command.removeprefix("/"))

    def _choose(self, choice: str) -> Turn:
        match choice:
            case "decline" | "block" | "cancel":
                return self._finish(refusal(choice))
            case "remember":
                self._progress.remembers = not self._progress.remembers
                return self._turns.repeat(*([] if self._style.has_buttons else self._turns.remember_parts()))
            case "skip":
                return self.give(Intent.OMIT)
            case "back":
                return self._back()
            case "edit":
                return self._ask_which_field()
            case "yes" | "no" if self._progress.step == "field":
                return self._say_yes_or_no(is_yes=choice == "yes")
            case "confirm":
                return self._send(confirmed=True)
            case "answer":
                self._progress.step = "field"
                return self._turns.ask()
            case "send":
                return self._send_or_warn()
            case _:  # never send what was not offered
                raise ValueError(f"there is no choice {choice!r}")

    def _ask_which_field(self) -> Turn:
        """Ask which field to change."""
        if not self._style.has_buttons:
            count = len(self.request.form.fields)
            return self._turns.repeat(HostText(self._catalog.text(messages.TYPE_EDIT, count=count)))
        self._progress.step = "pick"
        return self._look(OptionView())

    def _say_yes_or_no(self, *, is_yes: bool) -> Turn:
        """Send a form with a single boolean field: with its warnings or errors, as any other form."""
        state = self._answers.set(self._field, Selection((is_yes,)))
        if state.errors or self._answers.must_confirm:
            return self.give(Selection((is_yes,)))
        return self._send(confirmed=False)

    def _back(self) -> Turn:
        if self._progress.step in ("confirm", "pick"):
            self._progress.step = "review"
        elif self._progress.step == "review" and self.request.form.fields:
            self._progress.step, self._progress.at = "field", len(self.request.form.fields) - 1
            self._enter()
        elif self._progress.is_editing:
            self._advance(1)
        elif not self._turns.offers_field_before:
            return self._turns.repeat(HostText(self._catalog.text(messages.FIRST_FIELD)))
        else:
            self._advance(-1)
        return self._turns.ask()

    def _edit(self, number: int) -> Turn:
        fields = self.request.form.fields
        if not 1 <= number <= len(fields):
            return self._choose("edit")
        self._progress.step, self._progress.at, self._progress.is_editing = "field", number - 1, True
        self._enter()
        return self._turns.ask()

    def _field_to_edit(self, text: str) -> int | None:
        """Return the number in a text such as ``edit 2`` or ``2``; None in any other."""
        if self._progress.step not in ("review", "pick"):
            return None
        *words, number = text.split() or [""]
        is_number = number.isdecimal() and number.isascii() and len(number) < _MAX_DIGITS
        is_edit = not words or find_choice(words[0], self._turns.choices()) == "edit"
        return int(number) if is_number and is_edit else None

    def _advance(self, by: int) -> None:
        self._progress.at += by
        if self._progress.is_editing or self._progress.at >= len(self.request.form.fields):
            self._progress.step, self._progress.is_editing = "review", False
        self._enter()

    def _send_or_warn(self) -> Turn:
        if self._answers.must_confirm:
            self._progress.step = "confirm"
            return self._turns.ask()
        return self._send(confirmed=False)

    def _send(self, *, confirmed: bool) -> Turn:
        answers = self._answers
        answer = Answer.accept(answers.content, by="user", sources=answers.sources)
        return self._finish(answer.model_copy(update={"confirmed": True}) if confirmed else answer)

    def _finish(self, answer: Answer) -> Turn:
        remembers = self._progress.remembers and self._turns.offers_to_remember
        return Turn(answer=answer.model_copy(update={"remember": True}) if remembers else answer)
