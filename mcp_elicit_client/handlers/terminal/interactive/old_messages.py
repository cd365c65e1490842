"""Every text that the form shows of its own, to be translated as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mcp_elicit_client.core.messages import Message, english


def _kinds() -> Mapping[str, str]:
    return {
        "text": "a text",
        "integer": "a whole number",
        "number": "a number",
        "boolean": "yes or no",
        "choice": "one of {options} options",
        "multichoice": "any of {options} options",
        "list": "a list, separated by commas or one in each line",
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageCatalog:
    """
    The form's own texts; the defaults are English.

    What is in braces is filled in; a translation keeps the names.  What
    servers and the host write is not translated.

    Attributes:
        errors: What is wrong with a value, by the code of its `FieldError`.
        formats: What each format is called there.
        kinds: What each kind of field takes.
        warnings: What is strange about a URL, by the code of its warning.
        problems: What the user is told about a request or an answer, by the
            code of its `Problem`; where a code is missing, the problem's own
            English, which says more.
        yes_keys: The letters that mean yes.
        no_keys: The letters that mean no.
    """

    asks_to_confirm: str = "{server}{tool} asks you to confirm this{turn}."
    asks_one: str = "{server}{tool} asks you for one answer{turn}."
    asks_many: str = "{server}{tool} asks you for {fields} answers{turn}."
    asks_to_open: str = "{server}{tool} asks you to open a page at {domain}{turn}."
    asks_again: str = "{server}{tool} says that you are not finished yet at {domain}{turn}."
    of_tool: str = " (tool {tool})"
    of_turn: str = " ({number} of {of})"
    claims: str = "The server gives itself another name:"
    legend: str = "Lines with | are the server's words."
    left_out_fields: str = "Not asked here, since nobody could answer: {count} optional field(s)."
    careful: str = "Careful: {message}"
    careful_secret: str = "Careful: do not type a password, a key or a card number here."  # noqa: S105 -- a warning
    closes_at: str = "The question closes at {time}."
    closes_in: str = "The question closes in {seconds} s."
    withdrawn: str = "({server}: the question was withdrawn.)"

    required: str = "required"
    optional: str = "optional"
    suggested: str = "suggested by the server"
    typed_before: str = "as you had typed it"
    not_answered: str = "not answered"
    left_out: str = "left out"
    empty: str = "empty, and sent so"
    none_chosen: str = "none of them, and sent so"
    hidden: str = "not shown"
    yes: str = "yes"
    no: str = "no"
    yes_keys: str = "yY"
    no_keys: str = "nN"
    filter: str = "Type to find; {shown} of {options} shown"
    filter_none: str = "No option has this in its name."
    more_options: str = "{count} more"
    chosen: str = "{count} chosen"
    choose_between: str = "choose {least} to {most}"
    choose_exactly: str = "choose {least}"
    choose_least: str = "choose at least {least}"
    choose_most: str = "choose at most {most}"
    too_many: str = "No more than {most}: take one away first."
    sent_as: str = "Is sent as {value}"
    checking: str = "Checking ..."
    name_is: str = "The server calls this field:"
    all_options: str = "All options:"
    characters_between: str = "{least} to {most} characters"
    characters_exactly: str = "exactly {least} characters"
    characters_least: str = "at least {least} characters"
    characters_most: str = "at most {most} characters"
    number_from: str = "from {least}"
    number_to: str = "to {most}"
    number_above: str = "above {least}"
    number_below: str = "below {most}"
    number_steps: str = "in steps of {step}"
    pattern: str = "must match {pattern}"
    to_send_empty: str = "To send an empty text or list, press F2."
    wrong_fields: str = "{count} field(s) need another look."

    review: str = "Please check before it is sent:"
    goes_to: str = "This goes to {server}."
    send_confirms: str = "To send means to confirm."
    wait: str = "wait"
    do_review: str = "review"
    do_send: str = "send"
    do_edit: str = "back"
    do_decline: str = "decline"
    do_block: str = "never ask for this server again"
    do_cancel: str = "cancel"
    do_open: str = "open"
    do_copy: str = "copy the address"
    do_show: str = "show the address"
    do_done: str = "I am done there"
    do_reopen: str = "open again"

    key_next: str = "next"
    key_choose: str = "choose"
    key_newline: str = "new line"
    key_clear: str = "not answered"
    key_empty: str = "left out / empty"
    key_more: str = "more"
    key_edit: str = "edit"
    key_leave: str = "leave"
    key_scroll: str = "scroll"

    ask_discard: str = "Leave, and lose what you typed?  {yes} / any other key: no"
    ask_secret: str = "Send it anyway?  {yes} / any other key: no"  # noqa: S105 -- a question

    whole_address: str = "The whole address:"
    opening: str = "A browser was asked to open {url}"
    if_none_opens: str = "If no page opens, visit the address yourself."
    no_browser: str = "No browser could be started here{ssh}."
    over_ssh: str = ", over SSH"
    copied: str = "The address was copied."
    not_copied: str = "The address could not be copied."
    open_yourself: str = "Open this address yourself, here or on another device:"
    waiting: str = "When you have finished there, say so."
    finished: str = "The server says that you are done."

    kinds: Mapping[str, str] = field(default_factory=_kinds)
    translations: Mapping[str, str] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)

    def translate(self, message: Message, count: int) -> str:
        """Return *message* in the language of the catalog."""
        text = english(message, count)
        return self.translations.get(text, text)


ENGLISH = MessageCatalog()
"""The form in English."""
