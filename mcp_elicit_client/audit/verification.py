"""Has anybody changed the log?"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from mcp_elicit_client.audit.chain import HEAD_SIZE, Checkpoint, Keys
from mcp_elicit_client.audit.errors import AuditError
from mcp_elicit_client.audit.examination import Violation, ChainVerifier
from mcp_elicit_client.audit.files import files_of, head_path, key_path, lock, read_key, unlock
from mcp_elicit_client.audit.journal import LOCK_TIMEOUT

MAX_LINE = 1_048_576
"""The longest line that is read, in bytes."""


@dataclass(frozen=True, slots=True)
class Verification:
    """
    Whether a log is as it was written.  Its truth is `valid`.

    Attributes:
        valid: Whether it is, up to its end.  A line that was torn when a
            process was killed is no harm to it.
        events: How many lines are as they were written.
        first: The number of the first of them, more than 1 where older files
            were deleted; 0 if there is none.
        last: The last of them: the anchor to keep.
        damages: What is not in order, the torn lines too; at most 100.
        more: How many more damages there are.
    """

    valid: bool
    events: int
    first: int
    last: Checkpoint
    violations: tuple[Violation, ...] = ()
    more: int = 0

    def __bool__(self) -> bool:
        return self.valid


def verify(
    path: str | os.PathLike[str], key: bytes | None = None, checkpoint: Checkpoint | tuple[int, str] | None = None
) -> Verification:
    """
    Find out whether anybody has changed a log, and where.

    Nothing is changed, and the log may be in use.

    Args:
        path: The log; the older files beside it are read too.
        key: Its key; None for the one beside it.
        anchor: A place that the log must still have, from `AuditLog.anchor`.

    Raises:
        AuditError: If the key cannot be used.
        OSError: If the log or the key cannot be read.
        ValueError: If the key is too short.
    """
    log = Path(path)
    keys = Keys(read_key(key_path(log)) if key is None else key)
    with ExitStack() as stack:
        data, files = open_all(log, stack)
        head = keys.read_head(data)
        known = [Checkpoint(*checkpoint)] if checkpoint is not None else []
        known += [head.last] if head is not None else []
        seen = ChainVerifier(keys, (each.sequence for each in known))
        line = b""
        for file in files:
            for number, line in file.lines():
                seen.feed(line, file.name, number)
    seen.end(in_a_line=not line.endswith(b"\n"))
    if head is not None:
        seen.check_checkpoint(head.last, "invalid_head", "the head file")
    elif data:
        seen.report("invalid_head", "the head file does not fit the key")
    elif checkpoint is None:
        seen.report("invalid_head", "there is no head file: without an anchor, nobody can tell whether the end was cut off")
    if checkpoint is not None:
        seen.check_checkpoint(Checkpoint(*checkpoint), "checkpoint_mismatch", "the anchor")
    return Verification(seen.is_whole, seen.events, seen.first, seen.last, tuple(seen.violations), seen.more)


@dataclass(frozen=True, slots=True)
class OpenFile:
    """
    One file of a log, as it was at one moment.

    Attributes:
        name: Its name.
        file: It itself.
        size: Its size at that moment, in bytes.
    """

    name: str
    file: BinaryIO
    size: int

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Read its lines, each with its number and its line break.  What is too long comes in parts."""
        left, number, is_begun = self.size, 0, False
        while left > 0 and (data := self.file.readline(min(left, MAX_LINE))):
            number += not is_begun
            is_begun = not data.endswith(b"\n")
            left -= len(data)
            yield number, data


def open_all(log: Path, stack: ExitStack) -> tuple[bytes, list[OpenFile]]:
    """
    Open the files of a log, the oldest first, between two lines of whoever writes.

    Returns:
        What is in its head file, and the files.

    Raises:
        OSError: If one of them cannot be read, or there is none.
    """
    head = b""
    with ExitStack() as moment:
        with suppress(FileNotFoundError):
            keeper = moment.enter_context(head_path(log).open("rb"))
            with suppress(AuditError):  # others keep it locked: the last line may be a half one
                lock(keeper.fileno(), LOCK_TIMEOUT)
                moment.callback(unlock, keeper.fileno())
            head = keeper.read(HEAD_SIZE + 1)
        opened = [(path.name, stack.enter_context(path.open("rb"))) for path in files_of(log)]
        files = [OpenFile(name, file, os.fstat(file.fileno()).st_size) for name, file in opened]
    if not files:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(log))
    return head, files
