"""A server of FastMCP with fastmcp-tasks, over stdio: ``book`` asks twice, and returns what it got."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from fastmcp import Context, FastMCP
from fastmcp.utilities.tasks import TaskConfig
from fastmcp_tasks import TasksExtension
from mcp.types import ElicitRequest, InputRequiredResult  # type: ignore[attr-defined, unused-ignore]

mcp: Any = FastMCP("restaurant")
mcp.add_extension(TasksExtension())


def ask(name: str) -> ElicitRequest:
    form = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    params = {"mode": "form", "message": f"Name for {name}?", "requestedSchema": form}
    return ElicitRequest.model_validate({"method": "elicitation/create", "params": params})


@mcp.tool(task=TaskConfig(mode="optional", poll_interval=timedelta(milliseconds=100)))  # type: ignore[untyped-decorator, unused-ignore]
async def book(ctx: Context) -> Any:
    answers = ctx.input_responses  # type: ignore[attr-defined, unused-ignore]
    if not answers:
        return InputRequiredResult(input_requests={"a": ask("a"), "b": ask("b")}, request_state="s")
    return {key: answer.model_dump(mode="json", exclude_none=True) for key, answer in sorted(answers.items())}


if __name__ == "__main__":
    mcp.run(transport="stdio", show_banner=False)
