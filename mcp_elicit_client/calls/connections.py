"""What a `Caller` connects with: sessions, clients, and what a session of the host application takes."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Collection, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio.lowlevel

from mcp_elicit_client._arguments import check_async
from mcp_elicit_client.calls.elicitations import ElicitationDispatcher
from mcp_elicit_client.core.request import Server
from mcp_elicit_client.dispatch import NormalizedHandler, enforce_options, normalize_handler, options_for
from mcp_elicit_client.request_options import RequestOptions
from mcp_elicit_client.sdk.callback import ElicitationCallback, elicitation_callback
from mcp_elicit_client.sdk.tasks_extension import tasks_extensions
from mcp_elicit_client.typing import Answer, Handler, Mode, Request

if TYPE_CHECKING:
    from mcp import Client, ClientSession  # type: ignore[attr-defined,unused-ignore]
    from mcp.client.session import MessageHandlerFnT

MessageHandler: TypeAlias = Callable[[Any], Awaitable[None]]
"""A function that takes the notifications and other messages of a server."""


class _Connections:
    """The part of a `Caller` that connects, and answers the server over each connection; takes what `Caller` takes."""

    def __init__(
        self,
        handler: Handler,
        server: Server | str,
        user: str | None,
        modes: Collection[Mode] | None,
        request_options: RequestOptions | None,
    ) -> None:
        self.server: Server = Server.from_name(server)
        self._request_options = options_for(handler, request_options)
        if modes is not None:
            self._request_options = dataclasses.replace(self._request_options, modes=modes)
        self._needs_handshake = False
        self._answering = normalize_handler(handler)
        self._elicitations = ElicitationDispatcher(self._answering, self.server, self._request_options, user)
        self.handler: Callable[[Request], Coroutine[Any, Any, Answer]] = NormalizedHandler(
            enforce_options(self._request_options, self._elicitations.on_server_request),
            self._request_options,
            self._elicitations.admission,
            self._elicitations.notifier,
            lambda: self._modes,
        )

    @property
    def user(self) -> str | None:
        """The user that calls are for; None if there is only one."""
        return self._elicitations.user

    @property
    def _modes(self) -> frozenset[Mode]:
        """The modes that are answered."""
        if self._request_options.modes is not None:
            return frozenset(self._request_options.modes)
        return self._answering.modes

    @property
    def callback(self) -> ElicitationCallback:
        """
        The ``elicitation_callback`` for a session that you make.

        The SDK declares both modes for such a session.  Requests in a mode
        that is not answered are refused.
        """
        return elicitation_callback(self.handler, server=self.server, user=self._elicitations.current_user)

    def message_handler(self, then: MessageHandler | None = None) -> MessageHandlerFnT:
        """
        Return the ``message_handler`` of the session.  It reports completed URL elicitations to handlers.

        Args:
            then: Your own message handler.  It is called with every message.

        Raises:
            TypeError: If *then* is not an async function that takes a message.
        """
        if then is not None:
            check_async("message_handler", then, "message")

        async def handle(message: Any) -> None:
            self._elicitations.completions.on_message(message)
            if then is not None:
                await then(message)
            else:
                await anyio.lowlevel.checkpoint()

        return handle

    @property
    def extensions(self) -> list[Any]:
        """
        The ``extensions`` for a ``Client`` of mcp 2.3 or later that you make: tasks.

        The list is empty with other versions.
        """
        return tasks_extensions(self._resolve_task)

    def connect(
        self, server: Any, *, mode: str = "auto", message_handler: MessageHandler | None = None, **options: Any
    ) -> AbstractAsyncContextManager[Client]:
        """
        Connect to the server, and disconnect at the end of the ``async with`` block.

        It works with both majors of the SDK, and declares only the modes that
        are answered.  An error of the block arrives as it was raised, not in
        an exception group.

        Args:
            server: The URL of a server with streamable HTTP, the command of a
                server process as ``StdioServerParameters``, or a transport of
                the SDK.  With mcp 2.x, also a server in this process.
            mode: How the protocol version is negotiated: ``auto`` for the
                newest version that both sides support, ``legacy`` for the
                handshake of versions up to 2025-11-25, or a later version.
                mcp 1.x always uses the handshake.  If a call failed
                because the server needs the handshake to ask, ``auto`` uses
                it from the next connection on.
            message_handler: Your own message handler.
            options: Other arguments of the SDK's ``Client`` (mcp 2.x) or
                ``ClientSession`` (mcp 1.x), by keyword.

        Returns:
            An async context manager: a ``Client`` with mcp 2.x, an
            initialized ``ClientSession`` with mcp 1.x.

        Raises:
            TypeError: If *server* is of another type, *message_handler* is not
                an async function, or the `Caller` sets one of *options* itself.
            ValueError: If *server* is a string that is not an http URL.
        """
        from mcp_elicit_client.sdk import connections

        connections.check_target("server", server)
        if mode == "auto" and self._needs_handshake:
            mode = "legacy"
        return connections.connect(server, mode, **self._options(message_handler, options))

    def session(
        self, read: Any, write: Any, *, message_handler: MessageHandler | None = None, **options: Any
    ) -> ClientSession:
        """
        Return a ``ClientSession``, not entered yet, that declares only the modes that are answered.

        With mcp 1.x it also continues to receive while a request is open.

        Args:
            read: The stream to read from.
            write: The stream to write to.
            message_handler: Your own message handler.
            options: Other arguments of ``ClientSession``, by keyword.
        """
        from mcp_elicit_client.sdk import sessions

        session: ClientSession = sessions.client_session(read, write, **self._options(message_handler, options))
        return session

    def client(self, server: Any, *, message_handler: MessageHandler | None = None, **options: Any) -> Client:
        """
        Return a ``Client`` of mcp 2.x, not entered yet, that declares only the modes that are answered.

        Args:
            server: The first argument of ``Client``: a URL, a command, a
                transport or a server.
            message_handler: Your own message handler.
            options: Other arguments of ``Client``, by keyword.

        Raises:
            RuntimeError: With mcp 1.x, which has no ``Client``.
        """
        from mcp_elicit_client.sdk import sessions

        client: Client = sessions.client(server, **self._options(message_handler, options))
        return client

    async def _resolve_task(self, created: Any, context: Any) -> Any:
        """Finish a task of a call that the host application made over such a connection: see `Resolve`."""
        raise NotImplementedError

    def _options(self, then: MessageHandler | None, options: dict[str, Any]) -> dict[str, Any]:
        """Return *options* of the host application, and those of this `Caller`."""
        request_options = dataclasses.replace(self._request_options, modes=self._modes)
        own = {
            "modes": self._modes,
            "elicitation_callback": elicitation_callback(
                self.handler, server=self.server, user=self._elicitations.current_user, request_options=request_options
            ),
            "message_handler": self.message_handler(then),
            "resolve_task": self._resolve_task,
        }
        for name in own.keys() & options.keys():
            raise TypeError(f"The Caller sets `{name}`. Omit it, and pass the handler and its modes to `Caller`.")
        return {**options, **own}
