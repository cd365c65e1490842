"""Fixtures of all tests of user interfaces."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import httpx

    from mcp_elicit_client.policies import RememberedAnswers
    from tests.support.web_inbox import Web


@pytest.fixture(autouse=True)
def _no_page_of_another_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """End the server of local pages, which a lost page keeps for a minute, and forget what was entered there."""
    local_server = sys.modules.get("mcp_elicit_client.handlers.browser.local_server")
    if local_server is not None:
        local_server.PROCESS.close()
        monkeypatch.setattr(local_server.PROCESS, "drafts", local_server.PageDrafts())


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    """An inbox with its web app, and a client of its user."""
    from tests.support.web_inbox import signed_in

    async with signed_in() as web:
        yield web


@pytest.fixture
async def remembering() -> AsyncIterator[tuple[httpx.AsyncClient, RememberedAnswers]]:
    """A client whose user has remembered answers, and so has another user."""
    from tests.support.web_inbox import with_remembered_answers

    async with with_remembered_answers() as (client, remembered):
        yield client, remembered
