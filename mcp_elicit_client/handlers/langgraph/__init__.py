"""
Requests that interrupt a LangGraph graph.  The answer may come days later, in another process.

Requires the extra ``langgraph``.
"""

from mcp_elicit_client.handlers.langgraph.durable_calls import durable
from mcp_elicit_client.handlers.langgraph.handler import InterruptHandler, resume_value

__all__ = ["InterruptHandler", "durable", "resume_value"]
