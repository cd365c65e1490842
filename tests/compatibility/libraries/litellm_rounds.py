"""LiteLLM: the MCP client of the library, with the protocol version that has multi-round-trip requests."""

from __future__ import annotations

import functools

from tests.compatibility.libraries import litellm

connected = functools.partial(litellm.connected, protocol_version="2026-07-28")
