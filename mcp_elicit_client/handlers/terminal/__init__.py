"""
Ask in the terminal, line by line.

Needs no extra, works with a screen reader and over any connection.
"""

from mcp_elicit_client.handlers.terminal.console import Console, EndOfInputError, InterruptedByUserError
from mcp_elicit_client.handlers.terminal.handler import TerminalHandler

__all__ = ["Console", "EndOfInputError", "InterruptedByUserError", "TerminalHandler"]
