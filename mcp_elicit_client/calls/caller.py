"""What a host application holds for one server: its handler, and the calls to it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any

import anyio
import anyio.lowlevel

from mcp_elicit_client.calls import methods as verbs
from mcp_elicit_client.calls.active_call import ActiveCall
from mcp_elicit_client.calls.elicitations import ElicitationDispatcher
from mcp_elicit_client.calls.methods import CallSpec
from mcp_elicit_client.calls.multi_round_trip import MultiRoundTrip
from mcp_elicit_client.calls.suspending import CallSuspender, Claim, LoadedCall, SuspendOptions, claim_call, load_call
from mcp_elicit_client.calls.timeouts import CallTimeouts
from mcp_elicit_client.calls.url_required import UrlRequiredRetry
from mcp_elicit_client.core.request import FIRST_MULTI_ROUND_TRIP_VERSION, Server
from mcp_elicit_client.dispatch import NormalizedHandler, RequestOptions, enforce_options, options_for
from mcp_elicit_client.exceptions import ResumeError
from mcp_elicit_client.registry import ElicitationRegistry
from mcp_elicit_client.sdk.callback import ElicitationCallback, elicitation_callback
from mcp_elicit_client.typing import Handler, Mode

ANSWER_TIMEOUT = 240.0
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
        request_options: How requests are read; None for the registry's way.
        max_questions: How many questions one call may ask.
        max_rounds: How often one call may come back with questions
            (2026-07-28).
        max_retries: How often one call is tried again because URLs are to be
            visited first (``-32042``).

    Attributes:
        server: The server.
        request_options: Limits, URL rules and modes.
        handler: The handler for adapters in `hosts`, where another library
            makes the session.  It answers server-initiated requests.  The SDK
            does not say which call a request belongs to: if several calls are
            active, the timeouts of all of them are paused.
    """

    def __init__(  # noqa: PLR0913 -- bounds with defaults, all by keyword
        self,
        handler: Handler,
        server: Server | str,
        *,
        modes: Collection[Mode] | None = None,
        request_options: RequestOptions | None = None,
        max_questions: int = 25,
        max_rounds: int = 10,
        max_retries: int = 5,
    ) -> None:
        registry = handler if isinstance(handler, ElicitationRegistry) else None
        self.server: Server = Server.from_name(server)
        self._modes = modes
        self._registry = registry
        options = options_for(handler, request_options)
        self.request_options: RequestOptions = (
            options if modes is None else dataclasses.replace(options, modes=frozenset(modes))
        )
        self._max_questions = max_questions
        self._max_rounds = max_rounds
        self._max_retries = max_retries
        self._questions = ElicitationDispatcher(handler, self.server, self.request_options)
        self.handler: NormalizedHandler = NormalizedHandler(
            enforce_options(self.request_options, self._questions.on_server_request), self.request_options
        )

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
        return elicitation_callback(self.handler, server=self.server)

    def message_handler(self, then: MessageHandler | None = None) -> MessageHandler:
        """
        Make the ``message_handler`` of the session: it learns what is finished.

        Args:
            then: The host's own, which is called with every message.
        """

        async def handle(message: Any) -> None:
            self._questions.completions.notice(message)
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
        from mcp_elicit_client.sdk import sessions

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
        from mcp_elicit_client.sdk import sessions

        return sessions.client(server, **self._wiring(message_handler), **options)

    def _wiring(self, then: MessageHandler | None) -> dict[str, Any]:
        modes = self.modes
        door = dataclasses.replace(self.request_options, modes=modes)
        return {
            "modes": modes,
            "elicitation_callback": elicitation_callback(self.handler, server=self.server, request_options=door),
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
        answer_timeout: float | None = ANSWER_TIMEOUT,
        meta: Mapping[str, Any] | None = None,
        progress_callback: Any = None,
        suspend: SuspendOptions | None = None,
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
            answer_timeout: How long the user may take with all questions of this
                call, in seconds; None for ever.  Then open questions are
                cancelled, and the server may end the call.
            meta: The ``_meta`` of the request.
            progress_callback: As for the SDK.
            suspend: Where the call is parked when it comes back with questions
                that a person is to answer; None to wait for the answers.

        Returns:
            The SDK's ``CallToolResult``; or a `Parked`, if it was parked.

        Raises:
            CallTimeoutError: If a clock ran out.
            VisitRequiredError: If URLs were to be visited, and not all were.
            StaleStateError: If the server refuses its own state.
            CallError: If the server asks in a way that nobody could follow,
                too often, or again and again for what was declined; or if
                the call cannot be written down to be parked.
            InboxError: If it was to be parked, and the inbox cannot be used.
            Exception: What the SDK raises for an error of the server.
        """
        called = CallSpec("tool", name, arguments, meta)
        return await self._call(client, called, CallTimeouts(timeout, answer_timeout), suspend, progress_callback)

    async def get_prompt(  # noqa: PLR0913 -- see call_tool
        self,
        client: Any,
        name: str,
        arguments: Mapping[str, str] | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 -- see call_tool
        answer_timeout: float | None = ANSWER_TIMEOUT,
        meta: Mapping[str, Any] | None = None,
        suspend: SuspendOptions | None = None,
    ) -> Any:
        """Get a prompt, and see to what it asks on the way; all else is as in `call_tool`."""
        return await self._call(
            client, CallSpec("prompt", name, arguments, meta), CallTimeouts(timeout, answer_timeout), suspend
        )

    async def read_resource(  # noqa: PLR0913 -- see call_tool
        self,
        client: Any,
        uri: str,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 -- see call_tool
        answer_timeout: float | None = ANSWER_TIMEOUT,
        meta: Mapping[str, Any] | None = None,
        suspend: SuspendOptions | None = None,
    ) -> Any:
        """Read a resource, and see to what it asks on the way; all else is as in `call_tool`."""
        called = CallSpec("resource", str(uri), None, meta)
        return await self._call(client, called, CallTimeouts(timeout, answer_timeout), suspend)

    async def resume(  # noqa: PLR0913 -- see call_tool
        self,
        call_id: str,
        client: Any,
        suspend: SuspendOptions,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 -- see call_tool
        answer_timeout: float | None = ANSWER_TIMEOUT,
        progress_callback: Any = None,
    ) -> Any:
        """
        Go on with a call that was parked, in whichever process, once its questions are answered.

        A question that was declined, withdrawn, or not answered in time goes
        back as that.  The call is sent at most once: if this process dies
        over it, nobody can tell what the server has done, and it is lost.

        Args:
            call_id: The id of the `Parked`.
            client: As in `call_tool`, for the same server.
            suspend: Where it was parked, and whose it is; and where it is parked
                again if it comes back with further questions.
            timeout: As in `call_tool`.
            answer_timeout: As in `call_tool`.
            progress_callback: As for the SDK.

        Returns:
            What the call returns in the end; or a `Parked`: the same one,
            with nothing sent, if questions still wait, or one with further
            questions.

        Raises:
            ParkedError: If the call cannot be resumed, or not here; nothing
                was sent.
            StaleStateError: If the server refuses its own state.
            InboxError: If the inbox cannot be used or read.
            Exception: What else `call_tool` raises.
        """
        _check(suspend)
        session = verbs.unwrap_session(client)
        resumable = await load_call(suspend, call_id, self.server.name)
        if (getattr(session, "protocol_version", None) or "") < FIRST_MULTI_ROUND_TRIP_VERSION:
            raise ResumeError("protocol")
        if resumable.suspended.pending_ids:
            return resumable.suspended
        async with claim_call(suspend, call_id) as claim:
            resumable = await load_call(suspend, call_id, self.server.name, "resuming")
            if resumable.suspended.pending_ids:
                return resumable.suspended
            memo = resumable.snapshot
            call = ActiveCall(
                session, memo.call_spec.tool, CallTimeouts(timeout, answer_timeout), self._max_questions, memo.history
            )
            lot = CallSuspender(suspend, call, memo.call_spec, self.server.name, claim)
            return await self._run(call, memo.call_spec, progress_callback, lot, (resumable, claim))

    async def _call(
        self,
        client: Any,
        called: CallSpec,
        timeouts: CallTimeouts,
        suspend: SuspendOptions | None,
        progress_callback: Any = None,
    ) -> Any:
        if suspend is not None:
            _check(suspend)
        call = ActiveCall(verbs.unwrap_session(client), called.tool, timeouts, self._max_questions)
        lot = None if suspend is None else CallSuspender(suspend, call, called, self.server.name)
        return await self._run(call, called, progress_callback, lot)

    async def _run(
        self,
        call: ActiveCall,
        called: CallSpec,
        progress: Any,
        lot: CallSuspender | None,
        resumed: tuple[LoadedCall, Claim] | None = None,
    ) -> Any:
        ask = functools.partial(self._questions.on_input_required, call)
        retries = UrlRequiredRetry(call, ask, self._max_retries)
        rounds = MultiRoundTrip(call.session, call, ask, self.request_options, self._max_rounds, lot)
        send = functools.partial(retries.send, called.over(call.session, progress))
        with self._questions.during(call), call.clocks.running():
            return await (rounds.drive(send) if resumed is None else rounds.resume(send, *resumed))


def _check(park: object) -> None:
    if not isinstance(park, SuspendOptions):
        raise TypeError(f"`suspend` takes SuspendOptions(inbox, owner), not {type(park).__name__}")
