"""Extensions of mcp 2.3 for tests: of a host application, and of a server."""

from __future__ import annotations

from typing import Any, Literal


def foreign_extension(identifier: str = "com.example/tasks") -> Any:
    """Return a client extension that claims tasks, and finishes them with the text "claimed"."""
    from mcp.client.extension import (  # type: ignore[import-not-found, unused-ignore]
        ClientExtension,
        ResultClaim,
    )
    from mcp.types import CallToolResult, Result, TextContent
    from pydantic import ConfigDict, Field

    class Claimed(Result):
        model_config = ConfigDict(extra="allow")

        result_type: Literal["task"] = Field(default="task", alias="resultType")

    async def resolve(_claimed: Any, _context: Any) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text="claimed")])

    class Foreign(ClientExtension):  # type: ignore[misc, unused-ignore]
        def __init__(self) -> None:
            self.identifier = identifier

        def claims(self) -> Any:
            return [ResultClaim(result_type="task", model=Claimed, resolve=resolve)]

    return Foreign()


def everything_is_a_task() -> Any:
    """Return a low-level server that answers prompts and resources with tasks."""
    from mcp.server.lowlevel import Server

    task = {"resultType": "task", "taskId": "t", "status": "working"}

    async def prompt(_context: Any, _params: Any) -> Any:
        return {**task, "messages": []}

    async def resource(_context: Any, _params: Any) -> Any:
        return {**task, "contents": [], "ttlMs": 0, "cacheScope": "public"}

    server: Any = Server
    return server("odd", on_get_prompt=prompt, on_read_resource=resource)
