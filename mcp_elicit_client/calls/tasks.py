"""
Tasks (``io.modelcontextprotocol/tasks``): `TaskDriver`, which waits for the result of a task and answers its requests.

The server's timeout is paused while a request is open, although the task is
polled meanwhile: the server may withdraw the request, or end the task.  Each
key is asked once.  An answer is remembered before it is sent, so that sending
can be repeated.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, TypeAlias

from mcp_elicit_client.calls.active_call import ActiveCall
from mcp_elicit_client.calls.elicitations import ElicitationDispatcher
from mcp_elicit_client.calls.methods import model_to_wire
from mcp_elicit_client.calls.multi_round_trip import answer_host_requests, load_host_requests
from mcp_elicit_client.calls.server_errors import raise_for, raise_if_capability_is_required, sdk_error
from mcp_elicit_client.calls.task_polling import TaskPoller
from mcp_elicit_client.calls.task_wire import InputRequest, TaskState, read_tool_result
from mcp_elicit_client.exceptions import CapabilityRequiredError, TaskError

_MAX_REMEMBERED = 256

MISSED_POLLS = 2
"""A request is withdrawn if it is missing in this many polls: one replica of the server may lag behind."""


@dataclass(slots=True)
class AskedKey:
    """
    A key that was asked.

    Attributes:
        digest: What identifies the content of its request.
        response: The response, as on the wire; None while it is open.
        was_sent: The server has acknowledged the response.
        is_visited: The user has opened the URL of the request.
    """

    digest: str
    response: dict[str, Any] | None = None
    was_sent: bool = False
    is_visited: bool = False

    @property
    def is_with_user(self) -> bool:
        """Return True if the user has not finished: a call asks now, or the server still lists an opened URL."""
        return self.response is None or self.is_visited


TaskName: TypeAlias = tuple[str | None, str]
"""The user of a task, and the server's ID.  A server process may give another user a task with the same ID."""


class TaskMemory:
    """The keys that were asked, for the tasks of one server in this process, so that no connection asks them again."""

    def __init__(self) -> None:
        self._tasks: OrderedDict[TaskName, dict[str, AskedKey]] = OrderedDict()

    def begin(self, task: TaskName) -> None:
        """Forget what was asked under the ID of a new task: a server that was restarted may use an ID again."""
        self._tasks.pop(task, None)

    def asked(self, task: TaskName) -> dict[str, AskedKey]:
        """Return the keys of one task that were asked."""
        asked = self._tasks.setdefault(task, {})
        self._tasks.move_to_end(task)
        while len(self._tasks) > _MAX_REMEMBERED:
            self._tasks.popitem(last=False)
        return asked

    def forget(self, task: TaskName, asked: dict[str, AskedKey]) -> None:
        """Forget a task that has ended, unless its ID belongs to another one by now."""
        if self._tasks.get(task) is asked:
            del self._tasks[task]


class TaskDriver:
    """
    Drives one task until it ends, in a process that waits for it.

    Args:
        poller: Polls the task.
        call: The call that the task belongs to.
        elicitations: What answers the requests of the server.
        asked: The keys that were asked before.
        is_owned: No other code knows the task, so it is cancelled if this call
            ends without it.
    """

    def __init__(
        self,
        poller: TaskPoller,
        call: ActiveCall,
        *,
        elicitations: ElicitationDispatcher,
        asked: dict[str, AskedKey],
        is_owned: bool,
    ) -> None:
        self._poller = poller
        self._call = call
        self._elicitations = elicitations
        self._asked = asked
        self._is_owned = is_owned
        self._listed: set[str] = set()
        self._failure: Exception | None = None

    async def run(self) -> Any:
        """
        Poll until the task ends, and return the tool's result.

        Raises:
            TaskError: If there is no result.
            CallError: If the server repeats a request that was declined or
                cancelled.
            CallTimeoutError: If a timeout passes.
            Exception: The SDK's error, if the call has failed.
        """
        try:
            return await self._run()
        except BaseException as error:
            await self._poller.abandon_after(error, is_owned=self._is_owned)
            raise

    async def _run(self) -> Any:
        await self._poller.report()
        state = self._poller.state
        if state.status == "working" and self._is_owned:
            state = await self._poller.next()
        elif not state.is_final:
            state = await self._poller.poll()
        while not state.is_final:
            state = await self._step(state)
        return await read_result(self._call, state)

    async def _step(self, state: TaskState) -> TaskState:
        await self._send_remembered(state)
        key = self._next_key(state)
        if key is None:
            is_with_user = any(self._asked[each].is_with_user for each in state.requests)
            return await self._poller.wait(is_with_user=is_with_user)
        self._poller.reset_idle()
        await self._answer(key, state)
        return self._poller.state

    def _next_key(self, state: TaskState) -> str | None:
        for key, request in state.requests.items():
            asked = self._asked.get(key)
            if asked is None:
                return key
            self._check_unchanged(request, asked)
        return None

    def _check_unchanged(self, request: InputRequest, asked: AskedKey) -> None:
        if request.digest != asked.digest:
            raise TaskError("invalid", "it changed a request under the same key", task_id=self._poller.state.id)

    async def _answer(self, key: str, state: TaskState) -> None:
        history = self._call.history
        if max(len(self._asked), history.requests) >= self._call.max_questions:
            raise TaskError("limit", f"more than {self._call.max_questions} requests", task_id=state.id)
        if key not in self._listed:
            self._call.begin_round()
        self._listed.update(state.requests)
        request = state.requests[key]
        asked = self._asked[key] = AskedKey(request.digest)
        try:
            if request.is_elicitation:
                asked.response = await self._elicit(key, state)
            else:
                asked.response = await ask_host(self._call, state.id, key, request)
        finally:
            if asked.response is None:  # withdrawn, or this call was cancelled: it may be asked again
                del self._asked[key]
        if self._failure is not None:
            raise self._failure
        self._call.check_repeats()
        if asked.response is not None:
            await self._send(key, asked)

    async def _elicit(self, key: str, state: TaskState) -> dict[str, Any] | None:
        """Ask the user; return None if the server withdrew the request."""
        was_withdrawn = False

        async def until_withdrawn() -> None:
            nonlocal was_withdrawn
            await self._poll_while_open(key)
            was_withdrawn = True

        answer = await self._elicitations.on_batch_request(self._call, state.params, key, until=until_withdrawn)
        if was_withdrawn:
            return None
        self._asked[key].is_visited = state.requests[key].is_visited_after(answer)
        return response_to_wire(self._elicitations.to_result(answer))

    async def _poll_while_open(self, key: str) -> None:
        """Poll until the server no longer lists a key, or the task cannot continue."""
        missed = 0
        asked = self._asked[key]
        while missed < MISSED_POLLS:
            try:
                state = await self._poller.next(is_open=True)
                if key in state.requests:
                    self._check_unchanged(state.requests[key], asked)
            except (TaskError, CapabilityRequiredError) as error:
                self._failure = error
                return
            if state.is_final:
                return
            if not self._poller.is_reachable:
                continue
            missed = 0 if key in state.requests else missed + 1

    async def _send_remembered(self, state: TaskState) -> None:
        """Send responses that were given before the connection broke."""
        for key, request in state.requests.items():
            asked = self._asked.get(key)
            if asked is not None and asked.response is not None and not asked.was_sent:
                self._check_unchanged(request, asked)
                await self._send(key, asked)

    async def _send(self, key: str, asked: AskedKey) -> None:
        await self._poller.send(key, asked.response or {})
        asked.was_sent = True


async def ask_host(call: ActiveCall, task_id: str, key: str, request: InputRequest) -> dict[str, Any]:
    """
    Answer a request to the host application itself (sampling, roots), and return the response as on the wire.

    Raises:
        TaskError: If it is something else.
        Exception: The SDK's error, if the host application refuses.
    """
    try:
        requests = load_host_requests({key: request.wire})
    except ValueError as error:
        raise TaskError("invalid", "it asks for something unknown", task_id=task_id) from error
    return response_to_wire((await answer_host_requests(call, requests))[key])


def response_to_wire(response: Any) -> dict[str, Any]:
    """Return a response of the SDK as it is sent in ``inputResponses``."""
    wire = model_to_wire(response)
    wire.pop("resultType", None)
    return wire


async def read_result(call: ActiveCall, state: TaskState) -> Any:
    """
    Return the result of a task that has ended, checked against the tool's output schema.

    Raises:
        TaskError: If the task was cancelled, or its result is invalid.
        CapabilityRequiredError: If the server requires a capability that is
            not declared.
        Exception: The SDK's error, if the call has failed or the result does
            not fit the schema.
    """
    if state.status == "cancelled":
        raise TaskError("cancelled", task_id=state.id)
    if state.error is not None:
        message = state.error.get("message")
        text = message if isinstance(message, str) else "the task has failed"
        error = sdk_error(state.error["code"], text, state.error.get("data"))
        raise_if_capability_is_required(error)
        raise error
    return await check_output(call, read_tool_result(state))


async def check_output(call: ActiveCall, result: Any) -> Any:
    """
    Return *result* of a tool.

    Raises:
        RuntimeError: If it does not fit the tool's output schema; from the
            SDK, as for other calls.
        CallError: If the server's list of tools is invalid.
        Exception: The SDK's error, if the list cannot be read.
    """
    if call.tool is None or result.is_error:
        return result
    try:
        await call.session.validate_tool_result(call.tool, result)
    except Exception as error:
        raise_for(error, call.session, sent_state=False)
        raise
    return result


async def resolve_claim(call: ActiveCall, claim: Any, result: Any) -> Any:
    """Finish *result* with the SDK's ``ResultClaim`` of another extension, as ``Client.call_tool`` does."""
    from mcp.client.extension import ClaimContext  # type: ignore[import-not-found, unused-ignore]

    context = ClaimContext(session=call.session, tool_name=call.tool or "", read_timeout_seconds=call.timeouts.timeout)
    return await check_output(call, await claim.resolve(result, context))
