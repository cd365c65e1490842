"""
Texts of the command line, in English, as gettext message IDs.

Sentences for developers, such as those of scenarios, diagnostics and errors
in requests, are in English in every language.
"""

from __future__ import annotations

from mcp_elicit_client.core.messages import Message

# --- Errors

ERROR = Message("mcp-elicit: {reason}")
UNKNOWN_UI = Message("{variable} is unknown. Use one of these values, or unset the variable: {expected}")
COMMAND_NOT_ACCEPTED = Message("Only `mcp-elicit call` and `mcp-elicit answer` accept a command after `--`.")
SERVER_MISSING = Message("Pass either --url URL or -- COMMAND [ARG ...].")
SERVER_URL = Message("--url needs the URL of a server that begins with https:// or http://.")
CALLBACK_MISSING = Message("Pass a CALLBACK, --interface, --list or --verify.")
UNKNOWN_SCENARIO = Message("There is no scenario or group named {name}. Run `mcp-elicit check --list` to list them.")
NOT_UNICODE = Message("It is not Unicode text.")
NOT_AN_OBJECT = Message("{source} must be a JSON object.")
CANNOT_READ = Message("Cannot read {path}: {reason}")
CANNOT_WRITE = Message("Cannot write {path}: {reason}")
TYPE_JSON = Message("Type JSON. To end it, press {key} on an empty line.")
TOO_LARGE = Message("{path} is larger than {max} bytes.")
NOT_ANSWERED = Message("The request was not answered: {reason}")

# --- call and demo

SERVER_FAILED = Message("The server failed: {reason}")
CONNECTION_CLOSED = Message("It closed the connection.")
SERVER_INITIATED = Message("It sends requests in a way that protocol versions from 2026-07-28 on do not have.")
NEEDS_LEGACY = Message("If this server sends requests as before 2026-07-28, pass --legacy.")
TOOL_PROMPT = Message("Tool and JSON arguments (press Enter to quit): ")
REMEMBERED_HINT = Message(
    "{count} answer is remembered. Type /remembered to list it, or /forget 1.",
    "{count} answers are remembered. Type /remembered to list them, or /forget N.",
    "count",
)
FORGOTTEN = Message("{count} answer was forgotten.", "{count} answers were forgotten.", "count")
FORGET_WHICH = Message('Type "/forget all", or "/forget" and a number from 1 to {count}.')
UNKNOWN_TOOL = Message("Unknown tool. Type its name, or its number in the list.")
ARGUMENTS_NOT_JSON = Message("The arguments are not JSON. Example: {example}")
ARGUMENTS_NOT_AN_OBJECT = Message("The arguments must be a JSON object.")

# --- Answers given in advance

OPTIONS_CONFLICT = Message("{first} cannot be combined with {second}.")
TOOL_MISSING = Message("{option} needs a TOOL.")
SUSPEND_MISSING = Message("{option} needs --suspend.")
SET_SHAPE = Message("--set needs FIELD=VALUE.")
OPEN_URL_HINT = Message("To accept the URL without opening it, pass --open-url none.")
URL_NOT_OPENED = Message("This URL was accepted, but not opened:")

# --- Suspended calls

CALL_WAITS = Message("The call waits for {count} answer.", "The call waits for {count} answers.", "count")
NOT_SUSPENDABLE = Message(
    "The server sent a request that cannot be suspended, because it keeps the call open. The request was cancelled, "
    "and no user was asked. To answer in advance, pass --answers or --set (and --legacy, if the server needs it)."
)
CHOOSE_ANSWER = Message("Pass either FIELD=VALUE or --answers, or --accept, --decline, --cancel, --done or --continue.")
FIELD_SHAPE = Message("A value needs FIELD=VALUE.")
NOT_A_FORM = Message("This request asks you to open a URL. Open it, then pass --done; or pass --decline or --cancel.")
NOT_A_URL = Message("This request is a form. --done is only for URLs.")
VALUES_SHAPE = Message(
    "{path} must contain an object with the values of the form. To decline or cancel, pass --decline or --cancel. "
    "Example: {example}"
)
SEND_ANYWAY_HINT = Message("To send it, pass --send-anyway.")
IS_SENT = Message("Answer that is sent to {server}: {action}")
WOULD_BE_SENT = Message("Answer that would be sent to {server}: {action}")
INVALID_ANSWER = Message("The answer does not fit the request, and was not sent:")
UNKNOWN_REQUEST = Message(
    "There is no such request. It may have expired, or it belongs to another user. "
    "Run `mcp-elicit requests` to list the pending ones."
)
IF_NOT_CONTINUED = Message("If the call was not continued, run `{command}`.")
CONTINUED_ELSEWHERE = Message("Another process continues the call.")
CONTINUE_LATER = Message("The answers are stored. When the server is available, run `{command}`.")
STILL_PENDING = Message("The answer was not sent, and the request is still pending.")
CALL_LOST = Message("The server may have received the answer, so the call is not continued again.")
STATE_WAS_LOST = Message(
    "A server process starts again with each command, and this one does not accept the state of its predecessor. "
    "Use a server with HTTP, or pass --answers to `mcp-elicit call`."
)
CAN_BE_CONTINUED = Message("All requests of a call are answered, but the call was not continued. To continue it:")
SERVER_AGAIN = Message("The address of the server is not stored. Pass --url URL or -- COMMAND [ARG ...] again.")
OTHER_SERVER = Message("The call belongs to the server {name}. If this is the same server, pass that name to --name.")
VARIABLE_MISSING = Message("The server needs the environment variable {name}, which is not set.")
HEADER_SHAPE = Message("--header needs NAME=VARIABLE, with the name of an environment variable.")
HEADER_VALUE = Message(
    "The environment variable {name} cannot be sent as an HTTP header. "
    "Remove line breaks, spaces at its ends, and characters that are not ASCII."
)
UNKNOWN_STORE = Message("--store needs a file, or the URL of Redis or PostgreSQL.")
REQUEST_OF = Message("{id} from {server}, expires at {time}")
THE_SERVER = Message("The server")

# --- show and lint

NOTE = Message("Note: {text}")
LOOPBACK_HINT = Message("To allow it, pass --allow-loopback.")
ALLOWED = Message("{version}: allowed")
NOT_ALLOWED = Message("{version}: not allowed")
SEVERITY_ERROR = Message("error")
SEVERITY_WARNING = Message("warning")
SEVERITY_NOTE = Message("note")
REQUEST_SUPPORTED = Message("mcp-elicit supports this request.")
REQUEST_REJECTED = Message("mcp-elicit rejects this request: {reason}.")

# --- check

PROGRESS = Message(
    "{done} of {count} scenario, about {seconds} s left", "{done} of {count} scenarios, about {seconds} s left", "count"
)
REPORT_TYPE = Message("The type of the report {path} is unknown. Use one of: {suffixes}.")
REPORT_TWICE = Message("{path} is named for two reports. Name a separate file for each.")
NO_REPORT = Message("{path} is not a report of `mcp-elicit check`: {reason}")
REPORT_VERIFIED = Message("The report is unchanged.")
PAGE_DIFFERS = Message(
    "The data in the page is unchanged, but this version of mcp-elicit shows it in a different way. "
    "Rely only on the data."
)
REPORT_CHANGED = Message("The report was changed: its content does not match its hash.")

# --- audit

VERIFICATION_PASSED = Message("Verification passed: {count} line.", "Verification passed: {count} lines.", "count")
VERIFICATION_FAILED = Message(
    "Verification failed: {count} violation.", "Verification failed: {count} violations.", "count"
)
VIOLATION = Message("{file}, line {line}: {code}: {text}")
MORE_VIOLATIONS = Message("... and {count} more")
NO_LINE_MATCHES = Message("No line matches the key. Either the key is wrong, or the whole log was rewritten.")
KEY_MISSING = Message("Cannot read {path}: {reason}. Pass the key of the log with --key FILE.")
NOT_A_LOG = Message("{path} is not an audit log.")
CHECKPOINT = Message("Checkpoint: {checkpoint}")
LOST_EVENTS = Message("The log could not be written. Lost events: {count}")
INVALID_LINE = Message("(invalid line)")
TOTALS = Message("Requests: {count}. Median latency: {latency}.")
TOTALS_WITHOUT_LATENCY = Message("Requests: {count}.")
DAMAGE = Message("Lost events: {lost}. Invalid lines: {malformed}.")

# --- Help

DESCRIPTION = Message("Show, answer and check elicitation requests of MCP servers.")
COMMANDS = Message("commands")
OPTIONS = Message("options")
ARGUMENTS = Message("arguments")
LIMITS = Message("limits of requests and answers")
LIMITS_DESCRIPTION = Message(
    "Texts are limited in characters, fields and options in number. --max-request limits all texts of a request "
    "together, --max-depth the wrappers around a field ($ref, allOf), --max-nesting the depth of objects and arrays, "
    "and --max-integer the magnitude of whole numbers."
)
USAGE = Message("usage: ")
EXIT_STATUS = Message("exit status:")
SUCCEEDED = Message("success: a request was answered, a tool succeeded, or a protocol version allows the request")
FAILED = Message(
    "failure: the request was not answered, the server or its tool failed, or no protocol version allows the request"
)
CALL_SUCCEEDED = Message("the tool succeeded, or the tools were listed")
CALL_FAILED = Message("the server or its tool failed")
SHOW_SUCCEEDED = Message("the request was answered, or cancelled because of --headless")
SHOW_FAILED = Message("the request was not answered")
LINT_SUCCEEDED = Message("a protocol version allows the request")
LINT_FAILED = Message("no protocol version allows the request")
USAGE_ERROR = Message("usage error")
UNANSWERED = Message("a request had no valid answer in --answers or --set, or an answer was not used")
INTERRUPTED = Message("interrupted")
CHECK_SUCCEEDED = Message("every scenario passed or does not apply (with --allow-inconclusive: no scenario failed)")
CHECK_FAILED = Message("a scenario failed")
CHECK_INCONCLUSIVE = Message("no scenario failed, but some are inconclusive")
CHECK_USAGE_ERROR = Message("the callback cannot be loaded, or usage error")
AUDIT_SUCCEEDED = Message("success; for verify: the log is valid")
AUDIT_FAILED = Message("the log is not valid, or it cannot be verified")
AUDIT_USAGE_ERROR = Message("a file cannot be read, or usage error")

HELP = Message("show this help and exit")
VERSION = Message("show the version and exit")
LANGUAGE = Message("language of texts, such as de (default: LC_ALL, LANG)")
AS_JSON = Message("print JSON")

DEMO = Message("start the demo server and answer its requests")
AUTO = Message("accept default values and cancel the rest without asking")
CALL = Message("call a tool of a server and answer its requests")
CALL_DESCRIPTION = Message(
    "Connect to a server, call one of its tools, and answer its requests. "
    "Without TOOL: list the tools; in a terminal, choose among them."
)
TOOL = Message("tool to call: its name, or its number in the list")
TOOL_ARGUMENTS = Message("arguments of the tool, a JSON object")
URL = Message("URL of a server that uses streamable HTTP")
NAME = Message("server name to display")
LEGACY = Message("use a protocol version before 2026-07-28")
SHOW = Message("show the request in a file and print the answer as JSON")
DETAILED_JSON = Message("also print who answered, and the warnings")
FILE_SERVER = Message("the server of this file")
FILE = Message("params of elicitation/create, or the whole request, as JSON; - for standard input")
LINT = Message("check a request against each protocol version")
PROTOCOL_VERSION = Message("check only this protocol version")
BROWSER = Message("show requests in the browser (also: MCP_ELICIT_UI=browser)")
ANSWERS = Message("answer from a JSON file: the values of one form, or a list of answers; - for standard input")
SET = Message("answer a field with a text, as if typed (repeatable); values are visible in the process list")
DECLINE_ALL = Message("decline every request")
CANCEL_ALL = Message("cancel every request")
OPEN_URL = Message("accept URLs without opening them")
SUSPEND = Message("store the call while its requests are pending, and print them as JSON")
SUSPEND_TIMEOUT = Message("seconds for which the call can be answered, if the server allows it (default: {count})")
STORE = Message("file, or URL of Redis or PostgreSQL, with suspended calls (default: a file of your account)")
CALL_USER = Message("user that suspended calls belong to (default: the name of your account)")
ENV = Message("environment variable to pass to the server (repeatable)")
HEADER = Message("HTTP header whose value is in an environment variable (repeatable)")
SUSPENDED = Message("the call waits for answers, which the output lists")
PUSHED = Message("the server sent a request that cannot be suspended")
LIST_REQUESTS = Message("list the requests of suspended calls")
LISTED = Message("success")
STORE_FAILED = Message("the store cannot be used")
ANSWER_REQUEST = Message("answer a request of a suspended call, and continue the call")
ANSWER_DESCRIPTION = Message(
    "Answer a request of `mcp-elicit call --suspend`, and continue the call if no other request is pending. "
    "What is sent is printed first. Fields without a value have their default value, or are omitted. "
    "Arguments are visible in the process list: pass sensitive values with --answers - (standard input)."
)
REQUEST_ID = Message("ID of the request; with --continue also of the call")
FIELD_VALUE = Message("text of a field, as if typed; visible in the process list")
VALUES_FILE = Message("values of the form, a JSON object in a file; - for standard input")
ACCEPT_DEFAULTS = Message("accept the form with its default values")
DECLINE_REQUEST = Message("decline the request")
CANCEL_REQUEST = Message("cancel the request")
URL_DONE = Message("accept a URL that you have opened; it is never opened by this command")
CONTINUE = Message("continue a call whose requests are all answered")
SEND_ANYWAY_OPTION = Message("send an answer that seems to contain sensitive data")
DRY_RUN = Message("print what would be sent, without sending it")
ANSWERED = Message("the call was continued and succeeded, or the answer was stored")
ANSWER_FAILED = Message("the request is not pending, or the server or its tool failed")
ANSWER_INVALID = Message("the answer does not fit the request, which is still pending")
HEADLESS = Message("cancel every request without asking")
ALLOW_LOOPBACK = Message("allow URLs on this computer")
MAXIMUM = Message("default: {count}")
NO_PATTERNS = Message("do not check regular expressions")

AUDIT = Message("verify or read an audit log")
AUDIT_VERIFY = Message("verify that a log was not changed")
AUDIT_TAIL = Message("print the last events without verification")
AUDIT_STATS = Message("count the events without verification")
ROTATED_FILES = Message("Rotated files beside the log are included.")
LOG = Message("the log")
KEY = Message("file with the key in hexadecimal (default: beside the log)")
CHECKPOINT_OPTION = Message("checkpoint that the log must contain")
EVENT_COUNT = Message("number of events (default: {count})")
FOLLOW = Message("also print new events")
EVENT_USER = Message("only events of this user, as the host application calls it")

CHECK = Message("test an elicitation callback")
CHECK_DESCRIPTION = Message(
    "Send requests of correct and hostile servers to an elicitation callback, and check the answers and what the "
    "process does. The callback runs in other processes, which are stopped if they hang."
)
USER_HOOK = Message(
    "--user MODULE:CALLABLE names the user hook. It is called with a UserAction before each request and plays the "
    "user of the callback; see docs/check.md. Without it, only scenarios that need no user are run."
)
CALLBACK = Message("MODULE:CALLABLE or FILE.py:CALLABLE")
HOOK = Message("the user hook, in the same form")
SHAPE = Message("parameters of the callback (default: sdk)")
SHOWN_SERVER = Message("server name that the callback shows")
ONLY = Message("run only this scenario, or this group")
ANSWER_TIMEOUT = Message("maximum time for one answer, in seconds")
SCENARIO_TIMEOUT = Message("maximum time for one scenario, in seconds")
SILENCE = Message("seconds for which a user who says nothing is watched (default: 5)")
INTERFACE = Message("instead of CALLBACK: test a user interface of this package, with a scripted person")
REPORT = Message("also write a report: .json, .html or .xml (JUnit); repeatable")
VERIFY = Message("compare the hash in a report with its content")
JUNIT = Message("also write the report as JUnit XML")
LIST = Message("list the scenarios without running them")
ALLOW_INCONCLUSIVE = Message("exit with status 0 if no scenario failed but some are inconclusive")
VERBOSE = Message("also list the scenarios that pass")

COMPLETION = Message("print the completion script of a shell")
COMPLETION_DESCRIPTION = Message("Print a script that completes commands and options. Load it in your shell:")
SHELL = Message("the shell")
