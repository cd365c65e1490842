"""
Elicitation through a gateway: a server to its own clients, and a client of upstream servers.

A `Relay` makes the calls of the gateway's clients to one upstream server, and
carries its elicitation requests down and the checked answers back.
"""

from mcp_elicit_client.relay.downstream import authenticated_user
from mcp_elicit_client.relay.relay import Relay

__all__ = ["Relay", "authenticated_user"]
