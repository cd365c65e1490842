"""Reading what a server reports about a task: any JSON is read within the limits, or refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from mcp_elicit_client.calls.task_wire import (
    FINAL,
    MAX_KEY,
    MAX_TTL,
    check_task_id,
    read_task,
    read_tool_result,
)
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.dispatch import MAX_BATCH
from mcp_elicit_client.exceptions import TaskError
from tests.servers.tasker import NOW, question

JSON = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(max_size=5),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
STATUSES = ["working", "input_required", "completed", "failed", "cancelled", "other"]
REQUESTS = some.dictionaries(some.text(max_size=5) | some.just("\ud800"), some.just(question("?")) | JSON, max_size=20)
FIELDS: some.SearchStrategy[dict[str, object]] = some.fixed_dictionaries(
    {"taskId": some.just("t"), "status": some.sampled_from(STATUSES)},
    optional={
        "resultType": JSON,
        "createdAt": some.just(NOW) | JSON,
        "statusMessage": some.text() | JSON,
        "ttlMs": some.just(10**400) | some.integers() | some.floats() | JSON,
        "pollIntervalMs": some.integers() | some.floats() | JSON,
        "inputRequests": REQUESTS | JSON,
        "result": some.just({"content": []}) | JSON,
        "error": some.just({"code": -1, "message": "m"}) | JSON,
    },
)


@given(FIELDS)
def test_any_task_is_read_within_the_limits_or_refused(wire: dict[str, object]) -> None:
    try:
        state = read_task(wire, "t")
    except TaskError as error:
        assert error.code in ("invalid", "limit")
        return
    assert state.is_final == (state.status in FINAL)
    assert state.status == "input_required" or not state.requests
    assert len(state.requests) <= MAX_BATCH
    assert all(len(key) <= MAX_KEY for key in state.requests)
    assert all(each is None or 0 <= each <= MAX_TTL for each in (state.ttl, state.poll_interval))
    assert state.message is None or state.message == sanitize_text(state.message, multiline=False)
    assert (state.result is not None, state.error is not None) == (
        state.status == "completed",
        state.status == "failed",
    )
    if state.status == "completed":
        try:
            read_tool_result(state)
        except TaskError as error:
            assert error.code == "invalid"


@given(some.text(max_size=5), some.text(max_size=5))
def test_requests_are_the_same_only_if_their_content_is(first: str, second: str) -> None:
    def digest(message: str, **more: object) -> str:
        wire = {"method": "elicitation/create", "params": {"message": message, **more}}
        state = read_task({"status": "input_required", "inputRequests": {"k": wire}}, "t")
        return state.requests["k"].digest

    assert (digest(first) == digest(second)) == (first == second)
    assert digest(first, _meta={"n": 1}) == digest(first)  # no part of the question


@given(some.text())
def test_an_id_is_used_only_if_a_header_can_have_it(task_id: str) -> None:
    try:
        assert check_task_id(task_id).isprintable()
    except ValueError:
        assert not task_id or not task_id.isprintable() or task_id != task_id.strip() or len(task_id) > 2_048


def test_a_request_that_is_nested_too_deeply_is_refused() -> None:
    nested: object = {}
    for _ in range(100_000):
        nested = [nested]
    wire = {"method": "elicitation/create", "params": {"requestedSchema": nested}}
    with pytest.raises(TaskError, match="nested"):
        read_task({"status": "input_required", "inputRequests": {"k": wire}}, "t")
