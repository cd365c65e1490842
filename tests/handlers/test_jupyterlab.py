"""`NotebookHandler` in a real JupyterLab: the widget of the newest ipykernel, and the page of ipykernel 6."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from mcp_elicit_client.demo.server import REQUESTS
from tests.support import ROOT
from tests.support.chromium import IN_A_BROWSER, browser, picture
from tests.support.jupyterlab import JupyterLab, command, jupyterlab, open_notebook, run_cell
from tests.support.notebooks import skip_unless_wanted

pytestmark = IN_A_BROWSER

OLD = "ELICIT_IPYKERNEL_6"
"""The variable with the directory of ipykernel 6."""

NEWEST, FRAME = "python3", "ipykernel6"
KERNELS = pytest.mark.parametrize("kernel", [NEWEST, FRAME])
FIRST_CELL = (ROOT / "docs" / "notebook.md").read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JupyterLab]:
    with jupyterlab(tmp_path_factory.mktemp("lab")) as started:
        if OLD in os.environ:
            started.add_kernel(FRAME, os.environ[OLD])
        yield started


@asynccontextmanager
async def asked(
    lab: JupyterLab, kernel: str, tool: str, *, has_clock: bool = False, is_dark: bool = False
) -> AsyncIterator[tuple[Any, Any, str]]:
    """Provide the page of JupyterLab, maybe with a clock or dark, the form below a cell, and the notebook's name."""
    if kernel == FRAME and OLD not in os.environ:
        skip_unless_wanted("ipykernel 6")
    name = f"{kernel}-{tool}.ipynb"
    async with browser() as launched:
        page = await launched.new_page(locale="en-US", viewport={"width": 1000, "height": 1200})
        if has_clock:
            await page.clock.install()
        await open_notebook(page, lab.notebook(name, f"{FIRST_CELL}\nprint(await call({tool!r}))", kernel))
        if is_dark:
            await command(page, "apputils:change-theme", theme="JupyterLab Dark")
            await page.locator("body[data-jp-theme-light=false]").wait_for(state="attached")
        await run_cell(page)
        form = page.locator("mcp-elicitation") if kernel == NEWEST else page.frame_locator(".jp-OutputArea iframe")
        await form.get_by_role("heading", name="restaurant asks").wait_for()
        yield page, form, name


async def result(page: Any, lab: JupyterLab, name: str, outcome: str) -> Any:
    """Wait for the end, save the notebook and return what its cell printed."""
    sentence = f"Request from restaurant: {outcome}"
    await page.get_by_text(sentence).wait_for()
    await page.locator(".jp-OutputArea-output", has_text='"action"').wait_for()
    await page.keyboard.press("Control+s")
    while not (outputs := json.loads(text := lab.saved(name))["cells"][0]["outputs"]):
        await page.wait_for_timeout(100)
    assert outputs[0]["data"] == {"text/plain": [sentence]}
    assert "127.0.0.1" not in text  # neither a page nor its token
    return json.loads("".join(outputs[1]["text"]))


async def show(page: Any, name: str, height: int) -> None:
    """Take a picture of the form below its cell for the documentation, if that is wanted."""
    size = page.viewport_size
    await page.set_viewport_size({"width": 900, "height": height})
    await page.locator(".jp-OutputArea").first.evaluate("each => each.scrollIntoView({block: 'start'})")
    await page.mouse.move(450, 450)
    await page.mouse.wheel(0, -40)  # The end of the cell is seen above the form.
    await picture(page, f"notebook-{name}")
    await page.set_viewport_size(size)


async def fits(page: Any, form: Any) -> bool:
    """Return True if the frame is as high as its content."""
    height = await page.locator(".jp-OutputArea iframe").evaluate("each => each.clientHeight")
    bottom = await form.locator("main").evaluate("each => each.getBoundingClientRect().bottom + scrollY")
    return bool(0 <= height - bottom <= 48)


async def press(form: Any, name: str) -> None:
    """Press a button that ignores clicks at first."""
    await form.locator("[data-awake]").first.wait_for()
    await form.get_by_role("button", name=name).click()


@KERNELS
async def test_a_form_with_13_fields_is_answered_below_its_cell(lab: JupyterLab, kernel: str) -> None:
    assert len(REQUESTS["book_table"]["requestedSchema"]["properties"]) == 13
    async with asked(lab, kernel, "book_table") as (page, form, name):
        if kernel == NEWEST:
            await show(page, "form", 900)
        await form.get_by_label("Your name").fill("")
        await form.get_by_label("Your name").press_sequentially("dd abm 1 Ann")  # commands of a notebook
        assert await page.locator(".jp-Cell").count() == 2
        await form.get_by_label("E-mail").fill("ann@")
        await form.get_by_label("Guests").fill("4")
        await form.get_by_role("button", name="Review").click()
        await form.locator(".summary").wait_for()
        await form.get_by_label("E-mail").fill("ann@example.com")
        await form.get_by_role("button", name="Review").click()
        await form.locator("dl.answers").wait_for()
        await press(form, "Send")
        answer = await result(page, lab, name, "accepted")

    content = answer["content"]
    assert answer["action"] == "accept"
    assert (content["name"], content["email"], content["guests"]) == ("dd abm 1 Ann", "ann@example.com", 4)


@pytest.mark.parametrize(("action", "outcome"), [("decline", "declined"), ("cancel", "cancelled")])
async def test_a_request_is_declined_or_cancelled_below_its_cell(lab: JupyterLab, action: str, outcome: str) -> None:
    async with asked(lab, NEWEST, "confirm_booking") as (page, form, name):
        await form.locator(f"button[value={action}]").click()
        assert await result(page, lab, name, outcome) == {"action": action}


@KERNELS
async def test_a_url_is_linked_below_its_cell_only_after_consent(lab: JupyterLab, kernel: str) -> None:
    async with asked(lab, kernel, "pay_deposit", is_dark=kernel == NEWEST) as (page, form, name):
        if kernel == NEWEST:
            await show(page, "consent", 700)
        else:
            with anyio.fail_after(30):
                while not await fits(page, form):
                    await page.wait_for_timeout(50)
        assert await form.locator("a[target=_blank]").count() == 0
        await press(form, "Open example.com")
        link = form.locator("a.main[target=_blank]")
        await link.wait_for()
        assert await link.get_attribute("href") == REQUESTS["pay_deposit"]["url"]
        if kernel == NEWEST:
            await link.click()
            assert await result(page, lab, name, "accepted") == {"action": "accept"}


async def test_the_request_of_a_cleared_output_is_cancelled(lab: JupyterLab) -> None:
    async with asked(lab, NEWEST, "confirm_booking") as (page, _form, _name):
        await page.locator(".jp-CodeCell .jp-InputPrompt").first.click()
        await command(page, "notebook:clear-cell-output")
        await page.locator(".jp-OutputArea-output", has_text='{"action": "cancel"}').wait_for()


async def test_a_form_whose_kernel_was_restarted_says_that_there_is_no_connection(lab: JupyterLab) -> None:
    async with asked(lab, NEWEST, "confirm_booking", has_clock=True) as (page, form, _name):
        await command(page, "kernelmenu:restart")
        await page.get_by_role("button", name="Confirm Kernel Restart").click()
        await page.locator(".jp-InputPrompt", has_text="*").first.wait_for(state="detached")
        await form.locator("button[value=decline]").click()
        await page.clock.fast_forward(20_000)
        await form.locator(".is-lost", has_text="No connection.").wait_for()
