"""`Turn`: what a conversation shows at one time, and what the user can do then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from mcp_elicit_client.core.form import Field
from mcp_elicit_client.core.url.inspect import TargetUrl
from mcp_elicit_client.typing import Answer


@dataclass(frozen=True, slots=True)
class HostText:
    """
    A line of the host.

    Attributes:
        text: The text.
        is_heading: A new part of the conversation begins here.
    """

    text: str
    is_heading: bool = False


@dataclass(frozen=True, slots=True)
class ServerText:
    """
    Words of the server, sanitized: mark them, and escape them for the platform.

    Attributes:
        text: The words.
        label: What they are, in the words of the host; may be empty.
    """

    text: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class OptionList:
    """
    Options of a field, in words of the server.

    Attributes:
        labels: The labels.
        are_numbered: The user can type the number of an option.
        numbers: The number of each option among all of the field.
    """

    labels: tuple[str, ...]
    are_numbered: bool
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """
    One answer in the review.

    Attributes:
        number: The number of the field.
        label: Its label: words of the server.
        value: The value as it is shown to the user: maybe words of the server.
        note: What the host says about the value; may be empty.
    """

    number: int
    label: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """
    A URL.

    Attributes:
        target: The URL.
        has_consent: The user agreed to open it.  Until then it must not be a
            link that can be opened, and its domain is to be marked.
    """

    target: TargetUrl
    has_consent: bool = False


Part: TypeAlias = HostText | ServerText | OptionList | AnswerRow | Link
"""A part of a message."""

Effect: TypeAlias = Literal["open", "copy"]
"""What the platform is to do with the URL, because the user agreed."""


@dataclass(frozen=True, slots=True)
class Button:
    """
    Something that the user can do with one press.

    Attributes:
        id: What to pass to ``press``: at most 32 ASCII characters.  It works
            only in the turn that offers it.
        label: The text on the button; of an option, words of the server.
        is_server_text: The label has words of the server.
        number: The number of the option or field; 0 for other buttons.
        is_ambiguous: Another field has the same label.  Show the number.
        is_selected: The option is among those that the user selected.
        opens_dialog: A dialog is to be opened instead, if the platform can.
    """

    id: str
    label: str
    is_server_text: bool = False
    number: int = 0
    is_ambiguous: bool = False
    is_selected: bool = False
    opens_dialog: bool = False


@dataclass(frozen=True, slots=True)
class Style:
    """
    How a conversation is held.

    Attributes:
        has_buttons: The user presses buttons.  Otherwise everything is typed,
            and each turn only adds to what was shown before.
        has_dialogs: What has to be typed is entered in dialogs, which a
            button opens.
        begins_with_dialog: The conversation begins with a button for a dialog
            with the whole form.
        max_options: The number of options that are offered at a time.
        max_repeated: The characters of the server's message that each turn
            repeats if it has buttons.
        first_turn: The number that turns are counted from.  It is part of
            each button.  A random one makes the buttons of a conversation
            that was forgotten useless.
    """

    has_buttons: bool = False
    has_dialogs: bool = False
    begins_with_dialog: bool = False
    max_options: int = 20
    max_repeated: int = 1000
    first_turn: int = 0


LINES = Style()
"""A conversation line by line, without buttons."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """
    What a conversation shows, and what the user can do.

    Attributes:
        kept: The parts that come first and that no later turn repeats: show
            them in messages that are not replaced.
        parts: The other parts of the message, in their order.
        prompt: The last line, in words of the host; empty if nothing is
            asked.
        buttons: What the user can press.  Everything can also be typed.
        field: The field that is asked; None for other questions.
        is_hidden: What the user types must not be shown.
        is_waiting: The user is busy elsewhere, and the server may report
            completion: call ``complete`` then.
        effect: What to do with the URL, before ``report`` is called.
        answer: The answer of the user, which ends the conversation.
    """

    kept: tuple[Part, ...] = ()
    parts: tuple[Part, ...] = ()
    prompt: str = ""
    buttons: tuple[Button, ...] = ()
    field: Field | None = None
    is_hidden: bool = False
    is_waiting: bool = False
    effect: Effect | None = None
    answer: Answer | None = None
