"""Drafts, in each store."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from mcp_elicit_client.exceptions import EntryNotFoundError
from mcp_elicit_client.inbox import Inbox
from tests.support import until
from tests.support.inboxes import FORM, KEY, SECRET, Clock, Stores, asking, pending, request

pytestmark = pytest.mark.anyio
DRAFT = {"values": {"f0": [SECRET]}}


async def test_a_draft_is_kept_for_its_owner_only(inbox: Inbox) -> None:
    async with asking(inbox):
        (entry,) = await pending(inbox)
        assert await inbox.get_draft("ann", entry.id) is None
        await inbox.save_draft("ann", entry.id, DRAFT)
        assert await inbox.get_draft("ann", entry.id) == DRAFT
        with pytest.raises(EntryNotFoundError):
            await inbox.get_draft("bob", entry.id)
        with pytest.raises(EntryNotFoundError):
            await inbox.save_draft("bob", entry.id, {})
        await inbox.save_draft("ann", entry.id, None)
        assert await inbox.get_draft("ann", entry.id) is None


@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
async def test_a_draft_comes_back_with_the_same_request_unless_that_was_answered(inbox: Inbox, action: Any) -> None:
    async with asking(inbox) as waiting:
        (entry,) = await pending(inbox)
        await inbox.save_draft("ann", entry.id, DRAFT)
        await inbox.answer("ann", entry.id, action, {"a": "red"} if action == "accept" else None)
        await waiting.result()
    other = {**FORM, "message": "What other color?"}
    async with asking(inbox), asking(inbox, request(other)):
        first, second = await pending(inbox, count=2)
        entry, another = (first, second) if first.request["message"] == FORM["message"] else (second, first)
        assert await inbox.get_draft("ann", entry.id) == (DRAFT if action == "cancel" else None)
        assert await inbox.get_draft("ann", another.id) is None


async def test_a_draft_is_encrypted_and_expires(stores: Stores, clock: Clock) -> None:
    store = stores()
    inbox = Inbox(store, KEY, answer_timeout=99_999)
    async with asking(inbox):
        (entry,) = await pending(inbox)
        await inbox.save_draft("ann", entry.id, DRAFT)
        assert SECRET not in await stores.content()
        if stores.kind != "redis":  # which has a clock of its own for this
            clock.ahead = 3_700
            assert await inbox.get_draft("ann", entry.id) is None


async def test_a_draft_that_has_expired_is_erased_although_no_other_one_is_saved(stores: Stores, clock: Clock) -> None:
    inbox = Inbox(stores(), answer_timeout=99_999)
    async with asking(inbox):
        (entry,) = await pending(inbox)
        await inbox.save_draft("ann", entry.id, DRAFT)
        clock.ahead = 3_700

        async def is_erased() -> bool:
            await inbox.list("ann")
            return SECRET not in await stores.content()

        await until(is_erased)


@pytest.mark.parametrize("value", [{1, 2}, float("nan"), date.min], ids=["set", "nan", "date"])
async def test_a_draft_that_is_not_json_is_refused_and_the_one_before_is_kept(inbox: Inbox, value: Any) -> None:
    async with asking(inbox):
        (entry,) = await pending(inbox)
        await inbox.save_draft("ann", entry.id, DRAFT)
        with pytest.raises(TypeError, match="A draft must be JSON data"):
            await inbox.save_draft("ann", entry.id, {"values": value})
        assert await inbox.get_draft("ann", entry.id) == DRAFT
