"""`ChainWriter`: writes lines, each chained to the previous one, from several threads and processes."""

from __future__ import annotations

import functools
import json
import logging
import os
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from mcp_elicit_client._concurrency import ForkSafeLock
from mcp_elicit_client._files import LOCK_TIMEOUT, sync_folder, unlock
from mcp_elicit_client.audit.chain import BEGINNING, HEAD_SIZE, Checkpoint, Head, Keys, find_end, follow_chain
from mcp_elicit_client.audit.continuity import WrittenLine, contains_line
from mcp_elicit_client.audit.files import (
    backup_path,
    backups_of,
    files_of,
    head_path,
    key_path,
    lock,
    make_key,
    open_safely,
    read_at,
    read_key,
    write_all,
    write_at,
)
from mcp_elicit_client.exceptions import AuditError

T = TypeVar("T")

_logger = logging.getLogger("mcp_elicit_client")

SCHEMA = 1
"""The version of the format of a line."""

_CLOSED = -1
_MAX_OVERHEAD = 300


class ChainWriter:
    """
    A chain of lines in a file and its backups.

    Threads and processes may share it.  Files are opened when they are used.

    Args:
        path: The file.  Its folder must exist.
        key: The key; None for a key beside the file, which is created if
            there is neither a key nor a log.
        max_bytes: The size of a file, in bytes, before it is rotated.
        backup_count: The number of rotated files that are kept.
        fsync: Write each line to the disk before continuing.

    Attributes:
        path: The file.
        lock_timeout: The maximum time to wait for another process, in
            seconds.
    """

    def __init__(self, path: Path, key: bytes | None, *, max_bytes: int, backup_count: int, fsync: bool) -> None:
        self.path = path
        self._name = os.fspath(path)
        self.lock_timeout = LOCK_TIMEOUT
        self._keys = None if key is None else Keys(key)
        self._max_bytes = max_bytes
        self._backup_count = backup_count
        self._fsync = fsync
        self._head = self._log = _CLOSED
        self._inode = (0, 0)
        self._last_head: Head | None = None
        self._head_data = b""
        self._known: WrittenLine | None = None
        self._is_growing = False  # beyond `max_bytes`
        self._threads = ForkSafeLock()
        _writers.add(self)

    @property
    def keys(self) -> Keys:
        """
        The keys.

        Raises:
            AuditError: If the key cannot be used, or is missing.
            OSError: If it can neither be read nor written.
        """
        if self._keys is None:
            self._keys = Keys(self._load_key())
        return self._keys

    def _load_key(self) -> bytes:
        path = key_path(self.path)
        try:
            return read_key(path)
        except FileNotFoundError:
            if any(each.stat().st_size for each in files_of(self.path)):
                raise AuditError(
                    f"The key {path} of {self.path} is missing. Restore the key, or move the log to another place."
                ) from None
        return make_key(path)

    def check(self) -> None:
        """
        Check that a line can be written.

        Raises:
            AuditError: If it cannot.
            OSError: If it cannot.
        """
        self._exclusively(self._position)

    def last(self) -> Checkpoint:
        """
        Return the last line of all processes.

        Raises:
            AuditError: If it cannot be found.
            OSError: If it cannot be read.
        """
        position = self._exclusively(self._position)
        # After a rollback, the last line is still the last one that was written.
        return self._known.line if "known" in position.found and self._known is not None else position.last

    def append(self, event: bytes) -> Checkpoint:
        """
        Write one line.

        Args:
            event: A JSON object that is not empty, in ASCII.

        Returns:
            The number and MAC of the line.

        Raises:
            AuditError: If it cannot be written.
            OSError: If it cannot be written.  A part may have been written.
        """
        return self._exclusively(functools.partial(self._append, event))

    def close(self) -> None:
        """Close the files.  The next line opens them again."""
        with self._threads:
            self._close()

    def _exclusively(self, work: Callable[[], T]) -> T:
        """Run *work* while no other thread or process writes.  After a failure, the files are opened again."""
        with self._threads:
            try:
                self._lock()
                result = work()
            except BaseException:
                self._close()
                raise
            unlock(self._head)
            return result

    def _append(self, event: bytes) -> Checkpoint:
        position = self._position()
        # What was found is reported in the same file, before anything else can fail.
        is_sound = position.is_after and not position.found
        is_rotated = is_full = False
        if is_sound and not position.is_open:
            if self._last_head != (position.last, position.size):
                # Otherwise a part of a line in a new file would look like a truncated log, or that of another key.
                self._write_head(Head(position.last, position.size))
            is_full = 0 < position.size > self._max_bytes - len(event) - _MAX_OVERHEAD
        if is_full and self._rename_files(position.size):
            position, is_rotated = self._begin_file(position.last), True
        if self._fsync and not position.size:
            # Before the first line of a file: the head of the previous file would make it look like a truncated log.
            os.fsync(self._head)
            sync_folder(self.path.parent)
        sequence = position.last.sequence + 1
        body = b'{"schema":%d,"seq":%d,%s%s' % (SCHEMA, sequence, _continuation(position), event[1:-1])
        if not is_sound:
            found = ", ".join(f"{name} {value}" for name, value in position.found.items()) or "log truncated"
            _logger.error("the audit log %s was changed before line %d: %s", self.path, sequence, found)
        line = Checkpoint(sequence, self.keys.mac(position.last.mac, body))
        data = b'%s%s,"mac":"%s"}\n' % (b"\n" if position.is_open else b"", body, line.mac.encode())
        write_all(self._log, data)
        if self._fsync:
            os.fsync(self._log)
        self._write_head(Head(line, position.size + len(data)))
        if is_rotated and not self._backup_count:  # until now, nothing else had the end of the chain
            backup_path(self.path, 1).unlink()
        self._known = WrittenLine(line, *self._inode, position.size + len(data))
        return line

    def _lock(self) -> None:
        while True:
            if self._head == _CLOSED:
                self._head = open_safely(head_path(self.path), os.O_RDWR | os.O_CREAT)
            lock(self._head, self.lock_timeout)
            if os.fstat(self._head).st_nlink:
                return
            self._close()  # it was removed meanwhile: other processes lock another file

    def _position(self) -> WritePosition:
        data = read_at(self._head, 0, HEAD_SIZE)
        size = self._open_log()
        if data == self._head_data and self._last_head is not None and self._last_head.size == size:
            return WritePosition(self._last_head.last, size)
        self._last_head = None  # The log may go back to it later.
        position = find_write_position(self.keys, self.path, self._log, size, data)
        if self._known is not None and not contains_line(self.path, self._known, position.last):
            found = {**position.found, "log": "rolled back", "known": self._known.line.sequence}
            return position._replace(found=found, is_after=False)
        if position.is_after and not position.found:
            self._known = WrittenLine(position.last, *self._inode, size)
        return position

    def _open_log(self) -> int:
        """Open the log, unless it is open already.  Return its size."""
        try:
            found = os.stat(self._name, follow_symlinks=False)  # noqa: PTH116 -- half the time of Path.stat
        except FileNotFoundError:
            found = None
        if self._log != _CLOSED and (found is None or (found.st_dev, found.st_ino) != self._inode):
            os.close(self._log)
            self._log = _CLOSED
        if found is None or self._log == _CLOSED:
            self._log = open_safely(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            found = os.fstat(self._log)
            self._inode = (found.st_dev, found.st_ino)
        return found.st_size

    def _rename_files(self, size: int) -> bool:
        """
        Rename the file to its first backup, and each backup to the next.

        Args:
            size: The size of the file, in bytes.

        Returns:
            False if that fails.  The file then grows, since no event must be
            lost for that, and the next event tries again.
        """
        os.close(self._log)
        self._log = _CLOSED
        try:
            for number in backups_of(self.path):
                if number > self._backup_count:  # of a larger `backup_count`: what follows it is overwritten below
                    backup_path(self.path, number).unlink()
            numbers = 1
            while numbers < self._backup_count and backup_path(self.path, numbers).exists():
                numbers += 1
            for number in range(numbers, 1, -1):
                backup_path(self.path, number - 1).replace(backup_path(self.path, number))
            self.path.replace(backup_path(self.path, 1))
        except OSError as error:
            if not self._is_growing:
                reason = error.strerror or "I/O error"
                _logger.error("the audit log %s cannot be rotated, and grows: %s", self.path, reason)  # noqa: TRY400
            self._is_growing = True
            if self._open_log() != size:
                raise
            return False
        self._is_growing = False
        return True

    def _begin_file(self, last: Checkpoint) -> WritePosition:
        """Start a new file after the line *last*."""
        size = self._open_log()
        self._write_head(Head(last, size))  # otherwise a part of a line in the new file would look like a truncated log
        return WritePosition(last, size)

    def _write_head(self, head: Head) -> None:
        data = self.keys.write_head(head)
        write_at(self._head, 0, data)
        self._last_head, self._head_data = head, data

    def _close(self) -> None:
        for descriptor in (self._log, self._head):
            if descriptor != _CLOSED:
                os.close(descriptor)  # this also unlocks the head
        self._head = self._log = _CLOSED
        self._last_head, self._head_data = None, b""

    def __del__(self) -> None:
        if hasattr(self, "_head_data"):
            self._close()


def _continuation(position: WritePosition) -> bytes:
    """Return the JSON members for what the line above does not show."""
    previous = "" if position.is_after and position.size else f'"prev":"{position.last.mac}",'
    found = f'"found":{json.dumps(dict(position.found), separators=(",", ":"))},' if position.found else ""
    return f"{previous}{found}".encode("ascii")


_writers: weakref.WeakSet[ChainWriter] = weakref.WeakSet()


def _after_fork() -> None:
    # A forked process shares the lock of its parent, so the lock would exclude neither.
    for writer in _writers:
        writer._close()  # noqa: SLF001


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


_TAIL = 1_048_576


class WritePosition(NamedTuple):
    """
    Where the next line is written.

    Attributes:
        last: The last line of the chain.
        size: The size of the file, in bytes.
        found: The inconsistencies that were found, for the next line.
        is_after: *last* is the last line of the file.
        is_open: The file ends in the middle of a line.
    """

    last: Checkpoint
    size: int
    found: Mapping[str, str | int] = MappingProxyType({})
    is_after: bool = True
    is_open: bool = False


def find_write_position(keys: Keys, log: Path, descriptor: int, size: int, data: bytes) -> WritePosition:
    """
    Find the end of the chain.

    If the head and the log differ, the head applies: the log may have been
    truncated.

    Args:
        keys: The keys.
        log: The path of the log.
        descriptor: The log.
        size: Its size, in bytes.
        data: The content of the head file.

    Raises:
        AuditError: If the log was written with another key.
        OSError: If it cannot be read.
    """
    head = keys.read_head(data)
    if head is None:
        return _without_head(keys, log, descriptor, size, "invalid" if data else "missing")
    if head.size == size:
        return WritePosition(head.last, size)
    if size > head.size:
        return _past_head(keys, descriptor, size, head)
    if size:
        return WritePosition(head.last, size, is_after=False, is_open=_is_open(descriptor, size))
    # The file was rotated, or it was lost.
    end = _end_of_backups(keys, log)
    if end is not None and end.sequence >= head.last.sequence:
        return WritePosition(end, 0)
    return WritePosition(head.last, 0, {"log": "missing"})


def _past_head(keys: Keys, descriptor: int, size: int, head: Head) -> WritePosition:
    """Continue after a process was killed before it wrote the head, or in the middle of a line."""
    tail = read_at(descriptor, head.size, _TAIL)
    last, rest = follow_chain(keys, head.last, tail)
    torn = size - head.size - len(tail) + rest
    return WritePosition(
        last, size, {"torn": torn} if torn else {}, is_after=not torn, is_open=_is_open(descriptor, size)
    )


def _without_head(keys: Keys, log: Path, descriptor: int, size: int, problem: str) -> WritePosition:
    # A head that was written in part, and no line: the disk was full, or the power failed, before the first line.
    if not size and (problem == "missing" or not backups_of(log)):
        last = _end_of_backups(keys, log)
        return WritePosition(BEGINNING, 0) if last is None else WritePosition(last, 0, {"head": problem})
    end = find_end(keys, read_at(descriptor, max(size - _TAIL, 0), _TAIL))
    if end is None:
        raise AuditError(f"{log} was written with another key, or is damaged. Move it to another place.")
    last, torn = end
    found: dict[str, str | int] = {"head": problem, **({"torn": torn} if torn else {})}
    return WritePosition(last, size, found, is_after=False, is_open=_is_open(descriptor, size))


def _end_of_backups(keys: Keys, log: Path) -> Checkpoint | None:
    backups = [path for path in files_of(log) if path != log]
    if not backups:
        return None
    descriptor = open_safely(backups[-1], os.O_RDONLY)
    try:
        end = find_end(keys, read_at(descriptor, max(os.fstat(descriptor).st_size - _TAIL, 0), _TAIL))
    finally:
        os.close(descriptor)
    return None if end is None else end[0]


def _is_open(descriptor: int, size: int) -> bool:
    return size > 0 and read_at(descriptor, size - 1, 1) != b"\n"
