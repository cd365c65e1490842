"""
fast-agent: ``@fast.agent(..., elicitation_handler=...)``.

All servers of an agent share it, and fast-agent does not pass their names:
use one server for each agent, and combine agents.  Nor does it pass the user
(``user=``): use one ``FastAgent`` for each user.
"""

from mcp_elicit_client.sdk.callback import elicitation_callback as elicitation_handler

__all__ = ["elicitation_handler"]
