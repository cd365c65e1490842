"""
Calls that survive being asked.

A `Caller` is what a host application holds for one server: it answers the
server's questions with a handler, and makes the calls during which they come.
"""

from mcp_elicit_client.calls.caller import Caller
from mcp_elicit_client.calls.suspending import SuspendedCall, SuspendOptions

__all__ = ["Caller", "SuspendOptions", "SuspendedCall"]
