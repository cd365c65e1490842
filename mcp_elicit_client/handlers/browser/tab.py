"""One question's page: what opens it, who looks at it, when it is over."""

from __future__ import annotations

import contextlib
import secrets
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

GRACE = 3.0
"""How long a page may be away before it counts as closed, in seconds: a reload takes less."""

FAREWELL = 0.5
"""How long a page that has told its end can still fetch its style, in seconds."""

GOODBYE = 1.0
"""How long the end of the process waits for a page to tell the end of its question, in seconds."""

UNTOLD = 60.0
"""How long a page that does not know yet of its end is waited for, in seconds."""

_BITS = 32

_REDIRECT = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={url}">
<title>A question</title>
<p><a href="{url}">Go on to the question</a></p>
</html>
"""


@dataclass(slots=True, eq=False)
class BrowserTab:
    """
    The page of one question.

    It is opened by `token`, once; from then on it lives under `key`.  Both
    are 256 random bits, and neither tells the other.

    Attributes:
        owner: Whose question it is, for the inbox.
        origin: Where the page is served.
        token: Opens it, once.
        key: Under what it lives.
        is_entered: Whether it has been opened.
        was_closed: Whether closing it was the answer.
    """

    owner: str
    origin: str
    clock: Callable[[], float] = time.monotonic
    token: str = field(default_factory=lambda: secrets.token_urlsafe(_BITS), repr=False)
    key: str = field(default_factory=lambda: secrets.token_urlsafe(_BITS), repr=False)
    is_entered: bool = False
    was_closed: bool = False
    _file: Path | None = None
    _streams: int = 0
    _requests: int = 0
    _has_script: bool = False
    _left: float | None = None
    _ended: float | None = None
    _told: float | None = None

    @property
    def url(self) -> str:
        """What opens it; a secret until it was opened."""
        return f"{self.origin}/{self.token}"

    def write(self, folder: Path | None) -> Path:
        """
        Write a file that leads to the page, which nobody else can read.

        Raises:
            OSError: If it cannot be written.
        """
        path = Path(tempfile.mkdtemp(prefix="mcp-elicit-", dir=folder)) / "question.html"
        self._file = path
        path.touch(mode=0o600)
        path.write_text(_REDIRECT.format(url=escape(self.url)), encoding="utf-8")
        return path

    def enter(self) -> None:
        """Be opened: the token is spent, and the file with it."""
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
        """A request of the page begins."""
        self._left = None
        if is_stream:
            self._has_script = True
            self._streams += 1
        else:
            self._requests += 1

    def finish(self, *, is_stream: bool) -> None:
        """A request of the page has ended; with its stream of events the page is gone."""
        if is_stream:
            self._streams -= 1
            self.leave()
        else:
            self._requests -= 1

    def leave(self) -> None:
        """The page says that it is closed, or was closed; it may be a reload."""
        self._has_script = True
        if not self._streams:
            self._left = self.clock()

    def end(self) -> None:
        """The question has its answer, or wants none any more."""
        self._ended = self._ended or self.clock()
        if not self.is_entered:
            self.discard()

    def tell(self) -> None:
        """Whoever looks at the page has seen that the question is over."""
        self._told = self._told or self.clock()

    @property
    def is_closed(self) -> bool:
        """Whether the person has closed it, and the question is open."""
        return self._ended is None and self._left is not None and self.clock() - self._left >= GRACE

    @property
    def is_saying_goodbye(self) -> bool:
        """Whether the end of the process has to wait for it."""
        return self._ended is not None and not self.is_over and self.clock() - self._ended < GOODBYE

    @property
    def is_over(self) -> bool:
        """Whether nobody needs it any more."""
        if self._ended is None or self._requests:
            return False
        if not self.is_entered:
            return True
        if self._told is not None:
            return self.clock() - max(self._told, self._ended) >= FAREWELL
        is_gone = self._has_script and not self._streams
        return self.clock() - max(self._ended, self._left or 0) >= (GRACE if is_gone else UNTOLD)
