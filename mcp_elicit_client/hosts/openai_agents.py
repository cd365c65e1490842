"""OpenAI's Agents SDK: a server of ours for ``Agent(mcp_servers=[...])``, since its own take no callback."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import TYPE_CHECKING, Any

from agents.mcp import MCPServer

if TYPE_CHECKING:
    from agents import AgentBase, RunContextWrapper
    from agents.mcp.server import RequireApprovalSetting
    from mcp.types import (
        CallToolResult,
        GetPromptResult,
        ListPromptsResult,
        ListResourcesResult,
        ListResourceTemplatesResult,
        ReadResourceResult,
        Tool,
    )

    from mcp_elicit_client.calls import Caller

_MAX_PAGES = 100


class ElicitingMCPServer(MCPServer):  # type: ignore[misc,unused-ignore]
    """
    A server for agents, whose questions are asked.

    Enter it, and leave it, in the same task, as the SDK's own.

    Args:
        caller: Who makes the calls; the server has its name.
        connected: Makes a context manager that gives a connected session or
            client: ``lambda: caller.client(where)`` with mcp 2.x.
        timeout: How long the server may take for a call, in seconds, the time
            in which a question is open aside; None for ever.
        answer_timeout: How long the user may take with all questions of a call, in
            seconds; None for ever.
        use_structured_content: As for ``MCPServer``.
        require_approval: As for ``MCPServer``.
    """

    def __init__(  # noqa: PLR0913 -- all but two by keyword
        self,
        caller: Caller,
        connected: Callable[[], AbstractAsyncContextManager[Any]],
        *,
        timeout: float | None = None,
        answer_timeout: float | None = 240.0,
        use_structured_content: bool = False,
        require_approval: RequireApprovalSetting = None,
    ) -> None:
        super().__init__(use_structured_content=use_structured_content, require_approval=require_approval)
        self._caller = caller
        self._connected = connected
        self._timeout = timeout
        self._patience = answer_timeout
        self._stack = AsyncExitStack()
        self._client: Any = None

    @property
    def name(self) -> str:
        """What the host application calls the server."""
        return self._caller.server.name

    async def connect(self) -> None:
        """Connect to the server."""
        self._client = await self._stack.enter_async_context(self._connected())

    async def cleanup(self) -> None:
        """Leave the server."""
        self._client = None
        await self._stack.aclose()

    async def __aenter__(self) -> ElicitingMCPServer:  # noqa: PYI034 -- Python 3.10 has no Self
        await self.connect()
        return self

    async def __aexit__(self, *_exception: object) -> None:
        await self.cleanup()

    @property
    def _session(self) -> Any:
        if self._client is None:
            raise RuntimeError("the server is not connected: call connect() first")
        return self._client

    async def list_tools(
        self,
        run_context: RunContextWrapper[Any] | None = None,  # noqa: ARG002 -- all see all tools
        agent: AgentBase | None = None,  # noqa: ARG002
    ) -> list[Tool]:
        """List the server's tools, all pages."""
        from mcp.types import PaginatedRequestParams

        session = getattr(self._session, "session", self._session)
        tools: list[Tool] = []
        cursor: str | None = None
        for _ in range(_MAX_PAGES):
            page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor))
            tools += page.tools
            cursor = getattr(page, "next_cursor", None) or getattr(page, "nextCursor", None)
            if cursor is None:
                break
        return tools

    async def call_tool(
        self, tool_name: str, arguments: dict[str, Any] | None, meta: dict[str, Any] | None = None
    ) -> CallToolResult:
        """Call a tool as `Caller.call_tool` does; what that raises becomes the agent's error."""
        result: CallToolResult = await self._caller.call_tool(
            self._session, tool_name, arguments, meta=meta, timeout=self._timeout, answer_timeout=self._patience
        )
        return result

    async def list_prompts(self) -> ListPromptsResult:
        """List the server's prompts."""
        result: ListPromptsResult = await self._session.list_prompts()
        return result

    async def get_prompt(self, name: str, arguments: dict[str, Any] | None = None) -> GetPromptResult:
        """Get a prompt as `Caller.get_prompt` does."""
        result: GetPromptResult = await self._caller.get_prompt(
            self._session, name, arguments, timeout=self._timeout, answer_timeout=self._patience
        )
        return result

    async def list_resources(self, cursor: str | None = None) -> ListResourcesResult:
        """List the server's resources."""
        result: ListResourcesResult = await self._session.list_resources(cursor=cursor)
        return result

    async def list_resource_templates(self, cursor: str | None = None) -> ListResourceTemplatesResult:
        """List the server's templates of resources."""
        result: ListResourceTemplatesResult = await self._session.list_resource_templates(cursor=cursor)
        return result

    async def read_resource(self, uri: str) -> ReadResourceResult:
        """Read a resource as `Caller.read_resource` does."""
        result: ReadResourceResult = await self._caller.read_resource(
            self._session, uri, timeout=self._timeout, answer_timeout=self._patience
        )
        return result
