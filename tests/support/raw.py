"""Servers without any SDK (``tests/servers/raw.py``), started for one test."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mcp_elicit_client.calls._connect import Command
from mcp_elicit_client.sdk.callback import supports_multi_round_trip
from tests.servers.raw import Era, RawHttpServer
from tests.support import ROOT

ERAS: tuple[Era, ...] = ("legacy", "2026-07-28") if supports_multi_round_trip() else ("legacy",)
"""The eras that clients of the installed SDK know."""


@contextmanager
def raw_server(era: Era, transport: str, *, synchronous: bool = False) -> Iterator[tuple[Command | str, Any]]:
    """Yield where the server is; and the server itself, over HTTP."""
    if transport == "http":
        server = RawHttpServer(era, synchronous=synchronous)
        try:
            yield server.url, server
        finally:
            server.stop()
    else:
        with tempfile.TemporaryFile("w+") as errlog:
            mode = "--legacy" if era == "legacy" else "--rounds"
            yield Command([sys.executable, "-m", "tests.servers.raw", mode], errlog, {"PYTHONPATH": str(ROOT)}), None
