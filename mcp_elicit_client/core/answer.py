"""`Answer`, and `check_answer`, which every answer passes before it is sent."""

from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any, ClassVar, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic import Field as Setting

from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.form import Value
from mcp_elicit_client.core.request import FormRequest, Request, limits_of, user_and_server_of
from mcp_elicit_client.core.validation.content import drop_nulls, drop_unknown, to_json_value, validation_steps
from mcp_elicit_client.core.validation.field_errors import FieldError
from mcp_elicit_client.core.validation.patterns import PatternSteps, run_steps
from mcp_elicit_client.exceptions import CallError

_MAX_NAMED = 10
"""The number of invalid values that one line of the log names."""

Action: TypeAlias = Literal["accept", "decline", "cancel"]
"""MCP's three actions.  A decline is a decision; a cancel means that no decision was made."""

By: TypeAlias = Literal["user", "policy", "default", "host", "timeout", "unattended", "pending", "error"]
"""
Who decided about a request.

``user``; ``policy``, a policy of the host application; ``default``, a rule that
accepts default values; ``host``, other code of the host application; or
``timeout``.  The others mean that no decision was made: ``unattended``, no user
was asked; ``pending``, the request is stored in an inbox; ``error``.
"""

Source: TypeAlias = Literal["user", "default", "policy", "host"]
"""The origin of the value of one field."""


class Answer(BaseModel):
    """
    The answer to a request.

    Only `action` and `content` are sent to the server.

    Attributes:
        action: Accept, decline or cancel.
        content: The values by field name; only for an accepted form.
        by: Who decided; ``docs/reference.md`` lists the values.
        reason: The reason, as text.  It is never sent.
        policy: The name of the policy that decided, if one did.
        block_server: The user blocked the server.
        confirmed: The user confirmed a warning about sensitive data.
        remember: The user wants the same request to be answered the same way
            for some time; only if `FormRequest.remember_seconds` is set.
        sources: The origin of each value, by field name.
        diagnostics: What was changed or not checked before the answer was
            sent.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, hide_input_in_errors=True)

    action: Action
    content: dict[str, Value | None] | None = None
    by: By
    reason: str = ""
    policy: str = ""
    block_server: bool = False
    confirmed: bool = False
    remember: bool = False
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
    ) -> "Answer":
        """
        Return an accept, with the values of a form; a URL has none.

        Raises:
            TypeError: If *content* is not a mapping.
            ValueError: If a value is not a string, number, Boolean, None or
                sequence of strings, or an argument has an unknown value.
        """
        if not isinstance(content, (Mapping, NoneType)):
            raise TypeError(f"`content` must be a mapping or None, not {type(content).__name__}.")
        values = None if content is None else dict(content)
        return cls._make(action="accept", content=values, by=by, reason=reason, sources=dict(sources or {}))

    @classmethod
    def decline(cls, *, by: By, reason: str = "", policy: str = "", block_server: bool = False) -> "Answer":
        """Return a decline.  Only a user, or a rule that the host set, may decline."""
        return cls._make(action="decline", by=by, reason=reason, policy=policy, block_server=block_server)

    @classmethod
    def cancel(cls, *, by: By, reason: str = "", policy: str = "") -> "Answer":
        """Return a cancel: the request was dismissed or failed, or no one was asked."""
        return cls._make(action="cancel", by=by, reason=reason, policy=policy)

    @classmethod
    def _make(cls, **values: Any) -> "Answer":
        try:
            return cls(**values)
        except ValidationError as error:
            raise ValueError(_wrong_argument(error, values.get("content") or {})) from None

    def to_wire(self) -> dict[str, Any]:
        """Return the result of ``elicitation/create`` as JSON."""
        if self.action != "accept" or self.content is None:
            return {"action": self.action}
        content = {name: [*value] if isinstance(value, tuple) else value for name, value in self.content.items()}
        return {"action": self.action, "content": content}


def _wrong_argument(error: ValidationError, content: Mapping[Any, Any]) -> str:
    """Return which argument of `Answer.accept` is wrong, without its value."""
    first = error.errors(include_url=False, include_input=False)[0]
    name, *parts = first["loc"]
    if name == "content" and "[key]" in parts:
        return "The keys of `content` must be the names of fields, which are strings."
    if name == "content":
        found = type(content.get(parts[0])).__name__
        allowed = "a string, a number, a Boolean, None or a list of strings"
        return f"`content[{parts[0]!r}]` must be {allowed}, not {found}. Convert it, such as a date with `isoformat()`."
    shown = f"{name}[{parts[0]!r}]" if parts else name
    return f"`{shown}` {first['msg'].replace('Input should be', 'must be', 1)}."


class UrlElicitationIncompleteError(CallError):
    """
    The server requires URL elicitations that were not all completed.

    Attributes:
        answers: The answer to each URL, in the server's order.
    """

    def __init__(self, reason: str, answers: tuple[Answer, ...] = ()) -> None:
        super().__init__(reason)
        self.answers = answers


def check_answer(request: Request, answer: Answer) -> Answer:
    """
    Validate *answer* before it is sent.

    Return a cancel if its content does not match the form.  Keys that the
    form did not request are omitted and reported.  Content of a decline, a
    cancel or a URL is removed.  The limits are those of the request.
    """
    return run_steps(checking_steps(request, answer), user_and_server_of(request))


def checking_steps(request: Request, answer: Answer) -> PatternSteps[Answer]:
    """Check *answer* as `check_answer` does."""
    if answer.action != "accept" or not isinstance(request, FormRequest):
        has_values = answer.content is not None or answer.sources
        return answer.model_copy(update={"content": None, "sources": {}}) if has_values else answer
    form, fields = request.form, request.form.by_name
    content = drop_nulls(form, answer.content or {})
    requested = drop_unknown(form, content)
    omitted = tuple(
        Diagnostic(code="not_asked_for", message="the form did not request it; it is not sent", field=name)
        for name in content
        if name not in requested
    )
    validation = yield from validation_steps(form, requested, limits_of(request))
    if not validation:
        return invalid_answer(validation.errors, "the answer does not fit the form", omitted)
    return answer.model_copy(
        update={
            "content": {name: to_json_value(fields[name], value) for name, value in requested.items()},
            "sources": {name: source for name, source in answer.sources.items() if name in requested},
            "diagnostics": (*answer.diagnostics, *omitted, *validation.unchecked),
        }
    )


def invalid_answer(errors: Sequence[FieldError], why: str, diagnostics: tuple[Diagnostic, ...] = ()) -> Answer:
    """Return the cancel in place of an answer that has *errors*, with the field and code of each."""
    found = [
        Diagnostic(code="invalid_value", message=f"{error.code}: {error.message}", field=error.field or None)
        for error in errors
    ]
    codes = sorted({error.code for error in errors})
    return Answer(action="cancel", by="error", reason=f"{why}: {', '.join(codes)}", diagnostics=(*diagnostics, *found))


def reason_for_log(answer: Answer) -> str:
    """Return the reason of *answer*, and the field and code of each invalid value.  The values are not included."""
    invalid = [each for each in answer.diagnostics if each.code == "invalid_value"]
    if not invalid:
        return answer.reason
    named = [f"{'the answer' if each.field is None else repr(each.field)}: {each.message}" for each in invalid]
    more = [f"and {len(named) - _MAX_NAMED} more"] if len(named) > _MAX_NAMED else []
    return f"{answer.reason} ({'; '.join([*named[:_MAX_NAMED], *more])})"
