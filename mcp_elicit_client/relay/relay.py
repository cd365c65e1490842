"""`Relay`: carries calls to one upstream server, and its elicitation requests, through a gateway."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from types import NoneType, TracebackType
from typing import Any, Literal, NoReturn

import anyio
import anyio.abc
from typing_extensions import Self

from mcp_elicit_client._arguments import YEAR, check_int, check_seconds, check_sync, check_type
from mcp_elicit_client._concurrency import call_sync_inside, single_error
from mcp_elicit_client.calls.methods import CallSpec, ProgressCallback
from mcp_elicit_client.calls.server_errors import error_code
from mcp_elicit_client.core.request import Server, check_user
from mcp_elicit_client.inbox.inbox import Inbox
from mcp_elicit_client.relay.connections import ConnectionPool, UpstreamConnection
from mcp_elicit_client.relay.downstream import Downstream, authenticated_user, read_downstream, read_progress
from mcp_elicit_client.relay.gateway_handler import GatewayHandler
from mcp_elicit_client.relay.held_calls import MAX_CALL, HeldCalls
from mcp_elicit_client.relay.leg_stores import InboxLegs, MemoryLegs
from mcp_elicit_client.relay.pushed_call import PushedCall
from mcp_elicit_client.relay.refusals import RelayClosedError, is_internal, to_sdk_error
from mcp_elicit_client.relay.round_calls import RoundCalls
from mcp_elicit_client.relay.state import StateSigner
from mcp_elicit_client.relay.stored_calls import StoredCalls
from mcp_elicit_client.relay.upstream import RelayTimeouts, UpstreamCaller
from mcp_elicit_client.relay.wire import forwarded_meta, remove_hop_meta
from mcp_elicit_client.request_options import DEFAULT_REQUEST_OPTIONS, RequestOptions, modes_within
from mcp_elicit_client.sdk.connections import check_mode, check_target
from mcp_elicit_client.typing import Mode, Policy

_logger = logging.getLogger("mcp_elicit_client")

ANSWER_TIMEOUT = 590.0
"""The default time of the user, in seconds: less than the 600 s for which the Python SDK's server accepts its state."""

IDLE_TIMEOUT = 300.0
"""How long an unused connection to the upstream server stays open, in seconds."""


class Relay:
    """
    Carries the calls of a gateway's clients to one upstream server, and its elicitation requests to them.

    Use it in ``async with relay:``, around the server of the gateway, and call
    `call_tool` where the gateway handles ``tools/call``.  It works for every
    combination of server-initiated and multi-round-trip requests on both
    sides.

    Requests of the upstream server pass the policies, and are sanitized and
    written again before they go down.  Their messages begin with the name of
    the server.  Answers are checked against the form before they go up.  The
    upstream server sees only the modes that the client of the call declares,
    and the request options allow.

    Args:
        server: The name of the upstream server that your users see.
        upstream: Where the server is, as `Caller.connect` takes it; or a
            function that returns that for the user of a call, with their
            credentials.
        policies: The policies of the gateway, the outermost first.
        user: Returns the user of a request from the context that the SDK
            passes; None if there is only one user.  The connections and
            the calls of a user are never used by another one.
        key: At least 32 random bytes that authenticate the ``requestState``,
            the same in all processes of the gateway; None if there is only
            one process.
        inbox: Where the state of calls is stored between two requests of a
            client; None for the memory of this process.
        request_options: Limits, URL rules and modes for requests.
        timeout: The maximum time of the upstream server in one call, and
            before that to connect, in seconds; None for no limit.  It is
            paused while a request is open.
        answer_timeout: The maximum time of the user, in seconds, at most a
            year: for each result that asks a client with multi-round-trip
            requests; for other clients, for all requests of a call.
        mode: How the protocol version is negotiated with the upstream server,
            as for `Caller.connect`.
        idle_timeout: Seconds after which unused connections are closed.
        max_calls: The maximum number of calls of one client at a time,
            including those that this process holds while they wait for its
            answers.  All clients of a user count together if they use
            multi-round-trip requests.
        max_questions: The maximum number of requests in one call.
        max_rounds: How often the server may require input in one call, if it
            uses multi-round-trip requests.

    Raises:
        TypeError: If an argument is of the wrong type, such as a policy that
            is not a policy.
        ValueError: If the key is too short, the name is empty, or a number is
            out of range.
    """

    def __init__(  # noqa: PLR0913 -- limits with defaults, all by keyword
        self,
        server: Server | str,
        upstream: Any,
        *,
        policies: Sequence[Policy] = (),
        user: Callable[[Any], str | None] = authenticated_user,
        key: bytes | None = None,
        inbox: Inbox | None = None,
        request_options: RequestOptions | None = None,
        timeout: float | None = None,
        answer_timeout: float = ANSWER_TIMEOUT,
        mode: str = "auto",
        idle_timeout: float = IDLE_TIMEOUT,
        max_calls: int = 16,
        max_questions: int = 25,
        max_rounds: int = 10,
    ) -> None:
        self._server = Server.from_name(server)
        if callable(upstream):
            check_sync("upstream", upstream, "user")
        else:
            check_target("upstream", upstream)
        check_type("policies", policies, Sequence, hint="Pass a list.")
        check_sync("user", user, "context")
        check_type("inbox", inbox, Inbox, NoneType, hint="Pass Inbox(store).")
        check_type("request_options", request_options, RequestOptions, NoneType)
        check_seconds("timeout", timeout, optional=True)
        check_seconds("answer_timeout", answer_timeout, maximum=YEAR)
        check_mode(mode)
        check_seconds("idle_timeout", idle_timeout, allow_zero=True)
        check_int("max_calls", max_calls, 1)
        check_int("max_questions", max_questions)
        check_int("max_rounds", max_rounds)
        self._user = user
        self._request_options = request_options
        self._timeouts = RelayTimeouts(timeout, answer_timeout)
        self._max_questions = max_questions
        self._max_rounds = max_rounds
        self._handler = GatewayHandler(policies)
        self._connections = ConnectionPool(
            upstream,
            self._make_caller,
            mode=mode,
            idle_timeout=idle_timeout,
            max_calls=max_calls,
            timeouts=self._timeouts.start,
        )
        self._held = HeldCalls(leg_ttl=answer_timeout)
        legs = MemoryLegs() if inbox is None else InboxLegs(inbox)
        limits = (request_options or RequestOptions()).limits
        self._stored = StoredCalls(legs, leg_ttl=answer_timeout, max_ttl=MAX_CALL, limits=limits)
        self._rounds = RoundCalls(
            connections=self._connections,
            stored=self._stored,
            held=self._held,
            signer=StateSigner(key, self._server.name),
            timeouts=self._timeouts,
            leg_ttl=answer_timeout,
        )
        self._group: anyio.abc.TaskGroup | None = None

    async def __aenter__(self) -> Self:
        """
        Open the relay.  Connections are made when they are needed.

        Raises:
            RuntimeError: If it is open already.
        """
        if self._group is not None:
            raise RuntimeError("The relay is open already. Open it once, around the server, and not for each client.")
        group = anyio.create_task_group()
        self._group = await group.__aenter__()
        self._connections.open(group)
        self._held.open(group)
        group.start_soon(self._connections.close_idle)
        group.start_soon(self._stored.renew_leases)
        group.start_soon(self._held.clean_up)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End all calls, and close all connections.  The block's error leaves it as it was raised."""
        group, self._group = self._group, None
        if group is not None:
            closed = RelayClosedError()
            self._connections.close(closed)
            self._held.close(closed)
            group.cancel_scope.cancel()
            try:
                await group.__aexit__(kind, error, trace)
            except BaseException as raised:
                if single_error(raised, error) is not error:
                    raise

    async def call_tool(self, context: Any, params: Any, *, name: str | None = None) -> Any:
        """
        Make the call of a client's ``tools/call`` request.

        Args:
            context: The context that the SDK passes to handlers.
            params: The params of the request.
            name: The name of the tool at the upstream server; None for that
                in *params*.

        Returns:
            What the handler of the request returns: the result of the
            upstream server, or an ``InputRequiredResult``.

        Raises:
            Exception: The SDK's error, with which the request ends.
        """
        return await self._relay(context, params, "tool", params.name if name is None else name, params.arguments)

    async def get_prompt(self, context: Any, params: Any, *, name: str | None = None) -> Any:
        """Make the call of a client's ``prompts/get`` request, as `call_tool` does."""
        return await self._relay(context, params, "prompt", params.name if name is None else name, params.arguments)

    async def read_resource(self, context: Any, params: Any, *, uri: str | None = None) -> Any:
        """Make the call of a client's ``resources/read`` request, as `call_tool` does."""
        return await self._relay(context, params, "resource", str(params.uri) if uri is None else uri, None)

    @asynccontextmanager
    async def connection(self, context: Any) -> AsyncIterator[Any]:
        """
        Use a connection to the upstream server for the client of *context*, for requests without elicitation.

        For example, list the tools.

        Yields:
            The SDK's ``Client`` (mcp 2.x) or ``ClientSession`` (mcp 1.x).

        Raises:
            Exception: The SDK's error, if the server cannot be reached.
        """
        async with AsyncExitStack() as stack:
            try:
                connection = await stack.enter_async_context(self._connections.lease(self._downstream(context)))
            except Exception as error:  # noqa: BLE001 -- raised again
                self._raise_sdk_error(error)
            yield connection.client

    def _raise_sdk_error(self, error: Exception) -> NoReturn:
        """Raise *error* as an error of the SDK, and log it if that says nothing to the client."""
        if error_code(error) is not None:
            raise error
        if is_internal(error):
            _logger.error("the gateway to server %r failed", self._server.name, exc_info=error)
        raise to_sdk_error(error) from error

    def _downstream(self, context: Any) -> Downstream:
        self._check_open()
        user = call_sync_inside(lambda: self._user(context))
        return read_downstream(context, check_user(user))

    def _make_caller(self, connection: UpstreamConnection, modes: frozenset[Mode], user: str | None) -> UpstreamCaller:
        caller = UpstreamCaller(
            self._handler.of(connection),
            self._server,
            user=user,
            modes=modes_within(self._request_options or DEFAULT_REQUEST_OPTIONS, modes),
            request_options=self._request_options,
            max_questions=self._max_questions,
            max_rounds=self._max_rounds,
        )
        caller.has_policies = self._handler.has_policies
        return caller

    async def _relay(
        self,
        context: Any,
        params: Any,
        kind: Literal["tool", "prompt", "resource"],
        name: str,
        arguments: Mapping[str, Any] | None,
    ) -> Any:
        try:
            downstream = self._downstream(context)
            spec = CallSpec(kind, name, arguments, forwarded_meta(getattr(params, "meta", None)))
            progress = read_progress(context)
            if downstream.has_rounds:
                result = await self._rounds.relay(downstream, spec, params, progress)
            else:
                result = await self._push(downstream, spec, progress)
            remove_hop_meta(result)
        except Exception as error:  # noqa: BLE001 -- raised again
            self._raise_sdk_error(error)
        return result

    async def _push(self, downstream: Downstream, spec: CallSpec, progress: ProgressCallback | None) -> Any:
        """Make a call whose client is asked with server-initiated requests."""
        group = self._check_open()
        async with self._connections.lease(downstream) as connection:
            call = PushedCall(downstream, connection, group)
            connection.ask = call.ask
            try:
                return await connection.caller.push(
                    connection.client,
                    spec,
                    self._timeouts,
                    complete_urls=call.forward_urls,
                    progress_callback=progress,
                )
            finally:
                call.is_active = False

    def _check_open(self) -> anyio.abc.TaskGroup:
        if self._group is None:
            raise RuntimeError("The relay is not open. Use it in `async with relay:`.")
        return self._group
