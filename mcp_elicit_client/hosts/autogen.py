"""AutoGen: ``mcp_server_tools(..., session=wrap_session(caller, session))``."""

from mcp_elicit_client.hosts._session_proxy import wrap_session

__all__ = ["wrap_session"]
