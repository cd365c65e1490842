"""The element ``<mcp-elicitation>`` in a real Chromium: on pages of the same origin and of others."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse
from starlette.routing import Mount, Route

from mcp_elicit_client.inbox import Inbox, MemoryStore
from mcp_elicit_client.inbox.web import inbox_app
from mcp_elicit_client.inbox.web.security_middleware import MAX_BODY_BYTES
from tests.support import ROOT, form_params, until
from tests.support.chromium import IN_A_BROWSER, browser, violations
from tests.support.inboxes import Waiting, asking, pending, request
from tests.support.webapps import serving

pytestmark = IN_A_BROWSER

WHO = form_params(
    {
        "properties": {
            "name": {"type": "string", "title": "Your name", "minLength": 2},
            "town": {"type": "string", "title": "Town", "enum": [f"Town {number}" for number in range(30)]},
        },
        "required": ["name"],
    },
    "<img src=x onerror=alert(1)>Who?",
)
PAGE = """<!doctype html><html lang="en"><title>Host</title>
<style>mcp-elicitation {{ --mcp-accent: rgb(0, 100, 0); }}</style>
<main><h1>The host's page</h1><mcp-elicitation {attributes}></mcp-elicitation></main>
<script {kind} src="{script}"></script></html>"""
AWAKE = "[data-awake]"


def page_of(**values: str) -> HTMLResponse:
    policy = "default-src 'none'; script-src 'self' http://localhost:*; connect-src 'self' http://localhost:*; "
    policy += "style-src 'unsafe-inline'; require-trusted-types-for 'script'; trusted-types mcp-elicitation"
    return HTMLResponse(PAGE.format(**values), headers={"Content-Security-Policy": policy})


@asynccontextmanager
async def asked(inbox: Inbox, params: Any = WHO) -> AsyncIterator[tuple[str, Waiting]]:
    """Provide the ID of a pending request, and the task that waits for its answer."""
    async with asking(inbox, request(params)) as waiting:
        (entry,) = await pending(inbox)
        yield entry.id, waiting


@asynccontextmanager
async def opened(origin: str) -> AsyncIterator[Any]:
    async with browser() as launched:
        page = await (await launched.new_context(base_url=origin, locale="en-US")).new_page()
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        yield page
        assert page.errors == []


@pytest.mark.parametrize("kind", ["", 'type="module"'], ids=["classic", "module"])
async def test_a_request_is_answered_inside_another_page(kind: str) -> None:
    inbox = Inbox(MemoryStore())
    async with asked(inbox) as (entry_id, waiting):
        attributes = f'request="{entry_id}"'
        host = page_of(attributes=attributes, kind=kind, script="/requests/static/mcp-elicitation.js")
        app = Starlette(routes=[Route("/", lambda _: host), Mount("/requests", inbox_app(inbox, lambda _: "ann"))])
        async with serving(app) as origin, opened(origin) as page:
            await page.goto("/")
            await page.get_by_label("Your name").fill("A")
            await page.get_by_label("Your name").press("Tab")
            await page.get_by_text("Enter at least 2 characters.").first.wait_for()
            assert await page.locator("[data-live]").inner_text() == "Your name: Enter at least 2 characters."
            assert (
                await page.get_by_role("button", name="Review").evaluate(
                    "(each) => getComputedStyle(each).backgroundColor"
                )
                == "rgb(0, 100, 0)"
            )
            assert await violations(page) == []
            await page.reload()  # the draft is kept
            name = page.get_by_label("Your name")
            await name.wait_for()
            assert await name.input_value() == "A"
            await page.evaluate(
                "() => { window.seen = []; document.querySelector('mcp-elicitation')"
                ".addEventListener('elicitation-change', (event) => seen.push(event.detail)); }"
            )
            await page.get_by_role("button", name="Review").click()
            await page.get_by_role("link", name="Your name").click()
            await name.fill("Ann")
            await page.get_by_role("combobox", name="Town").fill("town 7")
            await page.keyboard.press("Enter")
            await page.get_by_role("button", name="Review").click()
            await page.locator("dl.answers").wait_for()
            assert await violations(page) == []
            await page.get_by_role("link", name="Change").click()
            await name.wait_for()
            await page.get_by_role("button", name="Review").click()
            await page.locator("dl.answers").wait_for()
            await page.locator(AWAKE).wait_for()
            await page.get_by_role("button", name="Send").click()
            await page.get_by_text("You accepted.").wait_for()
            assert (await waiting.result()).content == {"name": "Ann", "town": "Town 7"}
            assert await page.title() == "Host"
            seen = await page.evaluate("seen")
            assert [(each["state"], each["action"]) for each in seen[-2:]] == [("pending", ""), ("answered", "accept")]


async def test_the_list_of_requests_is_shown_and_follows_changes_inside_another_page() -> None:
    inbox = Inbox(MemoryStore())
    host = page_of(attributes='src="/requests/"', kind="", script="/requests/static/mcp-elicitation.js")
    app = Starlette(routes=[Route("/", lambda _: host), Mount("/requests", inbox_app(inbox, lambda _: "ann"))])
    async with serving(app) as origin, opened(origin) as page:
        await page.goto("/")
        await page.get_by_text("No pending requests").wait_for()
        async with asked(inbox, {"message": "Go on?"}) as (_, waiting):
            await page.get_by_text("Requests (1)").wait_for()
            await page.get_by_role("link", name="mail").click()
            await page.locator(AWAKE).wait_for()
            await page.get_by_role("button", name="Send").click()
            await page.get_by_text("You accepted.").wait_for()
            assert (await waiting.result()).action == "accept"
            await page.get_by_role("link", name="All requests").click()
            await page.get_by_text("No pending requests").wait_for()


@asynccontextmanager
async def opened_list(inbox: Inbox) -> AsyncIterator[Any]:
    """Provide a page that can show the list of requests."""
    host = page_of(attributes='src="/requests/"', kind="", script="/requests/static/mcp-elicitation.js")
    app = Starlette(routes=[Route("/", lambda _: host), Mount("/requests", inbox_app(inbox, lambda _: "ann"))])
    async with serving(app) as origin, opened(origin) as page:
        yield page


async def test_an_element_that_was_added_without_a_network_is_shown_when_it_is_loaded_again() -> None:
    async with opened_list(Inbox(MemoryStore())) as page:
        await page.route("**/inbox.css", lambda route: route.abort())
        async with page.expect_event("requestfailed"):
            await page.goto("/")
        await page.unroute("**/inbox.css")
        await page.evaluate("document.querySelector('mcp-elicitation').load()")
        await page.get_by_text("No pending requests").wait_for(timeout=5_000)


async def test_a_style_that_the_inbox_refuses_is_an_error_of_the_element() -> None:
    async with opened_list(Inbox(MemoryStore())) as page:
        await page.route("**/inbox.css", lambda route: route.fulfill(status=503, body="try again"))
        await page.goto("/")
        error = await page.evaluate(
            """async () => {
              const element = document.querySelector("mcp-elicitation");
              const failed = new Promise((resolve) => { element.addEventListener("elicitation-error", resolve); });
              await element.load();
              return String((await failed).detail.error);
            }"""
        )
        assert error == "Error: The style of the inbox could not be loaded: 503"


FAILED_STATUS = """async () => {
  const element = document.querySelector("mcp-elicitation");
  const failed = new Promise((resolve) => { element.addEventListener("elicitation-error", resolve); });
  await element.load();
  return (await failed).detail.status;
}"""


async def test_a_page_of_a_proxy_is_an_error_of_the_element_and_not_shown() -> None:
    async with opened_list(Inbox(MemoryStore())) as page:
        await page.goto("/")
        await page.get_by_text("No pending requests").wait_for()
        await page.route(
            "**/requests/",
            lambda route: route.fulfill(status=502, content_type="text/html", body="<h1>Bad gateway</h1>"),
        )
        assert await page.evaluate(FAILED_STATUS) == 502
        assert await page.get_by_text("No pending requests").count() == 1


async def test_a_redirect_to_the_sign_in_of_the_host_is_the_error_401_of_the_element() -> None:
    def redirect(_web: Any) -> str:
        raise HTTPException(303, headers={"Location": "/login"})

    host = page_of(attributes="", kind="", script="/requests/static/mcp-elicitation.js")
    routes = [
        Route("/", lambda _: host),
        Route("/login", lambda _: HTMLResponse("<main><h1>Sign in</h1></main>")),
        Mount("/requests", inbox_app(Inbox(MemoryStore()), redirect)),
    ]
    async with serving(Starlette(routes=routes)) as origin, opened(origin) as page:
        await page.goto("/")
        assert await page.evaluate(FAILED_STATUS) == 401
        assert await page.get_by_text("Sign in").count() == 0


async def test_a_list_is_loaded_again_if_there_was_no_network_when_a_request_expired() -> None:
    inbox = Inbox(MemoryStore(), answer_timeout=600)
    async with asked(inbox), opened_list(inbox) as page:
        await page.clock.install()
        await page.goto("/")
        await page.get_by_text("Expires in 9:").wait_for()
        await page.route("**/requests/", lambda route: route.abort())
        async with page.expect_event("requestfailed"):
            await page.clock.fast_forward("15:00")
        await page.unroute("**/requests/")
        await page.get_by_text("Expires in 9:").wait_for(timeout=10_000)  # by the clock of the server


@asynccontextmanager
async def opened_with_token(inbox: Inbox, users: Mapping[str, str]) -> AsyncIterator[Any]:
    """Provide a page whose element has the token "first".  *users* are the users by their tokens."""
    host = page_of(attributes="", kind="", script="/requests/static/mcp-elicitation.js")
    by_header = {f"Bearer {token}": user for token, user in users.items()}
    app = Starlette(
        routes=[
            Route("/", lambda _: host),
            Mount("/requests", inbox_app(inbox, lambda web: by_header.get(web.headers.get("authorization", "")))),
        ]
    )
    async with serving(app) as origin, opened(origin) as page:
        page.expire = lambda token: by_header.pop(f"Bearer {token}")
        page.use_token = lambda token: page.evaluate(f"document.querySelector('mcp-elicitation').token = '{token}'")
        await page.goto("/")
        await page.use_token("first")
        yield page


async def test_a_new_token_of_the_same_user_keeps_the_form_and_what_was_entered() -> None:
    inbox = Inbox(MemoryStore())
    users = {"first": "ann", "second": "ann"}
    async with asked(inbox) as (_, waiting), opened_with_token(inbox, users) as page:
        await page.get_by_role("link", name="mail").click()
        await page.get_by_label("Your name").wait_for()
        await page.evaluate(
            """() => { window.failed = new Promise((resolve) => {
              const element = document.querySelector("mcp-elicitation");
              element.addEventListener("elicitation-error", (event) => resolve(event.detail.status));
            }); }"""
        )
        page.expire("first")
        await page.get_by_label("Your name").fill("Ann")
        await page.get_by_role("button", name="Review").click()
        await page.get_by_text("You are signed out.").first.wait_for()
        assert await page.evaluate("failed") == 401
        await page.use_token("second")
        await page.get_by_text("Draft saved").wait_for()
        await page.get_by_role("button", name="Review").click()
        await page.locator(f"{AWAKE} dl.answers").wait_for()
        await page.get_by_role("button", name="Send").click()
        await page.get_by_text("You accepted.").wait_for()
        assert (await waiting.result()).content == {"name": "Ann"}


async def test_a_new_token_that_the_inbox_refuses_keeps_what_was_entered() -> None:
    inbox = Inbox(MemoryStore())
    async with asked(inbox), opened_with_token(inbox, {"first": "ann"}) as page:
        await page.get_by_role("link", name="mail").click()
        await page.get_by_label("Your name").fill("Ann")
        await page.use_token("expired")
        await page.get_by_text("You are signed out.").first.wait_for()
        assert await page.get_by_label("Your name").input_value() == "Ann"


async def test_loading_again_keeps_what_was_entered_even_while_the_user_is_signed_out() -> None:
    inbox = Inbox(MemoryStore())
    async with asked(inbox) as (entry_id, _), opened_with_token(inbox, {"first": "ann"}) as page:
        await page.evaluate(f"document.querySelector('mcp-elicitation').setAttribute('request', '{entry_id}')")
        await page.get_by_label("Your name").press_sequentially("Ann")
        await page.evaluate("document.querySelector('mcp-elicitation').load()")
        await page.get_by_text("was restored").wait_for()
        assert await page.get_by_label("Your name").input_value() == "Ann"
        page.expire("first")
        await page.get_by_label("Your name").fill("Bob")
        await page.evaluate("document.querySelector('mcp-elicitation').load()")
        await page.get_by_text("You are signed out.").first.wait_for()
        assert await page.get_by_label("Your name").input_value() == "Bob"


@pytest.mark.parametrize(("role", "name", "action"), [("button", "Decline", "decline"), ("link", "Change", None)])
async def test_of_two_clicks_before_anything_was_sent_the_later_one_counts(
    role: Any, name: str, action: str | None
) -> None:
    inbox = Inbox(MemoryStore())
    async with asked(inbox) as (_, waiting), opened_with_token(inbox, {"first": "ann"}) as page:
        await page.get_by_role("link", name="mail").click()
        await page.get_by_label("Your name").fill("Ann")
        await page.get_by_role("button", name="Review").click()
        await page.locator("[data-awake] dl.answers").wait_for()
        held: list[Any] = []
        sent: list[str] = []

        async def hold(route: Any) -> None:
            if route.request.method == "HEAD":
                held.append(route)
                return
            if route.request.method == "POST":
                sent.append(route.request.post_data)
            await route.continue_()

        await page.route("**", hold)
        await page.get_by_role("button", name="Send").click()
        await page.get_by_role(role, name=name).click()
        await until(lambda: len(held) == (1 if action is None else 2))
        for route in held:
            async with page.expect_response(lambda reply: reply.request.method == "HEAD"):
                await route.continue_()
            await page.evaluate("new Promise(requestAnimationFrame)")
        if action is None:
            await page.get_by_label("Your name").wait_for()
            assert sent == []
        else:
            assert (await waiting.result()).action == action


async def test_the_review_shows_what_is_entered_while_the_server_is_slow() -> None:
    inbox = Inbox(MemoryStore())
    async with asked(inbox), opened_with_token(inbox, {"first": "ann"}) as page:
        await page.get_by_role("link", name="mail").click()
        await page.get_by_label("Your name").fill("Ann")
        held: list[Any] = []

        async def hold(route: Any) -> None:
            if route.request.method == "HEAD":
                held.append(route)
            else:
                await route.continue_()

        await page.route("**", hold)
        await page.get_by_role("button", name="Review").click()
        await until(lambda: held)
        await page.get_by_label("Your name").fill("Ben")
        await held[0].continue_()
        await page.locator("dl.answers").wait_for()
        assert "Ben" in await page.locator("dl.answers").inner_text()


@asynccontextmanager
async def reviewing_on_a_slow_server(inbox: Inbox) -> AsyncIterator[tuple[Any, Any]]:
    """Provide a page whose form is on its way to the review, and the route that holds it."""
    async with asked(inbox), opened_with_token(inbox, {"first": "ann"}) as page:
        await page.get_by_role("link", name="mail").click()
        await page.get_by_label("Your name").fill("Ann")
        await page.clock.install()
        held: list[Any] = []

        async def hold(route: Any) -> None:
            if "action=review" in (route.request.post_data or ""):
                held.append(route)
            else:
                await route.continue_()

        await page.route("**", hold)
        await page.get_by_role("button", name="Review").click()
        yield page, await until(lambda: held and held[0])


async def test_a_form_takes_nothing_more_until_the_reply_to_it_is_shown() -> None:
    async with reviewing_on_a_slow_server(Inbox(MemoryStore())) as (page, route):
        await page.clock.run_for(10_000)
        assert await page.locator("form[inert]").count() == 1
        await route.continue_()
        await page.locator("dl.answers").wait_for()


async def test_a_form_takes_changes_again_once_a_server_that_does_not_reply_counts_as_lost() -> None:
    async with reviewing_on_a_slow_server(Inbox(MemoryStore())) as (page, _):
        await page.clock.run_for(20_000)
        await page.get_by_text("No connection").first.wait_for()
        await page.unroute_all()
        await page.get_by_label("Your name").fill("Ben")
        await page.get_by_role("button", name="Review").click()
        await page.locator("dl.answers").wait_for()
        assert "Ben" in await page.locator("dl.answers").inner_text()


async def test_a_button_can_be_clicked_again_after_a_link_that_led_nowhere() -> None:
    inbox = Inbox(MemoryStore())
    async with asked(inbox) as (_, waiting), opened_with_token(inbox, {"first": "ann"}) as page:
        await page.get_by_role("link", name="mail").click()
        await page.get_by_label("Your name").fill("Ann")
        await page.get_by_role("button", name="Review").click()
        await page.locator("[data-awake] dl.answers").wait_for()
        await page.route("**", lambda route: route.abort() if route.request.method == "GET" else None)
        await page.get_by_role("button", name="Send").click()
        async with page.expect_event("requestfailed"):
            await page.get_by_role("link", name="Change").click()
        await page.unroute_all()
        await page.get_by_role("button", name="Send").click()
        assert (await waiting.result()).content == {"name": "Ann"}


async def test_what_was_entered_right_before_the_host_shows_something_else_is_kept() -> None:
    inbox = Inbox(MemoryStore())
    async with asked(inbox) as (entry_id, _), opened_with_token(inbox, {"first": "ann"}) as page:
        show = "(id) => document.querySelector('mcp-elicitation').setAttribute('request', id)"
        await page.evaluate(show, entry_id)
        await page.get_by_label("Your name").wait_for()
        async with page.expect_response(lambda reply: reply.request.method == "POST"):
            await page.evaluate(
                """() => {
                    const shown = document.querySelector("mcp-elicitation")
                    const box = shown.shadowRoot.querySelector("[name=f0]")
                    box.value = "Ann"
                    box.dispatchEvent(new Event("input", {bubbles: true}))
                    shown.setAttribute("request", "")
                }"""
            )
        await page.evaluate(show, entry_id)
        await page.get_by_text("was restored").wait_for()
        assert await page.get_by_label("Your name").input_value() == "Ann"


async def test_a_link_inside_another_page_keeps_a_text_that_is_too_long_to_be_saved() -> None:
    inbox = Inbox(MemoryStore())
    async with asked(inbox), opened_with_token(inbox, {"first": "ann"}) as page:
        await page.get_by_role("link", name="mail").click()
        text = "x" * MAX_BODY_BYTES
        await page.get_by_label("Your name").fill(text)
        await page.get_by_role("link", name="All requests").click()
        await page.get_by_text("too long to be saved or sent").first.wait_for()
        await page.get_by_label("Your name").focus()
        assert await page.get_by_label("Your name").input_value() == text


async def test_a_form_that_was_sent_right_after_the_sign_out_is_sent_again_inside_another_page() -> None:
    inbox, users = Inbox(MemoryStore()), ["ann"]

    def authenticate(web: Any) -> str | None:
        return "ann" if users or web.method != "POST" else None

    host = page_of(attributes="", kind="", script="/requests/static/mcp-elicitation.js")
    routes = [Route("/", lambda _: host), Mount("/requests", inbox_app(inbox, authenticate))]
    async with asked(inbox), serving(Starlette(routes=routes)) as origin, opened(origin) as page:
        await page.goto("/")
        await page.get_by_role("link", name="mail").click()
        await page.get_by_label("Your name").fill("Ann")
        users.clear()
        await page.get_by_role("button", name="Review").click()
        await page.get_by_role("heading", name="You are not signed in").wait_for()
        users.append("ann")
        await page.get_by_role("button", name="Review").click()
        await page.locator("dl.answers", has_text="Ann").wait_for()


@pytest.mark.parametrize(("token", "shown"), [("second", "No pending requests"), ("", "You are not signed in")])
async def test_the_form_of_a_user_is_not_shown_to_another_one(token: str, shown: str) -> None:
    inbox = Inbox(MemoryStore())
    async with asked(inbox), opened_with_token(inbox, {"first": "ann", "second": "bob"}) as page:
        await page.get_by_role("link", name="mail").click()
        await page.get_by_label("Your name").fill("Ann")
        await page.use_token(token)
        await page.get_by_text(shown).first.wait_for()
        assert await page.get_by_label("Your name").count() == 0


TOKEN = "token-of-ann"


def by_token_or_cookie(web: Any) -> str | None:
    """Authenticate as a host may that also signs users in with a cookie."""
    is_ann = web.headers.get("authorization") == f"Bearer {TOKEN}" or "session=ann" in web.headers.get("cookie", "")
    return "ann" if is_ann else None


async def test_pages_of_allowed_origins_answer_with_a_token_and_others_do_not() -> None:
    inbox = Inbox(MemoryStore())
    pages: dict[str, HTMLResponse] = {}
    host = Starlette(routes=[Route("/", lambda _: pages["/"])])
    async with asked(inbox) as (entry_id, waiting), serving(host) as front, serving(host) as other:
        app = inbox_app(inbox, by_token_or_cookie, allowed_origins=[front])
        async with serving(app, "localhost") as back, opened(front) as page:
            script = f"{back}/static/mcp-elicitation.js"
            pages["/"] = page_of(attributes=f'request="{entry_id}"', kind="", script=script)
            await page.context.add_cookies([{"name": "session", "value": "ann", "url": back}])
            await page.goto("/")
            await page.wait_for_function("!!customElements.get('mcp-elicitation')")
            failed = "() => new Promise((resolve) => { const each = document.querySelector('mcp-elicitation');"
            failed += " each.addEventListener('elicitation-error', (event) => resolve(event.detail.status)); %s })"
            assert await page.evaluate(failed % "each.load();") == 401  # the cookie does not count
            await page.evaluate(f"document.querySelector('mcp-elicitation').token = '{TOKEN}'")
            await page.get_by_label("Your name").fill("Ann")
            await page.get_by_role("button", name="Review").click()
            await page.locator("dl.answers").wait_for()
            await page.goto(f"{other}/")
            await page.wait_for_function("!!customElements.get('mcp-elicitation')")
            set_token = f"each.token = '{TOKEN}';"
            assert await page.evaluate(failed % set_token) is None  # the browser lets it read nothing
            await page.goto(f"{front}/")
            await page.wait_for_function("!!customElements.get('mcp-elicitation')")
            await page.evaluate(f"document.querySelector('mcp-elicitation').token = '{TOKEN}'")
            assert await page.get_by_label("Your name").input_value() == "Ann"
            await page.get_by_role("button", name="Review").click()
            await page.locator(f"{AWAKE} dl.answers").wait_for()
            await page.get_by_role("button", name="Send").click()
            await page.get_by_text("You accepted.").wait_for()
        assert (await waiting.result()).content == {"name": "Ann"}


FRONT, EVIL = "https://front.example", "https://evil.example"


@pytest.mark.parametrize(
    ("method", "headers", "status", "is_readable"),
    [
        ("OPTIONS", {"origin": FRONT}, 204, True),
        ("OPTIONS", {"origin": EVIL}, 403, False),
        ("GET", {"origin": FRONT}, 401, True),
        ("GET", {"origin": FRONT, "authorization": "Bearer x"}, 404, True),
        ("GET", {"origin": EVIL, "authorization": "Bearer x"}, 404, False),
        ("POST", {"origin": FRONT}, 401, True),
        ("POST", {"origin": FRONT, "authorization": "Bearer x"}, 404, True),
        ("POST", {"origin": EVIL, "authorization": "Bearer x"}, 403, False),
        ("POST", {"origin": f"{FRONT}.evil.example", "authorization": "Bearer x"}, 403, False),
    ],
)
async def test_only_allowed_origins_read_responses_and_only_with_a_token(
    method: str, headers: dict[str, str], status: int, is_readable: bool
) -> None:
    app = inbox_app(Inbox(MemoryStore()), lambda _: "ann", allowed_origins=[FRONT])
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="https://inbox.example") as client:
        content = b"action=decline" if method == "POST" else None
        kind = {"content-type": "application/x-www-form-urlencoded"} if content else {}
        reply = await client.request(method, "/x", content=content, headers={**headers, **kind})

    assert reply.status_code == status
    assert (reply.headers.get("access-control-allow-origin") == headers["origin"]) == is_readable
    assert "access-control-allow-credentials" not in reply.headers
    assert "Origin" in reply.headers["vary"]


@pytest.mark.parametrize("allowed", [[], [FRONT]])
async def test_only_the_script_and_the_style_can_be_loaded_by_other_pages(allowed: list[str]) -> None:
    app = inbox_app(Inbox(MemoryStore()), lambda _: "ann", allowed_origins=allowed)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="https://inbox.example") as client:
        for path, is_static in (("/static/mcp-elicitation.js", True), ("/static/inbox.css", True), ("/", False)):
            policy = (await client.get(path)).headers["cross-origin-resource-policy"]
            assert policy == ("cross-origin" if is_static and allowed else "same-origin")


async def test_the_example_of_the_documentation_runs() -> None:
    text = (ROOT / "docs" / "web-component.md").read_text(encoding="utf-8")
    code = text.split("```python\n", 1)[1].split("```", 1)[0]
    names: dict[str, Any] = {}
    exec(code, names)
    async with asked(names["inbox"]) as (_, waiting), serving(names["app"]) as origin, opened(origin) as page:
        await page.goto("/")
        await page.get_by_role("link", name="mail").click()
        await page.get_by_label("Your name").fill("Ann")
        review = page.get_by_role("button", name="Review")
        assert await review.evaluate("(each) => getComputedStyle(each).backgroundColor") == "rgb(10, 107, 61)"
        await review.click()
        await page.locator(f"{AWAKE} dl.answers").wait_for()
        await page.get_by_role("button", name="Send").click()
        await page.get_by_text("You accepted.").wait_for()
        assert (await waiting.result()).content == {"name": "Ann"}
