"""`AutomaticAnswers`: answers of the host application to forms that it lists."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from mcp_elicit_client._arguments import check_type
from mcp_elicit_client.core.answer import check_answer
from mcp_elicit_client.core.form import Field, Form, text_constraints
from mcp_elicit_client.core.request import user_and_server_of
from mcp_elicit_client.dispatch import NormalizedHandler, apply_policy
from mcp_elicit_client.typing import Answer, Content, FormRequest, Handler, Request

NAME = "automatic_answers"


def form_fingerprint(form: Form) -> str:
    """
    Return the fingerprint of a form: 64 hexadecimal digits.

    Forms with the same fingerprint accept the same answers and have the same
    texts on their fields.  Their messages may differ.

    Raises:
        TypeError: If *form* is not a `Form`.
    """
    check_type("form", form, Form, hint="Pass `request.form`.")
    # A default with a pattern is checked later, and dropped if it does not match: the form stays the same.
    fields = [
        field.model_dump(mode="json", exclude={"unchecked_default", *(["default"] if _has_pattern(field) else [])})
        for field in form.fields
    ]
    text = json.dumps([form.rejects_unknown_fields, fields], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class AutomaticAnswers:
    """
    Accepts listed forms of listed servers with listed values.  The user is asked about all others.

    Use `policy` as a policy.  If a value does not fit its form, or the form
    has no field of that name, the user is asked.

    Args:
        allowed: The values of each form.  Its key is ``(server,
            fingerprint)``, with the name that the host application gave the
            server and the `form_fingerprint`.  The values of ``(user,
            server, fingerprint)`` are for requests of that user only, and
            take precedence.

    Raises:
        TypeError: If a key or the values of a form are of the wrong type.
        ValueError: If a listed form has no fields.  Such a form asks to
            confirm its message, which is not part of its fingerprint.
    """

    def __init__(self, allowed: Mapping[tuple[str, str] | tuple[str, str, str], Content]) -> None:
        check_type("allowed", allowed, Mapping)
        for form, content in allowed.items():
            _check_key(form)
            check_type("allowed", content, Mapping, hint="Each form has a mapping of values by field name.")
        self._allowed: dict[tuple[str, ...], dict[str, Any]] = {form: dict(allowed[form]) for form in allowed}
        self._servers = {form[-2] for form in allowed}

    def preview(self, request: Request) -> Answer | None:
        """Return the automatic answer to *request*; None if the user would be asked."""
        user, server = user_and_server_of(request)
        if not isinstance(request, FormRequest) or server not in self._servers:
            return None
        form = (server, form_fingerprint(request.form))
        content = None if user is None else self._allowed.get((user, *form))
        if content is None:
            content = self._allowed.get(form)
        if content is None or not content.keys() <= request.form.by_name.keys():
            return None
        try:
            accept = _accept(content)
        except ValueError:  # a value that fits no form, such as a date of Python
            return None
        answer = check_answer(request, accept)
        return answer if answer.action == "accept" else None

    def policy(self, handler: Handler) -> Handler:
        """Wrap *handler*: call it for requests that are not answered automatically."""
        return apply_policy(handler, self._answer, limits_asking=True)

    async def _answer(self, request: Request, ask: NormalizedHandler) -> Answer:
        return self.preview(request) or await ask(request)


def _check_key(form: Any) -> None:
    is_key = isinstance(form, tuple) and len(form) in (2, 3) and all(isinstance(part, str) for part in form)
    if not is_key:
        raise TypeError(f"A key of `allowed` must be (server, form) or (user, server, form), not {form!r}.")
    if form[-1] in _fingerprints_of_confirmations():
        raise ValueError(
            "A listed form has no fields: its fingerprint is that of every confirmation. Let the user confirm."
        )


@cache
def _fingerprints_of_confirmations() -> frozenset[str]:
    return frozenset(form_fingerprint(Form(rejects_unknown_fields=each)) for each in (True, False))


def _has_pattern(field: Field) -> bool:
    text = text_constraints(field)
    return text is not None and text.pattern is not None


def _accept(content: Mapping[str, Any]) -> Answer:
    answer = Answer.accept(content, by="policy", reason="the form is listed", sources=dict.fromkeys(content, "policy"))
    return answer.model_copy(update={"policy": NAME})
