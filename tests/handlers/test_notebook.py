"""`NotebookHandler` in a real kernel, with a front end without a screen."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from mcp_elicit_client import parse_request
from mcp_elicit_client.handlers.notebook import NotebookHandler
from mcp_elicit_client.handlers.notebook.kernel import notebook_origins
from tests.support import ROOT, form_params
from tests.support.notebooks import FrontEnd, front_end, skip_unless_wanted

NAME = form_params(
    {
        "properties": {"name": {"type": "string", "title": "Your name", "minLength": 2}, "seats": {"type": "integer"}},
        "required": ["name"],
    },
    "Who?",
)
URL = {"mode": "url", "message": "Sign in", "url": "https://example.com/?state=xyzzy", "elicitationId": "e1"}
ASK = """
import json
from mcp_elicit_client import parse_request
from mcp_elicit_client.handlers.notebook import NotebookHandler

async def ask(params, **options):
    answer = await NotebookHandler(**options)(parse_request(params, server="restaurant"))
    print(json.dumps([answer.action, answer.by, answer.reason, answer.content]))
"""
UNATTENDED = ["cancel", "unattended", "there is no user to ask", None]


@pytest.fixture(scope="module")
def kernel() -> Iterator[FrontEnd]:
    with front_end() as started:
        started.result(started.run(ASK))
        yield started


@pytest.fixture
def front(kernel: FrontEnd) -> FrontEnd:
    """The front end, in a notebook without outputs."""
    kernel.outputs.clear()
    return kernel


def ask(front: FrontEnd, params: Any = NAME, options: str = "", **more: Any) -> str:
    """Start a cell that asks, and return its ID."""
    return front.run(f"await ask({params!r}, {options})", **more)


def answer(front: FrontEnd, cell: str) -> Any:
    """Return what the handler answered in a cell."""
    return json.loads(front.result(cell))


def saved(front: FrontEnd) -> list[str]:
    """Return the outputs as the notebook saves them, which are text only."""
    assert all(set(each.data) == {"text/plain"} for each in front.outputs.values())
    return [each.text for each in front.outputs.values()]


def test_a_form_is_corrected_reviewed_and_sent_while_its_cell_waits(front: FrontEnd) -> None:
    cell = ask(front)
    (model,) = front.widget()
    assert "restaurant asks for 2 answers" in front.fetch(model)["body"]
    wrong = front.submit(model, {"f0": "A", "f1": "7"}, "review")
    assert (wrong["status"], "Enter at least 2 characters." in wrong["body"]) == (200, True)
    front.accept(model, {"f0": "Ann", "f1": "7"})

    assert answer(front, cell) == ["accept", "user", "answered in the notebook", {"name": "Ann", "seats": 7}]
    assert saved(front) == ["Request from restaurant: accepted"]
    assert front.widgets == {}  # Nothing is left that could be saved with the state of widgets.


@pytest.mark.parametrize(("action", "said"), [("decline", "declined"), ("cancel", "cancelled")])
@pytest.mark.parametrize("params", [NAME, URL], ids=["form", "url"])
def test_a_request_is_declined_or_cancelled(front: FrontEnd, params: Any, action: str, said: str) -> None:
    cell = ask(front, params)
    (model,) = front.widget()
    front.press(model, {}, action)

    assert answer(front, cell)[:2] == [action, "user"]
    assert saved(front) == [f"Request from restaurant: {said}"]


def test_the_link_of_a_url_stays_until_the_user_has_opened_it_and_is_not_saved(front: FrontEnd) -> None:
    cell = ask(front, URL)
    (model,) = front.widget()
    assert "https://example.com/?state=xyzzy" not in re.findall('href="([^"]*)"', front.fetch(model)["body"])
    after = front.submit(model, {}, "accept")
    assert 'href="https://example.com/?state=xyzzy"' in after["body"]
    assert answer(front, cell)[:2] == ["accept", "user"]
    assert all("xyzzy" not in json.dumps(each.data) for each in front.outputs.values())

    front.send(model, kind="opened", view="v1")
    front.until(lambda: [each.text for each in front.outputs.values()] == ["Request from restaurant: accepted"])
    front.until(lambda: front.widgets == {})


def test_the_link_of_a_url_stays_for_a_time_after_the_event_loop_of_its_thread_has_ended(front: FrontEnd) -> None:
    front.result(
        front.run(
            "import asyncio, threading\n"
            "from mcp_elicit_client.handlers.notebook import handler\n"
            f"thread = threading.Thread(target=lambda: asyncio.run(ask({URL!r})))\n"
            "thread.start()"
        )
    )
    (model,) = front.widget()
    front.submit(model, {}, "accept")
    front.result(front.run("thread.join()"))
    assert model in front.widgets

    front.send(model, kind="opened", view="v1")
    front.until(lambda: [each.text for each in front.outputs.values()] == ["Request from restaurant: accepted"])
    front.until(lambda: front.widgets == {})


@pytest.mark.parametrize("params", [NAME, URL], ids=["form", "url"])
def test_nothing_is_shown_if_a_program_runs_the_notebook(front: FrontEnd, params: Any) -> None:
    assert answer(front, ask(front, params, has_user=False)) == UNATTENDED
    assert front.outputs == {}


def test_an_interrupted_cell_cancels_its_request(front: FrontEnd) -> None:
    cell = ask(front)
    front.widget()
    front.manager.interrupt_kernel()
    front.until(lambda: cell in front.errors)
    front.until(lambda: saved(front) == ["Request from restaurant: cancelled"])
    assert front.widgets == {}
    assert front.result(front.run("print(1)")) == "1\n"  # The kernel is free.


def test_an_interrupted_cell_cancels_the_request_of_a_session_of_another_cell(front: FrontEnd) -> None:
    front.result(front.run("import asyncio; go = asyncio.Event(); answers = []"))
    front.result(
        front.run(
            "async def later():\n"
            "    await go.wait()\n"
            f"    answers.append(await NotebookHandler()(parse_request({NAME!r}, server='restaurant')))\n"
            "task = asyncio.create_task(later())"
        )
    )
    cell = front.run("go.set()\nawait asyncio.Event().wait()")
    front.widget()
    assert [each.cell for each in front.outputs.values()] == [cell]  # not in the cell that started the task
    front.manager.interrupt_kernel()
    front.until(lambda: cell in front.errors)

    shown = front.result(front.run("await task\nprint(answers[0].action, answers[0].by, answers[0].reason)"))
    assert shown == "cancel user the cell was interrupted\n"
    assert saved(front) == ["Request from restaurant: cancelled"]


def test_an_interrupted_cell_keeps_the_request_of_an_earlier_one(front: FrontEnd) -> None:
    first = front.run(f"import asyncio\ntask = asyncio.create_task(ask({NAME!r}))")
    (model,) = front.widget()
    cell = front.run("print(1, flush=True)\nawait asyncio.Event().wait()")
    front.until(lambda: cell in front.printed)
    front.manager.interrupt_kernel()
    front.until(lambda: cell in front.errors)
    front.accept(model, {"f0": "Ann"})
    front.result(front.run("await task"))
    assert [(each.cell, each.text) for each in front.outputs.values()] == [(first, "Request from restaurant: accepted")]


def test_a_withdrawn_request_disappears(front: FrontEnd) -> None:
    front.result(front.run(f"import asyncio\ntask = asyncio.create_task(ask({NAME!r}))"))
    front.widget()
    front.result(front.run("task.cancel()"))
    front.until(lambda: [each.text for each in front.outputs.values()] == ["Request from restaurant: withdrawn"])


def test_a_removed_output_cancels_the_request_unless_it_is_drawn_again(front: FrontEnd) -> None:
    cell = ask(front)
    (model,) = front.widget()
    front.send(model, kind="removed", view="v1")
    front.send(model, kind="shown", view="v2")
    front.fetch(model)
    front.send(model, kind="removed", view="v2")

    assert answer(front, cell) == ["cancel", "unattended", "the output was removed", None]


def test_two_requests_at_a_time_have_an_output_each(front: FrontEnd) -> None:
    cell = front.run(f"import asyncio; await asyncio.gather(ask({NAME!r}), ask({URL!r}))")
    models = front.widget(2)
    for model in models:
        front.press(model, {}, "decline")
    front.result(cell)
    assert saved(front) == ["Request from restaurant: declined"] * 2


def test_what_was_entered_comes_back_with_the_same_request(front: FrontEnd) -> None:
    cell = ask(front)
    (model,) = front.widget()
    front.submit(model, {"f0": "Ann of the draft"}, "check")
    front.send(model, kind="removed", view="v1")
    assert answer(front, cell)[0] == "cancel"
    front.outputs.clear()

    cell = ask(front)
    (model,) = front.widget()
    assert "Ann of the draft" in front.fetch(model)["body"]
    front.press(model, {}, "cancel")
    front.result(cell)


BAD = {
    "another method": {"method": "DELETE"},
    "the event stream": {"path": "/events"},
    "a number as the path": {"path": 7},
    "another host": {"path": "//example.com/"},
    "control characters": {"path": "/\r\n\r\nGET / HTTP/1.1"},
}


@pytest.mark.parametrize("changes", BAD.values(), ids=BAD)
def test_messages_that_the_widget_does_not_send_change_nothing(front: FrontEnd, changes: dict[str, Any]) -> None:
    cell = ask(front)
    (model,) = front.widget()
    assert front.fetch(model, **changes)["status"] in (400, 404, 405)
    front.send(model, kind=["request"])
    front.press(model, {}, "decline")
    assert answer(front, cell)[0] == "decline"


def test_the_expiry_is_shown(front: FrontEnd) -> None:
    cell = ask(front, options="answer_timeout=1")
    front.widget()
    assert answer(front, cell)[:2] == ["cancel", "timeout"]
    assert saved(front) == ["Request from restaurant: expired"]


ORIGIN = "http://localhost:8888"
FRAME = {"sec-fetch-dest": "iframe", "sec-fetch-mode": "navigate", "sec-fetch-site": "cross-site"}


def framed(front: FrontEnd) -> str:
    """Wait for the frame and return the URL of its page."""
    front.until(lambda: any("text/html" in each.data for each in front.outputs.values()))
    (output,) = front.outputs.values()
    (url,) = re.findall('src="([^"]+)"', output.data["text/html"])
    return str(url)


def answer_on_page(url: str, client: httpx.Client, **headers: str) -> httpx.Response:
    """Open a page and decline."""
    entered = client.get(url, headers=headers)
    assert entered.status_code == 200
    base = url.rpartition("/")[0]
    path = re.findall('href="([^"]+)"', entered.text)[0]
    shown = client.get(f"{base}/{path}", headers={"accept": "text/html"})
    client.post(f"{base}/{path}", data={"action": "decline"}, headers={"accept": "text/html", "origin": base})
    return shown


def test_only_the_notebook_shows_the_page_in_a_frame(front: FrontEnd) -> None:
    cell = ask(front, options=f"form='page', origin={ORIGIN!r}")
    url = framed(front)
    with httpx.Client() as client:
        for other in ("http://localhost:8889/", "https://evil.example/", "https://[", ""):
            # The token stays valid for the notebook.
            assert client.get(url, headers={**FRAME, "referer": other}).status_code == 404
        shown = answer_on_page(url, client, **FRAME, referer=f"{ORIGIN}/")
    assert answer(front, cell)[:2] == ["decline", "user"]
    policy = shown.headers["content-security-policy"]
    assert re.findall("frame-ancestors [^;]+", policy) == [f"frame-ancestors {ORIGIN}"]
    assert "x-frame-options" not in shown.headers
    assert saved(front) == ["Request from restaurant: declined"]


def test_without_a_known_origin_the_url_of_the_page_is_shown_and_no_frame_takes_it(front: FrontEnd) -> None:
    cell = ask(front, options="form='page'")
    front.until(lambda: front.outputs)
    (output,) = front.outputs.values()
    (url,) = re.findall(r"http://127\.0\.0\.1:\d+/\S+", output.text)
    with httpx.Client() as client:
        assert client.get(url, headers={**FRAME, "referer": f"{ORIGIN}/"}).status_code == 404
        shown = answer_on_page(url, client)
    assert shown.headers["x-frame-options"] == "DENY"
    assert answer(front, cell)[:2] == ["decline", "user"]
    assert saved(front) == ["Request from restaurant: declined"]


def test_a_front_end_that_shows_no_widget_gets_the_page() -> None:
    with front_end() as front:
        front.result(front.run(ASK))
        for _ in range(2):  # The second time, the page is shown at once.
            front.outputs.clear()
            cell = ask(front, options=f"origin={ORIGIN!r}")
            url = framed(front)
            with httpx.Client() as client:
                answer_on_page(url, client, **FRAME, referer=f"{ORIGIN}/")
            assert answer(front, cell)[:2] == ["decline", "user"]
            assert saved(front) == ["Request from restaurant: declined"]


def test_a_notice_is_shown_in_the_current_cell(front: FrontEnd) -> None:
    cell = front.run(
        "from mcp_elicit_client.core.notice import Notice\n"
        f"request = parse_request({NAME!r}, server='restaurant')\n"
        "await NotebookHandler().notify(Notice(request=request, policy='rate_limit', reason='rate limit'))"
    )
    front.result(cell)
    (output,) = front.outputs.values()
    assert output.cell == cell
    assert "restaurant" in output.text


@pytest.mark.anyio
async def test_outside_of_a_kernel_the_request_is_cancelled() -> None:
    given = await NotebookHandler()(parse_request(NAME, server="restaurant"))
    assert [given.action, given.by, given.reason, given.content] == UNATTENDED


@pytest.mark.parametrize(
    "origin",
    ["localhost:8888", "http://localhost:8888/", "file:///x", "http://a b", "http://a; script-src *", "http://*", ""],
)
def test_what_is_not_an_origin_is_refused(origin: str) -> None:
    with pytest.raises(ValueError, match="origin"):
        NotebookHandler(origin=origin)


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(ValueError, match="form"):
        NotebookHandler(form="frame")  # type: ignore[arg-type]


SERVERS: dict[str, tuple[str, list[str]]] = {
    '{"url": "http://localhost:8888/", "hostname": "localhost"}': (
        "local",
        ["http://localhost:8888", "http://127.0.0.1:8888"],
    ),
    '{"url": "https://localhost:8888/hub/", "hostname": "0.0.0.0"}': (
        "all addresses",
        ["https://localhost:8888", "https://127.0.0.1:8888"],
    ),
    '{"url": "http://10.0.0.7:8888/", "hostname": "10.0.0.7"}': ("another computer", []),
    '{"url": "http://[", "hostname": "localhost"}': ("no URL", []),
    '{"url": 7}': ("another type", []),
    "[]": ("a list", []),
    "{": ("no JSON", []),
}


@pytest.mark.parametrize(("text", "origins"), [(text, found) for text, (_, found) in SERVERS.items()])
def test_the_origin_is_that_of_the_server_that_started_the_kernel(
    text: str, origins: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("jupyter_core")
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    assert notebook_origins() == ()
    (tmp_path / f"jpserver-{os.getppid()}.json").write_text(text, encoding="utf-8")
    assert list(notebook_origins()) == origins


def test_the_texts_can_be_in_another_language(front: FrontEnd) -> None:
    cell = front.run(
        "from mcp_elicit_client.presentation.catalog import MessageCatalog\n"
        f"await ask({NAME!r}, messages=MessageCatalog.for_language('de'))"
    )
    (model,) = front.widget()
    assert "Ablehnen" in front.fetch(model)["body"]
    front.press(model, {}, "decline")
    front.result(cell)
    assert saved(front) == ["Anfrage von restaurant: abgelehnt"]


def test_the_programs_of_the_guide_run_in_a_kernel(front: FrontEnd) -> None:
    guide = (ROOT / "docs" / "notebook.md").read_text(encoding="utf-8")
    first, call, _, hold, hold_open = re.findall("```py(?:thon)?\n(.+?)```", guide, re.DOTALL)
    front.result(front.run(first))
    in_one_cell = front.run(f"print({call.strip()})")
    (model,) = front.widget()
    front.press(model, {}, "decline")
    assert json.loads(front.result(in_one_cell)) == {"action": "decline"}

    front.result(front.run(hold))
    front.result(front.run(hold_open))
    front.outputs.clear()
    cell = front.run("result = await session.call_tool('book_table', {})\nprint(result.content[0].text)")
    (model,) = front.widget()
    assert [each.cell for each in front.outputs.values()] == [cell]
    front.press(model, {}, "decline")
    assert json.loads(front.result(cell)) == {"action": "decline"}
    front.result(front.run("task.cancel()\nawait asyncio.wait([task])"))


def test_nbclient_runs_a_notebook_that_asks() -> None:
    try:
        import nbclient
        import nbformat
    except ImportError:
        skip_unless_wanted("nbclient")
    v4: Any = nbformat.v4
    notebook = v4.new_notebook(cells=[v4.new_code_cell(f"{ASK}\nawait ask({NAME!r})")])
    nbclient.NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(ROOT)}}).execute()
    (output,) = notebook.cells[0].outputs
    assert json.loads(output.text) == UNATTENDED
