"""
Tests for host applications: a scripted user, fake servers, and conformance scenarios.

Importing it loads the SDK with its server half.
"""

from collections.abc import Collection

from mcp_elicit_client.check import scenarios
from mcp_elicit_client.check.results import Outcome, ScenarioResult
from mcp_elicit_client.check.scenarios import Delivery
from mcp_elicit_client.testing.callback_under_test import (
    CallbackUnderTest,
    UnsupportedActionError,
    UserAction,
    UserActionName,
    UserHook,
)
from mcp_elicit_client.testing.elicitation import Elicitation
from mcp_elicit_client.testing.fake_server import DELIVERIES, FakeServer, Reply
from mcp_elicit_client.testing.hostile_server import ESCAPE_SEQUENCES, PAYLOADS, SPOOFED_URLS, HostileServer
from mcp_elicit_client.testing.scenarios import run_scenario
from mcp_elicit_client.testing.scripted_user import ScriptedUser

__all__ = [
    "DELIVERIES",
    "ESCAPE_SEQUENCES",
    "PAYLOADS",
    "SCENARIOS",
    "SPOOFED_URLS",
    "CallbackUnderTest",
    "Delivery",
    "Elicitation",
    "FakeServer",
    "HostileServer",
    "Outcome",
    "Reply",
    "ScenarioResult",
    "ScriptedUser",
    "UnsupportedActionError",
    "UserAction",
    "UserActionName",
    "UserHook",
    "run_scenario",
]

SCENARIOS: Collection[str] = scenarios.SCENARIOS
"""The names of the scenarios, in the order in which they run."""
