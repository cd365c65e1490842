"""`ChatPlatform`: what an adapter of a chat implements, the table of what its chat can show, and what it is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from types import NoneType
from typing import Literal, Protocol, TypeAlias

from mcp_elicit_client._arguments import check_int, check_sync, check_type
from mcp_elicit_client.exceptions import ElicitationError
from mcp_elicit_client.presentation.descriptions import InputKind


class ChatError(ElicitationError):
    """
    The chat refused a message, or could not be reached.

    Attributes:
        retry_after: Seconds after which to try again; None if that is
            useless.
    """

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogLimits:
    """
    What a dialog with inputs can show.

    Attributes:
        max_fields: The inputs.
        max_options: The options of an input.
        max_option: The characters of an option.
        max_label: The characters of the label of an input.
        max_hint: The characters of the help text of an input.
        max_input: The characters that can be typed.
        max_text: The characters of the text above the inputs.
        max_all_options: The options of all inputs.
    """

    max_fields: int
    max_options: int
    max_option: int
    max_label: int
    max_hint: int
    max_input: int
    max_text: int
    max_all_options: int = 500

    def __post_init__(self) -> None:
        _check_maximums(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatLimits:
    """
    What a chat can show.

    Attributes:
        max_text: The characters of a message, after escaping, in UTF-16.
        max_paragraphs: The paragraphs of a message.
        max_label: The characters of a button.
        max_options: The options that are offered at a time.  A message has at
            most twelve other buttons.
        max_input: The characters that a user can send.
        max_messages: The messages that one question may take.  A request
            with a longer question is not shown.  Only a review of long
            answers may take more.
        max_url: The characters of a URL that a button can open; 0 if none
            can.
        dialog: The dialogs, if the chat has them.  Otherwise users reply with
            messages.
        escape: Escapes text for the markup of the chat.
    """

    max_text: int
    max_paragraphs: int = 1_000
    max_label: int
    max_options: int = 10
    max_input: int
    max_messages: int = 6
    max_url: int = 2000
    dialog: DialogLimits | None = None
    escape: Callable[[str], str] = str

    def __post_init__(self) -> None:
        _check_maximums(self)
        check_type("dialog", self.dialog, DialogLimits, NoneType)
        check_sync("escape", self.escape, "text")


def _check_maximums(limits: object) -> None:
    for each in fields(limits):  # type: ignore[arg-type]  # a dataclass
        if each.name.startswith("max_"):
            check_int(each.name, getattr(limits, each.name))


ParagraphKind: TypeAlias = Literal["heading", "text", "quote", "url"]
"""
A heading or a text of the host; a quotation of the server, which must look
like one; a URL, which must not be one that can be opened by a click.
"""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """
    A part of a message.

    Attributes:
        kind: Who says it, and how it looks.
        text: The text, escaped for the markup of the chat; a URL is not.
    """

    kind: ParagraphKind
    text: str


@dataclass(frozen=True, slots=True)
class ChatButton:
    """
    A button of a message.

    Attributes:
        label: The text on it, without markup.
        data: What to pass to `ChatHandler.press`, at most 64 bytes; empty for
            a link.
        url: The URL that it opens; empty for other buttons.
        is_option: It is shown in a separate row, if possible.
        opens_dialog: It opens a dialog.  The adapter may open the dialog
            without waiting for the user to press it.
    """

    label: str
    data: str = ""
    url: str = ""
    is_option: bool = False
    opens_dialog: bool = False


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """
    A message of a chat: paragraphs and buttons.

    Attributes:
        title: One line for notifications, in words of the host.
        paragraphs: The text.
        buttons: The buttons.
    """

    title: str
    paragraphs: tuple[Paragraph, ...]
    buttons: tuple[ChatButton, ...] = ()

    @property
    def text(self) -> str:
        """The paragraphs, each on its own line."""
        return "\n".join(each.text for each in self.paragraphs)


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogField:
    """
    An input of a dialog.

    Attributes:
        id: What to name its value in `ChatHandler.submit`.
        kind: The kind of input.
        label: Its label: quoted words of the server; of the choice to
            remember the answer, words of the host.
        hint: What it accepts; empty if there is nothing to say.
        options: The labels of the options: words of the server, or yes and no.
        initial: The text, or the positions of the options, to begin with.
        is_required: It must be filled in.
        is_date: A calendar suits it.
    """

    id: str
    kind: InputKind
    label: str
    hint: str
    options: tuple[str, ...]
    initial: DialogValue
    is_required: bool
    is_date: bool


DialogValue: TypeAlias = "str | Sequence[int] | None"
"""What a user entered: text, the positions of the selected options, or nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialog:
    """
    A dialog with inputs, which a button opens.

    Attributes:
        id: What to pass to `ChatHandler.submit`.
        title: Its title, in words of the host.
        submit: The label of the button that sends it.
        paragraphs: The text above the inputs.
        fields: The inputs.
    """

    id: str
    title: str
    submit: str
    paragraphs: tuple[Paragraph, ...]
    fields: tuple[DialogField, ...]


@dataclass(frozen=True, slots=True)
class Reaction:
    """
    What the adapter does after an action of the user.

    Attributes:
        note: What to show only to this user; empty if there is nothing to
            say.
        dialog: The dialog to open.
        errors: What is wrong with the inputs of a dialog, by `DialogField.id`.
    """

    note: str = ""
    dialog: Dialog | None = None
    errors: Mapping[str, str] | None = None


class ChatPlatform(Protocol):
    """
    Sends messages to a chat.  It raises `ChatError` if the chat fails; other exceptions are programming errors.

    Attributes:
        limits: What the chat can show.
    """

    @property
    def limits(self) -> ChatLimits:
        """What the chat can show."""
        ...

    async def send(self, person: str, message: ChatMessage, /) -> str:
        """
        Send a message that only *person* sees, and return its ID.

        Raises:
            ChatError: If the chat did not take it.
        """
        ...

    async def edit(self, person: str, message_id: str, message: ChatMessage, /) -> None:
        """
        Replace a message.

        Raises:
            ChatError: If it cannot be replaced, for example because it was
                deleted.  The next question or the outcome is then sent as a
                new message.
        """
        ...
