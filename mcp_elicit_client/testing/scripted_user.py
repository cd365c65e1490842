"""A user who follows a script, for the tests of host applications."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

import anyio

from mcp_elicit_client.core.form import ChoiceField, MultiChoiceField
from mcp_elicit_client.core.helpers import get_defaults
from mcp_elicit_client.core.validation.field_errors import AnswerError
from mcp_elicit_client.presentation.input_parsing import parse_text
from mcp_elicit_client.testing.user_action import FAILURE_TEXT, UserAction
from mcp_elicit_client.typing import Answer, FormRequest, Request, Source

_Step: TypeAlias = Callable[[Request], Awaitable["Answer | None"]]


class ScriptedUser:
    """
    A handler whose user does what a script says, one step for each question.

    Steps are added by the methods, which return the user itself, so that they
    can be chained.  A question beyond the script finds nobody there: it is
    cancelled, and listed in `unexpected`.

    Attributes:
        asked: Every question, in order.
        unexpected: The questions for which the script had no step.
        told: What the user was told is wrong with what they typed, as pairs
            of a field's name and a sentence.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.unexpected: list[Request] = []
        self.errors_shown: list[tuple[str, str]] = []
        self._steps: list[_Step] = []
        self._wishes: list[UserAction] = []

    # --- the script

    def answers(self, content: Mapping[str, Any] | None = None) -> ScriptedUser:
        """
        Accept: send the form with *content*, or consent to visit a URL.

        Fields that are not in *content* stay untouched: they are sent with
        their default, or left out.
        """

        async def step(request: Request) -> Answer:
            return await _accept(request, content or {})

        return self._then(step)

    def types(self, texts: Mapping[str, str]) -> ScriptedUser:
        """
        Type *texts* into the fields, by name, and send the form.

        Who types what does not fit is `told` so, and closes the question.
        """

        async def step(request: Request) -> Answer:
            return await self._type(request, texts)

        return self._then(step)

    def declines(self) -> ScriptedUser:
        """Say no."""
        return self._then(_always(Answer.decline(by="user")))

    def cancels(self) -> ScriptedUser:
        """Close the question."""
        return self._then(_always(Answer.cancel(by="user")))

    def walks_away(self) -> ScriptedUser:
        """Be gone when the question comes: nobody is asked."""
        return self._then(_always(Answer.cancel(by="unattended", reason="the user has walked away")))

    def fails(self, error: Exception | None = None) -> ScriptedUser:
        """Have an interface that fails with *error*."""

        async def step(_request: Request) -> Answer:
            raise error or RuntimeError(FAILURE_TEXT)

        return self._then(step)

    def waits(self, until: anyio.Event | float | None = None) -> ScriptedUser:
        """Think before doing the next step: until an event is set, for so many seconds, or (None) for ever."""

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
        """Whether everything in the script was done."""
        return not self._steps

    def follow(self, wish: UserAction) -> None:
        """Do what *wish* says when its question comes: the user hook for `check`."""
        self._wishes.append(wish)

    # --- the handler

    async def __call__(self, request: Request, /) -> Answer:
        """Do the next step of the script."""
        self.requests.append(request)
        if self._wishes:
            meant = (each for each in self._wishes if each.params.get("message") == request.message)
            wish = next(meant, self._wishes[0])
            self._wishes.remove(wish)
            return await _fulfil(wish, request)
        while self._steps:
            answer = await self._steps.pop(0)(request)
            if answer is not None:
                return answer
        self.unexpected.append(request)
        return Answer.cancel(by="unattended", reason="the script has no answer to this question")

    async def _type(self, request: Request, texts: Mapping[str, str]) -> Answer:
        if not isinstance(request, FormRequest):
            raise TypeError("only a form can be typed into")
        content: dict[str, Any] = {}
        told: list[tuple[str, str]] = []
        for name, text in texts.items():
            field = request.form.by_name[name]
            try:
                content[name] = await anyio.to_thread.run_sync(parse_text, field, text, abandon_on_cancel=True)
            except AnswerError as error:
                told += [(name, each.message) for each in error.errors]
        self.errors_shown += told
        if told:
            return Answer.cancel(by="user", reason="what was typed does not fit")
        return await _accept(request, content)


def _always(answer: Answer) -> _Step:
    async def step(_request: Request) -> Answer:
        return answer

    return step


async def _accept(request: Request, content: Mapping[str, Any]) -> Answer:
    if not isinstance(request, FormRequest):
        return Answer.accept(by="user")
    defaults = await anyio.to_thread.run_sync(get_defaults, request, abandon_on_cancel=True)
    sources: dict[str, Source] = {**dict.fromkeys(defaults, "default"), **dict.fromkeys(content, "user")}
    return Answer.accept({**defaults, **content}, by="user", sources=sources)


async def _fulfil(wish: UserAction, request: Request) -> Answer:
    for text in _shown(request):
        wish.saw(text)
    await anyio.sleep(wish.after)
    match wish.action:
        case "accept":
            return await _accept(request, wish.content)
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
            raise AssertionError("for ever is over")


def _shown(request: Request) -> list[str]:
    """List what an interface is given to show of *request*."""
    shown = [request.server.name, request.message]
    if not isinstance(request, FormRequest):
        return [*shown, request.target.url]
    for field in request.form.fields:
        shown += [field.title, field.description or ""]
        if isinstance(field, (ChoiceField, MultiChoiceField)):
            shown += [choice.title for choice in field.choices]
    return shown
