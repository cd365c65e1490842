"""`FormConversation`: the conversation about a form, field by field, with a review before it is sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from mcp_elicit_client.core.form import BooleanField, ChoiceField, Field, MultiChoiceField
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.conversation.answers import FormAnswers
from mcp_elicit_client.presentation.conversation.choices import Choice, ChoiceMaker, find_choice
from mcp_elicit_client.presentation.conversation.introduction import introduction
from mcp_elicit_client.presentation.conversation.questions import FieldQuestion, find_command, help_lines
from mcp_elicit_client.presentation.conversation.turns import Button, HostText, Part, Turn
from mcp_elicit_client.presentation.descriptions import sent_note, server_name
from mcp_elicit_client.presentation.form_input import FieldInput, Intent, Selection
from mcp_elicit_client.presentation.input_parsing import InputContext
from mcp_elicit_client.presentation.remembering import remember_label, remember_line
from mcp_elicit_client.presentation.url_prompts import refusal, refusals
from mcp_elicit_client.presentation.warnings import must_confirm, request_warnings, warning_line
from mcp_elicit_client.typing import Answer, FormRequest

_MAX_DIGITS = 9

_Step: TypeAlias = Literal["field", "review", "confirm"]


class FormConversation:
    """
    The conversation about a form.

    Each reply leads to one turn.  Nothing is sent before the user said so in
    the review: with a word or a button that is offered only there.  If there
    are warnings, another input has to confirm it.  A form that only asks for
    a yes or a no is its own review.

    Patterns are checked in another process, which takes up to 0.08 s: call
    `reply`, `press` and `give` in a thread.

    Args:
        request: The request.
        catalog: The texts.
        context: The user's locale and time zone.
        draft: What the user had entered before, by field name.
    """

    def __init__(
        self,
        request: FormRequest,
        catalog: MessageCatalog,
        context: InputContext,
        *,
        draft: Mapping[str, FieldInput] | None = None,
    ) -> None:
        self.request = request
        self._catalog = catalog
        self._context = context
        self._answers = FormAnswers(request.form, catalog, context, draft or {})
        self._make = ChoiceMaker(catalog, server_name(request.server))
        self._at = 0
        self._is_editing = False
        self._step: _Step = "field" if request.form.fields else "review"
        self._turn = 0
        self._is_warned = must_confirm(request_warnings(request, catalog))
        self._remembers = False

    # --- What the user does

    @property
    def draft(self) -> dict[str, FieldInput]:
        """What the user has entered so far, to be passed on if the server asks again."""
        return self._answers.draft

    def start(self) -> Turn:
        """Return the first turn."""
        hint = [HostText(self._catalog.text(messages.COMMANDS_HINT))] if self._step == "field" else []
        return self._ask(*introduction(self.request, self._catalog, self._context.time_zone), *hint)

    def reply(self, text: str) -> Turn:
        """Return the turn after the user typed *text*."""
        choice = find_choice(text, self._choices())
        if choice is not None:
            return self._choose(choice)
        if self._step == "field":
            return self._reply_to_field(text)
        number = self._field_to_edit(text)
        return self._repeat(self._list_choices()) if number is None else self._edit(number)

    def press(self, button: str) -> Turn:
        """Return the turn after the user pressed *button*, which is the ID of a button."""
        if button not in [each.id for each in self._buttons()]:
            return self._ask(HostText(self._catalog.text(messages.OLD_BUTTON)))
        name = button.partition(":")[2]
        kind, _, index = name.partition(":")
        if kind == "option":
            return self.give(Selection((self._field_choices()[int(index)],)))
        if kind == "edit":
            return self._edit(int(index))
        return self._reply_to_field("") if name == "use" else self._choose(name)

    def give(self, given: FieldInput) -> Turn:
        """Return the turn after the user entered *given* in a widget for the field that is asked."""
        if self._step != "field":
            return self._repeat(self._list_choices())
        field = self._field
        errors = self._answers.set(field, given)
        if errors:
            return self._repeat(*errors)
        note = sent_note(field, given, self._answers.value(field), self._catalog) if isinstance(given, str) else ""
        self._advance(1)
        return self._ask(*([HostText(note)] if note else []))

    # --- Steps

    @property
    def _field(self) -> Field:
        return self.request.form.fields[self._at]

    @property
    def _question(self) -> FieldQuestion:
        return FieldQuestion(self._field, self._at, self._answers, self._catalog, self._make.server)

    @property
    def _is_yes_or_no(self) -> bool:
        """True if the form has only one field, which asks for a yes or a no."""
        fields = self.request.form.fields
        return len(fields) == 1 and isinstance(fields[0], BooleanField) and not self._is_editing

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
        return self.give(self._translate(text) if isinstance(field, BooleanField) else text)

    def _translate(self, text: str) -> FieldInput:
        """Return the yes or no that *text* means in the language of the user."""
        choice = find_choice(text, self._make.make("yes", "no"))
        return text if choice is None else Selection((choice == "yes",))

    def _command(self, command: str) -> Turn:
        match command:
            case "/help":
                return self._repeat(*help_lines(self._catalog, can_block=self.request.can_block))
            case "/options":
                return self._repeat(*self._question.options(at_most=None))
            case _:
                return self._choose(command.removeprefix("/"))

    def _choose(self, choice: str) -> Turn:
        match choice:
            case "decline" | "block" | "cancel":
                return self._finish(refusal(choice))
            case "remember":
                self._remembers = not self._remembers
                return self._repeat(*self._remember_parts())
            case "skip":
                return self.give(Intent.OMIT)
            case "back":
                return self._back()
            case "edit":
                return self._repeat(
                    HostText(self._catalog.text(messages.TYPE_EDIT, count=len(self.request.form.fields)))
                )
            case "yes" | "no" if self._step == "field":
                return self._say_yes_or_no(is_yes=choice == "yes")
            case "confirm":
                return self._send(confirmed=True)
            case _:
                return self._send_or_warn()

    def _say_yes_or_no(self, *, is_yes: bool) -> Turn:
        """Send a form with a single boolean field: with its warnings or errors, as any other form."""
        errors = self._answers.set(self._field, Selection((is_yes,)))
        if errors or self._is_warned or self._warnings():
            return self.give(Selection((is_yes,)))
        return self._send(confirmed=False)

    def _back(self) -> Turn:
        if self._step == "confirm":
            self._step = "review"
        elif self._step == "review" and self.request.form.fields:
            self._step, self._at = "field", len(self.request.form.fields) - 1
        elif self._is_editing:
            self._advance(1)
        elif not self._can_go_back:
            return self._repeat(HostText(self._catalog.text(messages.FIRST_FIELD)))
        else:
            self._advance(-1)
        return self._ask()

    def _edit(self, number: int) -> Turn:
        fields = self.request.form.fields
        if not 1 <= number <= len(fields):
            return self._choose("edit")
        self._step, self._at, self._is_editing = "field", number - 1, True
        return self._ask()

    def _advance(self, by: int) -> None:
        self._at += by
        if self._is_editing or self._at >= len(self.request.form.fields):
            self._step, self._is_editing = "review", False

    def _send_or_warn(self) -> Turn:
        if self._is_warned or self._warnings():
            self._step = "confirm"
            return self._ask()
        return self._send(confirmed=False)

    def _send(self, *, confirmed: bool) -> Turn:
        answers = self._answers
        answer = Answer.accept(answers.content, by="user", sources=answers.sources)
        return self._finish(answer.model_copy(update={"confirmed": True}) if confirmed else answer)

    def _finish(self, answer: Answer) -> Turn:
        remembers = self._remembers and self._offers_to_remember
        return Turn(answer=answer.model_copy(update={"remember": True}) if remembers else answer)

    @property
    def _offers_to_remember(self) -> bool:
        """True where an answer can be sent without a warning, if the request offers to remember it."""
        is_last = self._step == "review" or (self._step == "field" and self._is_yes_or_no)
        return (
            is_last
            and bool(remember_label(self.request, self._catalog))
            and not self._is_warned
            and not self._warnings()
        )

    def _warnings(self) -> Sequence[HostText]:
        found = self._answers.warnings()
        return [HostText(warning_line(each, self._catalog)) for each in found if not each.is_note]

    # --- What is shown

    def _ask(self, *before: Part) -> Turn:
        """Return the turn that asks the current question in full, after the parts *before*."""
        return self._repeat(*before, *self._parts())

    def _repeat(self, *parts: Part) -> Turn:
        """Return a turn with *parts* and only the prompt of the current question."""
        self._turn += 1
        is_field = self._step == "field"
        return Turn(
            parts=parts,
            prompt=self._prompt(),
            buttons=self._buttons(),
            field=self._field if is_field else None,
            is_hidden=is_field and self._field.is_hidden,
        )

    def _parts(self) -> Iterator[Part]:
        text, fields = self._catalog.text, self.request.form.fields
        match self._step:
            case "field":
                yield from self._question.parts(len(fields))
                if self._is_yes_or_no and not self._is_warned:
                    yield HostText(text(messages.SENT_TO, server=self._make.server))
                yield from self._remember_parts()
            case "review" if fields:
                yield HostText(text(messages.CHECK_ANSWERS), is_heading=True)
                yield from self._answers.rows()
                yield HostText(text(messages.SENT_TO, server=self._make.server))
                yield from self._remember_parts()
            case "review":
                yield from self._remember_parts()
            case "confirm":
                yield from self._warnings()
                yield HostText(text(messages.TYPE_CONFIRM, word=text(messages.CHOICE_WORDS["confirm"])))

    def _remember_parts(self) -> Iterator[Part]:
        if self._offers_to_remember:
            word = self._catalog.text(messages.CHOICE_WORDS["remember"])
            yield HostText(remember_line(self.request, self._catalog, is_chosen=self._remembers, how=word))

    def _prompt(self) -> str:
        if self._step != "field":
            return f"{self._make.server}: {' / '.join(self._words())}: "
        return self._question.prompt(" / ".join(self._words()))

    def _words(self) -> list[str]:
        return [f"{each.word} N" if each.id == "edit" else each.word for each in self._choices()]

    def _list_choices(self) -> HostText:
        return HostText(self._catalog.text(messages.TYPE_ONE_OF, choices=", ".join(self._words())))

    def _field_to_edit(self, text: str) -> int | None:
        """Return the number in a text such as ``edit 2`` or ``2``; None in any other."""
        *words, number = text.split() or [""]
        is_number = number.isdecimal() and number.isascii() and len(number) < _MAX_DIGITS
        if self._step != "review" or not is_number or (words and find_choice(words[0], self._choices()) != "edit"):
            return None
        return int(number)

    def _choices(self) -> list[Choice]:
        """Return what can be typed without a slash."""
        refusing = refusals(self.request)
        remember = ["remember"] if self._offers_to_remember else []
        match self._step:
            case "field" if self._is_yes_or_no:
                return self._make.make("yes", "no", *remember, *refusing)
            case "field":
                return []
            case "confirm":
                return self._make.make("confirm", "back", *refusing)
            case "review" if self.request.form.fields:
                return self._make.make("send", "edit", "back", *remember, *refusing)
            case "review":
                return self._make.make("send:yes", "decline:no", *remember, *refusing[1:])

    def _buttons(self) -> tuple[Button, ...]:
        found: list[tuple[str, str, bool]] = []
        choices = self._choices()
        if self._step == "field":
            found += self._question.buttons(is_yes_or_no=self._is_yes_or_no)
            back = ["back"] if self._can_go_back else []
            choices = choices or self._make.make(*back, *refusals(self.request))
        for choice in choices:
            if choice.id == "edit":
                found += [(f"edit:{at}", field.title, True) for at, field in enumerate(self.request.form.fields, 1)]
            else:
                found.append((choice.id, choice.label, False))
        return tuple(Button(f"{self._turn}:{name}", label, is_server) for name, label, is_server in found)

    @property
    def _can_go_back(self) -> bool:
        return self._at > 0 or self._is_editing

    def _field_choices(self) -> list[object]:
        field = self._field
        if isinstance(field, BooleanField):
            return [True, False]
        return [each.value for each in field.choices] if isinstance(field, (ChoiceField, MultiChoiceField)) else []
