"""
Ask by interrupting a graph of LangGraph: the answer may come days later, in another process.

It takes the extra ``langgraph``.
"""

from mcp_elicit_client.handlers.langgraph.durable_calls import durable
from mcp_elicit_client.handlers.langgraph.handler import InterruptHandler, resume_value

__all__ = ["InterruptHandler", "durable", "resume_value"]
