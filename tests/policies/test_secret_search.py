"""Large requests and answers are searched for secrets while other tasks get their turns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from mcp_elicit_client import Answer, find_secrets, parse_request
from mcp_elicit_client._concurrency import collect_in_turns
from mcp_elicit_client.audit import AuditLog
from mcp_elicit_client.core.secrets.in_answer import searching_steps
from mcp_elicit_client.dispatch import normalize_handler
from mcp_elicit_client.policies import RememberedAnswers, protect_secrets
from mcp_elicit_client.typing import Request
from tests.support import form_params

pytestmark = pytest.mark.anyio

TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
NAMES = [f"f{at}" for at in range(100)]
FORM = parse_request(form_params({"properties": {name: {"type": "string"} for name in NAMES}}), server="mail")
CONTENT: Any = {**dict.fromkeys(NAMES, "some words"), NAMES[-1]: TOKEN}
ANSWER = Answer(action="accept", content=CONTENT, by="user", remember=True)


async def handler(_request: Request) -> Answer:
    return ANSWER


class Turns:
    """Counts the turns of a task that runs beside others."""

    def __init__(self) -> None:
        self.count = 0

    async def run(self) -> None:
        while True:
            self.count += 1
            await anyio.lowlevel.checkpoint()


@pytest.mark.parametrize("name", ["protect_secrets", "audit log", "remembered answers"])
async def test_other_tasks_get_their_turns_while_a_large_answer_is_searched(name: str, tmp_path: Path) -> None:
    path, remembered = tmp_path / "audit.jsonl", RememberedAnswers()
    policies: dict[str, Any] = {
        "protect_secrets": protect_secrets(),
        "audit log": AuditLog(path, include_values=True).policy,
        "remembered answers": remembered.policy,
    }
    turns = Turns()
    async with anyio.create_task_group() as group:
        group.start_soon(turns.run)
        answer = await policies[name](handler)(FORM)
        group.cancel_scope.cancel()

    assert turns.count >= 5
    assert (answer.policy == "secrets") == (name == "protect_secrets")
    assert remembered.list() == ()
    if name == "audit log":
        fields = json.loads(path.read_text(encoding="utf-8"))["fields"]
        assert [each.get("value") for each in fields] == [*["some words"] * 99, None]


@pytest.mark.parametrize("name", ["protect_secrets", "audit log", "remembered answers"])
async def test_other_tasks_get_their_turns_while_a_large_request_is_searched(name: str, tmp_path: Path) -> None:
    words = [f"{tmp_path.name} word{at} password policy" for at in range(9)]  # others than in other tests
    fields = {field: {"type": "string", "description": f"{field} {' '.join(words)}"} for field in NAMES}
    request = parse_request(form_params({"properties": fields}), server="mail")
    policies: dict[str, Any] = {
        "protect_secrets": protect_secrets(),
        "audit log": AuditLog(tmp_path / "audit.jsonl", include_values=True).policy,
        "remembered answers": RememberedAnswers().policy,
    }

    async def accept_nothing(_request: Request) -> Answer:
        return Answer.accept({NAMES[0]: "x"}, by="user")

    turns = Turns()
    async with anyio.create_task_group() as group:
        group.start_soon(turns.run)
        await policies[name](accept_nothing)(request)
        group.cancel_scope.cancel()

    assert turns.count >= 5


async def test_what_a_large_request_asks_for_is_found() -> None:
    fields = {field: {"type": "string", "description": "some words " * 60} for field in NAMES}
    fields[NAMES[-1]]["title"] = "Password"
    request = parse_request(form_params({"properties": fields}), server="mail")

    answer = await normalize_handler(protect_secrets()(handler))(request)

    assert (answer.action, answer.policy) == ("decline", "secrets")


async def test_an_answer_whose_search_is_cancelled_is_logged_as_withdrawn(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    ask = AuditLog(path, include_values=True).policy(handler)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await ask(FORM)

    [event] = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    assert (event["outcome"], event.get("action")) == ("withdrawn", None)
    assert not any("value" in each for each in event["fields"])


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"a": TOKEN, "b": ["x", TOKEN, "my password is tr0ub4dor&3", TOKEN], "c": 4111111111111111, "d": [7, None]},
        {"a": (*["word"] * 40, TOKEN)},
    ],
)
async def test_the_search_in_turns_finds_the_same_as_the_one_in_a_step(content: dict[str, Any]) -> None:
    assert await collect_in_turns(searching_steps(content)) == [*find_secrets(FORM, content)]


async def test_other_tasks_get_their_turns_between_the_values_of_a_long_list() -> None:
    turns = Turns()
    async with anyio.create_task_group() as group:
        group.start_soon(turns.run)
        found = await collect_in_turns(searching_steps({"a": [*["some words"] * 99, TOKEN]}))
        group.cancel_scope.cancel()

    assert [each.field for each in found] == ["a"]
    assert turns.count >= 5
