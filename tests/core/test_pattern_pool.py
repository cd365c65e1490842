from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_elicit_client.core.budgets import Budgets, UserAndServer
from mcp_elicit_client.core.validation import pattern_pool
from mcp_elicit_client.core.validation.pattern_pool import PatternJob, PatternPool
from mcp_elicit_client.core.validation.pattern_process import PatternResult
from tests.support import no_further_threads

ENDLESS = ("^(a+)+$", "a" * 40 + "!")
ORDINARY = ("^[0-9]{4}$", "1234")


@pytest.fixture
def pool() -> Iterator[PatternPool]:
    made = PatternPool()
    yield made
    made.close()


class Asked:
    """A job, and when it was done."""

    def __init__(self, pool: PatternPool, checks: list[tuple[str, str]], user_and_server: UserAndServer) -> None:
        self.done = threading.Event()
        self.seconds = 0.0
        self._begin = time.monotonic()
        self.job = PatternJob(checks, user_and_server, self._end)
        pool.submit(self.job)

    def results(self) -> list[PatternResult]:
        assert self.done.wait(60)
        return self.job.results

    def _end(self) -> None:
        self.seconds = time.monotonic() - self._begin
        self.done.set()


def test_the_results_are_in_the_order_of_the_checks(pool: PatternPool) -> None:
    asked = Asked(pool, [("a", "a"), ("a", "b"), ("(", "a")], (None, "server"))

    assert asked.results() == [PatternResult.MATCH, PatternResult.NO_MATCH, PatternResult.INVALID]


def test_endless_patterns_of_one_server_leave_workers_for_the_others(pool: PatternPool) -> None:
    for user in range(30):
        Asked(pool, [ENDLESS] * 4, (f"user {user}", "hostile"))

    assert Asked(pool, [ORDINARY], (None, "honest")).results() == [PatternResult.MATCH]
    assert pool.budgets.used((None, "hostile"), time.monotonic())[0] < 1, "it was not the budget that made room"


@pytest.mark.parametrize(
    ("first", "busy", "idle"),
    [
        pytest.param((None, "first"), (None, "busy"), (None, "idle"), id="of a server"),
        pytest.param((None, "server"), ("busy", "server"), ("idle", "server"), id="of a user of one server"),
    ],
)
def test_the_next_check_is_of_whoever_used_least(
    pool: PatternPool, monkeypatch: pytest.MonkeyPatch, first: Any, busy: Any, idle: Any
) -> None:
    monkeypatch.setattr(pattern_pool, "MAX_PROCESSES", 1)
    order: list[str] = []
    done = threading.Barrier(4)

    def finish(name: str) -> None:
        order.append(name)
        threading.Thread(target=done.wait).start()

    pool.budgets.spend(busy, 0.5, time.monotonic())
    pool.submit(PatternJob([ENDLESS], first, lambda: finish("first")))
    pool.submit(PatternJob([ORDINARY], busy, lambda: finish("busy")))
    pool.submit(PatternJob([ORDINARY], idle, lambda: finish("idle")))
    done.wait(60)

    assert order == ["first", "idle", "busy"]


def test_an_answer_gets_only_part_of_the_time(pool: PatternPool) -> None:
    asked = Asked(pool, [ENDLESS] * 60, (None, "server"))

    results = asked.results()
    assert results.count(PatternResult.TIMEOUT) == 2
    assert results.count(PatternResult.BUSY) == 58


def test_a_user_whose_budget_is_used_up_waits_for_the_refill_and_other_users_do_not(pool: PatternPool) -> None:
    pool.budgets.spend(("busy", "server"), 2 * pattern_pool.USER_BUDGET, time.monotonic())

    assert Asked(pool, [ORDINARY], ("busy", "server")).results() == [PatternResult.OVER_BUDGET]
    assert Asked(pool, [ORDINARY], ("idle", "server")).results() == [PatternResult.MATCH]


def test_a_server_has_a_larger_budget_for_all_its_users(pool: PatternPool) -> None:
    for user in range(4):
        pool.budgets.spend((f"user {user}", "server"), pattern_pool.SERVER_BUDGET / 2, time.monotonic())

    assert Asked(pool, [ORDINARY], ("another", "server")).results() == [PatternResult.OVER_BUDGET]
    assert Asked(pool, [ORDINARY], ("another", "another server")).results() == [PatternResult.MATCH]


def test_a_check_that_has_waited_too_long_behind_those_of_many_servers_is_given_up(
    pool: PatternPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Asked(pool, [ORDINARY], (None, "first")).results() == [PatternResult.MATCH]
    monkeypatch.setattr(pattern_pool, "MAX_WAIT", 0.0)

    assert Asked(pool, [ORDINARY] * 2, (None, "honest")).results() == [PatternResult.BUSY] * 2


def test_a_job_that_nobody_waits_for_is_dropped(pool: PatternPool) -> None:
    first = Asked(pool, [ENDLESS], (None, "server"))
    dropped = Asked(pool, [ORDINARY], (None, "server"))
    dropped.job.is_abandoned = True
    last = Asked(pool, [ORDINARY], (None, "server"))

    assert first.results() == [PatternResult.TIMEOUT]
    assert last.results() == [PatternResult.MATCH]
    assert not dropped.job.results


@pytest.mark.skipif(sys.platform != "linux", reason="other systems limit the size of a stack")
def test_patterns_are_checked_again_after_the_system_refused_to_start_threads(pool: PatternPool) -> None:
    with no_further_threads():
        for _ in range(pattern_pool.MAX_PROCESSES):
            with pytest.raises(RuntimeError):
                Asked(pool, [ORDINARY], (None, "server"))

    assert Asked(pool, [ORDINARY], (None, "server")).results() == [PatternResult.MATCH]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems limit the size of a stack")
def test_where_no_further_thread_can_start_the_processes_that_run_check_the_patterns(pool: PatternPool) -> None:
    busy = Asked(pool, [ENDLESS] * 4, (None, "busy"))
    with no_further_threads():
        waiting = Asked(pool, [ORDINARY], (None, "waiting"))

    assert busy.done.wait(60)
    assert waiting.results() == [PatternResult.MATCH]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.floats(0, 10), st.floats(0, 100))))
def test_a_budget_is_refilled_evenly_and_then_forgotten(spent: list[tuple[str, float, float]]) -> None:
    now = 0.0
    budgets = Budgets(per_user=2.0, per_server=8.0, refill_time=60.0)
    for user, seconds, pause in spent:
        before = budgets.used((user, "server"), now)
        budgets.spend((user, "server"), seconds, now)
        after = budgets.used((user, "server"), now)
        assert after[0] == pytest.approx(before[0] + seconds / pattern_pool.SERVER_BUDGET)
        assert after[1] == pytest.approx(before[1] + seconds / pattern_pool.USER_BUDGET)
        now += pause
    now += pattern_pool.REFILL_TIME * (1 + sum(seconds for _, seconds, _ in spent))

    assert budgets.used(("a", "server"), now) == budgets.used(("b", "server"), now) == (0, 0)
    assert not budgets._full_at
