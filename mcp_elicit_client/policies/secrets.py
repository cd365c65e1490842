"""`protect_secrets`: forms that request sensitive data, and answers that contain it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

from mcp_elicit_client._arguments import check_async
from mcp_elicit_client._concurrency import collect_in_turns
from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.form import Field, text_constraints
from mcp_elicit_client.core.secrets.findings import SecretFinding
from mcp_elicit_client.core.secrets.in_answer import load_tables, searching_steps
from mcp_elicit_client.dispatch import NormalizedHandler, apply_policy, secret_fields_async
from mcp_elicit_client.typing import Answer, FormRequest, Policy, Request

NAME = "secrets"


def protect_secrets(
    *,
    action: Literal["refuse", "warn"] = "refuse",
    confirm: Callable[[FormRequest, Sequence[SecretFinding]], Awaitable[bool]] | None = None,
) -> Policy:
    """
    Protect passwords, keys, tokens and payment data.

    The specification forbids servers to request them in forms.  They belong
    in URL mode, where neither the client nor its model sees them.

    If an answer of the user seems to contain sensitive data, it is sent only
    if the user confirmed that (`Answer.confirmed`, or *confirm*).

    Args:
        action: What happens to a form that requests sensitive data.
            ``refuse`` declines it.  ``warn`` shows it with a warning, and
            with these fields marked (`TextField.sensitive`).
        confirm: Asks the user whether to send such an answer if the user
            interface did not, and returns True to send it; None to cancel.

    Raises:
        TypeError: If *confirm* is not an async function.
        ValueError: If *action* is neither ``refuse`` nor ``warn``.
    """
    if action not in ("refuse", "warn"):
        raise ValueError(f'`action` must be "refuse" or "warn", not {action!r}.')
    if confirm is not None:
        check_async("confirm", confirm, "request", "findings")
    load_tables()  # so that the first request does not block the event loop for this time

    async def protect(request: Request, ask: NormalizedHandler) -> Answer:
        if not isinstance(request, FormRequest):
            return await ask(request)
        requested = await secret_fields_async(request)
        if not requested:
            return await _checked(request, await ask(request), requested, confirm)
        if action == "refuse":
            return Answer.decline(by="policy", policy=NAME, reason=requested[0].message)
        marked = _marked(request, requested)
        answer = await _checked(request, await ask(marked), requested, confirm)
        found = marked.diagnostics[len(request.diagnostics) :]
        return answer.model_copy(update={"diagnostics": (*answer.diagnostics, *found)})

    return lambda handler: apply_policy(handler, protect)


async def _checked(
    request: FormRequest,
    answer: Answer,
    requested: Sequence[SecretFinding],
    confirm: Callable[[FormRequest, Sequence[SecretFinding]], Awaitable[bool]] | None,
) -> Answer:
    if answer.action != "accept" or answer.confirmed or not answer.content:
        return answer
    warned = {finding.field for finding in requested}
    typed = {name: value for name, value in answer.content.items() if name not in warned} if warned else answer.content
    found = await collect_in_turns(searching_steps(typed))
    # Only True confirms: an answer that declines, or a text, is true as well.
    if not found or (confirm is not None and await confirm(request, found) is True):
        return answer
    return Answer.cancel(
        by="policy", policy=NAME, reason=f"{found[0].message} The user did not confirm that it may be sent."
    )


def _marked(request: FormRequest, findings: Sequence[SecretFinding]) -> FormRequest:
    """Mark the fields that request sensitive data, and remove their default values."""
    named = {finding.field for finding in findings}
    fields = tuple(_marked_field(field) if field.name in named else field for field in request.form.fields)
    diagnostics = tuple(
        Diagnostic(code="sensitive_data", message=finding.message, field=finding.field) for finding in findings
    )
    return request.model_copy(
        update={
            "form": request.form.model_copy(update={"fields": fields}),
            "diagnostics": (*request.diagnostics, *diagnostics),
        }
    )


def _marked_field(field: Field) -> Field:
    dropped = {"default": None, **({"unchecked_default": None} if text_constraints(field) is not None else {})}
    return field.model_copy(update={"sensitive": True, **dropped})
