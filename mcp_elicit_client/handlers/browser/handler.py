"""The handler: opens a page, and waits for what is answered there."""

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
from mcp_elicit_client.exceptions import InboxError, MissingExtraError
from mcp_elicit_client.handlers.browser.local_server import PROCESS, LocalServer
from mcp_elicit_client.handlers.browser.tab import BrowserTab
from mcp_elicit_client.inbox.inbox import ANSWER_TIMEOUT
from mcp_elicit_client.presentation.opener import open_file
from mcp_elicit_client.typing import Answer, Request

OpenFile: TypeAlias = Callable[[Path], Awaitable[bool]]
"""Tries to open a file in the browser, and says whether a program took it."""

START_TIMEOUT = 5.0
"""How long a browser may take to open the page before its address is told too, in seconds."""

_LOOK = 1.0
_NEEDED = ("jinja2", "starlette", "uvicorn")
_logger = logging.getLogger("mcp_elicit_client")


def print_url(url: str) -> None:
    """Tell the person at the terminal where to answer."""
    if sys.stderr is not None:
        print(f"A program asks you something.  Answer in the browser of this computer: {url}", file=sys.stderr)  # noqa: T201


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserHandler:
    """
    Ask the person at this computer, on a page in their browser.

    All pages of a process are served by one server, on 127.0.0.1 and a port
    of its own, in a thread of its own.  It is there as long as there are
    pages.  A page is opened through a file that only this user can read,
    whose token opens it once; it answers one question, and closing it is a
    cancel.  Four questions are open at a time; more wait for their turn.

    Attributes:
        open_file: What opens the file in the browser.
        tell: What is told the address where no browser can be opened, or none
            has opened the page within five seconds; it works once.  None if
            there is nobody to tell.
        folder: Where the file is put, if the browser cannot read the
            temporary folder.
        lifetime: How long a question without a deadline can be answered, in
            seconds.

    Raises:
        MissingExtraError: If the extra ``browser`` is not installed.
    """

    open_file: OpenFile = open_file
    show_url: Callable[[str], None] | None = print_url
    directory: Path | None = None
    answer_timeout: float = ANSWER_TIMEOUT

    def __post_init__(self) -> None:
        if any(importlib.util.find_spec(name) is None for name in _NEEDED):
            raise MissingExtraError("browser", "a page in the browser")

    async def __call__(self, request: Request, /) -> Answer:
        """Open a page, and return what the person decided there; being cancelled withdraws the question."""
        deadline = request.deadline or datetime.now(timezone.utc) + timedelta(seconds=self.answer_timeout)
        request = request.model_copy(update={"deadline": deadline})
        line = PROCESS.line
        has_place = False
        try:
            with anyio.move_on_after((deadline - datetime.now(timezone.utc)).total_seconds()) as waiting:
                has_place = await line.acquire()
            if waiting.cancelled_caught:
                return Answer.cancel(by="timeout", reason="other questions were open until its time was over")
            if not has_place:
                return Answer.cancel(by="unattended", reason="too many questions wait for a page")
            return await self._ask(request)
        except (InboxError, OSError, ValueError) as error:
            _logger.warning("a question of server %r could not be asked: %s", request.server.name, error)
            return Answer.cancel(by="error", reason="the page could not be shown")
        finally:
            if has_place:
                line.release()

    async def _ask(self, request: Request) -> Answer:
        serving, page = PROCESS.open()
        try:
            path = page.write(self.directory)
            is_there = anyio.Event()
            answer = await run_until(
                lambda: self._fail_to_show(serving, page, path, is_there),
                lambda: serving.inbox.ask(page.owner, request, placed=lambda _: is_there.set()),
            )
        finally:
            page.end()
        if answer is None:
            return Answer.cancel(by="unattended", reason="no browser could be opened")
        if answer.by != "user":
            return answer
        reason = "the page was closed" if page.was_closed else "answered in the browser"
        return answer.model_copy(update={"reason": reason})

    async def _fail_to_show(self, serving: LocalServer, page: BrowserTab, path: Path, is_there: anyio.Event) -> None:
        """Bring the page before the person once its question is there; return only if that cannot have worked."""
        await is_there.wait()
        try:
            # A browser that ends soon has not failed if the page was there.
            is_shown = await self.open_file(path) or page.is_entered
            if is_shown:
                await anyio.sleep(START_TIMEOUT)
            if self.show_url is not None and not page.is_entered:
                self.show_url(page.url)
                is_shown = True
        except Exception:
            _logger.exception("the page could not be opened")
            is_shown = False
        while is_shown and serving.is_alive:  # noqa: ASYNC110 -- a thread that ends has no event here
            await anyio.sleep(_LOOK)
