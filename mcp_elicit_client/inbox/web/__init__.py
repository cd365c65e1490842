"""An inbox in the browser: pages for people, JSON for front ends."""

from mcp_elicit_client.inbox.web.app import Authenticate, inbox_app

__all__ = ["Authenticate", "inbox_app"]
