"""Lines into a file, each chained to the one before it, whoever wrote that."""

from __future__ import annotations

import functools
import json
import os
import threading
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from mcp_elicit_client.audit.chain import BEGINNING, HEAD_SIZE, Checkpoint, Head, Keys, find_end, follow_chain
from mcp_elicit_client.audit.files import (
    files_of,
    head_path,
    key_path,
    lock,
    make_key,
    old_path,
    open_safely,
    read_at,
    read_key,
    unlock,
    write_all,
    write_at,
)
from mcp_elicit_client.exceptions import AuditError

T = TypeVar("T")

SCHEMA = 1
"""The version of what a line holds."""

LOCK_TIMEOUT = 1.0
"""How long to wait for another process that is writing, in seconds; it takes 0.0001."""

_CLOSED = -1
_SEAL_AND_MORE = 300


class ChainWriter:
    """
    A chain of lines in a file and the older ones beside it.

    Threads and processes may share it.  Nothing is opened before it is used.

    Args:
        path: The file.  Its folder must exist.
        key: What seals the lines; None for a key beside the file, which is
            made if there is neither a key nor a log.
        max_bytes: How large a file gets before it is put aside.
        keep: How many files that were put aside are kept.
        fsync: Whether each line is on the disk before the next thing happens.

    Attributes:
        patience: How long to wait for another process, in seconds.
    """

    def __init__(self, path: Path, key: bytes | None, *, max_bytes: int, backup_count: int, fsync: bool) -> None:
        self.path = path
        self._name = os.fspath(path)
        self.lock_timeout = LOCK_TIMEOUT
        self._keys = None if key is None else Keys(key)
        self._max_bytes = max_bytes
        self._keep = backup_count
        self._fsync = fsync
        self._head = self._log = _CLOSED
        self._inode = (0, 0)
        self._left: Head | None = None
        self._left_data = b""
        self._threads = threading.Lock()
        _journals.add(self)

    @property
    def keys(self) -> Keys:
        """
        What seals the lines.

        Raises:
            AuditError: If the key cannot be used, or is gone.
            OSError: If it can be neither read nor made.
        """
        if self._keys is None:
            self._keys = Keys(self._key_beside())
        return self._keys

    def _key_beside(self) -> bytes:
        path = key_path(self.path)
        try:
            return read_key(path)
        except FileNotFoundError:
            if any(each.stat().st_size for each in files_of(self.path)):
                raise AuditError(
                    f"the key {path} of {self.path} is gone: bring it back, or move the log away"
                ) from None
        return make_key(path)

    def check(self) -> None:
        """
        Find out whether a line could be written.

        Raises:
            AuditError: If it could not.
            OSError: The same.
        """
        self._alone(self._place)

    def last(self) -> Checkpoint:
        """
        Return the last line, whichever process wrote it.

        Raises:
            AuditError: If it cannot be told.
            OSError: The same.
        """
        return self._alone(self._place).last

    def append(self, event: bytes) -> Checkpoint:
        """
        Write one line.

        Args:
            event: What it says: a JSON object that is not empty, in ASCII.

        Returns:
            The line.

        Raises:
            AuditError: If it could not be written.
            OSError: The same; a part may have been written.
        """
        return self._alone(functools.partial(self._append, event))

    def close(self) -> None:
        """Let go of the files; the next line opens them again."""
        with self._threads:
            self._close()

    def _alone(self, work: Callable[[], T]) -> T:
        """Work while other threads and processes are kept out; after a failure, look at everything anew."""
        with self._threads:
            try:
                self._take()
                done = work()
            except BaseException:
                self._close()
                raise
            unlock(self._head)
            return done

    def _append(self, event: bytes) -> Checkpoint:
        place = self._place()
        if place.size and place.size + len(event) + _SEAL_AND_MORE > self._max_bytes:
            place = self._put_aside(place)
        sequence = place.last.sequence + 1
        body = b'{"schema":%d,"seq":%d,%s%s' % (SCHEMA, sequence, _told_of(place), event[1:-1])
        line = Checkpoint(sequence, self.keys.seal(place.last.mac, body))
        data = b'%s%s,"mac":"%s"}\n' % (b"\n" if place.is_open else b"", body, line.mac.encode())
        write_all(self._log, data)
        if self._fsync:
            os.fsync(self._log)
        self._leave(Head(line, place.size + len(data)))
        return line

    def _take(self) -> None:
        while True:
            if self._head == _CLOSED:
                self._head = open_safely(head_path(self.path), os.O_RDWR | os.O_CREAT)
            lock(self._head, self.lock_timeout)
            if os.fstat(self._head).st_nlink:
                return
            self._close()  # it was removed while it was ours: others would lock another

    def _place(self) -> WritePosition:
        data = read_at(self._head, 0, HEAD_SIZE)
        size = self._open_log()
        if data == self._left_data and self._left is not None and self._left.size == size:
            return WritePosition(self._left.last, size)
        return find_write_position(self.keys, self.path, self._log, size, data)

    def _open_log(self) -> int:
        """Open the file, if it is not the one that is open; return its size."""
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

    def _put_aside(self, place: WritePosition) -> WritePosition:
        """Give the file a number, and those before it the next; begin a new one."""
        os.close(self._log)
        self._log = _CLOSED
        numbers = 1
        while numbers < self._keep and old_path(self.path, numbers).exists():
            numbers += 1
        for number in range(numbers, 1, -1):
            old_path(self.path, number - 1).replace(old_path(self.path, number))
        if self._keep:
            self.path.replace(old_path(self.path, 1))
        else:
            self.path.unlink()
        return WritePosition(place.last, self._open_log(), place.found)

    def _leave(self, head: Head) -> None:
        data = self.keys.write_head(head)
        write_at(self._head, 0, data)
        self._left, self._left_data = head, data

    def _close(self) -> None:
        for descriptor in (self._log, self._head):
            if descriptor != _CLOSED:
                os.close(descriptor)  # and with the head goes its lock
        self._head = self._log = _CLOSED
        self._left, self._left_data = None, b""

    def _forget(self) -> None:
        self._threads = threading.Lock()
        self._close()

    def __del__(self) -> None:
        if hasattr(self, "_left_data"):
            self._close()


def _told_of(place: WritePosition) -> bytes:
    """Tell what cannot be seen from the line above, as the beginning of a JSON object goes on."""
    before = "" if place.is_after and place.size else f'"prev":"{place.last.mac}",'
    found = f'"found":{json.dumps(dict(place.found), separators=(",", ":"))},' if place.found else ""
    return f"{before}{found}".encode("ascii")


_journals: weakref.WeakSet[ChainWriter] = weakref.WeakSet()


def _after_fork() -> None:
    # A forked child shares the lock of its parent, which then keeps neither out.
    for journal in _journals:
        journal._forget()  # noqa: SLF001


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


_TAIL = 1_048_576


class WritePosition(NamedTuple):
    """
    Where the next line goes.

    Attributes:
        last: The line that it follows.
        size: The size of the file, in bytes.
        found: What was not in order there, for the next line to tell.
        is_after: Whether *last* is the line above it in the file.
        is_open: Whether the file ends in the middle of a line.
    """

    last: Checkpoint
    size: int
    found: Mapping[str, str | int] = MappingProxyType({})
    is_after: bool = True
    is_open: bool = False


def find_write_position(keys: Keys, log: Path, descriptor: int, size: int, data: bytes) -> WritePosition:
    """
    Find out where the chain ends.

    The head says so, and is believed over the log, which may have been cut.

    Args:
        keys: What seals the lines.
        log: The path of the log.
        descriptor: The log.
        size: Its size, in bytes.
        data: What is in the head file.

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
    # The file was put aside, by us or by others; or it was lost.
    end = _end_of_older(keys, log)
    if end is not None and end.sequence >= head.last.sequence:
        return WritePosition(end, 0)
    return WritePosition(head.last, 0, {"log": "missing"})


def _past_head(keys: Keys, descriptor: int, size: int, head: Head) -> WritePosition:
    """After a process was killed between a line and its head, or in the middle of a line."""
    tail = read_at(descriptor, head.size, _TAIL)
    last, rest = follow_chain(keys, head.last, tail)
    torn = size - head.size - len(tail) + rest
    return WritePosition(
        last, size, {"torn": torn} if torn else {}, is_after=not torn, is_open=_is_open(descriptor, size)
    )


def _without_head(keys: Keys, log: Path, descriptor: int, size: int, what: str) -> WritePosition:
    if not size and what == "missing":
        last = _end_of_older(keys, log)
        return WritePosition(BEGINNING, 0) if last is None else WritePosition(last, 0, {"head": what})
    end = find_end(keys, read_at(descriptor, max(size - _TAIL, 0), _TAIL))
    if end is None:
        raise AuditError(f"{log} was written with another key, or is damaged: move it away")
    last, torn = end
    found: dict[str, str | int] = {"head": what, **({"torn": torn} if torn else {})}
    return WritePosition(last, size, found, is_after=False, is_open=_is_open(descriptor, size))


def _end_of_older(keys: Keys, log: Path) -> Checkpoint | None:
    older = [path for path in files_of(log) if path != log]
    if not older:
        return None
    descriptor = open_safely(older[-1], os.O_RDONLY)
    try:
        end = find_end(keys, read_at(descriptor, max(os.fstat(descriptor).st_size - _TAIL, 0), _TAIL))
    finally:
        os.close(descriptor)
    return None if end is None else end[0]


def _is_open(descriptor: int, size: int) -> bool:
    return size > 0 and read_at(descriptor, size - 1, 1) != b"\n"
