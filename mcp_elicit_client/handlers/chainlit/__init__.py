"""
Requests in Chainlit: an element in the chat, with a form or buttons.

Requires the extra ``chainlit``.
"""

from mcp_elicit_client.handlers.chainlit.handler import ChainlitHandler

__all__ = ["ChainlitHandler"]
