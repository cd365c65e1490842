"""
A Pydantic AI agent behind an AG-UI endpoint, whose process may be replaced while a request is open.

    pip install 'mcp-elicit-client[agui]' 'pydantic-ai-slim[ag-ui]>=2.60' 'mcp>=2' fastapi uvicorn
    python examples/web_agent_pydantic_ai.py inbox.db 8000

Connect an AG-UI front end to http://127.0.0.1:8000.  The model is a test
model, which calls each tool once: replace it with the name of yours.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator

import uvicorn
from ag_ui.core import BaseEvent, RunAgentInput
from ag_ui.encoder import EventEncoder
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from mcp import StdioServerParameters
from pydantic_ai import Agent, CallDeferred, DeferredToolRequests, RunContext
from pydantic_ai.models.test import TestModel
from pydantic_ai.ui.ag_ui import AGUIAdapter

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.calls import Caller, SuspendedCall, SuspendOptions
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.hosts.ag_ui import InterruptBridge, ThreadCalls, result_text
from mcp_elicit_client.inbox import Inbox, SqliteStore
from mcp_elicit_client.policies import protect_secrets

SERVER = StdioServerParameters(command=sys.executable, args=["-m", "mcp_elicit_client.demo.server"])

registry = ElicitationRegistry(policy=protect_secrets())
registry.on_elicitation(HeadlessHandler())  # for servers whose calls cannot be suspended
caller = Caller(registry, "restaurant")
agent = Agent(TestModel(), deps_type=ThreadCalls, output_type=[str, DeferredToolRequests])


@agent.tool
async def book_table(ctx: RunContext[ThreadCalls]) -> str:
    """Book a table in the restaurant."""
    result = await ctx.deps.call_tool(caller, "book_table", {}, tool_call_id=ctx.tool_call_id or "")
    if isinstance(result, SuspendedCall):
        raise CallDeferred  # the next run brings the result
    return result_text(result)


async def run_agent(run_input: RunAgentInput, calls: ThreadCalls) -> AsyncIterator[BaseEvent]:
    adapter = AGUIAdapter(agent=agent, run_input=run_input)
    async for event in adapter.run_stream(deps=calls):
        yield event


def create_app(path: str) -> FastAPI:
    """Return the application.  Suspended calls are in the file *path*."""
    app = FastAPI()
    bridge = InterruptBridge(SuspendOptions(Inbox(SqliteStore(path))), {caller: lambda: caller.connect(SERVER)})

    @app.post("/", response_model=None)
    async def run(run_input: RunAgentInput) -> StreamingResponse:
        encoder = EventEncoder()
        user = "ann"  # the signed-in user of your session, never a name that the front end sends
        lines = (encoder.encode(event) async for event in bridge.run(run_input, run_agent, user=user))
        return StreamingResponse(lines, media_type=encoder.get_content_type())

    return app


if __name__ == "__main__":
    uvicorn.run(create_app(sys.argv[1]), port=int(sys.argv[2]))
