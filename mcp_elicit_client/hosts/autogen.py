"""AutoGen: `wrap_session` makes the ``session`` of ``mcp_server_tools``."""

from mcp_elicit_client.hosts.session_proxy import wrap_session

__all__ = ["wrap_session"]
