"""Every user interface mentions an optional field that is left out because of a limit."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_elicit_client import Answer, ElicitationRegistry, Limits, Server, parse_request
from mcp_elicit_client.dispatch import Dispatcher
from mcp_elicit_client.typing import Request
from tests.support import form_params
from tests.ui.interfaces import INTERFACES, Interface, inbox_json

pytestmark = [pytest.mark.anyio, pytest.mark.event_loops("asyncio")]

SHOP = Server(name="shop")
LIMITS = Limits(max_options=2)
SCHEMA = {"properties": {"a": {"type": "string"}, "b": {"enum": ["x", "y", "z"]}}}
MENTIONED = "1 unsupported optional field was skipped."


@pytest.mark.parametrize("interface", INTERFACES, ids=lambda each: each.__name__)
async def test_a_field_that_is_left_out_because_of_a_limit_is_mentioned(interface: Interface) -> None:
    shown = await interface(parse_request(form_params(SCHEMA), server="shop", limits=LIMITS))
    assert MENTIONED in shown.text


async def test_a_field_that_the_inner_of_two_registries_leaves_out_is_mentioned() -> None:
    asked: list[Request] = []

    async def user(request: Request) -> Answer:
        asked.append(request)
        return Answer.cancel(by="user")

    inner, outer = ElicitationRegistry(limits=LIMITS), ElicitationRegistry()
    inner.on_elicitation(user)
    outer.on_elicitation(inner)
    await Dispatcher(outer).answer(form_params(SCHEMA), server=SHOP)

    assert [each["text"] for each in inbox_json(asked[0])["warnings"]] == [MENTIONED]


@pytest.mark.parametrize(
    "properties",
    [
        {"zone": {"type": "string", "enum": [f"Zone/{at}" for at in range(600)]}},
        {"repository": {"type": "string", "enum": [f"repository-{at}" for at in range(10_000)]}},
        {f"f{at}": {"type": "string"} for at in range(200)},
    ],
    ids=["600 time zones", "10 000 repositories", "200 fields"],
)
async def test_a_large_form_reaches_the_user(properties: dict[str, Any]) -> None:
    asked: list[Request] = []
    registry = ElicitationRegistry()

    @registry.on_elicitation
    async def user(request: Request) -> Answer:
        asked.append(request)
        return Answer.cancel(by="user")

    params = form_params({"properties": properties, "required": [*properties]})
    await Dispatcher(registry).answer(params, server=SHOP)

    assert [each.diagnostics for each in asked] == [()]
