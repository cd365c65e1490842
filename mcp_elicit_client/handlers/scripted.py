"""`ScriptedAnswers`: a handler whose answers are given in advance, and `fill_form`, which makes one of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio.to_thread

from mcp_elicit_client.core.helpers import get_defaults
from mcp_elicit_client.core.schema.writer import write_schema
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.core.validation.content import drop_nulls
from mcp_elicit_client.core.validation.field_errors import AnswerError, FieldError, field_error
from mcp_elicit_client.dispatch import NormalizedHandler, apply_policy, validate_async
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.answer_files import ScriptedAnswer, normalize_message
from mcp_elicit_client.presentation.catalog import ENGLISH, MessageCatalog
from mcp_elicit_client.presentation.input_parsing import context_of_this_computer, parse_text
from mcp_elicit_client.presentation.quoting import quote, quote_name, wrap
from mcp_elicit_client.typing import Action, Answer, FormRequest, Handler, Request, Source, UrlRequest

_REASON = "the answer was given in advance"
_NOT_OPENED = "accepted in advance; the URL was not opened"


@dataclass(frozen=True, slots=True)
class Unanswered:
    """
    A request without a valid answer.

    Attributes:
        request: The request; None if it was refused before it was read.
        problems: What is wrong with it or its answer, as sentences.
    """

    request: Request | None
    problems: Sequence[str]

    def to_json(self) -> dict[str, Any]:
        """Return the request with its schema or URL, and the problems, as JSON."""
        asked = asked_for(self.request) if self.request is not None else {}
        return {**asked, "problems": list(self.problems)}

    def lines(self, width: int) -> Iterator[str]:
        """Yield the lines that show it, with a line for each field, unless that is too long."""
        if self.request is not None:
            yield from request_lines(self.request, width)
        yield from (wrap(sanitize_text(problem, multiline=False), width, 2, 4) for problem in self.problems)


class ScriptedAnswers:
    """
    A handler that answers without a user.

    An answer with a message answers the request with that message.  The
    others answer the remaining requests, in order.  Each is used once.
    Fields that it does not mention have their default value, or are omitted.

    Args:
        answers: The answers.
        action: Decline or cancel every request; None to use *answers*.
        accepts_urls: Accept URLs without opening them.
        catalog: The texts, and the locale of typed text.
        url_hint: How to accept a URL that has no answer.
        on_url: Called with each request whose URL is accepted.

    Attributes:
        unanswered: The requests without a valid answer.
    """

    def __init__(  # noqa: PLR0913 -- all by keyword
        self,
        answers: Sequence[ScriptedAnswer],
        *,
        action: Action | None = None,
        accepts_urls: bool = False,
        catalog: MessageCatalog = ENGLISH,
        url_hint: str = "",
        on_url: Callable[[UrlRequest], object] = lambda _request: None,
    ) -> None:
        self.unanswered: list[Unanswered] = []
        self._remaining = list(answers)
        self._action = action
        self._accepts_urls = accepts_urls
        self._catalog = catalog
        self._url_hint = url_hint
        self._on_url = on_url

    async def __call__(self, request: Request, /) -> Answer:
        """Answer *request*; cancel it if there is no valid answer."""
        if self._action is not None:
            return Answer(action=self._action, by="host", reason=_REASON)
        if isinstance(request, UrlRequest) and self._accepts_urls:
            return self._accept_url(request)
        answer = self._take(request)
        if answer is None:
            return self._refuse(request, [self._catalog.text(messages.NO_ANSWER_GIVEN), *self._hints(request)])
        if answer.action != "accept":
            return Answer(action=answer.action, by="host", reason=_REASON)
        if not isinstance(request, FormRequest):
            return self._refuse(request, self._hints(request, answer) or [self._catalog.text(messages.NO_ANSWER_GIVEN)])
        filled = await fill_form(request, answer, self._catalog)
        if filled.problems:
            return self._refuse(request, [*filled.problems, *self._hints(request, answer)])
        sources: dict[str, Source] = {}
        for name in filled.content:
            sources[name] = "default" if name in filled.defaults else "host"
        return Answer.accept(filled.content, by="host", reason=_REASON, sources=sources)

    def note_refusal(self, reason: str) -> None:
        """Note a request that was refused for *reason* before it was read."""
        self._refuse(None, [reason])

    def policy(self, handler: Handler, /) -> Handler:
        """Note the requests to which a policy does not send the answer.  This is the outermost policy."""

        async def observe(request: Request, ask: NormalizedHandler) -> Answer:
            answer = await ask(request)
            if answer.by not in ("host", "unattended"):
                self._refuse(request, [answer.reason])
            return answer

        return apply_policy(handler, observe)

    def report(self, *, width: int, include_unused: bool = True) -> str:
        """Return the requests without a valid answer, and the answers without a request; empty if there are none."""
        lines: list[str] = []
        for each in self.unanswered:
            lines += [self._catalog.text(messages.REQUEST_UNANSWERED), *each.lines(width)]
        if include_unused:
            lines += [self._catalog.text(messages.ANSWER_UNUSED, number=each.number) for each in self._remaining]
        return "\n".join(lines)

    def _take(self, request: Request) -> ScriptedAnswer | None:
        """Remove and return the answer to *request*, or None."""
        message = normalize_message(request.message)
        found = next((each for each in self._remaining if each.message == message), None)
        found = found or next((each for each in self._remaining if each.message is None), None)
        if found is not None:
            self._remaining.remove(found)
        return found

    def _accept_url(self, request: UrlRequest) -> Answer:
        if request.previous_visits:
            return self._refuse(request, [self._catalog.text(messages.URL_STILL_REQUIRED)])
        self._on_url(request)
        return Answer.accept(by="host", reason=_NOT_OPENED)

    def _hints(self, request: Request, answer: ScriptedAnswer | None = None) -> list[str]:
        """Return how to accept a URL, and how to write *answer* if it lacks its list."""
        hints = [self._url_hint] if isinstance(request, UrlRequest) and self._url_hint else []
        fields = request.form.by_name if isinstance(request, FormRequest) else {}
        if answer is not None and answer.is_unlisted(fields):
            hints.append(self._catalog.text(messages.ANSWER_UNLISTED, example=json.dumps([answer.content])))
        return hints

    def _refuse(self, request: Request | None, problems: Sequence[str]) -> Answer:
        self.unanswered.append(Unanswered(request, problems))
        return Answer.cancel(by="unattended", reason="there is no valid answer")


# --- One form


@dataclass(frozen=True, slots=True)
class FilledForm:
    """
    A form with the values of an answer.

    Attributes:
        content: The values to send, with defaults.
        defaults: The names of the fields that have their default value.
        problems: Why the values cannot be sent, as sentences.
    """

    content: Mapping[str, Any]
    defaults: frozenset[str]
    problems: Sequence[str]


async def fill_form(request: FormRequest, answer: ScriptedAnswer, catalog: MessageCatalog) -> FilledForm:
    """
    Return the form of *request* with the values of *answer* and defaults, after a check.

    Texts of sensitive fields are refused: they are arguments of a command.
    """
    fields = request.form.by_name
    names = [*answer.content, *answer.texts]
    problems = [_problem(field_error(name, "unknown_field"), catalog) for name in names if name not in fields]
    values = dict(answer.content)
    for name, text in answer.texts.items():
        if name not in fields:
            continue
        if fields[name].is_hidden:
            problems.append(f"{quote_name(name)}: {catalog.text(messages.SENSITIVE_ARGUMENT)}")
            continue
        context = context_of_this_computer(request, catalog)
        try:
            values[name] = await anyio.to_thread.run_sync(
                parse_text, fields[name], text, context, abandon_on_cancel=True
            )
        except AnswerError as error:
            problems += (_problem(each, catalog) for each in error.errors)
    if problems:
        return FilledForm({}, frozenset(), problems)
    defaults = await anyio.to_thread.run_sync(get_defaults, request, abandon_on_cancel=True)
    content = drop_nulls(request.form, {**defaults, **values})
    validation = await validate_async(request, content)
    problems = [_problem(error, catalog) for error in validation.errors]
    return FilledForm(content, frozenset(set(content) - set(values)), problems)


def _problem(error: FieldError, catalog: MessageCatalog) -> str:
    text = catalog.error(error)
    return f"{quote_name(error.field)}: {text}" if error.field else text


# --- Requests as JSON and as lines


def asked_for(request: Request) -> dict[str, Any]:
    """Return the mode, the message, and the schema or the URL of *request* as JSON."""
    what = (
        {"requestedSchema": write_schema(request.form)}
        if isinstance(request, FormRequest)
        else {"url": request.target.as_sent}
    )
    return {"mode": request.mode, "message": request.message, **what}


def request_lines(request: Request, width: int) -> Iterator[str]:
    """Yield the message, and the URL or the members of the schema as JSON: fields, and the names of required ones."""
    yield quote(request.message, width)
    for text in _members(request):
        yield quote(sanitize_text(text, limit=None), width)


def _members(request: Request) -> Iterator[str]:
    if not isinstance(request, FormRequest):
        yield request.target.as_sent
        return
    schema = write_schema(request.form)
    for name, value in schema["properties"].items():
        yield f"{json.dumps(name)}: {json.dumps(value)}"
    if "required" in schema:
        yield f'"required": {json.dumps(schema["required"])}'
