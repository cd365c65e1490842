"""OpenAI's Agents SDK: `ElicitingMCPServer` for ``Agent(mcp_servers=[...])``, because its own take no callback."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import TYPE_CHECKING, Any

from agents.mcp import MCPServer

from mcp_elicit_client._arguments import check_seconds, check_sync, check_type
from mcp_elicit_client.calls.methods import list_tools, unwrap_session
from mcp_elicit_client.core.request import check_user

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


class ElicitingMCPServer(MCPServer):  # type: ignore[misc,unused-ignore]
    """
    A server for agents that answers elicitation requests.

    Enter and leave it in the same task, as the SDK's own servers.

    Args:
        caller: The caller.  The server has the same name.
        connected: Returns a context manager for a connected session or
            client: ``lambda: caller.client(url)`` with mcp 2.x.
        user: The user of the agent; None for that of *caller*.
        timeout: The maximum time of the server for a call, in seconds; None
            for no limit.  It does not include the user's time.
        answer_timeout: The maximum time of the user for all requests of a
            call, in seconds; None for no limit.
        use_structured_content: As for ``MCPServer``.
        require_approval: As for ``MCPServer``.

    Raises:
        TypeError: If an argument is of the wrong type.
        ValueError: If *user* is empty or too long, or a timeout is not above
            0.
    """

    def __init__(  # noqa: PLR0913 -- all but two by keyword
        self,
        caller: Caller,
        connected: Callable[[], AbstractAsyncContextManager[Any]],
        *,
        user: str | None = None,
        timeout: float | None = None,
        answer_timeout: float | None = 240.0,
        use_structured_content: bool = False,
        require_approval: RequireApprovalSetting = None,
    ) -> None:
        from mcp_elicit_client.calls import Caller

        check_type("caller", caller, Caller)
        check_sync("connected", connected)
        check_user(user)
        check_seconds("timeout", timeout, optional=True)
        check_seconds("answer_timeout", answer_timeout, optional=True)
        super().__init__(use_structured_content=use_structured_content, require_approval=require_approval)
        self._caller = caller
        self._connected = connected
        self._call_options: dict[str, Any] = {"user": user, "timeout": timeout, "answer_timeout": answer_timeout}
        self._stack = AsyncExitStack()
        self._client: Any = None

    @property
    def name(self) -> str:
        """The name that the host application gave the server."""
        return self._caller.server.name

    async def connect(self) -> None:
        """Connect to the server."""
        self._client = await self._stack.enter_async_context(self._connected())

    async def cleanup(self) -> None:
        """Close the connection."""
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
            raise RuntimeError("The server is not connected. Call connect() first.")
        return self._client

    async def _page(self, method: str, cursor: str | None) -> Any:
        from mcp.types import PaginatedRequestParams

        session = getattr(self._session, "session", self._session)
        return await getattr(session, method)(params=PaginatedRequestParams(cursor=cursor))

    async def list_tools(
        self,
        run_context: RunContextWrapper[Any] | None = None,  # noqa: ARG002 -- all agents get all tools
        agent: AgentBase | None = None,  # noqa: ARG002
    ) -> list[Tool]:
        """List the server's tools, from all pages."""
        return await list_tools(unwrap_session(self._session))

    async def call_tool(
        self, tool_name: str, arguments: dict[str, Any] | None, meta: dict[str, Any] | None = None
    ) -> CallToolResult:
        """Call a tool as `Caller.call_tool` does.  Exceptions become errors of the agent."""
        result: CallToolResult = await self._caller.call_tool(
            self._session, tool_name, arguments, meta=meta, **self._call_options
        )
        return result

    async def list_prompts(self) -> ListPromptsResult:
        """List the server's prompts."""
        result: ListPromptsResult = await self._session.list_prompts()
        return result

    async def get_prompt(self, name: str, arguments: dict[str, Any] | None = None) -> GetPromptResult:
        """Get a prompt as `Caller.get_prompt` does."""
        result: GetPromptResult = await self._caller.get_prompt(self._session, name, arguments, **self._call_options)
        return result

    async def list_resources(self, cursor: str | None = None) -> ListResourcesResult:
        """List the server's resources."""
        result: ListResourcesResult = await self._page("list_resources", cursor)
        return result

    async def list_resource_templates(self, cursor: str | None = None) -> ListResourceTemplatesResult:
        """List the server's resource templates."""
        result: ListResourceTemplatesResult = await self._page("list_resource_templates", cursor)
        return result

    async def read_resource(self, uri: str) -> ReadResourceResult:
        """Read a resource as `Caller.read_resource` does."""
        result: ReadResourceResult = await self._caller.read_resource(self._session, uri, **self._call_options)
        return result
