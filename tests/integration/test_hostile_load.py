"""A hostile server that keeps 60 requests in flight does not affect an honest one."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest

from mcp_elicit_client.policies import rate_limit, recommended
from mcp_elicit_client.typing import Policy
from tests.support.hostile_load import LOADS, RIGHT, WRONG, Load

pytestmark = pytest.mark.anyio


def policies(name: str) -> Policy | None:
    return recommended(rate_limit=rate_limit(["100000/minute"])) if name == "recommended" else None


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize(("policy", "holds"), [("none", True), ("none", False), ("recommended", False)])
async def test_an_honest_server_is_served_and_its_answers_are_checked(load: str, policy: str, holds: bool) -> None:
    client = Load(policies(policy), holds=holds)
    answers = []
    with anyio.fail_after(120):
        async with client.flood(load):
            for content in (RIGHT, WRONG, RIGHT, WRONG):
                answer, _ = await client.ask_honest(content)
                answers.append(answer)

    # All patterns were checked.
    assert [[found.code for found in each.diagnostics] for each in answers] == [[], ["invalid_value"]] * 2
    assert [each.action for each in answers] == ["accept", "cancel", "accept", "cancel"]
    assert [each.reason for each in answers[1::2]] == ["the answer does not fit the form: pattern"] * 2


@pytest.mark.parametrize("load", ["small requests", "everything"])
async def test_other_tasks_get_a_turn_after_each_round_of_a_flood(load: str) -> None:
    client = Load(policies("recommended"), holds=False)
    turns = []
    async with client.flood(load):
        for _ in range(50):
            before = sum(client.hostile.values())
            await anyio.lowlevel.checkpoint()
            turns.append(sum(client.hostile.values()) - before)

    # Each of the 60 tasks ends at most one request per turn, however cheap it is.
    assert max(turns) <= 2 * 60


async def test_a_flood_is_refused_before_it_is_read() -> None:
    client = Load(None, holds=True)
    with anyio.fail_after(60):
        async with client.flood("small requests"):
            while not client.hostile:
                await anyio.sleep(0.001)

    assert client.hostile.keys() == {"admission"}
