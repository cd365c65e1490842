"""
The conversation: a request as messages and replies, for line mode and chats.

`start_conversation` returns a `Conversation` without input and output.  Show
each `Turn` that it returns, wait for what the user does, and pass that on:
``reply`` for typed text, ``press`` for a button, ``give`` for a widget of the
platform.  The conversation ends with the turn that has an answer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeAlias

from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.conversation.form import FormConversation
from mcp_elicit_client.presentation.conversation.turns import (
    LINES,
    AnswerRow,
    Button,
    Effect,
    HostText,
    Link,
    OptionList,
    Part,
    ServerText,
    Style,
    Turn,
)
from mcp_elicit_client.presentation.conversation.url import UrlConversation
from mcp_elicit_client.presentation.form_input import FieldInput
from mcp_elicit_client.presentation.input_parsing import InputContext
from mcp_elicit_client.typing import FormRequest, Request

__all__ = [
    "AnswerRow",
    "Button",
    "Conversation",
    "Effect",
    "FormConversation",
    "HostText",
    "Link",
    "OptionList",
    "Part",
    "ServerText",
    "Style",
    "Turn",
    "UrlConversation",
    "start_conversation",
]

Conversation: TypeAlias = FormConversation | UrlConversation


def start_conversation(  # noqa: PLR0913 -- by keyword
    request: Request,
    catalog: MessageCatalog,
    context: InputContext,
    *,
    draft: Mapping[str, FieldInput] | None = None,
    effects: Collection[Effect] = frozenset[Effect]({"open"}),
    style: Style = LINES,
) -> Conversation:
    """
    Return the conversation about *request*.

    Args:
        request: The request.
        catalog: The texts.
        context: The user's locale and time zone.
        draft: What the user had entered before, by field name.
        effects: What the platform can do with a URL.
        style: How the conversation is held.
    """
    if isinstance(request, FormRequest):
        return FormConversation(request, catalog, context, draft=draft, style=style)
    return UrlConversation(request, catalog, time_zone=context.time_zone, effects=effects, style=style)
