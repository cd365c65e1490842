"""
For the tests of host applications: a user who follows a script, servers that ask anything, and scenarios.

Importing it loads the SDK, its server side too.
"""

from mcp_elicit_client.testing.bombs import BOMBS
from mcp_elicit_client.testing.hostile import ESCAPES, SPOOFED_URLS, HostileServer
from mcp_elicit_client.testing.scenarios import SCENARIOS
from mcp_elicit_client.testing.server import ERAS, Era, FakeServer, Reply
from mcp_elicit_client.testing.trial import Subject
from mcp_elicit_client.testing.user import ScriptedUser
from mcp_elicit_client.testing.verdicts import Outcome, Scenario, Verdict, judge, judge_all
from mcp_elicit_client.testing.wish import BROKEN, NoWayError, UserHook, Wish

__all__ = [
    "BOMBS",
    "BROKEN",
    "ERAS",
    "ESCAPES",
    "SCENARIOS",
    "SPOOFED_URLS",
    "Era",
    "FakeServer",
    "HostileServer",
    "NoWayError",
    "Outcome",
    "Reply",
    "Scenario",
    "ScriptedUser",
    "Subject",
    "UserHook",
    "Verdict",
    "Wish",
    "judge",
    "judge_all",
]
