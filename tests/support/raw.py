"""Servers without any SDK (``tests/servers/raw.py``), started for one test."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mcp_elicit_client.calls._connect import Command
from tests.servers.raw import Era, RawHttpServer
from tests.support import ROOT


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
