"""An inbox in the browser: pages for people, JSON for front ends."""

from mcp_elicit_client.inbox.web.app import inbox_app

__all__ = ["inbox_app"]
