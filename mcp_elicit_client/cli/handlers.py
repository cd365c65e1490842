"""The handler that the options of a command select."""

from __future__ import annotations

import argparse

from mcp_elicit_client.cli import messages
from mcp_elicit_client.cli.common import CommandFailedError, UsageError
from mcp_elicit_client.exceptions import MissingExtraError
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.handlers.terminal import TerminalHandler
from mcp_elicit_client.handlers.terminal.handler import USER_INTERFACES, chosen_interface
from mcp_elicit_client.typing import Handler


def wants_browser(options: argparse.Namespace) -> bool:
    """
    Return True if requests are shown in the browser.

    Raises:
        UsageError: If ``MCP_ELICIT_UI`` has an unknown value.
    """
    choice = chosen_interface()
    if choice and choice not in USER_INTERFACES:
        raise UsageError(messages.UNKNOWN_UI, variable=f"MCP_ELICIT_UI={choice}", expected=", ".join(USER_INTERFACES))
    return bool(options.browser) or choice == "browser"


def interactive_handler(options: argparse.Namespace) -> Handler:
    """
    Return the handler that asks the user of this computer.

    Raises:
        CommandFailedError: If an extra is missing.
        UsageError: If ``MCP_ELICIT_UI`` has an unknown value.
    """
    if not wants_browser(options):
        return TerminalHandler(messages=options.catalog)
    from mcp_elicit_client.handlers.browser import BrowserHandler

    try:
        return BrowserHandler(messages=options.catalog if options.language else None)
    except MissingExtraError as error:
        raise CommandFailedError(str(error)) from None


def handler_from_options(options: argparse.Namespace) -> Handler:
    """
    Return the handler that the options select.

    Raises:
        CommandFailedError: If an extra is missing.
        UsageError: If ``MCP_ELICIT_UI`` has an unknown value, or the options
            exclude each other.
    """
    if options.headless and options.browser:
        raise UsageError(messages.OPTIONS_CONFLICT, first="--headless", second="--browser")
    return HeadlessHandler() if options.headless else interactive_handler(options)
