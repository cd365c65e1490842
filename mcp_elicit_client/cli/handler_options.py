"""How the person at this computer is asked."""

from __future__ import annotations

import argparse
import os

from mcp_elicit_client.cli.call import CallFailedError
from mcp_elicit_client.exceptions import MissingExtraError
from mcp_elicit_client.handlers.terminal import TerminalHandler
from mcp_elicit_client.typing import Handler


def add_browser(parser: argparse.ArgumentParser) -> None:
    """Give *parser* the option to ask in the browser."""
    parser.add_argument(
        "--browser", action="store_true", help="ask on a page in the browser; so does MCP_ELICIT_UI=browser"
    )


def wants_browser(options: argparse.Namespace) -> bool:
    """Tell whether to ask there."""
    return bool(options.browser) or os.environ.get("MCP_ELICIT_UI", "").strip().casefold() == "browser"


def handler_from_options(options: argparse.Namespace) -> Handler:
    """
    Return what asks the person here.

    Raises:
        CallFailedError: If it is not installed.
    """
    if not wants_browser(options):
        return TerminalHandler()
    from mcp_elicit_client.handlers.browser import BrowserHandler

    try:
        return BrowserHandler()
    except MissingExtraError as error:
        raise CallFailedError(str(error)) from None
