"""One local server for all pages of a process.  It runs as long as there are pages."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import os
import socket
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Collection
from itertools import count
from typing import TYPE_CHECKING, Any

import anyio

from mcp_elicit_client._concurrency import Waker
from mcp_elicit_client.core.notice import Notice
from mcp_elicit_client.exceptions import EntryClosedError, EntryNotFoundError
from mcp_elicit_client.handlers.browser.tab import BrowserTab
from mcp_elicit_client.inbox.inbox import Inbox, record_notice
from mcp_elicit_client.inbox.records import draft_key
from mcp_elicit_client.inbox.stores.memory import MemoryStore
from mcp_elicit_client.inbox.stores.models import Resolution
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.typing import Request

if TYPE_CHECKING:
    import uvicorn

    from mcp_elicit_client.handlers.browser.access_control import AccessControl

MAX_PAGES = 4
"""The maximum number of open pages.  Browsers have six connections to a server, and each page keeps one."""

MAX_DRAFTS = 8
"""The maximum number of drafts of closed pages."""

MAX_NOTICES = 8
"""The maximum number of notices that later pages show."""

NOTICE_TIME = 600.0
"""Seconds for which later pages show a notice."""

MAX_QUEUED = 64
"""The maximum number of requests that wait for a page."""

_ADDRESS = "127.0.0.1"
_POLL_INTERVAL = 0.1
_ADMIT_INTERVAL = 1.0
_JOIN_TIMEOUT = 3.0

_logger = logging.getLogger("mcp_elicit_client")
_numbers = count(1)


class LocalServer:
    """
    A server in its own thread, which ends after the last page.

    Args:
        inbox: The inbox of all pages of the process, in *store*.
        store: The store.

    Raises:
        OSError: If no port is available.
    """

    def __init__(self, inbox: Inbox, store: MemoryStore) -> None:
        self.inbox = inbox
        self._store = store
        self._lock = threading.Lock()
        self._pages: list[BrowserTab] = []
        self._is_closing = False
        self._socket = _listen()
        self._host = f"{_ADDRESS}:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._run, name="mcp-elicit-browser", daemon=True)

    def start(self) -> None:
        """
        Start the thread.  The socket listens already, so there is no need to wait.

        Raises:
            OSError: If the thread cannot be started.
        """
        try:
            self._thread.start()
        except RuntimeError as error:
            self._socket.close()
            raise OSError(str(error)) from error

    @property
    def is_alive(self) -> bool:
        """True if the thread runs."""
        return self._thread.is_alive()

    def open(
        self, user: str | None, catalog: MessageCatalog | None, frame_ancestors: Collection[str]
    ) -> BrowserTab | None:
        """Return a page for one request; None if the server is about to end."""
        with self._lock:
            if self._is_closing:
                return None
            page = BrowserTab(f"page {next(_numbers)}", f"http://{self._host}", user, catalog, tuple(frame_ancestors))
            self._pages = [*self._pages, page]
            return page

    async def record(self, notice: Notice) -> None:
        """Show *notice* on the pages of its user that are open."""
        for page in self._pages:
            if page.user == notice.request.user:
                await record_notice(self.inbox, page.owner, notice)

    def close(self) -> None:
        """End the server, after pages that were just answered have shown that."""
        with self._lock:
            self._is_closing = True
        self._thread.join(_JOIN_TIMEOUT)

    def abandon(self) -> None:
        """Close the inherited socket in a forked process.  The server and its files belong to the parent."""
        self._socket.close()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except Exception:
            _logger.exception("The pages could not be served.")
        finally:
            self._socket.close()
            for page in self._pages:
                page.discard()

    async def _serve(self) -> None:
        try:
            from mcp_elicit_client.handlers.browser.access_control import (
                AccessControl,
                make_server,
                pages_app,
                quiet_uvicorn,
            )

            access = AccessControl(pages_app(self.inbox), self._store, self._host, lambda: self._pages)
            server = make_server(access, access.connections)
            watching = asyncio.create_task(self._watch(server, access))
            watching.add_done_callback(lambda _: setattr(server, "should_exit", True))
            with quiet_uvicorn():
                await server.serve(sockets=[self._socket])
            await watching
        finally:
            with self._lock:
                self._is_closing = True
            for page in self._pages:
                await self._withdraw(page)

    async def _watch(self, server: uvicorn.Server, access: AccessControl) -> None:
        """Withdraw the requests of closed pages, forget finished pages, and end after the last one."""
        while True:
            for page in self._pages:
                if page.is_closed:
                    page.was_closed = True
                    await self._withdraw(page)
                elif page.is_abandoned():
                    await self._orphan(page)
                    page.end()
            with self._lock:
                over = [page for page in self._pages if page.is_finished]
                self._pages = [page for page in self._pages if page not in over]
                self._is_closing = self._is_closing or not self._pages
                is_last = self._is_closing and not any(page.delays_exit for page in self._pages)
            for page in over:
                self._store.forget(page.owner)
            if is_last or server.should_exit:
                break
            await asyncio.sleep(_POLL_INTERVAL)
        access.close()

    async def _orphan(self, page: BrowserTab) -> None:
        """Close the request of a page because no task waits for the answer any more."""
        for entry in (await self.inbox.list(page.owner)).entries:
            await self._store.resolve(page.owner, entry.id, Resolution("orphaned", "heartbeat", self._store.clock()))

    async def _withdraw(self, page: BrowserTab) -> None:
        for entry in (await self.inbox.list(page.owner)).entries:
            with contextlib.suppress(EntryClosedError, EntryNotFoundError):
                await self.inbox.withdraw(page.owner, entry.id)


class PageDrafts:
    """
    What users had entered on pages that were closed, in case a server sends the same request again.

    They are kept in memory, the latest ones only.
    """

    def __init__(self) -> None:
        self._drafts: OrderedDict[tuple[str | None, str], dict[str, Any]] = OrderedDict()

    async def keep(self, inbox: Inbox, owner: str, entry_id: str, request: Request) -> None:
        """Keep the draft of a page, if there is one."""
        draft = None
        with contextlib.suppress(EntryNotFoundError):
            draft = await inbox.get_draft(owner, entry_id)
        if draft is not None:
            self._drafts[request.user, draft_key(request)] = draft
            while len(self._drafts) > MAX_DRAFTS:
                self._drafts.popitem(last=False)

    async def restore(self, inbox: Inbox, owner: str, entry_id: str, request: Request) -> None:
        """Give a new page the draft of its request."""
        draft = self._drafts.pop((request.user, draft_key(request)), None) if self._drafts else None
        if draft is not None:
            await inbox.save_draft(owner, entry_id, draft)


class RecentNotices:
    """The latest notices of the last ten minutes, for pages that are opened later."""

    def __init__(self) -> None:
        self._notices: deque[tuple[float, Notice]] = deque(maxlen=MAX_NOTICES)

    def add(self, notice: Notice) -> None:
        """Keep *notice*."""
        self._notices.append((time.monotonic(), notice))

    def of(self, user: str | None) -> list[Notice]:
        """Return the notices of *user*, oldest first."""
        oldest = time.monotonic() - NOTICE_TIME
        return [notice for at, notice in tuple(self._notices) if at >= oldest and notice.request.user == user]


class FairSemaphore:
    """
    A semaphore for tasks of any thread and event loop, which wait in the order of their arrival.

    A task whose event loop was closed no longer holds it or waits for it.

    Args:
        permits: The number of tasks that may hold it at a time.
        max_waiting: The maximum number of tasks that wait.
    """

    def __init__(self, permits: int, max_waiting: int) -> None:
        self._permits = permits
        self._max_waiting = max_waiting
        # An abandoned task releases its permit when it is garbage-collected, at any time.
        self._lock = threading.RLock()
        self._holding: list[Waker] = []
        self._waiting: deque[Waker] = deque()

    async def acquire(self) -> Waker | None:
        """Wait, and return a permit to release; return None at once if too many tasks wait already."""
        permit = Waker()
        with self._lock:
            self._admit()
            if len(self._waiting) >= self._max_waiting and len(self._holding) >= self._permits:
                return None
            self._waiting.append(permit)
            self._admit()
        try:
            while permit not in self._holding:
                with anyio.move_on_after(_ADMIT_INTERVAL):  # No event tells that an event loop was closed.
                    await permit.wait()
                with self._lock:
                    self._admit()
        except BaseException:
            self.release(permit)
            raise
        return permit

    def release(self, permit: Waker) -> None:
        """End the turn of *permit*, or its wait, and admit the next task."""
        with self._lock:
            for each in (self._holding, self._waiting):
                if permit in each:
                    each.remove(permit)
            self._admit()

    def _admit(self) -> None:
        self._holding = [each for each in self._holding if not each.is_abandoned()]
        self._waiting = deque(each for each in self._waiting if not each.is_abandoned())
        while self._waiting and len(self._holding) < self._permits:
            following = self._waiting.popleft()
            if following.wake():
                self._holding.append(following)


class _Process:
    """The inbox of this process, its server if there are pages, the semaphore that limits their number, and drafts."""

    def __init__(self) -> None:
        self._set_up()
        self.drafts: PageDrafts = PageDrafts()
        self.notices: RecentNotices = RecentNotices()
        self._inherited: list[LocalServer] = []

    def _set_up(self) -> None:
        """Set what a forked process must not share with its parent."""
        self.semaphore: FairSemaphore = FairSemaphore(MAX_PAGES, MAX_QUEUED)
        # `forget` deletes the requests of finished pages, but not of those whose server has failed.
        self._store = MemoryStore(history_ttl=NOTICE_TIME)
        self._inbox = Inbox(self._store)
        self._lock = threading.Lock()
        self._serving: LocalServer | None = None

    def open(
        self,
        catalog: MessageCatalog | None = None,
        *,
        user: str | None = None,
        frame_ancestors: Collection[str] = (),
    ) -> tuple[LocalServer, BrowserTab]:
        """Return a server and a page for one request; without *catalog*, in the language of the browser."""
        with self._lock:
            page = None if self._serving is None else self._serving.open(user, catalog, frame_ancestors)
            if self._serving is None or page is None:
                serving = LocalServer(self._inbox, self._store)
                page = serving.open(user, catalog, frame_ancestors)
                assert page is not None  # a new server is not about to end
                serving.start()
                self._serving = serving
            return self._serving, page

    async def notify(self, notice: Notice) -> None:
        """Show *notice* on the pages of its user: on those that are open, and on the next one."""
        self.notices.add(notice)
        if self._serving is not None:
            await self._serving.record(notice)

    def close(self) -> None:
        """End the server before the process ends."""
        serving = self._serving
        if serving is not None:
            serving.close()

    def after_fork(self) -> None:
        serving = self._serving
        self._set_up()
        if serving is not None:
            serving.abandon()
            # Keep the reference: finalizers must not touch what the parent's thread uses.
            self._inherited.append(serving)


def _listen() -> socket.socket:
    # With the protocol, asyncio sends small responses at once (TCP_NODELAY).
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # Windows lets other programs use the same port otherwise.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        listening.bind((_ADDRESS, 0))
        listening.listen()
    except BaseException:
        listening.close()
        raise
    return listening


PROCESS = _Process()
atexit.register(PROCESS.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=PROCESS.after_fork)
