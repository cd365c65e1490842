"""
For the tests of host applications: a user who follows a script, servers that ask anything, and scenarios.

Importing it loads the SDK, its server side too.
"""

from mcp_elicit_client.testing.bombs import PAYLOADS
from mcp_elicit_client.testing.hostile import ESCAPE_SEQUENCES, SPOOFED_URLS, HostileServer
from mcp_elicit_client.testing.scenarios import SCENARIOS
from mcp_elicit_client.testing.server import DELIVERIES, Delivery, FakeServer, Reply
from mcp_elicit_client.testing.trial import CallbackUnderTest
from mcp_elicit_client.testing.user import ScriptedUser
from mcp_elicit_client.testing.verdicts import Outcome, Scenario, ScenarioResult, run_scenario, run_scenarios
from mcp_elicit_client.testing.wish import FAILURE_TEXT, UnsupportedActionError, UserHook, UserAction

__all__ = [
    "PAYLOADS",
    "FAILURE_TEXT",
    "DELIVERIES",
    "ESCAPE_SEQUENCES",
    "SCENARIOS",
    "SPOOFED_URLS",
    "Delivery",
    "FakeServer",
    "HostileServer",
    "UnsupportedActionError",
    "Outcome",
    "Reply",
    "Scenario",
    "ScriptedUser",
    "CallbackUnderTest",
    "UserHook",
    "ScenarioResult",
    "UserAction",
    "run_scenario",
    "run_scenarios",
]
