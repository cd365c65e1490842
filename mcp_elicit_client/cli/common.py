"""What the commands share: their texts, their errors, and the reading of JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.messages import Message, format_message
from mcp_elicit_client.core.text import sanitize_text

_MAX_FIELD_NAME = 80
_MAX_FILE = 16 * 1024 * 1024

# --- Texts as gettext message IDs.  The help texts are in the package's `__init__`.

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


def describe_diagnostic(diagnostic: Diagnostic) -> str:
    """Return the message of *diagnostic* with the name of its field."""
    if diagnostic.field is None:
        return diagnostic.message
    return f"{sanitize_text(diagnostic.field, limit=_MAX_FIELD_NAME, multiline=False)}: {diagnostic.message}"


# --- Errors


class UsageError(Exception):
    """The command line is wrong, or a file cannot be used.  The exit status is 2."""


class CommandFailedError(Exception):
    """The command failed.  The text is sanitized.  The exit status is 1."""


# --- JSON from files and arguments


def read_params(name: str) -> object:
    """
    Return the params of the request in a file: they alone, or the whole request.

    Args:
        name: The path; ``-`` for standard input.

    Raises:
        UsageError: If the file cannot be read or is not JSON.
    """
    try:
        if name == "-":
            data = sys.stdin.buffer.read(_MAX_FILE + 1)
        else:
            with Path(name).open("rb") as file:
                data = file.read(_MAX_FILE + 1)
    except OSError as error:
        raise UsageError(text(CANNOT_READ, path=name, reason=error.strerror)) from None
    if len(data) > _MAX_FILE:
        raise UsageError(text(TOO_LARGE, path=name, max=_MAX_FILE))
    found = parse_json(data, name)
    if isinstance(found, dict) and "message" not in found and isinstance(found.get("params"), dict):
        return found["params"]
    return found


def parse_json(data: str | bytes, source: str) -> object:
    """
    Return the JSON value in *data*, which comes from *source*.

    Raises:
        UsageError: If it is not JSON.
    """
    try:
        return from_json(data.decode(json.detect_encoding(data)) if isinstance(data, bytes) else data)
    except UnicodeDecodeError:
        reason = text(NOT_UNICODE)
    except ValueError as error:
        reason = str(error)
    raise UsageError(text(NOT_JSON, source=source, reason=reason))
