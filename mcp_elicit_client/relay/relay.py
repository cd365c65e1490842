"""`Relay`: carries calls to one upstream server, and its elicitation requests, through a gateway."""

from __future__ import annotations

import functools
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Literal

import anyio
import anyio.abc
from typing_extensions import Self

from mcp_elicit_client.calls.methods import CallSpec, ProgressCallback
from mcp_elicit_client.calls.suspending import CallSnapshot, PausedCall
from mcp_elicit_client.calls.task_polling import TaskHandle
from mcp_elicit_client.calls.url_elicitations import UrlRequired
from mcp_elicit_client.core.budgets import Admission
from mcp_elicit_client.core.request import PROTOCOL_VERSIONS, ProtocolVersion, Server, check_user
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.dispatch import NormalizedHandler, chain_policies, normalize_handler
from mcp_elicit_client.exceptions import ElicitationError
from mcp_elicit_client.inbox.inbox import Inbox
from mcp_elicit_client.inbox.stores.memory import MemoryStore
from mcp_elicit_client.relay.connections import ConnectionPool, UpstreamConnection
from mcp_elicit_client.relay.downstream import Downstream, authenticated_user, read_downstream
from mcp_elicit_client.relay.held import HeldCall
from mcp_elicit_client.relay.legs import Leg, Outcome, Step, input_required
from mcp_elicit_client.relay.pushing import PushedCall
from mcp_elicit_client.relay.refusals import RefusedError, to_sdk_error
from mcp_elicit_client.relay.state import Binding, CallState, StateSealer
from mcp_elicit_client.relay.stored import OUTCOME_TTL, StoredCalls
from mcp_elicit_client.relay.upstream import CallOptions, UpstreamCaller, UrlRequiredInRoundsError
from mcp_elicit_client.relay.wire import FORWARDED_META, forwarded_meta, only_relayable, without_hop_meta
from mcp_elicit_client.request_options import RequestOptions
from mcp_elicit_client.typing import Answer, Mode, Policy, Request

ANSWER_TIMEOUT = 590.0
"""The default time of the user, in seconds: less than the 600 s for which the Python SDK's server accepts its state."""

MAX_CALL = 3_600.0
"""How long a call may last in total, in seconds, if its client is asked with multi-round-trip requests."""

_CANCEL_TIMEOUT = 5.0
"""The maximum time for cancelling a task of the upstream server, in seconds."""

IDLE_TIMEOUT = 300.0
"""How long an unused connection to the upstream server stays open, in seconds."""


_asked_client: ContextVar[UpstreamConnection | None] = ContextVar("asked_client", default=None)
"""The connection on which the request in progress was made."""


async def _ask_client(request: Request) -> Answer:
    """Ask the client whose call led to *request*: the handler inside of all policies."""
    connection = _asked_client.get()
    if connection is None or connection.ask is None:
        return Answer.cancel(by="unattended", reason="the request belongs to no call of a client")
    return await connection.ask(request)


def _asked_in() -> ProtocolVersion:
    connection = _asked_client.get()
    return PROTOCOL_VERSIONS[-1] if connection is None else connection.asked_in


async def _make(
    spec: CallSpec, options: CallOptions, required: UrlRequired | None, connection: UpstreamConnection
) -> Any:
    return await connection.caller.push(connection.client, spec, options, required=required)


async def _finish_task(task: TaskHandle, options: CallOptions, connection: UpstreamConnection) -> Any:
    """Drive a task to its end.  If that is cancelled, the task is cancelled."""
    caller, client = connection.caller, connection.client
    try:
        return await caller.resume_task(task, client, timeout=options.timeout, answer_timeout=options.answer_timeout)
    except anyio.get_cancelled_exc_class():
        with anyio.move_on_after(_CANCEL_TIMEOUT, shield=True):
            await caller.cancel_task(task, client)
        raise


def _progress(context: Any) -> ProgressCallback | None:
    """Return what forwards the progress of a call to its client, if the client wants to know it."""
    meta = getattr(context, "meta", None)
    if isinstance(meta, Mapping):
        token = meta.get("progress_token", meta.get("progressToken"))
    else:
        token = getattr(meta, "progressToken", None)
    if token is None:
        return None

    async def forward(progress: float, total: float | None, message: str | None) -> None:
        shown = None if message is None else sanitize_text(message)
        await context.session.send_progress_notification(token, progress, total, shown, context.request_id)

    return forward


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
    upstream server sees only the modes that the client of the call declares.

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
        request_options: Limits and URL rules for requests.
        timeout: The maximum time of the upstream server in one call, in
            seconds; None for no limit.  It is paused while a request is open.
        answer_timeout: The maximum time of the user, in seconds: for all
            server-initiated requests of a call, or for each result of a
            server with multi-round-trip requests.
        mode: How the protocol version is negotiated with the upstream server,
            as for `Caller.connect`.
        idle_timeout: Seconds after which unused connections are closed.
        max_calls: The maximum number of calls of one client at a time, those
            that wait for its answers included.
        max_questions: The maximum number of requests in one call.

    Raises:
        ValueError: If the key is too short, or the name is empty.
        TypeError: If a policy is not a policy.
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
    ) -> None:
        self.server: Server = Server.from_name(server)
        self._user = user
        self._request_options = request_options
        self._options = CallOptions(timeout, answer_timeout)
        self._max_calls = max_calls
        self._max_questions = max_questions
        self._sealer = StateSealer(key, self.server.name)
        self._process = secrets.token_urlsafe(9)
        client = normalize_handler(_ask_client, is_registered=True)
        self._handler = chain_policies([*policies, only_relayable(_asked_in)], client)
        self._admission = self._handler.admission or Admission()
        self._connections = ConnectionPool(
            upstream, self._make_caller, mode=mode, idle_timeout=idle_timeout, max_calls=max_calls
        )
        self._stored = StoredCalls(inbox or Inbox(MemoryStore()), leg_ttl=answer_timeout, max_ttl=MAX_CALL)
        self._held: dict[str, HeldCall] = {}
        self._held_by: Counter[str] = Counter()
        self._group: anyio.abc.TaskGroup | None = None

    async def __aenter__(self) -> Self:
        """Open the relay.  Connections are made when they are needed."""
        group = anyio.create_task_group()
        self._group = self._connections.group = await group.__aenter__()
        group.start_soon(self._connections.close_idle)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End calls that are held, and close all connections."""
        group, self._group, self._connections.group = self._group, None, None
        if group is not None:
            group.cancel_scope.cancel()
            await group.__aexit__(kind, error, trace)

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
        return await self._relay(context, params, "tool", name or params.name, params.arguments)

    async def get_prompt(self, context: Any, params: Any, *, name: str | None = None) -> Any:
        """Make the call of a client's ``prompts/get`` request, as `call_tool` does."""
        return await self._relay(context, params, "prompt", name or params.name, params.arguments)

    async def read_resource(self, context: Any, params: Any, *, uri: str | None = None) -> Any:
        """Make the call of a client's ``resources/read`` request, as `call_tool` does."""
        return await self._relay(context, params, "resource", uri or str(params.uri), None)

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
        try:
            async with self._connections.lease(self._downstream(context)) as connection:
                yield connection.client
        except ElicitationError as error:
            raise to_sdk_error(error) from error

    def _downstream(self, context: Any) -> Downstream:
        return read_downstream(context, check_user(self._user(context)))

    def _make_caller(self, connection: UpstreamConnection, modes: frozenset[Mode], user: str | None) -> UpstreamCaller:
        async def ask(request: Request) -> Answer:
            token = _asked_client.set(connection)
            try:
                return await self._handler(request)
            finally:
                _asked_client.reset(token)

        handler = NormalizedHandler(ask, self._handler.held_options, self._admission, self._handler.notifier)
        return UpstreamCaller(
            handler,
            self.server,
            user=user,
            modes=modes,
            request_options=self._request_options,
            max_questions=self._max_questions,
        )

    # --- the four combinations

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
            spec = CallSpec(kind, name, arguments, forwarded_meta(getattr(params, "meta", None), FORWARDED_META))
            if not downstream.has_rounds:
                result = await self._push(downstream, spec, context)
            else:
                result = await self._round(downstream, spec, context, params)
            return without_hop_meta(result)
        except ElicitationError as error:
            raise to_sdk_error(error) from error

    async def _push(self, downstream: Downstream, spec: CallSpec, context: Any) -> Any:
        """Make a call whose client is asked with server-initiated requests."""
        async with self._connections.lease(downstream) as connection:
            call = PushedCall(downstream, connection, self._tasks)
            connection.ask = call.ask
            try:
                return await connection.caller.push(
                    connection.client,
                    spec,
                    self._options,
                    forward_urls=call.forward_urls,
                    progress_callback=_progress(context),
                )
            finally:
                call.is_active = False

    async def _round(self, downstream: Downstream, spec: CallSpec, context: Any, params: Any) -> Any:
        """Make or continue a call whose client is asked with multi-round-trip requests."""
        binding = Binding.of(downstream.caller, spec.kind, spec.name, spec.arguments)
        responses = params.input_responses or {}
        if params.request_state is None:
            if responses:
                raise RefusedError("state_missing")
            step = await self._start(downstream, spec, context)
        else:
            state = self._sealer.unseal(params.request_state, binding)
            if state.process:
                step = await self._find_held(state.call_id, state.process).respond(state.leg, responses)
            else:
                step = await self._continue(downstream, spec, state, responses)
        if isinstance(step, Outcome):
            return step.unwrap()
        sealed = self._sealer.seal(CallState(step.call_id, step.number, step.process), binding, self._leg_ttl)
        return input_required(step, sealed)

    async def _start(self, downstream: Downstream, spec: CallSpec, context: Any) -> Step:
        required: UrlRequired | None = None
        async with self._connections.lease(downstream) as connection:
            if connection.has_rounds:
                try:
                    came = await connection.caller.start(
                        connection.client, spec, self._options, progress_callback=_progress(context)
                    )
                except UrlRequiredInRoundsError as error:
                    required = error.required
                else:
                    return await self._step_of(downstream, came)
        return await self._hold(downstream, functools.partial(_make, spec, self._options, required))

    async def _step_of(self, downstream: Downstream, came: Any) -> Step:
        if isinstance(came, PausedCall):
            return await self._stored.start(downstream.caller, came)
        if isinstance(came, TaskHandle):
            return await self._hold(downstream, functools.partial(_finish_task, came, self._options))
        return Outcome(came)

    async def _continue(
        self, downstream: Downstream, spec: CallSpec, state: CallState, responses: Mapping[str, Any]
    ) -> Step:
        async def proceed(snapshot: CallSnapshot, answers: Mapping[str, Answer]) -> Any:
            async with self._connections.lease(downstream) as connection:
                came = await connection.caller.proceed(connection.client, snapshot, answers, self._options)
            if isinstance(came, TaskHandle):
                step = await self._step_of(downstream, came)
                return step.unwrap() if isinstance(step, Outcome) else step
            return came

        step = await self._stored.respond(downstream.caller, state, responses, kind=spec.kind, proceed=proceed)
        if isinstance(step, Leg) and step.process and not step.questions:  # held since, and asked for again
            return await self._find_held(step.call_id, step.process).respond(step.number, {})
        return step

    # --- held calls

    async def _hold(self, downstream: Downstream, work: Callable[[UpstreamConnection], Awaitable[Any]]) -> Step:
        """Make a call in a task of this relay, and return its first leg or its outcome."""
        key = repr(downstream.key)
        if self._held_by[key] >= self._max_calls:
            raise RefusedError("too_many_calls")
        call = HeldCall(downstream.caller, self._process, leg_ttl=self._leg_ttl, max_ttl=MAX_CALL)
        self._held[call.id] = call
        self._held_by[key] += 1
        self._tasks.start_soon(self._run_held, call, key, downstream, work)
        return await call.first()

    async def _run_held(
        self,
        call: HeldCall,
        key: str,
        downstream: Downstream,
        work: Callable[[UpstreamConnection], Awaitable[Any]],
    ) -> None:
        try:
            with call.scope:
                try:
                    async with self._connections.lease(downstream) as connection:
                        connection.ask = call.ask
                        call.finish(Outcome(await work(connection)))
                except Exception as error:  # noqa: BLE001 -- raised for the client, in its request
                    call.finish(Outcome(error=error))
            call.finish(Outcome(error=RefusedError("ended")))
        finally:
            self._held_by[key] -= 1
            if not self._held_by[key]:
                del self._held_by[key]
            if call.was_asked and self._group is not None:
                self._group.start_soon(self._forget, call.id)
            else:
                self._held.pop(call.id, None)

    async def _forget(self, call_id: str) -> None:
        """Forget a call after its client had time to ask for the outcome again."""
        await anyio.sleep(OUTCOME_TTL)
        self._held.pop(call_id, None)

    def _find_held(self, call_id: str, process: str) -> HeldCall:
        if process != self._process:
            raise RefusedError("process")
        call = self._held.get(call_id)
        if call is None:
            raise RefusedError("ended")
        return call

    @property
    def _leg_ttl(self) -> float:
        assert self._options.answer_timeout is not None
        return self._options.answer_timeout

    @property
    def _tasks(self) -> anyio.abc.TaskGroup:
        if self._group is None:
            raise RuntimeError("The relay is not open. Use it in `async with relay:`.")
        return self._group
