"""The check for files that hold permissions, requests, logs and keys: owner, mode, links and kind; and their locks."""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from mcp_elicit_client.exceptions import ElicitationError

if sys.platform == "win32":
    import msvcrt

    _NO_WAIT = os.O_BINARY | os.O_NOINHERIT
    _SAFE = _NO_WAIT
else:
    import fcntl

    _NO_WAIT = os.O_CLOEXEC | os.O_NONBLOCK
    _SAFE = _NO_WAIT | os.O_NOFOLLOW

LOCK_TIMEOUT = 1.0
"""The maximum time to wait for another process, in seconds.  Writing takes less than 0.01 s."""

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHERS_ANYTHING = stat.S_IRWXG | stat.S_IRWXO
_OTHER_KINDS = (errno.ELOOP, errno.EMLINK, errno.ENXIO, errno.EISDIR)
_BLOCKED_ERRORS = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
_LOCK_INTERVAL = 0.000_05
_LOCKED_BYTE = 2**30


class UnsafeFileError(ElicitationError):
    """A file is not one that only its owner can write.  The text says why, and what to do."""


class ReadableFileError(UnsafeFileError):
    """Other users can read a private file."""


class LockTimeoutError(ElicitationError):
    """Another process has locked a file for too long."""


def open_safely(path: Path, flags: int, *, private: bool = False, hard_links: bool = False) -> int:
    """
    Open a file that other users cannot write.  New files get the mode 0600.

    This does not block, even if *path* is a pipe, and it does not follow a link.

    Args:
        path: The file.
        flags: As for `os.open`.
        private: Other users must not be able to read it either.
        hard_links: The file may have other names.

    Returns:
        The descriptor.

    Raises:
        UnsafeFileError: As `check_file`.
        OSError: If it cannot be opened.
    """
    try:
        descriptor = os.open(path, flags | _SAFE, stat.S_IRUSR | stat.S_IWUSR)
    except OSError as error:
        if error.errno in _OTHER_KINDS:
            check_file(path, os.lstat(path), private=private, hard_links=hard_links)
        raise
    try:
        check_file(path, os.fstat(descriptor), private=private, hard_links=hard_links)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def open_to_verify(path: Path) -> BinaryIO:
    """
    Open a file whose content is verified, or shown, but not trusted.  This does not block, even if *path* is a pipe.

    Raises:
        UnsafeFileError: If it is not a regular file.
        OSError: If it cannot be opened.
    """
    descriptor = os.open(path, os.O_RDONLY | _NO_WAIT)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UnsafeFileError(f"{path} is not a regular file.")
    return os.fdopen(descriptor, "rb")


def check_file(path: Path, found: os.stat_result, *, private: bool, hard_links: bool = False) -> None:
    """
    Check what `os.lstat` or `os.fstat` returned for *path*.

    Args:
        path: The path, for the texts of errors.
        found: The result.
        private: Other users must not be able to read it.
        hard_links: The file may have other names.

    Raises:
        UnsafeFileError: If it is a link or not a regular file, or if other
            users have access.
    """
    if stat.S_ISLNK(found.st_mode):
        raise UnsafeFileError(f"{path} is a symbolic link. Use the path of the file itself.")
    if not stat.S_ISREG(found.st_mode):
        raise UnsafeFileError(f"{path} is not a regular file.")
    if sys.platform == "win32":
        return
    if found.st_uid not in (os.geteuid(), 0):
        raise UnsafeFileError(f"{path} belongs to another user.")
    if private and found.st_mode & (_OTHERS_ANYTHING ^ _OTHERS_WRITE):
        raise ReadableFileError(f"Other users can read {path}. Run `chmod 600 {path}`.")
    if found.st_mode & _OTHERS_WRITE:
        raise UnsafeFileError(f"Other users can write to {path}. Run `chmod 600 {path}`.")
    if found.st_nlink > 1 and not hard_links:
        raise UnsafeFileError(f"{path} has a second name, a hard link. Remove the other name, or copy the file.")


def sync_folder(folder: Path) -> None:
    """Write the names of new and renamed files to the disk.  Some file systems cannot do this: they are left alone."""
    if sys.platform == "win32":  # It cannot open folders.
        return
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def lock(descriptor: int, timeout: float) -> None:
    """
    Lock a file against other processes until `unlock`.

    Args:
        descriptor: The file.
        timeout: The maximum time to wait for another process, in seconds.

    Raises:
        LockTimeoutError: If another process does not unlock it in time.
    """
    until = time.monotonic() + timeout
    while not _try_lock(descriptor):
        if time.monotonic() >= until:
            raise LockTimeoutError("Another process holds the lock.")
        time.sleep(_LOCK_INTERVAL)


if sys.platform == "win32":
    # A lock keeps other processes from reading what is locked, so it is a byte beyond the end.

    def _try_lock(descriptor: int) -> bool:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno not in _BLOCKED_ERRORS:
                raise
            return False
        return True

    def unlock(descriptor: int) -> None:
        """Unlock a file."""
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def unlock(descriptor: int) -> None:
        """Unlock a file."""
        fcntl.flock(descriptor, fcntl.LOCK_UN)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """
    Let one process, and one thread of it, at a time change *path*, with a lock file beside it.

    The lock file exists only as long as it is needed.

    Raises:
        LockTimeoutError: If another process does not finish in time.
        UnsafeFileError: If something else has the name of the lock file.
        OSError: If the lock file cannot be written.
    """
    lock_file = path.with_name(f".{path.name}.lock")
    descriptor = _open_locked(lock_file, time.monotonic() + LOCK_TIMEOUT)
    try:
        yield
    finally:
        with suppress(OSError):  # Windows keeps a file that another process waits for
            lock_file.unlink()
        os.close(descriptor)


def _open_locked(path: Path, until: float) -> int:
    """Open and lock *path*; do so again if another process has removed the file meanwhile."""
    while True:
        descriptor = open_safely(path, os.O_RDWR | os.O_CREAT)
        try:
            lock(descriptor, max(until - time.monotonic(), 0))
            if _is_at(descriptor, path):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    """Return True if the open file still has the name *path*."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False
