"""
The format of the log: a chain in which each line authenticates the previous one.

A line is a JSON object whose last member is ``mac``, the HMAC-SHA256 of the
previous ``mac`` and of the line's own bytes up to there.  Without the key, no
line can be changed, removed or inserted unnoticed.  This module does no input
or output.
"""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic_core import from_json

from mcp_elicit_client._arguments import check_type

MIN_KEY = 16
"""The minimum length of a key, in bytes.  32 random bytes are recommended."""

HEAD_SIZE = 172
"""The length of a head, in bytes."""

_FINGERPRINT = 32
_BEGINNING = b'{"schema":'
_LINE = re.compile(rb'(\{.+),"mac":"([0-9a-f]{64})"\}', re.DOTALL)
_HEAD = re.compile(rb"([0-9]{20}) ([0-9a-f]{64}) ([0-9]{20}) ([0-9a-f]{64})\n")
_CHECKPOINT = re.compile(r"([0-9]{1,18}):([0-9a-f]{64})")


class Checkpoint(NamedTuple):
    """
    The sequence number and MAC of a line.  ``str`` writes it as ``SEQUENCE:MAC``.

    Store one elsewhere.  It proves later that no line up to it was removed or
    rewritten, not even with the key.

    Attributes:
        sequence: The number of the line, from 1; 0 for the start of the
            chain.
        mac: Its MAC, 64 hexadecimal digits.
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
        found = _CHECKPOINT.fullmatch(text)
        if found is None:
            raise ValueError("A checkpoint is SEQUENCE:MAC: a number and 64 hexadecimal digits.")
        return cls(int(found[1]), found[2])


BEGINNING = Checkpoint(0, "0" * 64)
"""The start of every chain, before the first line."""


class Head(NamedTuple):
    """
    The end of the chain, as its last writer stored it.

    Attributes:
        last: The last line.
        size: The size of the file with that line, in bytes.
    """

    last: Checkpoint
    size: int


@dataclass(frozen=True, slots=True)
class LogLine:
    """
    One line, not verified yet.

    Attributes:
        body: The bytes that its MAC authenticates.
        mac: Its MAC.
        event: Its JSON object.
    """

    body: bytes
    mac: str
    event: dict[str, Any]

    @property
    def sequence(self) -> int:
        """The number of the line in the chain."""
        return int(self.event["seq"])

    @property
    def previous(self) -> str | None:
        """The MAC of the previous line, if that is not the line above in the file."""
        previous = self.event.get("prev")
        return previous if isinstance(previous, str) else None


class Keys:
    """
    The keys for each use, derived from one key.

    Args:
        key: The key, at least 16 bytes.

    Raises:
        ValueError: If *key* is too short.
    """

    def __init__(self, key: bytes) -> None:
        check_type("key", key, bytes, bytearray)
        if len(key) < MIN_KEY:
            raise ValueError(f"The key of an audit log must have at least {MIN_KEY} bytes, not {len(key)}.")
        self._chain = _derive(key, b"mcp-elicit audit: chain")
        self._head = _derive(key, b"mcp-elicit audit: head")
        self._fingerprint = _derive(key, b"mcp-elicit audit: fingerprint")

    def mac(self, previous: str, body: bytes) -> str:
        """Return the MAC of *body* after the line with the MAC *previous*."""
        mac = self._chain.copy()
        mac.update(previous.encode() + body)
        return mac.hexdigest()

    def authenticates(self, line: LogLine, previous: str) -> bool:
        """Return True if *line* was written with this key, after the line with the MAC *previous*."""
        return hmac.compare_digest(self.mac(previous, line.body).encode(), line.mac.encode())

    def fingerprint(self, text: bytes) -> str:
        """Return 32 digits that are equal for equal texts, and reveal nothing without the key."""
        fingerprint = self._fingerprint.copy()
        fingerprint.update(text)
        return fingerprint.hexdigest()[:_FINGERPRINT]

    def write_head(self, head: Head) -> bytes:
        """Return *head* as a line of `HEAD_SIZE` bytes, with its MAC."""
        text = f"{head.last.sequence:020d} {head.last.mac} {head.size:020d}".encode()
        return b"%s %s\n" % (text, self._head_mac(text))

    def read_head(self, data: bytes) -> Head | None:
        """Read a head; None if it was not written with this key."""
        found = _HEAD.fullmatch(data)
        if found is None or not hmac.compare_digest(self._head_mac(data.rpartition(b" ")[0]), found[4]):
            return None
        return Head(Checkpoint(int(found[1]), found[2].decode()), int(found[3]))

    def _head_mac(self, text: bytes) -> bytes:
        mac = self._head.copy()
        mac.update(text)
        return mac.hexdigest().encode()


def _derive(key: bytes, use: bytes) -> hmac.HMAC:
    return hmac.new(hmac.digest(key, use, "sha256"), digestmod="sha256")


def read_line(data: bytes) -> LogLine | None:
    """Read one line, without its line break; None if it is not a line of an audit log."""
    found = _LINE.fullmatch(data)
    if found is None:
        return None
    try:
        event = from_json(data)
    except ValueError:
        return None
    if not isinstance(event, dict) or type(event.get("seq")) is not int or event.get("mac") != found[2].decode():
        return None
    return LogLine(found[1], found[2].decode(), event)


def is_beginning_of_line(data: bytes) -> bool:
    """Return True if *data* may be what is left of a line that was cut off.  The end may be lost, or read as zeros."""
    written = data.rstrip(b"\n\0")
    if not (written.startswith(_BEGINNING) or _BEGINNING.startswith(written)):
        return False
    try:
        from_json(written)
    except ValueError:
        return True
    return False


def follow_chain(keys: Keys, last: Checkpoint, tail: bytes) -> tuple[Checkpoint, int]:
    """
    Follow the chain from *last* through the lines of *tail*.

    Returns:
        The last line of the chain, and the number of bytes after it: a part
        of a line, if a process was killed while it wrote.
    """
    end = at = 0
    for data in tail.split(b"\n"):
        at = min(at + len(data) + 1, len(tail))
        line = read_line(data)
        if line is not None and line.sequence == last.sequence + 1 and keys.authenticates(line, last.mac):
            last, end = Checkpoint(line.sequence, line.mac), at
    return last, len(tail) - end


def find_end(keys: Keys, tail: bytes) -> tuple[Checkpoint, int] | None:
    """
    Find the end of the chain without a start: the last line whose MAC fits the previous line.

    Returns:
        As `follow_chain`; None if no line of *tail* fits the key.
    """
    last: Checkpoint | None = None
    end = at = 0
    previous = ""
    for data in tail.split(b"\n"):
        at = min(at + len(data) + 1, len(tail))
        line = read_line(data)
        if line is None:
            continue
        if keys.authenticates(line, line.previous or previous):
            last, end = Checkpoint(line.sequence, line.mac), at
        previous = line.mac
    return None if last is None else (last, len(tail) - end)
