"""What can go wrong with an audit log."""

from __future__ import annotations

from mcp_elicit_client.exceptions import ElicitationError


class AuditError(ElicitationError):
    """An audit log that cannot be used: unsafe, unwritable, or of another key."""
