from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from typing import Any

import anyio
import pytest

from mcp_elicit_client import Answer, ElicitationRegistry, Limits, RegistrationError, Server, decline, parse_request
from mcp_elicit_client import registry as registry_module
from mcp_elicit_client.dispatch import Dispatcher
from mcp_elicit_client.policies import one_at_a_time
from mcp_elicit_client.request_options import RequestOptions
from mcp_elicit_client.typing import Request
from tests.support import form_params

pytestmark = pytest.mark.anyio

FORM = parse_request(form_params({}), server="mail")
URL = parse_request({"mode": "url", "message": "m", "url": "https://example.com/"}, server="mail")


def saying(reason: str) -> Any:
    async def handler(_request: Request) -> Answer:
        return Answer.decline(by="user", reason=reason)

    return handler


def yes(_request: Request) -> bool:
    return True


def no(_request: Request) -> bool:
    return False


@dataclass
class WithMessage:
    message: str

    def __call__(self, request: Request) -> bool:
        return request.message == self.message


PLACES: dict[str, dict[str, Any]] = {
    "any": {},
    "mode": {"mode": "form"},
    "when": {"when": yes},
    "when+mode": {"when": yes, "mode": "form"},
    "server": {"server": "mail"},
    "server+mode": {"server": "mail", "mode": "form"},
    "server+when": {"server": "mail", "when": yes},
    "server+when+mode": {"server": "mail", "when": yes, "mode": "form"},
}


@pytest.mark.parametrize("count", range(1, len(PLACES) + 1))
@pytest.mark.parametrize("backwards", [False, True])
async def test_the_most_specific_handler_answers_in_any_order_of_registration(count: int, backwards: bool) -> None:
    registry = ElicitationRegistry()
    names = list(PLACES)[:count]
    for name in reversed(names) if backwards else names:
        registry.on_elicitation(saying(name)) if name == "any" else registry.on_elicitation(**PLACES[name])(
            saying(name)
        )

    answer = await registry(FORM)

    assert answer.reason == names[-1]


@pytest.mark.parametrize("place", [{"mode": "url"}, {"server": "other"}, {"when": no}])
async def test_a_handler_for_another_route_is_not_asked(place: dict[str, Any]) -> None:
    registry = ElicitationRegistry()
    registry.on_elicitation(**place)(saying("wrong"))

    answer = await registry(FORM)

    assert (answer.action, answer.by) == ("cancel", "unattended")


async def test_the_predicate_that_was_registered_first_is_asked_first() -> None:
    registry = ElicitationRegistry()
    registry.on_elicitation(when=lambda _request: True)(saying("first"))
    registry.on_elicitation(when=lambda _request: True)(saying("second"))

    assert (await registry(FORM)).reason == "first"


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_second_handler_for_the_same_route_is_refused(place: dict[str, Any]) -> None:
    registry = ElicitationRegistry()
    registry.on_elicitation(**place)(saying("first"))

    with pytest.raises(RegistrationError, match="is already registered for"):
        registry.on_elicitation(**place)(saying("second"))


async def test_handlers_that_threads_register_at_the_same_time_are_all_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    registry, threads = ElicitationRegistry(), list[threading.Thread]()
    rank = registry_module._rank

    def register_another(route: Any) -> Any:
        if not threads:
            other = saying("another")
            threads.append(threading.Thread(target=lambda: registry.on_elicitation(server="mail")(other)))
            threads[0].start()
            threads[0].join(0.1)  # it is done by then, unless it waits
        return rank(route)

    monkeypatch.setattr(registry_module, "_rank", register_another)
    registry.on_elicitation(saying("first"))
    threads[0].join()

    assert (await registry(FORM)).reason == "another"


def test_routes_can_be_listed_while_handlers_are_registered() -> None:
    registry = ElicitationRegistry()
    for number in range(2):
        registry.on_elicitation(server=f"server {number}")(saying("yes"))

    listed = []
    for route in registry:
        listed.append(route.server)
        registry.on_elicitation(server=f"another than {route.server}")(saying("yes"))

    assert listed == ["server 0", "server 1"]


def test_an_unknown_mode_is_refused_when_it_is_registered() -> None:
    with pytest.raises(ValueError, match='"form" or "url"'):
        ElicitationRegistry().on_elicitation(mode="forms")  # type: ignore[call-overload]


async def test_a_decorated_handler_can_still_be_called() -> None:
    registry = ElicitationRegistry()

    @registry.on_elicitation
    async def bare(_request: Request) -> Answer:
        return Answer.decline(by="user")

    @registry.on_elicitation(mode="url")
    async def visit(_request: Request) -> Any:
        return decline()

    assert (await bare(FORM)).action == (await visit(URL)).action == "decline"
    assert (await registry(URL)).by == "host"


async def test_a_request_without_a_handler_is_cancelled_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        answer = await ElicitationRegistry()(URL)

    assert (answer.action, answer.by) == ("cancel", "unattended")
    assert "no handler for a url request of server 'mail'" in caplog.text


@pytest.mark.parametrize(
    ("returned", "words"), [(None, "None"), ({"action": "accept"}, "an object of type `dict`")], ids=str
)
async def test_the_log_names_the_handler_that_returned_no_answer(
    caplog: pytest.LogCaptureFixture, returned: Any, words: str
) -> None:
    registry = ElicitationRegistry()

    @registry.on_elicitation
    async def ask(_request: Request) -> Any:
        return returned

    callback: Any = registry.callback("mail")
    result = await callback(None, {"message": "Go on?"})

    assert result.action == "cancel"
    assert f"`ask` returned {words}. Return an `Answer` or an `ElicitResult`." in caplog.text
    assert caplog.records[0].exc_info is None


async def test_the_log_says_that_a_handler_forgot_to_await(caplog: pytest.LogCaptureFixture) -> None:
    class Pending:
        def __await__(self) -> Any:
            raise AssertionError

    registry = ElicitationRegistry()

    @registry.on_elicitation
    async def ask(_request: Request) -> Any:
        return Pending()

    await registry.callback("mail")(None, {"message": "Go on?"})

    assert "`ask` returned an object of type `Pending`. Await it. Return an `Answer`" in caplog.text


def test_a_registry_lists_its_modes_and_routes() -> None:
    registry = ElicitationRegistry()
    assert (registry.modes, list(registry)) == (frozenset(), [])

    registry.on_elicitation(mode="form", server="mail")(saying("x"))
    assert registry.modes == {"form"}

    registry.on_elicitation(saying("y"))
    assert registry.modes == {"form", "url"}
    assert [place.server for place in registry] == ["mail", None]
    assert repr(registry) == "<ElicitationRegistry with 2 handlers>"


def test_a_registry_for_one_mode_in_a_route_for_the_other_answers_neither() -> None:
    registry, inner = ElicitationRegistry(), ElicitationRegistry()
    inner.on_elicitation(mode="form")(saying("x"))
    registry.on_elicitation(mode="url")(inner)

    assert registry.modes == frozenset()


@pytest.mark.parametrize("name", ["policy", "limits", "url_rules"])
def test_an_option_cannot_be_set_afterwards_where_it_would_have_no_effect(name: str) -> None:
    with pytest.raises(AttributeError, match=f"'ElicitationRegistry' object has no attribute '{name}'"):
        setattr(ElicitationRegistry(), name, None)


async def test_the_limits_of_the_host_apply_to_answers() -> None:
    async def long(_request: Request) -> Answer:
        return Answer.accept({"a": "x" * 100}, by="user")

    params = form_params({"properties": {"a": {"type": "string"}}})

    for limit, action in ((200, "accept"), (50, "cancel")):
        door = RequestOptions(limits=Limits(max_answer=limit))
        assert (await Dispatcher(long, door).answer(params, server=Server(name="mail"))).action == action


async def test_a_predicate_may_be_a_dataclass() -> None:
    registry = ElicitationRegistry()
    registry.on_elicitation(when=WithMessage("other"))(saying("other"))
    registry.on_elicitation(when=WithMessage(FORM.message))(saying("when"))

    assert (await registry(FORM)).reason == "when"
    with pytest.raises(RegistrationError, match="is already registered for"):
        registry.on_elicitation(when=WithMessage("other"))(saying("again"))


async def test_a_predicate_that_raises_cancels_the_request() -> None:
    registry = ElicitationRegistry()
    registry.on_elicitation(saying("any"))
    registry.on_elicitation(when=lambda request: bool(1 / len(request.message[:0])))(saying("when"))

    answer = await Dispatcher(registry).answer(form_params({}), server=Server(name="mail"))

    assert (answer.action, answer.by) == ("cancel", "error")


async def test_a_predicate_that_returns_an_awaitable_cancels_the_request() -> None:
    registry = ElicitationRegistry()
    registry.on_elicitation(saying("any"))
    answer_later: Any = anyio.Event().wait
    pending = answer_later()
    registry.on_elicitation(when=lambda _request: pending)(saying("when"))

    answer = await Dispatcher(registry).answer(form_params({}), server=Server(name="mail"))

    pending.close()
    assert (answer.action, answer.by) == ("cancel", "error")


def test_a_registry_that_would_contain_itself_is_refused() -> None:
    inner, outer = ElicitationRegistry(), ElicitationRegistry(policy=one_at_a_time())
    outer.on_elicitation(inner)
    for registry, handler in ((inner, outer), (inner, one_at_a_time()(outer)), (outer, outer)):
        with pytest.raises(RegistrationError, match="contains this registry"):
            registry.on_elicitation(mode="form")(handler)
    inner.on_elicitation(mode="form")(saying("inner"))

    assert outer.modes == {"form"}


async def test_a_registry_can_be_registered_in_another() -> None:
    inner, outer = ElicitationRegistry(), ElicitationRegistry()
    inner.on_elicitation(saying("inner"))
    outer.on_elicitation(inner)

    assert (await outer(FORM)).reason == "inner"
