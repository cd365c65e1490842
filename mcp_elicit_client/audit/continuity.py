"""Whether a log still contains a line that was written to it: otherwise it was deleted or rolled back."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from mcp_elicit_client.audit.chain import Checkpoint, read_line
from mcp_elicit_client.audit.files import files_of, open_safely, read_at

_END = len('"mac":"') + 64 + len('"}\n')
_PART = 1_048_576


class WrittenLine(NamedTuple):
    """
    A line, and where it was written.

    Attributes:
        line: The line.
        device: The device of its file.
        inode: The file on that device.
        end: The size of the file with the line, in bytes.
    """

    line: Checkpoint
    device: int
    inode: int
    end: int


def contains_line(log: Path, written: WrittenLine, last: Checkpoint) -> bool:
    """
    Return True if a log contains a line, or if its file was deleted because there were too many.

    Args:
        log: The path of the log.
        written: The line.
        last: The last line of the log.

    Raises:
        AuditError: If a file is not safe.
        OSError: If it cannot be read.
    """
    if last.sequence <= written.line.sequence:
        return last == written.line
    if not written.line.sequence:  # the log was empty
        return True
    paths = files_of(log)[::-1]
    found = [(path, os.lstat(path)) for path in paths]
    same = [path for path, status in found if (status.st_dev, status.st_ino) == (written.device, written.inode)]
    if any(_has_at(path, written) for path in same):
        return True
    if any(_has(path, written.line) for path in paths):  # in a copy
        return True
    return not paths or _first_sequence(paths[-1]) > written.line.sequence


def _has_at(path: Path, written: WrittenLine) -> bool:
    descriptor = open_safely(path, os.O_RDONLY)
    try:
        return written.line.mac.encode() in read_at(descriptor, max(written.end - _END, 0), _END)
    finally:
        os.close(descriptor)


def _has(path: Path, line: Checkpoint) -> bool:
    mac = b'"mac":"%s"}' % line.mac.encode()
    end = b""
    with os.fdopen(open_safely(path, os.O_RDONLY), "rb") as file:
        while part := file.read(_PART):
            if mac in end + part:
                return True
            end = part[-_END:]
    return False


def _first_sequence(path: Path) -> int:
    """Return the number of the first line of a file, which may begin with incomplete ones; 0 if it has no line."""
    with os.fdopen(open_safely(path, os.O_RDONLY), "rb") as file:
        while part := file.readline(_PART):
            line = read_line(part.removesuffix(b"\n"))
            if line is not None:
                return line.sequence
    return 0
