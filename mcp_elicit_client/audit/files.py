"""The files of a log: their paths and checks, and its key."""

from __future__ import annotations

import os
import re
import secrets
import sys
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from mcp_elicit_client import _files
from mcp_elicit_client.audit.chain import MIN_KEY
from mcp_elicit_client.exceptions import AuditError

MAX_BACKUPS = 99_999
"""The largest number of a rotated file.  Names such as ``<path>.20261127`` are of other files."""

_NUMBER = re.compile("[1-9][0-9]{0,4}")
_KEY_BYTES = 32
_MAX_KEY_FILE = 1_024


def key_path(log: Path) -> Path:
    """Return the path of the key of *log*, unless the host application passes a key."""
    return log.with_name(f"{log.name}.key")


def head_path(log: Path) -> Path:
    """Return the path of the head of *log*."""
    return log.with_name(f"{log.name}.head")


def backup_path(log: Path, number: int) -> Path:
    """Return the path of *log* after it was rotated *number* times."""
    return log.with_name(f"{log.name}.{number}")


def backups_of(log: Path) -> list[int]:
    """Return the numbers of the existing backups of *log*, the oldest first."""
    start = f"{log.name}."
    numbers = [path.name[len(start) :] for path in log.parent.iterdir() if path.name.startswith(start)]
    return sorted((int(number) for number in numbers if _NUMBER.fullmatch(number)), reverse=True)


def files_of(log: Path) -> list[Path]:
    """Return the existing files of *log*, the oldest first."""
    return [backup_path(log, number) for number in backups_of(log)] + ([log] if log.exists() else [])


def open_safely(path: Path, flags: int) -> int:
    """
    Open a file of a log, as `_files.open_safely`.

    Raises:
        AuditError: If the file is not safe.
        OSError: If it cannot be opened.
    """
    try:
        return _files.open_safely(path, flags)
    except _files.UnsafeFileError as error:
        raise AuditError(str(error)) from None


def open_to_verify(path: Path) -> BinaryIO:
    """
    Open a file of a log that may belong to another user, as `_files.open_to_verify`.

    Raises:
        AuditError: If it is not a regular file.
        OSError: If it cannot be opened.
    """
    try:
        return _files.open_to_verify(path)
    except _files.UnsafeFileError as error:
        raise AuditError(str(error)) from None


def _open_key(path: Path, flags: int) -> int:
    try:
        # `make_key` gives a new key two names for a moment.
        return _files.open_safely(path, flags, private=True, hard_links=True)
    except _files.ReadableFileError:
        raise AuditError(f"Other users can read the key {path}. Run `chmod 600 {path}`, and use a new key.") from None
    except _files.UnsafeFileError as error:
        raise AuditError(str(error)) from None


def lock(descriptor: int, timeout: float) -> None:
    """
    Lock a file against other processes, as `_files.lock`.

    Raises:
        AuditError: If another process does not unlock it in time.
    """
    try:
        _files.lock(descriptor, timeout)
    except _files.LockTimeoutError:
        raise AuditError("Another process holds the lock of the audit log.") from None


def read_key(path: str | os.PathLike[str]) -> bytes:
    """
    Read a key: a file of hexadecimal digits.

    Raises:
        AuditError: If other users can read it, or if it is a symbolic link
            or not a key.
        OSError: If it cannot be read.
    """
    path = Path(path)
    descriptor = _open_key(path, os.O_RDONLY)
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(_MAX_KEY_FILE)
    with suppress(ValueError):
        key = bytes.fromhex(data.decode("ascii"))
        if len(key) >= MIN_KEY:
            return key
    raise AuditError(f"{path} is not a key. A key has at least {2 * MIN_KEY} hexadecimal digits, as in key.hex().")


def make_key(path: Path) -> bytes:
    """
    Write a new key atomically, or read the one that another process has just written.

    Raises:
        AuditError: As in `read_key`.
        OSError: If it cannot be written.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = _open_key(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_hex(_KEY_BYTES).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()
    _files.sync_folder(path.parent)
    return read_key(path)


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
