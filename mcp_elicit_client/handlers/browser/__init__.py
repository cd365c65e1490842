"""`BrowserHandler`: answer requests on a page in the browser of this computer."""

from __future__ import annotations

import importlib.util
import logging
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TypeAlias

import anyio

from mcp_elicit_client._concurrency import run_until
from mcp_elicit_client.core.notice import Notice
from mcp_elicit_client.core.request import default_answer_timeout, latest_deadline
from mcp_elicit_client.exceptions import InboxError, MissingExtraError
from mcp_elicit_client.handlers.browser.local_server import PROCESS, LocalServer
from mcp_elicit_client.handlers.browser.tab import BrowserTab
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.notices import notice_lines
from mcp_elicit_client.presentation.opener import open_file
from mcp_elicit_client.typing import Answer, Request

__all__ = ["BrowserHandler", "OpenFile"]

OpenFile: TypeAlias = Callable[[Path], Awaitable[bool]]
"""Opens a file in the browser; returns True if a program accepted it."""

START_TIMEOUT = 5.0
"""Seconds after which the URL is shown as well if the browser has not opened the page."""

_POLL_INTERVAL = 1.0
_WIDTH = 79
_REQUIRED = ("jinja2", "starlette", "uvicorn")
_logger = logging.getLogger("mcp_elicit_client")


def print_url(url: str) -> None:
    """Print the URL of the page to stderr."""
    if sys.stderr is not None:
        text = MessageCatalog.for_environment().text(messages.REQUEST_SENT, url=url)
        print(text, file=sys.stderr)  # noqa: T201 -- for the user


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserHandler:
    """
    Show each request on a page in the browser of this computer.

    One server per process serves all pages, on 127.0.0.1 and a free port, in
    its own thread.  It runs as long as there are pages.  A file that only
    this user can read opens the page, with a token that works once.  Closing
    the page cancels the request by ``unattended``, and what was entered comes
    back if the server sends the same request again.  Four pages are open at a time.  Further
    requests wait.

    Attributes:
        open_file: Opens the file in the browser.
        show_url: Shows the URL of the page, which works once, if no browser
            can be started, or if none has opened the page within five
            seconds.  None to show nothing.
        directory: The directory of the file, if the browser cannot read the
            temporary directory.
        answer_timeout: Seconds for which a request without a deadline can be
            answered; None for 40 seconds for each field, at least 240 and at
            most 1800.  The user can extend this ten times.
        messages: The texts of the pages; None for the language of the
            browser.

    Raises:
        MissingExtraError: If the extra ``browser`` is not installed.
    """

    open_file: OpenFile = open_file
    show_url: Callable[[str], None] | None = print_url
    directory: Path | None = None
    answer_timeout: float | None = None
    messages: MessageCatalog | None = None

    def __post_init__(self) -> None:
        if any(importlib.util.find_spec(name) is None for name in _REQUIRED):
            raise MissingExtraError("browser", "a page in the browser")

    async def __call__(self, request: Request, /) -> Answer:
        """Open a page and return the user's answer.  If this is cancelled, the request is withdrawn."""
        deadline = request.deadline
        if deadline is None:
            now = datetime.now(timezone.utc)
            seconds = default_answer_timeout(request) if self.answer_timeout is None else self.answer_timeout
            deadline = now + timedelta(seconds=seconds)
            request = request.with_deadline(deadline, latest_deadline(now, deadline), lambda _: None)
        semaphore = PROCESS.semaphore
        is_admitted = False
        try:
            with anyio.move_on_after((deadline - datetime.now(timezone.utc)).total_seconds()) as waiting:
                is_admitted = await semaphore.acquire()
            if waiting.cancelled_caught:
                return Answer.cancel(by="timeout", reason="other requests were open until the timeout")
            if not is_admitted:
                return Answer.cancel(by="unattended", reason="too many requests wait for a page")
            return await self._ask(request)
        except (InboxError, OSError, ValueError) as error:
            _logger.warning("A request of server %r could not be shown: %s", request.server.name, error)
            return Answer.cancel(by="error", reason="the page could not be shown")
        finally:
            if is_admitted:
                semaphore.release()

    async def notify(self, notice: Notice, /) -> None:
        """Show that a policy declined a request: on the pages of its user, and on stderr."""
        await PROCESS.notify(notice)
        if sys.stderr is not None:
            catalog = self.messages or MessageCatalog.for_environment()
            print(notice_lines(notice, catalog, _WIDTH), file=sys.stderr)  # noqa: T201 -- for the user

    async def _ask(self, request: Request) -> Answer:
        server, page = PROCESS.open(self.messages, user=request.user)
        try:
            for notice in PROCESS.notices.of(request.user):
                await server.inbox.record(page.owner, notice)
            path = page.write(self.directory)
            stored = _StoredRequest(request)
            answer: Answer | None = None
            try:
                answer = await run_until(
                    lambda: self._fail_to_show(server, page, path, stored),
                    lambda: server.inbox.ask(page.owner, request, placed=stored.set),
                )
            finally:
                if stored.id and (answer is None or answer.action == "cancel"):
                    await PROCESS.drafts.keep(server.inbox, page.owner, stored.id, request)
        finally:
            page.end()
        if answer is None:
            return Answer.cancel(by="unattended", reason="no browser could be opened")
        if answer.by == "host" and page.was_closed:
            return Answer.cancel(by="unattended", reason="the page was closed")
        if answer.by != "user":
            return answer
        return answer.model_copy(update={"reason": "answered in the browser"})

    async def _fail_to_show(self, server: LocalServer, page: BrowserTab, path: Path, stored: _StoredRequest) -> None:
        """Show the page once its request is stored.  Return only if the user cannot see it."""
        await stored.wait()
        try:
            await PROCESS.drafts.restore(server.inbox, page.owner, stored.id, stored.request)
            # A browser that ends soon has not failed if it opened the page.
            is_shown = await self.open_file(path) or page.is_entered
            if is_shown:
                await anyio.sleep(START_TIMEOUT)
            if self.show_url is not None and not page.is_entered:
                self.show_url(page.url)
                is_shown = True
        except Exception:
            _logger.exception("The page could not be opened.")
            is_shown = False
        while is_shown and server.is_alive:  # noqa: ASYNC110 -- a thread that ends sets no event
            await anyio.sleep(_POLL_INTERVAL)


class _StoredRequest:
    """A request, and its ID once it is stored."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.id = ""
        self._is_stored = anyio.Event()

    def set(self, entry_id: str) -> None:
        self.id = entry_id
        self._is_stored.set()

    async def wait(self) -> None:
        await self._is_stored.wait()
