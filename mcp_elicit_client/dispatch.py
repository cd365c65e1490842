"""Between a host's library and a handler: nothing unanswered, nothing leaked."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio

from mcp_elicit_client.core.answer import Answer, check_answer
from mcp_elicit_client.core.limits import DEFAULT_LIMITS, Limits
from mcp_elicit_client.core.parse import parse_request
from mcp_elicit_client.core.request import Server
from mcp_elicit_client.core.url.inspect import DEFAULT_URL_RULES, UrlRules
from mcp_elicit_client.core.validation.content import drop_invalid_defaults
from mcp_elicit_client.exceptions import RequestError
from mcp_elicit_client.typing import FormRequest, Handler, Mode, Request

T = TypeVar("T")

_logger = logging.getLogger("mcp_elicit_client")

OUTCOME_META_KEY = "mcp-elicit-client/outcome"
"""The name in a result's ``_meta`` under which a server is told who decided, if the host wants that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestOptions:
    """
    How requests are read on their way to a handler.

    Attributes:
        limits: How much of a request is read and shown.
        url_rules: Which hosts beyond public https may be visited.
        report_outcome: Whether the server is told, in the result's ``_meta``,
            who decided: a person, or a policy and which.
        modes: The modes that the session declares; a request in another is
            refused.  None where the session declares what it likes.
    """

    limits: Limits = DEFAULT_LIMITS
    url_rules: UrlRules = DEFAULT_URL_RULES
    report_outcome: bool = False
    modes: Collection[Mode] | None = None

    def parse(self, params: object, **details: Any) -> Request:
        """
        Read *params*; *details* are those of `parse_request`.

        Raises:
            RequestError: If nobody could answer, or the mode is not declared.
        """
        request = parse_request(params, limits=self.limits, url_rules=self.url_rules, **details)
        if self.modes is not None and request.mode not in self.modes:
            raise RequestError(f"this client takes no requests in {request.mode} mode")
        return request

    def to_wire(self, answer: Answer) -> dict[str, Any]:
        """Return the result of *answer* as JSON on the wire: all that the server gets to know."""
        wire = answer.to_wire()
        if self.report_outcome:
            wire["_meta"] = {
                OUTCOME_META_KEY: {"by": answer.by, **({"policy": answer.policy} if answer.policy else {})}
            }
        return wire


DEFAULT_REQUEST_OPTIONS = RequestOptions()

MAX_BATCH = 16
"""How many questions may be asked at once, where they come back in place of a result."""


def options_for(handler: Handler, request_options: RequestOptions | None) -> RequestOptions:
    """Return *door*; if that is None, the way of *handler*, or of whose method it is: of a registry, or a caller."""
    ways = (request_options, getattr(handler, "request_options", None), getattr(getattr(handler, "__self__", None), "request_options", None))
    return next((each for each in ways if isinstance(each, RequestOptions)), DEFAULT_REQUEST_OPTIONS)


async def answer_params(
    handler: Handler,
    params: object,
    *,
    server: Server,
    request_options: RequestOptions = DEFAULT_REQUEST_OPTIONS,
    **details: Any,
) -> Answer:
    """
    Answer the params of an elicitation.

    Cancellation passes through.  Whatever else *handler* raises, or returns
    in place of an answer, is logged and becomes a cancel.

    Args:
        handler: Who is asked.
        params: As the host's library hands them over.
        server: Who asks.
        request_options: How the request is read.
        details: ``protocol``, ``tool`` and ``request_id``, as far as known.

    Raises:
        RequestError: If nobody could answer.  Its text is fit for the server.
    """
    request: Request | None = None
    try:
        request = request_options.parse(params, server=server, **details)
        answer = await _ask(handler, request, request_options.limits)
    except Exception as error:
        if request is None and isinstance(error, RequestError):
            _logger.warning("a request of server %r cannot be answered: %s", server.name, error)
            raise
        # The one place where everything stops: what a handler raises is
        # neither the server's business nor a reason to fail the host's call.
        _logger.exception("a request of server %r could not be answered", server.name)
        return Answer.cancel(by="error", reason="the handler failed")
    if answer.by == "error":
        _logger.warning("no answer for server %r: %s", server.name, answer.reason)
    return answer


async def _ask(handler: Handler, request: Request, limits: Limits) -> Answer:
    if isinstance(request, FormRequest) and request.form.has_patterns:
        request = await _off_the_loop(drop_invalid_defaults, request)
    return await check_answer_async(request, normalize_answer(await handler(request)), limits)


async def check_answer_async(request: Request, answer: Answer, limits: Limits = DEFAULT_LIMITS) -> Answer:
    """Do what `check_answer` does, and keep the event loop going where that takes time."""
    if isinstance(request, FormRequest) and request.form.has_patterns:
        return await _off_the_loop(check_answer, request, answer, limits)
    return check_answer(request, answer, limits)


async def _off_the_loop(function: Callable[..., T], *arguments: Any) -> T:
    # Patterns run in another process; waiting for it is not the event loop's business.
    return await anyio.to_thread.run_sync(function, *arguments, abandon_on_cancel=True)


def normalize_answer(reply: object) -> Answer:
    """
    Read what a handler returned.

    Raises:
        TypeError: If it is neither an `Answer` nor a result of the SDK.
    """
    if isinstance(reply, Answer):
        return reply
    action = getattr(reply, "action", None)
    content = getattr(reply, "content", None)
    if action not in ("accept", "decline", "cancel") or not (content is None or isinstance(content, dict)):
        raise TypeError(f"a handler must return an Answer or an ElicitResult, not {type(reply).__name__}")
    return Answer(action=action, content=content, by="host")
