"""
Ask in the terminal: with a form, or line by line.

The form takes the extra ``terminal``; line by line needs no extra, works with
a screen reader and over any connection.
"""

from mcp_elicit_client.handlers.terminal.handler import TerminalHandler
from mcp_elicit_client.handlers.terminal.line_mode import Console, EndOfInputError, InterruptedByUserError
from mcp_elicit_client.handlers.terminal.url import CopyUrl, OpenUrl

__all__ = ["Console", "CopyUrl", "EndOfInputError", "InterruptedByUserError", "OpenUrl", "TerminalHandler"]
