"""
Ask in the terminal: with a form, or line by line.

The form takes the extra ``terminal``; line by line needs no extra, works with
a screen reader and over any connection.
"""

from mcp_elicit_client.handlers.terminal.console import Console, EndOfInputError, InterruptedByUserError
from mcp_elicit_client.handlers.terminal.handler import TerminalHandler

__all__ = ["Console", "EndOfInputError", "InterruptedByUserError", "TerminalHandler"]
