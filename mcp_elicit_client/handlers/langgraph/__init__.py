"""
Ask by interrupting a graph of LangGraph: the answer may come days later, in another process.

It takes the extra ``langgraph``.
"""

from mcp_elicit_client.handlers.langgraph.handler import NO_ANSWER, InterruptHandler, resume_value
from mcp_elicit_client.handlers.langgraph.remembering import durable

__all__ = ["NO_ANSWER", "InterruptHandler", "resume_value", "durable"]
