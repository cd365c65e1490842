"""
`ConnectionTap`: the messages of a connection of ``agent-client-protocol``, as they are on the wire.

The models of that package change what passes through them: they rewrite URLs,
drop keywords, and let ``_meta`` replace the message.  The tap is a transport
between the package and its own transport, so that elicitations are read and
written without these models.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections.abc import Callable, Coroutine, Mapping
from types import NoneType
from typing import Any
from uuid import uuid4

from mcp_elicit_client.handlers.acp.wire import CANCEL_REQUEST, WireMessage

_SEND_TIMEOUT = 60.0
"""The maximum time for sending a message that nothing waits for, in seconds."""

_logger = logging.getLogger("mcp_elicit_client")


class ConnectionTap:
    """
    Passes the messages of a connection on, except for those that this package handles.

    Create it in ``on_connect``, before the connection has received anything.

    Args:
        connection: An ``AgentSideConnection`` or ``ClientSideConnection``.
        received: Called with each message that was received.  Returns True
            if the package must not see it.
        sent: Called with each message that the package sends.

    Attributes:
        ended: Is set when nothing can be received any more.

    Raises:
        TypeError: If *connection* is not a connection of the package.
    """

    def __init__(
        self,
        connection: object,
        *,
        received: Callable[[WireMessage], bool],
        sent: Callable[[WireMessage], object] = lambda _message: None,
    ) -> None:
        inner: Any = getattr(connection, "_conn", None)
        transport: Any = getattr(inner, "_transport", None)
        if not all(callable(getattr(transport, name, None)) for name in ("send", "receive", "close")):
            raise TypeError(
                "`connection` is not a connection of agent-client-protocol 0.12, but"
                f" {type(connection).__name__}. Pass the argument of `on_connect`."
            )
        self.ended: asyncio.Event = asyncio.Event()
        self._transport = transport
        self._on_received = received
        self._on_sent = sent
        self._prefix = f"elicitation-{uuid4().hex}"  # several taps may share a connection
        self._numbers = itertools.count(1)
        self._replies: dict[object, asyncio.Future[WireMessage]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        inner._transport = self  # noqa: SLF001 -- the package has no public way to send a request as it is

    # --- What this package sends

    async def request(self, method: str, params: WireMessage) -> WireMessage:
        """
        Send a request and return its response, with ``result`` or ``error``.  If this is cancelled, so is the request.

        Raises:
            ConnectionError: If the connection is closed, or closes before the
                response.
        """
        if self.ended.is_set():
            raise ConnectionError("the connection is closed")
        request_id = f"{self._prefix}-{next(self._numbers)}"
        reply: asyncio.Future[WireMessage] = asyncio.get_running_loop().create_future()
        self._replies[request_id] = reply
        try:
            # In the background: the package may wait forever after its transport has failed.
            self.start(self._send_for(reply, {"id": request_id, "method": method, "params": params}))
            return await reply
        except asyncio.CancelledError:
            self.notify(CANCEL_REQUEST, {"requestId": request_id})
            raise
        finally:
            del self._replies[request_id]
            reply.cancel()

    def notify(self, method: str, params: WireMessage) -> None:
        """Send a notification in the background."""
        self._post({"method": method, "params": params})

    def respond(
        self, request_id: object, *, result: WireMessage | None = None, error: WireMessage | None = None
    ) -> None:
        """Send a response in the background."""
        self._post({"id": request_id, **({"result": result} if error is None else {"error": error})})

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run *work* in the background.  It is cancelled when the connection ends."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if self.ended.is_set():
            task.cancel()
        return task

    def _post(self, message: WireMessage) -> None:
        async def send() -> None:
            with contextlib.suppress(ConnectionError, asyncio.TimeoutError):
                await asyncio.wait_for(self._send(message), _SEND_TIMEOUT)

        if not self.ended.is_set():
            self.start(send())

    async def _send_for(self, reply: asyncio.Future[WireMessage], message: WireMessage) -> None:
        try:
            await self._send(message)
        except Exception as error:  # noqa: BLE001 -- `request` raises it
            if not reply.done():
                reply.set_exception(error)

    async def _send(self, message: WireMessage) -> None:
        try:
            await self._transport.send({"jsonrpc": "2.0", **message})
        except (OSError, RuntimeError) as error:  # the pipe is broken, or the package has shut down
            raise ConnectionError("the connection is closed") from error

    # --- What the package calls: its protocol `Transport`

    async def send(self, message: dict[str, Any]) -> None:
        """Send a message of the package."""
        self._on_sent(message)
        await self._transport.send(message)

    async def receive(self) -> Any:
        """Return the next message for the package; None at the end."""
        while True:
            try:
                message = await self._transport.receive()
            except BaseException:
                self._end()
                raise
            if message is None:
                self._end()
                return None
            if not _is_message(message):
                _logger.warning("a message over ACP is ignored: it is not one of JSON-RPC")
            elif not self._take_response(message) and not self._on_received(message):
                has_bad_error = not isinstance(message.get("error"), (Mapping, NoneType))
                return {**message, "error": None} if has_bad_error else message  # which the package can process
            await asyncio.sleep(0)  # other tasks get their turns, however many messages there are

    async def close(self) -> None:
        """Close the transport."""
        self._end()
        await self._transport.close()

    def _take_response(self, message: WireMessage) -> bool:
        reply = None if "method" in message else self._replies.get(message.get("id"))
        if reply is None:
            return False
        if not reply.done():
            reply.set_result(message)
        return True

    def _end(self) -> None:
        if self.ended.is_set():
            return
        self.ended.set()
        for reply in self._replies.values():
            if not reply.done():
                reply.set_exception(ConnectionError("the connection is closed"))
        for task in self._tasks:
            task.cancel()


def _is_message(message: object) -> bool:
    """Return True for what the package can process.  Anything else would end its loop."""
    return isinstance(message, Mapping) and isinstance(message.get("id"), (str, int, float, type(None)))
