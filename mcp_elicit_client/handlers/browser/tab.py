"""`BrowserTab`: the page of one request, from its file until it is no longer needed."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog, catalog_of_environment

RELOAD_TIMEOUT = 3.0
"""Seconds after which a page that reported that it was left counts as closed.  A reload takes less time."""

LOST_TIMEOUT = 10.0
"""Seconds after which a page whose connection was lost counts as closed.  It tries to connect again."""

STYLE_TIMEOUT = 0.5
"""Seconds for which a page that has shown the end of its request can still fetch its style."""

EXIT_TIMEOUT = 1.0
"""Seconds for which the end of the process waits until a page has shown the end of its request."""

UNSEEN_TIMEOUT = 60.0
"""Seconds for which the server waits until a page has shown the end of its request."""

_TOKEN_BYTES = 32

_REDIRECT = """\
<!doctype html>
<html lang="{language}">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={url}">
<title>{title}</title>
<p><a href="{url}">{title}</a></p>
</html>
"""


def _open_privately(path: str, flags: int) -> int:
    return os.open(path, flags, mode=0o600)


def redirect_page(url: str, catalog: MessageCatalog) -> str:
    """Return the HTML of a page that redirects to *url*."""
    title = escape(catalog.text(messages.OPEN_REQUEST))
    return _REDIRECT.format(url=escape(url), title=title, language=escape(catalog.language))


@dataclass(eq=False, repr=False)
class BrowserTab:
    """
    The page of one request.

    `token` opens it once.  Afterwards its paths begin with `key`.  Both are
    256 random bits, and neither can be computed from the other.

    Attributes:
        owner: The owner of the request in the inbox.
        origin: The origin of the server.
        user: The user of the request; None if there is only one.
        messages: The texts; None for the language of the browser.
        frame_ancestors: The origins whose pages may show this page in a
            frame.
        token: Opens the page, once.
        key: The beginning of the paths of the page.
        entry_id: The ID of the request in the inbox; empty until it is stored.
        is_entered: True if the page was opened.
        was_closed: True if the request was cancelled because the page was
            closed.
        is_abandoned: Returns True if the event loop that waits for the answer
            was closed.
    """

    owner: str
    origin: str
    user: str | None = None
    messages: MessageCatalog | None = None
    frame_ancestors: tuple[str, ...] = ()
    clock: Callable[[], float] = time.monotonic
    token: str = field(default_factory=lambda: secrets.token_urlsafe(_TOKEN_BYTES))
    key: str = field(default_factory=lambda: secrets.token_urlsafe(_TOKEN_BYTES))
    entry_id: str = ""
    is_entered: bool = False
    was_closed: bool = False
    is_abandoned: Callable[[], bool] = lambda: False
    _file: Path | None = None
    _streams: int = 0
    _requests: int = 0
    _has_script: bool = False
    _left_at: float | None = None
    _has_reported: bool = False
    _ended_at: float | None = None
    _shown_at: float | None = None

    @property
    def url(self) -> str:
        """The URL that opens the page: a secret until it was used."""
        return f"{self.origin}/{self.token}"

    def write(self, directory: Path | None) -> Path:
        """
        Write a file that redirects to the page and that only this user can read.

        Raises:
            OSError: If it cannot be written.
        """
        self._file = path = Path(tempfile.mkdtemp(prefix="mcp-elicit-", dir=directory)) / "request.html"
        with open(path, "x", encoding="utf-8", opener=_open_privately) as file:
            file.write(redirect_page(self.url, self.messages or catalog_of_environment()))
        return path

    def enter(self) -> None:
        """Use up the token and remove the file."""
        self.is_entered = True
        self.discard()

    def discard(self) -> None:
        """Remove the file, if there is one."""
        path, self._file = self._file, None
        if path is not None:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
                path.parent.rmdir()

    def begin(self, *, is_stream: bool) -> None:
        """Note that an HTTP request of the page begins."""
        self._left_at, self._has_reported = None, False
        if is_stream:
            self._has_script = True
            self._streams += 1
        else:
            self._requests += 1

    def finish(self, *, is_stream: bool) -> None:
        """Note that an HTTP request of the page has ended.  The end of its event stream means that it was left."""
        if is_stream:
            self._streams -= 1
            self.leave()
        else:
            self._requests -= 1

    def leave(self, *, has_reported: bool = False) -> None:
        """Note that the page is gone.  *has_reported*: it said so itself, so it was closed or is being reloaded."""
        self._has_script = True
        self._has_reported = self._has_reported or has_reported
        if not self._streams:
            self._left_at = self.clock()

    def end(self) -> None:
        """Note that the request was closed."""
        self._ended_at = self._ended_at or self.clock()
        if not self.is_entered:
            self.discard()

    def mark_end_shown(self) -> None:
        """Note that the page has shown that its request was closed."""
        self._shown_at = self._shown_at or self.clock()

    @property
    def is_closed(self) -> bool:
        """True if the page is gone while the request was pending."""
        if self._ended_at is not None or self._left_at is None:
            return False
        return self.clock() - self._left_at >= (RELOAD_TIMEOUT if self._has_reported else LOST_TIMEOUT)

    @property
    def delays_exit(self) -> bool:
        """True if the end of the process has to wait for the page."""
        return self._ended_at is not None and not self.is_finished and self.clock() - self._ended_at < EXIT_TIMEOUT

    @property
    def is_finished(self) -> bool:
        """True if the page is no longer needed."""
        if self._ended_at is None or self._requests:
            return False
        if not self.is_entered:
            return True
        if self._shown_at is not None:
            return self.clock() - max(self._shown_at, self._ended_at) >= STYLE_TIMEOUT
        is_gone = self._has_script and not self._streams
        seconds = self.clock() - max(self._ended_at, self._left_at or 0)
        return seconds >= (RELOAD_TIMEOUT if is_gone else UNSEEN_TIMEOUT)
