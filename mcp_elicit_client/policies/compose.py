"""Policies put together."""

from __future__ import annotations

from collections.abc import Collection

from mcp_elicit_client.policies.answer_timeout import answer_timeout as limit_answer_time
from mcp_elicit_client.policies.automatic_answers import AutomaticAnswers
from mcp_elicit_client.policies.cooldown import cooldown_after_declines
from mcp_elicit_client.policies.impersonation import flag_impersonation
from mcp_elicit_client.policies.one_at_a_time import one_at_a_time
from mcp_elicit_client.policies.permissions import Permissions
from mcp_elicit_client.policies.rate_limit import rate_limit as limit_rate
from mcp_elicit_client.policies.secrets import protect_secrets
from mcp_elicit_client.typing import Handler, Policy


def compose(*policies: Policy | None) -> Policy:
    """Put policies together: the first sees a request first, and its answer last.  None is left out."""

    def policy(handler: Handler) -> Handler:
        for each in reversed(policies):
            if each is not None:
                handler = each(handler)
        return handler

    return policy


def recommended(  # noqa: PLR0913 -- what a careful host may want otherwise, all by keyword
    *,
    audit: Policy | None = None,
    permissions: Permissions | None = None,
    automatic: AutomaticAnswers | None = None,
    known_names: Collection[str] = (),
    rate_limit: Policy | None = None,
    answer_timeout: float = 240,
    secrets: Policy | None = None,
) -> Policy:
    """
    Put together what a careful host wants.

    In this order: audit, permissions, automatic answers, quiet after
    declines, rate limit, secrets, one question at a time, patience,
    impersonation.  What would be refused anyway takes nobody's turn, and
    nobody's patience runs while a question waits in the queue.

    Args:
        audit: What logs every question, e.g. ``AuditLog(...).policy``; None to
            keep no log.
        permissions: Who may ask; None for permissions that no file keeps.
        automatic: What is answered without a person; None for nothing.
        known_names: What the host calls its servers, and itself: no other server
            may claim these names unnoticed.
        rate_limit: In place of ``rate_limit()``, e.g. with Redis as its storage.
        answer_timeout: How long the user has for one question.
        secrets: In place of ``protect_secrets()``.
    """
    return compose(
        audit,
        (permissions or Permissions()).policy,
        automatic.policy if automatic is not None else None,
        cooldown_after_declines(),
        rate_limit or limit_rate(),
        secrets or protect_secrets(),
        one_at_a_time(),
        limit_answer_time(answer_timeout),
        flag_impersonation(known_names=known_names),
    )
