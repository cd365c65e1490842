"""`BrowserHandler`: answer requests on a page in the browser of this computer."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Awaitable, Callable
from os import PathLike
from pathlib import Path
from types import NoneType

from mcp_elicit_client._arguments import YEAR, check_async, check_seconds, check_sync, check_type
from mcp_elicit_client.core.notice import Notice
from mcp_elicit_client.exceptions import MissingExtraError
from mcp_elicit_client.handlers.browser.asking import ask_on_page, within_limits
from mcp_elicit_client.handlers.browser.local_server import PROCESS
from mcp_elicit_client.handlers.browser.tab import BrowserTab
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog, catalog_of_environment
from mcp_elicit_client.presentation.notices import notice_lines
from mcp_elicit_client.presentation.opener import open_file
from mcp_elicit_client.typing import Answer, Request

__all__ = ["BrowserHandler"]

_WIDTH = 79
_REQUIRED = ("jinja2", "starlette", "uvicorn")


def print_url(url: str) -> None:
    """Print the URL of the page to stderr."""
    if sys.stderr is not None:
        text = catalog_of_environment().text(messages.REQUEST_SENT, url=url)
        print(text, file=sys.stderr)  # noqa: T201 -- for the user


class BrowserHandler:
    """
    Show each request on a page in the browser of this computer.

    One server per process serves all pages, on 127.0.0.1 and a free port, in
    its own thread.  It runs as long as there are pages.  A file that only
    this user can read opens the page, with a token that works once.  If
    the user closes the page, the answer is a cancel with
    ``by="unattended"``.  What was entered is restored if the server sends the
    same request again.  Four pages are open at a time.  Further requests
    wait.

    Args:
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
        TypeError: If an argument is of the wrong type, such as an `open_file`
            that is not async.
        ValueError: If *answer_timeout* is not above 0 and at most a year.
    """

    def __init__(
        self,
        *,
        open_file: Callable[[Path], Awaitable[bool]] = open_file,
        show_url: Callable[[str], None] | None = print_url,
        directory: Path | None = None,
        answer_timeout: float | None = None,
        messages: MessageCatalog | None = None,
    ) -> None:
        check_seconds("answer_timeout", answer_timeout, optional=True, maximum=YEAR)
        check_async("open_file", open_file, "path")
        if show_url is not None:
            check_sync("show_url", show_url, "url")
        check_type("directory", directory, str, PathLike, NoneType)
        check_type("messages", messages, MessageCatalog, NoneType)
        if any(importlib.util.find_spec(name) is None for name in _REQUIRED):
            raise MissingExtraError("browser", "a page in the browser")
        self._answer_timeout = answer_timeout
        self._open_file = open_file
        self._show_url = show_url
        self._directory = directory
        self._messages = messages

    async def __call__(self, request: Request, /) -> Answer:
        """Open a page and return the user's answer.  If this is cancelled, the request is withdrawn."""
        return await within_limits(request, self._answer_timeout, self._ask)

    async def notify(self, notice: Notice, /) -> None:
        """Show that a policy declined a request: on the pages of its user, and on stderr."""
        await PROCESS.notify(notice)
        if sys.stderr is not None:
            catalog = self._messages or catalog_of_environment()
            print(notice_lines(notice, catalog, _WIDTH), file=sys.stderr)  # noqa: T201 -- for the user

    async def _ask(self, request: Request) -> Answer:
        answer = await ask_on_page(request, self._messages, self._prepare, self._show_url)
        if answer.by != "user":
            return answer
        return answer.model_copy(update={"reason": "answered in the browser"})

    def _prepare(self, page: BrowserTab) -> Callable[[], Awaitable[bool]]:
        path = page.write(self._directory)
        return lambda: self._open_file(path)
