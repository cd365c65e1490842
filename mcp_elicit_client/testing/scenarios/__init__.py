"""Runs scenarios in this process.  Their functions are in `forms` and `dangers`."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import ModuleType

from mcp_elicit_client._arguments import check_texts, check_type
from mcp_elicit_client.check.results import Outcome, ScenarioResult, worst_result
from mcp_elicit_client.check.scenarios import SCENARIOS, Delivery, Scenario
from mcp_elicit_client.check.settings import ANSWER_TIMEOUT, SILENCE
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.testing.callback_under_test import CallbackUnderTest, UnsupportedActionError
from mcp_elicit_client.testing.fake_server import DELIVERIES, check_delivery
from mcp_elicit_client.testing.message_tap import is_disconnect
from mcp_elicit_client.testing.scenario_run import (
    FailedError,
    InconclusiveError,
    NoAnswerError,
    NotApplicableError,
    start_run,
)
from mcp_elicit_client.testing.scenarios import dangers, forms

_MODULES: Mapping[str, ModuleType] = {"dangers": dangers, "forms": forms}
_MAX_REASON = 400


async def run_scenario(
    under_test: CallbackUnderTest,
    name: str,
    *,
    answer_timeout: float = ANSWER_TIMEOUT,
    silence: float = SILENCE,
    deliveries: Sequence[Delivery] = DELIVERIES,
) -> ScenarioResult:
    """
    Run a scenario with every delivery that the installed SDK supports.

    The worst outcome is the result.  After a failure, the remaining delivery
    is skipped.

    Args:
        under_test: The callback.
        name: The name of the scenario, one of `SCENARIOS`.
        answer_timeout: Maximum seconds for one answer.
        silence: Seconds for which scenarios with a silent user watch the
            callback.
        deliveries: Only these deliveries.

    Raises:
        KeyError: If there is no such scenario.
        TypeError: If *under_test* is of another type, such as a callback, or
            *deliveries* is not a list.
        ValueError: If *deliveries* contains another one than `DELIVERIES`.
    """
    check_type("under_test", under_test, CallbackUnderTest, hint="Pass CallbackUnderTest(callback).")
    check_texts("deliveries", deliveries)
    for each in deliveries:
        check_delivery(each)
    scenario = SCENARIOS[name]
    started = time.monotonic()
    applicable = [delivery for delivery in deliveries if delivery in scenario.deliveries]
    if not applicable:
        return ScenarioResult(scenario=name, outcome="not applicable", reason="It needs mcp 2.")
    found: list[ScenarioResult] = []
    for delivery in applicable:
        found.append(await _run_once(under_test, scenario, delivery, answer_timeout, silence))
        if found[-1].outcome == "fail":
            break
    worst = worst_result(found)
    return replace(
        worst,
        reason=sanitize_text(worst.reason, limit=_MAX_REASON, multiline=False),
        seconds=round(time.monotonic() - started, 3),
    )


async def _run_once(
    under_test: CallbackUnderTest, scenario: Scenario, delivery: Delivery, answer_timeout: float, silence: float
) -> ScenarioResult:
    outcome: Outcome = "pass"
    reason = next_step = ""
    try:
        async with start_run(under_test, delivery, answer_timeout, silence) as run:
            try:
                await getattr(_MODULES[scenario.module], scenario.function)(run, **scenario.arguments)
            except FailedError as error:
                outcome, reason = "fail", str(error)
            except InconclusiveError as error:
                is_failure = isinstance(error, NoAnswerError) and scenario.hang_fails
                outcome, reason = ("fail" if is_failure else "inconclusive"), str(error)
                next_step = "" if is_failure else error.next_step
            except NotApplicableError as error:
                outcome, reason = "not applicable", str(error)
            except UnsupportedActionError as error:
                outcome, reason = "inconclusive", f"The interface does not support this action: {error}"
                next_step = "If it does, make the user hook perform it; otherwise, pass --allow-inconclusive."
            if run.wrong_type and outcome in ("fail", "inconclusive"):
                reason = f"The callback returned {run.wrong_type}, which is neither an answer nor an error."
                next_step = next_step and "Make the callback return an ElicitResult or an ErrorData in every case."
    except Exception as error:  # noqa: BLE001 -- the SDK raises when a connection is closed
        if outcome == "pass" and not is_disconnect(error):
            outcome, reason = "inconclusive", f"The connection failed: {type(error).__name__}."
            next_step = "Call run_scenario in a test to debug the callback."
    return ScenarioResult(
        scenario=scenario.name,
        outcome=outcome,
        reason=reason,
        next_step=next_step,
        deliveries={delivery: outcome},
    )
