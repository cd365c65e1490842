"""A newcomer follows one page from top to bottom: its files in an empty directory, its commands as processes."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import io
import json
import re
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from tests.support import ROOT, free_port, recording_browser, skip_or_fail, until
from tests.support.chromium import IN_A_BROWSER, browser
from tests.support.pages import FollowedPage
from tests.support.tmux import environment, window

pytestmark = IN_A_BROWSER


async def listening(port: int) -> bool:
    """Return True if something accepts connections on *port*."""
    try:
        await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
    except OSError:
        return False
    return True


@asynccontextmanager
async def web_application(folder: Path, continued: str | None = None) -> AsyncIterator[str]:
    """The program of docs/web-application.md, served, with the front end of another page; yields its origin."""
    if importlib.util.find_spec("fastapi") is None:
        skip_or_fail("fastapi is not installed; see the dependency group test")
    page, port = FollowedPage("web-application.md", folder), free_port()
    page.save()
    if continued is not None:
        (folder / "home.html").write_text(FollowedPage(continued, folder).files["home.html"], encoding="utf-8")
    with page.running("uvicorn", "--port", str(port)):
        with anyio.fail_after(60):
            await until(lambda: listening(port))
        yield f"http://127.0.0.1:{port}"


async def signed_in(launched: Any, origin: str, user: str) -> Any:
    """Return the home page, in a new browser profile in which *user* has signed in."""
    page = await (await launched.new_context(base_url=origin, locale="en-US")).new_page()
    page.set_default_timeout(60_000)
    await page.goto(f"/sign-in/{user}")
    return page


async def result_of(page: Any) -> dict[str, Any]:
    """Wait for the result of the tool, and return what the server received."""
    await page.wait_for_function("document.getElementById('result').textContent.includes('result')")
    shown = json.loads(await page.locator("#result").inner_text())
    return {"user": shown["user"], **json.loads(shown["result"])}


async def test_two_users_answer_in_the_front_end_of_the_tutorial(tmp_path: Path) -> None:
    async with web_application(tmp_path) as origin, browser() as launched:
        ann, bob = await signed_in(launched, origin, "ann"), await signed_in(launched, origin, "bob")
        await ann.get_by_role("button", name="Book a table").click()
        await ann.get_by_role("link", name="restaurant").click()
        await ann.get_by_label("Your name").fill("Ann Lee")
        assert await bob.get_by_role("link", name="restaurant").count() == 0
        await ann.get_by_role("button", name="Review").click()
        await ann.locator("[data-awake]").wait_for()
        await ann.get_by_role("button", name="Send").click()
        answered = await result_of(ann)

        await bob.get_by_role("button", name="Book a table").click()
        await bob.get_by_role("link", name="restaurant").click()
        await bob.locator("[data-awake]").wait_for()
        await bob.get_by_role("button", name="Decline").first.click()
        declined = await result_of(bob)

    assert (answered["user"], answered["action"], answered["content"]["name"]) == ("ann", "accept", "Ann Lee")
    assert (declined["user"], declined["action"]) == ("bob", "decline")


async def test_a_user_answers_in_the_form_that_the_tutorial_draws(tmp_path: Path) -> None:
    async with web_application(tmp_path, "own-front-end.md") as origin, browser() as launched:
        page = await signed_in(launched, origin, "ann")
        await page.get_by_role("button", name="Book a table").click()
        await page.get_by_label("Your name").fill("A")
        await page.get_by_role("button", name="Send").click()
        await page.get_by_role("alert").get_by_text("Enter at least 2 characters.").wait_for()
        await page.get_by_label("Your name").fill("ghp_" + "a1B2" * 9)
        await page.get_by_role("button", name="Send").click()
        await page.get_by_role("alert").get_by_text("seems to contain an access token").wait_for()
        await page.get_by_role("button", name="Send anyway").wait_for()
        await page.get_by_label("Your name").fill("Ann Lee")
        await page.evaluate("show()")  # as the events do when they are connected again
        await page.get_by_role("button", name="Send", exact=True).click()
        answered = await result_of(page)
        await page.locator("form").wait_for(state="detached")

    assert (answered["action"], answered["content"]["name"]) == ("accept", "Ann Lee")


async def test_the_form_that_the_tutorial_draws_says_why_an_answer_was_not_sent(tmp_path: Path) -> None:
    async with web_application(tmp_path, "own-front-end.md") as origin, browser() as launched:
        page = await signed_in(launched, origin, "ann")
        await page.get_by_role("button", name="Book a table").click()
        await page.get_by_label("Your name").fill("Ann Lee")
        await page.get_by_label("Guests").fill("1,5")
        await page.context.set_offline(True)
        await page.get_by_role("button", name="Send").click()
        await page.get_by_role("alert").get_by_text("could not be reached").wait_for()
        await page.context.set_offline(False)
        await page.get_by_role("button", name="Send").click()
        await page.get_by_role("alert").get_by_text("guests: Enter a whole number.").wait_for()
        await page.get_by_role("button", name="Decline").click()
        declined = await result_of(page)

    assert declined["action"] == "decline"


CONTROLS = {
    "a number of spaces": ({"kind": "number"}, "  ", "  "),
    "a suggested text with two lines": ({"kind": "text", "default": "a\nb"}, None, "a\nb"),
    "a suggested list whose values have commas": (
        {"kind": "multichoice", "default": ["a, b", "c"]},
        None,
        ["a, b", "c"],
    ),
    "a list": ({"kind": "multichoice"}, "a\n\n b", ["a", "b"]),
    "no option of a required list": (
        {"kind": "multichoice", "required": True, "choices": [{"value": "a", "title": "A"}]},
        None,
        [],
    ),
}


@pytest.mark.parametrize("case", CONTROLS.values(), ids=CONTROLS)
async def test_the_controls_that_the_tutorial_draws_send_what_the_user_sees(
    case: tuple[Mapping[str, Any], str | None, Any], tmp_path: Path
) -> None:
    field, typed, sent = case
    async with browser() as launched:
        page = await launched.new_page()
        await page.set_content(FollowedPage("own-front-end.md", tmp_path).files["home.html"])
        await page.evaluate("field => { window.read = control(document.querySelector('main'), field) }", field)
        if typed is not None:
            await page.locator("input, textarea").fill(typed)

        assert await page.evaluate("read()") == sent


async def test_the_form_that_the_tutorial_draws_sends_fields_of_any_name(tmp_path: Path) -> None:
    entry = {
        "id": "e",
        "request": {
            "server": {"name": "s"},
            "message": "m",
            "form": {"fields": [{"kind": "text", "name": "__proto__", "title": "T"}]},
        },
        "warnings": [],
    }
    async with browser() as launched:
        page = await launched.new_page()
        await page.set_content(FollowedPage("own-front-end.md", tmp_path).files["home.html"])
        await page.evaluate(
            "entry => { send = (id, answer) => (window.sent = answer, {status: 404}); draw(entry) }", entry
        )
        await page.get_by_label("T").fill("x")
        await page.get_by_role("button", name="Send").click()

        assert await page.evaluate("JSON.stringify(sent.content)") == '{"__proto__":"x"}'


async def test_the_page_of_the_tutorial_follows_requests_over_broken_connections(tmp_path: Path) -> None:
    async with web_application(tmp_path, "own-front-end.md") as origin, browser() as launched:
        page = await signed_in(launched, origin, "ann")
        other = await page.context.new_page()
        broken = {"status": 200, "content_type": "text/event-stream", "body": "retry: 10\n\n"}
        await other.route("**/requests/events", lambda route: route.fulfill(**broken))
        await other.goto("/")
        await page.get_by_role("button", name="Book a table").click()
        await other.locator("form").wait_for()
        await page.get_by_role("button", name="Decline").click()
        await other.locator("form").wait_for(state="detached")
        refused = {"status": 502, "content_type": "text/html", "body": "Bad gateway"}
        await other.unroute("**/requests/events")
        await other.route("**/requests/events", lambda route: route.fulfill(**refused), times=1)
        await other.reload()
        await other.get_by_role("button", name="Book a table").click()
        await other.get_by_role("button", name="Decline").click()
        declined = await result_of(other)

    assert declined["action"] == "decline"


@pytest.mark.skipif(version("mcp").startswith("1.24."), reason="FastMCP of mcp 1.24 does not send this error")
async def test_a_url_is_visited_and_the_call_finished(tmp_path: Path) -> None:
    if shutil.which("tmux") is None or importlib.util.find_spec("prompt_toolkit") is None:
        skip_or_fail("tmux or the extra terminal is not installed")
    page = FollowedPage("urls.md", tmp_path)
    page.save(replaced=("8700", str(free_port())))
    opener, opened = recording_browser(tmp_path)

    variables = environment(page.environment(BROWSER=str(opener)))
    with window(page.command("python host.py"), variables, cwd=tmp_path) as pane:
        pane.sees("shop asks you to open 127.0.0.1", "Please pay 20 EUR.", "o Open")
        pane.confirms("o", leaves="d Decline   o Open")
        pane.sees("Press Enter to confirm")
        pane.confirms("Enter", leaves="Press Enter to confirm")
        pane.sees("f I have finished")
        url = (await until(lambda: words_of(opened)))[1]
        async with httpx.AsyncClient(trust_env=False) as client:
            assert "Paid" in (await client.get(url)).text
        pane.confirms("f", leaves="f I have finished")
        assert "Ordered and paid." in pane.sees("exit status 0")


def printed_result(output: str, prompt: str) -> Any:
    """Return the only text of the result that a program of the page printed after its last *prompt*."""
    (text,) = ast.literal_eval(output.rpartition(prompt)[2])
    return json.loads(text)


def test_a_ten_line_callback_is_replaced(tmp_path: Path) -> None:
    if shutil.which("tmux") is None or importlib.util.find_spec("prompt_toolkit") is None:
        skip_or_fail("tmux or the extra terminal is not installed")
    page = FollowedPage("migration.md", tmp_path)
    page.save()

    before = page.run("python before.py", typed=[*13 * [""], "y"])
    assert printed_result(before.stdout, "Send? [y/n] ")["content"]["guests"] == ""

    with window(page.command("python after.py"), environment(page.environment()), cwd=tmp_path) as pane:
        pane.sees("restaurant asks for 13 answers", "Ctrl+S Review")
        pane.sends("C-s", "Your answers will be sent to restaurant.")
        assert re.search(r'"guests":\s+2', pane.sees("exit status 0"))


def test_a_user_interface_is_kept_as_a_handler(tmp_path: Path) -> None:
    page = FollowedPage("migration.md", tmp_path)
    page.save()
    typed = ["Ann", "", "", "", "", "many", "3", *7 * [""], "send"]

    own = page.run("python own.py", typed=typed)

    assert "Enter a whole number." in own.stdout
    answer = printed_result(own.stdout, "decline or cancel: ")
    assert (answer["action"], answer["content"]["name"], answer["content"]["guests"]) == ("accept", "Ann", 3)


def test_a_callback_is_checked(tmp_path: Path) -> None:
    page = FollowedPage("check.md", tmp_path)
    page.save()

    checked = page.run("mcp-elicit check host:callback", *ONLY)

    assert "FAIL integer-stays-integer" in page.text
    assert "FAIL integer-stays-integer" in checked.stdout
    assert "1 pass" in checked.stdout  # a decline is a decline
    assert checked.returncode == 1


ONLY = ["--only", "integer-stays-integer", "--only", "form-decline-is-decline"]


def test_a_language_is_added(tmp_path: Path) -> None:
    if shutil.which("tmux") is None or importlib.util.find_spec("babel") is None:
        skip_or_fail("tmux or the extra languages is not installed")
    for name in ("mcp_elicit_client", "tools", "tests", "fixtures"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "conftest.py"):
        shutil.copy(ROOT / name, tmp_path)
    page = FollowedPage("languages.md", tmp_path)
    checkout = {"PYTHONPATH": str(tmp_path)}
    file = tmp_path / "mcp_elicit_client/presentation/locales/pt/LC_MESSAGES/mcp_elicit_client.po"
    assert str(file.relative_to(tmp_path)) in page.text

    listed = page.run("python -m tools.messages", **checkout).stdout.splitlines()
    file.write_bytes(translated(file.read_bytes(), example_in(page.text)))
    again = page.run("python -m tools.messages", **checkout)
    tests = page.run("nox -s quick", "-q", "-k", "pt", "-p", "no:cacheprovider", **checkout)

    assert len(listed) > 400
    assert (again.stdout, again.returncode) == ("", 0)
    assert tests.returncode == 0, tests.stdout
    variables = environment(page.environment(**checkout))
    with window(page.command("mcp-elicit --language pt"), variables, cwd=tmp_path) as pane:
        pane.sees("pede 13 respostas")


def example_in(text: str) -> dict[str, Any]:
    """Return the translations that the page shows, by their English text."""
    from babel.messages.pofile import read_po

    (shown,) = re.findall(r"```po\n(.*?)```", text, re.DOTALL)
    return {each.id[0]: each.string for each in read_po(io.StringIO(inspect.cleandoc(shown))) if each.id}


def translated(source: bytes, examples: Mapping[str, Any]) -> bytes:
    """
    Return *source* with a translation for each message: those of *examples*, the rest in English.

    Versions of Babel differ in the number of plural forms: the last one is repeated.
    """
    from babel.messages.pofile import read_po, write_po

    catalog = read_po(io.BytesIO(source))
    for message in catalog:
        if isinstance(message.id, str):
            message.string = message.id
        else:
            forms = examples.get(message.id[0], message.id)
            message.string = (*forms, *(catalog.num_plurals - len(forms)) * forms[-1:])
    written = io.BytesIO()
    write_po(written, catalog)
    return written.getvalue()


async def words_of(file: Path) -> list[str]:
    """Return the words in *file*, none if it does not exist."""
    return file.read_text(encoding="utf-8").split() if file.exists() else []
