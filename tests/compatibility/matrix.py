"""
Measure every library, each in a virtual environment of its own, and write the table of ``docs/compatibility.md``.

``python -m tests.compatibility.matrix`` takes about ten minutes.  It ends
with 1 if a cell is not as it must be, and no row of ``rows.json`` says why it
cannot be; or if one is that cannot be.  Environments are made with ``uv``.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import os
import re
import subprocess
import sys
import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.compatibility import table
from tests.compatibility.judging import cells
from tests.support.environments import make_environment

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs" / "compatibility.md"
QUIET = {"MCP_USE_ANONYMIZED_TELEMETRY": "false", "OPENAI_AGENTS_DISABLE_TRACING": "1", "PYTHONWARNINGS": "ignore"}
"""What keeps libraries from calling home, and from mixing their warnings with what is measured."""

MYPY = "mypy>=1.18"
PYTEST = ["pytest", "pytest-timeout", "anyio[trio]", "hypothesis", "sybil"]
"""What the tests of an adapter need, for rows that cannot be measured."""

BOOKED = re.compile(r"""guests['"]+: 2\b""")
"""What every example prints once the demo server's question was answered with its own suggestions."""


_locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
"""Rows with the same environment are measured one after the other."""


def environment_name(row: dict[str, Any]) -> str:
    wanted = json.dumps([row["requirements"], row.get("overrides"), row.get("python"), MYPY])
    return hashlib.sha256(wanted.encode()).hexdigest()[:12]


def environment(row: dict[str, Any], folder: Path) -> Path:
    """
    Make the virtual environment of *row*; return its Python.

    Raises:
        CalledProcessError: If something cannot be installed.
    """
    requirements = [MYPY, *row["requirements"], *(PYTEST if "tests" in row else [])]
    venv = folder / environment_name(row)
    return make_environment(venv, requirements, overrides=row.get("overrides", ()), python=row.get("python"))


def run(command: list[str], timeout: float = 600) -> str:
    """Run *command* in a process group of its own, which ends with it; return what it printed."""
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, **QUIET},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, 9)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, out, err)
    return out


def distribution(row: dict[str, Any]) -> str:
    """Return the name of the distribution that *row* is about: the first that it requires."""
    return re.split(r"[^\w-]", row["requirements"][0])[0]


def measured(row: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Measure *row*; what goes wrong is in ``error``."""
    with _locks[environment_name(row)]:
        return _measured(row, folder)


def _measured(row: dict[str, Any], folder: Path) -> dict[str, Any]:
    result: dict[str, Any] = {**row}
    try:
        python = environment(row, folder)
    except subprocess.CalledProcessError as error:
        return {**result, "error": f"does not install here: {last_line(error.stderr)}"}
    try:
        if "tests" in row:
            run([str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", row["tests"]])
            result["versions"] = versions(python, row)
        else:
            command = [str(python), "-m", "tests.compatibility.measuring", row["module"], distribution(row)]
            result["report"] = json.loads(run(command, timeout=300).splitlines()[-1])
        if "example" in row:
            result["example_runs"] = bool(BOOKED.search(run([str(python), example(row["example"])], timeout=120)))
        if "needs_a_model" in row:  # the module has a stand-in for it
            stand_in = [str(python), "-m", f"tests.compatibility.libraries.{row['module']}"]
            result["example_runs"] = bool(BOOKED.search(run([*stand_in, example(row["needs_a_model"])], timeout=120)))
        result["types"] = faults_of_types(python, row)
    except subprocess.CalledProcessError as error:
        return {**result, "error": last_line(error.stderr)}
    except subprocess.TimeoutExpired:
        return {**result, "error": "took too long"}
    return result


def example(name: str) -> str:
    return str(ROOT / "examples" / f"{name}.py")


def versions(python: Path, row: dict[str, Any]) -> dict[str, str]:
    """Return the versions of the library and of the SDK that *row* was tested with."""
    program = "import sys, importlib.metadata as m; print(*(m.version(name) for name in sys.argv[1:]))"
    library, mcp = run([str(python), "-c", program, distribution(row), "mcp"]).split()
    return {"library": library, "mcp": mcp}


def faults_of_types(python: Path, row: dict[str, Any]) -> list[str]:
    """Check the adapter's types against the library's own; return what mypy finds fault with."""
    name = row.get("adapter", row["module"])
    adapter = ROOT / "mcp_elicit_client" / ("sdk" if name == "sdk" else f"hosts/{name}.py")
    try:
        run([str(python), "-m", "mypy", "--cache-dir", str(python.parent.parent / "mypy"), str(adapter)])
    except subprocess.CalledProcessError as error:
        return [line for line in str(error.stdout).splitlines() if ": error: " in line] or [last_line(error.stderr)]
    return []


def last_line(text: str) -> str:
    lines = [line.strip(" │╰─▶|") for line in text.strip().splitlines()]
    return next((line for line in reversed(lines) if line), "no reason given")[:200]


def wrong(result: dict[str, Any]) -> list[str]:
    """Return what is wrong with *result*, a line each."""
    if "error" in result:
        return [result["error"]]
    cannot = result.get("cannot", {})
    judged = list(cells(result["report"])) if "report" in result else []
    found = [f"{cell.era}: {cell.name}: {cell.found}" for cell in judged if not cell.good and cell.era not in cannot]
    found += [f"{era}: it can, though a row says that it cannot" for era in cannot if table.can(judged, era)]
    if result.get("example_runs") is False:
        found.append("the example did not print the booking")
    return [*found, *result.get("types", [])]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("modules", nargs="*", help="only the rows of these modules; the table is not written then")
    parser.add_argument("--environments", type=Path, default=ROOT / ".compatibility", help="where to make them")
    parser.add_argument("--jobs", type=int, default=2, help="how many rows to measure at a time")
    arguments = parser.parse_args()
    arguments.environments.mkdir(parents=True, exist_ok=True)
    rows = json.loads((HERE / "rows.json").read_text(encoding="utf-8"))
    chosen = [row for row in rows if not arguments.modules or row["module"] in arguments.modules]
    results = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for result in pool.map(functools.partial(measured, folder=arguments.environments), chosen):
            results.append(result)
            faults = wrong(result)
            mark = "BAD " if faults else "ok  "
            print(mark, result["title"], *faults, sep="\n      " if faults else " ", flush=True)
    if not arguments.modules:
        PAGE.write_text(table.page(results), encoding="utf-8")
    bad = [result for result in results if wrong(result)]
    counted = [cell for result in results if "report" in result for cell in cells(result["report"])]
    print(f"{len(results)} rows, {len(counted)} cells, {sum(cell.good for cell in counted)} as they must be")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
