"""`BrowserHandler` with real servers and a real Chromium."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from mcp_elicit_client import parse_request
from mcp_elicit_client.handlers.browser import BrowserHandler
from mcp_elicit_client.typing import Answer
from tests.integration.test_everything import TOOL as URL_TOOL
from tests.integration.test_everything import URL, everything
from tests.support import FILLED_IN, ROOT, form_params
from tests.support.chromium import IN_A_BROWSER, browser, chromium, tab_to, until_it_takes_a_yes, violations

pytestmark = IN_A_BROWSER

FORM_TOOL = "trigger-elicitation-request"
NAME = form_params({"properties": {"name": {"type": "string", "title": "Name"}}, "required": ["name"]}, "Who?")
HAS_SCRIPT = pytest.mark.parametrize("has_script", [True, False], ids=["script", "no-script"])


class Desk:
    """A desktop that opens files in a browser."""

    def __init__(self, context: Any) -> None:
        self.context = context
        self._send, self._files = anyio.create_memory_object_stream[Path](99)

    async def open_file(self, path: Path) -> bool:
        await self._send.send(path)
        return True

    def close(self) -> None:
        self._send.close()
        self._files.close()

    async def page(self) -> Any:
        """Open the next file."""
        with anyio.fail_after(60):
            path = await self._files.receive()
        page = await self.context.new_page()
        await page.goto(path.as_uri())
        await page.wait_for_selector("main")
        await page.wait_for_load_state("load")  # its script has run
        return page


class Question:
    answer: Answer

    def __init__(self) -> None:
        self._is_over = anyio.Event()
        self.withdraw: Callable[[], None] = lambda: None

    async def ask(self, handler: BrowserHandler, params: Any, **more: Any) -> None:
        with anyio.CancelScope() as scope:
            self.withdraw = scope.cancel
            self.answer = await handler(parse_request(params, server="mail", **more))
        self._is_over.set()

    async def over(self) -> Answer:
        with anyio.fail_after(60):
            await self._is_over.wait()
        return self.answer


@asynccontextmanager
async def sitting(**context: Any) -> AsyncIterator[Desk]:
    async with browser() as launched:
        desk = Desk(await launched.new_context(locale="en-US", **context))
        try:
            yield desk
        finally:
            desk.close()


@asynccontextmanager
async def asking(desk: Desk, params: Any = NAME, more: Any = None, **options: Any) -> AsyncIterator[Question]:
    question = Question()
    handler = BrowserHandler(open_file=desk.open_file, **options)
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: question.ask(handler, params, **(more or {})))
        yield question
        group.cancel_scope.cancel()


class Call:
    """A call of a tool that sends a request."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self._is_over = anyio.Event()
        self._text = ""

    async def run(self, connection: Any, tool: str, arguments: Any) -> None:
        result = await connection.call_tool(tool, arguments)
        self._text = "".join(part["text"] for part in result["content"])
        self._is_over.set()

    async def result(self) -> Any:
        """Return the answer that the server received."""
        with anyio.fail_after(60):
            await self._is_over.wait()
        start = self._text.index("{")
        return json.JSONDecoder().raw_decode(self._text[start:])[0]


@asynccontextmanager
async def calling(tool: str = FORM_TOOL, has_script: bool = True, **arguments: Any) -> AsyncIterator[Call]:
    async with sitting(java_script_enabled=has_script) as desk:
        handler = BrowserHandler(open_file=desk.open_file)
        async with everything(handler, "stdio") as connection, anyio.create_task_group() as group:
            call = Call(desk)
            group.start_soon(call.run, connection, tool, arguments)
            yield call


async def fill_by_keyboard(page: Any) -> None:
    async def types(name: str, text: object) -> None:
        await tab_to(page, name)
        await page.keyboard.type(str(text))

    async def presses(name: str, *keys: str, value: str | None = None) -> None:
        await tab_to(page, name, value)
        for key in keys:
            await page.keyboard.press(key)

    await types("f0", FILLED_IN["name"])
    await presses("f1", "ArrowDown")  # from "Do not provide" to the first option, "Yes"
    await types("f2", FILLED_IN["firstLine"])
    await types("f3", "ada@")
    await types("f4", FILLED_IN["homepage"])
    await types("f5", "12101815")
    await types("f6", "7")
    await types("f7", "2.5")
    await presses("f8", "ArrowDown", "ArrowDown")
    await presses("f9", "Space", value="4")
    await presses("f10", "ArrowDown", "ArrowDown")
    await presses("f11", "Space", value="2")
    await presses("f12", "ArrowDown")
    await presses("action", "Enter", value="review")


async def fill_by_mouse(page: Any) -> None:
    texts = {"f0": "name", "f2": "firstLine", "f4": "homepage", "f5": "birthdate", "f6": "integer", "f7": "number"}
    for place, name in texts.items():
        await page.click(f"#{place}")
        await page.fill(f"#{place}", str(FILLED_IN[name]))
    await page.click("#f3")
    await page.fill("#f3", "ada@")
    for label in ("Yes", "Joey", "Bass", "Wonder Woman", "Trout", "Dogs"):
        await page.get_by_text(label, exact=True).first.click()
    await page.click("text=Review")


async def correct_by_keyboard(page: Any) -> None:
    await page.keyboard.press("Tab")  # from the summary to its first link
    await page.keyboard.press("Enter")
    for key in ("End", *"example.com", "Enter"):
        await page.keyboard.press(key)


async def correct_by_mouse(page: Any) -> None:
    await page.click(".summary a")
    await page.fill("#f3", FILLED_IN["email"])
    await page.click("text=Review")


async def send_by_keyboard(page: Any) -> None:
    await tab_to(page, "action", "accept")
    await page.keyboard.press("Enter")


async def send_by_mouse(page: Any) -> None:
    await page.click("text=Send")


WAYS = {
    "keyboard": (fill_by_keyboard, correct_by_keyboard, send_by_keyboard),
    "mouse": (fill_by_mouse, correct_by_mouse, send_by_mouse),
}


@HAS_SCRIPT
@pytest.mark.parametrize("way", WAYS)
async def test_all_fields_of_a_real_server_are_filled_in_corrected_reviewed_and_sent(
    way: str, has_script: bool
) -> None:
    fill, correct, send = WAYS[way]
    async with calling(has_script=has_script) as call:
        page = await call.desk.page()
        await fill(page)
        await page.wait_for_selector("#summary:focus")
        assert await page.inner_text(".summary li") == (
            "String with email format: Enter an email address, such as name@example.com."
        )
        assert await page.get_attribute("#f3", "aria-invalid") == "true"
        await correct(page)
        await page.wait_for_selector("dl.answers")
        assert "Guitar, Bass" in await page.inner_text("dl.answers")
        await until_it_takes_a_yes(page, has_script=has_script)
        await send(page)
        await page.wait_for_selector("h1:has-text('Answer sent')")
        result = await call.result()

    assert result == {"action": "accept", "content": FILLED_IN}


@HAS_SCRIPT
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_real_server_receives_decline_and_cancel(action: str, has_script: bool) -> None:
    async with calling(has_script=has_script) as call:
        page = await call.desk.page()
        await page.click(f"button[value={action}]")
        await page.wait_for_selector("h1:has-text('Answer sent')")
        assert await call.result() == {"action": action}


async def test_closing_the_page_cancels_the_request() -> None:
    async with calling() as call:
        page = await call.desk.page()
        await page.wait_for_selector("[data-countdown]:has-text('Expires in')")
        await page.close()
        assert await call.result() == {"action": "cancel"}


async def test_leaving_the_page_cancels_the_request() -> None:
    async with sitting() as desk, asking(desk) as question:
        page = await desk.page()
        await page.goto("about:blank")
        answer = await question.over()

    assert (answer.action, answer.by, answer.reason) == ("cancel", "unattended", "the page was closed")


async def test_reloading_the_page_or_taking_a_step_does_not_cancel_the_request() -> None:
    async with sitting() as desk, asking(desk) as question:
        page = await desk.page()
        for _ in range(2):
            await page.reload()
            await page.fill("#f0", "Ann")
            await page.click("text=Review")
            await page.wait_for_selector("dl.answers")
            # This is longer than `RELOAD_TIMEOUT`.
            await page.wait_for_timeout(3_400)
            await page.click("text=Change")
            await page.wait_for_selector("#f0")
        await page.click("text=Decline")
        assert (await question.over()).action == "decline"


@HAS_SCRIPT
async def test_a_url_of_a_real_server_is_linked_only_after_consent(has_script: bool) -> None:
    async with calling(URL_TOOL, has_script, message="Please sign in", url=URL) as call:
        page = await call.desk.page()
        assert await page.inner_text(".url") == URL
        assert await page.inner_text(".url strong") == "example.com"
        assert await page.locator("a:not([href='./'])").count() == 0
        await until_it_takes_a_yes(page, has_script=has_script)
        await page.click("button[value=accept]")
        await page.wait_for_selector("h1:has-text('Answer sent')")
        assert await page.get_attribute("a.main", "href") == URL
        assert await page.get_attribute("a.main", "rel") == "noopener noreferrer nofollow"
        assert await call.result() == {"action": "accept"}


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_url_is_declined_or_cancelled(action: str) -> None:
    async with calling(URL_TOOL, message="Please sign in", url=URL) as call:
        page = await call.desk.page()
        await page.click(f"button[value={action}]")
        assert await call.result() == {"action": action}


@HAS_SCRIPT
async def test_the_page_of_an_expired_request_says_so(has_script: bool) -> None:
    async with sitting(java_script_enabled=has_script) as desk, asking(desk, answer_timeout=15) as question:
        page = await desk.page()
        await page.wait_for_selector("h1:has-text('closed')")
        assert "This request has expired." in await page.inner_text("main")
        assert "close this page" in await page.inner_text("main")
        answer = await question.over()

    assert (answer.action, answer.by) == ("cancel", "timeout")


@HAS_SCRIPT
async def test_the_page_of_a_withdrawn_request_says_so(has_script: bool) -> None:
    async with sitting(java_script_enabled=has_script) as desk, asking(desk) as question:
        page = await desk.page()
        if has_script:
            await page.wait_for_selector("[data-countdown]:has-text('Expires in')")
        question.withdraw()
        if not has_script:  # The page shows it after the next step.
            await page.fill("#f0", "Ann")
            await page.click("text=Review")
        await page.wait_for_selector("h1:has-text('closed')")
        assert "no longer needs an answer" in await page.inner_text("main")


async def test_two_requests_have_a_page_each_and_one_server() -> None:
    async with sitting() as desk, asking(desk) as first, asking(desk) as second:
        pages = [await desk.page(), await desk.page()]
        hosts = {page.url.split("/")[2] for page in pages}
        for page, name in zip(pages, ("Ann", "Bob"), strict=True):
            await page.fill("#f0", name)
            await page.click("text=Review")
            await page.wait_for_selector("dl.answers")
        for page in reversed(pages):
            await until_it_takes_a_yes(page)
            await page.click("text=Send")
            await page.wait_for_selector("h1:has-text('Answer sent')")
        names = {(await question.over()).content["name"] for question in (first, second)}  # type: ignore[index]

    assert len(hosts) == 1
    assert names == {"Ann", "Bob"}


async def test_of_five_requests_four_have_a_page_and_one_waits() -> None:
    async with sitting() as desk, anyio.create_task_group() as group:
        questions = [Question() for _ in range(5)]
        handler = BrowserHandler(open_file=desk.open_file)
        for question in questions:
            group.start_soon(question.ask, handler, NAME)
        pages = [await desk.page() for _ in range(4)]
        # All pages still work: browsers have six connections, and each page keeps one.
        for page in pages:
            await page.fill("#f0", "Ann")
            await page.click("text=Review")
            await page.wait_for_selector("dl.answers")
        await pages[0].click("text=Decline")
        pages.append(await desk.page())
        for page in pages[1:]:
            await page.click("text=Cancel")
        answers = [await question.over() for question in questions]

    assert sorted(answer.action for answer in answers) == ["cancel"] * 4 + ["decline"]


async def test_block_is_offered_only_if_the_request_allows_it() -> None:
    request = parse_request(NAME, server="mail").model_copy(update={"can_block": True})
    async with sitting() as desk, asking(desk, request) as question:
        page = await desk.page()
        await page.click("text=Decline and block")
        answer = await question.over()

    assert (answer.action, answer.block_server) == ("decline", True)


async def test_sensitive_data_is_sent_only_after_a_warning() -> None:
    async with sitting() as desk, asking(desk) as question:
        page = await desk.page()
        await page.fill("#f0", "ghp_16C7e42F292c6912E7710c838347Ae178B4a")
        await page.click("text=Review")
        assert "Warning" in await page.inner_text(".warning")
        await until_it_takes_a_yes(page)
        await page.click("text=Send anyway")
        answer = await question.over()

    assert (answer.action, answer.confirmed) == ("accept", True)


async def test_axe_reports_no_violations_on_any_page_light_or_dark() -> None:
    found: list[Any] = []
    wrong = form_params(
        {
            "properties": {
                "name": {"type": "string", "title": "Name", "minLength": 2, "description": "As on the card"},
                "updated_at": {"type": "string", "format": "date-time"},
                "tags": {"type": "array", "items": {"enum": ["x", "y"]}, "minItems": 1},
                "must": {"type": "boolean"},
                "place": {"type": "string", "enum": [f"Place {number}" for number in range(20)]},
                "many": {"type": "array", "items": {"enum": [f"Thing {number}" for number in range(30)]}},
            },
            "required": ["name", "updated_at", "tags", "must", "place"],
        }
    )
    for scheme in ("light", "dark"):
        async with sitting(color_scheme=scheme) as desk:
            async with asking(desk, wrong) as question:
                page = await desk.page()
                found += await violations(page)
                await page.click("text=Review")
                await page.wait_for_selector(".summary")
                found += await violations(page)
                await page.fill("#f0", "Ann")
                await page.fill("#f1", "2026-11-20T14:30")
                await page.press("#f1", "Tab")
                await page.check("#f2-0")
                await page.check("#f3-0")
                await page.get_by_role("combobox", name="place").fill("Place 3")
                found += await violations(page)
                await page.keyboard.press("Enter")
                await page.get_by_role("combobox", name="many").fill("Thing 1")
                await page.keyboard.press("Enter")
                await page.keyboard.press("Escape")
                await page.click("text=Review")
                await page.wait_for_selector("dl.answers")
                found += await violations(page)
                await until_it_takes_a_yes(page)
                await page.click("text=Send")
                await page.wait_for_selector("h1:has-text('Answer sent')")
                found += await violations(page)
                assert (await question.over()).action == "accept"
            url = {"mode": "url", "message": "Pay", "url": "https://xn--pypal-4ve.example/", "elicitationId": "e"}
            async with asking(desk, url, {"protocol_version": "2026-07-28"}) as question:
                page = await desk.page()
                found += await violations(page)
                await until_it_takes_a_yes(page)
                await page.click("button[value=confirm]")
                await page.wait_for_selector("main[data-confirm]")
                found += await violations(page)
                await until_it_takes_a_yes(page)
                await page.click("button[value=open]")
                await page.wait_for_selector("text=I have finished")
                found += await violations(page)
                question.withdraw()
                await page.wait_for_selector("h1:has-text('closed')")
                found += await violations(page)

    assert found == []


async def test_no_file_thread_or_process_remains() -> None:
    async with sitting() as desk:
        async with asking(desk) as question:
            await (await desk.page()).click("text=Decline")
            await question.over()
        with anyio.fail_after(60):
            while any(thread.name == "mcp-elicit-browser" for thread in threading.enumerate()):
                await anyio.lowlevel.checkpoint()


def test_the_pictures_of_all_pages_can_be_taken(tmp_path: Path) -> None:
    chromium()
    program = [sys.executable, "-m", "tools.pictures", str(tmp_path), "--look", "narrow"]
    subprocess.run(program, cwd=ROOT, capture_output=True, timeout=300, check=True)

    local = ("arabic", "closed", "consent", "errors", "form", "review", "search", "sent", "visit", "warning")
    pages = (
        *local,
        "confirm",
        "consent-first-sight",
        "warning-first-sight",
        "list",
        "history",
        "nothing",
        "remembered",
    )
    taken = {path.name for path in tmp_path.iterdir() if path.read_bytes().startswith(b"\x89PNG")}
    assert taken == {f"{name}-narrow.png" for name in pages}
