"""The ``mcp-elicit`` command and its exit status."""

from __future__ import annotations

import argparse
import errno
import io
import json
import logging
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from mcp_elicit_client.cli import messages
from mcp_elicit_client.cli.common import (
    CommandError,
    CommandFailedError,
    UnansweredError,
    UsageError,
    explain_refusal,
    failure_data,
    is_output_error,
    print_document,
)
from mcp_elicit_client.cli.options import make_parser
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.exceptions import RequestError
from mcp_elicit_client.presentation.catalog import MessageCatalog, catalog_of_environment

__all__ = ["main"]

_FAILED = 1
_USAGE_ERROR = 2
_UNANSWERED = 3
_INTERRUPTED = 130
_TAKES_COMMAND = ("call", "answer")
"""The commands that take the command of a server after ``--``."""


def main(argv: Sequence[str] | None = None) -> int:
    """
    Run the command.

    Args:
        argv: The arguments; None for those of the process.

    Returns:
        The exit status.
    """
    _configure_output()
    if argv is None:  # this is the program, and not a function of another one
        for number in {signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}:  # Windows has no SIGHUP
            if signal.getsignal(number) is not signal.SIG_IGN:  # as `nohup` wants it
                signal.signal(number, _interrupt)
    try:
        return _run_with_output(list(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return _INTERRUPTED


def _interrupt(number: int, frame: FrameType | None) -> None:
    """
    Handle the signals to terminate, and that the terminal was closed, as Ctrl+C.

    Requests are cancelled, servers end, and the terminal gets its mode back.
    """
    handler = signal.getsignal(signal.SIGINT)
    (handler if callable(handler) else signal.default_int_handler)(number, frame)


def _run_with_output(arguments: list[str]) -> int:
    """Run the command, and write all of its output; return the exit status."""
    catalog = _catalog(arguments[: _end_of_options(arguments)])
    if sys.stdout is None:  # it was closed before this process began
        return _report_output(os.strerror(errno.EBADF), catalog)
    try:
        try:
            return _run(arguments, catalog)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()  # Python would complain if it failed at the exit
    except OSError as error:
        return _end_output(error, catalog)


def _run(arguments: list[str], catalog: MessageCatalog) -> int:
    options = _parse(arguments, catalog)
    _configure_logging()
    try:
        if options.server_command and options.command not in _TAKES_COMMAND:
            raise UsageError(messages.COMMAND_NOT_ACCEPTED)  # noqa: TRY301 -- printed as the other errors
        return int(options.run(options))
    except UsageError as error:
        return _fail(error.text(catalog), catalog, _USAGE_ERROR)
    except UnansweredError as error:
        return _fail(error.text(catalog), catalog, _UNANSWERED)
    except CommandFailedError as error:
        _print_failure(error, options)
        return _fail(error.text(catalog), catalog, _FAILED)
    except CommandError as error:
        return _fail(error.text(catalog), catalog, _FAILED)
    except RequestError as error:
        return _fail(explain_refusal(error, catalog), catalog, _FAILED)


def _catalog(arguments: Sequence[str]) -> MessageCatalog:
    """Return the texts in the language that *arguments* name, or in that of the environment: errors are in it."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--language", nargs="?")
    language = parser.parse_known_args(arguments)[0].language
    return catalog_of_environment() if language is None else MessageCatalog.for_language(language)


def _end_of_options(arguments: Sequence[str]) -> int:
    """Return where the command of the server begins: at ``--``, or after all *arguments*."""
    return arguments.index("--") if "--" in arguments else len(arguments)


def _parse(arguments: list[str], catalog: MessageCatalog) -> argparse.Namespace:
    """Parse *arguments*; the server's command after ``--`` becomes `server_command`."""
    at = _end_of_options(arguments)
    options, rest = make_parser(catalog).parse_known_args(arguments[:at])
    if rest and (not hasattr(options, "fields") or any(each.startswith("-") for each in rest)):
        lacks_dashes = options.command in _TAKES_COMMAND and at == len(arguments) and not rest[0].startswith("-")
        hint = ". Write -- before the command of a server" if lacks_dashes else ""
        options.parser.error(f"unrecognized arguments: {' '.join(rest)}{hint}")
    if rest:  # argparse takes fields only before the options
        options.fields += rest
    options.server_command = arguments[at + 1 :]
    options.catalog = catalog
    return options


def _print_failure(error: CommandFailedError, options: argparse.Namespace) -> None:
    """Print *error* as JSON, if the command prints its result as JSON: as a document, or on one line."""
    if getattr(options, "prints_document", False) or getattr(options, "suspend", False):
        print_document(failure_data(error))
    elif getattr(options, "json", False):
        print(json.dumps(failure_data(error)))


def _fail(reason: str, catalog: MessageCatalog, status: int) -> int:
    print(catalog.text(messages.ERROR, reason=reason), file=sys.stderr)
    return status


def _end_output(error: OSError, catalog: MessageCatalog) -> int:
    """Report that the disk is full, but not that the reader of the output is gone; return the exit status."""
    if not is_output_error(error):
        raise error
    sys.stdout = None  # Python must not complain when it flushes the stream
    if isinstance(error, BrokenPipeError):
        return _FAILED
    return _report_output(error.strerror, catalog)


def _report_output(reason: str | None, catalog: MessageCatalog) -> int:
    return _fail(catalog.text(messages.CANNOT_WRITE, path="stdout", reason=reason), catalog, _FAILED)


class _SanitizingFormatter(logging.Formatter):
    """Sanitizes log lines, which may quote a server, and shows exceptions without tracebacks."""

    def format(self, record: logging.LogRecord) -> str:
        return sanitize_text(super().format(record))

    def formatException(self, ei: Any) -> str:  # noqa: N802 -- as in logging
        return traceback.format_exception_only(ei[1])[0].partition("\n")[0]


class _RepetitionFilter(logging.Filter):
    """Drops a line that is the same as the one before: a server can cause any number of them."""

    def __init__(self, formatter: logging.Formatter) -> None:
        super().__init__()
        self._formatter = formatter
        self._last = ""

    def filter(self, record: logging.LogRecord) -> bool:
        before, self._last = self._last, self._formatter.format(record)
        return self._last != before


def _concerns_no_output(record: logging.LogRecord) -> bool:
    """Return False if *record* reports that the output cannot be written, which `_end_output` does once."""
    error = record.exc_info[1] if record.exc_info else None
    return error is None or not is_output_error(error)


def _configure_output() -> None:
    """
    Escape characters that the encoding of the output does not have, as Python does for errors.

    If errors have no output, it is replaced: Python would print them to standard output.
    """
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 -- used until the process ends
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _configure_logging() -> None:
    handler = logging.StreamHandler()
    formatter = _SanitizingFormatter("%(levelname)s: %(message)s")
    handler.setFormatter(formatter)
    handler.addFilter(_concerns_no_output)
    handler.addFilter(_RepetitionFilter(formatter))
    logging.basicConfig(level=logging.ERROR, handlers=[handler])
    warnings.simplefilter("ignore")
