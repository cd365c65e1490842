"""Everything that a callback must get right, each with its reason."""

from __future__ import annotations

from collections.abc import Mapping

from mcp_elicit_client.testing.results import Scenario
from mcp_elicit_client.testing.scenarios import decisions as actions
from mcp_elicit_client.testing.scenarios import failures, values
from mcp_elicit_client.testing.scenarios import hostile_servers as hostile
from mcp_elicit_client.testing.scenarios import urls as visits
from mcp_elicit_client.testing.scenarios import validation as checking

GROUPS = (actions.GROUP, values.GROUP, checking.GROUP, visits.GROUP, failures.GROUP, hostile.GROUP)

SCENARIOS: Mapping[str, Scenario] = {each.name: each for group in GROUPS for each in group.scenarios}
"""The scenarios by name, in the order in which they are tried."""
