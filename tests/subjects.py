"""Callbacks of ours, as the kit tests them."""

from __future__ import annotations

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.policies import rate_limit
from mcp_elicit_client.testing.trial import Subject
from mcp_elicit_client.testing.user import ScriptedUser

SERVER = "mail"


def scripted() -> Subject:
    user = ScriptedUser()
    registry = ElicitationRegistry(policy=rate_limit(["30/minute"]))
    registry.on_elicitation(user)
    return Subject(registry.callback(SERVER), user.follow, SERVER)


_one = scripted()
callback = _one.callback
follow = _one.user
