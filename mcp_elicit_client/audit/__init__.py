"""
A log of every question and what became of it, which nobody changes unnoticed.

`AuditLog` is a policy; `verify` finds out whether a log is as it was written.
"""

from mcp_elicit_client.audit.chain import Checkpoint
from mcp_elicit_client.audit.files import read_key
from mcp_elicit_client.audit.log import AuditLog, OnFailure
from mcp_elicit_client.audit.verifier import Verification, Violation, ViolationCode, verify
from mcp_elicit_client.exceptions import AuditError
from mcp_elicit_client.telemetry import Telemetry

__all__ = [
    "AuditError",
    "AuditLog",
    "Checkpoint",
    "OnFailure",
    "Telemetry",
    "Verification",
    "Violation",
    "ViolationCode",
    "read_key",
    "verify",
]
