"""
Requests in Slack: direct or ephemeral messages with buttons, and dialogs.

Requires the extra ``slack``.
"""

from mcp_elicit_client.handlers.slack.handler import SlackHandler

__all__ = ["SlackHandler"]
