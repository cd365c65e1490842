"""Ask on a page in the browser of the person at this computer."""

from mcp_elicit_client.handlers.browser.handler import BrowserHandler, OpenFile

__all__ = ["BrowserHandler", "OpenFile"]
