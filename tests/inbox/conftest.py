"""Each store on each event loop that it runs on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mcp_elicit_client.inbox import Inbox
from tests.support import EVENT_LOOPS, LONG
from tests.support.inboxes import Clock, Stores, open_stores

BACKENDS = [
    ("asyncio", "memory"),
    ("trio", "memory"),
    ("asyncio", "sqlite"),
    ("trio", "sqlite"),
    ("asyncio", "redis"),
    ("asyncio", "postgres"),
    *([("trio", "postgres")] if LONG else []),  # as ("trio", "sqlite"), but slower
]


@pytest.fixture(params=[each for each in BACKENDS if each[0] in EVENT_LOOPS], ids="-".join)
def backend(request: pytest.FixtureRequest) -> tuple[str, str]:
    """An event loop and a store."""
    backend: tuple[str, str] = request.param
    return backend


@pytest.fixture
def anyio_backend(backend: tuple[str, str]) -> str:
    return backend[0]


@pytest.fixture
async def stores(
    backend: tuple[str, str], tmp_path: Path, clock: Clock, request: pytest.FixtureRequest
) -> AsyncIterator[Stores]:
    async with open_stores(backend[1], tmp_path, clock, request.getfixturevalue) as stores:
        yield stores


@pytest.fixture
def inbox(stores: Stores) -> Inbox:
    return Inbox(stores())
