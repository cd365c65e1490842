"""
Requests that interrupt a LangGraph graph.  The answer may come days later, in another process.

Requires the extra ``langgraph``.
"""

from mcp_elicit_client.handlers.langgraph.durable_calls import durable
from mcp_elicit_client.handlers.langgraph.handler import NO_ANSWER, InterruptHandler, resume_value

__all__ = ["NO_ANSWER", "InterruptHandler", "durable", "resume_value"]
