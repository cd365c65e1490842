"""
The chain: each line is sealed with the seal of the line before it.

Pure: bytes in, bytes out.  A line is a JSON object whose last member is
``mac``, the HMAC-SHA256 of the ``mac`` before it and of the line's own bytes
up to there.  Who has no key can neither change a line, nor take one out, nor
put one in, without breaking the seal of that line or of the next.
"""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic_core import from_json

MIN_KEY = 16
"""The shortest key, in bytes.  32 random ones are as good as it gets."""

HEAD_SIZE = 172
"""How long a head is, in bytes."""

_FINGERPRINT = 32
_SEALED = re.compile(rb'(\{.+),"mac":"([0-9a-f]{64})"\}', re.DOTALL)
_HEAD = re.compile(rb"([0-9]{20}) ([0-9a-f]{64}) ([0-9]{20}) ([0-9a-f]{64})\n")
_ANCHOR = re.compile(r"([0-9]{1,18}):([0-9a-f]{64})")


class Checkpoint(NamedTuple):
    """
    A place in the chain; ``str`` writes it as ``SEQUENCE:MAC``.

    Whoever keeps one elsewhere can tell later that nothing up to there was
    cut off or rewritten, not even by somebody with the key.

    Attributes:
        sequence: The number of the line, from 1 on; 0 before the first.
        mac: Its seal, 64 hexadecimal digits.
    """

    sequence: int
    mac: str

    def __str__(self) -> str:
        return f"{self.sequence}:{self.mac}"

    @classmethod
    def parse(cls, text: str) -> Checkpoint:
        """
        Read ``SEQUENCE:MAC``.

        Raises:
            ValueError: If *text* is something else.
        """
        found = _ANCHOR.fullmatch(text)
        if found is None:
            raise ValueError("an anchor is SEQUENCE:MAC, a number and 64 hexadecimal digits")
        return cls(int(found[1]), found[2])


BEGINNING = Checkpoint(0, "0" * 64)
"""Where every chain begins: before the first line."""


class Head(NamedTuple):
    """
    The end of the chain as its last writer left it.

    Attributes:
        last: The last line.
        size: The bytes of the file that it is in.
    """

    last: Checkpoint
    size: int


@dataclass(frozen=True, slots=True)
class Line:
    """
    One line, read but not yet believed.

    Attributes:
        body: The bytes that its seal is for.
        mac: Its seal.
        event: What it says.
    """

    body: bytes
    mac: str
    event: dict[str, Any]

    @property
    def sequence(self) -> int:
        """Its number in the chain."""
        return int(self.event["seq"])

    @property
    def before(self) -> str | None:
        """The seal that it says to follow, where that is not the line above it in the file."""
        before = self.event.get("prev")
        return before if isinstance(before, str) else None


class Keys:
    """
    What seals, made from one key: each use has a key of its own.

    Args:
        key: The key, at least 16 bytes.

    Raises:
        ValueError: If *key* is shorter.
    """

    def __init__(self, key: bytes) -> None:
        if len(key) < MIN_KEY:
            raise ValueError(f"the key of an audit log has at least {MIN_KEY} bytes, not {len(key)}")
        self._chain = _use(key, b"mcp-elicit audit: chain")
        self._head = _use(key, b"mcp-elicit audit: head")
        self._fingerprint = _use(key, b"mcp-elicit audit: fingerprint")

    def seal(self, before: str, body: bytes) -> str:
        """Return the seal of *body* after the line that is sealed with *before*."""
        seal = self._chain.copy()
        seal.update(before.encode() + body)
        return seal.hexdigest()

    def fits(self, line: Line, before: str) -> bool:
        """Tell whether *line* was sealed with this key, after the line that is sealed with *before*."""
        return hmac.compare_digest(self.seal(before, line.body).encode(), line.mac.encode())

    def fingerprint(self, text: bytes) -> str:
        """Name *text* so that equal texts have equal names, and nobody without the key finds out which: 32 digits."""
        fingerprint = self._fingerprint.copy()
        fingerprint.update(text)
        return fingerprint.hexdigest()[:_FINGERPRINT]

    def write_head(self, head: Head) -> bytes:
        """Return *head* as a line of `HEAD_SIZE` bytes, sealed."""
        text = f"{head.last.sequence:020d} {head.last.mac} {head.size:020d}".encode()
        return b"%s %s\n" % (text, self._seal_of_head(text))

    def read_head(self, data: bytes) -> Head | None:
        """Read a head; None if it was not sealed with this key."""
        found = _HEAD.fullmatch(data)
        if found is None or not hmac.compare_digest(self._seal_of_head(data.rpartition(b" ")[0]), found[4]):
            return None
        return Head(Checkpoint(int(found[1]), found[2].decode()), int(found[3]))

    def _seal_of_head(self, text: bytes) -> bytes:
        seal = self._head.copy()
        seal.update(text)
        return seal.hexdigest().encode()


def _use(key: bytes, what_for: bytes) -> hmac.HMAC:
    return hmac.new(hmac.digest(key, what_for, "sha256"), digestmod="sha256")


def read_line(data: bytes) -> Line | None:
    """Read one line, without its line break; None if it is no line of an audit log."""
    found = _SEALED.fullmatch(data)
    if found is None:
        return None
    try:
        event = from_json(data)
    except ValueError:
        return None
    if not isinstance(event, dict) or type(event.get("seq")) is not int or event.get("mac") != found[2].decode():
        return None
    return Line(found[1], found[2].decode(), event)


def follow_chain(keys: Keys, last: Checkpoint, tail: bytes) -> tuple[Checkpoint, int]:
    """
    Follow the chain from *last* through the lines of *tail*.

    Returns:
        The last line that belongs to it, and how many bytes come after it
        that are no line: what a process left that was killed in the middle.
    """
    end = at = 0
    for data in tail.split(b"\n"):
        at = min(at + len(data) + 1, len(tail))
        line = read_line(data)
        if line is not None and line.sequence == last.sequence + 1 and keys.fits(line, last.mac):
            last, end = Checkpoint(line.sequence, line.mac), at
    return last, len(tail) - end


def find_end(keys: Keys, tail: bytes) -> tuple[Checkpoint, int] | None:
    """
    Find the end of the chain without knowing where to begin: the last line whose seal fits the line before it.

    Returns:
        As `go_on`; None if no line of *tail* fits the key.
    """
    last: Checkpoint | None = None
    end = at = 0
    before = ""
    for data in tail.split(b"\n"):
        at = min(at + len(data) + 1, len(tail))
        line = read_line(data)
        if line is None:
            continue
        if keys.fits(line, line.before or before):
            last, end = Checkpoint(line.sequence, line.mac), at
        before = line.mac
    return None if last is None else (last, len(tail) - end)
