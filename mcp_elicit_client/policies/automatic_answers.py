"""Answers without a person: only for what the host has listed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from mcp_elicit_client.core.answer import check_answer
from mcp_elicit_client.core.form import Field, Form, text_constraints
from mcp_elicit_client.dispatch import NormalizedHandler, apply_policy
from mcp_elicit_client.typing import Answer, Content, FormRequest, Handler, Request

NAME = "automatic_answers"


def form_fingerprint(form: Form) -> str:
    """
    Name a form by what it asks for: 64 hexadecimal digits.

    Two forms with the same one take the same answers and show the same words
    on their fields; the message above them may differ.
    """
    # A default with a pattern is checked later, and dropped if it does not match: the form stays the same.
    fields = [
        field.model_dump(mode="json", exclude={"unchecked_default", *(["default"] if _has_pattern(field) else [])})
        for field in form.fields
    ]
    text = json.dumps([form.rejects_unknown_fields, fields], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class AutomaticAnswers:
    """
    Accepts listed forms of listed servers, with listed values; all else is asked.

    Use `policy` as a policy.  A value that does not fit its form is not sent:
    then the question is asked.

    Args:
        allowed: What to answer, by the host's name of the server and the
            `form_fingerprint` of the form.
    """

    def __init__(self, allowed: Mapping[tuple[str, str], Content]) -> None:
        self._allowed = {place: dict(content) for place, content in allowed.items()}

    def preview(self, request: Request) -> Answer | None:
        """Return what would be answered without a person; None if the question would be asked."""
        if not isinstance(request, FormRequest):
            return None
        content = self._allowed.get((request.server.name, form_fingerprint(request.form)))
        if content is None:
            return None
        answer = check_answer(request, _accept(content))
        return answer if answer.action == "accept" else None

    def policy(self, handler: Handler) -> Handler:
        """Ask *handler* only what is not answered here."""
        return apply_policy(handler, self._answer, limits_asking=True)

    async def _answer(self, request: Request, ask: NormalizedHandler) -> Answer:
        return self.preview(request) or await ask(request)


def _has_pattern(field: Field) -> bool:
    text = text_constraints(field)
    return text is not None and text.pattern is not None


def _accept(content: Mapping[str, Any]) -> Answer:
    answer = Answer.accept(
        content, by="policy", reason="the host listed this form", sources=dict.fromkeys(content, "policy")
    )
    return answer.model_copy(update={"policy": NAME})
