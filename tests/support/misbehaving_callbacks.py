"""Callbacks that hang, crash, exit or decide too early, and one that reads standard input, for ``mcp-elicit check``."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import anyio
from mcp.types import ElicitResult

from mcp_elicit_client.testing import UnsupportedActionError, UserAction
from tests.support import callbacks

NOTHING = "not callable"


async def hangs(_context: Any, _params: Any) -> ElicitResult:
    while True:
        time.sleep(1)  # noqa: ASYNC251 -- it hangs


async def crashes(_context: Any, _params: Any) -> ElicitResult:
    os._exit(3)


async def crashes_at_url(context: Any, params: Any) -> Any:
    if params.mode == "url":
        os._exit(3)
    return await callbacks.callback(context, params)


async def forks(context: Any, params: Any) -> Any:
    """Leave a process running that has inherited everything."""
    if os.fork() == 0:
        time.sleep(1000)  # noqa: ASYNC251 -- it does nothing else
        os._exit(0)
    return await callbacks.callback(context, params)


async def hurries(context: Any, params: Any) -> Any:
    """Decline for a user who says nothing for two seconds."""
    with anyio.move_on_after(2):
        return await callbacks.callback(context, params)
    return ElicitResult(action="decline")


async def exits(_context: Any, _params: Any) -> ElicitResult:
    sys.exit(1)


async def accepts(_context: Any, params: Any) -> ElicitResult:
    print("\x1b[2J", params.message)
    return ElicitResult(action="accept", content={"name": "\x1b]0;x\x07"})


async def asks(_context: Any, params: Any) -> ElicitResult:
    """Read the answer from standard input, carelessly."""
    print(f"{params.message} (yes, no, or your name)")
    line = input()  # noqa: ASYNC250 -- it blocks the event loop
    if line == "no":
        return ElicitResult(action="decline")
    if params.mode == "url":
        return ElicitResult(action="accept")
    return ElicitResult(action="accept", content={"name": line})


def types(action: UserAction) -> list[str]:
    if action.action == "cancel":
        raise UnsupportedActionError("There is no word for it.")
    if action.action == "decline":
        return ["no"]
    return [str(action.content.get("name", "yes"))] if action.action == "accept" else []
