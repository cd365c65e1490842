"""What a host application holds for one server: its handler, and the calls to it."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import ExitStack
from typing import Any

import anyio
import anyio.lowlevel

from mcp_elicit_client.calls import verbs
from mcp_elicit_client.calls.call import Call
from mcp_elicit_client.calls.clocks import Clocks
from mcp_elicit_client.calls.completions import Completions, VisitCompletion
from mcp_elicit_client.calls.liveness import server_gone
from mcp_elicit_client.calls.required import Retries
from mcp_elicit_client.calls.rounds import Rounds
from mcp_elicit_client.calls.verbs import Send
from mcp_elicit_client.core.requests import Server
from mcp_elicit_client.hosts.boundary import DEFAULT_DOOR, Door, answer_params, as_answer
from mcp_elicit_client.hosts.sdk import ElicitationCallback, elicitation_callback, server_with_claim
from mcp_elicit_client.racing import ask_until
from mcp_elicit_client.registry import ElicitationRegistry
from mcp_elicit_client.typing import Answer, Handler, Mode, Request, UrlRequest

PATIENCE = 240.0
"""
How long the user has, in seconds, unless the host says otherwise: less than
the 300 s after which the SDK's HTTP transport gives up reading, and the 600 s
that the state of the Python SDK's server lives.
"""

MessageHandler = Callable[[Any], Awaitable[None]]


class Caller:
    """
    Makes calls to one server, and answers what it asks during them.

    One for each server that a host application is connected to.  It works
    over ``ClientSession`` of mcp 1.x and 2.x, ``Client`` of 2.x, and
    FastMCP's ``Client``.  The connection is made by the host, with
    `callback` and `message_handler`, or by `session` and `client`, which also
    declare just the modes that are answered.

    Args:
        handler: Who answers: a registry, or any handler.
        server: What the host application calls the server.
        modes: The modes that are answered and declared; None for those of
            the registry, or both.
        door: How requests are read; None for the registry's way.
        max_questions: How many questions one call may ask.
        max_rounds: How often one call may come back with questions
            (2026-07-28).
        max_retries: How often one call is tried again because URLs are to be
            visited first (``-32042``).
    """

    def __init__(  # noqa: PLR0913 -- bounds with defaults, all by keyword
        self,
        handler: Handler,
        server: Server | str,
        *,
        modes: Collection[Mode] | None = None,
        door: Door | None = None,
        max_questions: int = 25,
        max_rounds: int = 10,
        max_retries: int = 5,
    ) -> None:
        registry = handler if isinstance(handler, ElicitationRegistry) else None
        self.server = Server.named(server)
        self._ask = handler
        self._modes = modes
        self._registry = registry
        self._door = door or (registry.door if registry is not None else DEFAULT_DOOR)
        self._max_questions = max_questions
        self._max_rounds = max_rounds
        self._max_retries = max_retries
        self._completions = Completions()
        self._calls: set[Call] = set()

    @property
    def door(self) -> Door:
        """How requests are read."""
        return self._door

    # --- for the connection

    @property
    def modes(self) -> frozenset[Mode]:
        """The modes that are answered."""
        if self._modes is not None:
            return frozenset(self._modes)
        return self._registry.modes if self._registry is not None else frozenset({"form", "url"})

    @property
    def callback(self) -> ElicitationCallback:
        """
        The ``elicitation_callback`` for a session that the host makes.

        Such a session declares both modes; a request for which there is no
        handler is cancelled.
        """
        return elicitation_callback(self.handler, server=self.server, door=self._door)

    def message_handler(self, then: MessageHandler | None = None) -> MessageHandler:
        """
        Make the ``message_handler`` of the session: it learns what is finished.

        Args:
            then: The host's own, which is called with every message.
        """

        async def handle(message: Any) -> None:
            self._completions.notice(message)
            if then is not None:
                await then(message)
            else:
                await anyio.lowlevel.checkpoint()

        return handle

    def session(self, read: Any, write: Any, *, message_handler: MessageHandler | None = None, **options: Any) -> Any:
        """
        Make a ``ClientSession``, not entered yet, that declares just the modes that are answered.

        With mcp 1.x it also goes on receiving while a question is open.

        Args:
            read: The stream to read from.
            write: The stream to write to.
            message_handler: The host's own.
            options: What else ``ClientSession`` takes, by keyword.
        """
        from mcp_elicit_client.hosts import sessions

        return sessions.client_session(read, write, **self._wiring(message_handler), **options)

    def client(self, server: Any, *, message_handler: MessageHandler | None = None, **options: Any) -> Any:
        """
        Make a ``Client`` of mcp 2.x, not entered yet, that declares just the modes that are answered.

        Args:
            server: What ``Client`` takes: a URL, a command, a transport, a server.
            message_handler: The host's own.
            options: What else ``Client`` takes, by keyword.

        Raises:
            RuntimeError: With mcp 1.x, which has no ``Client``.
        """
        from mcp_elicit_client.hosts import sessions

        return sessions.client(server, **self._wiring(message_handler), **options)

    def _wiring(self, then: MessageHandler | None) -> dict[str, Any]:
        modes = self.modes
        door = dataclasses.replace(self._door, modes=modes)
        return {
            "modes": modes,
            "elicitation_callback": elicitation_callback(self.handler, server=self.server, door=door),
            "message_handler": self.message_handler(then),
        }

    # --- for calls

    async def call_tool(  # noqa: PLR0913 -- as the SDK's, and two clocks, by keyword
        self,
        client: Any,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 -- not of this function: it stops while a question is open
        patience: float | None = PATIENCE,
        meta: Mapping[str, Any] | None = None,
        progress_callback: Any = None,
    ) -> Any:
        """
        Call a tool, and see to what it asks on the way.

        URLs that are to be visited first (``-32042``) are asked about, and
        the call is tried again; questions that come back in place of a result
        (2026-07-28) are asked one at a time, and the call goes on.  When the
        call is cancelled, its open question is withdrawn.

        Args:
            client: A ``ClientSession``, or a ``Client`` of mcp 2.x or FastMCP.
            name: The tool's name.
            arguments: Its arguments.
            timeout: How long the server may take, in seconds, the time in
                which a question is open aside; None for ever.  The session's
                own read timeout does not count for this call.
            patience: How long the user may take with all questions of this
                call, in seconds; None for ever.  Then open questions are
                cancelled, and the server may end the call.
            meta: The ``_meta`` of the request.
            progress_callback: As for the SDK.

        Returns:
            The SDK's ``CallToolResult``.

        Raises:
            CallTimeoutError: If a clock ran out.
            VisitRequiredError: If URLs were to be visited, and not all were.
            CallError: If the server asks in a way that nobody could follow,
                too often, or again and again for what was declined.
            Exception: What the SDK raises for an error of the server.
        """
        session = verbs.session_of(client)
        send = verbs.tool(session, name, arguments, meta, progress_callback)
        return await self._run(session, send, name, Clocks(timeout, patience))

    async def get_prompt(  # noqa: PLR0913 -- see call_tool
        self,
        client: Any,
        name: str,
        arguments: Mapping[str, str] | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 -- see call_tool
        patience: float | None = PATIENCE,
        meta: Mapping[str, Any] | None = None,
    ) -> Any:
        """Get a prompt, and see to what it asks on the way; all else is as in `call_tool`."""
        session = verbs.session_of(client)
        send = verbs.prompt(session, name, arguments, meta)
        return await self._run(session, send, None, Clocks(timeout, patience))

    async def read_resource(
        self,
        client: Any,
        uri: str,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 -- see call_tool
        patience: float | None = PATIENCE,
        meta: Mapping[str, Any] | None = None,
    ) -> Any:
        """Read a resource, and see to what it asks on the way; all else is as in `call_tool`."""
        session = verbs.session_of(client)
        send = verbs.resource(session, uri, meta)
        return await self._run(session, send, None, Clocks(timeout, patience))

    async def _run(self, session: Any, send: Send, tool: str | None, clocks: Clocks) -> Any:
        call = Call(session, tool, clocks, self._max_questions)
        ask = functools.partial(self._asked, session, call)
        retries = Retries(call, ask, self._max_retries)
        rounds = Rounds(session, call, ask, self._door, self._max_rounds)
        self._calls.add(call)
        try:
            with call.clocks.running():
                return await rounds.drive(functools.partial(retries.send, send))
        finally:
            self._calls.discard(call)
            call.close()

    # --- what is asked

    async def handler(self, request: Request, /) -> Answer:
        """
        Answer a question that the server sends by itself (until 2025-11-25).

        It is a handler for the adapters of `hosts`, where the session is
        made by another library.  The SDK does not say during which call the
        server asks: if several are under way, the clocks of all of them stop.
        """
        calls = tuple(self._calls)
        only = calls[0] if len(calls) == 1 else None
        with ExitStack() as asking:
            for call in calls:
                asking.enter_context(call.clocks.asking())
            deadline = min((call.clocks.user_deadline for call in calls), default=math.inf)
            if deadline <= anyio.current_time():
                return _too_late()
            with anyio.CancelScope(deadline=deadline) as scope:
                if only is None:
                    return as_answer(await self._ask(self._listening(request)))
                request = self._listening(request.model_copy(update={"tool": request.tool or only.tool}))
                with only.closing(scope):
                    ask = functools.partial(only.ask, self._ask, request)
                    return await _unless_gone(functools.partial(server_gone, only.session, in_callback=True), ask)
        return _too_late() if anyio.current_time() >= deadline else Answer.cancel(by="host", reason="the call ended")

    async def _asked(self, session: Any, call: Call, params: Any, **details: Any) -> Answer:
        """
        Answer a question that comes back from a call.

        Raises:
            RequestError: If nobody could answer it.
        """

        async def ask(request: Request) -> Answer:
            if isinstance(request, UrlRequest) and request.elicitation_id and call.visits(request.target.url):
                # Whatever was finished before, the server asks again.
                self._completions.forget(request.elicitation_id)
            return await call.ask(self._ask, self._listening(request))

        async def answer() -> Answer:
            return await answer_params(
                ask,
                params,
                server=server_with_claim(self.server, session),
                door=self._door,
                protocol=getattr(session, "protocol_version", None),
                tool=call.tool,
                **details,
            )

        with call.clocks.asking(), anyio.CancelScope(deadline=call.clocks.user_deadline):
            if call.clocks.user_deadline > anyio.current_time():
                return await _unless_gone(functools.partial(server_gone, session), answer)
        return _too_late()

    def _listening(self, request: Request) -> Request:
        """Let the handler learn when a visit is finished."""
        if not isinstance(request, UrlRequest) or request.elicitation_id is None:
            return request
        return request.with_completion(VisitCompletion(self._completions, request.elicitation_id))


async def _unless_gone(gone: Callable[[], Awaitable[object]], ask: Callable[[], Awaitable[Answer]]) -> Answer:
    return await ask_until(gone, ask) or Answer.cancel(by="error", reason="the server has gone")


def _too_late() -> Answer:
    return Answer.cancel(by="timeout", reason="the user was not done in time")
