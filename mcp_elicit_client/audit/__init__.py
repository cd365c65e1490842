"""
A log of every question and what became of it, which nobody changes unnoticed.

`AuditLog` is a policy; `verify` finds out whether a log is as it was written.
"""

from mcp_elicit_client.audit.chain import Checkpoint
from mcp_elicit_client.audit.errors import AuditError
from mcp_elicit_client.audit.examination import Violation
from mcp_elicit_client.audit.files import read_key
from mcp_elicit_client.audit.log import AuditLog, audited
from mcp_elicit_client.audit.telemetry import Telemetry
from mcp_elicit_client.audit.verification import Verification, verify

__all__ = ["Checkpoint", "AuditError", "AuditLog", "Violation", "Telemetry", "Verification", "audited", "read_key", "verify"]
