"""What the commands share: their texts, their errors, and the reading of JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pydantic_core import from_json

from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.text import sanitize_text

_MAX_FIELD_NAME = 80
_MAX_FILE = 16 * 1024 * 1024

# --- Texts, in English only.  Pairs are a singular and a plural.  The help texts are in the package's `__init__`.

# errors
ERROR = "mcp-elicit: {reason}"
COMMAND_NOT_ACCEPTED = "Only `mcp-elicit call` accepts a command after `--`."
SERVER_MISSING = "Pass either --url URL or -- COMMAND [ARG ...]."
CALLBACK_MISSING = "Pass a CALLBACK or --list."
UNKNOWN_SCENARIO = "There is no scenario or group named {name}. Run `mcp-elicit check --list` to list them."
NOT_JSON = "{source} is not JSON: {reason}"
NOT_UNICODE = "It is not Unicode text."
NOT_AN_OBJECT = "{source} must be a JSON object."
CANNOT_READ = "Cannot read {path}: {reason}"
CANNOT_WRITE = "Cannot write {path}: {reason}"
TOO_LARGE = "{path} is larger than {max} bytes."

# call
SERVER_FAILED = "The server failed: {reason}"
CONNECTION_CLOSED = "It closed the connection."
NEEDS_LEGACY = "If this server sends requests as before 2026-07-28, pass --legacy."
TOOL_PROMPT = "Tool and JSON arguments (press Enter to quit): "
UNKNOWN_TOOL = "Unknown tool."
ARGUMENTS_NOT_JSON = "The arguments are not JSON. Example: {example}"
ARGUMENTS_NOT_AN_OBJECT = "The arguments must be a JSON object."

# show and lint
NOTE = "Note: {text}"
ALLOWED = "{version}: allowed"
NOT_ALLOWED = "{version}: not allowed"
REQUEST_SUPPORTED = "mcp-elicit supports this request."
REQUEST_REJECTED = "mcp-elicit rejects this request: {reason}."

# check
PROGRESS = "{done} of {count} scenarios"
USER_SKIPPED = "Scenarios that need a user were skipped. Pass --user to run them."

# audit
VERIFICATION_PASSED = ("Verification passed: {count} line.", "Verification passed: {count} lines.")
VERIFICATION_FAILED = ("Verification failed: {count} violation.", "Verification failed: {count} violations.")
MORE_VIOLATIONS = "... and {count} more"
NO_LINE_MATCHES = "No line matches the key. Either the key is wrong, or the whole log was rewritten."
CHECKPOINT = "Checkpoint: {checkpoint}"
LOST_EVENTS = "The log could not be written. Lost events: {count}"
INVALID_LINE = "(invalid line)"
TOTALS = "Requests: {count}. Median latency: {latency}."
TOTALS_WITHOUT_LATENCY = "Requests: {count}."
DAMAGE = "Lost events: {lost}. Invalid lines: {malformed}."


def describe_diagnostic(diagnostic: Diagnostic) -> str:
    """Return the message of *diagnostic* with the name of its field."""
    if diagnostic.field is None:
        return diagnostic.message
    return f"{quote_name(diagnostic.field)}: {diagnostic.message}"


def quote_name(name: str) -> str:
    """Return a name that a server spelled in quotation marks, which it cannot contain: sanitized, cut, in one line."""
    shown = sanitize_text(name, limit=_MAX_FIELD_NAME, multiline=False).replace('"', "'")
    return f'"{shown}"'


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
        raise UsageError(CANNOT_READ.format(path=name, reason=error.strerror)) from None
    if len(data) > _MAX_FILE:
        raise UsageError(TOO_LARGE.format(path=name, max=_MAX_FILE))
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
        reason = NOT_UNICODE
    except ValueError as error:
        reason = str(error)
    raise UsageError(NOT_JSON.format(source=source, reason=reason))
