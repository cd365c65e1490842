"""
A server whose tools become tasks, as the arguments of the call say; also one that does not keep to the protocol.

``tasker.py`` serves JSON lines, written by hand; with ``--sdk`` the extension runs in the SDK's server over stdio,
with ``--http`` over HTTP.  With ``--invalid-tools``, its list of tools is invalid (JSON lines only).

``ELICIT_TASKS`` names the folder that keeps the tasks when the process is killed, and
``ELICIT_SEEN`` the file of everything that the server saw.

A plan is a list of steps; each lasts for some polls:

    {"work": 2, "message": "text"}           working, for two polls
    {"ask": {"key": params}, "late": 2}      input is required until all keys are answered, and for two more polls
    {"ask": {...}, "polls": 3}               ... or for three polls, answered or not
    {"raw": {...}, "polls": 2}               exactly this, for two polls
    {"refuse": [code, data], "polls": 2}     a JSON-RPC error, for two polls
    {"end": {"status": "failed", ...}}       the last status; without this, the answers are the result
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

NAME = "tasker"
EXTENSION = "io.modelcontextprotocol/tasks"
NOW = "2026-11-22T00:00:00Z"
FORM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
REJECTED = {"resultType": "complete", "content": [{"type": "text", "text": "no task"}]}
TOOLS = [
    {"name": "run", "inputSchema": {"type": "object"}},
    {
        "name": "checked",
        "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    },
]


class RefusalError(Exception):
    """A JSON-RPC error."""

    def __init__(self, code: int, data: Any = None) -> None:
        super().__init__("refused")
        self.code = code
        self.data = data


def ask(*keys: str, **more: Any) -> dict[str, Any]:
    """Return a step that asks for a name under each key."""
    return {"ask": {key: question(f"Name for {key}?") for key in keys}, **more}


def question(message: str) -> dict[str, Any]:
    return {"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": FORM}}


class Tasker:
    """
    The tasks of one server, in memory or in a folder.

    Attributes:
        plans: The plans of the next calls; further calls have those of their arguments.
    """

    def __init__(self, seen: Callable[[str], None], folder: Path | None = None) -> None:
        self.seen = seen
        self.folder = folder
        self.plans: list[list[Any]] = []
        self._tasks: dict[str, dict[str, Any]] = {}

    def respond(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        match method:
            case "tools/call":
                return self._call(params)
            case "tasks/get":
                return self._get(params["taskId"])
            case "tasks/update":
                return self._update(params["taskId"], params["inputResponses"])
            case "tasks/cancel":
                return self._cancel(params["taskId"])
        raise RefusalError(-32601)

    def _call(self, params: dict[str, Any]) -> dict[str, Any]:
        arguments = params.get("arguments") or {}
        if "refuse" in arguments:
            raise RefusalError(*arguments["refuse"])
        if arguments.get("rounds") and not params.get("inputResponses"):
            self.seen("round")
            return {"resultType": "input_required", "inputRequests": arguments["rounds"], "requestState": "s"}
        if not (arguments.get("force") or declares_tasks(params)):
            return REJECTED
        task_id = arguments.get("id") or f"task-{len(list(self.folder.iterdir())) if self.folder else len(self._tasks)}"
        self.seen(f"created {json.dumps(task_id)}")
        steps = self.plans.pop(0) if self.plans else arguments.get("plan", [])
        task: dict[str, Any] = {
            "steps": [{"work": 0}, *steps],
            "answers": dict(params.get("inputResponses") or {}),
            "polls": 0,
            "base": {"ttlMs": arguments.get("ttl", 60_000), "pollIntervalMs": arguments.get("poll", 1)},
            "status": "",
        }
        self._save(task_id, task)
        base = {"taskId": task_id, "createdAt": NOW, "lastUpdatedAt": NOW, "status": "working", **task["base"]}
        return {"resultType": "task", **base, **arguments.get("handle", {})}

    def _get(self, task_id: str) -> dict[str, Any]:
        task = self._load(task_id)
        self.seen("get")
        while self._is_over(task):
            task["steps"].pop(0)
            task["polls"] = 0
        task["polls"] += 1
        self._save(task_id, task)
        base = {"resultType": "complete", "taskId": task_id, "createdAt": NOW, "lastUpdatedAt": NOW, **task["base"]}
        if task["status"]:
            return {**base, "status": task["status"]}
        step = task["steps"][0] if task["steps"] else {"end": {}}
        if "refuse" in step:
            raise RefusalError(*step["refuse"])
        if "raw" in step:
            return {key: value for key, value in {**base, **step["raw"]}.items() if value != "absent"}
        if "work" in step:
            return {**base, "status": "working", "statusMessage": step.get("message", "busy")}
        if "ask" in step:
            late = all(key in task["answers"] for key in step["ask"])
            left = {key: each for key, each in step["ask"].items() if late or key not in task["answers"]}
            return {**base, "status": "input_required", "inputRequests": left}
        result = {"content": [{"type": "text", "text": json.dumps(task["answers"])}]}
        return {**base, "status": "completed", "result": result, **step["end"]}

    def _is_over(self, task: dict[str, Any]) -> bool:
        if not task["steps"] or task["status"]:
            return False
        step, polls = task["steps"][0], task["polls"]
        if "work" in step:
            return bool(polls >= step["work"])
        if "ask" in step and not set(step["ask"]) - set(task["answers"]):
            step["answered_at"] = step.get("answered_at", polls)
            return bool(polls >= step["answered_at"] + step.get("late", 0))
        return bool("polls" in step and polls >= step["polls"])

    def _update(self, task_id: str, responses: dict[str, Any]) -> dict[str, Any]:
        task = self._load(task_id)
        self.seen(f"update {json.dumps(responses)}")
        for key, response in responses.items():
            task["answers"].setdefault(key, response)  # the first answer counts
        self._save(task_id, task)
        return {"resultType": "complete"}

    def _cancel(self, task_id: str) -> dict[str, Any]:
        task = self._load(task_id)
        self.seen("cancel")
        task["status"] = "cancelled"
        self._save(task_id, task)
        return {"resultType": "complete"}

    def _load(self, task_id: str) -> dict[str, Any]:
        if self.folder is None:
            found = self._tasks.get(task_id)
        else:
            path = self.folder / task_id.encode().hex()
            found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
        if found is None:
            raise RefusalError(-32602)
        return found

    def _save(self, task_id: str, task: dict[str, Any]) -> None:
        self._tasks[task_id] = task
        if self.folder is not None:  # a process that is killed leaves the old content or the new one
            path = self.folder / task_id.encode().hex()
            written = self.folder.parent / f"writing-{os.getpid()}"
            written.write_text(json.dumps(task), encoding="utf-8")
            written.replace(path)


def declares_tasks(params: dict[str, Any]) -> bool:
    declared = (params.get("_meta") or {}).get("io.modelcontextprotocol/clientCapabilities") or {}
    return EXTENSION in (declared.get("extensions") or {})


def build(tasker: Tasker, header: Callable[[str, str | None], None] = lambda _method, _name: None) -> Any:
    """Return the SDK's server (mcp 2.3) with the extension."""
    from mcp import MCPError, types  # type: ignore[attr-defined, unused-ignore]
    from mcp.server import MCPServer  # type: ignore[attr-defined, unused-ignore]
    from mcp.server.extension import (  # type: ignore[import-not-found, unused-ignore]
        Extension,
        MethodBinding,
    )
    from pydantic import ConfigDict

    class Params(types.RequestParams):
        model_config = ConfigDict(extra="allow")

    def respond(method: str, ctx: Any, params: Any) -> dict[str, Any]:
        header(method, None if ctx.request is None else ctx.request.headers.get("mcp-name"))
        try:
            return tasker.respond(method, params.model_dump(mode="json", by_alias=True, exclude_none=True))
        except RefusalError as error:
            raise MCPError(code=error.code, message="refused", data=error.data) from error

    class Tasks(Extension):  # type: ignore[misc, unused-ignore]
        identifier = EXTENSION

        async def intercept_tool_call(self, params: Any, ctx: Any, call_next: Any) -> Any:
            return respond("tools/call", ctx, params)

        def methods(self) -> Any:
            def binding(method: str) -> Any:
                async def handle(ctx: Any, params: Any) -> Any:
                    return respond(method, ctx, params)

                return MethodBinding(method=method, params_type=Params, handler=handle)

            return [binding(f"tasks/{each}") for each in ("get", "update", "cancel")]

    server = MCPServer(NAME, extensions=[Tasks()])

    @server.tool(structured_output=False)  # type: ignore[untyped-decorator, unused-ignore]
    def run() -> str:
        return ""

    @server.tool()  # type: ignore[untyped-decorator, unused-ignore]
    def checked() -> dict[str, int]:
        return {}

    return server


def serve_lines(tasker: Tasker, tools: list[dict[str, Any]]) -> None:
    """Serve JSON lines over standard input and output."""
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            reply["result"] = _reply(tasker, tools, message["method"], message.get("params") or {})
        except RefusalError as error:
            reply["error"] = {"code": error.code, "message": "refused", "data": error.data}
        try:
            print(json.dumps(reply), flush=True)
        except BrokenPipeError:  # the client was killed
            os._exit(0)


def _reply(tasker: Tasker, tools: list[dict[str, Any]], method: str, params: dict[str, Any]) -> dict[str, Any]:
    cached = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}
    if method == "server/discover":
        capabilities: dict[str, Any] = {"tools": {}, "extensions": {EXTENSION: {}}}
        return {**cached, "supportedVersions": ["2026-07-28"], "capabilities": capabilities}
    if method == "tools/list":
        return {**cached, "tools": tools}
    return tasker.respond(method, params)


def main() -> None:
    path, folder = os.environ.get("ELICIT_SEEN"), os.environ.get("ELICIT_TASKS")

    def seen(line: str) -> None:
        if path:
            with Path(path).open("a", encoding="utf-8") as file:
                file.write(f"{time.time():.3f} {line}\n")

    seen(f"pid {os.getpid()}")
    tasker = Tasker(seen, Path(folder) if folder else None)
    if "--sdk" not in sys.argv and "--http" not in sys.argv:
        serve_lines(tasker, [{"name": "run"}] if "--invalid-tools" in sys.argv else TOOLS)
        return
    from tests.servers.serving import serve

    serve(build(tasker, lambda method, name: seen(f"header {method} {name}"))._lowlevel_server)


if __name__ == "__main__":
    main()
