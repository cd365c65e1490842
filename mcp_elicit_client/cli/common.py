"""What the commands share: their errors and options, the width of the terminal, and the reading of JSON."""

from __future__ import annotations

import argparse
import dataclasses
import errno
import json
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from pydantic_core import from_json

from mcp_elicit_client.cli import messages
from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.limits import Limits
from mcp_elicit_client.core.messages import Message
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.core.url.inspect import UrlRules
from mcp_elicit_client.exceptions import RequestError, UnsafeUrlError
from mcp_elicit_client.presentation import quoting
from mcp_elicit_client.presentation.catalog import ENGLISH, MessageCatalog
from mcp_elicit_client.presentation.messages import NOT_JSON
from mcp_elicit_client.presentation.quoting import is_terminal, quote_name, terminal_width

SUSPENDED = 4
"""The exit status of a call that waits for answers."""

NOT_SUSPENDABLE = 5
"""The exit status of a call whose server sent a request that cannot be suspended."""

DEFAULT_TIMEOUT = 86_400.0
"""How long a suspended call can be answered, in seconds, if the server accepts its state that long."""

_MAX_FILE = 16 * 1024 * 1024
_WIDTH = 101
_MIN_WIDTH = 19
_END_OF_INPUT = "Ctrl+Z, Enter" if sys.platform == "win32" else "Ctrl+D"


def output_width() -> int:
    """Return the columns of the terminal or of ``COLUMNS``, the smaller of both; a default without them."""
    return max(terminal_width(_WIDTH) - 1, _MIN_WIDTH)


def wrap(text: str, indent: int = 0, hanging: int | None = None) -> str:
    """
    Return *text*, sanitized, in lines that fit the terminal.  Names in it are not broken.

    Args:
        text: The text.
        indent: The indentation of the first line.
        hanging: The indentation of the other lines; None for the same.
    """
    return quoting.wrap(sanitize_text(text, multiline=False), output_width(), indent, hanging)


def quote(text: str, margin: int = 0) -> str:
    """
    Return *text* of a server in marked lines that fit the terminal, with escapes for what its encoding does not have.

    Args:
        text: Sanitized text.
        margin: The columns that the caller writes before each line.
    """
    width = output_width() - margin
    return quoting.escape_for(getattr(sys.stdout, "encoding", None) or "utf-8", quoting.quote(text, width), width)


def describe_diagnostic(diagnostic: Diagnostic) -> str:
    """Return the message of *diagnostic* with the name of its field."""
    if diagnostic.field is None:
        return diagnostic.message
    return f"{quote_name(diagnostic.field)}: {diagnostic.message}"


def explain_refusal(error: RequestError, catalog: MessageCatalog) -> str:
    """Return why a request is refused, and the option that would allow it."""
    is_loopback = isinstance(error, UnsafeUrlError) and error.code == "loopback"
    return f"{error}. {catalog.text(messages.LOOPBACK_HINT)}" if is_loopback else str(error)


def report_unanswered(reason: str, catalog: MessageCatalog) -> None:
    """Print why a request was not answered."""
    text = catalog.text(messages.NOT_ANSWERED, reason=reason)
    print(catalog.text(messages.ERROR, reason=text), file=sys.stderr)


# --- Errors


class CommandError(Exception):
    """
    A command cannot do its work.

    Args:
        message: The message, or a sentence in English.
        parameters: The parameters of the message.
    """

    def __init__(self, message: Message | str, **parameters: object) -> None:
        super().__init__(message if isinstance(message, str) else message.text)
        self._message = message
        self._parameters = parameters

    def text(self, catalog: MessageCatalog) -> str:
        """Return the sentence in the language of *catalog*, sanitized: it may name a file, with any characters."""
        if isinstance(self._message, str):
            return sanitize_text(self._message, limit=None)
        shown = {
            name: catalog.text(value) if isinstance(value, Message) else value
            for name, value in self._parameters.items()
        }
        return sanitize_text(catalog.text(self._message, **shown), limit=None)


class UsageError(CommandError):
    """The command line is wrong, or a file cannot be used.  The exit status is 2."""


class CommandFailedError(CommandError):
    """
    The command failed.  The exit status is 1.

    Args:
        message: As in `CommandError`.
        code: A stable code, for commands that print JSON.
        parameters: As in `CommandError`.
    """

    def __init__(self, message: Message | str, *, code: str = "failed", **parameters: object) -> None:
        super().__init__(message, **parameters)
        self.code = code


class UnansweredError(CommandError):
    """The answers given in advance do not fit the server's requests.  The exit status is 3."""


def is_output_error(error: BaseException) -> bool:
    """Return True if the output cannot be written: its reader is gone, or the disk is full."""
    return isinstance(error, BrokenPipeError) or (isinstance(error, OSError) and error.errno == errno.ENOSPC)


def given_options(options: argparse.Namespace, names: Iterable[str]) -> list[str]:
    """Return those of *names*, such as ``--url``, that the options have."""
    values = ((name, getattr(options, name.removeprefix("--").replace("-", "_"))) for name in names)
    return [name for name, value in values if value not in (None, False, [])]


def url_rules(options: argparse.Namespace) -> UrlRules:
    """Return the URL rules that the options select."""
    return UrlRules(allow_loopback=options.allow_loopback)


def limits(options: argparse.Namespace) -> Limits:
    """Return the limits that the options select."""
    return Limits(**{each.name: getattr(options, each.name) for each in dataclasses.fields(Limits)})


# --- JSON documents that commands print


def print_document(document: Mapping[str, Any]) -> None:
    """Print *document* as JSON.  It is ASCII, so text of servers has no control characters."""
    print(json.dumps(document, indent=2))


def failure_data(error: CommandFailedError) -> dict[str, Any]:
    """Return why a command failed."""
    return {"status": "failed", "code": error.code, "message": error.text(ENGLISH)}


# --- JSON from files and arguments


def read_params(name: str, catalog: MessageCatalog) -> object:
    """
    Return the params of the request in a file: they alone, or the whole request.

    Args:
        name: The path; ``-`` for standard input.
        catalog: As in `read_file`.

    Raises:
        UsageError: If the file cannot be read or is not JSON.
    """
    data = read_file(name, catalog)
    found = parse_json(data, source_name(name))
    if isinstance(found, dict) and "message" not in found and isinstance(found.get("params"), dict):
        return found["params"]
    return found


def source_name(name: str) -> str:
    """Return what errors call the file *name*."""
    return "stdin" if name == "-" else name


def read_file(name: str, catalog: MessageCatalog) -> bytes:
    """
    Return what a file contains.

    Args:
        name: The path; ``-`` for standard input.
        catalog: The texts for a user who has to type it.

    Raises:
        UsageError: If the file cannot be read or is too large.
    """
    try:
        if name == "-":
            if is_terminal(sys.stdin):
                print(catalog.text(messages.TYPE_JSON, key=_END_OF_INPUT), file=sys.stderr)
            data = _standard_input().read(_MAX_FILE + 1)
        else:
            with Path(name).open("rb") as file:
                data = file.read(_MAX_FILE + 1)
    except OSError as error:
        raise UsageError(messages.CANNOT_READ, path=source_name(name), reason=error.strerror) from None
    if len(data) > _MAX_FILE:
        raise UsageError(messages.TOO_LARGE, path=source_name(name), max=_MAX_FILE)
    return data


def _standard_input() -> BinaryIO:
    if sys.stdin is None:  # it was closed before this process began
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    return sys.stdin.buffer


def parse_json(data: str | bytes, source: str) -> object:
    """
    Return the JSON value in *data*, which comes from *source*.

    Raises:
        UsageError: If it is not JSON.
    """
    reason: Message | str
    try:
        text = data.decode(json.detect_encoding(data)) if isinstance(data, bytes) else data
        return from_json(text, allow_inf_nan=False)
    except UnicodeDecodeError:
        reason = messages.NOT_UNICODE
    except ValueError as error:
        reason = str(error)
    raise UsageError(NOT_JSON, source=source, reason=reason)
