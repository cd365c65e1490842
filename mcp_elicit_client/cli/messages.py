"""The texts that the commands print, as gettext message IDs.  The help texts are in `parser`."""

from __future__ import annotations

from typing import Any

from mcp_elicit_client.core.messages import Message, format_message

# errors
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

# call
SERVER_FAILED = Message("The server failed: {reason}")
CONNECTION_CLOSED = Message("It closed the connection.")
NEEDS_LEGACY = Message("If this server sends requests as before 2026-07-28, pass --legacy.")
TOOL_PROMPT = Message("Tool and JSON arguments (press Enter to quit): ")
UNKNOWN_TOOL = Message("Unknown tool.")
ARGUMENTS_NOT_JSON = Message("The arguments are not JSON. Example: {example}")
ARGUMENTS_NOT_AN_OBJECT = Message("The arguments must be a JSON object.")

# show and lint
NOTE = Message("Note: {text}")
ALLOWED = Message("{version}: allowed")
NOT_ALLOWED = Message("{version}: not allowed")
REQUEST_SUPPORTED = Message("mcp-elicit supports this request.")
REQUEST_REJECTED = Message("mcp-elicit rejects this request: {reason}.")

# check
PROGRESS = Message("{done} of {count} scenarios")
USER_SKIPPED = Message("Scenarios that need a user were skipped. Pass --user to run them.")

# audit
VERIFICATION_PASSED = Message("Verification passed: {count} line.", "Verification passed: {count} lines.", "count")
VERIFICATION_FAILED = Message(
    "Verification failed: {count} violation.", "Verification failed: {count} violations.", "count"
)
MORE_VIOLATIONS = Message("... and {count} more", "... and {count} more", "count")
NO_LINE_MATCHES = Message("No line matches the key. Either the key is wrong, or the whole log was rewritten.")
CHECKPOINT = Message("Checkpoint: {checkpoint}")
LOST_EVENTS = Message("The log could not be written. Lost events: {count}")
INVALID_LINE = Message("(invalid line)")
TOTALS = Message("Requests: {count}. Median latency: {latency}.")
TOTALS_WITHOUT_LATENCY = Message("Requests: {count}.")
DAMAGE = Message("Lost events: {lost}. Invalid lines: {malformed}.")


def text(message: Message, **parameters: Any) -> str:
    """Return *message* in English with its *parameters*."""
    return format_message(message, parameters)
