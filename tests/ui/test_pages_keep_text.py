"""Back, reload, other tabs, closed tabs, lost connections and deadlines in a real Chromium: nothing typed is lost."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta, timezone
from typing import Any

import anyio
import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse
from starlette.routing import Mount, Route

from mcp_elicit_client.handlers.browser import tab
from mcp_elicit_client.inbox import Inbox, InboxHandler, MemoryStore
from mcp_elicit_client.inbox.web import inbox_app
from tests.support import form_params, until
from tests.support.chromium import IN_A_BROWSER, SET_VISIBILITY, browser, tab_to, until_it_takes_a_yes
from tests.support.inboxes import asking as inbox_asking
from tests.support.inboxes import pending, request
from tests.support.webapps import serving
from tests.ui.test_browser import asking, sitting

pytestmark = IN_A_BROWSER

WHO = form_params(
    {
        "properties": {
            "name": {"type": "string", "title": "Your name"},
            "age": {"type": "integer", "title": "Age", "maximum": 130},
        },
        "required": ["name"],
    },
    "Who?",
)
AMOUNT = form_params({"properties": {"amount": {"type": "number", "title": "Amount"}}, "required": ["amount"]})
SCRIPT = pytest.mark.parametrize("has_script", [True, False], ids=["script", "no-script"])


async def review(page: Any, **filled: str) -> None:
    for label, text in filled.items():
        await page.get_by_label(label.replace("_", " ")).fill(text)
    await page.click("text=Review")


@asynccontextmanager
async def serving_to(inbox: Inbox, authenticate: Any = lambda _: "ann") -> AsyncIterator[Any]:
    """Provide a page whose base URL is the app of *inbox*, while a request is pending."""
    async with (
        inbox_asking(inbox, request(WHO)),
        serving(inbox_app(inbox, authenticate)) as origin,
        browser() as launched,
    ):
        await pending(inbox)
        yield await (await launched.new_context(base_url=origin, locale="en-US")).new_page()


async def saved(page: Any) -> None:
    await page.wait_for_selector("[data-saved]:has-text('Draft saved')")


@SCRIPT
async def test_back_from_the_review_shows_the_form_with_the_text(has_script: bool) -> None:
    async with sitting(java_script_enabled=has_script) as desk, asking(desk, WHO) as question:
        page = await desk.page()
        await review(page, Your_name="Ann", Age="200")
        await page.wait_for_selector("#summary")
        await review(page, Age="20")
        await page.wait_for_selector("dl.answers")
        await page.go_back()
        assert await page.get_by_label("Your name").input_value() == "Ann"
        assert await page.get_by_label("Age").input_value() == "20"
        await page.go_forward()
        await page.wait_for_selector("dl.answers")
        await page.wait_for_timeout(1_000 * tab.RELOAD_TIMEOUT + 400)
        await page.click("text=Change")
        await review(page, Age="21")
        await page.wait_for_selector("dl.answers")
        await until_it_takes_a_yes(page, has_script=has_script)
        await page.click("text=Send")
        answer = await question.over()

    assert (answer.content, answer.by) == ({"name": "Ann", "age": 21}, "user")


async def test_reload_and_a_second_tab_show_what_was_typed() -> None:
    async with sitting() as desk, asking(desk, WHO) as question:
        page = await desk.page()
        await page.get_by_label("Your name").fill("Ann")
        await saved(page)
        await page.reload()
        assert await page.get_by_label("Your name").input_value() == "Ann"
        assert "was restored" in await page.inner_text("[data-saved]")
        second = await page.context.new_page()
        await second.goto(page.url)
        assert await second.get_by_label("Your name").input_value() == "Ann"
        await review(second, Age="7")
        await second.wait_for_selector("dl.answers")
        await until_it_takes_a_yes(second)
        await second.click("text=Send")
        await page.wait_for_selector("text=You accepted.")
        assert (await question.over()).content == {"name": "Ann", "age": 7}


async def test_what_is_sent_is_what_the_same_tab_has_shown_for_review() -> None:
    async with sitting() as desk, asking(desk, WHO) as question:
        page = await desk.page()
        await review(page, Your_name="Ann")
        await page.wait_for_selector("dl.answers")
        second = await page.context.new_page()
        await second.goto(page.url.partition("?")[0])
        await review(second, Your_name="Bob")
        await second.wait_for_selector("dl.answers:has-text('Bob')")
        await until_it_takes_a_yes(page)
        await page.click("text=Send")
        assert (await question.over()).content == {"name": "Ann"}


async def test_a_tab_that_becomes_visible_keeps_the_later_draft_of_another_tab() -> None:
    inbox = Inbox(MemoryStore())
    async with serving_to(inbox) as page:
        (entry,) = await pending(inbox)
        ended = anyio.Event()
        page.on("requestfailed", lambda failed: ended.set() if failed.url.endswith("/events") else None)
        async with page.expect_request("**/events"):
            await page.goto(f"/{entry.id}")
        await page.evaluate(SET_VISIBILITY, "hidden")
        with anyio.fail_after(30):
            await ended.wait()
        second = await page.context.new_page()
        await second.goto(f"/{entry.id}")
        await second.get_by_label("Your name").fill("Ann")
        await saved(second)
        async with page.expect_response(f"**/{entry.id}"):
            await page.evaluate(SET_VISIBILITY, "visible")
        await second.reload()
        assert await second.get_by_label("Your name").input_value() == "Ann"


async def test_a_link_keeps_a_text_that_is_too_long_to_be_sent_after_the_page_was_left() -> None:
    inbox = Inbox(MemoryStore())
    async with serving_to(inbox) as page:
        (entry,) = await pending(inbox)
        await page.goto(f"/{entry.id}")
        connection = await page.context.new_cdp_session(page)
        slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 100_000}
        await connection.send("Network.emulateNetworkConditions", slow)
        text = "字" * 9_000  # 9 bytes each
        await page.get_by_label("Your name").fill(text)
        await page.click("text=All requests")
        await page.click("ul.entries a")
        assert await page.get_by_label("Your name").input_value() == text


async def test_a_form_keeps_its_text_while_another_user_is_signed_in() -> None:
    inbox, users = Inbox(MemoryStore()), ["ann"]
    async with serving_to(inbox, lambda _: users[0]) as page:
        (entry,) = await pending(inbox)
        await page.goto(f"/{entry.id}")
        users[:] = ["bob"]
        await review(page, Your_name="Ann")
        await page.wait_for_selector("[data-saved]:has-text('Request not found: It may have expired')")
        assert await page.get_by_label("Your name").input_value() == "Ann"
        users[:] = ["ann"]
        await page.click("text=Review")
        await page.wait_for_selector("dl.answers")


async def test_closing_the_tab_warns_and_is_never_an_answer_of_the_user() -> None:
    async with sitting() as desk:
        async with asking(desk, WHO) as question:
            page = await desk.page()
            warnings: list[str] = []

            async def agree(dialog: Any) -> None:
                warnings.append(dialog.type)
                await dialog.accept()

            page.on("dialog", agree)
            await page.click("#f0")
            await page.keyboard.type("Ann")
            await saved(page)
            await page.close(run_before_unload=True)
            answer = await question.over()
            assert (answer.action, answer.by, answer.reason) == ("cancel", "unattended", "the page was closed")
            assert warnings == ["beforeunload"]
        # The same request of the same server again: the draft is back.
        async with asking(desk, WHO) as question:
            page = await desk.page()
            assert await page.get_by_label("Your name").input_value() == "Ann"
            await page.click("text=Decline")
            assert (await question.over()).by == "user"
        async with asking(desk, WHO):
            assert await (await desk.page()).get_by_label("Your name").input_value() == ""


async def test_a_page_that_is_offline_keeps_the_text_and_sends_it_later() -> None:
    async with sitting() as desk, asking(desk, WHO) as question:
        page = await desk.page()
        await desk.context.set_offline(True)
        await page.get_by_label("Your name").fill("Ann")
        await page.click("text=Review")
        await page.wait_for_selector("[data-saved]:has-text('No connection.')")
        assert await page.get_by_label("Your name").input_value() == "Ann"
        await desk.context.set_offline(False)
        await saved(page)
        await page.click("text=Review")
        await page.wait_for_selector("dl.answers")
        await until_it_takes_a_yes(page)
        await page.click("text=Send")
        assert (await question.over()).content == {"name": "Ann"}


async def expires_at(page: Any) -> datetime:
    return datetime.fromisoformat(await page.get_attribute("[data-expires]", "data-expires"))


@SCRIPT
async def test_more_time_keeps_the_text_and_extends_the_deadline(has_script: bool) -> None:
    async with sitting(java_script_enabled=has_script) as desk, asking(desk, WHO, answer_timeout=100) as question:
        page = await desk.page()
        before = await expires_at(page)
        await page.get_by_label("Your name").fill("Ann")
        for _ in range(3):
            async with page.expect_response(lambda response: response.request.method == "POST"):
                await page.click("text=More time")
            await page.wait_for_load_state()
        if has_script:
            await page.wait_for_selector("[data-live]:has-text('You have more time.')", state="attached")
        assert await page.get_by_label("Your name").input_value() == "Ann"
        await page.click("text=Review")
        await page.wait_for_selector("dl.answers")
        assert await expires_at(page) - before > timedelta(seconds=290)
        await until_it_takes_a_yes(page, has_script=has_script)
        await page.click("text=Send")
        assert (await question.over()).content == {"name": "Ann"}


async def test_the_focus_stays_beside_the_time_that_cannot_be_extended_again() -> None:
    async with sitting() as desk, asking(desk, WHO, answer_timeout=100):
        page = await desk.page()
        more = page.locator("button[value=extend]")
        await more.focus()
        can_extend = True
        while can_extend:
            async with page.expect_response(lambda response: response.request.method == "POST") as reply:
                await page.keyboard.press("Enter")
            can_extend = (await (await reply.value).json())["can_extend"]
        await more.wait_for(state="hidden")
        assert await page.evaluate("'countdown' in document.activeElement.dataset")


async def test_a_form_is_answered_and_changed_with_the_keyboard_only() -> None:
    async with sitting() as desk, asking(desk, WHO) as question:
        page = await desk.page()
        await tab_to(page, "f0")
        await page.keyboard.type("Ann")
        await page.keyboard.press("Enter")  # the first button is Review, not More time
        await page.wait_for_selector("dl.answers")
        await page.go_back()
        await page.wait_for_selector("#f0")
        await tab_to(page, "f1")
        await page.keyboard.type("9")
        await page.keyboard.press("Enter")
        await page.wait_for_selector("dl.answers:has-text('9')")
        await until_it_takes_a_yes(page)
        await tab_to(page, "action", "accept")
        await page.keyboard.press("Enter")
        assert (await question.over()).content == {"name": "Ann", "age": 9}


@pytest.mark.parametrize(
    ("language", "typed", "sent"),
    [("de-DE", "7,5", 7.5), ("de-DE", "1.234,5", 1234.5), ("en-US", "7.5", 7.5), ("en-US", "7,5", 7.5)],
)
async def test_a_number_never_changes_its_value(language: str, typed: str, sent: float) -> None:
    async with sitting() as desk:
        desk.context = await desk.context.browser.new_context(locale=language)
        async with asking(desk, AMOUNT) as question:
            page = await desk.page()
            await page.click("#f0")
            await page.keyboard.type(typed)
            await page.click("button[value=review]")
            await page.wait_for_selector("dl.answers, .summary")
            if await page.locator(".summary").count():
                assert language == "en-US"
                return  # refused, and not changed
            await until_it_takes_a_yes(page)
            await page.click("button[value=accept]")
            assert (await question.over()).content == {"amount": sent}


async def test_the_list_shows_who_asks_what_until_when_and_leads_back() -> None:
    inbox = Inbox(MemoryStore())
    handler = InboxHandler(inbox, "ann")
    async with anyio.create_task_group() as group, serving(inbox_app(inbox, lambda _: "ann")) as origin:
        group.start_soon(handler, request(WHO))
        await pending(inbox)
        async with browser() as launched:
            page = await (await launched.new_context(base_url=origin, locale="en-US")).new_page()
            await page.goto("/")
            await page.wait_for_selector("[data-left]:has-text('Expires in 3:')")
            assert await page.title() == "Requests (1)"
            assert (await page.inner_text("time")) == "now"
            assert "2 answers" in await page.inner_text(".entries")
            group.start_soon(
                handler, request({"mode": "url", "message": "Pay", "url": "https://a.example/", "elicitationId": "1"})
            )
            await page.wait_for_selector("h1:has-text('Requests (2)')")
            assert "Open a.example" in await page.inner_text(".entries")
            await page.click("text=2 answers")
            await page.get_by_label("Your name").fill("Ann")
            await page.click("text=All requests")
            await page.wait_for_selector("h1:has-text('Requests (2)')")
            await page.click("text=2 answers")
            assert await page.get_by_label("Your name").input_value() == "Ann"
            await page.click("text=Decline")
            await page.wait_for_selector("text=You declined.")
            await page.goto("/history")
            assert "You declined." in await page.inner_text(".entries")
            assert "UTC" not in await page.inner_text("time")  # in the time zone of the browser
            assert await page.evaluate("fetch('static/icon.svg').then((reply) => reply.status)") == 200
        group.cancel_scope.cancel()


@pytest.mark.parametrize("hours", [-3, 3])
async def test_the_time_left_does_not_depend_on_the_clock_of_the_computer(hours: int) -> None:
    inbox = Inbox(MemoryStore())
    async with anyio.create_task_group() as group, serving(inbox_app(inbox, lambda _: "ann")) as origin:
        group.start_soon(InboxHandler(inbox, "ann"), request(WHO))
        await pending(inbox)
        async with browser() as launched:
            page = await (await launched.new_context(base_url=origin, locale="en-US")).new_page()
            await page.clock.install(time=datetime.now(timezone.utc) + timedelta(hours=hours))
            await page.goto("/")
            await page.wait_for_selector("[data-left]:has-text('Expires in 3:')")
            assert await page.inner_text("time") == "now"
            await page.click("text=2 answers")
            await page.wait_for_selector("[data-countdown]:has-text('Expires in 3:')")
            await page.clock.fast_forward("03:30")
            await page.wait_for_selector("[data-countdown].is-soon:has-text('Expires in 0:')")
            await page.click("text=More time")
            await page.wait_for_selector("[data-countdown]:not(.is-soon)")
        group.cancel_scope.cancel()


LONG = f"https://www.bank.example.{'login.' * 12}evil-site-of-someone.com/{'a1b2' * 200}"


@pytest.mark.parametrize("url", [LONG, "https://pay.example.com/x"])
async def test_on_a_small_screen_the_domain_the_warnings_and_the_buttons_are_seen_without_scrolling(url: str) -> None:
    params = {"mode": "url", "message": "Please sign in. " * 100, "url": url, "elicitationId": "1"}
    async with sitting(viewport={"width": 320, "height": 640}) as desk, asking(desk, params):
        page = await desk.page()
        seen = ["h1 .domain", "button.yes", "button[value=decline]", "button[value=cancel]"]
        for selector in [*seen, *([".warning >> nth=0"] if url is LONG else [])]:
            box = await page.locator(selector).bounding_box()
            assert box["y"] >= 0, selector
            assert box["y"] + box["height"] <= 640, selector
            assert box["x"] + box["width"] <= 320, selector
        lines = "(each) => each.getClientRects().length"
        for domain in await page.locator(".domain").all():
            if await domain.is_visible():
                assert await domain.evaluate(lines) == 1
        assert await page.evaluate("document.documentElement.scrollWidth") == 320
        if url is LONG:
            await page.click("text=Show the full URL")
            assert (await page.inner_text(".whole .url")).replace("\n", "") == url


@pytest.mark.parametrize("length", [33, 45, 63])
async def test_a_long_domain_can_be_read_on_a_small_screen(length: int) -> None:
    label = f"{'a' * (length - 7)}-paypal"
    params = {"mode": "url", "message": "Pay", "url": f"https://{label}.com/", "elicitationId": "1"}
    measure = """(each) => {
        const text = document.createRange()
        text.selectNodeContents(each)
        const lines = Array.from(text.getClientRects(), (line) => line.width)
        return [parseFloat(getComputedStyle(each).fontSize), lines, each.getBoundingClientRect().right]
    }"""
    async with sitting(viewport={"width": 320, "height": 640}) as desk, asking(desk, params):
        page = await desk.page()
        for domain in await page.locator(".domain").all():
            size, lines, right = await domain.evaluate(measure)
            assert size > 9
            assert right <= 320
            assert lines[-1] > 0.7 * max(lines)  # A short last line could look like the domain of someone else.


async def test_warnings_never_cover_the_heading_and_the_url_on_a_small_screen() -> None:
    url = "https://user_x.paypal.com.xn--pypal-4ve.example:8443/pay"
    params = {"mode": "url", "message": "Pay", "url": url, "elicitationId": "1"}
    is_seen = """([part, isScrolled]) => {
        scrollTo(0, isScrolled ? document.documentElement.scrollHeight : 0)
        const shown = document.querySelector(part)
        const {left, right, top, bottom} = shown.getBoundingClientRect()
        return shown.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2))
    }"""
    async with sitting(viewport={"width": 320, "height": 520}) as desk, asking(desk, params):
        page = await desk.page()
        await until_it_takes_a_yes(page)

        for part in ("h1", ".warning", "button.yes", "button[value=decline]"):
            await page.wait_for_function(is_seen, arg=[part, False])
        await page.wait_for_function(is_seen, arg=[".url", True])
        await page.click("button.yes")
        await page.wait_for_selector("main[data-confirm]")
        for part in ("h1", ".warning", "button[value=accept]", "button[value=decline]"):
            await page.wait_for_function(is_seen, arg=[part, False])


async def test_every_line_of_a_long_title_stands_beside_the_mark_of_the_server() -> None:
    options = {"type": "string", "enum": ["a", "b"], "title": "Which of the two options? " * 6}
    params = form_params({"properties": {"t": {"type": "string", "title": "What is your name? " * 8}, "o": options}})
    async with sitting(viewport={"width": 320, "height": 640}) as desk, asking(desk, params):
        page = await desk.page()
        starts = await page.evaluate(
            """[...document.querySelectorAll(".label.server")].map(label => {
                const text = document.createRange()
                text.selectNodeContents(label)
                return [...text.getClientRects()].map(line => line.left)
            })"""
        )

    assert all(len(lines) > 2 and len(set(lines)) == 1 for lines in starts), starts


async def test_after_a_double_click_the_page_says_that_the_answer_was_sent() -> None:
    async with sitting() as desk, asking(desk, WHO) as question:
        page = await desk.page()
        await review(page, Your_name="Ann")
        await page.wait_for_selector(".answers")
        await until_it_takes_a_yes(page)
        held: list[Any] = []

        async def hold(route: Any) -> None:
            held.append(route)
            if route.request.method != "HEAD":
                await held.pop().continue_()

        await page.route("**", hold)
        await page.click("text=Send", click_count=2)
        with anyio.fail_after(10):
            while not held:
                await anyio.sleep(0.01)
        await page.evaluate("new Promise(requestAnimationFrame)")  # a second check would have begun
        assert len(held) == 1
        for route in held:
            await route.continue_()
        assert (await question.over()).content == {"name": "Ann"}
        await page.wait_for_load_state("networkidle")
        assert "Answer sent" in await page.inner_text("h1")


async def test_a_button_is_busy_while_it_is_unknown_whether_the_server_can_be_reached() -> None:
    async with sitting() as desk, asking(desk, WHO):
        page = await desk.page()
        is_offline = anyio.Event()

        async def hold(route: Any) -> None:
            await is_offline.wait()
            await route.abort()

        await page.get_by_label("Your name").fill("Ann")
        await page.route("**", hold)
        await page.get_by_role("button", name="Review").click()
        await page.wait_for_selector("button[aria-busy=true]:has-text('Review')")
        is_offline.set()
        await page.wait_for_selector("[data-saved].is-lost")
        await page.wait_for_selector("button:not([aria-busy]):has-text('Review')")


async def test_a_button_is_busy_until_a_server_that_does_not_reply_counts_as_lost() -> None:
    async with sitting() as desk, asking(desk, WHO):
        page = await desk.page()
        await page.get_by_label("Your name").fill("Ann")
        await saved(page)
        await page.clock.install()
        await page.route("**", lambda _: None)
        await page.get_by_role("button", name="Review").click()
        busy = page.locator("button[aria-busy=true]:has-text('Review')")
        await busy.wait_for()
        await page.clock.run_for(10_000)
        assert await busy.count() == 1
        await page.clock.run_for(10_000)
        await page.wait_for_selector("[data-saved]:has-text('No connection')")
        assert await busy.count() == 0
        assert await page.get_by_label("Your name").input_value() == "Ann"


HOBBIES = form_params(
    {
        "properties": {
            "name": {"type": "string", "title": "Your name"},
            "hobbies": {"type": "array", "title": "Hobbies", "items": {"enum": ["chess", "golf"]}},
        },
        "required": ["name"],
    },
    "Who?",
)


async def test_the_review_shows_what_is_entered_while_the_server_is_slow() -> None:
    async with sitting() as desk, asking(desk, HOBBIES):
        page = await desk.page()
        is_there = anyio.Event()

        async def hold(route: Any) -> None:
            if route.request.method == "HEAD":
                await is_there.wait()
            await route.continue_()

        await page.route("**", hold)
        await review(page, Your_name="Ann")
        await page.wait_for_selector("button[aria-busy=true]")
        await page.get_by_label("Your name").fill("Ann B.")
        await page.get_by_label("chess").check()
        is_there.set()
        await page.wait_for_selector("dl.answers")
        shown = await page.inner_text("dl.answers")
        assert "Ann B." in shown and "chess" in shown


async def send_and_stop(page: Any) -> None:
    """Send the form on *page*, and stop the browser before the server replies."""
    await page.clock.install()
    stopped: list[Any] = []

    async def hold(route: Any) -> None:
        if route.request.is_navigation_request():
            stopped.append(route)
        else:
            await route.continue_()

    await page.route("**", hold)
    await page.focus("#f0")
    await page.evaluate(
        """() => new Promise((done) => {
            const form = document.querySelector("form")
            new MutationObserver(() => { if (form.inert) done() }).observe(form, {attributes: true})
            form.querySelector("button[value=review]").click()
        })"""
    )
    await until(lambda: stopped)
    await stopped[0].abort("aborted")
    await page.clock.run_for(3_000)
    await page.wait_for_selector("#f0:focus")


async def test_a_form_takes_nothing_more_while_it_is_on_its_way_and_all_of_it_after_the_user_has_stopped_that() -> None:
    async with sitting() as desk, asking(desk, HOBBIES):
        page = await desk.page()
        await page.get_by_label("Your name").fill("Ann")
        await saved(page)
        await send_and_stop(page)
        await page.keyboard.type("a")
        await page.get_by_label("chess").check()
        assert await page.get_by_label("Your name").input_value() == "Anna"


async def test_errors_are_shown_early_again_after_the_user_has_stopped_the_form_on_its_way() -> None:
    async with sitting() as desk, asking(desk, WHO):
        page = await desk.page()
        await page.get_by_label("Your name").fill("Ann")
        await saved(page)
        await send_and_stop(page)
        await page.get_by_label("Age").fill("200")
        await page.keyboard.press("Tab")
        await page.clock.run_for(1_000)  # the focus has left the field
        await page.wait_for_selector("#f1-errors p:has-text('Enter 130 or less.')")


def refuse_with_403(users: list[str]) -> str:
    if not users:
        raise HTTPException(403)
    return users[0]


def redirect_to_another_origin(users: list[str]) -> str:
    if not users:
        raise HTTPException(303, headers={"Location": "http://login.invalid/"})
    return users[0]


SIGN_OUTS = pytest.mark.parametrize(
    "authenticate", [lambda users: users[0] if users else None, refuse_with_403, redirect_to_another_origin]
)


@SIGN_OUTS
async def test_a_form_whose_user_is_signed_out_keeps_the_text_and_sends_it_after_the_sign_in(
    authenticate: Any,
) -> None:
    inbox, users = Inbox(MemoryStore()), ["ann"]
    async with (
        inbox_asking(inbox, request(WHO)) as waiting,
        serving(inbox_app(inbox, lambda _: authenticate(users))) as origin,
        browser() as launched,
    ):
        (entry,) = await pending(inbox)
        page = await (await launched.new_context(base_url=origin, locale="en-US")).new_page()
        await page.goto(f"/{entry.id}")
        users.clear()
        await review(page, Your_name="Ann")
        await page.wait_for_selector("[data-saved]:has-text('You are signed out.')")
        assert await page.get_by_label("Your name").input_value() == "Ann"
        users.append("ann")
        await page.click("text=Review")
        await page.wait_for_selector("dl.answers")
        await until_it_takes_a_yes(page)
        await page.click("text=Send")
        assert (await waiting.result()).content == {"name": "Ann"}


@pytest.mark.parametrize("status", [403, 501])
async def test_a_form_is_sent_through_a_proxy_that_refuses_head(status: int) -> None:
    async with sitting() as desk, asking(desk, WHO) as question:
        page = await desk.page()

        async def refuse_head(route: Any) -> None:
            await (route.fulfill(status=status) if route.request.method == "HEAD" else route.continue_())

        await page.route("**", refuse_head)
        await review(page, Your_name="Ann")
        await page.wait_for_selector("dl.answers")
        await until_it_takes_a_yes(page)
        await page.click("text=Send")
        assert (await question.over()).content == {"name": "Ann"}


@SIGN_OUTS
async def test_without_javascript_a_signed_out_user_sends_the_form_again_after_the_sign_in(authenticate: Any) -> None:
    inbox, users = Inbox(MemoryStore()), ["ann"]
    typed = '"><script>alert(1)</script>\u202e'
    async with (
        inbox_asking(inbox, request(WHO)) as waiting,
        serving(inbox_app(inbox, lambda _: authenticate(users))) as origin,
        browser() as launched,
    ):
        (entry,) = await pending(inbox)
        context = await launched.new_context(base_url=origin, locale="en-US", java_script_enabled=False)
        page = await context.new_page()
        await page.goto(f"/{entry.id}")
        users.clear()
        await review(page, Your_name=typed, Age="7")
        for _ in range(2):
            await page.wait_for_selector("text=What you entered stays on this page.")
            await page.click("text=Review")
        users.append("ann")
        await page.click("text=Review")
        await page.wait_for_selector("dl.answers")
        users.clear()
        await page.click("text=Send")
        await page.wait_for_selector("text=What you entered stays on this page.")
        users.append("ann")
        await page.click("text=Send")
        assert (await waiting.result()).content == {"name": typed, "age": 7}


@SIGN_OUTS
async def test_the_element_keeps_the_text_of_a_signed_out_user_and_sends_it_after_the_sign_in(
    authenticate: Any,
) -> None:
    inbox, users = Inbox(MemoryStore()), ["ann"]
    home = HTMLResponse('<mcp-elicitation></mcp-elicitation><script src="/inbox/static/mcp-elicitation.js"></script>')
    app = Starlette(
        routes=[
            Route("/", lambda _: home),
            Mount("/inbox", inbox_app(inbox, lambda _: authenticate(users))),
        ]
    )
    async with inbox_asking(inbox, request(WHO)) as waiting, serving(app) as origin, browser() as launched:
        page = await (await launched.new_context(base_url=origin, locale="en-US")).new_page()
        await page.goto("/")
        await page.click("mcp-elicitation >> a")
        await page.get_by_label("Your name").wait_for()
        users.clear()
        await review(page, Your_name="Ann")
        await page.wait_for_selector("[data-saved]:has-text('You are signed out.')")
        assert await page.get_by_label("Your name").input_value() == "Ann"
        users.append("ann")
        await page.click("text=Review")
        await page.wait_for_selector("dl.answers")
        await page.wait_for_selector("section[data-awake]")
        await page.click("text=Send")
        assert (await waiting.result()).content == {"name": "Ann"}
