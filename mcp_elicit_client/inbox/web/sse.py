"""What comes and changes in an inbox, as server-sent events."""

from __future__ import annotations

from contextlib import aclosing

import anyio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mcp_elicit_client.exceptions import InboxError
from mcp_elicit_client.inbox.inbox import Inbox

PULSE = 15.0
"""How often something is sent even if nothing happens, in seconds, so that a dead connection is noticed."""


class EventStream(Response):
    """
    A stream of entries: first all that wait, then each one that comes or changes.

    Each event is called ``entry``; its data is an `Entry` in JSON.
    """

    media_type = "text/event-stream"

    def __init__(self, inbox: Inbox, owner: str) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._inbox = inbox
        self._owner = owner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 -- an ASGI app
        """Send events until whoever listens is gone."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        turn = anyio.Lock()

        async def tell(text: str) -> None:
            async with turn:
                await send({"type": "http.response.body", "body": text.encode(), "more_body": True})

        async def pulse() -> None:
            while True:
                await tell(": still here\n\n")
                await anyio.sleep(PULSE)

        async def follow() -> None:
            try:
                async with aclosing(self._inbox.watch(self._owner)) as entries:
                    async for entry in entries:
                        await tell(f"event: entry\ndata: {entry.model_dump_json()}\n\n")
            except InboxError:
                group.cancel_scope.cancel()  # the browser comes back by itself

        async def leave() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            for task in (pulse, follow, leave):
                group.start_soon(task)
        with anyio.CancelScope(shield=True), anyio.move_on_after(1):
            await send({"type": "http.response.body", "body": b"", "more_body": False})
