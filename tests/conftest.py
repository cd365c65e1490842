from __future__ import annotations

import os

import pytest
from hypothesis import settings

from mcp_elicit_client.sdk.callback import supports_multi_round_trip

settings.register_profile("ci", derandomize=True, max_examples=300, deadline=None)
settings.register_profile("mutants", derandomize=True, max_examples=15, deadline=None, database=None)
settings.register_profile("nightly", max_examples=10_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what the installed SDK has no notion of: mcp 1.x knows no multi-round-trip calls."""
    if supports_multi_round_trip():
        return
    config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("rounds")])
    items[:] = [item for item in items if not item.get_closest_marker("rounds")]


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Every async test runs on both event loops that the SDK runs on."""
    return str(request.param)
