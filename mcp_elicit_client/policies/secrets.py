"""Forms that ask for what a form must not ask for, and answers that hold it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, TypeAlias

from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.form import Field, text_constraints
from mcp_elicit_client.core.secrets.in_answer import secret_values
from mcp_elicit_client.core.secrets.in_request import secret_fields
from mcp_elicit_client.core.secrets.tables import SecretFinding
from mcp_elicit_client.dispatch import NormalizedHandler, apply_policy
from mcp_elicit_client.typing import Answer, FormRequest, Policy, Request

NAME = "secrets"

Confirm: TypeAlias = Callable[[FormRequest, Sequence[SecretFinding]], Awaitable[bool]]
"""Asks the user whether to send an answer that seems to hold a secret; no is the default."""


def protect_secrets(*, action: Literal["refuse", "warn"] = "refuse", confirm: Confirm | None = None) -> Policy:
    """
    Keep what grants access or authorises payment out of forms.

    The specification forbids servers to ask for it in a form: URL mode is
    the way, where neither the client nor its model sees it.

    An answer that a person typed and that seems to hold a secret is only
    sent if they confirmed that (`Answer.confirmed`, or *confirm*).

    Args:
        action: What becomes of a form that asks for a secret.  ``refuse``
            declines it; ``warn`` asks it, with its fields marked
            (`TextField.secret`) and the user told.
        confirm: Asks where the user interface did not; None to cancel.
    """

    async def protect(request: Request, ask: NormalizedHandler) -> Answer:
        if not isinstance(request, FormRequest):
            return await ask(request)
        asked = secret_fields(request.form, request.message)
        if not asked:
            return await _checked(request, await ask(request), asked, confirm)
        if action == "refuse":
            return Answer.decline(by="policy", policy=NAME, reason=f"{asked[0].message} URL mode is the way.")
        marked = _marked(request, asked)
        answer = await _checked(request, await ask(marked), asked, confirm)
        found = marked.diagnostics[len(request.diagnostics) :]
        return answer.model_copy(update={"diagnostics": (*answer.diagnostics, *found)})

    return lambda handler: apply_policy(handler, protect)


async def _checked(
    request: FormRequest, answer: Answer, asked: Sequence[SecretFinding], confirm: Confirm | None
) -> Answer:
    if answer.action != "accept" or answer.confirmed or not answer.content:
        return answer
    warned = {finding.field for finding in asked}
    typed = {name: value for name, value in answer.content.items() if name not in warned}
    found = secret_values(typed)
    if not found or (confirm is not None and await confirm(request, found)):
        return answer
    return Answer.cancel(by="policy", policy=NAME, reason=f"{found[0].message} Nobody confirmed that it is to be sent.")


def _marked(request: FormRequest, findings: Sequence[SecretFinding]) -> FormRequest:
    """Mark the fields that ask for a secret, and take the server's suggestions off them."""
    named = {finding.field for finding in findings}
    fields = tuple(_marked_field(field) if field.name in named else field for field in request.form.fields)
    problems = tuple(
        Diagnostic(code="sensitive_data", message=finding.message, field=finding.field) for finding in findings
    )
    return request.model_copy(
        update={
            "form": request.form.model_copy(update={"fields": fields}),
            "diagnostics": (*request.diagnostics, *problems),
        }
    )


def _marked_field(field: Field) -> Field:
    dropped = {"default": None, **({"unchecked_default": None} if text_constraints(field) is not None else {})}
    return field.model_copy(update={"sensitive": True, **dropped})
