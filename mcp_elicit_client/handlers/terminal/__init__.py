"""
Terminal user interface: an interactive form, or line mode.

The interactive form needs the extra ``terminal``.  Line mode needs no extra
and works with screen readers and over any connection.
"""

from mcp_elicit_client.handlers.terminal.console import Console, EndOfInputError, InterruptedByUserError
from mcp_elicit_client.handlers.terminal.handler import TerminalHandler

__all__ = ["Console", "EndOfInputError", "InterruptedByUserError", "TerminalHandler"]
