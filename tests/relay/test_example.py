"""The gateway of the guide, as its users start it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Literal

import anyio
import pytest

from mcp_elicit_client import Answer
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.calls._connect import Command, connect
from mcp_elicit_client.typing import FormRequest, Request
from tests.support import ROOT, free_port

pytestmark = [pytest.mark.anyio, pytest.mark.rounds, pytest.mark.event_loops("asyncio")]

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
EXAMPLE = [sys.executable, str(ROOT / "examples" / "gateway.py")]


def test_the_guide_shows_the_example() -> None:
    program = (ROOT / "examples" / "gateway.py").read_text(encoding="utf-8").split('"""\n\n', 1)[1]
    assert program in (ROOT / "docs" / "relay.md").read_text(encoding="utf-8")


async def book(target: Command | str, mode: Literal["auto", "legacy"]) -> None:
    asked: list[Request] = []

    async def fill_in(request: Request) -> Answer:
        assert isinstance(request, FormRequest)
        asked.append(request)
        return Answer.decline(by="user")

    with anyio.fail_after(60):
        async with connect(target, Caller(fill_in, "gateway"), mode=mode) as connection:
            assert "restaurant.book_table" in [name for name, _ in await connection.list_tools()]
            result = await connection.call_tool("restaurant.book_table", {})
    assert json.loads(result["content"][0]["text"])["action"] == "decline"
    (request,) = asked
    assert request.origin == ("gateway", "restaurant")
    assert request.message.startswith("[restaurant] ")


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_gateway_of_the_guide_serves_over_stdio(mode: Literal["auto", "legacy"], tmp_path: Path) -> None:
    with (tmp_path / "errors").open("w") as errors:
        await book(Command(EXAMPLE, errors, ENVIRONMENT), mode)


async def test_the_gateway_of_the_guide_serves_over_http_until_it_is_interrupted() -> None:
    port = free_port()
    with subprocess.Popen(
        [*EXAMPLE, str(port)], stderr=subprocess.PIPE, text=True, cwd=ROOT, env=ENVIRONMENT
    ) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                if "Uvicorn running" in line:
                    break
            await book(f"http://127.0.0.1:{port}/mcp", "auto")
            process.send_signal(signal.SIGINT)
            assert "Traceback" not in process.stderr.read()
        finally:
            process.terminate()
