"""Fixtures of all tests of user interfaces."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture(autouse=True)
def _no_page_of_another_test() -> None:
    """End the server of local pages: a page whose end nobody saw keeps it for a minute."""
    local_server = sys.modules.get("mcp_elicit_client.handlers.browser.local_server")
    if local_server is not None:
        local_server.PROCESS.close()
