"""`FormTurns`: what each step of a conversation about a form shows, and what it offers to the user."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mcp_elicit_client.core.form import Field
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.conversation.answers import FormAnswers
from mcp_elicit_client.presentation.conversation.introduction import Introduction
from mcp_elicit_client.presentation.conversation.progress import FormProgress
from mcp_elicit_client.presentation.conversation.questions import FieldQuestion
from mcp_elicit_client.presentation.conversation.turns import Button, HostText, Part, Style, Turn
from mcp_elicit_client.presentation.descriptions import is_yes_or_no, server_name
from mcp_elicit_client.presentation.form_input import inputs_to_json
from mcp_elicit_client.presentation.remembering import remember_label, remember_line
from mcp_elicit_client.presentation.url_prompts import refusals
from mcp_elicit_client.presentation.warnings import request_warnings, warning_line
from mcp_elicit_client.presentation.word_choices import ChoiceMaker, WordChoice
from mcp_elicit_client.typing import FormRequest

_MAX_DISTANCE = 1_000_000


class FormTurns:
    """
    Makes the turns of a conversation about a form.

    Args:
        request: The request.
        catalog: The texts.
        style: How the conversation is held.
        answers: What the user entered so far.
        progress: Where the conversation stands.
    """

    def __init__(
        self, request: FormRequest, catalog: MessageCatalog, style: Style, answers: FormAnswers, progress: FormProgress
    ) -> None:
        self._request = request
        self._catalog = catalog
        self._style = style
        self._answers = answers
        self._progress = progress
        self._make = ChoiceMaker(catalog, server_name(request.server))

    def start(self, *hints: Part) -> Turn:
        """Return the turn that begins the conversation: the introduction, *hints* and the current question."""
        begin, kept = self._introduction.begin(), self._introduction.kept()
        return self._turn(*begin, *hints, *self._parts(), kept=kept)

    def ask(self, *before: Part) -> Turn:
        """
        Return the turn that asks the current question in full, after the parts *before*.

        With buttons, it is introduced again, since it takes the place of the
        turn before.
        """
        introduction = self._introduction.repeat(with_facts=self._is_first)
        return self._turn(*introduction, *before, *self._parts())

    def repeat(self, *parts: Part) -> Turn:
        """Return a turn with *parts* and only the prompt of the current question, or all of it if it has buttons."""
        return self.ask(*parts) if self._style.has_buttons else self._turn(*parts)

    # --- What is offered

    @property
    def field(self) -> Field:
        """The field that is asked."""
        return self._request.form.fields[self._progress.at]

    @property
    def question(self) -> FieldQuestion:
        """The question for the field that is asked."""
        progress, server = self._progress, self._make.server
        return FieldQuestion(self.field, progress.at, self._answers, self._catalog, server, self._style, progress.view)

    @property
    def offers_to_remember(self) -> bool:
        """True where an answer can be sent without a warning, if the request offers to remember it."""
        step = self._progress.step
        is_last = step in ("start", "review") or (step == "field" and self._is_yes_or_no)
        return is_last and bool(remember_label(self._request, self._catalog)) and not self._answers.must_confirm

    @property
    def offers_field_before(self) -> bool:
        """True if the question for a field can be left for the one before it, or for the review."""
        return self._progress.at > 0 or self._progress.is_editing

    def choices(self) -> list[WordChoice]:
        """Return what can be typed without a slash."""
        refusing = refusals(self._request)
        remember = ["remember"] if self.offers_to_remember else []
        match self._progress.step:
            case "field" if self._is_yes_or_no:
                return self._make.make("yes", "no", *remember, *refusing)
            case "field":
                return []
            case "start":
                return self._make.make("answer", *refusing)
            case "confirm":
                return self._make.make("confirm", "back", *refusing)
            case "pick":
                return self._make.make("back", *refusing)
            case "review" if self._request.form.fields:
                return self._make.make("send", "edit", "back", *remember, *refusing)
            case "review":
                return self._make.make("send:yes", "decline:no", *remember, *refusing[1:])

    def buttons(self) -> tuple[Button, ...]:
        """Return what can be pressed."""
        if not self._style.has_buttons:
            return ()
        found: list[Button] = []
        choices = self.choices()
        if self._progress.step == "field":
            found += self.question.buttons(is_yes_or_no=self._is_yes_or_no)
            back = ["back"] if self.offers_field_before else []
            choices = choices or self._make.make(*back, *refusals(self._request))
        if self._progress.step == "pick":
            found += self._field_buttons()
        found += [Button(choice.id, choice.label) for choice in choices]
        found = [replace(each, id=f"{self._progress.turn}:{each.id}") for each in found]
        return tuple(replace(each, opens_dialog=bool(self.dialog_fields(each.id))) for each in found)

    def dialog_fields(self, button: str) -> Sequence[Field]:
        """Return the fields of the dialog that *button* opens; none if it opens no dialog."""
        match button.partition(":")[2]:
            case "answer":
                return self._request.form.fields
            case "type" if self._progress.step == "field":
                return [self.field]
        return ()

    def list_choices(self) -> HostText:
        """Return the line that says what the user can do."""
        if self._style.has_buttons:
            return HostText(self._catalog.text(messages.PRESS_BUTTON))
        return HostText(self._catalog.text(messages.TYPE_ONE_OF, choices=", ".join(self._words())))

    @property
    def _is_yes_or_no(self) -> bool:
        """True if the answer to the field is sent without a review."""
        return is_yes_or_no(self._request.form) and not self._progress.is_editing

    def _words(self) -> list[str]:
        return [f"{each.word} N" if each.id == "edit" else each.word for each in self.choices()]

    def _field_buttons(self) -> Iterator[Button]:
        """Yield the buttons that select a field to change."""
        text, titles = self._catalog.text, [each.title for each in self._request.form.fields]
        page = self._progress.view.shown(titles, self._style.max_options)
        for at in page.positions:
            title, number = titles[at], at + 1
            is_ambiguous = titles.count(title) > 1
            yield Button(f"edit:{number}", title, is_server_text=True, number=number, is_ambiguous=is_ambiguous)
        if page.start:
            yield Button("page:-1", text(messages.PREVIOUS_FIELDS))
        if page.has_more:
            yield Button("page:1", text(messages.NEXT_FIELDS))

    # --- What is shown

    @property
    def _is_first(self) -> bool:
        """True if the first question is asked."""
        step, has_fields = self._progress.step, bool(self._request.form.fields)
        return step == "start" or not has_fields or (step == "field" and not self.offers_field_before)

    @property
    def _introduction(self) -> Introduction:
        return Introduction(self._request, self._catalog, self._answers.context.time_zone, self._style)

    def _turn(self, *parts: Part, kept: tuple[Part, ...] = ()) -> Turn:
        self._progress.turn += self._distance
        is_field = self._progress.step == "field"
        return Turn(
            kept=kept,
            parts=parts,
            prompt=self._prompt(),
            buttons=self.buttons(),
            field=self.field if is_field else None,
            is_hidden=is_field and self.field.is_hidden,
        )

    def _parts(self) -> Iterator[Part]:
        text, fields = self._catalog.text, self._request.form.fields
        match self._progress.step:
            case "field":
                yield from self.question.parts(len(fields))
                if self._is_yes_or_no and not self._answers.must_confirm:
                    yield HostText(text(messages.SENT_TO, server=self._make.server))
                yield from self.remember_parts()
            case "review" if fields:
                yield from self._answer_parts()
                yield HostText(text(messages.SENT_TO, server=self._make.server))
                yield from self.remember_parts()
            case "review":
                yield from self.remember_parts()
            case "start" | "pick":
                return
            case "confirm" if not fields and self._style.has_buttons:  # the introduction has the warnings
                return
            case "confirm":
                yield from self._confirm_parts()

    def _answer_parts(self) -> Iterator[Part]:
        yield HostText(self._catalog.text(messages.CHECK_ANSWERS), is_heading=True)
        yield from self._answers.rows()

    def _confirm_parts(self) -> Iterator[Part]:
        """Yield the warnings: below the answers, where the turns before may no longer be visible."""
        text, has_buttons = self._catalog.text, self._style.has_buttons
        if has_buttons:
            yield from self._answer_parts()
        for warning in (*request_warnings(self._request, self._catalog), *self._answers.warnings()):
            if not warning.is_note:
                yield HostText(warning_line(warning, self._catalog))
        if not has_buttons:
            yield HostText(text(messages.TYPE_CONFIRM, word=text(messages.CHOICE_WORDS["confirm"])))

    def remember_parts(self) -> Iterator[Part]:
        """Yield the choice to remember the answer, if it is offered."""
        if self.offers_to_remember:
            word = self._catalog.text(messages.CHOICE_WORDS["remember"])
            is_chosen = self._progress.remembers
            yield HostText(remember_line(self._request, self._catalog, is_chosen=is_chosen, how=word))

    @property
    def _distance(self) -> int:
        """
        How far it is to the number of the next turn: with buttons, as far as a digest of the answers says.

        Two processes that react to two presses at the same time store one of
        the two states, and may show the other.  The buttons of the other are
        then not valid: nothing is sent that is not shown.
        """
        if not self._style.has_buttons:
            return 1
        state = json.dumps([self._progress.to_json(), inputs_to_json(self._answers.inputs)])
        return 1 + int(hashlib.sha256(state.encode()).hexdigest(), 16) % _MAX_DISTANCE

    def _prompt(self) -> str:
        if self._style.has_buttons:
            return self._button_prompt()
        if self._progress.step != "field":
            return f"{self._make.server}: {' / '.join(self._words())}: "
        return self.question.prompt(" / ".join(self._words()))

    def _button_prompt(self) -> str:
        text = self._catalog.text
        match self._progress.step:
            case "start":
                return text(messages.PRESS_ANSWER, button=text(messages.CHOICE_LABELS["answer"]))
            case "field":
                return self.question.button_prompt()
            case "review" if self._request.form.fields:
                return text(messages.SEND_CONFIRMS)
            case "review":
                return text(messages.PRESS_OPTION)
            case "pick":
                return text(messages.PRESS_FIELD)
            case "confirm":
                return text(messages.PRESS_CONFIRM, button=text(messages.CHOICE_LABELS["confirm"]))
