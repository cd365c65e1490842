"""AutoGen: `wrap_session` makes the ``session`` of ``mcp_server_tools``."""

from mcp_elicit_client.hosts.own_session import wrap_session

__all__ = ["wrap_session"]
