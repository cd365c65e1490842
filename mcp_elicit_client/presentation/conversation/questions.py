"""`FieldQuestion`: the question for one field, and the commands that answer any of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from typing_extensions import assert_never

from mcp_elicit_client.core.form import BooleanField, ChoiceField, Field, MultiChoiceField, NumberField, TextField
from mcp_elicit_client.core.messages import Message
from mcp_elicit_client.core.validation.field_errors import AnswerError
from mcp_elicit_client.core.validation.formats import FORMATS
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.conversation.answers import FormAnswers, Present
from mcp_elicit_client.presentation.conversation.options import OptionView, option_values
from mcp_elicit_client.presentation.conversation.turns import Button, HostText, OptionList, Part, ServerText, Style
from mcp_elicit_client.presentation.descriptions import capitalize, describe_field, option_labels
from mcp_elicit_client.presentation.input_parsing import accepts_empty
from mcp_elicit_client.presentation.option_names import OptionNames, accepts_option_numbers

_COMMANDS = (*messages.HELP_COMMANDS, "/help")
"""What can be typed instead of an answer."""

_PRESENT_LABELS: Mapping[Present, Message] = {
    "answered": messages.YOUR_ANSWER,
    "restored": messages.RESTORED_DRAFT,
    "suggested": messages.SUGGESTED_VALUE,
}
_ON_ENTER: Mapping[Present, Message] = {
    "answered": messages.ENTER_ANSWER,
    "restored": messages.ENTER_RESTORED,
    "suggested": messages.ENTER_SUGGESTED,
}


def find_command(text: str, field: Field, *, can_block: bool = True) -> str | None:
    """
    Return the name of the command in *text*, or None.

    Where an answer may be any text, a command is typed in full.  Elsewhere a
    beginning is enough that no other command has, and that selects no option.
    """
    word = text.rstrip()
    commands = [each for each in _COMMANDS if each != "/block" or can_block]
    if word in commands:
        return word
    found = [each for each in commands if len(word) > 1 and each.startswith(word.casefold())]
    if len(found) != 1 or _takes_any_text(field) or _names_option(word, field):
        return None
    return found[0]


def _names_option(text: str, field: Field) -> bool:
    if not isinstance(field, (ChoiceField, MultiChoiceField)):
        return False
    try:
        OptionNames(field).select(text)
    except AnswerError:
        return False
    return True


def _takes_any_text(field: Field) -> bool:
    match field:
        case TextField():
            return field.format not in FORMATS
        case MultiChoiceField():
            return not field.choices
        case NumberField() | BooleanField() | ChoiceField():
            return False
        case _:
            assert_never(field)


def help_lines(catalog: MessageCatalog, *, can_block: bool, has_buttons: bool) -> Iterator[Part]:
    """Yield what the user can type.  With buttons, the user is in a chat, which has no keys."""
    yield HostText(catalog.text(messages.REPLY if has_buttons else messages.HELP))
    commands = messages.HELP_COMMANDS
    if has_buttons:  # other commands are for the bot
        yield HostText(catalog.text(messages.REPLY_WITH_COMMAND))
        commands = {**commands, "/cancel": messages.HELP_CANCEL}
    for name, message in commands.items():
        if name != "/block" or can_block:
            yield HostText(f"{name}: {catalog.text(message)}")
    yield HostText(catalog.text(messages.HELP_SLASH))


class FieldQuestion(NamedTuple):
    """The question for *field*, which is number *at* of the form, counted from 0."""

    field: Field
    at: int
    answers: FormAnswers
    catalog: MessageCatalog
    server: str
    style: Style
    view: OptionView

    def parts(self, count: int) -> Iterator[Part]:
        """Yield the question, for a form with *count* fields."""
        text, description = self.catalog.text, describe_field(self.field, self.catalog)
        yield HostText(text(messages.FIELD_POSITION, number=self.at + 1, count=count), is_heading=True)
        yield ServerText(description.label)
        if description.help:
            yield ServerText(description.help)
        yield from self.options(is_short=True)
        yield HostText(f"{capitalize(description.accepts)}; {description.requirement}")
        if description.warning:
            yield HostText(text(messages.WARNING, message=description.warning))
        present = self.answers.present(self.field)
        if present is not None:
            shown = description.suggested if present == "suggested" else self.answers.shown(self.field)
            yield ServerText(shown, text(_PRESENT_LABELS[present]))

    def options(self, *, is_short: bool) -> Iterator[Part]:
        """Yield the options of the field: those of the page, if *is_short*, or all."""
        field, text = self.field, self.catalog.text
        if not isinstance(field, (ChoiceField, MultiChoiceField)) or not field.choices:
            return
        labels = option_labels(field, self.catalog)
        view, size = (self.view, self.style.max_options) if is_short else (OptionView(), len(labels))
        page = view.shown(labels, size)
        numbers = tuple(at + 1 for at in page.positions)
        yield OptionList(tuple(labels[at] for at in page.positions), accepts_option_numbers(field), numbers)
        if self.style.has_buttons and (page.has_more or page.start):
            last = page.start + len(page.positions)
            yield HostText(text(messages.PAGE_OF_OPTIONS, first=page.start + 1, last=last, count=page.found))
        elif page.has_more:
            yield HostText(text(messages.MORE_OPTIONS, count=page.found - len(page.positions)))
        if not set(self.view.selected) <= set(page.positions):
            yield HostText(text(messages.SELECTED, count=len(self.view.selected)))

    def button_prompt(self) -> str:
        """Return the last line of a question with buttons; empty if the answer has to be typed."""
        match self.field:
            case BooleanField() | ChoiceField():
                return self.catalog.text(messages.PRESS_OPTION)
            case MultiChoiceField(choices=[_, *_]):
                button = self.catalog.text(messages.USE_SELECTION)
                return self.catalog.text(messages.PRESS_OPTIONS, button=button)
            case TextField() | NumberField() | MultiChoiceField():
                return ""
            case _:
                assert_never(self.field)

    def prompt(self, words: str) -> str:
        """Return the last line of the question: what to type, such as *words*, and what an empty reply means."""
        how, present = self._how_to_type(), self.answers.present(self.field)
        hints = [words or ("" if how is None else self.catalog.text(how))]
        if present is not None:
            hints.append(self.catalog.text(_ON_ENTER[present]))
        if not self.field.required:
            hints.append(self.catalog.text(messages.ENTER_SKIPS if present is None else messages.SKIP))
        shown = "; ".join(filter(None, hints)) or self.catalog.text(messages.TYPE_ANSWER)
        return f"{self.server}: {shown} (/help): "

    def buttons(self, *, is_yes_or_no: bool) -> Iterator[Button]:
        """Yield the buttons that answer the field."""
        text, field = self.catalog.text, self.field
        if isinstance(field, BooleanField) and not is_yes_or_no:
            yield Button("option:0", text(messages.CHOICE_LABELS["yes"]))
            yield Button("option:1", text(messages.CHOICE_LABELS["no"]))
        yield from self._option_buttons()
        if self.style.has_dialogs and not self.button_prompt():
            yield Button("type", text(messages.TYPE_IN_DIALOG))
        if isinstance(field, MultiChoiceField) and field.choices and (self.view.selected or field.required):
            yield Button("choose", text(messages.USE_SELECTION))
        if self.answers.present(field) is not None:
            yield Button("use", text(messages.USE_VALUE))
        if not field.required:
            yield Button("skip", text(messages.DO_NOT_PROVIDE))
        elif accepts_empty(field) and not option_values(field):
            yield Button("empty", text(messages.SEND_EMPTY))

    def _option_buttons(self) -> Iterator[Button]:
        labels, text = option_labels(self.field, self.catalog), self.catalog.text
        page = self.view.shown(labels, self.style.max_options)
        for at in page.positions:
            yield Button(
                f"option:{at}", labels[at], is_server_text=True, number=at + 1, is_selected=at in self.view.selected
            )
        if page.start:
            yield Button("page:-1", text(messages.PREVIOUS_OPTIONS))
        if page.has_more:
            yield Button("page:1", text(messages.NEXT_OPTIONS))
        if self.view.search:
            yield Button("all", text(messages.SHOW_ALL_OPTIONS))

    def _how_to_type(self) -> Message | None:
        match self.field:
            case BooleanField():
                return messages.YES_OR_NO
            case ChoiceField() as field:
                return messages.TYPE_NUMBER_OR_NAME if accepts_option_numbers(field) else messages.TYPE_NAME
            case MultiChoiceField(choices=[_, *_]) as field:
                return messages.TYPE_NUMBERS_OR_NAMES if accepts_option_numbers(field) else messages.TYPE_NAMES
            case TextField() | NumberField() | MultiChoiceField():
                return None
            case _:
                assert_never(self.field)
