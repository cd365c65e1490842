"""Semantic Kernel: `wrap_session` makes the ``session`` of an ``MCPStdioPlugin`` or another plugin."""

from mcp_elicit_client.hosts.session_proxy import wrap_session

__all__ = ["wrap_session"]
