"""How a callback is tested: its parameters, and the default of each time.  The command line shows them in its help."""

from __future__ import annotations

from typing import Literal, TypeAlias

CallbackShape: TypeAlias = Literal["sdk", "fastmcp", "langchain", "mcp-agent"]
"""
The parameters of a callback: ``(context, params)`` of the SDK; ``(message,
response_type, params, context)`` of FastMCP; ``(mcp_context, params,
context)`` of langchain-mcp-adapters; or ``(request)`` of mcp-agent.
"""

ANSWER_TIMEOUT = 5.0
"""The default of the maximum seconds for one answer."""

SILENCE = 5.0
"""The default of the seconds for which a silent user is watched."""

SCENARIO_TIMEOUT = 30.0
"""The default of the maximum seconds for one scenario."""
