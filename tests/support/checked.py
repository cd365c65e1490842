"""Callbacks that ``mcp-elicit check`` grades in processes of their own, and one that asks at standard input."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from mcp.types import ElicitResult

from mcp_elicit_client.testing import UnsupportedActionError, UserAction

NOTHING = "cannot be called"


async def hangs(_context: Any, _params: Any) -> ElicitResult:
    while True:
        time.sleep(1)  # noqa: ASYNC251 -- it hangs


async def crashes(_context: Any, _params: Any) -> ElicitResult:
    os._exit(3)


async def leaves(_context: Any, _params: Any) -> ElicitResult:
    sys.exit(1)


async def accepts(_context: Any, params: Any) -> ElicitResult:
    print("\x1b[2J", params.message)
    return ElicitResult(action="accept", content={"name": "\x1b]0;x\x07"})


async def asks(_context: Any, params: Any) -> ElicitResult:
    """Ask at standard input as one who has not thought of much."""
    print(f"{params.message} (yes, no, or your name)")
    line = input()  # noqa: ASYNC250 -- it has not thought of much
    if line == "no":
        return ElicitResult(action="decline")
    if params.mode == "url":
        return ElicitResult(action="accept")
    return ElicitResult(action="accept", content={"name": line})


def types(wish: UserAction) -> list[str]:
    if wish.action == "cancel":
        raise UnsupportedActionError("there is no word for it")
    if wish.action == "decline":
        return ["no"]
    return [str(wish.content.get("name", "yes"))] if wish.action == "accept" else []
