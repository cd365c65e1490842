"""The functions with which the terminal opens and copies URLs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from mcp_elicit_client.core.url.inspect import TargetUrl

OpenUrl = Callable[[TargetUrl], Awaitable[bool]]
"""Tries to open a URL and returns True if a program accepted it."""

CopyUrl = Callable[[TargetUrl], Awaitable[bool]]
"""Tries to copy a URL to the user's clipboard and returns True if it was copied."""
