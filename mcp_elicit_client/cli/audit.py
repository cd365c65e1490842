"""``mcp-elicit audit``: verify or read an audit log."""

from __future__ import annotations

import argparse
import errno
import functools
import json
import os
import statistics
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO, TypeGuard

from pydantic_core import from_json

from mcp_elicit_client._arguments import is_number
from mcp_elicit_client.audit import AuditError, Checkpoint, Verification, verify
from mcp_elicit_client.audit.chain import Keys
from mcp_elicit_client.audit.events import LARGEST_NUMBER, EventEncoder
from mcp_elicit_client.audit.files import key_path, read_key
from mcp_elicit_client.audit.verifier import OpenFile, open_all
from mcp_elicit_client.cli import messages
from mcp_elicit_client.cli.common import UsageError, wrap
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.presentation.catalog import ENGLISH, MessageCatalog
from mcp_elicit_client.presentation.formatting import format_number
from mcp_elicit_client.presentation.quoting import quote_name

_POLL_INTERVAL = 0.2
_MAX_SHOWN = 200
_SPELLED = ("name", "field")
"""What a server spelled in the lists of an event: names of fields."""

_EVENTS = ("question", "recovery")
_COUNTED = ("server", "mode", "outcome", "action", "by", "policy")

_Event = Mapping[str, Any]


@contextmanager
def _readable(log: Path) -> Iterator[None]:
    """Turn errors of reading *log* into a `UsageError`."""
    try:
        if not log.name:  # `.` and `/`: no name of another file can be made of it
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if log.name and error.filename == str(key_path(log)):
            raise UsageError(messages.KEY_MISSING, path=error.filename, reason=error.strerror) from None
        path = error.filename if isinstance(error.filename, str) else log  # it may be the number of an open file
        raise UsageError(messages.CANNOT_READ, path=path, reason=error.strerror) from None
    except (AuditError, ValueError) as error:
        raise UsageError(str(error)) from None


# --- verify


def run_verify(options: argparse.Namespace) -> int:
    """Verify a log; return the exit status."""
    with _readable(options.file):
        key = None if options.key is None else read_key(options.key)
        checkpoint = None if options.checkpoint is None else Checkpoint.parse(options.checkpoint)
        found = verify(options.file, key, checkpoint)
    if options.json:
        print(json.dumps({**asdict(found), "last": str(found.last)}))
    else:
        for line in _verification_lines(found, options.catalog):
            print(line)
    return 0 if found else 1


def _verification_lines(found: Verification, catalog: MessageCatalog) -> Iterator[str]:
    for each in found.violations:
        if each.line:
            file = sanitize_text(each.file, multiline=False)
            where = catalog.text(messages.VIOLATION, file=file, line=each.line, code=each.code, text=each.message)
        else:
            where = f"{each.code}: {each.message}"
        yield wrap(where, hanging=2)
    if found.more:
        yield catalog.text(messages.MORE_VIOLATIONS, count=found.more)
    if found:
        yield catalog.text(messages.VERIFICATION_PASSED, count=found.events)
    else:
        yield catalog.text(messages.VERIFICATION_FAILED, count=len(found.violations) + found.more)
    if not found.events and any(each.line for each in found.violations):
        yield wrap(catalog.text(messages.NO_LINE_MATCHES))
    yield catalog.text(messages.CHECKPOINT, checkpoint=found.last)


# --- tail


def run_tail(options: argparse.Namespace) -> int:
    """Print the last events of a log; return the exit status."""
    write = json.dumps if options.json else functools.partial(_event_line, catalog=options.catalog)
    for event in _tail(options):
        print(write(event), flush=True)
    return 0


def _tail(options: argparse.Namespace) -> Iterator[_Event]:
    with _readable(options.file), ExitStack() as stack:
        _, files = open_all(options.file, stack)
        user_id = _user_id(options)
        yield from deque(_of_user(_events(options.file, files), user_id), maxlen=options.n)
        if options.follow:
            yield from _of_user(map(_parse, _new_lines(options.file, files[-1], stack)), user_id)


def _user_id(options: argparse.Namespace) -> str | None:
    """Return the `user_id` in the events of the user that *options* name; None for all users."""
    if options.user is None:
        return None
    return EventEncoder(keys=Keys(read_key(options.key or key_path(options.file)))).text_id(options.user)


def _of_user(events: Iterable[_Event], user_id: str | None) -> Iterator[_Event]:
    return (event for event in events if user_id is None or event.get("user_id") == user_id)


def _events(log: Path, files: Sequence[OpenFile]) -> Iterator[_Event]:
    """
    Yield the events in the *files* of a *log*, also for lines that are damaged.

    Raises:
        UsageError: After the last line, if there are lines but no event.
    """
    are_events = set()
    for event in (_parse(line) for file in files for _, line in file.lines()):
        are_events.add(event.get("event") in _EVENTS)
        yield event
    if are_events == {False}:
        raise UsageError(messages.NOT_A_LOG, path=log)


def _new_lines(log: Path, last: OpenFile, stack: ExitStack) -> Iterator[bytes]:
    """Yield the lines that are added, also after the log was rotated or truncated."""
    files, line = deque([last.file]), b""
    while True:
        line += files[0].readline()
        if line.endswith(b"\n"):
            yield line
            line = b""
        elif len(files) > 1:
            files.popleft().close()
            if line:  # a process was killed while it wrote
                yield line
                line = b""
        elif newer := _files_after(log, files[0], stack):
            files += newer  # the file may have got lines since it was read
        elif os.fstat(files[0].fileno()).st_size < files[0].tell():
            files[0].seek(0)
        else:
            time.sleep(_POLL_INTERVAL)


def _files_after(log: Path, file: BinaryIO, stack: ExitStack) -> list[BinaryIO]:
    """Return the files that were started after *file*, the oldest first: none unless the log was rotated."""
    try:
        if _is_same(log.stat(), file):
            return []
    except FileNotFoundError:
        return []
    found = [each.file for each in open_all(log, stack)[1]]
    at = next((at for at, each in enumerate(found) if _is_same(os.fstat(each.fileno()), file)), len(found) - 2)
    for each in found[: at + 1]:
        each.close()
    return found[at + 1 :]


def _is_same(status: os.stat_result, file: BinaryIO) -> bool:
    return os.path.samestat(status, os.fstat(file.fileno()))


def _parse(line: bytes) -> _Event:
    try:
        event = from_json(line)
    except ValueError:
        event = None
    return event if isinstance(event, dict) else {"event": "malformed", "bytes": len(line)}


def _event_line(event: _Event, catalog: MessageCatalog = ENGLISH) -> str:
    start = " ".join(filter(None, (_value(event.get("time")), _value(event.get("seq"), "#{}"))))
    match event.get("event"):
        case "question":
            shown = "; ".join(filter(None, _clauses(event)))
        case "recovery":
            shown = catalog.text(messages.LOST_EVENTS, count=_value(event.get("lost")))
        case _:
            shown = catalog.text(messages.INVALID_LINE)
    return f"{start} {shown}".strip()


def _clauses(event: _Event) -> Iterator[str]:
    values = {name: _value(value) for name, value in event.items()}
    by = f" by {values['by']}" if "by" in values else ""
    policy = f" ({values['policy']})" if "policy" in values else ""
    latency = event.get("latency")
    yield f"{values.get('server')}: {values.get('mode')} {values.get('url_host', '')}".strip()
    yield f"{values.get('action') or values.get('outcome')}{by}{policy}"
    yield _value(event.get("reason"), "reason: {}")
    yield _value(event.get("error"), "error: {}")
    yield _list(event.get("unfit"), "invalid: {}")
    yield _list(event.get("fields"), "fields: {}", "name", "source")
    yield _list(event.get("diagnostics"), "diagnostics: {}", "code", "field")
    yield _list(event.get("warnings"), "warnings: {}")
    yield f"{latency:.3f} s" if _is_number(latency) else ""


def _value(value: object, template: str = "{}") -> str:
    if value is None:
        return ""
    shown = str(value) if isinstance(value, (str, int, float)) else "?"
    return template.format(sanitize_text(shown, limit=_MAX_SHOWN, multiline=False))


def _list(values: object, template: str, name: str = "", detail: str = "") -> str:
    if not isinstance(values, list) or not values:
        return ""
    shown = (
        f"{_part(each, name, '{}')}{_part(each, detail, ' ({})')}" if isinstance(each, dict) else _value(each)
        for each in values
    )
    return template.format(", ".join(shown))


def _part(item: Mapping[str, object], name: str, template: str) -> str:
    """Return one value of *item*, in quotation marks if a server spelled it."""
    value = item.get(name)
    return (
        template.format(quote_name(value)) if name in _SPELLED and isinstance(value, str) else _value(value, template)
    )


# --- stats


def run_stats(options: argparse.Namespace) -> int:
    """Print counts of the events of a log; return the exit status."""
    with _readable(options.file), ExitStack() as stack:
        found = _count_events(_of_user(_events(options.file, open_all(options.file, stack)[1]), _user_id(options)))
    if options.json:
        print(json.dumps(found))
        return 0
    catalog: MessageCatalog = options.catalog
    median = found["median_latency"]
    if median is None:
        print(catalog.text(messages.TOTALS_WITHOUT_LATENCY, count=found["requests"]))
    else:
        latency = f"{format_number(Decimal(f'{median:.3f}'), catalog.locale)} s"
        print(catalog.text(messages.TOTALS, count=found["requests"], latency=latency))
    print(catalog.text(messages.DAMAGE, lost=found["lost"], malformed=found["malformed"]))
    for name in _COUNTED:
        print(f"{name}:")
        for value, count in found[name].items():
            print(f"{count:4} {value}")
    return 0


def _count_events(events: Iterator[_Event]) -> dict[str, Any]:
    counts: dict[str, Counter[str]] = {name: Counter() for name in _COUNTED}
    totals: Counter[str] = Counter()
    latencies: list[float] = []
    for event in events:
        match event.get("event"):
            case "question":
                totals["requests"] += 1
                for name, counter in counts.items():
                    if event.get(name) is not None:
                        counter[_value(event[name])] += 1
                if _is_number(latency := event.get("latency")):
                    latencies.append(latency)
            case "recovery":
                totals["lost"] += int(lost) if _is_number(lost := event.get("lost")) else 0
            case _:
                totals["malformed"] += 1
    return {
        **{name: totals[name] for name in ("requests", "lost", "malformed")},
        "median_latency": statistics.median(latencies) if latencies else None,
        **{name: dict(counter.most_common()) for name, counter in counts.items()},
    }


def _is_number(value: object) -> TypeGuard[float]:
    """Return True for a number that the log writes, and that can be added to others."""
    return is_number(value) and abs(value) < LARGEST_NUMBER
