"""`ChainlitHandler`: an element in the chat, which shows text, buttons and forms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mcp_elicit_client.exceptions import MissingExtraError
from mcp_elicit_client.handlers.chat.handler import ChatHandler
from mcp_elicit_client.handlers.chat.platform import (
    ChatError,
    ChatLimits,
    ChatMessage,
    DialogLimits,
    DialogValue,
    Paragraph,
)
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import ENGLISH, MessageCatalog

try:
    import chainlit
    from chainlit.context import ChainlitContext, context_var
    from chainlit.session import ws_sessions_id
    from starlette.responses import FileResponse
    from starlette.routing import Route
except ImportError:
    raise MissingExtraError("chainlit", "a chat in Chainlit") from None

ELEMENT = "McpElicitation"
"""The name of the element, and of the action that it calls."""

_TEXTS = {
    "search": messages.SEARCH_OPTIONS,
    "none": messages.NO_MATCHES,
    "clear": messages.DO_NOT_PROVIDE,
    "failed": messages.CANNOT_CONTINUE,
}
_SOURCE = Path(__file__).with_name(f"{ELEMENT}.jsx")
_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+.!|~$&:@-])")

LIMITS = ChatLimits(
    max_text=100_000,
    max_label=200,
    max_options=20,
    max_input=20_000,
    dialog=DialogLimits(
        max_fields=200,
        max_options=10_000,
        max_option=1_010,
        max_label=210,
        max_hint=2_000,
        max_input=20_000,
        max_text=10_000,
        max_all_options=20_000,
    ),
)
"""What the element shows: everything, within the limits of a request."""


class ChainlitHandler(ChatHandler):
    """
    Asks users in their Chainlit chat, with an element that shows the form.

    Pass `user` as the user of a request.  It is the user who logged in, or
    the chat itself if the app has no login.  Others cannot answer.  If the
    user has no open chat, the answer is a cancel.

    Args:
        options: As for `ChatHandler`.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(_Chainlit(options.get("messages", ENGLISH)), **options)
        chainlit.action_callback(ELEMENT)(self._on_action)
        _serve_element()

    @staticmethod
    def user() -> str:
        """Return the user of the current chat.  Call it in functions that Chainlit calls."""
        return _user_of(context_var.get().session)

    async def _on_action(self, action: Any) -> dict[str, Any]:
        person, given = self.user(), action.payload
        try:
            data, values = str(given["data"]), given.get("values")
            entered = None if values is None else {str(name): _value(each) for name, each in values.items()}
        except (ValueError, TypeError, LookupError, AttributeError):
            return {}
        return asdict(await (self.press(person, data) if entered is None else self.submit(person, data, entered)))


class _Chainlit:
    limits = LIMITS

    def __init__(self, catalog: MessageCatalog) -> None:
        self._catalog = catalog

    async def send(self, person: str, message: ChatMessage) -> str:
        with _chat_of(person) as session:
            element = chainlit.CustomElement(name=ELEMENT, props=self._props(message))
            sent = await chainlit.Message(_MARKUP.sub(r"\\\1", message.title), elements=[element]).send()
            return f"{session.id}/{sent.id}/{element.id}"

    async def edit(self, person: str, message_id: str, message: ChatMessage) -> None:
        session_id, for_id, element_id = message_id.split("/")
        with _chat_of(person, session_id):
            props = self._props(message)
            await chainlit.CustomElement(id=element_id, for_id=for_id, name=ELEMENT, props=props).update()

    def _props(self, message: ChatMessage) -> dict[str, Any]:
        """Return what the element shows: the text below the title, and the buttons."""
        paragraphs = message.paragraphs
        if paragraphs and paragraphs[0] == Paragraph("heading", message.title):
            paragraphs = paragraphs[1:]
        return {
            "paragraphs": [asdict(each) for each in paragraphs],
            "buttons": [asdict(each) for each in message.buttons],
            "texts": {name: self._catalog.text(text) for name, text in _TEXTS.items()},
        }


def _user_of(session: Any) -> str:
    return str(session.user.identifier if session.user else session.id)


@contextmanager
def _chat_of(person: str, session_id: str = "") -> Iterator[Any]:
    """Work in an open chat of *person*: the current one, if possible, or the one with *session_id*."""
    current = context_var.get(None)
    chats = [*ws_sessions_id.values(), *([] if current is None else [current.session])]
    for session in reversed(chats):
        if session_id in ("", session.id) and _user_of(session) == person and _is_open(session):
            break
    else:
        raise ChatError("the user has no open chat in Chainlit")
    token = context_var.set(ChainlitContext(session))
    try:
        yield session
    finally:
        context_var.reset(token)


def _is_open(session: Any) -> bool:
    from chainlit.server import sio

    return session.id in ws_sessions_id and sio.manager.is_connected(session.socket_id, "/")


def _value(entered: Any) -> DialogValue:
    """Return what was entered in an input, as sent by the browser."""
    match entered:
        case None | str():
            return entered or None
        case list() if all(type(each) is int for each in entered):
            return entered or None
        case _:
            raise ValueError("neither text nor positions of options")


def _serve_element() -> None:
    """Let the app serve the source of the element, at the place where Chainlit looks for it."""
    from chainlit.config import config
    from chainlit.server import app

    path = f"{config.run.root_path}/public/elements/{ELEMENT}.jsx"
    if not any(getattr(each, "path", "") == path for each in app.router.routes):
        app.router.routes.insert(0, Route(path, _source))


async def _source(_request: Any) -> FileResponse:
    return FileResponse(_SOURCE, media_type="text/plain")
