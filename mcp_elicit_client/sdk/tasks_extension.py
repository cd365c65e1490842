"""
The tasks extension (``io.modelcontextprotocol/tasks``) in the client extensions of mcp 2.3 and later.

A session declares the extension together with what finishes a task, so it is
declared exactly where tasks are served.  The SDK has no public API for finding
the claim of a result, so ``_result_claims`` of the session is used.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

TASKS_EXTENSION = "io.modelcontextprotocol/tasks"
"""The identifier of the extension."""

TASK_RESULT = "task"
"""The ``resultType`` of a task."""

Resolve: TypeAlias = Callable[[Any, Any], Awaitable[Any]]
"""Finishes a claimed result: takes the result and the SDK's ``ClaimContext``, and returns the result of the tool."""


def supports_tasks() -> bool:
    """Return True if the installed SDK supports tasks: mcp 2.3 or later."""
    try:
        importlib.import_module("mcp.client.extension")
    except ImportError:
        return False
    return True


def tasks_extensions(resolve: Resolve) -> list[Any]:
    """Return the SDK's ``ClientExtension`` whose tasks are finished by *resolve*; nothing with older SDKs."""
    if not supports_tasks():
        return []
    extension: Any = importlib.import_module("mcp.client.extension")
    claim = extension.ResultClaim(result_type=TASK_RESULT, model=_created_task(), resolve=resolve)

    class TasksExtension(extension.ClientExtension):  # type: ignore[misc,unused-ignore]
        identifier = TASKS_EXTENSION

        def claims(self) -> Any:
            return (claim,)

    return [TasksExtension()]


def client_options(options: dict[str, Any], extensions: Sequence[Any]) -> dict[str, Any]:
    """
    Return *options* of a ``Client`` with *extensions*, those of `tasks_extensions`.

    If the host application passed one, or another extension that
    claims tasks, *options* are returned unchanged.
    """
    given = options.get("extensions") or ()
    if not extensions or any(_serves_tasks(each) for each in given):
        return options
    return {**options, "extensions": [*given, *extensions]}


def session_options(options: dict[str, Any], resolve: Resolve) -> dict[str, Any]:
    """Return *options* of a ``ClientSession`` with the tasks extension, as `client_options` does."""
    declared, claims = options.get("extensions") or {}, options.get("result_claims") or {}
    claimed = {claim.result_type for each in claims.values() for claim in each}
    if not supports_tasks() or TASKS_EXTENSION in declared or TASK_RESULT in claimed:
        return options
    return {
        **options,
        "extensions": {**declared, TASKS_EXTENSION: {}},
        "result_claims": {**claims, TASKS_EXTENSION: tasks_extensions(resolve)[0].claims()},
    }


def finish_tasks(session: Any, resolve: Resolve) -> Any:
    """
    Make ``call_tool`` of a session finish tasks, as that of a ``Client`` does, unless its caller takes them.

    Without this, a session that declares the extension would be worse than
    one that does not: the SDK raises ``UnexpectedClaimedResult``.
    """
    if not supports_tasks():
        return session
    extension: Any = importlib.import_module("mcp.client.extension")
    call_tool = session.call_tool

    @functools.wraps(call_tool)
    async def finishing(name: str, *arguments: Any, **options: Any) -> Any:
        try:
            return await call_tool(name, *arguments, **options)
        except extension.UnexpectedClaimedResult as unexpected:
            claimed = unexpected.result
            if not is_task(claimed) or foreign_claim(session, claimed) is not None:
                raise
        seconds = options.get("read_timeout_seconds", arguments[1] if len(arguments) > 1 else None)
        context = extension.ClaimContext(session=session, tool_name=name, read_timeout_seconds=seconds)
        return await resolve(claimed, context)

    session.call_tool = finishing
    return session


def is_task(result: object) -> bool:
    """Return True if *result* is a task, of any class."""
    return getattr(result, "result_type", None) == TASK_RESULT


def foreign_claim(session: Any, result: object) -> Any:
    """
    Return the SDK's ``ResultClaim`` of another extension that *result* belongs to.

    Args:
        session: The session that returned *result*.
        result: The result.

    Returns:
        The claim; None if *result* is not claimed, or by the tasks extension.
    """
    for identifier, claims in (getattr(session, "_result_claims", None) or {}).items():
        for claim in claims:
            if isinstance(result, claim.model):
                return None if identifier == TASKS_EXTENSION else claim
    return None


def _serves_tasks(extension: Any) -> bool:
    if getattr(extension, "identifier", None) == TASKS_EXTENSION:
        return True
    return any(claim.result_type == TASK_RESULT for claim in extension.claims())


@functools.cache
def _created_task() -> Any:
    """Return the model of a created task.  It accepts any fields: `calls.task_wire` reads them."""
    from typing import Literal

    from mcp.types import Result
    from pydantic import ConfigDict, Field

    class CreatedTask(Result):
        model_config = ConfigDict(extra="allow")

        result_type: Literal["task"] = Field(default="task", alias="resultType")

    return CreatedTask
