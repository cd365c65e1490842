"""
For the tests of host applications: a user who follows a script, servers that ask anything, and scenarios.

Importing it loads the SDK, its server side too.
"""

from mcp_elicit_client.testing.fake_server import DELIVERIES, Delivery, FakeServer, Reply
from mcp_elicit_client.testing.hostile_server import ESCAPE_SEQUENCES, SPOOFED_URLS, HostileServer
from mcp_elicit_client.testing.payloads import PAYLOADS
from mcp_elicit_client.testing.results import Outcome, Scenario, ScenarioResult, run_scenario, run_scenarios
from mcp_elicit_client.testing.scenario_run import CallbackUnderTest
from mcp_elicit_client.testing.scenarios import SCENARIOS
from mcp_elicit_client.testing.scripted_user import ScriptedUser
from mcp_elicit_client.testing.user_action import FAILURE_TEXT, UnsupportedActionError, UserAction, UserHook

__all__ = [
    "DELIVERIES",
    "ESCAPE_SEQUENCES",
    "FAILURE_TEXT",
    "PAYLOADS",
    "SCENARIOS",
    "SPOOFED_URLS",
    "CallbackUnderTest",
    "Delivery",
    "FakeServer",
    "HostileServer",
    "Outcome",
    "Reply",
    "Scenario",
    "ScenarioResult",
    "ScriptedUser",
    "UnsupportedActionError",
    "UserAction",
    "UserHook",
    "run_scenario",
    "run_scenarios",
]
