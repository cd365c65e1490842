"""The adapters for other libraries: in all that are installed here, against real servers, and by themselves."""

from __future__ import annotations

import asyncio
import importlib.metadata
import json
import logging
import os
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import types
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mcp.types
import pytest
from packaging.requirements import Requirement

from mcp_elicit_client import Answer, ElicitationRegistry, FormRequest, Limits
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.calls._connect import Command
from mcp_elicit_client.dispatch import Dispatcher, apply_policy, options_for
from mcp_elicit_client.exceptions import CallTimeoutError
from mcp_elicit_client.hosts._session_proxy import wrap_session
from mcp_elicit_client.hosts.langchain import _on_elicitation
from mcp_elicit_client.hosts.langchain_mcp import answer_interrupt, is_elicitation
from mcp_elicit_client.hosts.mcp_agent import elicitation_callback as of_mcp_agent
from mcp_elicit_client.hosts.mcp_use import with_handler
from mcp_elicit_client.hosts.strands import elicitation_callback as of_strands
from mcp_elicit_client.hosts.strands import run_in_loop
from mcp_elicit_client.request_options import RequestOptions
from mcp_elicit_client.sdk.callback import SdkDispatcher, elicitation_callback
from mcp_elicit_client.typing import Handler, Notice, Request
from tests.compatibility import matrix, measuring, table
from tests.compatibility.judging import EXPECTED, cells
from tests.compatibility.measuring import Call, Servers
from tests.compatibility.texts import own_session, text_of
from tests.support import ROOT, VISITOR, form_params, until
from tests.support.plain import plain

ROWS = json.loads((ROOT / "tests" / "compatibility" / "rows.json").read_text(encoding="utf-8"))
NAMED = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
HOSTS = "".join(page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs" / "hosts").glob("*.md")))
HOSTS += (ROOT / "docs" / "hosts.md").read_text(encoding="utf-8")


pytestmark = pytest.mark.event_loops("asyncio")


WANTED = set(filter(None, os.environ.get("ELICIT_HOSTS", "").split(",")))
"""The distributions that this session is for; empty for all that are installed."""


def is_installed(row: dict[str, Any]) -> bool:
    for each in map(Requirement, row["requirements"]):
        try:
            version = importlib.metadata.version(each.name)
        except importlib.metadata.PackageNotFoundError:
            return False
        if not each.specifier.contains(version, prereleases=True):
            return False
    return True


HERE = [row for row in ROWS if is_installed(row) and matrix.distribution(row) in (WANTED or {matrix.distribution(row)})]
"""The rows that are measured with what is installed."""


def run(*arguments: str) -> str:
    environment = {**os.environ, **matrix.QUIET}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=True
    ).stdout


@pytest.mark.parametrize("row", HERE, ids=[row["title"] for row in HERE])
def test_the_server_gets_the_answer_and_the_handler_gets_the_server_name(row: dict[str, Any]) -> None:
    out = run("-m", "tests.compatibility.measuring", row["module"], matrix.distribution(row), "--quick")
    report = json.loads(out.splitlines()[-1])

    assert matrix.wrong({**row, "report": report}) == []
    assert len(list(cells(report))) >= len(EXPECTED)


@pytest.mark.parametrize("row", [row for row in HERE if "example" in row], ids=lambda row: str(row["title"]))
def test_the_quickstart_runs(row: dict[str, Any]) -> None:
    assert matrix.BOOKED.search(run(str(ROOT / "examples" / f"{row['example']}.py")))


def test_the_distributions_of_this_session_are_installed() -> None:
    assert (WANTED or {"mcp"}) <= {matrix.distribution(row) for row in HERE}


# --- the measurement


class Wrong:
    """A library that is used with a handwritten callback."""

    def __init__(self, callback: Any) -> None:
        self.callback = callback

    @asynccontextmanager
    async def connected(self, handler: Handler, servers: Servers) -> AsyncIterator[Call]:
        answers = elicitation_callback(handler, server="other")

        async def callback(context: Any, params: Any) -> Any:
            return await self.callback(lambda: answers(context, params))

        with tempfile.TemporaryFile("w+") as errlog:
            async with AsyncExitStack() as stack:
                clients = {
                    name: await stack.enter_async_context(plain(Command(command, errlog), callback))
                    for name, command in servers.items()
                }

                async def call(server: str, tool: str) -> str:
                    return str(await clients[server].call_tool(tool, {}))

                yield call


async def accepts_everything(_answer: Any) -> Any:
    return mcp.types.ElicitResult(action="accept", content={"name": "Ann"})


async def raises_what_it_knows(answer: Any) -> Any:
    result = await answer()
    if result.action == "cancel":
        raise RuntimeError(measuring.SECRET)
    return result


FAULTS = [
    (
        accepts_everything,
        {"form decline", "form cancel", "form raise", "url accept", "url decline", "url raise", "name"},
    ),
    (raises_what_it_knows, {"form cancel", "form raise", "url cancel", "url raise", "name"}),
]


@pytest.mark.anyio
@pytest.mark.parametrize(("callback", "faults"), FAULTS)
async def test_a_wrong_callback_is_detected(callback: Any, faults: set[str]) -> None:
    pushes = await measuring.measure(Wrong(callback), "--legacy", think=False)

    bad = {cell.name for cell in cells({"push": pushes}) if not cell.good}
    assert faults <= bad


def test_a_row_with_a_limitation_is_wrong_once_it_is_gone() -> None:
    good = {**EXPECTED, "-32042": "asked, done", "rounds": [False]}
    row = {"title": "x", "cannot": {"push": "it cannot"}, "report": {"push": good, "rounds": None}}

    assert matrix.wrong(row) == ["push: it can, though a row says that it cannot"]
    assert matrix.wrong({**row, "cannot": {}}) == []
    assert matrix.wrong({**row, "cannot": {}, "example_runs": False}) == ["the example did not print the booking"]
    assert matrix.wrong({"title": "x", "error": "does not install here: no"}) == ["does not install here: no"]


def test_the_table_matches_the_measurements() -> None:
    found = {**EXPECTED, "form decline": {"action": "accept"}, "-32042": "text with the URL", "rounds": [False]}
    report = {"library": "1.0", "mcp": "1.30.0", "python": "3.11", "push": found, "rounds": None}
    page = table.page(
        [{"title": "a library", "report": report}, {"title": "another", "error": "does not install here: no"}]
    )

    cannot = {
        "title": "c",
        "cannot": {"push": "it cannot"},
        "report": report,
        "example_runs": True,
        "types": ["a fault"],
    }
    lines = table.page([cannot]).splitlines()
    excused = next(line for line in lines if line.startswith("| c |"))
    assert excused.count("|") == next(line for line in lines if line.startswith("| library")).count("|")
    assert excused.endswith(" | \u2713 | **no** |")
    row = next(line for line in page.splitlines() if line.startswith("| a library"))
    assert row.count("\u2713") == 9
    assert row.count("**no**") == 1
    assert "text for the model, with the URL" in row
    assert "does not install here: no" in page
    assert "12 cells: 11 as they must be, 0 that the library cannot, 1 wrong" in page


def test_a_row_that_was_not_measured_says_what_was_tested() -> None:
    row: dict[str, Any] = {
        "title": "d",
        "versions": {"library": "1.2", "mcp": "2.3"},
        "note": "only its tests",
        "types": [],
    }
    lines = table.page([row]).splitlines()
    shown = [line for line in lines if line.startswith("| d |")]
    assert len(shown) == 1  # only in the first table
    assert shown[0].startswith("| d | 1.2 | 2.3 | only its tests |")
    assert shown[0].endswith("| | \u2713 |")
    assert shown[0].count("|") == next(line for line in lines if line.startswith("| library")).count("|")
    failed = table.page([{**row, "error": "2 failed"}])
    assert "| d | | | 2 failed |" in failed
    assert matrix.wrong(row) == []
    assert matrix.wrong({**row, "types": ["a fault"]}) == ["a fault"]
    assert matrix.wrong({**row, "error": "2 failed"}) == ["2 failed"]


def test_the_page_lists_every_library_correctly() -> None:
    page = (ROOT / "docs" / "compatibility.md").read_text(encoding="utf-8")

    assert [row["title"] for row in ROWS if f"\n| {row['title']} |" not in page] == []
    assert "**no**" not in page


# --- adapters without their libraries


def test_an_adapter_loads_no_library_before_it_is_used() -> None:
    modules = {path.stem for path in (ROOT / "mcp_elicit_client" / "hosts").glob("[a-z]*.py")}
    modules -= {"ag2", "ag_ui", "openai_agents"}  # they derive from classes of their libraries
    libraries = ["agents", "autogen_core", "fastmcp", "google", "langchain", "langchain_mcp_adapters", "mcp_use"]
    libraries += ["langgraph", "llama_index", "mcp_agent", "pydantic_ai", "semantic_kernel", "strands"]
    code = "; ".join(["import sys", *(f"import mcp_elicit_client.hosts.{name}" for name in sorted(modules))])

    out = run("-c", f"{code}; print(sorted(set({libraries}) & {{name.partition('.')[0] for name in sys.modules}}))")

    assert out.strip() == "[]"


def asking(**more: Any) -> dict[str, Any]:
    return {"mode": "form", **form_params(NAMED), **more}


class Asked:
    """A handler that accepts, and remembers."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.threads: list[threading.Thread] = []

    async def __call__(self, request: Request, /) -> Answer:
        self.requests.append(request)
        self.threads.append(threading.current_thread())
        return Answer.accept({"name": "Ann"}, by="user")


def test_the_options_of_a_registry_apply_unless_others_are_passed() -> None:
    registry = ElicitationRegistry(limits=Limits(max_message=10))

    assert options_for(registry, None) is registry.request_options
    assert options_for(Caller(registry, "mail").handler, None) is registry.request_options
    assert options_for(registry, other := RequestOptions()) is other
    assert options_for(Asked(), None) == RequestOptions()


@pytest.mark.anyio
async def test_langchain_passes_the_names_of_server_and_tool() -> None:
    asked = Asked()
    context: Any = SimpleNamespace(server_name="mail", tool_name="send")
    params: Any = asking()

    result = await _on_elicitation(SdkDispatcher(asked))(None, params, context)

    assert (result.action, result.content) == ("accept", {"name": "Ann"})
    assert (asked.requests[0].server.name, asked.requests[0].tool) == ("mail", "send")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("mail", "mail"),
        (None, "a server that the application did not name"),
        ("", "a server that the application did not name"),
    ],
)
async def test_mcp_agent_passes_the_server_name(name: str | None, shown: str) -> None:
    asked = Asked()

    class Params(mcp.types.ElicitRequestFormParams):
        server_name: str | None = None

    params: Any = Params.model_validate(asking(server_name=name))
    result = await of_mcp_agent(asked)(params)

    assert isinstance(result, mcp.types.ElicitResult)
    assert result.action == "accept"
    assert asked.requests[0].server.name == shown


@pytest.mark.anyio
async def test_a_second_handler_of_mcp_use_replaces_the_first() -> None:
    first, second = Asked(), Asked()

    async def create_session(_server_name: str, _auto_initialize: bool) -> None:
        await client.elicitation_callback(None, asking())

    client: Any = SimpleNamespace(create_session=create_session)
    with_handler(with_handler(client, first), second)
    await client.create_session("mail")

    assert first.requests == []
    assert [request.server.name for request in second.requests] == ["mail"]


@pytest.mark.anyio
@pytest.mark.parametrize("method", ["list_resources", "list_resource_templates"])
async def test_the_openai_agents_sdk_lists_pages_of_a_session(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Server:
        def __init__(self, **_options: object) -> None:
            pass

    monkeypatch.setitem(sys.modules, "agents", types.ModuleType("agents"))
    library: Any = types.ModuleType("agents.mcp")
    library.MCPServer = Server
    monkeypatch.setitem(sys.modules, "agents.mcp", library)
    monkeypatch.delitem(sys.modules, "mcp_elicit_client.hosts.openai_agents", raising=False)
    made: Any = importlib.import_module("mcp_elicit_client.hosts.openai_agents").ElicitingMCPServer
    monkeypatch.delitem(sys.modules, "mcp_elicit_client.hosts.openai_agents")

    async def page(*, params: Any) -> str:
        return f"page {params.cursor}"

    session = SimpleNamespace(list_resources=page, list_resource_templates=page)
    server = made(Caller(Asked(), "mail"), lambda: nullcontext(session))
    async with server:
        listed = await getattr(server, method)("2")

    assert listed == "page 2"


def interrupt(*requests: dict[str, Any]) -> dict[str, Any]:
    return {"type": "mcp_elicitation", "tool_name": "book", "requests": list(requests)}


FORM = {"key": "a", "mode": "form", "message": "Who?", "requested_schema": NAMED}
VISIT = {"key": "b", "mode": "url", "message": "Sign in", "url": "https://login.example.com/"}
UNSAFE = {**VISIT, "key": "c", "url": "javascript:alert(1)"}


@pytest.mark.anyio
async def test_the_requests_of_an_interrupt_are_answered_one_by_one() -> None:
    asked = Asked()

    resume: Any = await answer_interrupt(asked, interrupt(FORM, VISIT, UNSAFE), server="mail")

    answers = {
        "a": {"action": "accept", "content": {"name": "Ann"}},
        "b": {"action": "accept"},
        "c": {"action": "cancel"},
    }
    assert resume == {"responses": answers}
    assert [request.mode for request in asked.requests] == ["form", "url"]
    assert {(request.server.name, request.tool, request.protocol_version) for request in asked.requests} == {
        ("mail", "book", "2026-07-28")
    }
    assert [
        request.batch_position and (request.batch_position.number, request.batch_position.total)
        for request in asked.requests
    ] == [(1, 3), (2, 3)]


@pytest.mark.anyio
async def test_at_most_sixteen_requests_of_an_interrupt_are_answered() -> None:
    asked = Asked()

    resume: Any = await answer_interrupt(
        asked, interrupt(*({**FORM, "key": str(at)} for at in range(40))), server="mail"
    )

    assert len(asked.requests) == 16
    assert len(resume["responses"]) == 40
    assert resume["responses"]["39"] == {"action": "cancel"}


@pytest.mark.anyio
@pytest.mark.parametrize(
    "value",
    [
        None,
        "approve?",
        {},
        {"type": "other", "requests": []},
        {"type": "mcp_elicitation"},
        interrupt({"mode": "form"}),
        {"type": "mcp_elicitation", "requests": ["a"]},
    ],
)
async def test_another_kind_of_interrupt_is_an_error(value: Any) -> None:
    assert not is_elicitation(value)
    with pytest.raises(ValueError, match="not that of an interrupt"):
        await answer_interrupt(Asked(), value, server="mail")


def elsewhere(question: Any) -> Any:
    """Run a coroutine in an event loop of another thread, as some libraries do."""
    return asyncio.to_thread(asyncio.run, question)


def form_request() -> FormRequest:
    from mcp_elicit_client import parse_request

    request = parse_request(asking())
    assert isinstance(request, FormRequest)
    return request


@pytest.mark.anyio
async def test_a_handler_runs_in_the_event_loop_of_the_host() -> None:
    asked = Asked()
    params: Any = asking()
    there, here = (
        of_strands(asked, server="mail"),
        of_strands(asked, server="mail", loop=asyncio.get_running_loop()),
    )

    results = [await elsewhere(there(None, params)), await elsewhere(here(None, params)), await here(None, params)]

    assert [result.action for result in results] == ["accept"] * 3
    main = threading.current_thread()
    assert [thread is main for thread in asked.threads] == [False, True, True]


@pytest.mark.anyio
async def test_a_request_that_is_withdrawn_in_another_loop_cancels_the_handler() -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def thinks(_request: Request) -> Answer:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    ask = run_in_loop(thinks, loop := asyncio.get_running_loop())

    async def withdraw() -> bool:
        asking = asyncio.ensure_future(ask(form_request()))
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(began.wait(), loop))
        asking.cancel()
        await asyncio.wait({asking})
        return asking.cancelled()

    assert await elsewhere(withdraw())
    await asyncio.wait_for(ended.wait(), 5)


def test_a_handler_in_another_loop_has_the_limits_and_modes_of_its_registry() -> None:
    registry = ElicitationRegistry()
    registry.on_elicitation(mode="form")(Asked())
    loop = asyncio.new_event_loop()
    in_loop = Dispatcher(run_in_loop(registry, loop))
    loop.close()

    assert in_loop.admission is Dispatcher(registry).admission
    assert in_loop.handler.modes == {"form"}


@pytest.mark.anyio
async def test_an_exception_in_another_loop_is_a_cancel(caplog: pytest.LogCaptureFixture) -> None:
    async def fails(_request: Request) -> Answer:
        raise RuntimeError(measuring.SECRET)

    params: Any = asking()
    with caplog.at_level(logging.ERROR):
        result = await elsewhere(of_strands(fails, server="mail", loop=asyncio.get_running_loop())(None, params))

    assert result.action == "cancel"
    assert measuring.SECRET in caplog.text


@pytest.mark.anyio
async def test_a_notice_that_cannot_be_shown_in_another_loop_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    class Fails(Asked):
        async def notify(self, _notice: Notice) -> None:
            raise RuntimeError(measuring.SECRET)

    async def decline(_request: Request, _ask: object) -> Answer:
        return Answer.decline(by="policy", policy="a rule")

    handler = apply_policy(Fails(), decline)
    callback = of_strands(handler, server="mail", loop=asyncio.get_running_loop())
    params: Any = asking()

    async def ask() -> Any:
        result = await callback(None, params)
        await until(lambda: "could not be shown" in caplog.text)
        return result

    with caplog.at_level(logging.ERROR):
        result = await elsewhere(ask())

    assert result.action == "decline"
    assert measuring.SECRET in caplog.text


def test_a_closed_or_blocked_loop_is_a_cancel() -> None:
    asked = Asked()
    closed = asyncio.new_event_loop()
    closed.close()
    idle = asyncio.new_event_loop()

    answers = [
        asyncio.run(run_in_loop(asked, closed)(form_request())),
        asyncio.run(run_in_loop(asked, idle, start_timeout=0.05)(form_request())),
    ]
    idle.run_until_complete(asyncio.sleep(0))  # what was withdrawn in the meantime is not asked then
    idle.run_until_complete(asyncio.sleep(0))
    idle.close()

    assert [(answer.action, answer.by) for answer in answers if isinstance(answer, Answer)] == [
        ("cancel", "unattended")
    ] * 2
    assert asked.requests == []


def test_a_loop_that_closes_during_a_request_is_a_cancel() -> None:
    began = threading.Event()

    async def thinks(_request: Request) -> Answer:
        began.set()
        await asyncio.Event().wait()
        raise AssertionError

    async def host() -> Any:
        ask = run_in_loop(thinks, asyncio.get_running_loop())
        answering = threading.Thread(target=lambda: answers.append(asyncio.run(ask(form_request()))))
        answering.start()
        await asyncio.to_thread(began.wait, 5)
        return answering

    answers: list[Any] = []
    asyncio.run(host()).join(5)

    assert [answer.action for answer in answers] == ["cancel"]


@pytest.mark.anyio
async def test_a_wrapped_session_makes_calls_with_requests() -> None:
    asked = Asked()
    caller = Caller(asked, "mail")
    async with own_session(caller, VISITOR) as client:
        session = wrap_session(caller, client)
        got = await session.call_tool("required", {"urls": ["https://login.example.com/start"]})
        prompt = await session.get_prompt("form")
        resource = await session.read_resource("visitor://form")
        tools = await session.list_tools()

    assert json.loads(text_of(got)) == {"calls": 2}
    assert "Ann" in prompt.messages[0].content.text
    assert "Ann" in resource.contents[0].text
    assert tools.tools == []
    assert [(request.mode, request.tool) for request in asked.requests] == [
        ("url", "required"),
        ("form", None),
        ("form", None),
    ]


@pytest.mark.anyio
async def test_the_timeout_of_a_library_does_not_include_the_users_time(tmp_path: Path) -> None:
    async def thinks(_request: Request) -> Answer:
        await asyncio.sleep(0.5)
        return Answer.accept({"name": "Ann"}, by="user")

    caller = Caller(thinks, "mail")
    async with own_session(caller, VISITOR) as client:
        session = wrap_session(caller, client)
        for limit in (0.4, timedelta(seconds=0.4)):
            assert "Ann" in text_of(await session.call_tool("form", read_timeout_seconds=limit))
        with pytest.raises(CallTimeoutError, match="did not answer in time"):
            await session.call_tool("slow", {"mark": str(tmp_path / "mark")}, read_timeout_seconds=0.3)
        await session.list_tools()  # the server has ended the call, and is not left in the middle of it


# --- the documentation


def test_every_example_is_run_and_every_module_is_documented() -> None:
    examples = {path.stem for path in (ROOT / "examples" / "hosts").glob("*.py")}
    modules = {path.stem for path in (ROOT / "mcp_elicit_client" / "hosts").glob("*.py")}

    run = {row["example"] for row in ROWS if "example" in row} - {"host"}
    needing_a_model = {row["needs_a_model"] for row in ROWS if "needs_a_model" in row}
    assert {f"hosts/{name}" for name in examples} == run | needing_a_model
    for module in (name for name in modules if not name.startswith("_")):
        assert f"`hosts.{module}`" in HOSTS, module
    for name in examples:
        assert f"examples/hosts/{name}.py" in HOSTS, name


def test_each_page_shows_its_programs_as_they_are() -> None:
    programs = {
        path.read_text(encoding="utf-8").split('"""\n\n', 1)[1] for path in (ROOT / "examples" / "hosts").glob("*.py")
    }

    assert set(re.findall(r"```py\n(.+?)```", HOSTS, re.DOTALL)) == programs


def test_each_page_installs_what_was_measured() -> None:
    shown = [shlex.split(line)[3:] for line in re.findall(r"^pip install .+", HOSTS, re.MULTILINE)]
    measured = [row["requirements"] for row in ROWS]

    assert len(shown) == len(list((ROOT / "docs" / "hosts").glob("*.md")))  # LangChain has two, the SDK has none
    assert [each for each in shown if not any(set(each) <= set(row) for row in measured)] == []
