"""
`TaskSuspender`: tasks whose requests are answered in an inbox, by any process at any time.

Every step can be repeated, also by several processes at the same time.  What
was asked is stored before the user sees it, and only if no other process
changed the call meanwhile.  What was answered is stored before it is sent.
The server ignores a response that it has.  So a process may stop anywhere.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Mapping
from typing import Any

import anyio

from mcp_elicit_client.calls.active_call import ActiveCall
from mcp_elicit_client.calls.elicitations import ElicitationDispatcher, Waiting
from mcp_elicit_client.calls.resuming import GivenAnswer, LoadedCall, load_call
from mcp_elicit_client.calls.suspending import (
    Claim,
    Deferral,
    SuspendedCall,
    SuspendOptions,
    TaskSnapshot,
    defer_into,
    expire_with_call,
    owner_of_call,
    suspended_call,
    user_of_call,
)
from mcp_elicit_client.calls.task_polling import TaskPoller
from mcp_elicit_client.calls.task_wire import InputRequest, TaskState
from mcp_elicit_client.calls.tasks import MISSED_POLLS, ask_host, read_result, response_to_wire
from mcp_elicit_client.calls.url_elicitations import raise_if_call_must_be_repeated
from mcp_elicit_client.core.answer import Answer
from mcp_elicit_client.exceptions import EntryClosedError, EntryNotFoundError, InboxError, TaskError
from mcp_elicit_client.inbox.stores.models import StoredCall
from mcp_elicit_client.inbox.suspended_calls import CLOSE_TIMEOUT, calls_of

MIN_LIFETIME = 60.0
"""The minimum time for which a suspended task is stored, in seconds, even if the server states less."""

_logger = logging.getLogger("mcp_elicit_client")


class TaskSuspender:
    """
    Drives one task until it has ended, or waits for users.

    Args:
        options: Where the task is suspended.
        poller: Polls the task.
        call: The call that the task belongs to.
        elicitations: What answers the requests of the server.
        server: The name that the host application gave the server.
        loaded: The task as it was suspended; None for a new one.
        claim: The claim of this process, if a suspended call became the task
            when it was resumed.
    """

    _stored: StoredCall

    def __init__(  # noqa: PLR0913 -- the parts of one task, by keyword
        self,
        options: SuspendOptions,
        poller: TaskPoller,
        call: ActiveCall,
        *,
        elicitations: ElicitationDispatcher,
        server: str,
        loaded: LoadedCall | None = None,
        claim: Claim | None = None,
    ) -> None:
        self._options = options
        self._calls = calls_of(options.inbox)
        self._owner = owner_of_call(options, call.user)
        self._poller = poller
        self._call = call
        self._elicitations = elicitations
        self._server = server
        self._claim = claim
        self._answers: Mapping[str, Answer | None] = {}
        self._sent: set[str] = set()
        self._missed: dict[str, int] = {}
        if loaded is None:
            now = self._calls.store.clock()
            self._snapshot = TaskSnapshot(
                server=server,
                user=user_of_call(options, call.user),
                reference=options.reference,
                history=call.history,
                task_id=poller.state.id,
                tool=call.tool,
                created_at=now,
            )
        else:
            self._use(loaded)

    async def start(self, *, wait: bool) -> Any:
        """
        Store a new task, and wait until it has ended or requires input from a user.

        Args:
            wait: If False, do not wait.

        Raises:
            InboxError: If the inbox cannot be used.
            Exception: As in `TaskDriver.run`.  The task is cancelled then.
        """
        lifetime = self._expires_at() - self._snapshot.created_at
        call_id = None if self._claim is None else self._claim.id
        try:
            self._stored = await self._calls.suspend(self._owner, self._snapshot.write(), [], lifetime, call_id)
        except BaseException as error:
            await self._poller.abandon_after(error, is_owned=True)
            raise
        if self._claim is not None:
            self._claim.was_suspended = True
            return await self.resume()  # the host application has the ID, so the task goes on if this ends early
        result: Any = None
        try:
            await self._poller.report()
            result = await self._run_new() if wait else self._suspended()
        except BaseException as error:
            await self._poller.abandon_after(error, is_owned=True)
            raise
        finally:
            if not isinstance(result, SuspendedCall):  # the ID of the stored call was not returned
                await self._calls.erase(self._stored.id)
        return result

    async def _run_new(self) -> Any:
        is_working = self._poller.state.status == "working"
        return await self._run(await (self._poller.next() if is_working else self._poller.poll()))

    async def resume(self) -> Any:
        """
        Continue a suspended task.

        Returns:
            The tool's result; or a `SuspendedCall`, if requests are pending.

        Raises:
            InboxError: If the inbox cannot be used.
            UrlElicitationIncompleteError: If the server requires URL
                elicitations.
            Exception: As in `TaskDriver.run`.
        """
        try:
            return await self._run(await self._poller.poll())
        except TaskError as error:
            await self._poller.abandon_after(error, is_owned=False)
            if error.code not in ("interrupted", "unsupported"):  # the right server may know the task
                await self._close_quietly()
            raise
        except Exception as error:
            raise_if_call_must_be_repeated(error)
            raise

    async def _run(self, state: TaskState) -> Any:
        while not state.is_final:
            await self._store_requests(state)
            await self._send_responses(state)
            if await self._has_pending(state):
                return self._suspended()
            is_visited = any(each.is_visited_after(self._answers.get(key)) for key, each in state.requests.items())
            state = await self._poller.wait(is_with_user=is_visited)
        await self._close_quietly()  # The server has done what was asked: its result must not be lost.
        return await read_result(self._call, state)

    # --- what is asked

    async def _store_requests(self, state: TaskState) -> None:
        while True:
            fresh = self._fresh(state)
            if fresh:
                self._poller.reset_idle()
            elif abs(self._expires_at() - self._stored.expires_at) < 1:
                return
            deferred = await self._defer(fresh, state)
            if await self._update(deferred, {key: fresh[key].digest for key in deferred}):
                return
            user = self._snapshot.user
            self._use(await load_call(self._calls, self._owner, self._stored.id, self._server, user=user))

    def _fresh(self, state: TaskState) -> dict[str, InputRequest]:
        """Return the requests that were not asked yet."""
        known = {**self._snapshot.requests, **{key: each for key, (each, _) in self._snapshot.responses.items()}}
        for key, request in state.requests.items():
            if known.get(key, request.digest) != request.digest:
                raise TaskError("invalid", "it changed a request under the same key", task_id=state.id)
        fresh = {key: request for key, request in state.requests.items() if key not in known}
        if len(known) + len(fresh) > self._call.max_questions:
            raise TaskError("limit", f"more than {self._call.max_questions} requests", task_id=state.id)
        return fresh

    async def _defer(self, fresh: Mapping[str, InputRequest], state: TaskState) -> dict[str, Deferral]:
        """Return the requests for the inbox.  What is answered at once goes into the snapshot."""
        deferred: dict[str, Deferral] = {}
        pending: dict[str, Deferral] = {}
        self._call.begin_round()
        for key, request in fresh.items():
            if not request.is_elicitation:
                self._respond(key, request, await ask_host(self._call, state.id, key, request))
                continue
            answer = await self._ask(key, state, defer_into(deferred, key))
            deferral = deferred.get(key)
            if answer.by == "timeout" and (deferral is None or deferral.shown is not None):
                raise self._call.timeouts.expired("answer_timeout")  # not asked: another attempt may be faster
            if answer.by == "pending" and deferral is not None and deferral.shown is not None:
                pending[key] = deferral
            else:
                self._respond(key, request, response_to_wire(self._elicitations.to_result(answer)))
        self._call.check_repeats()
        return pending

    def _respond(self, key: str, request: InputRequest, response: dict[str, Any]) -> None:
        self._snapshot.responses[key] = (request.digest, response)

    async def _ask(self, key: str, state: TaskState, stored: Any, waiting: Waiting = "user") -> Answer:
        # A lost connection must not answer: what is asked and answered here is stored, and sent over another one.
        until = anyio.sleep_forever
        return await self._elicitations.on_batch_request(
            self._call, state.params, key, stored=stored, until=until, waiting=waiting
        )

    async def _update(self, deferred: Mapping[str, Deferral], digests: Mapping[str, str]) -> bool:
        expires_at = self._expires_at()
        lifetime = expires_at - self._calls.store.clock()
        requests = {**self._snapshot.requests, **digests}
        snapshot = self._snapshot.model_copy(update={"requests": requests, "history": self._call.history})
        shown = [expire_with_call(self._options, each.shown, lifetime) for each in deferred.values() if each.shown]
        try:
            stored = await self._calls.update(self._stored, snapshot.write(), shown, expires_at)
        except ValueError as error:
            raise TaskError("invalid", "a request cannot be written as JSON", task_id=snapshot.task_id) from error
        if stored is None:
            return False
        self._stored, self._snapshot = stored, snapshot
        self._answers = {**self._answers, **dict.fromkeys(digests)}
        return True

    def _expires_at(self) -> float:
        ttl = self._poller.state.ttl
        lifetime = self._options.task_timeout if ttl is None else min(ttl, self._options.task_timeout)
        return self._snapshot.created_at + max(lifetime, MIN_LIFETIME)

    def _use(self, loaded: LoadedCall) -> None:
        if not isinstance(loaded.snapshot, TaskSnapshot):
            raise InboxError("The stored task cannot be read. Call the tool again.")
        self._stored, self._snapshot, self._answers = loaded.stored, loaded.snapshot, loaded.answers
        self._call.history = loaded.snapshot.history

    # --- what was answered

    async def _send_responses(self, state: TaskState) -> None:
        for key in state.requests:
            if key in self._sent:
                continue
            response = await self._response(key, state)
            if response is not None:
                await self._poller.send(key, response)
                self._sent.add(key)

    async def _response(self, key: str, state: TaskState) -> dict[str, Any] | None:
        if key in self._snapshot.responses:
            return self._snapshot.responses[key][1]
        given = self._answers.get(key)
        if given is None:
            return None
        answer = await self._ask(key, state, lambda _request: GivenAnswer(given), "policies")
        return response_to_wire(self._elicitations.to_result(answer))

    async def _has_pending(self, state: TaskState) -> bool:
        """Return True if users must answer; withdraw requests that the server no longer lists."""
        pending = {key for key, answer in self._answers.items() if answer is None}
        vanished = pending - set(state.requests) if self._poller.is_reachable else set()
        for key in vanished:
            self._missed[key] = self._missed.get(key, 0) + 1
            if self._missed[key] >= MISSED_POLLS:
                await self._withdraw(key)
        for key in state.requests:
            self._missed.pop(key, None)
        return not pending.isdisjoint(state.requests)

    async def _withdraw(self, key: str) -> None:
        entry_id = self._request_ids[key]
        with contextlib.suppress(EntryClosedError, EntryNotFoundError):
            await self._options.inbox.withdraw(self._owner, entry_id, withdrawn_by="client")
        self._answers = {**self._answers, key: Answer.cancel(by="host", reason="the server withdrew the request")}

    @property
    def _request_ids(self) -> dict[str, str]:
        return dict(zip(self._snapshot.requests, self._stored.request_ids, strict=True))

    def _suspended(self) -> SuspendedCall:
        ids = self._request_ids
        return suspended_call(self._stored, (ids[key] for key, answer in self._answers.items() if answer is None))

    # --- the end

    async def _close(self) -> None:
        """Withdraw pending requests and erase answers.  The result can be fetched again until the task expires."""
        for key, answer in self._answers.items():
            if answer is None:
                await self._withdraw(key)
        if not self._snapshot.requests and not self._snapshot.responses:
            return
        self._snapshot.responses.clear()
        await self._update({}, {})
        await self._calls.store.erase_answers(self._stored.id)

    async def _close_quietly(self) -> None:
        with anyio.move_on_after(CLOSE_TIMEOUT, shield=True):
            try:
                await self._close()
            except InboxError as error:  # The task expires.
                _logger.warning("The answers to a task of server %r could not be erased. %s", self._server, error)
