"""Limits that apply before a request is read, and the thread that reads large requests."""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

import anyio
import pytest
from mcp.types import ElicitRequestFormParams

from mcp_elicit_client import Limits, RequestError, reader
from mcp_elicit_client.core import budgets
from mcp_elicit_client.core.budgets import Admission
from mcp_elicit_client.core.parse import check_size, to_wire
from mcp_elicit_client.reader import limits_of_small, read_in_thread
from tests.support import form_params, no_further_threads

pytestmark = pytest.mark.anyio

ANN, BOB = ("ann", "server"), ("bob", "server")


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def refusal(limits: Admission, key: tuple[str | None, str]) -> str:
    with limits.admit(key) as admitted:
        return admitted.refusal


def test_a_server_has_a_maximum_of_open_requests_for_each_user() -> None:
    limits = Admission()
    admitted = [limits.admit(ANN) for _ in range(budgets.MAX_OPEN)]
    assert not any(each.refusal for each in admitted)

    assert "too many open requests" in refusal(limits, ANN)
    assert refusal(limits, BOB) == ""

    admitted[0].__exit__(None, None, None)
    assert refusal(limits, ANN) == ""


def test_requests_beyond_a_few_open_ones_wait_longer_and_longer() -> None:
    limits = Admission()
    free = [limits.admit(ANN) for _ in range(budgets.OPEN_WITHOUT_DELAY)]
    further = [limits.admit(ANN) for _ in range(3)]

    assert [each.delay for each in free] == [0] * len(free)
    assert [each.delay for each in further] == pytest.approx([1 * budgets.DELAY, 2 * budgets.DELAY, 3 * budgets.DELAY])
    assert limits.admit(BOB).delay == 0

    for each in (*free, *further):
        each.__exit__(None, None, None)
    assert limits.admit(ANN).delay == 0


def test_requests_wait_if_many_users_have_open_requests_of_one_server() -> None:
    limits = Admission()
    for number in range(budgets.MAX_OPEN_OF_SERVER):
        limits.admit((str(number), "server"))
    refused = limits.admit(ANN)

    assert refused.refusal
    assert refused.delay > 10 * budgets.DELAY
    assert limits.admit(("ann", "other")).delay == 0


def test_refusals_wait_even_if_no_request_is_open(now: list[float]) -> None:
    limits = Admission()
    for _ in range(budgets.MAX_REQUESTS):
        with limits.admit(ANN) as admitted:
            assert admitted.delay == 0

    refused = [limits.admit(ANN).delay for _ in range(2_000)]
    assert refused[0] == budgets.DELAY
    assert refused == sorted(refused)
    assert refused[-1] == budgets.MAX_DELAY


def test_requests_per_time_are_limited_and_allowed_again_later(now: list[float]) -> None:
    limits = Admission()
    for _ in range(budgets.MAX_REQUESTS):
        assert refusal(limits, ANN) == ""

    assert "too fast" in refusal(limits, ANN)
    assert refusal(limits, BOB) == ""

    now[0] += budgets.REFILL_TIME / 2
    assert refusal(limits, ANN) == ""


def test_the_time_for_reading_is_limited(now: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    limits = Admission()
    times = iter([0.0, budgets.MAX_READING_TIME])
    monkeypatch.setattr(time, "thread_time", lambda: next(times))
    with limits.measure_reading(ANN):
        pass

    assert "too much time" in refusal(limits, ANN)
    assert refusal(limits, BOB) == ""


def test_nothing_is_kept_of_requests_that_are_over(now: list[float]) -> None:
    limits = Admission()
    for number in range(100):
        assert refusal(limits, (str(number), "server")) == ""
    now[0] += 2 * budgets.REFILL_TIME
    for number in range(100):
        assert limits._requests.used((str(number), "server"), now[0]) == (0, 0)

    assert not limits._open
    assert not limits._refused
    assert not limits._requests._full_at


SMALL: list[object] = [
    form_params({"properties": {"a": {"type": "string"}}}),
    ElicitRequestFormParams.model_validate(form_params({"type": "object", "properties": {}})),
]
NESTED: dict[str, Any] = {}
NESTED["again"] = NESTED
SHARED: list[Any] = []
for _ in range(60):
    SHARED = [SHARED, SHARED]
LARGE: list[object] = [
    form_params({"properties": {"a": {"type": "string", "description": "é" * 5_000}}}),
    form_params({"properties": {"a": {"enum": [str(number) for number in range(10_000)]}}}),
    form_params({"properties": {f"field{number}" * 10: {} for number in range(500)}}),
    ElicitRequestFormParams.model_validate(form_params({"type": "object", "properties": {}}, "m" * 5_000)),
    NESTED,
    {"default": SHARED},
]


def test_what_was_logged_about_servers_is_forgotten_when_it_is_over(now: list[float]) -> None:
    limits = Admission()
    for number in range(5_000):
        now[0] = number * 60
        assert limits.should_log(f"server {number}", "too fast")
        assert not limits.should_log(f"server {number}", "too fast")

    assert len(limits._logged) < 1_500


def test_an_ordinary_request_is_small() -> None:
    assert all(check_size(to_wire(params), limits_of_small(Limits())) for params in SMALL)


@pytest.mark.parametrize("at", range(len(LARGE)))
def test_a_request_with_many_characters_or_values_is_large(at: int) -> None:
    with pytest.raises(RequestError):
        check_size(to_wire(LARGE[at]), limits_of_small(Limits()))


async def test_a_large_request_is_read_in_one_thread_beside_the_event_loop() -> None:
    threads = [await read_in_thread(threading.get_ident, ANN) for _ in range(3)]

    assert len(set(threads)) == 1
    assert threads[0] != threading.get_ident()


async def test_an_error_while_reading_is_raised_in_the_task() -> None:
    with pytest.raises(ZeroDivisionError):
        await read_in_thread(lambda: 1 // 0, ANN)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems limit the size of a stack")
async def test_large_requests_are_read_again_after_the_system_refused_to_start_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reader, "_READER", reader._Reader())
    with no_further_threads(), pytest.raises(RuntimeError):
        await read_in_thread(threading.get_ident, ANN)

    with anyio.fail_after(60):
        assert await read_in_thread(threading.get_ident, ANN) != threading.get_ident()


async def test_a_server_that_used_the_thread_waits_for_others() -> None:
    order: list[str] = []
    begun, go_on = threading.Event(), threading.Event()

    def first() -> None:
        begun.set()
        go_on.wait(30)
        begin = time.thread_time()
        while time.thread_time() < begin + 0.01:
            pass

    async def read(name: str, key: tuple[str | None, str]) -> None:
        await read_in_thread(lambda: order.append(name), key)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(read_in_thread, first, (None, "greedy"))
            await anyio.to_thread.run_sync(begun.wait)
            group.start_soon(read, "greedy", (None, "greedy"))
            await anyio.wait_all_tasks_blocked()
            group.start_soon(read, "honest", (None, "honest"))
            await anyio.wait_all_tasks_blocked()
            go_on.set()

    assert order == ["honest", "greedy"]


async def test_a_request_that_is_cancelled_before_its_turn_is_not_read() -> None:
    read: list[str] = []
    begun, go_on = threading.Event(), threading.Event()

    def first() -> None:
        begun.set()
        go_on.wait(30)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(read_in_thread, first, ANN)
            await anyio.to_thread.run_sync(begun.wait)
            with anyio.move_on_after(0.01):
                await read_in_thread(lambda: read.append("second"), ANN)
            go_on.set()

    assert read == []
