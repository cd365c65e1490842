"""
The cases of the relay's tests, through the proxy of FastMCP.

Run from the checkout, with FastMCP 4: ``python -m benchmarks.relay_fastmcp``.
It prints the table of ``docs/relay.md``: for each combination, the outcomes
that are right.  ``python -m benchmarks.relay_fastmcp serve PORT MODE URL`` is
the gateway: a proxy to the server at URL.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio

from mcp_elicit_client import Answer
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.calls._connect import connect
from mcp_elicit_client.typing import Request
from tests.support import ROOT, VISITOR, free_port, http_server
from tests.support.gateways import MODES
from tests.support.relay_matrix import KINDS, OUTCOMES, Case

_PATIENCE = 5.0
_START = 120.0


def serve(port: int, mode: str, url: str) -> None:
    """Serve a proxy."""
    from fastmcp.client.transports import StreamableHttpTransport  # type: ignore[import-not-found, unused-ignore]
    from fastmcp.server import create_proxy  # type: ignore[import-not-found, unused-ignore]

    target: Any = StreamableHttpTransport(url)
    if mode == "default":
        proxy = create_proxy(target)
    else:
        from fastmcp.server.providers.proxy import ProxyClient  # type: ignore[import-not-found, unused-ignore]

        proxy = create_proxy(ProxyClient(target, mode=mode))
    proxy.run(transport="http", port=port, show_banner=False)


@contextmanager
def proxy(mode: str, upstream: str) -> Iterator[str]:
    """Start a gateway; yield its URL."""
    port = free_port()
    command = [sys.executable, "-m", "benchmarks.relay_fastmcp", "serve", str(port), mode, upstream]
    with subprocess.Popen(command, cwd=ROOT, env={**os.environ, "FASTMCP_LOG_LEVEL": "CRITICAL"}) as process:
        try:
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()


class ProxyCase(Case):
    """A case for a gateway with the names of its server, and no timeout of the user."""

    @property
    def tool(self) -> str:
        """The name of the tool."""
        return super().tool.partition(".")[2]

    async def outcome_of(self, url: str) -> bool:
        """Return True if the case ends as it should."""
        caller = Caller(self.answer, "gateway")
        try:
            with anyio.fail_after(_PATIENCE):
                async with connect(url, caller, mode=MODES[self.down]) as connection:
                    came = await self.run(caller, connection.client)
        except Exception:  # noqa: BLE001 -- of whatever kind
            return False
        return came.startswith(self.expected) and len(self.asked) == 1


async def row(url: str, up: str, down: str, folder: Path) -> list[str]:
    """Return the cells of one combination: the outcomes that are right."""
    cells = []
    for kind in KINDS:
        right = [each for each in OUTCOMES if await ProxyCase(up, down, kind, each, folder).outcome_of(url)]
        cells.append(f"{len(right)} of {len(OUTCOMES)}" + (f": {', '.join(right)}" if 0 < len(right) < 5 else ""))
    return cells


async def until_ready(url: str) -> None:
    """Wait until the gateway serves."""

    async def nobody(_request: Request) -> Answer:
        return Answer.cancel(by="unattended")

    with anyio.fail_after(_START):
        while True:
            try:
                async with connect(url, Caller(nobody, "gateway")):
                    return
            except Exception:  # noqa: BLE001, PERF203 -- not yet
                await anyio.sleep(0.2)


async def main() -> None:
    """Print the table."""
    print("| Upstream | Client | Form | URL | `-32042` |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = {"ELICIT_SEEN": str(folder / "seen"), "ELICIT_LISTED": "form url required withdraw"}
        with http_server(VISITOR, environment) as upstream:
            for up, down in itertools.product(MODES, MODES):
                mode = MODES[up] if up == "push" else "2026-07-28"  # the one that the server needs
                with proxy(mode, upstream) as url:
                    await until_ready(url)
                    cells = await row(url, up, down, folder)
                print(f"| {up} | {down} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(int(sys.argv[2]), sys.argv[3], sys.argv[4])
    else:
        anyio.run(main)
