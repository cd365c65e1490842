"""
Which tests are slow, and which need POSIX.

Slow tests start a process, a browser or a server, wait for a second or more, or have a large input.

The rules read the code of the tests, so that few tests have to be named.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cache
from types import CodeType, FunctionType
from typing import Any

import pytest

STARTERS = frozenset(
    {
        *(
            "ASKER",
            "DEMO",
            "FollowedPage",
            "VISITOR",
            "PostgresServer",
            "RedisServer",
            "browser",
            "desktop",
            "front_end",
            "http_server",
            "npm_tool",
            "pytester",
            "raw_server",
            "window",
        ),
        *("create_subprocess_exec", "executable", "fork", "open_process", "run_process", "subprocess"),
        *("BrowserHandler", "FakeSlack", "FakeTelegram", "fastmcp", "pexpect", "uvicorn"),
    }
)
"""Names that a test uses if it starts something: helpers of the tests, functions of the standard library, packages."""

TESTS = frozenset(
    {
        "test_a_callback_that_is_wrong_is_found_out",
        "test_a_change_of_any_byte_is_detected",
        "test_a_flood_does_not_delay_other_servers",
        "test_a_flood_leaves_nothing_behind",
        "test_a_request_is_extended_in_its_last_second_by_a_process_whose_clock_is_behind",
        "test_a_request_that_was_cancelled_before_it_was_stored_is_not_pending",
        "test_a_slow_pattern_does_not_block_the_event_loop",
        "test_a_wheel_from_the_source_distribution_has_the_same_metadata",
        "test_a_wrong_callback_is_detected",
        "test_after_an_outage_of_the_store_processes_have_the_time_of_a_lease_to_renew_theirs",
        "test_an_answer_that_cannot_be_read_neither_stops_the_others_nor_ends_the_lease",
        "test_chromium_opens_the_page_that_was_shown",
        "test_each_accepted_url_is_opened_once_and_no_rejected_one",
        "test_every_import_is_declared_as_a_dependency_or_an_extra",
        "test_many_references_to_a_large_schema_do_not_multiply_the_time",
        "test_many_users_do_not_fill_the_memory",
        "test_no_character_is_wider_on_the_screen_than_estimated",
        "test_no_line_is_too_long_to_be_verified",
        "test_of_a_hundred_thousand_urls_none_shows_another_host_than_a_browser_contacts",
        "test_server_text_never_leaves_its_gutter",
        "test_ten_thousand_options_are_answered_without_javascript",
        "test_ten_thousand_options_are_selected_in_linear_time",
        "test_the_demo_asks_no_user_if_standard_input_is_closed",
        "test_the_demo_calls_every_tool_in_every_mode",
        "test_the_error_of_a_slow_server_in_a_held_call_names_no_time_of_the_user",
        "test_the_event_loop_rests_during_a_flood",
        "test_the_gateway_of_the_guide_serves_over_stdio",
        "test_the_policy_for_answer_timeouts_lets_the_user_extend_them",
        "test_the_task_that_waits_notices_an_extension_by_another_process",
        "test_the_time_left_is_counted_down",
        "test_the_time_of_the_user_is_not_that_of_the_server",
        "test_truncation_at_any_byte_is_detected",
        "test_type_checkers_refuse_just_the_wrong_registrations_and_calls",
    }
)
"""Tests that start processes inside the package, wait for a second or more, or have a large input."""

MODULES = frozenset(
    {
        *("tests.core.test_pattern_pool", "tests.core.test_patterns", "tests.integration.test_hostile_load"),
        *("tests.policies.test_users", "tests.testing.test_check", "tests.testing.test_scenarios"),
    }
)
"""Modules whose tests start processes inside the package, or attack it with large requests."""


POSIX = frozenset(
    {
        *("AF_UNIX", "RLIMIT_CORE", "SIGKILL", "SIGSTOP", "chmod", "fork", "geteuid", "getpgrp", "getpgid", "killpg"),
        *("mkfifo", "openpty", "setrlimit", "st_mode", "symlink", "symlink_to", "tcgetattr", "tzset", "umask"),
    }
)
"""Names that a test uses if it needs something that Windows does not have."""


def is_slow(item: pytest.Item) -> bool:
    """Return True if the page, the test, or a helper or fixture of the test starts something."""
    if item.path.suffix == ".md":  # the blocks of a page share their names, so a page is slow as a whole
        return "StdioServerParameters" in item.path.read_text(encoding="utf-8")
    if not isinstance(item, pytest.Function):
        return False
    if item.module.__name__ in MODULES or item.originalname in TESTS:
        return True
    if STARTERS.intersection(item.fixturenames) or any(
        store in item.name.rpartition("[")[2] for store in ("redis", "postgres")
    ):
        return True
    return _uses(item, STARTERS)


def needs_posix(item: pytest.Item) -> bool:
    """Return True if the test, or a helper or fixture of the test, needs something that Windows does not have."""
    return isinstance(item, pytest.Function) and _uses(item, POSIX)


def _uses(item: pytest.Function, wanted: frozenset[str]) -> bool:
    fixtures: dict[str, Any] = item._fixtureinfo.name2fixturedefs
    functions = [item.function, *(each[-1].func for each in fixtures.values())]
    return any(_function_uses(function, wanted) for function in functions)


@cache
def _function_uses(function: Any, wanted: frozenset[str]) -> bool:
    function = inspect.unwrap(function)
    hypothesis = getattr(function, "hypothesis", None)
    function = function if hypothesis is None else hypothesis.inner_test
    return isinstance(function, FunctionType) and _reaches(function, wanted)


def _reaches(function: FunctionType, wanted: frozenset[str]) -> bool:
    pending, seen = [function], {function}
    while pending:
        each = pending.pop()
        names = set(_names(each.__code__))
        if names & wanted:
            return True
        for helper in _helpers(each, names):
            if helper not in seen:
                seen.add(helper)
                pending.append(helper)
    return False


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _helpers(function: FunctionType, names: set[str]) -> Iterator[FunctionType]:
    for name in names:
        found = function.__globals__.get(name)
        members = vars(found).values() if inspect.isclass(found) else [found]
        for member in members:
            helper = inspect.unwrap(member) if isinstance(member, FunctionType) else None
            if isinstance(helper, FunctionType) and helper.__module__.startswith("tests."):
                yield helper
