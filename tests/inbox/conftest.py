"""Each store on each event loop that it runs on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mcp_elicit_client.inbox import Inbox
from tests.support.inboxes import Clock, Stores


@pytest.fixture(
    params=[
        ("asyncio", "memory"),
        ("trio", "memory"),
        ("asyncio", "sqlite"),
        ("trio", "sqlite"),
        ("asyncio", "redis"),
    ],
    ids="-".join,
)
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
    stores = Stores(backend[1], tmp_path, clock, lambda: request.getfixturevalue("redis_server"))
    if backend[1] == "redis":
        stores.redis()
    yield stores
    for store in stores.made:
        await store.aclose()


@pytest.fixture
def inbox(stores: Stores) -> Inbox:
    return Inbox(stores())
