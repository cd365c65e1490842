"""Texts of the demo, in English, as gettext message IDs."""

from __future__ import annotations

from mcp_elicit_client.core.messages import Message

PROTOCOL_VERSION = Message("A server that uses protocol version {version}")
CALLING = Message("Calling the tool {tool} ...")
RECEIVED = Message("The server received:")
INSTALL_MCP_2 = Message("Install mcp 2 to see multi-round-trip requests (2026-07-28).")
HEADLESS_ANSWER = Message("The headless handler answers: {action}")
