"""The messages of the tasks extension: `TaskState`, what a server reports, and `TaskRequests`, what is sent to it."""

from __future__ import annotations

import functools
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast, get_args

from mcp_elicit_client.core.answer import Answer
from mcp_elicit_client.core.text import is_unicode, sanitize_text
from mcp_elicit_client.dispatch import MAX_BATCH
from mcp_elicit_client.exceptions import TaskError

TaskStatus: TypeAlias = Literal["working", "input_required", "completed", "failed", "cancelled"]
"""The status of a task.  The last three are final."""

FINAL: frozenset[TaskStatus] = frozenset({"completed", "failed", "cancelled"})

MAX_TASK_ID = 2_048
"""The maximum length of a task ID, in characters.  It is sent in a header."""

MAX_KEY = 1_024
"""The maximum length of a key of ``inputRequests``, in characters."""

MAX_TTL = 366 * 86_400.0
"""The longest lifetime of a task that is used, in seconds."""

_MAX_MESSAGE = 500
_ELICITATION = "elicitation/create"


@dataclass(frozen=True, slots=True)
class InputRequest:
    """
    One entry of ``inputRequests``.

    Attributes:
        wire: The request as on the wire.
        digest: Identifies its content, so that a server that changes the
            request under the same key is noticed.
    """

    wire: Mapping[str, Any]
    digest: str

    @property
    def is_elicitation(self) -> bool:
        """Return True if the user is asked, and not the host application (sampling, roots)."""
        return bool(self.wire["method"] == _ELICITATION)

    def is_visited_after(self, answer: Answer | None) -> bool:
        """Return True if the user opens a URL with *answer*, so that the server may still list the request."""
        params = self.wire.get("params")
        is_url = isinstance(params, Mapping) and params.get("mode") == "url"
        return is_url and answer is not None and answer.action == "accept"


@dataclass(frozen=True, slots=True)
class TaskState:
    """
    A task as the server reports it.

    Attributes:
        id: The server's ID.
        status: Its status.
        message: The server's text about it, sanitized; None without a text.
        ttl: Its lifetime from its creation, in seconds; None for no limit.
        poll_interval: The interval that the server wants between polls, in
            seconds; None if it requests no interval.
        requests: What the server asks, by its keys.
        result: The result of the tool, as on the wire.
        error: The JSON-RPC error of the call, as on the wire.
    """

    id: str = field(repr=False)
    status: TaskStatus
    message: str | None = None
    ttl: float | None = None
    poll_interval: float | None = None
    requests: Mapping[str, InputRequest] = field(default_factory=dict)
    result: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None

    @property
    def is_final(self) -> bool:
        """Return True if the task has ended."""
        return self.status in FINAL

    @property
    def params(self) -> dict[str, Any]:
        """Return the params of the requests, by the server's keys."""
        return {key: request.wire.get("params") for key, request in self.requests.items()}


def read_created_task(result: Any) -> TaskState:
    """
    Read the task that a call returned instead of its result, as an object of any class.

    Raises:
        TaskError: If it is invalid.
    """
    wire = result.model_dump(mode="json", by_alias=True)
    task_id = _task_id(wire.get("taskId"))
    # `tasks/get` reports everything else, at once: a final status without a result is not an error yet.
    status = wire.get("status")
    if not isinstance(status, str) or status not in FINAL or "result" in wire or "error" in wire:
        return read_task(wire, task_id)
    return TaskState(task_id, "working", ttl=_seconds(wire.get("ttlMs")), poll_interval=0.0)


def _task_id(task_id: object) -> str:
    if not isinstance(task_id, str) or not task_id:
        raise TaskError("invalid", "the task has no ID")
    if len(task_id) > MAX_TASK_ID or not task_id.isprintable() or task_id != task_id.strip():
        raise TaskError("invalid", "the ID of the task is too long, or not printable")
    return task_id


def check_task_id(task_id: str) -> str:
    """
    Return *task_id* if it can be an ID.

    Raises:
        ValueError: If it is empty, too long or not printable.
    """
    try:
        return _task_id(task_id)
    except TaskError as error:
        raise ValueError(f"The ID of a task must have 1 to {MAX_TASK_ID} printable characters.") from error


def read_task(wire: Mapping[str, Any], task_id: str) -> TaskState:
    """
    Read the response to ``tasks/get`` for *task_id*.

    Raises:
        TaskError: If it is invalid, or exceeds a limit.
    """

    def invalid(detail: str) -> TaskError:
        return TaskError("invalid", detail, task_id=task_id)

    if wire.get("taskId", task_id) != task_id:
        raise invalid("it is about another task")
    status = wire.get("status")
    if status not in get_args(TaskStatus):
        raise invalid("the status is missing or unknown")
    result, error = wire.get("result"), wire.get("error")
    if status == "completed" and not isinstance(result, Mapping):
        raise invalid("the task is completed, but has no result")
    if status == "failed" and not (isinstance(error, Mapping) and isinstance(error.get("code"), int)):
        raise invalid("the task has failed, but has no error")
    requests = wire.get("inputRequests") if status == "input_required" else None
    if not isinstance(requests, (Mapping, type(None))):
        raise invalid("`inputRequests` is not an object")
    if len(requests or ()) > MAX_BATCH:
        raise TaskError("limit", f"more than {MAX_BATCH} requests at once", task_id=task_id)
    message = wire.get("statusMessage")
    return TaskState(
        task_id,
        cast("TaskStatus", status),
        message=sanitize_text(message, limit=_MAX_MESSAGE, multiline=False) if isinstance(message, str) else None,
        ttl=_seconds(wire.get("ttlMs")),
        poll_interval=_seconds(wire.get("pollIntervalMs")),
        requests={key: _read_request(key, each, task_id) for key, each in (requests or {}).items()},
        result=result if status == "completed" else None,
        error=error if status == "failed" else None,
    )


def _seconds(milliseconds: object) -> float | None:
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, (int, float)):
        return None
    if isinstance(milliseconds, float) and not math.isfinite(milliseconds):
        return None
    return min(max(milliseconds, 0), MAX_TTL * 1_000) / 1_000


def _read_request(key: object, wire: object, task_id: str) -> InputRequest:
    if not isinstance(key, str) or not is_unicode(key):
        raise TaskError("invalid", "a key is not valid Unicode", task_id=task_id)
    if len(key) > MAX_KEY:
        raise TaskError("limit", f"a key is longer than {MAX_KEY} characters", task_id=task_id)
    if not isinstance(wire, Mapping) or not isinstance(wire.get("method"), str):
        raise TaskError("invalid", "an entry of `inputRequests` is not a request", task_id=task_id)
    params = wire.get("params")
    content = {each: params[each] for each in params if each != "_meta"} if isinstance(params, Mapping) else params
    try:
        text = json.dumps([wire["method"], content], sort_keys=True)
    except RecursionError as error:
        raise TaskError("limit", "a request is nested too deeply", task_id=task_id) from error
    return InputRequest(wire, hashlib.sha256(text.encode()).hexdigest())


class TaskRequests:
    """
    Sends the requests of the extension over one session.

    Every method raises the SDK's errors.

    Args:
        session: The SDK's session.
        task_id: The server's ID of the task.
    """

    def __init__(self, session: Any, task_id: str) -> None:
        self._session = session
        self._task_id = task_id

    async def get(self, timeout: float) -> TaskState:
        """
        Return the state of the task.

        Raises:
            TaskError: If the response is invalid.
        """
        return read_task(await self._send("tasks/get", timeout), self._task_id)

    async def update(self, responses: Mapping[str, Any], timeout: float) -> None:
        """Send the responses to requests, by their keys."""
        await self._send("tasks/update", timeout, inputResponses=dict(responses))

    async def cancel(self, timeout: float) -> None:
        """Cancel the task.  It may complete nevertheless."""
        await self._send("tasks/cancel", timeout)

    async def _send(self, method: str, timeout: float, **params: Any) -> dict[str, Any]:
        from pydantic import TypeAdapter

        request = _request_class()(method=method, params={"taskId": self._task_id, **params})
        result = TypeAdapter(dict[str, Any])
        response: dict[str, Any] = await self._session.send_request(
            request, result, request_read_timeout_seconds=timeout
        )
        return response


@functools.cache
def _request_class() -> Any:
    import mcp.types

    types: Any = mcp.types

    class TaskRequest(types.Request[dict[str, Any], str]):  # type: ignore[misc,unused-ignore]
        """A request about a task.  Over HTTP, the SDK sends its ID in the header ``Mcp-Name``, as required."""

        name_param = "taskId"

    return TaskRequest


def read_tool_result(state: TaskState) -> Any:
    """
    Return the result of a completed task as the SDK's ``CallToolResult``.

    Raises:
        TaskError: If it is invalid.
    """
    from mcp.types import CallToolResult

    wire = dict(state.result or {})
    invalid = TaskError("invalid", "its result is not the result of a tool", task_id=state.id)
    if wire.get("resultType", "complete") != "complete":  # another task, or more input
        raise invalid
    try:
        return CallToolResult.model_validate(wire, by_name=False)
    except ValueError as error:
        raise invalid from error
