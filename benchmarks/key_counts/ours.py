"""Asks one of the questions with `TerminalHandler`: ``python -m benchmarks.key_counts.ours QUESTION``."""

from __future__ import annotations

import json
import sys

import anyio

from benchmarks.key_counts.questions import QUESTIONS
from mcp_elicit_client import parse_request
from mcp_elicit_client.core.url.inspect import TargetUrl
from mcp_elicit_client.handlers.terminal import TerminalHandler


async def _open(_url: TargetUrl) -> bool:
    return True


answer = anyio.run(TerminalHandler(open_url=_open), parse_request(QUESTIONS[sys.argv[1]], server="restaurant"))
print("RESULT", json.dumps((answer.content or True) if answer.action == "accept" else answer.action), flush=True)
