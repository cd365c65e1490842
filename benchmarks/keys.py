"""
Counts the keys that five questions take, in this package and in other prompts.

    python -m benchmarks.keys [--venvs DIR] [--only LIBRARY]

The questions are a confirmation, one yes or no, one text, a form of eight
fields whose suggested values are all accepted, and a URL.  Each is asked in a
window of tmux, and the keys are pressed one after the other, as soon as the
screen shows what they answer.  A run counts only if the program then has the
right answer.  The other libraries come from the package index, each in a
virtual environment that the first run makes.

The bar: no more keys than the best of the others, plus the one that confirms
sending.  A library that asks nothing is not compared.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.key_counts.questions import ANSWERS, FORM, NAME, QUESTIONS
from tests.support.environments import make_environment
from tests.support.tmux import Pane, window

ROOT = Path(__file__).parent.parent

Step: TypeAlias = tuple[str, Sequence[str]]
"""A text on the screen, and the keys to press when it is there, by their names in tmux."""

TYPED = [*NAME]
ENTER = "Enter"
_TITLES = [each["title"] for each in FORM.values()]


@dataclass(frozen=True, kw_only=True)
class Library:
    """
    A library that asks.

    Attributes:
        name: Its name.
        program: The module or file, and its first arguments.
        steps: For each question, the fewest keys that answer it; none if it
            answers without asking.
        packages: The packages to install; empty for this package.
        overrides: Packages whose newest release is installed, whatever is
            required.
        python: The version of Python; None for that of this process.
    """

    name: str
    program: Sequence[str]
    steps: Mapping[str, Sequence[Step]]
    packages: Sequence[str] = ()
    overrides: Sequence[str] = ()
    python: str | None = None


_PROMPTS: Mapping[str, Sequence[Step]] = {
    "confirm": [("Delete table 4?", ["y"])],
    "boolean": [("Window", ["y"])],
    "text": [("Name", [*TYPED, ENTER])],
    "form": [(title, [ENTER]) for title in _TITLES],
    "url": [("https://example.com/deposit", ["y"])],
}

LIBRARIES = (
    Library(
        name="mcp-elicit-client",
        program=["-m", "benchmarks.key_counts.ours"],
        steps={
            "confirm": [("y Yes", ["y"])],
            "boolean": [("y Yes", ["y"])],
            "text": [("Name", [*TYPED, ENTER]), ("Check your answers", [ENTER])],
            "form": [("Ada Lovelace", ["C-s"]), ("Check your answers", [ENTER])],
            "url": [("o Open", ["o"])],
        },
    ),
    Library(
        name="questionary",
        program=["-m", "benchmarks.key_counts.prompts", "questionary"],
        steps=_PROMPTS,
        packages=["questionary==2.1.1"],
    ),
    Library(
        name="InquirerPy",
        program=["-m", "benchmarks.key_counts.prompts", "InquirerPy"],
        steps=_PROMPTS,
        packages=["InquirerPy==0.3.4"],
    ),
    Library(
        name="fast-agent",
        program=["-m", "benchmarks.key_counts.fast_agent_form"],
        steps={
            "confirm": [("Delete table 4?", [ENTER])],
            "boolean": [("Window", ["Space", "Tab", ENTER])],
            "text": [("Name", [*TYPED, ENTER])],
            "form": [("Ada Lovelace", [ENTER])],
            "url": [],
        },
        packages=["fast-agent-mcp==0.10.48"],
        overrides=["certifi"],
        python="3.13",
    ),
)

BARS = {"confirm": 2, "boolean": 2, "text": 5, "form": 2, "url": 2}
"""The most keys that this package may take: those of the best other library, plus one.  Measured by a whole run."""

_PAUSE = 0.7
"""Seconds after the screen shows what a key answers: presses before are too early for a user."""

_BETWEEN = 0.08
_PATIENCE = 60


def interpreter(library: Library, venvs: Path) -> str:
    """Return the Python of *library*, whose environment is made if it is missing."""
    if not library.packages:
        return sys.executable
    venv = venvs / library.name
    return str(make_environment(venv, library.packages, overrides=library.overrides, python=library.python))


def count(library: Library, question: str, python: str) -> int:
    """
    Answer *question* and return the number of keys.

    Raises:
        AssertionError: If the answer is another one.
    """
    environment = {**os.environ, "MCP_ELICIT_UI": "interactive", "LC_ALL": "C.UTF-8", "NO_COLOR": ""}
    environment = {name: value for name, value in environment.items() if value}
    keys = 0
    with window([python, *library.program, question], environment, columns=100, rows=40, cwd=ROOT) as pane:
        for sign, pressed in library.steps[question]:
            pane.sees(sign)
            time.sleep(_PAUSE)
            for key in pressed:
                pane.keys(key)
                keys += 1
                time.sleep(_BETWEEN)
        answer = result_of(pane)
    if answer != ANSWERS[question]:
        raise AssertionError(f"{library.name} answered {question} with {answer!r}")
    return keys


def result_of(pane: Pane) -> Any:
    """Return the answer that the program printed."""
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        _, found, rest = pane.history.partition("RESULT ")
        if found and "exit status" in rest:
            return json.loads("".join(rest.partition("exit status")[0].splitlines()))
        time.sleep(_BETWEEN)
    raise AssertionError(f"There is no answer:\n{pane.shown}")


def main() -> int:
    """Print the table; return 1 if a question takes too many keys."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[1])
    parser.add_argument("--venvs", type=Path, default=ROOT / ".venvs")
    parser.add_argument("--only", choices=[each.name for each in LIBRARIES])
    options = parser.parse_args()
    table: dict[str, dict[str, int]] = {}
    for library in LIBRARIES:
        if options.only in (None, library.name):
            python = interpreter(library, options.venvs)
            table[library.name] = {question: count(library, question, python) for question in QUESTIONS}
    print(f"{'':20}" + "".join(f"{question:>10}" for question in QUESTIONS))
    for name, counts in table.items():
        print(f"{name:20}" + "".join(f"{each or '-':>10}" for each in counts.values()))
    if len(table) < len(LIBRARIES):
        return 0
    own, *others = table.values()
    bars = {question: min(each[question] for each in others if each[question]) + 1 for question in QUESTIONS}
    print(f"{'at most':20}" + "".join(f"{bar:>10}" for bar in bars.values()))
    if bars != BARS:
        print(f"The bars have changed: {bars}")
    return int(bars != BARS or any(own[question] > bars[question] for question in QUESTIONS))


if __name__ == "__main__":
    sys.exit(main())
