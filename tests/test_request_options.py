"""Options of registries and callers apply, however these are wrapped and connected; or there is an error at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from mcp_elicit_client import Answer, ElicitationRegistry, Limits, RegistrationError, UrlRules, parse_request
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.hosts import fastmcp, langchain, langchain_mcp, mcp_agent, strands
from mcp_elicit_client.policies import compose, rate_limit, recommended
from mcp_elicit_client.request_options import RequestOptions
from mcp_elicit_client.sdk.callback import SdkDispatcher, elicitation_callback
from mcp_elicit_client.typing import Handler, Policy, Request
from tests.support import form_params

pytestmark = pytest.mark.event_loops("asyncio")

TEXT = {"type": "string"}
FORM = form_params({"properties": {"a": TEXT, "b": TEXT, "c": TEXT}})
URL = {"mode": "url", "message": "Sign in", "url": "https://a.example/", "elicitationId": "1"}
LOCAL_URL = {"mode": "url", "message": "Sign in", "url": "http://localhost:8000/", "elicitationId": "1"}
CONTEXT = SimpleNamespace(session=None, request_id=1, server_name="test", tool_name=None)


class User:
    def __init__(self) -> None:
        self.requests: list[Request] = []

    async def __call__(self, request: Request, /) -> Answer:
        self.requests.append(request)
        return Answer.accept({} if request.mode == "form" else None, by="user")


def own_function(handler: Handler) -> Handler:
    async def answer(request: Request, /) -> Any:
        return await handler(request)

    return answer


def nested(handler: Handler) -> Handler:
    registry = ElicitationRegistry()
    registry.on_elicitation(handler)
    return registry


def in_policy(make: Callable[[], Policy]) -> Callable[[Handler], Handler]:
    """Return what wraps a handler in a new policy each time, so that tests share no state."""

    def wrap(handler: Handler) -> Handler:
        return make()(handler)

    return wrap


VISIBLE: dict[str, Callable[[Handler], Handler]] = {
    "alone": lambda handler: handler,
    "policy": in_policy(rate_limit),
    "policies": in_policy(recommended),
    "own policy in compose": compose(own_function),
    "caller": lambda handler: Caller(handler, "test").handler,
    "policy of a caller": lambda handler: rate_limit()(Caller(handler, "test").handler),
}
HIDDEN: dict[str, Callable[[Handler], Handler]] = {
    "own function": own_function,
    "method": lambda handler: handler.__call__,
    "own function in a policy": lambda handler: rate_limit()(own_function(handler)),
    "own function in a registry": lambda handler: nested(own_function(handler)),
}

Adapter = Callable[[Handler, dict[str, Any]], Awaitable[Any]]


async def ask_fastmcp(handler: Handler, params: dict[str, Any]) -> Any:
    pytest.importorskip("fastmcp")
    wrapped: Any = fastmcp.elicitation_handler(handler, server="test")
    return await wrapped("m", None, params, CONTEXT)


async def ask_langchain(handler: Handler, params: dict[str, Any]) -> Any:
    callback: Any = langchain._on_elicitation(SdkDispatcher(handler))
    return await callback(CONTEXT, params, CONTEXT)


async def ask_langchain_mcp(handler: Handler, params: dict[str, Any]) -> Any:
    request = {**params, "key": "k", "requested_schema": params.get("requestedSchema")}
    value = {"type": "mcp_elicitation", "requests": [request]}
    resume: Any = await langchain_mcp.answer_interrupt(handler, value, server="test")
    return SimpleNamespace(**resume["responses"]["k"])


async def ask_mcp_agent(handler: Handler, params: dict[str, Any]) -> Any:
    callback: Any = mcp_agent.elicitation_callback(handler)
    return await callback(params)


async def ask_strands(handler: Handler, params: dict[str, Any]) -> Any:
    callback: Any = strands.elicitation_callback(handler, server="test", loop=asyncio.get_running_loop())
    return await callback(CONTEXT, params)


async def ask_sdk(handler: Handler, params: dict[str, Any]) -> Any:
    callback: Any = elicitation_callback(handler, server="test")
    return await callback(CONTEXT, params)


ADAPTERS: dict[str, Adapter] = {
    "sdk": ask_sdk,
    "fastmcp": ask_fastmcp,
    "langchain": ask_langchain,
    "langchain_mcp": ask_langchain_mcp,
    "mcp_agent": ask_mcp_agent,
    "strands": ask_strands,
}


def asking(user: User, **options: Any) -> ElicitationRegistry:
    registry = ElicitationRegistry(**options)
    registry.on_elicitation(user)
    return registry


@pytest.mark.parametrize("wrap", [*VISIBLE.values(), nested], ids=[*VISIBLE, "registry"])
def test_the_modes_of_a_wrapped_registry_are_those_that_it_answers(wrap: Callable[[Any], Any]) -> None:
    registry = ElicitationRegistry()
    wrapped = wrap(registry)
    assert (wrapped.modes, Caller(wrapped, "mail")._modes) == (frozenset(), frozenset())

    registry.on_elicitation(mode="form")(User())

    for handler in (wrapped, Caller(wrapped, "mail").handler):
        assert Caller(handler, "mail")._modes == {"form"}


@pytest.mark.anyio
@pytest.mark.parametrize("ask", ADAPTERS.values(), ids=ADAPTERS)
@pytest.mark.parametrize("wrap", [*VISIBLE.values(), *HIDDEN.values(), nested], ids=[*VISIBLE, *HIDDEN, "registry"])
async def test_stricter_limits_apply_however_the_registry_is_wrapped(wrap: Any, ask: Adapter) -> None:
    user = User()

    result = await ask(wrap(asking(user, limits=Limits(max_fields=2))), FORM)

    assert getattr(result, "action", "error") != "accept"
    assert user.requests == []


@pytest.mark.anyio
@pytest.mark.parametrize("ask", ADAPTERS.values(), ids=ADAPTERS)
@pytest.mark.parametrize("wrap", VISIBLE.values(), ids=VISIBLE)
async def test_wider_rules_apply_through_policies_and_callers(wrap: Any, ask: Adapter) -> None:
    user = User()

    result = await ask(wrap(asking(user, url_rules=UrlRules(allow_loopback=True))), LOCAL_URL)

    assert (result.action, len(user.requests)) == ("accept", 1)


@pytest.mark.anyio
@pytest.mark.parametrize("ask", ADAPTERS.values(), ids=ADAPTERS)
@pytest.mark.parametrize("wrap", HIDDEN.values(), ids=HIDDEN)
async def test_wider_rules_inside_of_other_functions_are_an_error_with_the_first_request(
    wrap: Any, ask: Adapter, caplog: pytest.LogCaptureFixture
) -> None:
    user = User()

    with caplog.at_level(logging.ERROR):
        result = await ask(wrap(asking(user, url_rules=UrlRules(allow_loopback=True))), FORM)

    assert (result.action, user.requests) == ("cancel", [])
    assert "allow_loopback" in caplog.text
    assert "request_options" in caplog.text


@pytest.mark.anyio
async def test_request_options_make_wider_rules_apply_inside_of_other_functions() -> None:
    user = User()
    registry = asking(user, url_rules=UrlRules(allow_loopback=True))
    callback: Any = elicitation_callback(
        own_function(registry), server="test", request_options=registry.request_options
    )

    assert (await callback(CONTEXT, LOCAL_URL)).action == "accept"


def test_a_registry_with_wider_rules_is_not_registered_in_another() -> None:
    wide = asking(User(), url_rules=UrlRules(allow_loopback=True))

    with pytest.raises(RegistrationError, match="allow_loopback"):
        nested(wide)


@pytest.mark.parametrize("outer", [RequestOptions(), RequestOptions(limits=Limits(max_fields=2))])
def test_request_options_without_the_rules_of_the_registry_are_an_error(outer: RequestOptions) -> None:
    wide = asking(User(), url_rules=UrlRules(allow_loopback=True))

    with pytest.raises(ValueError, match="allow_loopback"):
        elicitation_callback(wide, server="test", request_options=outer)


@pytest.mark.anyio
@pytest.mark.parametrize("ask", ADAPTERS.values(), ids=ADAPTERS)
@pytest.mark.parametrize("wrap", [*VISIBLE.values(), *HIDDEN.values(), nested], ids=[*VISIBLE, *HIDDEN, "registry"])
async def test_a_caller_refuses_other_modes_in_every_adapter(wrap: Any, ask: Adapter) -> None:
    user = User()

    result = await ask(wrap(Caller(user, "test", modes={"form"}).handler), URL)

    assert getattr(result, "action", "error") != "accept"
    assert user.requests == []


@pytest.mark.anyio
async def test_the_callback_of_a_caller_refuses_other_modes() -> None:
    user = User()
    callback: Any = Caller(user, "test", modes={"form"}).callback

    assert getattr(await callback(CONTEXT, URL), "action", "error") != "accept"
    assert user.requests == []


@pytest.mark.anyio
async def test_other_tasks_get_their_turns_while_an_inner_registry_reads_a_large_request_again() -> None:
    options = [{"const": str(number), "title": f"Cafe\u0301 {number}"} for number in range(3_000)]
    request = parse_request(form_params({"properties": {"a": {"type": "string", "oneOf": options}}}), server="mail")
    inner, outer = ElicitationRegistry(limits=Limits(max_message=100)), ElicitationRegistry()
    user = User()
    inner.on_elicitation(user)
    outer.on_elicitation(inner)
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as group:
        group.start_soon(count)
        answer = await outer(request)
        group.cancel_scope.cancel()

    assert (answer.action, len(user.requests)) == ("accept", 1)
    assert turns >= 5
