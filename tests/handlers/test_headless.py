from __future__ import annotations

from typing import Any

import pytest

from mcp_elicit_client import parse_request
from mcp_elicit_client.handlers.headless import HeadlessHandler
from tests.support import form_params

pytestmark = pytest.mark.anyio

SUGGESTS = {"properties": {"a": {"type": "string", "default": "x"}, "b": {"type": "string"}}, "required": ["a"]}
LACKS = {"properties": {"a": {"type": "string", "default": "x"}, "b": {"type": "string"}}, "required": ["b"]}
WRONG = {"properties": {"a": {"type": "integer", "default": "x"}}, "required": ["a"]}
URL = {"mode": "url", "message": "m", "url": "https://example.com/"}


@pytest.mark.parametrize(
    ("params", "server", "action", "by"),
    [
        (form_params(SUGGESTS), "ci", "accept", "default"),
        (form_params(SUGGESTS), "other", "cancel", "unattended"),
        (form_params(LACKS), "ci", "cancel", "unattended"),
        (form_params(WRONG), "ci", "cancel", "unattended"),
        (form_params({"properties": {}}), "ci", "cancel", "unattended"),
        (form_params({"properties": {"b": {"type": "string"}}}), "ci", "cancel", "unattended"),
        (URL, "ci", "cancel", "unattended"),
    ],
)
async def test_only_complete_defaults_of_a_listed_server_are_accepted(
    params: dict[str, Any], server: str, action: str, by: str
) -> None:
    answer = await HeadlessHandler(accept_defaults_from={"ci"})(parse_request(params, server=server))

    assert (answer.action, answer.by) == (action, by)
    assert answer.content == ({"a": "x"} if action == "accept" else None)
    assert answer.reason


async def test_by_default_nothing_is_accepted() -> None:
    assert (await HeadlessHandler()(parse_request(form_params(SUGGESTS), server="ci"))).action == "cancel"


def test_a_string_is_not_a_collection_of_server_names() -> None:
    with pytest.raises(TypeError, match="must be a collection of strings, not one string"):
        HeadlessHandler(accept_defaults_from="ci")
