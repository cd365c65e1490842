"""
Ask in the terminal with a form: needs the extra ``terminal``.

What a host may want to change is here, and imports nothing heavy: the colours
and the texts.
"""

from mcp_elicit_client.handlers.terminal.interactive.old_messages import ENGLISH, MessageCatalog
from mcp_elicit_client.handlers.terminal.interactive.old_messages_de import GERMAN
from mcp_elicit_client.handlers.terminal.interactive.theme import DARK, LIGHT, PLAIN, Theme, theme_of

__all__ = ["DARK", "ENGLISH", "GERMAN", "LIGHT", "PLAIN", "MessageCatalog", "Theme", "theme_of"]
