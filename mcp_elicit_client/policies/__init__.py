"""
Policies: functions that wrap a handler and may answer in its place.

`recommended` combines them.
"""

from mcp_elicit_client.core.secrets.findings import SecretFinding, SecretKind, SecretLocation
from mcp_elicit_client.policies.automatic_answers import AutomaticAnswers, form_fingerprint
from mcp_elicit_client.policies.compose import compose, hooks, recommended
from mcp_elicit_client.policies.impersonation import flag_impersonation
from mcp_elicit_client.policies.permissions import Permission, Permissions, Rule
from mcp_elicit_client.policies.queue import answer_timeout, one_at_a_time
from mcp_elicit_client.policies.rate_limit import cooldown_after_declines, rate_limit
from mcp_elicit_client.policies.remembered import RememberedAnswer, RememberedAnswers
from mcp_elicit_client.policies.secrets import protect_secrets
from mcp_elicit_client.stored_answers import is_resuming

__all__ = [
    "AutomaticAnswers",
    "Permission",
    "Permissions",
    "RememberedAnswer",
    "RememberedAnswers",
    "Rule",
    "SecretFinding",
    "SecretKind",
    "SecretLocation",
    "answer_timeout",
    "compose",
    "cooldown_after_declines",
    "flag_impersonation",
    "form_fingerprint",
    "hooks",
    "is_resuming",
    "one_at_a_time",
    "protect_secrets",
    "rate_limit",
    "recommended",
]
