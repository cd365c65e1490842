"""
The interactive form of the terminal; it needs the extra ``terminal``.

The themes are here.  Importing this package does not import prompt_toolkit.
"""

from mcp_elicit_client.handlers.terminal.interactive.theme import Theme

__all__ = ["Theme"]
