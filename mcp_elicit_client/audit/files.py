"""The files of a log: their paths, permissions and locks, and its key."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
import sys
import time
from contextlib import suppress
from pathlib import Path

from mcp_elicit_client.exceptions import AuditError

if sys.platform != "win32":
    import fcntl

_BINARY = getattr(os, "O_BINARY", 0)
_SAFE = os.O_CLOEXEC | os.O_NOFOLLOW if sys.platform != "win32" else 0
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHERS_ANYTHING = stat.S_IRWXG | stat.S_IRWXO
_LINK_ERRORS = (errno.ELOOP, errno.EMLINK)

_NUMBER = re.compile("[1-9][0-9]{0,8}")
_KEY_BYTES = 32
_MAX_KEY_FILE = 1_024
_LOCK_INTERVAL = 0.000_05


def key_path(log: Path) -> Path:
    """Return the path of the key of *log*, unless the host application passes a key."""
    return log.with_name(f"{log.name}.key")


def head_path(log: Path) -> Path:
    """Return the path of the head of *log*."""
    return log.with_name(f"{log.name}.head")


def backup_path(log: Path, number: int) -> Path:
    """Return the path of *log* after it was rotated *number* times."""
    return log.with_name(f"{log.name}.{number}")


def files_of(log: Path) -> list[Path]:
    """Return the existing files of *log*, the oldest first."""
    start = f"{log.name}."
    numbers = [path.name[len(start) :] for path in log.parent.iterdir() if path.name.startswith(start)]
    old = sorted((int(number) for number in numbers if _NUMBER.fullmatch(number)), reverse=True)
    return [backup_path(log, number) for number in old] + ([log] if log.exists() else [])


def open_safely(path: Path, flags: int, *, secret: bool = False) -> int:
    """
    Open a file that other users cannot write.  New files get the mode 0600.

    Args:
        path: The file.
        flags: As for `os.open`.
        secret: Other users must not be able to read it either.

    Returns:
        The descriptor.

    Raises:
        AuditError: If *path* is a symbolic link or not a regular file, or if
            other users have access.
        OSError: If it cannot be opened.
    """
    try:
        descriptor = os.open(path, flags | _SAFE | _BINARY | _NONBLOCK, stat.S_IRUSR | stat.S_IWUSR)
    except OSError as error:
        if error.errno in _LINK_ERRORS:
            raise AuditError(f"{path} is a symbolic link. Use the path of the file itself.") from None
        raise
    try:
        _check(path, os.fstat(descriptor), secret=secret)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _check(path: Path, found: os.stat_result, *, secret: bool) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise AuditError(f"{path} is not a regular file.")
    if sys.platform == "win32":
        return
    if found.st_uid not in (os.geteuid(), 0):
        raise AuditError(f"{path} belongs to another user.")
    if secret and found.st_mode & _OTHERS_ANYTHING:
        raise AuditError(f"Other users can read the key {path}. Run `chmod 600 {path}`, and use a new key.")
    if found.st_mode & _OTHERS_WRITE:
        raise AuditError(f"Other users can write to {path}. Run `chmod 600 {path}`.")


def read_key(path: str | os.PathLike[str]) -> bytes:
    """
    Read a key: a file of hexadecimal digits.

    Raises:
        AuditError: If other users can read it, or if it is a symbolic link
            or not a key.
        OSError: If it cannot be read.
    """
    path = Path(path)
    descriptor = open_safely(path, os.O_RDONLY, secret=True)
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(_MAX_KEY_FILE)
    try:
        return bytes.fromhex(data.decode("ascii"))
    except ValueError:
        raise AuditError(f"{path} is not a key. A key consists of hexadecimal digits, as in key.hex().") from None


def make_key(path: Path) -> bytes:
    """
    Write a new key atomically, or read the one that another process has just written.

    Raises:
        AuditError: As in `read_key`.
        OSError: If it cannot be written.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = open_safely(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, secret=True)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_hex(_KEY_BYTES).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()
    return read_key(path)


def lock(descriptor: int, timeout: float) -> None:
    """
    Lock a file against other processes until `unlock`.  On Windows, there is no lock.

    Args:
        descriptor: The file.
        timeout: The maximum time to wait for another process, in seconds.

    Raises:
        AuditError: If another process does not unlock it in time.
    """
    until = time.monotonic() + timeout
    while not _try_lock(descriptor):
        if time.monotonic() >= until:
            raise AuditError("Another process holds the lock of the audit log.")
        time.sleep(_LOCK_INTERVAL)


def _try_lock(descriptor: int) -> bool:
    if sys.platform != "win32":
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def unlock(descriptor: int) -> None:
    """Unlock a file."""
    if sys.platform != "win32":
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def read_at(descriptor: int, start: int, size: int) -> bytes:
    """Read up to *size* bytes from *start*."""
    data = _read(descriptor, start, size)
    while len(data) < size and (more := _read(descriptor, start + len(data), size - len(data))):
        data += more
    return data


def write_at(descriptor: int, start: int, data: bytes) -> None:
    """
    Write *data* at *start*, over existing bytes.

    Raises:
        OSError: If the disk is full.  A part may have been written.
    """
    written = _write(descriptor, start, data)
    while written < len(data):
        written += _write(descriptor, start + written, data[written:])


if sys.platform == "win32":

    def _read(descriptor: int, start: int, size: int) -> bytes:
        os.lseek(descriptor, start, os.SEEK_SET)
        return os.read(descriptor, size)

    def _write(descriptor: int, start: int, data: bytes) -> int:
        os.lseek(descriptor, start, os.SEEK_SET)
        return os.write(descriptor, data)

else:

    def _read(descriptor: int, start: int, size: int) -> bytes:
        return os.pread(descriptor, size, start)

    def _write(descriptor: int, start: int, data: bytes) -> int:
        return os.pwrite(descriptor, data, start)


def write_all(descriptor: int, data: bytes) -> None:
    """
    Write all of *data*.

    Raises:
        OSError: If the disk is full.  A part may have been written.
    """
    written = os.write(descriptor, data)
    while written < len(data):
        written += os.write(descriptor, data[written:])
