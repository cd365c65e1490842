"""`FormConversation`: the conversation about a form, field by field, with a review before it is sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias, get_args

from mcp_elicit_client.core.form import BooleanField, Field, MultiChoiceField
from mcp_elicit_client.core.schema.enums import json_key
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.conversation.answers import FormAnswers
from mcp_elicit_client.presentation.conversation.choices import Choice, ChoiceMaker, find_choice
from mcp_elicit_client.presentation.conversation.introduction import introduction
from mcp_elicit_client.presentation.conversation.options import OptionView, matches, option_labels, option_values
from mcp_elicit_client.presentation.conversation.questions import FieldQuestion, find_command, help_lines
from mcp_elicit_client.presentation.conversation.saved import inputs_from_json, inputs_to_json
from mcp_elicit_client.presentation.conversation.turns import LINES, Button, HostText, Part, Style, Turn
from mcp_elicit_client.presentation.descriptions import sent_note, server_name
from mcp_elicit_client.presentation.form_input import FieldInput, Intent, Selection, read_field
from mcp_elicit_client.presentation.input_parsing import InputContext
from mcp_elicit_client.presentation.remembering import remember_label, remember_line
from mcp_elicit_client.presentation.url_prompts import refusal, refusals
from mcp_elicit_client.presentation.warnings import must_confirm, request_warnings, warning_line
from mcp_elicit_client.typing import Answer, FormRequest

_MAX_DIGITS = 9

_Step: TypeAlias = Literal["start", "field", "review", "pick", "confirm"]


class FormConversation:
    """
    The conversation about a form.

    Each reply leads to one turn.  Nothing is sent before the user said so in
    the review: with a word or a button that is offered only there.  If there
    are warnings, another input has to confirm it.  A form with a single yes/no field needs no review.

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
        draft: Mapping[str, FieldInput] | None = None,
        style: Style = LINES,
    ) -> None:
        self.request = request
        self._style = style
        self._view = OptionView()
        self._catalog = catalog
        self._context = context
        self._answers = FormAnswers(request.form, catalog, context, draft or {})
        self._make = ChoiceMaker(catalog, server_name(request.server))
        self._at = 0
        self._is_editing = False
        self._step: _Step = "field" if request.form.fields else "review"
        if request.form.fields and style.begins_with_dialog:
            self._step = "start"
        self._turn = style.first_turn
        self._is_warned = must_confirm(request_warnings(request, catalog))
        self._remembers = False
        self._enter()

    # --- What the user does

    @property
    def draft(self) -> dict[str, FieldInput]:
        """What the user has entered so far, to be passed on if the server asks again."""
        return self._answers.draft

    def start(self) -> Turn:
        """Return the first turn."""
        hint = [HostText(self._catalog.text(messages.COMMANDS_HINT))] if self._step == "field" else []
        hint = [] if self._style.has_buttons else hint
        return self._ask(*introduction(self.request, self._catalog, self._context.time_zone, self._style), *hint)

    def ask_again(self) -> Turn:
        """Return the turn that asks the present question, with buttons that were not pressed yet."""
        return self._ask()

    def is_offered(self, button: str) -> bool:
        """Return True if the present turn offers *button*, which is the ID of a button."""
        return any(each.id == button for each in self._buttons())

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
        if not self.is_offered(button):
            return self._ask(HostText(self._catalog.text(messages.OLD_BUTTON)))
        name = button.partition(":")[2]
        match name.split(":"):
            case ["option", index]:
                return self._press_option(int(index))
            case ["edit", index]:
                return self._edit(int(index))
            case ["page", by]:
                return self._look(self._view.turned(int(by)))
            case ["all"]:
                return self._look(self._view.searching(""))
            case ["choose"]:
                values = option_values(self._field)
                return self.give(Selection(tuple(values[at] for at in sorted(self._view.selected))))
            case ["empty"]:
                return self.give(Intent.EMPTY)
            case ["use"]:
                return self._reply_to_field("")
            case ["type"]:  # a dialog that could not be opened
                return self._ask()
        return self._choose(name)

    def give(self, given: FieldInput) -> Turn:
        """Return the turn after the user entered *given* in a widget for the field that is asked."""
        if self._step != "field":
            return self._repeat(self._list_choices())
        field = self._field
        state = self._answers.set(field, given)
        if state.errors:
            return self._repeat(*self._answers.error_parts(field, state, has_commands=not self._style.has_buttons))
        note = self._note(field, given)
        self._advance(1)
        return self._ask(*([HostText(note)] if note else []))

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
                errors[field.name] = " ".join(map(self._catalog.error, state.errors))
        if errors:
            return errors
        notes = [HostText(note) for field in fields if (note := self._note(field, given[field.name]))]
        if len(fields) < len(self.request.form.fields):
            self._advance(1)
            return self._ask(*notes)
        self._step, self._is_editing = "review", False
        return self._ask(*notes) if notes or self._is_warned or self._answers.warnings() else self._send_or_warn()

    @property
    def asked(self) -> Field | None:
        """The field that is asked at present; None for other questions."""
        return self._field if self._step == "field" else None

    def dialog_fields(self, button: str) -> Sequence[Field]:
        """Return the fields of the dialog that *button* opens; none if it opens no dialog."""
        match button.partition(":")[2]:
            case "answer":
                return self.request.form.fields
            case "type" if self._step == "field":
                return [self._field]
        return ()

    def present_value(self, field: Field) -> Any:
        """Return what the user has entered for *field*, or its default value; `OMITTED` without either."""
        return self._answers.present_value(field)

    # --- Continued in another process

    def save(self) -> dict[str, Any]:
        """Return the state of the conversation as JSON data."""
        view = {"page": self._view.page, "search": self._view.search, "selected": list(self._view.selected)}
        return {
            "turn": self._turn,
            "step": self._step,
            "at": self._at,
            "is_editing": self._is_editing,
            "remembers": self._remembers,
            "view": view,
            "inputs": inputs_to_json(self._answers.inputs),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """
        Continue where `save` was called.

        Raises:
            ValueError: If *state* does not belong to the form.
            LookupError: The same.
            TypeError: The same.
        """
        at, step, view = int(state["at"]), state["step"], state["view"]
        if step not in get_args(_Step) or not (step != "field" or 0 <= at < len(self.request.form.fields)):
            raise ValueError("the state belongs to another form")
        self._turn, self._at, self._step, self._is_editing = int(state["turn"]), at, step, bool(state["is_editing"])
        self._remembers = state["remembers"] is True
        self._view = OptionView(int(view["page"]), str(view["search"]), tuple(map(int, view["selected"])))
        self._answers.restore(inputs_from_json(state["inputs"]))

    # --- Steps

    @property
    def _field(self) -> Field:
        return self.request.form.fields[self._at]

    @property
    def _question(self) -> FieldQuestion:
        server = self._make.server
        return FieldQuestion(self._field, self._at, self._answers, self._catalog, server, self._style, self._view)

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
        if self._finds_options(text):
            return self._look(self._view.searching(text))
        return self.give(self._translate(text) if isinstance(field, BooleanField) else text)

    def _finds_options(self, text: str) -> bool:
        """Return True if *text* selects no option, but a search for it finds some."""
        if not self._style.has_buttons or not matches(option_labels(self._field), text):
            return False
        return bool(read_field(self._field, text, self._context, check_pattern=False).errors)

    def _press_option(self, at: int) -> Turn:
        if isinstance(self._field, MultiChoiceField):
            return self._look(self._view.toggled(at))
        return self.give(Selection((option_values(self._field)[at],)))

    def _look(self, view: OptionView) -> Turn:
        self._view = view
        return self._ask()

    def _enter(self) -> None:
        """Start the question for a field: with what the user has selected before."""
        self._view = OptionView()
        if self._step != "field" or self._answers.present(self._field) not in ("answered", "restored"):
            return
        value = self._answers.present_value(self._field)
        if isinstance(self._field, MultiChoiceField) and isinstance(value, list):
            before = {json_key(each) for each in value}
            keys = [json_key(each) for each in option_values(self._field)]
            self._view = OptionView(selected=tuple(at for at, key in enumerate(keys) if key in before))

    def _note(self, field: Field, given: FieldInput) -> str:
        return sent_note(field, given, self._answers.value(field), self._catalog) if isinstance(given, str) else ""

    def _translate(self, text: str) -> FieldInput:
        """Return the yes or no that *text* means in the language of the user."""
        choice = find_choice(text, self._make.make("yes", "no"))
        return text if choice is None else Selection((choice == "yes",))

    def _command(self, command: str) -> Turn:
        match command:
            case "/help":
                return self._repeat(*help_lines(self._catalog, can_block=self.request.can_block))
            case "/options":
                return self._repeat(*self._question.options(is_short=self._style.has_buttons))
            case _:
                return self._choose(command.removeprefix("/"))

    def _choose(self, choice: str) -> Turn:
        match choice:
            case "decline" | "block" | "cancel":
                return self._finish(refusal(choice))
            case "remember":
                self._remembers = not self._remembers
                return self._repeat(*([] if self._style.has_buttons else self._remember_parts()))
            case "skip":
                return self.give(Intent.OMIT)
            case "back":
                return self._back()
            case "edit":
                return self._ask_which_field()
            case "yes" | "no" if self._step == "field":
                return self._say_yes_or_no(is_yes=choice == "yes")
            case "confirm":
                return self._send(confirmed=True)
            case "answer":
                self._step = "field"
                return self._ask()
            case "send":
                return self._send_or_warn()
            case _:  # never send what was not offered
                raise ValueError(f"there is no choice {choice!r}")

    def _ask_which_field(self) -> Turn:
        """Ask which field to change."""
        if not self._style.has_buttons:
            count = len(self.request.form.fields)
            return self._repeat(HostText(self._catalog.text(messages.TYPE_EDIT, count=count)))
        self._step = "pick"
        return self._look(OptionView())

    def _say_yes_or_no(self, *, is_yes: bool) -> Turn:
        """Send a form with a single boolean field: with its warnings or errors, as any other form."""
        state = self._answers.set(self._field, Selection((is_yes,)))
        if state.errors or self._is_warned or self._warnings():
            return self.give(Selection((is_yes,)))
        return self._send(confirmed=False)

    def _back(self) -> Turn:
        if self._step in ("confirm", "pick"):
            self._step = "review"
        elif self._step == "review" and self.request.form.fields:
            self._step, self._at = "field", len(self.request.form.fields) - 1
            self._enter()
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
        self._enter()
        return self._ask()

    def _advance(self, by: int) -> None:
        self._at += by
        if self._is_editing or self._at >= len(self.request.form.fields):
            self._step, self._is_editing = "review", False
        self._enter()

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
        return self._make_turn(*before, *self._parts())

    def _repeat(self, *parts: Part) -> Turn:
        """Return a turn with *parts* and only the prompt of the current question, or all of it if it has buttons."""
        return self._ask(*parts) if self._style.has_buttons else self._make_turn(*parts)

    def _make_turn(self, *parts: Part) -> Turn:
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
            case "start" | "pick":
                return
            case "confirm":
                if self._style.has_buttons:
                    yield HostText(text(messages.CHECK_ANSWERS), is_heading=True)
                    yield from self._answers.rows()
                yield from self._warnings()
                if not self._style.has_buttons:
                    yield HostText(text(messages.TYPE_CONFIRM, word=text(messages.CHOICE_WORDS["confirm"])))

    def _remember_parts(self) -> Iterator[Part]:
        if self._offers_to_remember:
            word = self._catalog.text(messages.CHOICE_WORDS["remember"])
            yield HostText(remember_line(self.request, self._catalog, is_chosen=self._remembers, how=word))

    def _prompt(self) -> str:
        if self._style.has_buttons:
            return self._button_prompt()
        if self._step != "field":
            return f"{self._make.server}: {' / '.join(self._words())}: "
        return self._question.prompt(" / ".join(self._words()))

    def _button_prompt(self) -> str:
        text = self._catalog.text
        match self._step:
            case "start":
                return text(messages.PRESS_ANSWER, button=text(messages.CHOICE_LABELS["answer"]))
            case "field":
                return self._question.button_prompt()
            case "review" if self.request.form.fields:
                return text(messages.SEND_CONFIRMS)
            case "review":
                return text(messages.PRESS_OPTION)
            case "pick":
                return text(messages.PRESS_FIELD)
            case "confirm":
                return text(messages.PRESS_CONFIRM, button=text(messages.CHOICE_LABELS["confirm"]))

    def _words(self) -> list[str]:
        return [f"{each.word} N" if each.id == "edit" else each.word for each in self._choices()]

    def _list_choices(self) -> HostText:
        if self._style.has_buttons:
            return HostText(self._catalog.text(messages.PRESS_BUTTON))
        return HostText(self._catalog.text(messages.TYPE_ONE_OF, choices=", ".join(self._words())))

    def _field_to_edit(self, text: str) -> int | None:
        """Return the number in a text such as ``edit 2`` or ``2``; None in any other."""
        *words, number = text.split() or [""]
        is_number = number.isdecimal() and number.isascii() and len(number) < _MAX_DIGITS
        if (
            self._step not in ("review", "pick")
            or not is_number
            or (words and find_choice(words[0], self._choices()) != "edit")
        ):
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
            case "start":
                return self._make.make("answer", *refusing)
            case "confirm":
                return self._make.make("confirm", "back", *refusing)
            case "pick":
                return self._make.make("back", *refusing)
            case "review" if self.request.form.fields:
                return self._make.make("send", "edit", "back", *remember, *refusing)
            case "review":
                return self._make.make("send:yes", "decline:no", *remember, *refusing[1:])

    def _buttons(self) -> tuple[Button, ...]:
        if not self._style.has_buttons:
            return ()
        found: list[Button] = []
        choices = self._choices()
        if self._step == "field":
            for name, label, number, is_selected in self._question.buttons(is_yes_or_no=self._is_yes_or_no):
                found.append(Button(name, label, number > 0, number, is_selected))
            back = ["back"] if self._can_go_back else []
            choices = choices or self._make.make(*back, *refusals(self.request))
        if self._step == "pick":
            found += self._field_buttons()
        found += [Button(choice.id, choice.label) for choice in choices]
        found = [replace(each, id=f"{self._turn}:{each.id}") for each in found]
        return tuple(replace(each, opens_dialog=bool(self.dialog_fields(each.id))) for each in found)

    def _field_buttons(self) -> Iterator[Button]:
        """Yield the buttons that select a field to change."""
        text, titles = self._catalog.text, [each.title for each in self.request.form.fields]
        shown, has_more = self._view.shown(titles, self._style.max_options)
        for at in shown:
            yield Button(f"edit:{at + 1}", titles[at], is_server_text=True, number=at + 1)
        if self._view.page:
            yield Button("page:-1", text(messages.PREVIOUS_FIELDS))
        if has_more:
            yield Button("page:1", text(messages.NEXT_FIELDS))

    @property
    def _can_go_back(self) -> bool:
        return self._at > 0 or self._is_editing
