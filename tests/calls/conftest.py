"""Fixtures of tests of calls: stores of suspended calls."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.inboxes import Clock, Stores, open_stores


@pytest.fixture
def kind() -> str:
    """Most tests use the store in memory; tests about stores use each of them."""
    return "memory"


@pytest.fixture
async def stores(kind: str, tmp_path: Path, clock: Clock, request: pytest.FixtureRequest) -> AsyncIterator[Stores]:
    async with open_stores(kind, tmp_path, clock, request.getfixturevalue) as stores:
        yield stores
