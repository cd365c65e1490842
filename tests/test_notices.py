"""Notices of requests that a policy declined before a user was asked."""

from __future__ import annotations

import asyncio
from typing import Any

import anyio
import anyio.lowlevel
import httpx
import pytest

from mcp_elicit_client import Answer, ElicitationRegistry, Server, parse_request
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.core.notice import Notice
from mcp_elicit_client.dispatch import Dispatcher
from mcp_elicit_client.handlers.browser import BrowserHandler
from mcp_elicit_client.handlers.terminal import TerminalHandler
from mcp_elicit_client.inbox import Inbox, InboxHandler, MemoryStore
from mcp_elicit_client.inbox.web import inbox_app
from mcp_elicit_client.notices import INTERVAL, Notifier
from mcp_elicit_client.policies import Permissions, protect_secrets, recommended
from tests.support import form_params, form_request
from tests.support.console import ScriptedConsole

pytestmark = pytest.mark.anyio

PASSWORD = form_params({"properties": {"password": {"type": "string", "title": "Password"}}}, "Log in\nEvil: yes")
NAME = form_params({"properties": {"name": {"type": "string"}}}, "Who?")


class Person:
    """A handler that keeps the notices."""

    def __init__(self) -> None:
        self.notices: list[Notice] = []
        self.seen = anyio.Event()

    async def __call__(self, request: Any) -> Answer:
        return Answer.decline(by="user")

    async def notify(self, notice: Notice) -> None:
        self.notices.append(notice)
        self.seen.set()

    async def waits(self) -> Notice:
        with anyio.fail_after(60):
            await self.seen.wait()
        return self.notices[-1]


async def settle() -> None:
    """Let tasks in the background run."""
    for _ in range(20):
        await anyio.lowlevel.checkpoint()


def registry_of(person: Any, policy: Any = None) -> ElicitationRegistry:
    registry = ElicitationRegistry(policy=policy or recommended())
    registry.on_elicitation(person)
    return registry


async def test_the_chosen_handler_learns_that_a_policy_declined_a_form() -> None:
    chosen, other = Person(), Person()
    registry = registry_of(other)
    registry.on_elicitation(server="mail")(chosen)

    result = await registry.callback("mail", user="ann")(None, PASSWORD)
    notice = await chosen.waits()

    assert result.action == "decline"  # type: ignore[union-attr]
    assert (notice.request.server.name, notice.request.user, notice.policy) == ("mail", "ann", "secrets")
    assert "password" in notice.reason
    assert not other.notices


async def test_a_caller_notifies_as_its_registry_does() -> None:
    person = Person()
    caller = Caller(registry_of(person), "mail")

    await caller.callback(None, PASSWORD)

    assert (await person.waits()).policy == "secrets"


async def test_an_answer_never_waits_for_a_notice_or_fails_with_it() -> None:
    class Hanging(Person):
        async def notify(self, notice: Notice) -> None:
            await super().notify(notice)
            await anyio.sleep_forever()

    class Failing(Person):
        async def notify(self, notice: Notice) -> None:
            await super().notify(notice)
            raise OSError

    for person in (Hanging(), Failing()):
        with anyio.fail_after(60):
            result = await registry_of(person).callback("mail")(None, PASSWORD)
            await person.waits()
        assert result.action == "decline"  # type: ignore[union-attr]


@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_a_notice_that_is_cancelled_inside_is_logged_and_ends_nothing_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Window(Person):
        async def notify(self, notice: Notice) -> None:
            self.notices.append(notice)
            raise asyncio.CancelledError

    window = Window()
    await registry_of(window).callback("mail")(None, PASSWORD)
    await settle()

    assert len(window.notices) == 1
    assert "a notice about server 'mail' could not be shown" in caplog.text


async def test_a_user_gets_one_notice_a_minute_about_a_server() -> None:
    now = 0.0
    person = Person()
    notifier = Notifier(person.notify, lambda: now)
    declined = Answer.decline(by="policy", policy="secrets")

    def asks(server: str, user: str | None) -> bool:
        return notifier.start(parse_request(PASSWORD, server=server, user=user), declined)

    assert asks("mail", None)
    assert not asks("mail", None)
    assert asks("mail", "ann")
    assert asks("shop", None)
    now = INTERVAL
    assert asks("mail", None)


async def test_many_users_do_not_fill_the_memory() -> None:
    notifier = Notifier(Person().notify)
    declined = Answer.decline(by="policy", policy="secrets")

    for number in range(3_000):
        notifier.start(parse_request(PASSWORD, server="mail", user=f"user {number}"), declined)

    assert len(notifier._notified) <= 1_024


@pytest.mark.parametrize(
    "answer",
    [
        Answer.decline(by="user"),
        Answer.decline(by="policy"),
        Answer.decline(by="policy", policy="permissions"),
        Answer.cancel(by="policy", policy="rate limit"),
        Answer.accept({}, by="policy"),
    ],
)
async def test_what_users_decided_or_need_not_know_leads_to_no_notice(answer: Answer) -> None:
    assert not Notifier(Person().notify).start(form_request(NAME), answer)


async def test_a_user_who_was_asked_or_has_blocked_the_server_gets_no_notice() -> None:
    person, permissions = Person(), Permissions()
    permissions.set("decline", server="shop")
    registry = registry_of(person, recommended(permissions=permissions))

    await registry.callback("mail")(None, NAME)
    await registry.callback("shop")(None, NAME)
    await settle()

    assert not person.notices


async def test_a_policy_that_is_called_directly_notifies_as_well() -> None:
    console = ScriptedConsole([])

    answer = await recommended()(TerminalHandler(console=console))(form_request(PASSWORD, server="mail"))
    await settle()

    assert answer.action == "decline"
    assert console.shown.splitlines()[0].startswith("A request from mail was declined.")
    assert console.shown.splitlines()[-1] == "  | Log in Evil: yes"


async def test_the_history_of_an_inbox_has_the_forms_that_a_policy_declined() -> None:
    inbox = Inbox(MemoryStore(), b"k" * 32)
    request = form_request(PASSWORD, server="mail", user="ann")

    await InboxHandler(inbox).notify(Notice(request=request, policy="secrets", reason=""))
    await InboxHandler(inbox).notify(Notice(request=form_request(PASSWORD), policy="secrets", reason=""))  # no user

    assert not (await inbox.list("ann")).entries
    (entry,) = (await inbox.history("ann")).entries
    assert (entry.state, entry.action, entry.answered_by) == ("answered", "decline", "policy secrets")
    assert entry.read() == request


@pytest.mark.parametrize("path", ["/", "/history"])
async def test_the_pages_of_an_inbox_show_a_notice(path: str) -> None:
    inbox = Inbox(MemoryStore())
    params = form_params({"properties": {"password": {"type": "string", "title": "Password"}}}, "<b>Log in</b>")
    await InboxHandler(inbox).notify(
        Notice(request=form_request(params, server="mail", user="ann"), policy="secrets", reason="")
    )
    app = inbox_app(inbox, lambda web: web.headers["x-user"])
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="https://app.example")

    shown = (await client.get(path, headers={"accept": "text/html", "x-user": "ann"})).text
    other = (await client.get(path, headers={"accept": "text/html", "x-user": "bob"})).text

    assert "A request from mail was declined." in shown
    assert "It asks for sensitive data" in shown
    assert "&lt;b&gt;Log in&lt;/b&gt;" in shown
    assert "declined" not in other


async def test_a_browser_handler_prints_a_notice(capsys: pytest.CaptureFixture[str]) -> None:
    callback = registry_of(BrowserHandler(), protect_secrets()).callback("mail")

    await callback(None, PASSWORD)
    await settle()

    assert capsys.readouterr().err.startswith("A request from mail was declined.")


async def test_a_notice_of_a_session_that_a_handler_opened_is_shown() -> None:
    person = Person()

    async def open_session(_request: Any) -> Answer:
        await Dispatcher(registry_of(person)).answer(PASSWORD, server=Server(name="shop"))
        return Answer.cancel(by="user")

    await registry_of(open_session)(parse_request(NAME, server="mail"))

    assert (await person.waits()).request.server.name == "shop"


async def test_a_policy_that_declines_after_the_user_was_asked_leads_to_no_notice() -> None:
    person = Person()

    def overrule(handler: Any) -> Any:
        async def answer(request: Any) -> Answer:
            await handler(request)
            return Answer.decline(by="policy", policy="overrule")

        return answer

    answer = await registry_of(person, overrule)(form_request(NAME))
    await settle()

    assert (answer.policy, person.notices) == ("overrule", [])


async def test_a_policy_that_asks_in_a_session_of_its_own_and_declines_leads_to_a_notice() -> None:
    person, other = Person(), Person()

    def ask_elsewhere(_handler: Any) -> Any:
        async def answer(_request: Any) -> Answer:
            await Dispatcher(registry_of(other)).answer(NAME, server=Server(name="shop"))
            return Answer.decline(by="policy", policy="elsewhere")

        return answer

    await registry_of(person, ask_elsewhere)(form_request(NAME))

    assert (await person.waits()).policy == "elsewhere"
