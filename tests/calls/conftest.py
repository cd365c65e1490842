"""Fixtures of tests of calls: stores of suspended calls, and the server `tasker` in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mcp_elicit_client.calls import task_polling
from tests.servers.tasker import Tasker
from tests.support.inboxes import Clock, Stores, open_stores


@pytest.fixture
def kind() -> str:
    """Most tests use the store in memory; tests about stores use each of them."""
    return "memory"


@pytest.fixture
async def stores(kind: str, tmp_path: Path, clock: Clock, request: pytest.FixtureRequest) -> AsyncIterator[Stores]:
    async with open_stores(kind, tmp_path, clock, request.getfixturevalue) as stores:
        yield stores


@pytest.fixture
def seen() -> list[str]:
    """What the server saw."""
    return []


@pytest.fixture
def tasker(seen: list[str], monkeypatch: pytest.MonkeyPatch) -> Tasker:
    """The tasks of a server, which are polled in short intervals."""
    monkeypatch.setattr(task_polling, "MIN_POLL_INTERVAL", 0.005)
    return Tasker(seen.append)
