"""`within_limits`, `ask_on_page` and `ask_in_inbox`: what the handlers that show the local page have in common."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection
from datetime import datetime, timedelta, timezone
from typing import TypeAlias

import anyio

from mcp_elicit_client._concurrency import LoopHandle, Waker
from mcp_elicit_client.core.request import default_answer_timeout, latest_deadline, with_deadline
from mcp_elicit_client.dispatch import refusal_by_now
from mcp_elicit_client.exceptions import InboxError
from mcp_elicit_client.handlers.browser.local_server import PROCESS, LocalServer
from mcp_elicit_client.handlers.browser.tab import BrowserTab
from mcp_elicit_client.inbox.inbox import Inbox, ask_and_show, record_notice
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.typing import Answer, Request

START_TIMEOUT = 5.0
"""Seconds after which the URL is shown as well if the browser has not opened the page."""

PreparePage: TypeAlias = Callable[[BrowserTab], Callable[[], Awaitable[bool]]]
"""Takes a page and returns an async function that shows it, and returns True if it was shown."""

_POLL_INTERVAL = 1.0
_logger = logging.getLogger("mcp_elicit_client")


async def within_limits(
    request: Request, answer_timeout: float | None, ask: Callable[[Request], Awaitable[Answer]]
) -> Answer:
    """
    Ask once fewer than four pages are open, with a deadline that the user can extend.

    Args:
        request: The request.
        answer_timeout: Seconds for a request without a deadline; None for a
            time in proportion to its form.
        ask: Shows the request and returns the answer.

    Returns:
        The answer; a cancel if the request could not be shown.
    """
    deadline = request.deadline
    if deadline is None:
        now = datetime.now(timezone.utc)
        seconds = default_answer_timeout(request) if answer_timeout is None else answer_timeout
        deadline = now + timedelta(seconds=seconds)
        request = with_deadline(request, deadline, latest_deadline(now, deadline))
    semaphore = PROCESS.semaphore
    permit: Waker | None = None
    try:
        with anyio.move_on_after((deadline - datetime.now(timezone.utc)).total_seconds()) as waiting:
            permit = await semaphore.acquire()
        if waiting.cancelled_caught:
            return Answer.cancel(by="timeout", reason="other requests were open until the timeout")
        if permit is None:
            return Answer.cancel(by="unattended", reason="too many requests wait for a page")
        return refusal_by_now() or await ask(request)
    except (InboxError, OSError, ValueError) as error:
        _logger.warning("A request of server %r could not be shown: %s", request.server.name, error)
        return Answer.cancel(by="error", reason="the page could not be shown")
    finally:
        if permit is not None:
            semaphore.release(permit)


async def ask_on_page(
    request: Request,
    catalog: MessageCatalog | None,
    prepare: PreparePage,
    show_url: Callable[[str], None] | None,
    *,
    frame_ancestors: Collection[str] = (),
) -> Answer:
    """
    Ask on a page of the local server.

    Args:
        request: The request, with a deadline.
        catalog: The texts; None for the language of the browser.
        prepare: Prepares the page.
        show_url: Shows the URL of the page if nothing else has opened it.
        frame_ancestors: The origins whose pages may show the page in a frame.

    Raises:
        OSError: If the page cannot be served.
        InboxError: If the request cannot be stored.
    """
    server, page = PROCESS.open(catalog, user=request.user, frame_ancestors=frame_ancestors)
    page.is_abandoned = LoopHandle().is_abandoned
    try:
        show = prepare(page)

        async def show_stored(entry_id: str) -> None:
            page.entry_id = entry_id
            await _fail_to_show(server, page, show, show_url)

        answer = await ask_in_inbox(request, server.inbox, page.owner, show_stored)
    finally:
        page.end()
    if answer is None:
        return Answer.cancel(by="unattended", reason="no browser could be opened")
    if answer.by == "host" and page.was_closed:
        return Answer.cancel(by="unattended", reason="the page was closed")
    return answer


async def ask_in_inbox(
    request: Request, inbox: Inbox, owner: str, show: Callable[[str], Awaitable[object]]
) -> Answer | None:
    """
    Ask in *inbox*, with the notices and the draft of the user.

    Args:
        request: The request.
        inbox: The inbox.
        owner: The owner of the request in the inbox.
        show: Shows the request with an ID.  It returns only if the user
            cannot see the request.

    Returns:
        The answer; None if *show* returned first.

    Raises:
        InboxError: If the request cannot be stored.
    """
    for notice in PROCESS.notices.of(request.user):
        await record_notice(inbox, owner, notice)
    entry_id = ""

    async def show_with_draft(stored_id: str) -> None:
        nonlocal entry_id
        entry_id = stored_id
        await PROCESS.drafts.restore(inbox, owner, entry_id, request)
        await show(entry_id)

    answer: Answer | None = None
    try:
        answer = await ask_and_show(inbox, owner, request, show_with_draft)
    finally:
        if entry_id and (answer is None or answer.action == "cancel"):
            await PROCESS.drafts.keep(inbox, owner, entry_id, request)
    return answer


async def _fail_to_show(
    server: LocalServer,
    page: BrowserTab,
    show: Callable[[], Awaitable[bool]],
    show_url: Callable[[str], None] | None,
) -> None:
    """Show the page.  Return only if the user cannot see it."""
    is_shown = False
    try:
        # A browser that ends soon has not failed if it opened the page.
        is_shown = await show() or page.is_entered
        if is_shown:
            await anyio.sleep(START_TIMEOUT)
        if show_url is not None and not page.is_entered:
            show_url(page.url)
            is_shown = True
    except Exception:
        _logger.exception("The page could not be opened.")
    while is_shown and server.is_alive:  # noqa: ASYNC110 -- a thread that ends sets no event
        await anyio.sleep(_POLL_INTERVAL)
