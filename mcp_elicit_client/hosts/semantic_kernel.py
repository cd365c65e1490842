"""Semantic Kernel: ``MCPStdioPlugin(..., session=wrap_session(caller, session))``, and the other plugins."""

from mcp_elicit_client.hosts._session_proxy import wrap_session

__all__ = ["wrap_session"]
