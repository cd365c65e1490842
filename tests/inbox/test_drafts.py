"""Drafts and extended deadlines, in each store."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import anyio
import pytest

from mcp_elicit_client.core.request import default_answer_timeout
from mcp_elicit_client.exceptions import EntryClosedError, EntryNotFoundError
from mcp_elicit_client.inbox import Inbox, InboxHandler
from mcp_elicit_client.inbox import inbox as inbox_module
from mcp_elicit_client.policies import answer_timeout
from tests.support import form_params
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


async def test_a_user_can_extend_the_deadline_ten_times(stores: Stores) -> None:
    inbox = Inbox(stores(), answer_timeout=100)
    async with asking(inbox) as waiting:
        (entry,) = await pending(inbox)
        assert entry.max_expires_at - entry.created_at == timedelta(seconds=1_100)
        for count in range(11):
            assert (entry.expires_at < entry.max_expires_at) == (count < 10)
            entry = await inbox.extend("ann", entry.id)
        assert entry.expires_at == entry.max_expires_at
        assert (await inbox.get("ann", entry.id)).expires_at == entry.max_expires_at
        await inbox.answer("ann", entry.id, "accept", {"a": "red"})
        assert (await waiting.result()).action == "accept"
        with pytest.raises(EntryClosedError):
            await inbox.extend("ann", entry.id)


async def test_the_task_that_waits_notices_an_extension_by_another_process(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox_module, "_EXTENSION_MARGIN", 0.1)
    inbox, other = Inbox(stores(), answer_timeout=1.5), Inbox(stores(), answer_timeout=1.5)
    async with asking(inbox) as waiting:
        (entry,) = await pending(other)
        await other.extend("ann", entry.id)
        extended = (await other.get("ann", entry.id)).expires_at
        assert extended > entry.expires_at
        assert (await waiting.result()).by == "timeout"
        assert datetime.now(timezone.utc) >= extended - timedelta(seconds=0.01)


async def test_the_policy_for_answer_timeouts_lets_the_user_extend_them(
    inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox_module, "_EXTENSION_MARGIN", 0.1)
    handler = answer_timeout(2)(InboxHandler(inbox, "ann"))

    answers = []
    async with anyio.create_task_group() as group:

        async def ask() -> None:
            answers.append(await handler(request()))

        group.start_soon(ask)
        (entry,) = await pending(inbox)
        later = await inbox.extend("ann", entry.id)
        assert later.expires_at > entry.expires_at
        with anyio.fail_after(60):
            while datetime.now(timezone.utc) < entry.expires_at + timedelta(seconds=0.1):
                await anyio.sleep(0.05)
        await inbox.answer("ann", entry.id, "accept", {"a": "red"})
    assert answers[0].action == "accept"


@pytest.mark.parametrize("fields", [0, 5, 6, 7, 20, 60])
def test_the_default_deadline_is_in_proportion_to_the_form(fields: int) -> None:
    form = form_params({"properties": {f"a{at}": {"type": "string"} for at in range(fields)}})
    seconds = {0: 240, 5: 240, 6: 240, 7: 280, 20: 800, 60: 1_800}
    assert default_answer_timeout(request(form)) == seconds[fields]
