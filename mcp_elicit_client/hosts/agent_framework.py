"""Microsoft Agent Framework: ``MCPStdioTool(..., mcp_client=wrap_client(caller, client))``, and the other MCP tools."""

from mcp_elicit_client.hosts._session_proxy import wrap_session as wrap_client

__all__ = ["wrap_client"]
