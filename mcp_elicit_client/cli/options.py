"""What the options of several commands mean: the handler, URL rules, and JSON from files and arguments."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from pydantic_core import from_json

from mcp_elicit_client.cli import messages
from mcp_elicit_client.cli.messages import text
from mcp_elicit_client.core.url.inspect import UrlRules
from mcp_elicit_client.exceptions import MissingExtraError
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.handlers.terminal import TerminalHandler
from mcp_elicit_client.typing import Handler

_MAX_FILE = 16 * 1024 * 1024


class UsageError(Exception):
    """The command line is wrong, or a file cannot be used.  The exit status is 2."""


class CommandFailedError(Exception):
    """The command failed.  The text is sanitized.  The exit status is 1."""


def wants_browser(options: argparse.Namespace) -> bool:
    """Return True if requests are shown in the browser."""
    return bool(options.browser) or os.environ.get("MCP_ELICIT_UI", "").strip().casefold() == "browser"


def interactive_handler(options: argparse.Namespace) -> Handler:
    """
    Return the handler that asks the user of this computer.

    Raises:
        CommandFailedError: If an extra is missing.
    """
    if not wants_browser(options):
        return TerminalHandler()
    from mcp_elicit_client.handlers.browser import BrowserHandler

    try:
        return BrowserHandler()
    except MissingExtraError as error:
        raise CommandFailedError(str(error)) from None


def handler_from_options(options: argparse.Namespace) -> Handler:
    """
    Return the handler that the options select.

    Raises:
        CommandFailedError: If an extra is missing.
    """
    return HeadlessHandler() if options.headless else interactive_handler(options)


def url_rules(options: argparse.Namespace) -> UrlRules:
    """Return the URL rules that the options select."""
    return UrlRules(allow_loopback=options.allow_loopback)


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
        raise UsageError(text(messages.CANNOT_READ, path=name, reason=error.strerror)) from None
    if len(data) > _MAX_FILE:
        raise UsageError(text(messages.TOO_LARGE, path=name, max=_MAX_FILE))
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
        reason = text(messages.NOT_UNICODE)
    except ValueError as error:
        reason = str(error)
    raise UsageError(text(messages.NOT_JSON, source=source, reason=reason))
