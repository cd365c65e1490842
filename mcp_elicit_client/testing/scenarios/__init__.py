"""Everything that a callback must get right, each with its reason."""

from __future__ import annotations

from collections.abc import Mapping

from mcp_elicit_client.testing.scenarios import actions, checking, failures, hostile, values, visits
from mcp_elicit_client.testing.verdicts import Scenario

GROUPS = (actions.GROUP, values.GROUP, checking.GROUP, visits.GROUP, failures.GROUP, hostile.GROUP)

SCENARIOS: Mapping[str, Scenario] = {each.name: each for group in GROUPS for each in group.scenarios}
"""The scenarios by name, in the order in which they are tried."""
