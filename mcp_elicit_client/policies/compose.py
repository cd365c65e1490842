"""Combinations of policies: `compose`, `recommended`, and `hooks` for functions of the host application."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection
from types import NoneType

from mcp_elicit_client._arguments import check_async, check_policy, check_type
from mcp_elicit_client.core.request import FormRequest, UrlRequest
from mcp_elicit_client.dispatch import NormalizedHandler, apply_policy, chain_policies, normalize_answer
from mcp_elicit_client.policies import queue
from mcp_elicit_client.policies import rate_limit as rates
from mcp_elicit_client.policies.automatic_answers import AutomaticAnswers
from mcp_elicit_client.policies.impersonation import flag_impersonation
from mcp_elicit_client.policies.permissions import Permissions
from mcp_elicit_client.policies.remembered import RememberedAnswers
from mcp_elicit_client.policies.secrets import protect_secrets
from mcp_elicit_client.typing import Answer, Policy, Request


def compose(*policies: Policy | None) -> Policy:
    """
    Combine policies: the first sees a request first, and its answer last.  None is ignored.

    Raises:
        TypeError: If an argument is not a policy, such as a function that
            makes one.
    """
    present = [policy for policy in policies if policy is not None]
    for policy in present:
        check_policy(policy)
    return lambda handler: chain_policies(present, handler)


def recommended(  # noqa: PLR0913 -- what a careful host may want otherwise, all by keyword
    *,
    audit: Policy | None = None,
    permissions: Permissions | None = None,
    automatic: AutomaticAnswers | None = None,
    remembered: RememberedAnswers | None = None,
    known_names: Collection[str] = (),
    rate_limit: Policy | None = None,
    answer_timeout: float | None = None,
    secrets: Policy | None = None,
) -> Policy:
    """
    Return the recommended policies.

    In this order: audit, permissions, automatic answers, remembered
    answers, cooldown, rate limit, sensitive data, queue, answer timeout,
    impersonation.  Refused requests do not enter the queue.  The answer
    timeout starts when a request is shown, not when it is queued.

    Args:
        audit: The policy that logs every request, such as
            ``AuditLog(...).policy``; None to keep no log.
        permissions: The permissions; None to keep them in memory only.
        automatic: The requests that are answered without a user.
        remembered: Answers that users choose to give again for some time;
            None to not offer that.
        known_names: The names that the host application uses for its servers
            and for itself.  Other servers that report such a name are
            flagged.
        rate_limit: Replaces ``rate_limit()``, for example with Redis.
        answer_timeout: The time that the user has for one request, in
            seconds; None for 40 seconds for each field, at least 240 and at
            most 1800.
        secrets: Replaces ``protect_secrets()``.

    Raises:
        TypeError: If an argument is of the wrong type.
        ValueError: If *answer_timeout* is not above 0 and at most a year.
    """
    for name, policy, example in (
        ("audit", audit, "AuditLog(path).policy"),
        ("rate_limit", rate_limit, 'rate_limit(["5/minute"])'),
        ("secrets", secrets, 'protect_secrets(action="warn")'),
    ):
        if policy is not None and not callable(policy):
            raise TypeError(f"`{name}` must be a policy, such as `{example}`, not {type(policy).__name__}.")
    if callable(answer_timeout):
        raise TypeError("`answer_timeout` must be a number of seconds, not a policy. Pass the number alone.")
    check_type("permissions", permissions, Permissions, NoneType)
    check_type("automatic", automatic, AutomaticAnswers, NoneType)
    check_type("remembered", remembered, RememberedAnswers, NoneType)
    return compose(
        audit,
        (permissions or Permissions()).policy,
        automatic.policy if automatic is not None else None,
        remembered.policy if remembered is not None else None,
        rates.cooldown_after_declines(),
        rate_limit or rates.rate_limit(),
        secrets or protect_secrets(),
        queue.one_at_a_time(),
        queue.answer_timeout(answer_timeout),
        flag_impersonation(known_names=known_names),
    )


_logger = logging.getLogger("mcp_elicit_client")

NAME = "hooks"


def hooks(
    *,
    before: Callable[[Request], Awaitable[Answer | Request | None]] | None = None,
    after: Callable[[Request, Answer], Awaitable[Answer | None]] | None = None,
) -> Policy:
    """
    Call functions of the host application before a request and after its answer.

    If a hook raises, or returns a value that is not listed here, the answer
    is a cancel.

    Args:
        before: An async function that is called with the request.  It
            returns None to ask the user, a request to show in its place, or
            an `Answer`: the user is then not asked.
        after: An async function that is called with the request and its
            answer.  It returns None to keep the answer, or another `Answer`.
            It is not called for an answer of *before*.

    Raises:
        TypeError: If a hook is not an async function with these parameters.
    """
    if before is not None:
        check_async("before", before, "request")
    if after is not None:
        check_async("after", after, "request", "answer")

    async def run_hooks(request: Request, ask: NormalizedHandler) -> Answer:
        try:
            decided = None if before is None else await before(request)
            if decided is not None and not isinstance(decided, (FormRequest, UrlRequest)):
                return normalize_answer(decided, before)
        except Exception as error:  # noqa: BLE001 -- logged, and a cancel
            return _failed(request, error)
        request = decided or request
        answer = await ask(request)
        if after is None:
            return answer
        try:
            changed = await after(request, answer)
            return answer if changed is None else normalize_answer(changed, after)
        except Exception as error:  # noqa: BLE001 -- logged, and a cancel
            return _failed(request, error)

    return lambda handler: apply_policy(handler, run_hooks)


def _failed(request: Request, error: Exception) -> Answer:
    _logger.error("a hook failed for server %r", request.server.name, exc_info=error)
    return Answer.cancel(by="error", policy=NAME, reason="a hook failed")
