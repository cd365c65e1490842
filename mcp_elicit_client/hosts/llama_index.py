"""LlamaIndex: ``McpToolSpec(wrap_client(caller, session))``, since ``BasicMCPClient`` takes no callback."""

from mcp_elicit_client.hosts._session_proxy import wrap_session as wrap_client

__all__ = ["wrap_client"]
