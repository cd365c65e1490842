"""
The scenarios: what a callback must do correctly, and why.

Each group has a data file with names, texts and inputs.  A scenario runs the
function that ``run`` names in its row, or the function of the scenario's own
name, with ``arguments``.  The functions are in `mcp_elicit_client.testing.scenarios`.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal, TypeAlias, get_args

Delivery: TypeAlias = Literal["server-initiated", "multi-round-trip"]
"""
How requests are sent.

``server-initiated``: with ``elicitation/create`` (up to 2025-11-25).
``multi-round-trip``: in the result of a call, which is repeated with the answers
(from 2026-07-28, requires mcp 2).
"""

GROUPS: Mapping[str, str] = {
    "decisions": "forms",
    "values": "forms",
    "validation": "forms",
    "urls": "dangers",
    "failures": "dangers",
    "hostile_servers": "dangers",
}
"""The data files and the module of their functions, in the order in which the scenarios run."""

ALL_DELIVERIES = get_args(Delivery)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """
    A requirement of callbacks, and how it is tested.

    Attributes:
        name: The stable name.
        title: The correct behavior, as a sentence.
        because: The sentence of the specification, or the defect that was
            found in other clients.
        source: Where to read about it: protocol version and section, or an
            issue.
        group: The topic.
        module: The module of the function that runs it.
        function: The name of that function.
        arguments: The arguments of that function.
        deliveries: The deliveries to which it applies.
        hang_fails: True if a missing answer is a failure, False if it is
            inconclusive.
        silent: True if the user stays silent for a while.  These scenarios
            are run at the same time where the system can fork.
        separate: True if each delivery has a separate process where the
            system can fork: together, they would start a cooldown.
    """

    name: str
    title: str
    because: str
    source: str
    group: str
    module: str
    function: str
    arguments: Mapping[str, Any]
    deliveries: tuple[Delivery, ...] = ("server-initiated", "multi-round-trip")
    hang_fails: bool = False
    silent: bool = False
    separate: bool = False


class _Scenarios(Mapping[str, Scenario]):
    """The scenarios by name.  The files are read when the first one is needed."""

    def __getitem__(self, name: str) -> Scenario:
        try:
            return _load_all()[name]
        except KeyError:
            raise KeyError(f"There is no scenario named {name!r}. `SCENARIOS` contains the names.") from None

    def __iter__(self) -> Iterator[str]:
        return iter(_load_all())

    def __len__(self) -> int:
        return len(_load_all())


SCENARIOS: Mapping[str, Scenario] = _Scenarios()
"""The scenarios by name, in the order in which they run."""


@functools.cache
def _load_all() -> dict[str, Scenario]:
    return {scenario.name: scenario for group in GROUPS for scenario in _load_group(group)}


def _load_group(group: str) -> Iterator[Scenario]:
    data = load_data(group)
    for row in data["scenarios"]:
        yield Scenario(
            name=row["name"],
            title=row["title"],
            because=row["because"],
            source=row["source"],
            group=data["group"],
            module=GROUPS[group],
            function=function_name(row),
            arguments=row.get("arguments", {}),
            deliveries=tuple(row.get("deliveries", ALL_DELIVERIES)),
            hang_fails=row.get("hang_fails", False),
            silent=row.get("silent", False),
            separate=row.get("separate", False),
        )


def load_data(group: str) -> dict[str, Any]:
    """Return the content of the data file of *group*."""
    data: dict[str, Any] = json.loads(files(__name__).joinpath(f"{group}.json").read_text(encoding="utf-8"))
    return data


def function_name(row: Mapping[str, Any]) -> str:
    """Return the name of the function that runs the scenario in *row*."""
    return str(row.get("run", row["name"].replace("-", "_")))
