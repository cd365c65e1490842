"""What goes back to the server, and what stays on our side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict
from pydantic import Field as Setting

from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.form import Value
from mcp_elicit_client.core.limits import DEFAULT_LIMITS, Limits
from mcp_elicit_client.core.request import FormRequest, Request
from mcp_elicit_client.core.validation.content import (
    drop_nulls,
    to_json_value,
    validate_content,
)
from mcp_elicit_client.exceptions import CallError

if TYPE_CHECKING:
    pass

Action: TypeAlias = Literal["accept", "decline", "cancel"]
"""What the server is told: a yes, a no, or that nobody decided."""

By: TypeAlias = Literal["user", "policy", "default", "host", "timeout", "unattended", "pending", "error"]
"""
Who decided: the person asked; a rule of the host application; the form's
defaults; the host's own code, which did not say on whose behalf; the clock;
nobody, since nobody was asked; nobody yet, since the question waits in an inbox
and no process with it; or something that failed.
"""

Source: TypeAlias = Literal["user", "default", "policy", "host"]
"""Where the value of one field comes from."""


class Answer(BaseModel):
    """
    The answer to a request.

    Only `action` and `content` ever reach the server.

    Attributes:
        action: Accept, decline or cancel.
        content: The values by field name; only with the accept of a form.
        by: Who decided.
        reason: Why, in words of ours or of the host's.
        policy: The policy that decided, in one word, where one did.
        block_server: The user wants to hear no more from this server.
        confirmed: The user was told that the answer seems to hold a secret,
            and sends it all the same.
        sources: Where each value comes from, by field name.
        notes: What was changed before the answer was sent.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, hide_input_in_errors=True)

    action: Action
    content: dict[str, Value | None] | None = None
    by: By
    reason: str = ""
    policy: str = ""
    block_server: bool = False
    confirmed: bool = False
    sources: dict[str, Source] = Setting(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()

    @classmethod
    def accept(
        cls,
        content: Mapping[str, Any] | None = None,
        *,
        by: By,
        reason: str = "",
        sources: Mapping[str, Source] | None = None,
    ) -> Answer:
        """Say yes, with the values of a form or, to a URL, without any."""
        return cls(
            action="accept",
            content=None if content is None else dict(content),
            by=by,
            reason=reason,
            sources=dict(sources or {}),
        )

    @classmethod
    def decline(cls, *, by: By, reason: str = "", policy: str = "", block_server: bool = False) -> Answer:
        """Say no.  Only for somebody's decision: if nobody was asked, cancel."""
        return cls(action="decline", by=by, reason=reason, policy=policy, block_server=block_server)

    @classmethod
    def cancel(cls, *, by: By, reason: str = "", policy: str = "") -> Answer:
        """Say neither: dismissed, failed, or nobody there."""
        return cls(action="cancel", by=by, reason=reason, policy=policy)

    def to_wire(self) -> dict[str, Any]:
        """Return the result as JSON on the wire: what the server gets to know."""
        if self.action != "accept" or self.content is None:
            return {"action": self.action}
        return {"action": self.action, "content": {name: _listed(value) for name, value in self.content.items()}}


class UrlElicitationIncompleteError(CallError):
    """
    The server wants URLs visited before it does what it was called for, and not all were.

    Attributes:
        answers: What was decided about each URL that was asked about, in the
            server's order.
    """

    def __init__(self, reason: str, answers: tuple[Answer, ...] = ()) -> None:
        super().__init__(reason)
        self.answers = answers


def check_answer(request: Request, answer: Answer, limits: Limits = DEFAULT_LIMITS) -> Answer:
    """
    Let no answer leave that does not fit its request.

    An accept whose content does not fit the form becomes a cancel; keys that
    the form did not ask for are left out and noted; content that does not
    belong to the answer is taken off.  It may wait for patterns: see
    `core.matching`.
    """
    if answer.action != "accept" or not isinstance(request, FormRequest):
        return answer.model_copy(update={"content": None, "sources": {}})
    form = request.form
    content = drop_nulls(form, answer.content or {})
    asked = {name: value for name, value in content.items() if name in form.by_name}
    notes = tuple(
        Diagnostic(code="not_asked_for", message="it was not asked for, and is not sent", field=name)
        for name in content
        if name not in asked
    )
    validation = validate_content(form, asked, limits)
    if not validation:
        codes = sorted({error.code for error in validation.errors})
        return Answer(
            action="cancel",
            by="error",
            reason=f"the answer did not fit the form: {', '.join(codes)}",
            diagnostics=notes,
        )
    return answer.model_copy(
        update={
            "content": {name: to_json_value(form.by_name[name], value) for name, value in asked.items()},
            "sources": {name: source for name, source in answer.sources.items() if name in asked},
            "diagnostics": (*answer.diagnostics, *notes, *validation.unchecked),
        }
    )


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
