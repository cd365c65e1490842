"""
Every combination of both sides, kinds of requests and outcomes, through a gateway in its own process.

One upstream server and one gateway serve all of them, over standard input and
output, or over HTTP.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_elicit_client.calls._connect import Command
from tests.support import VISITOR, http_server
from tests.support.gateways import SIDES
from tests.support.relay_matrix import GATEWAY, RELAYS, run_all

pytestmark = [pytest.mark.anyio, pytest.mark.event_loops("asyncio")]

each_client = pytest.mark.parametrize("down", SIDES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("matrix")


@pytest.fixture(scope="module")
def http_upstream(folder: Path) -> Iterator[str]:
    """The URL of a server over HTTP."""
    with http_server(VISITOR, {"ELICIT_SEEN": str(folder / "seen")}) as url:
        yield url


def environment(folder: Path, upstream: str, hasty_upstream: str) -> dict[str, str]:
    relays = {
        name: {**options, "upstream": hasty_upstream} if name.startswith("hasty") else options
        for name, options in RELAYS.items()
    }
    return {"ELICIT_SEEN": str(folder / "seen"), "ELICIT_UPSTREAM": upstream, "ELICIT_RELAYS": json.dumps(relays)}


@each_client
async def test_every_outcome_arrives_over_stdio(down: str, folder: Path, http_upstream: str, tmp_path: Path) -> None:
    """Calls that time out go to the server over HTTP: otherwise each relay starts a process."""
    environ = {**os.environ, **environment(folder, json.dumps(VISITOR), http_upstream)}
    with (tmp_path / "errors").open("w") as errors:
        command = Command(GATEWAY, errors, environ)
        assert [wrong async for case, came in run_all(command, down, folder) for wrong in case.judge(came)] == []


@pytest.fixture(scope="module")
def http_gateway(folder: Path, http_upstream: str) -> Iterator[str]:
    """The URL of a gateway over HTTP to a server over HTTP."""
    with http_server(GATEWAY, environment(folder, http_upstream, http_upstream)) as url:
        yield url


@each_client
async def test_every_outcome_arrives_over_http(down: str, folder: Path, http_gateway: str) -> None:
    assert [wrong async for case, came in run_all(http_gateway, down, folder) for wrong in case.judge(came)] == []
