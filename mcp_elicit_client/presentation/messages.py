"""
Texts of all user interfaces, in English, as gettext message IDs.

Sentences about field errors, formats and URL warnings are in `core`.  Names
in braces are parameters.  Text that a server spelled is never a parameter,
except for the domain that the user is asked to open.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mcp_elicit_client.core.messages import Message

if TYPE_CHECKING:
    from mcp_elicit_client.core.answer import Action
    from mcp_elicit_client.core.secrets.findings import SecretKind
    from mcp_elicit_client.presentation.url_prompts import UrlChoice

# --- Requests

ASKS_TO_CONFIRM = Message("{server} asks you to confirm")
ASKS_FOR_ANSWERS = Message("{server} asks for {count} answer", "{server} asks for {count} answers", "count")
ASKS_TO_OPEN = Message("{server} asks you to open {domain}")
NOT_FINISHED = Message("{server} reports that you have not finished at {domain}")
POSITION = Message("{title} ({number} of {total})")
TOOL = Message("Tool")
CLAIMED_NAME = Message("Name reported by the server")
CLAIMED_ORIGIN = Message("Origin reported by the server")
LEGEND = Message("Text after | comes from the server.")
EXPIRES_AT = Message("Expires at {time}")
NO_MORE_TIME = Message("The time cannot be extended.")
EXPIRED = Message("The request from {server} has expired.")
WITHDRAWN = Message("The request from {server} was withdrawn.")

REMEMBER = Message(
    "Answer the same request from {server} the same way for {count} minute",
    "Answer the same request from {server} the same way for {count} minutes",
    "count",
)

REMEMBERED_ANSWERS = Message("Remembered answers")
NO_REMEMBERED_ANSWERS = Message("No remembered answers")
FORGET = Message("Forget")
FORGET_ALL = Message("Forget all")

# --- Notices: requests that a policy declined

REQUEST_DECLINED = Message("A request from {server} was declined.")
DECLINED_BECAUSE: Mapping[str, Message] = {
    "secrets": Message("It asks for sensitive data, which servers must not request in forms."),
}
"""The reasons by the name of the policy."""
DECLINED_BY_RULE = Message("A rule of this application declines such requests.")

# --- Warnings

WARNING = Message("Warning: {message}")
UNSUPPORTED_FIELDS = Message(
    "{count} unsupported optional field was skipped.", "{count} unsupported optional fields were skipped.", "count"
)
TRUNCATED = Message("The server sent texts that are too long. They were cut.")
OPTIONS_DROPPED = Message("Some options are not supported. They were omitted.")
NOT_CHECKED = Message("Some answers cannot be checked here. The server may reject them.")
IMPERSONATION = Message("The name reported by the server resembles another name.")
SENSITIVE_REQUEST = Message("This request asks for sensitive data. Servers must not request it in forms.")
SENSITIVE_FIELD = Message("Do not enter passwords, keys or card numbers here.")
SENSITIVE_ANSWERS: Mapping[SecretKind, Message] = {
    "api_key": Message("This answer seems to contain an API key."),
    "bank_account": Message("This answer seems to contain a bank account number."),
    "card": Message("This answer seems to contain the number of a payment card."),
    "connection": Message("This answer seems to contain a URL with a password."),
    "identity_number": Message("This answer seems to contain the number of an identity document."),
    "one_time_code": Message("This answer seems to contain a one-time code."),
    "password": Message("This answer seems to contain a password."),
    "pin": Message("This answer seems to contain a PIN."),
    "private_key": Message("This answer seems to contain a private key."),
    "recovery_phrase": Message("This answer seems to contain a recovery phrase."),
    "security_answer": Message("This answer seems to contain the answer to a security question."),
    "session": Message("This answer seems to contain a session cookie."),
    "token": Message("This answer seems to contain an access token."),
}

# --- Fields: what they accept

REQUIRED = Message("required")
OPTIONAL = Message("optional")
TEXT = Message("text")
HIDDEN_TEXT = Message("text, hidden while you type")
WHOLE_NUMBER = Message("whole number")
NUMBER = Message("number")
YES_OR_NO = Message("yes or no")
OPTIONS = Message("select from {count} option", "select from {count} options", "count")
LIST = Message("list, separated by commas")
EACH_VALUE = Message("each value: {accepts}")
CHARACTERS_BETWEEN = Message("{min} to {max} characters")
CHARACTERS_EXACTLY = Message("exactly {min} character", "exactly {min} characters", "min")
CHARACTERS_AT_LEAST = Message("at least {min} character", "at least {min} characters", "min")
CHARACTERS_AT_MOST = Message("at most {max} character", "at most {max} characters", "max")
VALUES_BETWEEN = Message("{min} to {max} values")
VALUES_EXACTLY = Message("exactly {min} value", "exactly {min} values", "min")
VALUES_AT_LEAST = Message("at least {min} value", "at least {min} values", "min")
VALUES_AT_MOST = Message("at most {max} value", "at most {max} values", "max")
SELECT_BETWEEN = Message("select {min} to {max}")
SELECT_EXACTLY = Message("select {min}")
SELECT_AT_LEAST = Message("select at least {min}")
SELECT_AT_MOST = Message("select at most {max}")
NUMBER_BETWEEN = Message("from {min} to {max}")
NUMBER_AT_LEAST = Message("{min} or more")
NUMBER_AT_MOST = Message("{max} or less")
NUMBER_MORE_THAN = Message("more than {min}")
NUMBER_LESS_THAN = Message("less than {max}")
NUMBER_MULTIPLE = Message("multiple of {step}")
LABEL = Message("{label}:")
PATTERN = Message("Pattern")
FIELD_NAME = Message("Field name")
ALL_OPTIONS = Message("All options:")

# --- Fields: their values

YES = Message("yes")
NO = Message("no")
YES_KEYS = Message("yY")
NO_KEYS = Message("nN")
NO_ANSWER = Message("no answer")
NOT_PROVIDED = Message("not provided")
HIDDEN = Message("hidden")
EMPTY = Message("empty")
NONE_SELECTED = Message("none selected")
SUGGESTED = Message("suggested")
SUGGESTED_VALUE = Message("Suggested value")
RESTORED = Message("restored draft")
RESTORED_DRAFT = Message("Restored draft")
SENT_AS = Message("Sent as {value}")
SENT_WITH_ZONE = Message("Your time zone: {zone}. {sent}")
CHECKING = Message("Checking…")
FILTER = Message("Type to filter: {shown} of {count} option", "Type to filter: {shown} of {count} options", "count")
NO_MATCHES = Message("No matching options")
MORE = Message("{count} more")
MORE_CHARACTERS = Message("{count} more character is not shown", "{count} more characters are not shown", "count")
MORE_ABOVE = Message("{count} more above", "{count} more above", "count")
MORE_BELOW = Message("{count} more below", "{count} more below", "count")
SELECTED = Message("{count} selected")
TOO_MANY = Message("You can select at most {max} option.", "You can select at most {max} options.", "max")
EMPTY_KEY = Message("F2 sends an empty value.")

# --- Review

NEEDS_ATTENTION = Message("{count} field needs attention", "{count} fields need attention", "count")
CHECK_ANSWERS = Message("Check your answers")
SENT_TO = Message("Your answers will be sent to {server}.")
SEND_CONFIRMS = Message("Select Send to confirm.")
CANCEL_ANYWAY = Message("Cancel this request? Your draft is kept. [y/N]")
DECLINE_ANYWAY = Message("Decline this request? [y/N]")
BLOCK_ANYWAY = Message("Decline and block {server}? [y/N]")
PRESS_AGAIN = Message("Press {key} again.")
PRESS_ENTER = Message("Press Enter to confirm: {action}")
PRESS_ONE_OF = Message("Press one of these keys: {keys}")

# --- Buttons

REVIEW = Message("Review")
SEND = Message("Send")
BACK = Message("Back")
DECLINE = Message("Decline")
CANCEL = Message("Cancel")
BLOCK = Message("Decline and block {server}")
URL_CHOICES: Mapping[UrlChoice, Message] = {
    "open": Message("Open {domain}"),
    "copy": Message("Copy link"),
    "show": Message("Show link"),
    "done": Message("I have finished"),
    "reopen": Message("Open again"),
    "decline": DECLINE,
    "block": BLOCK,
    "cancel": CANCEL,
}

CHOICE_WORDS: Mapping[str, Message] = {
    "yes": YES,
    "no": NO,
    "send": Message("send"),
    "edit": Message("edit"),
    "answer": Message("answer"),
    "back": Message("back"),
    "skip": Message("skip"),
    "confirm": Message("confirm"),
    "decline": Message("decline"),
    "block": Message("block"),
    "cancel": Message("cancel"),
    "remember": Message("remember"),
    "open": Message("open"),
    "copy": Message("copy"),
    "show": Message("show"),
    "done": Message("done"),
    "reopen": Message("reopen"),
}

# --- Keys

ENTER = Message("Enter")
YES_KEY = Message("Yes")
NO_KEY = Message("No")
NO_ANSWER_KEY = Message("No answer")
KEY_NEXT = Message("Next")
KEY_MOVE = Message("move")
KEY_UNDO = Message("undo")
KEY_SELECT = Message("select")
KEY_NEW_LINE = Message("new line")
KEY_CLEAR = Message("clear")
KEY_CLEAR_OR_EMPTY = Message("clear / send empty")
KEY_DETAILS = Message("Details")
KEY_SCROLL = Message("scroll")

# --- URLs

FULL_URL = Message("Full URL:")
OPENING = Message("Opening {domain} in your browser.")
NOTHING_OPENS = Message("If no page opens, open this URL yourself:")
NO_BROWSER = Message("Could not open a browser.")
NO_BROWSER_OVER_SSH = Message("Could not open a browser over SSH.")
COPIED = Message("Link copied.")
NOT_COPIED = Message("Could not copy the link.")
OPEN_YOURSELF = Message("Open this URL on this or another device:")
SELECT_WHEN_FINISHED = Message('Select "I have finished" when you are done at {domain}.')
CONFIRM_WHEN_FINISHED = Message("Confirm this form when you have finished at {domain}.")
FINISHED = Message("{server} reports that you have finished.")

# --- Conversation: line mode and chats

COMMANDS_HINT = Message("Type /help for commands, or /decline or /cancel to stop.")
FIELD_POSITION = Message("Field {number} of {count}")
TYPE_ANSWER = Message("type an answer")
TYPE_CONFIRM = Message('Type "{word}" to continue.')
TYPE_NUMBER_OR_NAME = Message("type a number or a name")
TYPE_NAME = Message("type a name")
TYPE_NUMBERS_OR_NAMES = Message("type numbers or names, separated by commas")
TYPE_NAMES = Message("type names, separated by commas")
ENTER_ANSWER = Message("Enter: keep your answer")
ENTER_SUGGESTED = Message("Enter: use the suggested value")
ENTER_RESTORED = Message("Enter: use the restored draft")
ENTER_SKIPS = Message("Enter: do not provide")
SKIP = Message("/skip: do not provide")
TYPE_EMPTY = Message("Type /empty to send empty text.")
MORE_OPTIONS = Message("{count} more. Type /options to list all.")
YOUR_ANSWER = Message("Your answer")
USE_VALUE = Message("Use this value")
FIRST_FIELD = Message("This is the first field.")
OLD_BUTTON = Message("This button is no longer valid.")
NOT_ITS_ANSWER = Message("The answer was not for this request. Answer this one.")
QUOTES_LEGEND = Message("Quoted text comes from the server.")
PRESS_OPTION = Message("Select an option.")
PRESS_OPTIONS = Message('Select options, then "{button}".')
PRESS_FIELD = Message("Select the field to change.")
PRESS_CONFIRM = Message('Select "{button}" to continue.')
PRESS_BUTTON = Message("Use the buttons.")
PAGE_OF_OPTIONS = Message("Options {first} to {last} of {count}")
PREVIOUS_OPTIONS = Message("Previous options")
NEXT_OPTIONS = Message("More options")
PREVIOUS_FIELDS = Message("Previous fields")
NEXT_FIELDS = Message("More fields")
SHOW_ALL_OPTIONS = Message("Show all options")
USE_SELECTION = Message("Use selection")
SEND_EMPTY = Message("Send empty")
TYPE_IN_DIALOG = Message("Enter a value")
PRESS_ANSWER = Message('Select "{button}" to fill in the form.')
CHOICE_LABELS: Mapping[str, Message] = {
    **{str(name): message for name, message in URL_CHOICES.items()},
    "yes": YES_KEY,
    "no": NO_KEY,
    "send": SEND,
    "edit": Message("Edit"),
    "answer": Message("Answer"),
    "back": BACK,
    "confirm": Message("Confirm"),
    "remember": Message("Remember"),
}
TYPE_ONE_OF = Message("Type one of: {choices}")
TYPE_EDIT = Message('Type "edit" and a field number from 1 to {count}.')
HELP = Message("Type your answer and press Enter.")
HELP_COMMANDS: Mapping[str, Message] = {
    "/back": Message("return to the previous field"),
    "/skip": Message("do not provide this optional field"),
    "/empty": Message("send empty text or an empty list"),
    "/options": Message("list all options"),
    "/decline": Message("decline the request"),
    "/block": Message("decline and block this server"),
    "/cancel": Message("cancel the request (also Ctrl+C)"),
}
HELP_CANCEL = Message("cancel the request")
HELP_SLASH = Message("To enter text that begins with one of these commands, type another / before it.")
LINE_TOO_LONG = Message("The line is too long for this terminal and was ignored.")
KEYS_IGNORED = Message(
    "The line contained keys that have no effect here, such as arrows. It was ignored; type it again."
)
INPUT_IGNORED = Message("Text that was typed or pasted before this prompt was ignored.")
TYPE_DONE = Message("Type done when you have finished at {domain}.")

# --- Chats

REPLY = Message("Send your answer as a message.")
REPLY_WITH_COMMAND = Message("Send a command as a reply to this message:")
REPLY_TO_ONE = Message("Several requests are open. Reply to the message that you want to answer.")
CANNOT_SHOW = Message("A request from {server} cannot be shown here. It was cancelled.")
DIALOG_TITLE = Message("Your answers")
CONTINUED = Message("Continued below.")
CANNOT_CONTINUE = Message("The next message could not be sent. Try again.")

# --- Web pages

ERROR_TITLE = Message("Error: {title}")
EXPIRES_IN_TIME = Message("Expires in {time}")
CANCEL_INSTEAD = Message("Select Cancel if you do not want to answer.")
MORE_TIME = Message("More time")
TIME_EXTENDED = Message("You have more time. The request expires in {time}.")
DRAFT_SAVED = Message("Draft saved {time}")
DRAFT_RESTORED = Message("Your draft from {time} was restored.")
NO_CONNECTION = Message("No connection. What you entered stays on this page. Try again later.")
SIGNED_OUT = Message("You are signed out. What you entered stays on this page. Sign in in another tab.")
SHORTEN_TO_SEND = Message("Your answers are too long to be saved or sent. Shorten them.")
CHANGE = Message("Change")
SHOW_FULL_URL = Message("Show the full URL")
REMOVE = Message("Remove")
SEARCH_OPTIONS = Message("Search")
DO_NOT_PROVIDE = Message("Do not provide")
SELECT_OPTION = Message("Select…")
TIME_ZONE = Message("Time zone")
SELECT_TIME_ZONE = Message("Select your time zone.")
INCOMPLETE = Message("Complete this value.")
NOW_OPEN = Message("Now open {domain}")
AGREED_TO_OPEN = Message("You agreed to open {domain}. Nothing was opened yet.")
SEND_WITH_WARNINGS = Message("Send anyway")
OPEN_WITH_WARNINGS = Message("Open {domain} anyway")
ANSWER_SENT_TO = Message("Answer sent to {server}")
DECISIONS: Mapping[Action, Message] = {
    "accept": Message("You accepted."),
    "decline": Message("You declined."),
    "cancel": Message("You cancelled."),
}
REQUEST_CLOSED = Message("This request is closed")
CLOSED_BECAUSE: Mapping[str, Message] = {
    "answered": Message("This request was already answered."),
    "withdrawn": Message("{server} no longer needs an answer."),
    "expired": Message("This request has expired."),
    "orphaned": Message("The program that sent this request has stopped."),
}
CLOSE_PAGE = Message("You can close this page.")
REQUESTS = Message("Requests")
REQUESTS_COUNT = Message("Requests ({count})")
REQUESTS_MANY = Message("Requests ({count} or more)")
ALL_REQUESTS = Message("All requests")
CONFIRMATION = Message("confirmation")
ANSWERS = Message("{count} answer", "{count} answers", "count")
NO_PENDING_REQUESTS = Message("No pending requests")
HISTORY = Message("History")
NO_REQUESTS = Message("No requests yet")
OUTCOMES: Mapping[str, Message] = {
    "accept": Message("accepted"),
    "decline": Message("declined"),
    "cancel": Message("cancelled"),
    "withdrawn": Message("withdrawn"),
    "expired": Message("expired"),
    "orphaned": Message("program stopped"),
}
NEXT_PAGE = Message("Next page")
NOT_SIGNED_IN = Message("You are not signed in")
SIGN_IN = Message("Sign in and open this page again.")
NOT_FOUND = Message("Request not found")
MAY_HAVE_EXPIRED = Message("It may have expired, or it belongs to another user.")
NOT_SENT = Message("Your answer was not sent.")
UNAVAILABLE = Message("Requests are temporarily unavailable")
TRY_AGAIN = Message("Try again in a minute.")
TOO_LONG = Message("Your answers are too long")
SHORTEN = Message("They were not sent. Go back and shorten them.")
WENT_WRONG = Message("Something went wrong")
GO_BACK = Message("Go back and try again.")
OPEN_REQUEST = Message("Open the request")
REQUEST_SENT = Message("An MCP server sent a request. Open this URL in a browser on this computer: {url}")
REQUEST_ENDED = Message("Request from {server}: {outcome}")

# --- Answers given in advance

NOT_JSON = Message("{source} is not JSON: {reason}")
TWO_ANSWERS = Message("There are two answers for {name}.")
ANSWERS_SHAPE = Message(
    "{path} must contain an object with the values of one form, or a list of answers. Example: {example}"
)
ANSWER_SHAPE = Message(
    'Answer {number} must be an object with "action" (accept, decline or cancel) or "content" (only to accept), '
    'and optionally "message". Example: {example}'
)
ANSWER_MEMBER = Message('Answer {number} has the unknown member {name}. Use "message", "action" and "content".')
REQUEST_UNANSWERED = Message("This request of the server has no valid answer:")
ANSWER_UNLISTED = Message("An object contains the values of a form. For an answer, write a list: {example}")
NO_ANSWER_GIVEN = Message("No answer was given for it.")
ANSWER_UNUSED = Message("Answer {number} was not used.")
SENSITIVE_ARGUMENT = Message(
    "This field asks for sensitive data, and arguments are visible in the process list. "
    "Pass the value to --answers - (standard input)."
)
URL_STILL_REQUIRED = Message("The server still requires this URL, which was accepted without opening it.")
