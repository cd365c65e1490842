"""`FieldQuestion`: the question for one field, and the commands that answer any of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from mcp_elicit_client.core.form import BooleanField, ChoiceField, Field, MultiChoiceField, TextField
from mcp_elicit_client.core.messages import Message
from mcp_elicit_client.core.validation.formats import FORMATS
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.conversation.answers import FormAnswers, Present
from mcp_elicit_client.presentation.conversation.turns import HostText, OptionList, Part, ServerText
from mcp_elicit_client.presentation.descriptions import describe_field
from mcp_elicit_client.presentation.input_parsing import accepts_option_numbers

_MAX_OPTIONS = 20
"""The number of options that are listed without a command."""

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
    Return the command that *text* is; None if it is none.

    Where an answer may be any text, a command is typed in full.  Elsewhere a
    beginning is enough that no other command has.
    """
    word = text.rstrip()
    commands = [each for each in _COMMANDS if each != "/block" or can_block]
    if word in commands:
        return word
    found = [each for each in commands if len(word) > 1 and each.startswith(word.casefold())]
    return found[0] if len(found) == 1 and not _takes_any_text(field) else None


def _takes_any_text(field: Field) -> bool:
    match field:
        case TextField():
            return field.format not in FORMATS
        case MultiChoiceField(choices=()):
            return True
        case _:
            return False


def help_lines(catalog: MessageCatalog, *, can_block: bool) -> Iterator[Part]:
    """Yield what the user can type."""
    yield HostText(catalog.text(messages.HELP))
    for name, message in messages.HELP_COMMANDS.items():
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

    def parts(self, count: int) -> Iterator[Part]:
        """Yield the question, for a form with *count* fields."""
        text, description = self.catalog.text, describe_field(self.field, self.catalog)
        yield HostText(text(messages.FIELD_POSITION, number=self.at + 1, count=count), is_heading=True)
        yield ServerText(description.label)
        if description.help:
            yield ServerText(description.help)
        yield from self.options(at_most=_MAX_OPTIONS)
        yield HostText(f"{description.accepts[:1].upper()}{description.accepts[1:]}; {description.requirement}")
        if description.warning:
            yield HostText(text(messages.WARNING, message=description.warning))
        present = self.answers.present(self.field)
        if present is not None:
            shown = description.suggested if present == "suggested" else self.answers.shown(self.field)
            yield ServerText(shown, text(_PRESENT_LABELS[present]))

    def options(self, *, at_most: int | None) -> Iterator[Part]:
        """Yield the options of the field, the first *at_most* of them."""
        field = self.field
        if not isinstance(field, (ChoiceField, MultiChoiceField)) or not field.choices:
            return
        labels = tuple(map(field.label_of, field.choices[:at_most]))
        yield OptionList(labels, accepts_option_numbers(field))
        if at_most is not None and len(field.choices) > at_most:
            yield HostText(self.catalog.text(messages.MORE_OPTIONS, count=len(field.choices) - at_most))

    def prompt(self, words: str) -> str:
        """Return the last line of the question: what to type, such as *words*, and what an empty reply means."""
        how, present = self._how_to_type(), self.answers.present(self.field)
        on_enter = _ON_ENTER[present] if present is not None else None if self.field.required else messages.ENTER_SKIPS
        hints = [words or ("" if how is None else self.catalog.text(how))]
        hints.append("" if on_enter is None else self.catalog.text(on_enter))
        if present is not None and not self.field.required:
            hints.append(self.catalog.text(messages.SKIP))
        shown = "; ".join(filter(None, hints)) or self.catalog.text(messages.TYPE_ANSWER)
        return f"{self.server}: {shown} (/help): "

    def buttons(self, *, is_yes_or_no: bool) -> list[tuple[str, str, bool]]:
        """Return the name, the label, and if that is the server's, of each button that answers the field."""
        text, found = self.catalog.text, list[tuple[str, str, bool]]()
        match self.field:
            case ChoiceField() as field:
                labels = map(field.label_of, field.choices)
                found += [(f"option:{at}", label, True) for at, label in enumerate(labels)]
            case BooleanField() if not is_yes_or_no:
                found += [("option:0", text(messages.CHOICE_LABELS["yes"]), False)]
                found += [("option:1", text(messages.CHOICE_LABELS["no"]), False)]
        if self.answers.present(self.field) is not None:
            found.append(("use", text(messages.USE_VALUE), False))
        if not self.field.required:
            found.append(("skip", text(messages.DO_NOT_PROVIDE), False))
        return found

    def _how_to_type(self) -> Message | None:
        match self.field:
            case BooleanField():
                return messages.YES_OR_NO
            case ChoiceField() as field:
                return messages.TYPE_NUMBER_OR_NAME if accepts_option_numbers(field) else messages.TYPE_NAME
            case MultiChoiceField(choices=[_, *_]) as field:
                return messages.TYPE_NUMBERS_OR_NAMES if accepts_option_numbers(field) else messages.TYPE_NAMES
        return None
