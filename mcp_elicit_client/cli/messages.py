"""
Texts of the command line, in English, as gettext message IDs.

Sentences for developers, such as those of scenarios, diagnostics and errors
in requests, are in English in every language.
"""

from __future__ import annotations

from mcp_elicit_client.core.messages import Message

# --- Errors

ERROR = Message("mcp-elicit: {reason}")
COMMAND_NOT_ACCEPTED = Message("Only `mcp-elicit call` accepts a command after `--`.")
SERVER_MISSING = Message("Pass either --url URL or -- COMMAND [ARG ...].")
CALLBACK_MISSING = Message("Pass a CALLBACK or --list.")
UNKNOWN_SCENARIO = Message("There is no scenario or group named {name}. Run `mcp-elicit check --list` to list them.")
NOT_JSON = Message("{source} is not JSON: {reason}")
NOT_UNICODE = Message("It is not Unicode text.")
NOT_AN_OBJECT = Message("{source} must be a JSON object.")
CANNOT_READ = Message("Cannot read {path}: {reason}")
CANNOT_WRITE = Message("Cannot write {path}: {reason}")
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
UNKNOWN_TOOL = Message("Unknown tool.")
ARGUMENTS_NOT_JSON = Message("The arguments are not JSON. Example: {example}")
ARGUMENTS_NOT_AN_OBJECT = Message("The arguments must be a JSON object.")

# --- Answers given in advance

OPTIONS_CONFLICT = Message("{first} cannot be combined with {second}.")
TOOL_MISSING = Message("{option} needs a TOOL.")
SET_SHAPE = Message("--set needs FIELD=VALUE.")
TWO_ANSWERS = Message("There are two answers for {name}.")
ANSWERS_SHAPE = Message(
    "{path} must contain an object with the values of one form, or a list of answers. Example: {example}"
)
ANSWER_SHAPE = Message(
    'Answer {number} must be an object with "action" (accept, decline or cancel) or "content" (only to accept), '
    'and optionally "message". Example: {example}'
)
REQUEST_UNANSWERED = Message("This request of the server has no valid answer:")
NO_ANSWER = Message("No answer was given for it.")
ANSWER_UNUSED = Message("Answer {number} was not used, because the server sent no request for it.")
SENSITIVE_ARGUMENT = Message(
    "This field asks for sensitive data, and arguments are visible in the process list. "
    "Pass the value to --answers - (standard input)."
)
OPEN_URL_HINT = Message("To accept the URL without opening it, pass --open-url none.")
URL_NOT_OPENED = Message("This URL was accepted, but not opened:")
URL_STILL_REQUIRED = Message("The server still requires this URL, which was accepted without opening it.")

# --- show and lint

NOTE = Message("Note: {text}")
ALLOWED = Message("{version}: allowed")
NOT_ALLOWED = Message("{version}: not allowed")
SEVERITY_ERROR = Message("error")
SEVERITY_WARNING = Message("warning")
SEVERITY_NOTE = Message("note")
REQUEST_SUPPORTED = Message("mcp-elicit supports this request.")
REQUEST_REJECTED = Message("mcp-elicit rejects this request: {reason}.")

# --- check

PROGRESS = Message("{done} of {count} scenario", "{done} of {count} scenarios", "count")

# --- audit

VERIFICATION_PASSED = Message("Verification passed: {count} line.", "Verification passed: {count} lines.", "count")
VERIFICATION_FAILED = Message(
    "Verification failed: {count} violation.", "Verification failed: {count} violations.", "count"
)
VIOLATION = Message("{file}, line {line}: {code}: {text}")
MORE_VIOLATIONS = Message("... and {count} more")
NO_LINE_MATCHES = Message("No line matches the key. Either the key is wrong, or the whole log was rewritten.")
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
USAGE = Message("usage: ")
EXIT_STATUS = Message("exit status:")
SUCCEEDED = Message("success: a request was answered, a tool succeeded, or a protocol version allows the request")
FAILED = Message(
    "failure: the request was not answered, the server or its tool failed, or no protocol version allows the request"
)
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
JUNIT = Message("also write the report as JUnit XML")
LIST = Message("list the scenarios without running them")
ALLOW_INCONCLUSIVE = Message("exit with status 0 if no scenario failed but some are inconclusive")
VERBOSE = Message("also list the scenarios that pass")

COMPLETION = Message("print the completion script of a shell")
COMPLETION_DESCRIPTION = Message("Print a script that completes commands and options. Load it in your shell:")
SHELL = Message("the shell")
