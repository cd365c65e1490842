"""Where the next line goes, also after something went wrong."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from mcp_elicit_client.audit.chain import BEGINNING, Checkpoint, Head, Keys, find_end, follow_chain
from mcp_elicit_client.audit.errors import AuditError
from mcp_elicit_client.audit.files import files_of, open_safely, read_at

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
    return WritePosition(last, size, {"torn": torn} if torn else {}, is_after=not torn, is_open=_is_open(descriptor, size))


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
