"""
The time to parse a request, fill in defaults and validate, compared with other libraries.

The baseline is ``jsonschema.validate`` on the server's schema.  ``mcp-use`` and
Ajv run in a Node process if they are installed:

    npm install --prefix .npm --no-save --legacy-peer-deps mcp-use@1.34.6 ajv@8 ajv-formats@3

Rounds are interleaved; each figure is the median.  "cold" starts from JSON of a
form that was never read before, "again" from JSON of the same form, and "warm"
validates against a form that was parsed before.
"""

from __future__ import annotations

import copy
import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema

from mcp_elicit_client import Limits, get_defaults, parse_request, validate

ROOT = Path(__file__).parent.parent
LIMITS = Limits(max_fields=1_000, max_options=100_000, max_request=50_000_000)
REPEATS = 15

RULES: list[dict[str, Any]] = [
    {"type": "string", "minLength": 1, "maxLength": 50, "default": "Ada"},
    {"type": "string", "format": "email"},
    {"type": "integer", "minimum": 0, "maximum": 150, "default": 30},
    {"type": "number", "minimum": 0, "maximum": 100},
    {"type": "boolean", "default": False},
    {"type": "string", "enum": ["s", "m", "l", "xl"], "default": "m"},
    {"type": "string", "oneOf": [{"const": each[0], "title": each} for each in ("red", "green", "blue", "yellow")]},
    {
        "type": "array",
        "items": {"anyOf": [{"const": each[0], "title": each} for each in ("apple", "banana", "cherry", "date")]},
        "maxItems": 2,
    },
]
# As servers send them: with a title and a description each.
KINDS = [{"title": f"Title {at}", "description": f"More about {at}", **rules} for at, rules in enumerate(RULES)]
VALUES: list[Any] = ["Grace", "grace@example.com", 42, 9.5, True, "l", "g", ["a", "c"]]

Case = tuple[dict[str, Any], dict[str, Any]]


def fields(count: int) -> Case:
    """Make a form of *count* fields of all kinds, and an answer to it."""
    properties = {f"field{at}": KINDS[at % len(KINDS)] for at in range(count)}
    content = {f"field{at}": VALUES[at % len(KINDS)] for at in range(count)}
    return {"type": "object", "properties": copy.deepcopy(properties), "required": list(properties)}, content


def options(count: int) -> Case:
    """Make a form with one field of *count* options with titles, and an answer to it."""
    listed = [{"const": f"value{at}", "title": f"Option {at}"} for at in range(count)]
    return {"type": "object", "properties": {"f": {"type": "string", "oneOf": listed}}}, {"f": f"value{count - 1}"}


CASES: dict[str, Case] = {
    "3 fields": fields(3),
    "8 fields": fields(8),
    "200 fields": fields(200),
    "1 000 options": options(1_000),
    "10 000 options": options(10_000),
}
BARS = [
    ("8 fields", "ours cold", "jsonschema", 0.1),
    ("8 fields", "ours again", "jsonschema", 0.05),
    ("8 fields", "ours again", "mcp-use", 0.5),
    ("200 fields", "ours cold", "jsonschema", 0.1),
    ("10 000 options", "ours cold", "jsonschema", 0.05),
]


_numbers = itertools.count()


def cold(params: dict[str, Any], content: dict[str, Any]) -> None:
    """Do all that one question takes, for a form that was never read before."""
    schema = {**params["requestedSchema"], "title": f"Form {next(_numbers)}"}
    again({**params, "requestedSchema": schema}, content)


def again(params: dict[str, Any], content: dict[str, Any]) -> None:
    """Do all that one question takes, from the wire."""
    request = parse_request(params, limits=LIMITS)
    get_defaults(request)
    if not validate(request, content):
        raise AssertionError


def timed(run: Callable[[], object], rounds: int) -> float:
    """Return the seconds that one round of *run* takes."""
    begin = time.perf_counter()
    for _ in range(rounds):
        run()
    return (time.perf_counter() - begin) / rounds


@contextmanager
def node() -> Iterator[Callable[[str, dict[str, Any], dict[str, Any], int], float | None] | None]:
    """Start the JavaScript side; None if it is not installed."""
    folder = Path(os.environ.get("ELICIT_NPM", ROOT / ".npm"))
    program = shutil.which("node")
    if program is None or not (folder / "node_modules" / "mcp-use").exists():
        yield None
        return
    command = [program, str(ROOT / "benchmarks" / "validation.mjs"), str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def run(job: str, params: dict[str, Any], content: dict[str, Any], rounds: int) -> float | None:
            assert process.stdin is not None
            assert process.stdout is not None
            print(json.dumps({"job": job, "params": params, "content": content, "rounds": rounds}), file=process.stdin)
            process.stdin.flush()
            seconds: float | None = json.loads(process.stdout.readline())
            return seconds

        yield run
        process.terminate()


def measure() -> dict[str, dict[str, float]]:
    """Time every case with every implementation, in turn; return the medians in seconds."""
    found: dict[str, dict[str, list[float]]] = {name: {} for name in CASES}
    with node() as javascript:
        for repeat in range(REPEATS + 1):
            for name, (schema, content) in CASES.items():
                params = {"mode": "form", "message": "?", "requestedSchema": schema}
                request = parse_request(params, limits=LIMITS)
                validate(request, content)  # builds what is kept with the form
                small = len(json.dumps(schema)) < 5_000
                figures: dict[str, float | None] = {
                    "ours cold": timed(lambda: cold(params, content), 200 if small else 3),  # noqa: B023
                    "ours again": timed(lambda: again(params, content), 200 if small else 3),  # noqa: B023
                    "ours warm": timed(lambda: validate(request, content), 200 if small else 3),  # noqa: B023
                    "jsonschema": timed(lambda: jsonschema.validate(content, schema), 20 if small else 1),  # noqa: B023
                }
                if javascript is not None:
                    for job in ("mcp-use", "ajv cold", "ajv shared"):
                        figures[job] = javascript(
                            job, params, content, 200 if small and job == "mcp-use" else 10 if small else 1
                        )
                for job, seconds in figures.items():
                    if repeat and seconds is not None:  # the first is for caches and compilers
                        found[name].setdefault(job, []).append(seconds)
    return {name: {job: statistics.median(each) for job, each in jobs.items()} for name, jobs in found.items()}


def main() -> int:
    """Print the medians, the ratios to the baseline, and the bars; fail if one is missed."""
    figures = measure()
    for name, jobs in figures.items():
        print(name)
        for job, seconds in jobs.items():
            print(f"  {job:12} {seconds * 1e6:12.0f} us   {seconds / jobs['jsonschema']:8.4f} of jsonschema")
    missed = 0
    for name, ours, theirs, bar in BARS:
        if theirs in figures[name]:
            ratio = figures[name][ours] / figures[name][theirs]
            missed += ratio > bar
            print(f"{name}: {ours} is {ratio:.3f} of {theirs} (bar {bar}){' MISSED' if ratio > bar else ''}")
    for few, many, factor in (("8 fields", "200 fields", 25), ("1 000 options", "10 000 options", 10)):
        growth = figures[many]["ours cold"] / figures[few]["ours cold"]
        missed += growth > 1.5 * factor
        print(f"{many} take {growth:.1f} times as long as {few}, {factor} times as many")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
