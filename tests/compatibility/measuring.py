"""
Measure what one library does with our adapter: real calls to real servers.

``python -m tests.compatibility.measuring MODULE DISTRIBUTION`` prints what it
found as JSON.  Each library has a module in ``libraries`` with a function

    connected(handler, servers) -> an async context manager of a ``Call``

that connects to *servers* (name to command line) the way its users do.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import importlib.metadata
import json
import logging
import platform
import tempfile
import warnings
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from mcp_elicit_client import Answer, UrlRequest
from mcp_elicit_client.sdk.callback import supports_multi_round_trip
from mcp_elicit_client.typing import Handler, Request
from tests.compatibility.judging import EXPECTED, NAMES
from tests.servers.fork_server import server_command

SERVER = Path(__file__).parent / "server.py"
SECRET = "/home/ann/.config/token"
"""What a failing handler raises, and nobody but the host's log may ever see."""

THINKS = 6.0
"""How long a user thinks, in seconds: longer than the five seconds that several libraries grant a call."""

Servers: TypeAlias = Mapping[str, Sequence[str]]
"""Command lines, by what the host application calls the servers."""

Call: TypeAlias = Callable[[str, str], Awaitable[str]]
"""Calls a tool: takes the server's name and the tool's, returns all that the caller got, as text."""


class Library(Protocol):
    """A module of ``libraries``."""

    def connected(self, handler: Handler, servers: Servers) -> AbstractAsyncContextManager[Call]:
        """Connect to *servers*, whose questions *handler* answers."""
        ...


class User:
    """Answers as told, and remembers who asked what."""

    def __init__(self) -> None:
        self.reply = "accept"
        self.requests: list[Request] = []

    async def __call__(self, request: Request, /) -> Answer:
        self.requests.append(request)
        match self.reply:
            case "decline":
                return Answer.decline(by="user")
            case "cancel":
                return Answer.cancel(by="user")
            case "raise":
                raise RuntimeError(SECRET)
            case "think":
                await asyncio.sleep(THINKS)
        return Answer.accept({} if isinstance(request, UrlRequest) else {"name": "Ann"}, by="user")


@contextmanager
def servers(*options: str) -> Iterator[tuple[Servers, dict[str, Path]]]:
    """Make two servers: their command lines, and the files that they write to."""
    with tempfile.TemporaryDirectory() as folder:
        seen = {name: Path(folder) / name for name in NAMES}
        command = server_command("tests.compatibility.server", SERVER)
        yield {name: [*command, str(path), *options] for name, path in seen.items()}, seen


def taken(path: Path) -> list[dict[str, Any]]:
    """Return what a server wrote down since the last time."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    return [json.loads(line) for line in lines]


async def measure(library: Library, *options: str, think: bool = True) -> dict[str, Any]:
    """Measure every cell against servers with *options*."""
    user = User()
    with servers(*options) as (commands, seen):
        async with library.connected(user, commands) as call:
            found = await _cells(user, call, seen, [cell for cell in EXPECTED if cell != "think" or think])
            found["-32042"] = await _wanted_first(user, call, seen["mail"])
    return found


async def _cells(user: User, call: Call, seen: Mapping[str, Path], cells: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"rounds": []}
    for cell in cells:
        if cell == "name":
            found[cell] = await _names(user, call, seen)
            continue
        mode, _, user.reply = cell.partition(" ")
        if cell == "think":
            mode, user.reply = "form", "think"
        told, _ = await _told(call, "mail", f"ask_{mode}")
        wrote = taken(seen["mail"])
        found[cell] = wrote[-1]["got"] if wrote else {"nothing": told[:200]}
        found["rounds"] = sorted({*found["rounds"], *(line["rounds"] for line in wrote)})
        if SECRET in json.dumps(wrote):
            found[cell] = {"leaked": wrote}
    return found


async def _names(user: User, call: Call, seen: Mapping[str, Path]) -> list[str]:
    """Let each server ask; return the names that the handler was told."""
    user.requests.clear()
    user.reply = "decline"
    for name in NAMES:
        await _told(call, name, "ask_form")
    asked = [name for name in NAMES if taken(seen[name])]
    return [request.server.name for request in user.requests if request.server.name in asked]


async def _wanted_first(user: User, call: Call, seen: Path) -> str:
    """Call what wants a URL visited first; say what came of it."""
    user.requests.clear()
    taken(seen)
    user.reply = "accept"
    told, raised = await _told(call, "mail", "need_url")
    done = bool(taken(seen))
    if user.requests:
        return "asked, done" if done else "asked"
    if done:
        return "retried unasked"
    return f"{'error' if raised else 'text'} {'with' if 'login.example.com' in told else 'without'} the URL"


async def _told(call: Call, server: str, tool: str) -> tuple[str, bool]:
    """Return what the caller was told, and whether by an exception."""
    try:
        return await call(server, tool), False
    except Exception as error:
        data = getattr(getattr(error, "error", None), "data", "")
        return f"{type(error).__name__}: {error} {data}", True


def version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def library_named(name: str) -> Library:
    module: Any = importlib.import_module(f"tests.compatibility.libraries.{name}")
    return module  # type: ignore[no-any-return]


async def report(name: str, distribution: str, *, think: bool) -> dict[str, Any]:
    """Measure the library in module *name* in every era of the protocol that its SDK speaks."""
    library = library_named(name)
    pushes = await measure(library, "--legacy", think=think)
    rounds = await measure(library, think=think) if supports_multi_round_trip() else None
    return {
        "library": version(distribution),
        "fastmcp": version("fastmcp-slim") or version("fastmcp"),
        "mcp": version("mcp"),
        "python": platform.python_version(),
        "push": pushes,
        "rounds": rounds,
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("module")
    parser.add_argument("distribution")
    parser.add_argument("--quick", action="store_true", help="leave out the user who thinks for six seconds")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    print(json.dumps(asyncio.run(report(arguments.module, arguments.distribution, think=not arguments.quick))))


if __name__ == "__main__":
    main()
