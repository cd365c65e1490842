"""
A tamper-evident log of every request and its answer.

`AuditLog` is a policy.  `verify` reports changes of a log.
"""

from mcp_elicit_client.audit.chain import Checkpoint
from mcp_elicit_client.audit.log import AuditLog
from mcp_elicit_client.audit.verifier import Verification, Violation, ViolationCode, verify
from mcp_elicit_client.exceptions import AuditError
from mcp_elicit_client.telemetry import Telemetry

__all__ = [
    "AuditError",
    "AuditLog",
    "Checkpoint",
    "Telemetry",
    "Verification",
    "Violation",
    "ViolationCode",
    "verify",
]
