"""`verify`: check that an audit log is as it was written."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import BinaryIO, Literal, NamedTuple, TypeAlias

from mcp_elicit_client._arguments import check_type
from mcp_elicit_client._files import LOCK_TIMEOUT, unlock
from mcp_elicit_client.audit.chain import (
    BEGINNING,
    HEAD_SIZE,
    Checkpoint,
    Keys,
    LogLine,
    is_beginning_of_line,
    read_line,
)
from mcp_elicit_client.audit.files import files_of, head_path, key_path, lock, open_to_verify, read_key
from mcp_elicit_client.exceptions import AuditError

MAX_LINE = 1_048_576
"""The maximum length of a line, in bytes."""


@dataclass(frozen=True, slots=True)
class Verification:
    """
    The result of `verify`.  It is true if the log is valid.

    Attributes:
        valid: The log is complete and unchanged up to its end.  Lines that
            were torn when a process was killed do not count.
        events: The number of valid lines.
        first: The number of the first of them: more than 1 if older files
            were deleted; 0 for an empty log.
        last: The last of them.  Store it as a checkpoint.
        violations: The inconsistencies, including torn lines; at most 100.
        more: The number of further violations.
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
    Find changes of a log.

    The log may be in use.  It is not written to.

    Args:
        path: The log.  Its backups are read as well.
        key: Its key; None for the key beside the log.
        checkpoint: A line that the log must contain, from
            `AuditLog.checkpoint`.

    Raises:
        AuditError: If the key cannot be used, or a file is not a regular one.
        OSError: If the log or the key cannot be read.
        TypeError: If an argument is of the wrong type.
        ValueError: If the key is too short.
    """
    check_type("key", key, bytes, bytearray, NoneType)
    check_type("checkpoint", checkpoint, tuple, NoneType, hint="Read a text with `Checkpoint.parse`.")
    log = Path(path)
    keys = Keys(_key_of(log) if key is None else key)
    with ExitStack() as stack:
        data, files = open_all(log, stack)
        head = keys.read_head(data)
        known = [Checkpoint(*checkpoint)] if checkpoint is not None else []
        known += [head.last] if head is not None else []
        verifier = ChainVerifier(keys, (each.sequence for each in known))
        for file in files:
            for number, line in file.lines():
                verifier.feed(line, file.name, number)
    verifier.end()
    if head is not None:
        verifier.check_checkpoint(head.last, "invalid_head", "The head file")
    elif data:
        verifier.report("invalid_head", "The head file was not written with this key.")
    elif checkpoint is None:
        verifier.report(
            "invalid_head", "The head file is missing. Without a checkpoint, truncation cannot be ruled out."
        )
    if checkpoint is not None:
        verifier.check_checkpoint(Checkpoint(*checkpoint), "checkpoint_mismatch", "The checkpoint")
    return Verification(
        verifier.is_valid, verifier.events, verifier.first, verifier.last, tuple(verifier.violations), verifier.more
    )


def _key_of(log: Path) -> bytes:
    """Read the key beside *log*.  If there is neither a key nor a log, the error names the log."""
    try:
        return read_key(key_path(log))
    except FileNotFoundError as error:
        if files_of(log):
            raise
        raise FileNotFoundError(error.errno, error.strerror, str(log)) from None


@dataclass(frozen=True, slots=True)
class OpenFile:
    """
    One file of a log that was opened.

    Attributes:
        name: The name of the file.
        file: The open file.
        size: The size when it was opened, in bytes.
    """

    name: str
    file: BinaryIO
    size: int

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the number and the bytes of each line, with line break.  Lines that are too long come in parts."""
        left, number, is_begun = self.size, 0, False
        while left > 0 and (data := self.file.readline(min(left, MAX_LINE))):
            number += not is_begun
            is_begun = not data.endswith(b"\n")
            left -= len(data)
            yield number, data


def open_all(log: Path, stack: ExitStack) -> tuple[bytes, list[OpenFile]]:
    """
    Open the files of a log, the oldest first, while no line is being written.

    Returns:
        The content of the head file, and the files.

    Raises:
        AuditError: If one is not a regular file.
        OSError: If a file is missing or cannot be read.
    """
    head = b""
    with ExitStack() as opening:
        with suppress(FileNotFoundError):
            file = opening.enter_context(open_to_verify(head_path(log)))
            with suppress(AuditError):  # another process holds the lock, so the last line may be incomplete
                lock(file.fileno(), LOCK_TIMEOUT)
                opening.callback(unlock, file.fileno())
            head = file.read(HEAD_SIZE + 1)
        opened = [(path.name, stack.enter_context(open_to_verify(path))) for path in files_of(log)]
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
"""The code of a `Violation`."""

MAX_VIOLATIONS = 100
"""The maximum number of violations that are listed.  Further ones are counted."""


@dataclass(frozen=True, slots=True)
class Violation:
    """
    An inconsistency of a log.

    Attributes:
        code: A stable code.  ``docs/audit-format.md`` lists all.
        message: A sentence that is safe to show.
        file: The name of the file; empty if it concerns no file.
        line: The line in that file, from 1; 0 if it concerns no line.
    """

    code: ViolationCode
    message: str
    file: str = ""
    line: int = 0


class ChainVerifier:
    """
    Verifies lines one by one, the oldest first.

    The line after a modified line is checked against the MAC of the modified
    line, and against that of the last valid line.

    Args:
        keys: The keys.
        watched: The numbers of the lines for `check_checkpoint`.

    Attributes:
        events: The number of valid lines.
        first: The number of the first of them; 0 before.
        last: The last of them.
        violations: The inconsistencies that were found.
        more: The number of further violations.
        is_valid: Only torn lines were found.
    """

    def __init__(self, keys: Keys, watched: Iterable[int]) -> None:
        self.events: int = 0
        self.first: int = 0
        self.last: Checkpoint = BEGINNING
        self.violations: list[Violation] = []
        self.more: int = 0
        self.is_valid: bool = True
        self._keys = keys
        self._macs = {BEGINNING.sequence: BEGINNING.mac}
        self._watched = frozenset(watched)
        self._above: LogLine | None = None
        self._reached = 0
        self._malformed: list[_Malformed] = []

    def feed(self, data: bytes, file: str, number: int) -> None:
        """Verify the next line, with its line break."""
        line = read_line(data.removesuffix(b"\n"))
        if line is None:
            above = self._malformed[-1] if self._malformed else None
            is_part = above is not None and (above.file, above.number) == (file, number)  # of a long line
            may_be_torn = above.may_be_torn if above is not None and is_part else is_beginning_of_line(data)
            self._malformed.append(_Malformed(file, number, len(data), may_be_torn))
            return
        if self._is_authentic(line):
            self._feed_authentic(line, file, number)
        else:
            self._feed_other(line, file, number)
        self._above = line

    def end(self) -> None:
        """Report what follows the last line: torn lines, of which the last may have got the line break of another."""
        self._report_malformed("The log ends in the middle of a line, after {size} bytes.")

    def check_checkpoint(
        self, checkpoint: Checkpoint, code: Literal["checkpoint_mismatch", "invalid_head"], what: str
    ) -> None:
        """Compare the log with a line that is known from elsewhere.  Its number must have been watched."""
        mac = self._macs.get(checkpoint.sequence)
        if checkpoint.sequence > self.last.sequence:
            self.report(
                "truncated",
                f"{what} includes {_lines(self.last.sequence + 1, checkpoint.sequence)}, missing from the end.",
            )
        elif mac is None and checkpoint.sequence < self.first:
            self.report(code, f"{what} is for line {checkpoint.sequence}, whose file was deleted. Use a later one.")
        elif mac != checkpoint.mac:
            self.report(code, f"{what} has another MAC for line {checkpoint.sequence}: the line was rewritten.")

    def report(self, code: ViolationCode, message: str, file: str = "", line: int = 0) -> None:
        """Add a violation."""
        self.is_valid = self.is_valid and code == "torn_write"
        if len(self.violations) < MAX_VIOLATIONS:
            self.violations.append(Violation(code, message, file, line))
        else:
            self.more += 1

    def _is_authentic(self, line: LogLine) -> bool:
        if line.previous is not None:
            return self._keys.authenticates(line, line.previous)
        return any(
            self._keys.authenticates(line, above) for above in {self.last.mac, self._above.mac if self._above else ""}
        )

    def _feed_authentic(self, line: LogLine, file: str, number: int) -> None:
        self._report_found(line, file, number)
        if not self.events and not self._reached:
            self._macs[line.sequence - 1] = line.previous or ""
        elif line.sequence <= self.last.sequence:
            self.report("out_of_order", f"Line {line.sequence} follows line {self.last.sequence}.", file, number)
            return
        elif line.sequence > self._reached + 1:
            self.report(
                "missing", f"Missing before this line: {_lines(self._reached + 1, line.sequence - 1)}.", file, number
            )
        elif line.sequence == self.last.sequence + 1 and line.previous not in (None, self.last.mac):
            self.report("out_of_order", "The line was written after another line than the one above.", file, number)
        self.events += 1
        self.first = self.first or line.sequence
        self.last = Checkpoint(line.sequence, line.mac)
        self._reached = line.sequence
        if line.sequence in self._watched:
            self._macs[line.sequence] = line.mac

    def _report_found(self, line: LogLine, file: str, number: int) -> None:
        """Report what the writer of *line* found, and the malformed lines before it."""
        found = line.event.get("found", {})
        torn = found.get("torn", 0)
        is_next = self._above is None or self._above.mac == line.previous
        if torn and is_next and not self._malformed:
            text = f"Missing before this line: {torn} bytes of a line that a process wrote when it was killed."
            self.report("missing", text, file, number)
        is_torn = torn and 0 <= sum(each.size for each in self._malformed) - torn <= 1
        self._report_malformed("{size} bytes of a line that a process wrote when it was killed." if is_torn else "")
        if "head" in found:
            self.report(
                "invalid_head",
                "The head file was missing here. Truncation before this line cannot be ruled out.",
                file,
                number,
            )
        if found.get("log") == "rolled back":
            text = (
                f"The log was deleted or rolled back here: a process that wrote to it missed line {found.get('known')}."
            )
            self.report("log_missing", text, file, number)
        elif "log" in found:
            self.report("log_missing", f"The log was missing here, up to line {line.sequence - 1}.", file, number)

    def _feed_other(self, line: LogLine, file: str, number: int) -> None:
        self._report_malformed()
        if line.previous is None and self._above is None:
            self.report("missing_start", "The beginning of the file is missing.", file, number)
        elif line.sequence > self._reached + 1:
            lines = _lines(self._reached + 1, line.sequence - 1)
            self.report("missing", f"Missing before this line: {lines}; or it is not a line of this log.", file, number)
        elif line.sequence <= self._reached:
            self.report("out_of_order", f"The line has the number {line.sequence}, which is not its own.", file, number)
        else:
            self.report("modified", "The line was changed.", file, number)
        self._reached = max(self._reached, line.sequence)

    def _report_malformed(self, torn: str = "") -> None:
        """Report the malformed lines: with the message *torn*, if they are torn lines and look like that."""
        for file, number, size, may_be_torn in self._malformed:
            if torn and may_be_torn:
                self.report("torn_write", torn.format(size=size), file, number)
            else:
                self.report("malformed", "This is not a line of an audit log.", file, number)
        self._malformed.clear()


class _Malformed(NamedTuple):
    """A malformed line, or a part of one that is too long."""

    file: str
    number: int
    size: int
    may_be_torn: bool


def _lines(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first} to {last}"
