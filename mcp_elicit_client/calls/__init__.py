"""
Calls to servers, with every elicitation that they lead to.

A `Caller` makes calls to one server and answers its requests.  A call can be
suspended while its requests are pending, and resumed in any process.
"""

from mcp_elicit_client.calls.caller import Caller, CallOptions, ToolOptions
from mcp_elicit_client.calls.connections import MessageHandler
from mcp_elicit_client.calls.methods import AnyClient, ProgressCallback
from mcp_elicit_client.calls.suspending import SuspendedCall, SuspendOptions
from mcp_elicit_client.calls.task_polling import OnTaskStatus, TaskHandle
from mcp_elicit_client.calls.task_wire import TaskStatus

__all__ = [
    "AnyClient",
    "CallOptions",
    "Caller",
    "MessageHandler",
    "OnTaskStatus",
    "ProgressCallback",
    "SuspendOptions",
    "SuspendedCall",
    "TaskHandle",
    "TaskStatus",
    "ToolOptions",
]
