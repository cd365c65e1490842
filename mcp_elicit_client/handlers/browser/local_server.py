"""One server for all pages of a process, as long as there are pages."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import os
import socket
import threading
from itertools import count
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from mcp_elicit_client.exceptions import EntryClosedError, EntryNotFoundError
from mcp_elicit_client.handlers.browser.fair_semaphore import FairSemaphore
from mcp_elicit_client.handlers.browser.tab import BrowserTab
from mcp_elicit_client.inbox.inbox import Inbox
from mcp_elicit_client.inbox.stores.memory import MemoryStore

if TYPE_CHECKING:
    import uvicorn

    from mcp_elicit_client.handlers.browser.access_control import AccessControl

PLACES = 4
"""How many pages are open at a time: browsers have six connections to a server, and each page keeps one."""

LONGEST = 64
"""How many questions wait for a page."""

_ADDRESS = "127.0.0.1"
_TICK = 0.1
_JOIN = 3.0
_CONNECTIONS = 200

_logger = logging.getLogger("mcp_elicit_client")
_numbers = count(1)


class LocalServer:
    """
    A server in a thread of its own, which ends when the last page is over.

    Raises:
        OSError: If no port can be had.
    """

    def __init__(self) -> None:
        self.store: MemoryStore = MemoryStore()
        self.inbox: Inbox = Inbox(self.store)
        self._lock = threading.Lock()
        self._pages: list[BrowserTab] = []
        self._is_closing = False
        self._socket = _listen()
        self._host = f"{_ADDRESS}:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._run, name="mcp-elicit-browser", daemon=True)

    def start(self) -> None:
        """
        Begin to serve; the socket listens already, so that nobody needs to wait for this.

        Raises:
            OSError: If no thread can be had.
        """
        try:
            self._thread.start()
        except RuntimeError as error:
            self._socket.close()
            raise OSError(str(error)) from error

    @property
    def is_alive(self) -> bool:
        """Whether anybody can still be served."""
        return self._thread.is_alive()

    def open(self) -> BrowserTab | None:
        """Have a page for one question; None if the server is about to end."""
        with self._lock:
            return None if self._is_closing else self.add()

    def add(self) -> BrowserTab:
        """Have the first page, before it begins."""
        page = BrowserTab(f"page {next(_numbers)}", f"http://{self._host}")
        self._pages = [*self._pages, page]
        return page

    def close(self) -> None:
        """End, but let pages that have just been answered say so."""
        with self._lock:
            self._is_closing = True
        self._thread.join(_JOIN)

    def abandon(self) -> None:
        """Forget it, in the child of a fork, to whose parent it belongs; the parent's files stay."""
        self._socket.close()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except Exception:
            _logger.exception("the pages could not be served")
        finally:
            self._socket.close()
            for page in self._pages:
                page.discard()

    async def _serve(self) -> None:
        try:
            from mcp_elicit_client.handlers.browser.access_control import AccessControl, authenticated_owner
            from mcp_elicit_client.handlers.browser.local_server import server_of
            from mcp_elicit_client.inbox.web import inbox_app

            door = AccessControl(
                inbox_app(self.inbox, authenticated_owner, single_request=True),
                self.inbox,
                self._host,
                lambda: self._pages,
            )
            server = server_of(door, _CONNECTIONS)
            watching = asyncio.create_task(self._watch(server, door))
            watching.add_done_callback(lambda _: setattr(server, "should_exit", True))
            await server.serve(sockets=[self._socket])
            await watching
        finally:
            with self._lock:
                self._is_closing = True
            for page in self._pages:
                await self._answer(page, "withdraw")

    async def _watch(self, server: uvicorn.Server, door: AccessControl) -> None:
        """Cancel the questions whose pages were closed, let go of pages that are over, end with the last."""
        while True:
            for page in self._pages:
                if page.is_closed:
                    page.was_closed = True
                    await self._answer(page, "cancel")
            with self._lock:
                over = [page for page in self._pages if page.is_over]
                self._pages = [page for page in self._pages if page not in over]
                self._is_closing = self._is_closing or not self._pages
                is_last = self._is_closing and not any(page.is_saying_goodbye for page in self._pages)
            for page in over:
                self.store.forget(page.owner)
            if is_last or server.should_exit:
                break
            await asyncio.sleep(_TICK)
        door.close()

    async def _answer(self, page: BrowserTab, how: str) -> None:
        for entry in (await self.inbox.list(page.owner)).entries:
            with contextlib.suppress(EntryClosedError, EntryNotFoundError):
                if how == "cancel":
                    await self.inbox.answer(page.owner, entry.id, "cancel", answered_by="closing the page")
                else:
                    await self.inbox.withdraw(page.owner, entry.id)


class _Process:
    """What a process has: a server, if there are pages, and a line for them."""

    def __init__(self) -> None:
        self.line: FairSemaphore = FairSemaphore(PLACES, LONGEST)
        self._lock = threading.Lock()
        self._serving: LocalServer | None = None
        self._inherited: list[LocalServer] = []

    def open(self) -> tuple[LocalServer, BrowserTab]:
        """Have a page, and what serves it."""
        with self._lock:
            page = None if self._serving is None else self._serving.open()
            if self._serving is None or page is None:
                serving = LocalServer()
                page = serving.add()
                serving.start()
                self._serving = serving
            return self._serving, page

    def close(self) -> None:
        """End what is served, before the process does."""
        serving = self._serving
        if serving is not None:
            serving.close()

    def after_fork(self) -> None:
        serving, self._serving = self._serving, None
        self._lock = threading.Lock()
        self.line = FairSemaphore(PLACES, LONGEST)
        if serving is not None:
            serving.abandon()
            # What the parent's thread works with is not to be tidied up here.
            self._inherited.append(serving)


def _listen() -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # Windows, where another program could have the same port
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


class _QuietProtocol(H11Protocol):
    """Logs no paths: they are secrets here, and uvicorn's own loggers may be the host's."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.access_log = False
        self.logger = logging.getLogger("mcp_elicit_client.browser")


def server_of(app: ASGIApp, connections: int) -> uvicorn.Server:
    """
    Build the server of *app*.

    Args:
        app: What it serves.
        connections: How many there may be at a time.
    """
    config = uvicorn.Config(
        app,
        http=_QuietProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        limit_concurrency=connections,
        timeout_graceful_shutdown=1,
    )
    return uvicorn.Server(config)
