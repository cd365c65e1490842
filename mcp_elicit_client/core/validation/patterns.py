"""
The patterns of a form: which are checked, and what follows from the results.

What needs pattern checks is written once, as a generator that yields checks
and receives their results (`PatternSteps`).  It runs with or without an event
loop.  A pattern that could not be checked is reported with the reason: that
is neither a match nor an error.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Generator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from mcp_elicit_client.core.budgets import UserAndServer
from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.form import Field, Form, has_patterns, text_constraints, texts_of
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.core.validation.field_errors import FieldError, field_error
from mcp_elicit_client.core.validation.pattern_pool import POOL, PatternCheck, PatternJob
from mcp_elicit_client.core.validation.pattern_process import START_TIMEOUT, PatternResult

T = TypeVar("T")

PatternSteps: TypeAlias = Generator[Sequence[PatternCheck], Sequence[PatternResult], T]
"""A generator that yields checks, at least one at a time, receives their results, and returns what follows."""

EVENT_LOOP_TIMEOUT = 0.08
"""The maximum time for which a thread that runs an event loop is blocked, in seconds."""

NO_USER: UserAndServer = (None, "")
"""The budget that is used for checks without a request."""

_MAX_PATTERN_SHOWN = 80


def match_patterns(
    form: Form, content: Mapping[str, Any]
) -> PatternSteps[tuple[tuple[FieldError, ...], tuple[Diagnostic, ...]]]:
    """Return an error for each field whose pattern does not match, and the patterns that could not be checked."""
    unchecked: list[Diagnostic] = []
    checks: list[tuple[Field, PatternCheck]] = []
    for field in form.fields:
        text = text_constraints(field)
        if text is None or field.name not in content:
            continue
        if text.pattern_skipped:
            unchecked.append(_not_checked(field, text.pattern_skipped))
        elif text.pattern is not None:
            checks += [(field, (text.pattern, each)) for each in texts_of(content[field.name])]
    results = (yield [check for _, check in checks]) if checks else ()
    mismatched: dict[str, FieldError] = {}
    for (field, (pattern, value)), result in zip(checks, results, strict=True):
        if result is PatternResult.NO_MATCH:
            shown = sanitize_text(pattern, limit=_MAX_PATTERN_SHOWN, multiline=False)
            params = {"spaces": True} if value != value.strip() else {}
            mismatched[field.name] = field_error(field.name, "pattern", pattern=shown, **params)
        elif not result.checked:
            unchecked.append(_not_checked(field, result.value))
    return tuple(mismatched.values()), tuple(dict.fromkeys(unchecked))


def settling_steps(form: Form) -> PatternSteps[tuple[Form, tuple[Diagnostic, ...]]]:
    """
    Check the defaults of fields with a pattern.  Matching ones become `default`, the others are dropped.

    If the form has patterns, a worker process is started, so that it is ready
    when the answer is checked.
    """
    if not has_patterns(form):
        return form, ()
    POOL.warm_up()
    defaults = {field.name: getattr(field, "unchecked_default", None) for field in form.fields}
    unchecked = {name: default for name, default in defaults.items() if default is not None}
    if not unchecked:
        return form, ()
    mismatched, _ = yield from match_patterns(form, unchecked)
    wrong = [error.field for error in mismatched]
    matching = {name: default for name, default in unchecked.items() if name not in wrong}
    fields = tuple(
        field.model_copy(update={"default": matching.get(field.name), "unchecked_default": None})
        if field.name in unchecked
        else field
        for field in form.fields
    )
    message = "its default does not match its pattern"
    dropped = tuple(Diagnostic(code="default_dropped", message=message, field=name) for name in wrong)
    return form.model_copy(update={"fields": fields}), dropped


def settle_defaults(form: Form, user_and_server: UserAndServer = NO_USER) -> tuple[Form, tuple[Diagnostic, ...]]:
    """Run `settling_steps` without an event loop, within the budget of *user_and_server*."""
    return run_steps(settling_steps(form), user_and_server)


def _not_checked(field: Field, reason: str) -> Diagnostic:
    return Diagnostic(code="pattern_not_checked", message=reason, field=field.name)


def run_steps(steps: PatternSteps[T], user_and_server: UserAndServer = NO_USER) -> T:
    """
    Run *steps*, and wait for the results of patterns.

    A thread that runs an event loop is blocked for at most 0.08 s.  Patterns
    that were not checked by then are unchecked.
    """
    try:
        checks = next(steps)
        while True:
            checks = steps.send(check_patterns(checks, user_and_server))
    except StopIteration as end:
        result: T = end.value
        return result


def check_patterns(checks: Sequence[PatternCheck], user_and_server: UserAndServer = NO_USER) -> Sequence[PatternResult]:
    """Run *checks*; see `run_steps`."""
    done = threading.Event()
    job = PatternJob(checks, user_and_server, done.set)
    POOL.submit(job)
    if not done.wait(EVENT_LOOP_TIMEOUT if _runs_a_loop() else 2 * START_TIMEOUT):
        job.is_abandoned = True
    results = job.results[:]
    return results + [PatternResult.BUSY] * (len(checks) - len(results))


def _runs_a_loop() -> bool:
    asyncio = sys.modules.get("asyncio")
    if asyncio is not None and asyncio._get_running_loop() is not None:  # noqa: SLF001 -- the public function raises
        return True
    # Another thread may be importing trio.
    in_trio_run = getattr(sys.modules.get("trio.lowlevel"), "in_trio_run", None)
    return in_trio_run is not None and bool(in_trio_run())
