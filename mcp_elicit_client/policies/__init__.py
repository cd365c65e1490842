"""
Policies: each takes a handler and returns one that asks it only if a rule allows.

Each is usable alone; `recommended` puts together what a careful host wants.
"""

from mcp_elicit_client.policies.automatic import AutomaticAnswers, form_fingerprint
from mcp_elicit_client.policies.closing import answer_timeout
from mcp_elicit_client.policies.composing import compose, recommended
from mcp_elicit_client.policies.hooking import hooks
from mcp_elicit_client.policies.impersonation import flag_impersonation
from mcp_elicit_client.policies.limited import rate_limit
from mcp_elicit_client.policies.permissions import Permissions
from mcp_elicit_client.policies.quiet import cooldown_after_declines
from mcp_elicit_client.policies.secrets import protect_secrets
from mcp_elicit_client.policies.turns import one_at_a_time

__all__ = [
    "AutomaticAnswers",
    "Permissions",
    "compose",
    "flag_impersonation",
    "form_fingerprint",
    "hooks",
    "one_at_a_time",
    "answer_timeout",
    "protect_secrets",
    "cooldown_after_declines",
    "rate_limit",
    "recommended",
]
