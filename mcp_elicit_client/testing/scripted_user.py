"""A user who follows a script, for the tests of host applications."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import NoneType
from typing import Any, TypeAlias

import anyio

from mcp_elicit_client._arguments import check_seconds, check_type
from mcp_elicit_client.core.form import ChoiceField, MultiChoiceField
from mcp_elicit_client.core.helpers import get_defaults
from mcp_elicit_client.core.validation.field_errors import AnswerError
from mcp_elicit_client.presentation.catalog import ENGLISH
from mcp_elicit_client.presentation.input_parsing import CANONICAL_LOCALE, InputContext, parse_text
from mcp_elicit_client.presentation.warnings import request_warnings
from mcp_elicit_client.testing.callback_under_test import FAILURE_TEXT, UserAction, take_action
from mcp_elicit_client.typing import Answer, FormRequest, Request, Source

_Step: TypeAlias = Callable[[Request], Awaitable["Answer | None"]]


class _ScriptError(Exception):
    """A step of the script cannot be performed for the request."""


class ScriptedUser:
    """
    A handler that answers as its script says, one step for each request.

    The methods that add steps return the user itself, so that they can be
    chained.  Requests beyond the end of the script are cancelled and listed
    in `unexpected`.

    Attributes:
        requests: Every request, in order.
        unexpected: The requests beyond the end of the script.
        errors_shown: The errors in typed texts, as pairs of a field name and
            a message.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.unexpected: list[Request] = []
        self.errors_shown: list[tuple[str, str]] = []
        self._steps: list[_Step] = []
        self._actions: list[UserAction] = []
        self._script_errors: list[str] = []

    # --- the script

    def answers(self, content: Mapping[str, Any] | None = None) -> ScriptedUser:
        """
        Send the form with *content*, or consent to the URL.

        The user does not touch fields that are not in *content*: their
        default is sent, or they are omitted.

        Raises:
            TypeError: If *content* is not a mapping.
        """
        check_type("content", content, Mapping, NoneType)

        async def step(request: Request) -> Answer:
            if isinstance(request, FormRequest):
                _check_names("answers", content or {}, request)
            return await _accept(request, content or {})

        return self._then(step)

    def types(self, texts: Mapping[str, str]) -> ScriptedUser:
        """
        Type *texts* into the fields, by name, and send the form.

        If a text is invalid, its errors are added to `errors_shown` and the
        request is cancelled.

        Raises:
            TypeError: If *texts* is not a mapping of strings.
        """
        check_type("texts", texts, Mapping)
        for name, text in texts.items():
            check_type(name, text, str, hint="Use `answers` for other values.")

        async def step(request: Request) -> Answer:
            return await self._type(request, texts)

        return self._then(step)

    def declines(self) -> ScriptedUser:
        """Decline."""
        return self._then(_always(Answer.decline(by="user")))

    def cancels(self) -> ScriptedUser:
        """Cancel."""
        return self._then(_always(Answer.cancel(by="user")))

    def walks_away(self) -> ScriptedUser:
        """Be absent: the request is cancelled because no user was asked."""
        return self._then(_always(Answer.cancel(by="unattended", reason="the user has walked away")))

    def fails(self, error: Exception | None = None) -> ScriptedUser:
        """Raise *error*, or a ``RuntimeError``, as a user interface that fails."""
        check_type("error", error, Exception, NoneType)

        async def step(_request: Request) -> Answer:
            raise error or RuntimeError(FAILURE_TEXT)

        return self._then(step)

    def waits(self, until: anyio.Event | float | None = None) -> ScriptedUser:
        """Wait before the next step: until an event is set, for a number of seconds, or (None) forever."""
        if not isinstance(until, anyio.Event):
            check_seconds("until", until, optional=True, allow_zero=True, hint="For an event, pass an `anyio.Event`.")

        async def step(_request: Request) -> None:
            if isinstance(until, anyio.Event):
                await until.wait()
            elif until is None:
                await anyio.sleep_forever()
            else:
                await anyio.sleep(until)

        return self._then(step)

    def _then(self, step: _Step) -> ScriptedUser:
        self._steps.append(step)
        return self

    @property
    def finished(self) -> bool:
        """True if every step of the script was used."""
        return not self._steps

    def follow(self, action: UserAction) -> None:
        """Perform *action* when its request arrives.  This is the user hook for `check`."""
        check_type("action", action, UserAction)
        self._actions.append(action)

    # --- the handler

    async def __call__(self, request: Request, /) -> Answer:
        """Perform the next step of the script."""
        self.requests.append(request)
        if self._actions:
            return await _perform(take_action(self._actions, request.message), request)
        while self._steps:
            answer = await self._perform_step(self._steps.pop(0), request)
            if answer is not None:
                return answer
        self.unexpected.append(request)
        return Answer.cancel(by="unattended", reason="the script has no answer to this request")

    async def _perform_step(self, step: _Step, request: Request) -> Answer | None:
        try:
            return await step(request)
        except _ScriptError as error:
            self._script_errors.append(str(error))
            raise

    async def _type(self, request: Request, texts: Mapping[str, str]) -> Answer:
        if not isinstance(request, FormRequest):
            raise _ScriptError("`types` needs a request in form mode.")
        content: dict[str, Any] = {}
        errors: list[tuple[str, str]] = []
        context = InputContext.for_request(request, locale=CANONICAL_LOCALE)
        _check_names("types", texts, request)
        for name, text in texts.items():
            field = request.form.by_name[name]
            try:
                content[name] = await anyio.to_thread.run_sync(parse_text, field, text, context, abandon_on_cancel=True)
            except AnswerError as error:
                errors += [(name, each.message) for each in error.errors]
        self.errors_shown += errors
        if errors:
            return Answer.cancel(by="user", reason="the typed text is invalid")
        return await _accept(request, content)


def _check_names(step: str, given: Mapping[str, Any], request: FormRequest) -> None:
    for name in given:
        if name not in request.form.by_name:
            raise _ScriptError(f"`{step}` names the field {name!r}, which the form does not have.")


def _always(answer: Answer) -> _Step:
    async def step(_request: Request) -> Answer:
        return answer

    return step


async def _accept(request: Request, content: Mapping[str, Any]) -> Answer:
    if not isinstance(request, FormRequest):
        return Answer.accept(by="user")
    defaults = get_defaults(request)
    sources: dict[str, Source] = {**dict.fromkeys(defaults, "default"), **dict.fromkeys(content, "user")}
    return Answer.accept({**defaults, **content}, by="user", sources=sources)


async def _perform(action: UserAction, request: Request) -> Answer:
    for text in _shown_texts(request):
        action.saw(text)
    await anyio.sleep(action.after)
    match action.action:
        case "accept":
            return await _accept(request, action.content)
        case "decline":
            return Answer.decline(by="user")
        case "cancel":
            return Answer.cancel(by="user")
        case "absent":
            return Answer.cancel(by="unattended")
        case "fail":
            raise RuntimeError(FAILURE_TEXT)
        case "hang":
            await anyio.sleep_forever()
            raise AssertionError


def _shown_texts(request: Request) -> list[str]:
    """Return the texts of *request* that an interface shows."""
    shown = [request.server.name, request.message, *(each.text for each in request_warnings(request, ENGLISH))]
    if not isinstance(request, FormRequest):
        return [*shown, request.target.as_sent]
    for field in request.form.fields:
        shown += [field.title, field.description or ""]
        if isinstance(field, (ChoiceField, MultiChoiceField)):
            shown += [choice.title for choice in field.choices]
    return shown
