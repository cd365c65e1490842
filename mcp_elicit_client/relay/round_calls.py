"""`RoundCalls`: calls whose client is asked with multi-round-trip requests."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import anyio

from mcp_elicit_client.calls.active_call import CallHistory
from mcp_elicit_client.calls.methods import FIRST_ROUND, CallSpec, ProgressCallback
from mcp_elicit_client.calls.suspending import CallSnapshot, PausedCall
from mcp_elicit_client.calls.task_polling import TaskHandle
from mcp_elicit_client.calls.url_elicitations import parse_url_required
from mcp_elicit_client.core.answer import UrlElicitationIncompleteError
from mcp_elicit_client.exceptions import CallError, TaskError
from mcp_elicit_client.relay.connections import ConnectionPool, Lease, UpstreamConnection
from mcp_elicit_client.relay.downstream import Downstream
from mcp_elicit_client.relay.held_call import HeldCall
from mcp_elicit_client.relay.held_calls import HeldCalls, Work
from mcp_elicit_client.relay.legs import CallOutcome, Leg, Step, input_required
from mcp_elicit_client.relay.refusals import RefusedError, check_declared
from mcp_elicit_client.relay.state import StateContent, StateSigner
from mcp_elicit_client.relay.stored_calls import StoredCalls
from mcp_elicit_client.relay.upstream import RelayTimeouts, UrlRequiredInRounds
from mcp_elicit_client.typing import Answer

_CANCEL_TIMEOUT = 5.0
"""The maximum time for cancelling a task of the upstream server, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundCalls:
    """
    Such calls of a relay.

    A call to a server with multi-round-trip requests is stored between two
    requests of the client.  Any other call is held by this process.

    Attributes:
        connections: The connections to the upstream server.
        stored: The stored calls.
        held: The held calls.
        signer: Makes and reads the ``requestState``.
        timeouts: The timeouts of calls.
        leg_ttl: How long a leg can be answered, in seconds.
    """

    connections: ConnectionPool
    stored: StoredCalls
    held: HeldCalls
    signer: StateSigner
    timeouts: RelayTimeouts
    leg_ttl: float

    async def relay(
        self, downstream: Downstream, spec: CallSpec, params: Any, progress: ProgressCallback | None
    ) -> Any:
        """
        Make or continue a call.

        Args:
            downstream: The client.
            spec: What is called.
            params: The params of its request.
            progress: Forwards the progress to this request.

        Returns:
            The result of the upstream server, or an ``InputRequiredResult``.

        Raises:
            ElicitationError: If the request is refused.
            Exception: The error with which the call ended.
        """
        responses = params.input_responses or {}
        if params.request_state is None:
            if responses:
                raise RefusedError("state_missing")
            step = await self._start(downstream, spec, progress)
        else:
            state = self.signer.verify(params.request_state, downstream.caller)
            if state.process:
                held = self.held.find(state.call_id, state.process, spec)
                step = await held.respond(state.leg, responses, progress)
            else:
                step = await self._continue(downstream, spec, state, responses, progress)
        if isinstance(step, CallOutcome):
            return step.unwrap()
        check_declared(frozenset(each.mode for each in step.questions.values()), downstream.modes)
        state = StateContent(step.call_id, step.number, step.process)
        return input_required(step, self.signer.sign(state, downstream.caller, self.leg_ttl))

    async def _start(self, downstream: Downstream, spec: CallSpec, progress: ProgressCallback | None) -> Step:
        result: Any = None
        lease = self.connections.lease(downstream)
        async with lease as connection:
            if connection.has_rounds:
                result = await connection.caller.start(connection.client, spec, self.timeouts, progress)
            held = self._hold(downstream, spec, lease, result)
        if held is not None:
            return await held.wait(progress)
        if isinstance(result, PausedCall):
            leg = await self.stored.start(downstream.caller, result)
            self.connections.keep(connection, leg.call_id, self.leg_ttl)
            return leg
        return CallOutcome(result)

    def _hold(self, downstream: Downstream, spec: CallSpec, lease: Lease, result: Any) -> HeldCall | None:
        """Hold a call that has no *result* yet, or one that only a process can finish; return None for any other."""
        work: Work
        timeouts = replace(self.timeouts, answer_timeout=None)  # the legs limit the time of the user
        if result is None or isinstance(result, UrlRequiredInRounds):
            work = functools.partial(_make, spec, timeouts, result)
        elif isinstance(result, TaskHandle):
            work = functools.partial(_finish_task, spec, timeouts, result)
        else:
            return None
        return self.held.start(downstream, spec, lease, work)

    async def _continue(
        self,
        downstream: Downstream,
        spec: CallSpec,
        state: StateContent,
        responses: Mapping[str, Any],
        progress: ProgressCallback | None,
    ) -> Step:
        async def proceed(
            snapshot: CallSnapshot, answers: Mapping[str, Answer], before_send: Callable[[], None]
        ) -> Any:
            lease = self.connections.lease(downstream, self.connections.connection_of(state.call_id))
            async with lease as connection:
                result = await connection.caller.proceed(
                    connection.client,
                    snapshot,
                    answers,
                    self.timeouts,
                    before_send=before_send,
                    progress_callback=progress,
                )
                held = self._hold(downstream, spec, lease, result)
            if isinstance(result, PausedCall):
                self.connections.keep(connection, state.call_id, self.leg_ttl)
                return result
            self.connections.release(state.call_id)
            if held is None:
                return result
            step = await held.wait(progress)
            return step.unwrap() if isinstance(step, CallOutcome) else step

        step = await self.stored.respond(downstream.caller, state, responses, spec=spec, proceed=proceed)
        if isinstance(step, Leg) and step.process and not step.questions:  # held since, and asked for again
            return await self.held.find(step.call_id, step.process, spec).respond(step.number, {}, progress)
        return step


async def _make(
    spec: CallSpec,
    timeouts: RelayTimeouts,
    paused: UrlRequiredInRounds | None,
    connection: UpstreamConnection,
    held: HeldCall,
) -> Any:
    return await connection.caller.push(
        connection.client,
        spec,
        timeouts,
        complete_urls=connection.caller.waiting_for_urls(held.pause),
        paused=paused,
        progress_callback=held.report_progress,
    )


async def _finish_task(
    spec: CallSpec, timeouts: RelayTimeouts, task: TaskHandle, connection: UpstreamConnection, held: HeldCall
) -> Any:
    """
    Drive a task to its end.  If that is cancelled or fails, the task is cancelled, because the client does not know it.

    If it fails because the server requires URL elicitations, the call is made
    again after them.
    """
    caller, client = connection.caller, connection.client
    try:
        return await caller.resume_task(task, client, timeout=timeouts.timeout, answer_timeout=timeouts.answer_timeout)
    except UrlElicitationIncompleteError as error:
        failure = error.__cause__
        required = parse_url_required(failure, FIRST_ROUND) if isinstance(failure, Exception) else None
        if required is None:
            raise
    except (anyio.get_cancelled_exc_class(), CallError) as error:
        if not isinstance(error, TaskError):  # which ends the task itself, if there still is one
            with anyio.move_on_after(_CANCEL_TIMEOUT, shield=True), suppress(Exception):
                await caller.cancel_task(task, client)
        raise
    return await _make(spec, timeouts, UrlRequiredInRounds(required, CallHistory()), connection, held)
