"""``mcp-elicit audit``: has anybody changed a log, and what does it say?"""

from __future__ import annotations

import argparse
import functools
import json
import math
import os
import statistics
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeGuard

from pydantic_core import from_json

from mcp_elicit_client.audit import AuditError, Checkpoint, Verification, read_key, verify
from mcp_elicit_client.audit.verifier import OpenFile, open_all
from mcp_elicit_client.core.text import sanitize_text

_LAST = 10
_BETWEEN_LOOKS = 0.2
_SHOWN = 200
_COUNTED = ("server", "mode", "outcome", "action", "by", "policy")
_EPILOG = """\
exit status:
  0  done; the log is as it was written
  1  the log is not as it was written, or nobody can tell
  2  a file cannot be read, or the command line makes no sense
"""

_Event = Mapping[str, Any]
_Job = Callable[[argparse.Namespace], int]


def add_commands(commands: Any) -> None:
    """Add ``audit`` and its own commands to *commands*, which is what ``add_subparsers`` returns."""
    audit = commands.add_parser("audit", help="check an audit log, or read it", allow_abbrev=False)
    jobs = audit.add_subparsers(title="commands", metavar="COMMAND", required=True)

    verifies = _add(jobs, "verify", _verify, "find out whether anybody has changed a log")
    verifies.add_argument("--key", metavar="FILE", help="its key, in hexadecimal digits; else the one beside the log")
    verifies.add_argument("--checkpoint", metavar="SEQ:MAC", help="a place that the log must still have")

    tails = _add(jobs, "tail", _tail, "print the last events, without checking them")
    tails.add_argument("-n", metavar="N", type=_count, default=_LAST, help=f"how many; {_LAST} unless told otherwise")
    tails.add_argument("--follow", action="store_true", help="go on with what is written from now on")

    _add(jobs, "stats", _stats, "count the events, without checking them")


def _add(jobs: Any, name: str, job: _Job, what: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = jobs.add_parser(
        name,
        help=what,
        description=f"{what[0].upper()}{what[1:]}.  Older files beside it are read too.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="the log")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=functools.partial(_run, job))
    return parser


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError
    return number


def _run(job: _Job, options: argparse.Namespace, command: Sequence[str]) -> int:
    try:
        if command:
            raise ValueError("only call takes -- COMMAND")  # noqa: TRY301 -- told like all the others
        return job(options)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        why = f"cannot read {error.filename or options.file}: {error.strerror}"
    except (AuditError, ValueError) as error:
        why = str(error)
    print(f"mcp-elicit: {why}", file=sys.stderr)
    return 2


def _verify(options: argparse.Namespace) -> int:
    key = None if options.key is None else read_key(options.key)
    anchor = None if options.checkpoint is None else Checkpoint.parse(options.checkpoint)
    found = verify(options.file, key, anchor)
    if options.json:
        print(json.dumps({**asdict(found), "last": str(found.last)}))
    else:
        for line in _in_words(found):
            print(line)
    return 0 if found else 1


def _in_words(found: Verification) -> Iterator[str]:
    for damage in found.violations:
        where = f"{sanitize_text(damage.file, multiline=False)}, line {damage.line}: " if damage.line else ""
        yield f"{where}{damage.code}: {damage.message}"
    if found.more:
        yield f"... and {found.more} more"
    if not found.events and found.violations:
        yield "No line fits the key: it is another key, or everything was written anew."
    elif found:
        yield f"The log is as it was written: {_lines(found)}."
    else:
        yield f"The log is NOT as it was written; {_lines(found)}, are in order."
    yield f"Anchor: {found.last}"


def _lines(found: Verification) -> str:
    return f"{found.events} lines, {found.first} to {found.last.sequence}" if found.events else "no lines"


def _tail(options: argparse.Namespace) -> int:
    tell = json.dumps if options.json else _in_one_line
    with ExitStack() as stack:
        _, files = open_all(options.file, stack)
        for data in deque(_raw(files), maxlen=options.n):
            print(tell(_read(data)), flush=True)
        if options.follow:
            for data in _follow(options.file, files[-1], stack):
                print(tell(_read(data)), flush=True)
    return 0


def _raw(files: Sequence[OpenFile]) -> Iterator[bytes]:
    return (data for file in files for _, data in file.lines())


def _follow(log: Path, last: OpenFile, stack: ExitStack) -> Iterator[bytes]:
    """Wait for lines, whatever file they come in."""
    file, data = last.file, b""
    while True:
        data += file.readline()
        if data.endswith(b"\n"):
            yield data
            data = b""
        elif not _is_at(log, file) and log.exists():
            file = stack.enter_context(log.open("rb"))
        else:
            time.sleep(_BETWEEN_LOOKS)


def _is_at(log: Path, file: Any) -> bool:
    try:
        return os.path.samestat(log.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return True


def _read(data: bytes) -> _Event:
    try:
        event = from_json(data)
    except ValueError:
        event = None
    return event if isinstance(event, dict) else {"event": "unreadable", "bytes": len(data)}


def _in_one_line(event: _Event) -> str:
    start = " ".join(filter(None, (_word(event.get("time")), _word(event.get("seq"), "#{}"))))
    match event.get("event"):
        case "question":
            said = "; ".join(filter(None, _clauses(event)))
        case "recovery":
            said = f"the log could not be written; events lost: {_word(event.get('lost'))}"
        case _:
            said = "(no line of a log)"
    return f"{start} {said}".strip()


def _clauses(event: _Event) -> Iterator[str]:
    words = {name: _word(value) for name, value in event.items()}
    by = f" by {words['by']}" if "by" in words else ""
    policy = f" ({words['policy']})" if "policy" in words else ""
    latency = event.get("latency")
    yield f"{words.get('server')}: {words.get('mode')} {words.get('url_host', '')}".strip()
    yield f"{words.get('action') or words.get('outcome')}{by}{policy}"
    yield _word(event.get("reason"), "reason: {}")
    yield _word(event.get("error"), "error: {}")
    yield _list(event.get("unfit"), "unfit: {}")
    yield _list(event.get("fields"), "fields: {}", "name", "source")
    yield _list(event.get("findings"), "found: {}", "code", "field")
    yield _list(event.get("warnings"), "warned: {}")
    yield f"{latency:.3f} s" if _is_number(latency) else ""


def _word(value: object, form: str = "{}") -> str:
    if value is None:
        return ""
    text = str(value) if isinstance(value, (str, int, float)) else "?"
    return form.format(sanitize_text(text, limit=_SHOWN, multiline=False))


def _list(values: object, form: str, name: str = "", detail: str = "") -> str:
    if not isinstance(values, list) or not values:
        return ""
    shown = (
        f"{_word(each.get(name))}{_word(each.get(detail), ' ({})')}" if isinstance(each, dict) else _word(each)
        for each in values
    )
    return form.format(", ".join(shown))


def _stats(options: argparse.Namespace) -> int:
    with ExitStack() as stack:
        found = _count_all(map(_read, _raw(open_all(options.file, stack)[1])))
    if options.json:
        print(json.dumps(found))
        return 0
    median = found["median_latency"]
    print(f"questions: {found['questions']}; median latency: {'none' if median is None else f'{median:.3f} s'}")
    print(f"lost events: {found['lost']}; unreadable lines: {found['unreadable']}")
    for name in _COUNTED:
        print(f"{name}:")
        for value, count in found[name].items():
            print(f"{count:4} {value}")
    return 0


def _count_all(events: Iterator[_Event]) -> dict[str, Any]:
    counts: dict[str, Counter[str]] = {name: Counter() for name in _COUNTED}
    totals: Counter[str] = Counter()
    latencies: list[float] = []
    for event in events:
        match event.get("event"):
            case "question":
                totals["questions"] += 1
                for name, counter in counts.items():
                    if event.get(name) is not None:
                        counter[_word(event[name])] += 1
                if _is_number(latency := event.get("latency")):
                    latencies.append(latency)
            case "recovery":
                totals["lost"] += int(lost) if _is_number(lost := event.get("lost")) else 0
            case _:
                totals["unreadable"] += 1
    return {
        **{name: totals[name] for name in ("questions", "lost", "unreadable")},
        "median_latency": statistics.median(latencies) if latencies else None,
        **{name: dict(counter.most_common()) for name, counter in counts.items()},
    }


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
