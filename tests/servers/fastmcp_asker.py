"""
A server of FastMCP 4, over standard input and output, or HTTP with ``--http``.

``push`` sends its request while it runs; ``ask`` returns its requests, as protocol versions from 2026-07-28 on do:
two of them, then a third.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
from fastmcp import Context, FastMCP
from mcp.types import ElicitRequest, InputRequiredResult  # type: ignore[attr-defined, unused-ignore]

from tests.servers.serving import serve_app

mcp: Any = FastMCP("restaurant")


def form(name: str) -> ElicitRequest:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    params = {"mode": "form", "message": f"Name for {name}?", "requestedSchema": schema}
    return ElicitRequest.model_validate({"method": "elicitation/create", "params": params})


@mcp.tool  # type: ignore[untyped-decorator, unused-ignore]
async def push(ctx: Context) -> str:
    answer = await ctx.elicit("How many guests?", int)  # type: ignore[arg-type, unused-ignore]
    return f"{answer.action} {getattr(answer, 'data', None)}"


@mcp.tool  # type: ignore[untyped-decorator, unused-ignore]
async def ask(ctx: Context) -> Any:
    responses: Any = ctx.input_responses or {}  # type: ignore[attr-defined, unused-ignore]
    answers = json.loads(ctx.request_state or "{}")  # type: ignore[attr-defined, unused-ignore]
    answers |= {key: each.model_dump(mode="json", exclude_none=True) for key, each in responses.items()}
    missing = [key for key in (("a", "b") if not answers else ("c",)) if key not in answers]
    if missing:
        state = json.dumps(answers)
        return InputRequiredResult(input_requests={key: form(key) for key in missing}, request_state=state)
    return json.dumps(answers, sort_keys=True)


if __name__ == "__main__":
    if "--http" in sys.argv:
        anyio.run(serve_app, mcp.http_app())
    else:
        mcp.run(transport="stdio", show_banner=False)
