"""Calls and connections whose types both type checkers know.  Checked by `test_typing`, never run."""

# pyright: strict

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any

from mcp import Client, ClientSession, StdioServerParameters  # type: ignore[attr-defined,unused-ignore]
from mcp.types import CallToolResult, ElicitResult, ErrorData, GetPromptResult, ReadResourceResult
from typing_extensions import assert_type

from mcp_elicit_client import Answer
from mcp_elicit_client.calls import Caller, SuspendedCall, SuspendOptions, TaskHandle
from mcp_elicit_client.inbox import Inbox, MemoryStore
from mcp_elicit_client.typing import Request


async def answer(request: Request) -> Answer:
    return Answer.cancel(by="user", reason=request.message)


caller = Caller(answer, "mail")
suspend = SuspendOptions(Inbox(MemoryStore()), "ann")


async def progress(done: float, total: float | None, message: str | None) -> None: ...


async def calls_have_results(client: Client, session: ClientSession, *, wait: bool) -> None:
    assert_type(await caller.call_tool(client, "book", {"guests": 2}, timeout=5), CallToolResult)
    assert_type(await caller.call_tool(session, "book", progress_callback=progress), CallToolResult)
    assert_type(await caller.call_tool(client, "book", suspend=suspend), CallToolResult | SuspendedCall)
    assert_type(await caller.call_tool(client, "book", wait=False), CallToolResult | TaskHandle)
    assert_type(
        await caller.call_tool(client, "book", suspend=suspend, wait=wait), CallToolResult | SuspendedCall | TaskHandle
    )
    assert_type(await caller.get_prompt(client, "plan", {"day": "Monday"}), GetPromptResult)
    assert_type(await caller.get_prompt(client, "plan", suspend=suspend), GetPromptResult | SuspendedCall)
    assert_type(await caller.read_resource(session, "file:///menu"), ReadResourceResult)
    assert_type(await caller.read_resource(client, "file:///menu", suspend=suspend), ReadResourceResult | SuspendedCall)


async def connections_have_types(command: StdioServerParameters) -> None:
    assert_type(caller.connect(command), AbstractAsyncContextManager[Client])
    async with caller.connect("https://mcp.example.com/mcp", mode="legacy") as client:
        assert_type(await caller.call_tool(client, "book"), CallToolResult)
        assert_type(client, Client)
    assert_type(caller.client("https://mcp.example.com/mcp"), Client)


async def sessions_take_callbacks_and_message_handlers(read: Any, write: Any, transport: Any) -> None:
    ClientSession(read, write, elicitation_callback=caller.callback, message_handler=caller.message_handler())
    Client(transport, elicitation_callback=caller.callback, message_handler=caller.message_handler())
    assert_type(await caller.callback(None, {"message": "Go on?"}), ElicitResult | ErrorData)
