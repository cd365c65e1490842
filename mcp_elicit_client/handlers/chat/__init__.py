"""
Requests in a chat: everything but the chat itself.

`ChatHandler` asks in any chat for which there is a `ChatPlatform`.  Slack and
Telegram are included; an adapter for another chat is one module.
"""

from mcp_elicit_client.handlers.chat.handler import ChatHandler
from mcp_elicit_client.handlers.chat.platform import (
    ChatButton,
    ChatError,
    ChatLimits,
    ChatMessage,
    ChatPlatform,
    Dialog,
    DialogField,
    DialogLimits,
    DialogValue,
    Paragraph,
    ParagraphKind,
    Reaction,
)
from mcp_elicit_client.presentation.descriptions import InputKind

__all__ = [
    "ChatButton",
    "ChatError",
    "ChatHandler",
    "ChatLimits",
    "ChatMessage",
    "ChatPlatform",
    "Dialog",
    "DialogField",
    "DialogLimits",
    "DialogValue",
    "InputKind",
    "Paragraph",
    "ParagraphKind",
    "Reaction",
]
