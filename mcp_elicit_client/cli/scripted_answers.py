"""`ScriptedAnswers`: the handler of ``mcp-elicit call`` whose answers are given in advance."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio.to_thread

from mcp_elicit_client.cli import messages
from mcp_elicit_client.cli.common import output_width, quote_name, wrap
from mcp_elicit_client.core.helpers import get_defaults
from mcp_elicit_client.core.schema.writer import write_schema
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.core.validation.content import drop_nulls
from mcp_elicit_client.core.validation.field_errors import AnswerError, FieldError, field_error
from mcp_elicit_client.dispatch import NormalizedHandler, apply_policy, validate_async
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.input_parsing import InputContext, parse_text
from mcp_elicit_client.presentation.quoting import quote
from mcp_elicit_client.typing import Action, Answer, FormRequest, Handler, Request, Source, UrlRequest

_REASON = "the answer was given on the command line"
_NOT_OPENED = "accepted on the command line; the URL was not opened"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedAnswer:
    """
    One answer that was given in advance.

    Attributes:
        number: Its position, from 1 on.
        action: Accept, decline or cancel.
        content: Values by field name, as they are sent.
        texts: Texts by field name, which are read as typed text.
        message: The message of the request that it answers; None for the
            next request.
    """

    number: int = 1
    action: Action = "accept"
    content: Mapping[str, Any] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Unanswered:
    """
    A request without a valid answer.

    Attributes:
        request: The request.
        problems: What is wrong with its answer, as sentences.
    """

    request: Request
    problems: Sequence[str]

    def to_json(self) -> dict[str, Any]:
        """Return the request with its schema or URL, and the problems, as JSON."""
        request = self.request
        asked = (
            {"requestedSchema": write_schema(request.form)}
            if isinstance(request, FormRequest)
            else {"url": request.target.as_sent}
        )
        return {"mode": request.mode, "message": request.message, **asked, "problems": list(self.problems)}

    def lines(self) -> Iterator[str]:
        """Yield the lines that show it, with a line for each field, unless that is too long."""
        yield quote(self.request.message, output_width())
        for text in self._asked_for():
            yield quote(sanitize_text(text, limit=None), output_width())
        yield from (wrap(problem, 2, 4) for problem in self.problems)

    def _asked_for(self) -> Iterator[str]:
        """Yield the URL; or the members of the schema as JSON: fields, and the names of the required ones."""
        if not isinstance(self.request, FormRequest):
            yield self.request.target.as_sent
            return
        schema = write_schema(self.request.form)
        for name, value in schema["properties"].items():
            yield f"{json.dumps(name)}: {json.dumps(value)}"
        if "required" in schema:
            yield f'"required": {json.dumps(schema["required"])}'


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

    Attributes:
        unanswered: The requests without a valid answer.
    """

    def __init__(
        self,
        answers: Sequence[ScriptedAnswer],
        *,
        action: Action | None = None,
        accepts_urls: bool = False,
        catalog: MessageCatalog,
    ) -> None:
        self.unanswered: list[Unanswered] = []
        self._remaining = list(answers)
        self._action = action
        self._accepts_urls = accepts_urls
        self._catalog = catalog

    async def __call__(self, request: Request, /) -> Answer:
        """Answer *request*; cancel it if there is no valid answer."""
        if self._action is not None:
            return Answer(action=self._action, by="host", reason=_REASON)
        if isinstance(request, UrlRequest) and self._accepts_urls:
            return self._accept_url(request)
        answer = self._take(request)
        if answer is None:
            return self._refuse(request, [self._catalog.text(messages.NO_ANSWER), *self._url_hint(request)])
        if answer.action != "accept":
            return Answer(action=answer.action, by="host", reason=_REASON)
        if not isinstance(request, FormRequest):
            return self._refuse(request, self._url_hint(request))
        return await self._fill(request, answer)

    def policy(self, handler: Handler, /) -> Handler:
        """Note the requests to which a policy does not send the answer.  This is the outermost policy."""

        async def observe(request: Request, ask: NormalizedHandler) -> Answer:
            answer = await ask(request)
            if answer.by not in ("host", "unattended"):
                self._refuse(request, [answer.reason])
            return answer

        return apply_policy(handler, observe)

    def report(self, *, include_unused: bool) -> str:
        """Return the requests without a valid answer, and the answers without a request; empty if there are none."""
        lines: list[str] = []
        for each in self.unanswered:
            lines += [self._catalog.text(messages.REQUEST_UNANSWERED), *each.lines()]
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
        print(self._catalog.text(messages.URL_NOT_OPENED), file=sys.stderr)
        print(quote(sanitize_text(request.target.as_sent, multiline=False), output_width()), file=sys.stderr)
        return Answer.accept(by="host", reason=_NOT_OPENED)

    def _url_hint(self, request: Request) -> list[str]:
        return [] if isinstance(request, FormRequest) else [self._catalog.text(messages.OPEN_URL_HINT)]

    def _refuse(self, request: Request, problems: Sequence[str]) -> Answer:
        self.unanswered.append(Unanswered(request, problems))
        return Answer.cancel(by="unattended", reason="there is no valid answer on the command line")

    async def _fill(self, request: FormRequest, answer: ScriptedAnswer) -> Answer:
        """Return the accept of *request* with the values of *answer* and defaults, if they are valid."""
        fields = request.form.by_name
        names = [*answer.content, *answer.texts]
        problems = [self._problem(field_error(name, "unknown_field")) for name in names if name not in fields]
        values = dict(answer.content)
        for name, text in answer.texts.items():
            if name not in fields:
                continue
            if fields[name].is_hidden:
                problems.append(f"{quote_name(name)}: {self._catalog.text(messages.SENSITIVE_ARGUMENT)}")
                continue
            context = InputContext.of_this_computer(request, locale=self._catalog.locale)
            try:
                values[name] = await anyio.to_thread.run_sync(
                    parse_text, fields[name], text, context, abandon_on_cancel=True
                )
            except AnswerError as error:
                problems += map(self._problem, error.errors)
        if problems:
            return self._refuse(request, problems)
        return await self._validated(request, values)

    async def _validated(self, request: FormRequest, values: Mapping[str, Any]) -> Answer:
        defaults = await anyio.to_thread.run_sync(get_defaults, request, abandon_on_cancel=True)
        content = drop_nulls(request.form, {**defaults, **values})
        validation = await validate_async(request, content, request.limits)
        if not validation:
            return self._refuse(request, [self._problem(error) for error in validation.errors])
        sources: dict[str, Source] = {name: "host" if name in values else "default" for name in content}
        return Answer.accept(content, by="host", reason=_REASON, sources=sources)

    def _problem(self, error: FieldError) -> str:
        text = self._catalog.error(error)
        return f"{quote_name(error.field)}: {text}" if error.field else text


def normalize_message(text: str) -> str:
    """Return a message so that it equals the same message with other white space."""
    return " ".join(sanitize_text(text, limit=None).split())
