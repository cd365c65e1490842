"""`SlackHandler`: direct or ephemeral messages with buttons, and dialogs."""

from __future__ import annotations

import asyncio
import html
import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from mcp_elicit_client._arguments import check_sync, check_type
from mcp_elicit_client.exceptions import MissingExtraError
from mcp_elicit_client.handlers.chat.handler import ChatHandler
from mcp_elicit_client.handlers.chat.platform import ChatError, ChatMessage, Paragraph
from mcp_elicit_client.handlers.retry_after import read_retry_after
from mcp_elicit_client.handlers.slack.blocks import LIMITS, NAME, acknowledgement, content, values, view

try:
    from aiohttp import ClientError
    from slack_bolt.async_app import AsyncAck, AsyncApp
    from slack_sdk.errors import SlackApiError
    from slack_sdk.web.async_client import AsyncWebClient
    from slack_sdk.webhook.async_client import AsyncWebhookClient
except ImportError:
    raise MissingExtraError("slack", "a chat in Slack") from None

_USER = re.compile(r"[UW][A-Z0-9]+")
_MAX_RESPONSE_URLS = 1_000

_ACK_TIMEOUT = 2.0
"""Seconds for what follows a dialog.  After 3 seconds, Slack reports an error, and the user sends the dialog again."""


_RETRY_AFTER = 1.0
"""Seconds to wait if Slack fails, or asks for that and does not say how long."""


class SlackHandler(ChatHandler):
    """
    Asks users in direct messages, or in messages that only they see.

    `Request.user` is the ID of the user, such as ``U024BE7LH``.  The bot needs
    the scope ``chat:write``, and interactivity, over HTTP or in socket mode.

    Args:
        app: The bot.  Listeners for buttons and dialogs are added.
        channel: Returns the channel in which to ask a user, with messages
            that only this user sees; None for a direct message.  Without it,
            all messages are direct.
        options: As for `ChatHandler`.
    """

    def __init__(self, app: AsyncApp, *, channel: Callable[[str], str | None] | None = None, **options: Any) -> None:
        check_type("app", app, AsyncApp, hint="Use `slack_bolt.async_app`.")
        if channel is not None:
            check_sync("channel", channel, "user")
        self._slack = _Slack(app.client, channel)
        super().__init__(self._slack, **options)
        app.action(re.compile(f"^{NAME}:"))(self._on_press)
        app.view(NAME)(self._on_submit)

    async def _on_press(self, ack: AsyncAck, body: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        data, person = body["actions"][0].get("value"), body["user"]["id"]
        if not data:  # a link
            return
        self._slack.note_response_url(body)
        reaction = await self.press(person, data)
        if reaction.dialog is not None:
            try:
                await client.views_open(trigger_id=body["trigger_id"], view=view(reaction.dialog))
            except (SlackApiError, ClientError, asyncio.TimeoutError):  # too late: go on with buttons
                reaction = await self.press(person, data, opens_dialogs=False)
        if reaction.note:
            with suppress(ChatError), _chat_errors():
                channel = body["container"]["channel_id"]
                await client.chat_postEphemeral(
                    channel=channel, user=person, text=html.escape(reaction.note, quote=False)
                )

    async def _on_submit(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        sent, person = body["view"], body["user"]["id"]
        entered = values(sent["state"]["values"])
        reacting = asyncio.ensure_future(self.submit(person, sent["private_metadata"], entered))
        await asyncio.wait({reacting}, timeout=_ACK_TIMEOUT)
        if reacting.done():
            await ack(**acknowledgement(reacting.result(), sent))
            return
        await ack()
        reaction = await reacting
        text = reaction.note or " ".join((reaction.errors or {}).values())
        if text:  # the dialog that would have shown it is closed; errors may quote the server
            for message in self._rendering.split(sent["title"]["text"], [Paragraph("text", text)]):
                await self._sender.inform(person, message)


class _Slack:
    limits = LIMITS

    def __init__(self, client: AsyncWebClient, channel: Callable[[str], str | None] | None) -> None:
        self._client = client
        self._channel = channel
        self._response_urls: OrderedDict[str, str] = OrderedDict()

    def note_response_url(self, body: Mapping[str, Any]) -> None:
        """Keep the URL with which an ephemeral message can be replaced, for 30 minutes."""
        if body["container"].get("is_ephemeral") and "response_url" in body:
            self._response_urls[body["container"]["message_ts"]] = body["response_url"]
            while len(self._response_urls) > _MAX_RESPONSE_URLS:
                self._response_urls.popitem(last=False)

    async def send(self, person: str, message: ChatMessage) -> str:
        if not _USER.fullmatch(person):  # Slack also takes the names and IDs of channels
            raise ChatError("the user of the request is not the ID of a user of Slack: pass that ID as `user`")
        channel = None if self._channel is None else self._channel(person)
        with _chat_errors():
            if channel is not None:
                sent = await self._client.chat_postEphemeral(channel=channel, user=person, **content(message))
                return f"/{sent['message_ts']}"
            sent = await self._client.chat_postMessage(
                channel=person, **content(message), unfurl_links=False, unfurl_media=False
            )
            return f"{sent['channel']}/{sent['ts']}"

    async def edit(self, _person: str, message_id: str, message: ChatMessage) -> None:
        channel, _, ts = message_id.partition("/")
        with _chat_errors():
            if channel:
                await self._client.chat_update(channel=channel, ts=ts, **content(message))
                return
            if ts not in self._response_urls:
                raise ChatError("The user must press a button of this message first.")
            webhook = AsyncWebhookClient(self._response_urls[ts])
            replaced = await webhook.send(replace_original=True, **content(message))
            if replaced.status_code != 200:
                pause = _pause(replaced.status_code, replaced.headers)
                raise ChatError(f"Slack: the message was not replaced: {replaced.status_code}", pause)


@contextmanager
def _chat_errors() -> Iterator[None]:
    try:
        yield
    except SlackApiError as error:
        response: Any = error.response
        # What is between the bot and Slack may answer in its place, with any text.
        data = getattr(response, "data", None)
        reason = data.get("error") if isinstance(data, dict) else None
        status = getattr(response, "status_code", None) or response.status  # that of aiohttp, if it is not JSON
        raise ChatError(f"Slack: {reason or 'no reason'}", _pause(status, response.headers)) from error
    except (ClientError, asyncio.TimeoutError) as error:
        raise ChatError(f"Slack cannot be reached: {type(error).__name__}", _RETRY_AFTER) from error


def _pause(status: int, headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait after a refusal with *status*; None if it is final."""
    is_temporary = status == 429 or status >= 500
    return read_retry_after(headers.get("Retry-After", ""), _RETRY_AFTER) if is_temporary else None
