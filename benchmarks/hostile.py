"""
What hostile servers cost: the worst requests, and an honest server beside a flood.

Run from the checkout: ``python -m benchmarks.hostile``.  The bars: each
payload is read in 100 ms; during a load of 60 requests in flight, with and
without the recommended policies, requests of an honest server are shown at
most 100 ms later than on an idle client, its answers are all checked, and the
event loop never stalls for more than 100 ms.  The bars are for an idle
machine with two processors.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time

import anyio

from mcp_elicit_client import RequestError, parse_request
from mcp_elicit_client.policies import rate_limit, recommended
from mcp_elicit_client.testing import PAYLOADS
from mcp_elicit_client.typing import Policy
from tests.support import form_params
from tests.support.hostile_load import LOADS, RIGHT, WRONG, Load

BAR = 0.1
ORDINARY = form_params({"properties": {f"field{at}": {"type": "string", "default": "x"} for at in range(8)}})
_TICK = 0.002
_PAUSE = 0.05
_ROUNDS = 20


def seconds(params: object) -> tuple[float, str]:
    """Parse *params*; return the CPU seconds that it took and how it ended."""
    begin = time.process_time()
    try:
        parse_request(params)
        ended = "form"
    except RequestError as error:
        ended = str(error)
    return time.process_time() - begin, ended


def read_payloads() -> int:
    """Print a line for each payload; return the number of those above the bar."""
    seconds(ORDINARY)  # so that no import is measured
    ordinary, _ = seconds(ORDINARY)
    print(f"{ordinary * 1000:8.2f} ms   1.0 x  an ordinary form of eight fields")
    slow = 0
    for name, make in PAYLOADS.items():
        took, ended = seconds(make())
        slow += took > BAR
        print(f"{took * 1000:8.2f} ms {took / ordinary:5.1f} x  {name}: {ended}")
    return slow


class Stalls:
    """The longest time in which the event loop ran nothing else."""

    longest = 0.0

    async def watch(self) -> None:
        """Measure until cancelled."""
        while True:
            begin = time.perf_counter()
            await anyio.sleep(_TICK)
            self.longest = max(self.longest, time.perf_counter() - begin - _TICK)


async def _ask(client: Load) -> tuple[list[float], int]:
    """Return when requests of the honest server were shown, and how many answers were not checked."""
    shown, wrong = [], 0
    for number in range(_ROUNDS):
        right = number % 2 == 0
        answer, after = await client.ask_honest(RIGHT if right else WRONG)
        if (answer.action == "accept") != right or (right and answer.diagnostics):
            wrong += 1
            print(f"     not checked: {answer!r}")
        shown.append(after)
        await anyio.sleep(_PAUSE)
    return shown, wrong


async def beside(load: str, policy: Policy | None, *, holds: bool) -> tuple[float, float, int, float]:
    """Return the median and the longest delay of the honest server, its unchecked answers, and the longest stall."""
    client, stalls = Load(policy, holds=holds), Stalls()
    # So that neither imports nor the start of a process are measured, nor how long
    # the garbage collector looks at the modules.
    await client.ask_honest(RIGHT)
    async with client.flood(load):
        await client.ask_honest(RIGHT)
    gc.collect()
    gc.freeze()
    async with anyio.create_task_group() as group:
        idle, _ = await _ask(client)
        group.start_soon(stalls.watch)
        async with client.flood(load):
            shown, wrong = await _ask(client)
        group.cancel_scope.cancel()
    return statistics.median(shown), max(shown) - statistics.median(idle), wrong, stalls.longest


def serve_beside_floods() -> int:
    """Print a line for each load; return the number of those above a bar."""
    failed = 0
    for load in LOADS:
        for name, holds in (("none", True), ("none", False), ("recommended", False)):
            policy = recommended(rate_limit=rate_limit(["100000/minute"])) if name == "recommended" else None
            median, delay, wrong, stall = anyio.run(lambda: beside(load, policy, holds=holds))  # noqa: B023 -- runs now
            is_bad = delay > BAR or stall > BAR or wrong > 0
            failed += is_bad
            user = "never answers" if holds else "accepts"
            print(
                f"{'FAIL' if is_bad else 'ok':4} {load}, policies: {name}, user {user}: shown after "
                f"{median * 1000:.1f} ms (at most {delay * 1000:.0f} ms later than idle), "
                f"{wrong} answers not checked, longest stall {stall * 1000:.0f} ms"
            )
    return failed


def main() -> int:
    """Print the figures; fail if one is above its bar."""
    return 1 if read_payloads() + serve_beside_floods() else 0


if __name__ == "__main__":
    sys.exit(main())
