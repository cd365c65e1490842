"""
A server in the same process whose tools become tasks that ask the user (2026-07-28, mcp 2.3).

A task has status ``input_required`` until ``tasks/update`` brings the answer
to its request.  The client polls it with ``tasks/get``, and has the SDK's
session call the elicitation callback, as a host with tasks does.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

import anyio
import mcp
import mcp.types

from mcp_elicit_client.calls.task_wire import TaskRequests
from mcp_elicit_client.sdk.tasks_extension import TASKS_EXTENSION, tasks_extensions
from mcp_elicit_client.testing.fake_server import Reply

RELATED_TASK = "io.modelcontextprotocol/related-task"
"""The member of ``_meta`` that names the task of a request."""

_KEY = "question"
_CREATED = "2026-11-22T00:00:00Z"
_POLL_TIMEOUT = 5.0
_types: Any = mcp.types
_mcp: Any = mcp


async def ask_in_tasks(callback: Any, several: Sequence[Mapping[str, Any]], *, name: str) -> list[Reply]:
    """Connect a client with *callback*, make one task for each of the params in *several*, and return the replies."""
    server = _TaskServer(several)

    async def call(client: Any, at: int) -> None:
        await client.call_tool("ask", {"at": at})

    try:
        async with (
            _mcp.Client(
                server.build(name), elicitation_callback=callback, extensions=tasks_extensions(_finish), mode="auto"
            ) as client,
            anyio.create_task_group() as group,
        ):
            for at in range(len(several)):
                group.start_soon(call, client, at)
    except Exception as error:  # noqa: BLE001 -- the SDK or the callback may raise anything
        return [each if each != Reply() else Reply(failure=error) for each in server.replies]
    return server.replies


async def _finish(created: Any, context: Any) -> Any:
    """Answer the requests of a task until it is completed; return the result of the tool."""
    client_context = importlib.import_module("mcp.client.session").ClientRequestContext
    requests = TaskRequests(context.session, created.taskId)
    while (state := await requests.get(_POLL_TIMEOUT)).result is None:
        answers = {}
        for key, request in state.requests.items():
            asked = _types.ElicitRequest.model_validate(request.wire)
            answer = await context.session.dispatch_input_request(
                client_context(session=context.session, request_id=key, meta=asked.params.meta), asked
            )
            if isinstance(answer, _types.ErrorData):
                raise _mcp.MCPError.from_error_data(answer)
            answers[key] = answer.model_dump(mode="json", by_alias=True, exclude_unset=True)
        await requests.update(answers, _POLL_TIMEOUT)
    return _types.CallToolResult.model_validate(state.result)


class _TaskServer:
    def __init__(self, several: Sequence[Mapping[str, Any]]) -> None:
        self._params = [
            {**params, "_meta": {RELATED_TASK: {"taskId": f"task-{at}"}}} for at, params in enumerate(several)
        ]
        self.replies = [Reply() for _ in several]

    def respond(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        if method == "tools/call":
            return {"resultType": "task", **self._task(int(params["arguments"]["at"]), "working")}
        at = int(params["taskId"].rpartition("-")[2])
        if method == "tasks/update":
            self.replies[at] = Reply(result=params["inputResponses"][_KEY])
            return {"resultType": "complete"}
        if self.replies[at] == Reply():
            request = {"method": "elicitation/create", "params": self._params[at]}
            return {"resultType": "complete", **self._task(at, "input_required"), "inputRequests": {_KEY: request}}
        result = {"content": [{"type": "text", "text": "asked"}]}
        return {"resultType": "complete", **self._task(at, "completed"), "result": result}

    @staticmethod
    def _task(at: int, status: str) -> dict[str, Any]:
        task_id = f"task-{at}"
        return {
            "taskId": task_id,
            "status": status,
            "createdAt": _CREATED,
            "lastUpdatedAt": _CREATED,
            "ttlMs": 60_000,
            "pollIntervalMs": 1,
        }

    def build(self, name: str) -> Any:
        """Return the server of the SDK."""
        extension: Any = importlib.import_module("mcp.server.extension")
        server_class = importlib.import_module("mcp.server").MCPServer
        respond = self.respond

        class Params(_types.RequestParams):  # type: ignore[misc,unused-ignore]
            model_config = {"extra": "allow"}  # noqa: RUF012 -- as pydantic expects it

        class Tasks(extension.Extension):  # type: ignore[misc,unused-ignore]
            identifier = TASKS_EXTENSION

            async def intercept_tool_call(self, params: Any, _context: Any, _call_next: Any) -> Any:
                return respond("tools/call", params.model_dump(mode="json", by_alias=True))

            def methods(self) -> Any:
                return [binding(f"tasks/{each}") for each in ("get", "update")]

        def binding(method: str) -> Any:
            async def handle(_context: Any, params: Any) -> Any:
                return respond(method, params.model_dump(mode="json", by_alias=True, exclude_none=True))

            return extension.MethodBinding(method=method, params_type=Params, handler=handle)

        server = server_class(name, extensions=[Tasks()])

        @server.tool(structured_output=False)  # type: ignore[untyped-decorator, unused-ignore]
        def ask(at: int) -> str:
            return f"asked {at}"

        return server
