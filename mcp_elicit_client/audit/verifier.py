"""`verify`: check that an audit log is as it was written."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, TypeAlias

from mcp_elicit_client.audit.chain import BEGINNING, HEAD_SIZE, Checkpoint, Keys, Line, read_line
from mcp_elicit_client.audit.files import files_of, head_path, key_path, lock, read_key, unlock
from mcp_elicit_client.audit.writer import LOCK_TIMEOUT
from mcp_elicit_client.exceptions import AuditError

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
        checkpoint: A place that the log must still have, from `AuditLog.anchor`.

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
        seen.report(
            "invalid_head", "there is no head file: without an anchor, nobody can tell whether the end was cut off"
        )
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


ViolationCode: TypeAlias = Literal[
    "checkpoint_mismatch",
    "truncated",
    "modified",
    "invalid_head",
    "log_missing",
    "missing",
    "out_of_order",
    "missing_start",
    "torn_write",
    "malformed",
]
"""The code of a `Damage`."""

MAX_VIOLATIONS = 100
"""How many damages are told; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Violation:
    """
    Something that is not as it was written.

    Attributes:
        code: One stable word; ``docs/audit.md`` says what each means.
        message: A sentence, safe to show.
        file: The name of the file; empty if it is about none.
        line: The line in that file, from 1 on; 0 if it is about none.
    """

    code: ViolationCode
    message: str
    file: str = ""
    line: int = 0


class ChainVerifier:
    """
    Sees one line after the other, the oldest first, and finds what is not in order.

    A damaged line does not hide the next: that is held against the seal
    which the damaged one bears, and against the last one that was in order.

    Args:
        keys: What sealed the lines.
        watched: Numbers of lines whose seals `expect` will ask for.

    Attributes:
        events: How many lines were in order.
        first: The number of the first of them; 0 before.
        last: The last of them.
        damages: What is not in order.
        more: How many more damages there are.
        is_whole: Whether nothing but torn lines was found.
    """

    def __init__(self, keys: Keys, watched: Iterable[int] = ()) -> None:
        self.events: int = 0
        self.first: int = 0
        self.last: Checkpoint = BEGINNING
        self.violations: list[Violation] = []
        self.more: int = 0
        self.is_whole: bool = True
        self._keys = keys
        self._seals = {BEGINNING.sequence: BEGINNING.mac}
        self._watched = frozenset(watched)
        self._above: Line | None = None
        self._reached = 0
        self._unreadable: list[tuple[str, int, int]] = []

    def feed(self, data: bytes, file: str, number: int) -> None:
        """Look at the next line, its line break included."""
        line = read_line(data.removesuffix(b"\n"))
        if line is None:
            self._unreadable.append((file, number, len(data)))
            return
        if self._is_true(line):
            self._see_true(line, file, number)
        else:
            self._see_false(line, file, number)
        self._above = line

    def end(self, *, in_a_line: bool) -> None:
        """Look at what is left after the last line, which may have ended in the middle."""
        if in_a_line and self._unreadable:
            file, number, size = self._unreadable.pop()
            self.report("torn_write", f"the log ends in the middle of a line, after {size} bytes", file, number)
        self._settle(0)

    def check_checkpoint(
        self, place: Checkpoint, code: Literal["checkpoint_mismatch", "invalid_head"], what: str
    ) -> None:
        """Compare with a place that is known from elsewhere; its number must have been watched."""
        seal = self._seals.get(place.sequence)
        if place.sequence > self.last.sequence:
            self.report(
                "truncated", f"{what} knows {_lines(self.last.sequence + 1, place.sequence)}, gone from the end"
            )
        elif seal is None and place.sequence < self.first:
            self.report(code, f"{what} is for line {place.sequence}, whose file was deleted; take a later one")
        elif seal != place.mac:
            self.report(code, f"{what} knows line {place.sequence} with another seal: it was written anew")

    def report(self, code: ViolationCode, message: str, file: str = "", line: int = 0) -> None:
        """Note a damage."""
        self.is_whole = self.is_whole and code == "torn_write"
        if len(self.violations) < MAX_VIOLATIONS:
            self.violations.append(Violation(code, message, file, line))
        else:
            self.more += 1

    def _is_true(self, line: Line) -> bool:
        if line.before is not None:
            return self._keys.fits(line, line.before)
        return any(self._keys.fits(line, above) for above in {self.last.mac, self._above.mac if self._above else ""})

    def _see_true(self, line: Line, file: str, number: int) -> None:
        found = line.event.get("found", {})
        self._settle(found.get("torn", 0))
        if "head" in found:
            self.report(
                "invalid_head", "the head file was gone here; what was cut off before is not known", file, number
            )
        if "log" in found:
            self.report("log_missing", f"the log was gone here, up to line {line.sequence - 1}", file, number)
        if not self.events and not self._reached:
            self._seals[line.sequence - 1] = line.before or ""
        elif line.sequence <= self.last.sequence:
            self.report("out_of_order", f"it is line {line.sequence}, after line {self.last.sequence}", file, number)
            return
        elif line.sequence > self._reached + 1:
            self.report("missing", f"{_lines(self._reached + 1, line.sequence - 1)} before it, gone", file, number)
        elif line.sequence == self.last.sequence + 1 and line.before not in (None, self.last.mac):
            self.report("out_of_order", "it was written after another line than the one above", file, number)
        self.events += 1
        self.first = self.first or line.sequence
        self.last = Checkpoint(line.sequence, line.mac)
        self._reached = line.sequence
        if line.sequence in self._watched:
            self._seals[line.sequence] = line.mac

    def _see_false(self, line: Line, file: str, number: int) -> None:
        self._settle(0)
        if line.before is None and self._above is None:
            self.report(
                "missing_start", "the file does not begin with this line: what was before it is gone", file, number
            )
        elif line.sequence > self._reached + 1:
            lines = _lines(self._reached + 1, line.sequence - 1)
            self.report("missing", f"{lines} before it, gone, or it is no line of this log", file, number)
        elif line.sequence <= self._reached:
            self.report("out_of_order", f"it says to be line {line.sequence}, and is not", file, number)
        else:
            self.report("modified", "it is not as it was written", file, number)
        self._reached = max(self._reached, line.sequence)

    def _settle(self, torn: int) -> None:
        """Tell what the unreadable lines were: torn, if the next line that was written says so."""
        is_torn = torn and 0 <= sum(size for _, _, size in self._unreadable) - torn <= 1
        for file, number, size in self._unreadable:
            if is_torn:
                self.report("torn_write", f"{size} bytes that a process left when it was killed", file, number)
            else:
                self.report("malformed", "it is no line of a log", file, number)
        self._unreadable.clear()


def _lines(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first} to {last}"
