"""Registrations that type checkers accept.  Checked by `test_typing`, never run."""

# pyright: strict

from __future__ import annotations

import functools

from mcp.types import ElicitResult
from typing_extensions import assert_type

from mcp_elicit_client import Answer, ElicitationRegistry, FormRequest, UrlRequest, accept
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.handlers.terminal import TerminalHandler
from mcp_elicit_client.policies import compose, hooks, rate_limit, recommended
from mcp_elicit_client.sdk.callback import elicitation_callback
from mcp_elicit_client.typing import FormHandler, Handler, Mode, Policy, Request, UrlHandler

registry = ElicitationRegistry(policy=recommended(rate_limit=rate_limit(["5/minute"])))


@registry.on_elicitation
async def anything(request: Request) -> Answer:
    return Answer.cancel(by="user", reason=request.message)


@registry.on_elicitation()
async def anything_called(request: FormRequest | UrlRequest) -> Answer:
    return Answer.cancel(by="user", reason=request.message)


@registry.on_elicitation(mode="form")
async def form(request: FormRequest) -> Answer:
    return Answer.decline(by="user", reason=str(len(request.form.fields)))


@registry.on_elicitation(mode="form", server="mail", when=lambda request: bool(request.form.fields))
async def form_of_mail(request: FormRequest) -> ElicitResult:
    return accept({}, request=request)


@registry.on_elicitation(mode="url", when=lambda request: request.target.scheme == "https")
async def url(request: UrlRequest) -> Answer:
    return Answer.cancel(by="user", reason=request.target.url)


@registry.on_elicitation(server="mail", when=lambda request: request.tool is not None)
async def of_mail(request: Request) -> Answer | ElicitResult:
    return Answer.cancel(by="user", reason=request.message)


class Handlers:
    async def form(self, request: FormRequest) -> Answer:
        return Answer.cancel(by="user", reason=request.message)

    async def __call__(self, request: Request) -> Answer:
        return Answer.cancel(by="user", reason=request.message)


async def with_options(option: int, request: Request) -> Answer:
    return Answer.cancel(by="user", reason=f"{request.message} {option}")


def register(mode: Mode | None) -> None:
    registry.on_elicitation(mode=mode)(anything)
    registry.on_elicitation(mode="form")(anything)
    registry.on_elicitation(anything, mode=mode, server="mail", when=lambda request: request.tool is not None)
    registry.on_elicitation(Handlers().form, mode="form", when=lambda request: bool(request.form.fields))
    registry.on_elicitation(HeadlessHandler(), mode="url", when=lambda request: request.target.scheme == "https")
    registry.on_elicitation(mode="form")(Handlers().form)
    registry.on_elicitation(Handlers())
    registry.on_elicitation(functools.partial(with_options, 1))
    registry.on_elicitation(TerminalHandler())
    registry.on_elicitation(mode="url")(HeadlessHandler())
    registry.on_elicitation(server="inner")(ElicitationRegistry())


async def as_registered(a_form: FormRequest, a_url: UrlRequest) -> None:
    assert_type(await form(a_form), Answer)
    assert_type(await url(a_url), Answer)
    assert_type(await anything(a_url), Answer)


async def note(request: Request) -> None:
    del request


policy: Policy = compose(None, hooks(before=note))
handler: Handler = policy(anything)
form_handler: FormHandler = anything
url_handler: UrlHandler = anything
callback = elicitation_callback(anything, server="mail")
