"""Which claimed names are imitations: the table ``fixtures/server_names.json``."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_elicit_client import Answer, Server, parse_request
from mcp_elicit_client.policies import flag_impersonation
from mcp_elicit_client.typing import Request
from tests.support import form_params, table

pytestmark = pytest.mark.anyio

NAMES = table("server_names")


async def has_warning(claimed: str, *, name: str = "a server") -> bool:
    shown: list[Request] = []

    async def decline(request: Request) -> Answer:
        shown.append(request)
        return Answer.decline(by="user")

    request = parse_request(form_params({}), server=Server(name=name, claimed_name=claimed))
    await flag_impersonation(known_names=NAMES["known_names"])(decline)(request)
    return [each.code for each in shown[0].diagnostics] == ["impersonation"]


@pytest.mark.parametrize("claimed", NAMES["imitations"])
async def test_an_imitation_is_shown_with_a_warning(claimed: str) -> None:
    assert await has_warning(claimed)


@pytest.mark.parametrize("claimed", NAMES["ordinary"])
async def test_an_ordinary_name_is_shown_without_a_warning(claimed: str) -> None:
    assert not await has_warning(claimed)


@pytest.mark.parametrize("claimed", ["GitHub MCP Server", "github.com", "github-mcp-server"])
async def test_a_name_that_the_host_application_uses_for_this_server_is_no_imitation(claimed: str) -> None:
    assert not await has_warning(claimed, name="github")


@given(st.text(max_size=300))
async def test_any_claimed_name_is_judged_without_an_error(claimed: str) -> None:
    await has_warning(claimed)
