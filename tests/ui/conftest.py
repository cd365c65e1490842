"""Fixtures of all tests of user interfaces."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture(autouse=True)
def _no_page_of_another_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """End the server of local pages, which a lost page keeps for a minute, and forget what was entered there."""
    local_server = sys.modules.get("mcp_elicit_client.handlers.browser.local_server")
    if local_server is not None:
        local_server.PROCESS.close()
        monkeypatch.setattr(local_server.PROCESS, "drafts", local_server.PageDrafts())
