"""`EventStream`: the changes of an inbox as server-sent events."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing

import anyio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mcp_elicit_client.exceptions import InboxError
from mcp_elicit_client.inbox.inbox import Inbox
from mcp_elicit_client.inbox.records import Entry

_logger = logging.getLogger("mcp_elicit_client")

HEARTBEAT_INTERVAL = 15.0
"""Seconds between two comments, so that a lost connection is noticed."""

MAX_DURATION = 300.0
"""Seconds after which the stream ends.  The client connects again, and is authenticated again."""


class EventStream(Response):
    """
    A stream of the pending requests, then of each request that is new or closed.

    The name of each event is ``entry``.  Its data is an `Entry` as JSON.
    Requests that cannot be read are skipped.  The stream ends after
    `MAX_DURATION`, so that it does not outlive a session for long.

    Args:
        inbox: The inbox.
        owner: The owner of the requests.
    """

    media_type = "text/event-stream"

    def __init__(self, inbox: Inbox, owner: str) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._inbox = inbox
        self._owner = owner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the client disconnects."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        if scope["method"] != "HEAD":
            with anyio.move_on_after(MAX_DURATION):
                await self._send_events(receive, send)
        with anyio.CancelScope(shield=True), anyio.move_on_after(1):
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_events(self, receive: Receive, send: Send) -> None:
        lock = anyio.Lock()

        async def send_text(text: str) -> None:
            async with lock:
                await send({"type": "http.response.body", "body": text.encode(), "more_body": True})

        async def send_heartbeats() -> None:
            while True:
                await send_text(": heartbeat\n\n")
                await anyio.sleep(HEARTBEAT_INTERVAL)

        async def send_entries() -> None:
            try:
                async with aclosing(self._readable_entries()) as entries:
                    async for entry in entries:
                        await send_text(f"event: entry\ndata: {entry.model_dump_json()}\n\n")
            except InboxError as error:
                _logger.warning("A stream of the inbox ended. %s", error)
                group.cancel_scope.cancel()  # Browsers connect again.

        async def wait_for_disconnect() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            for task in (send_heartbeats, send_entries, wait_for_disconnect):
                group.start_soon(task)

    async def _readable_entries(self) -> AsyncGenerator[Entry, None]:
        async with aclosing(self._inbox.watch(self._owner)) as entries:
            async for entry in entries:
                try:
                    entry.read()  # In a computed field, the error would become one of pydantic.
                except InboxError:
                    continue
                yield entry
