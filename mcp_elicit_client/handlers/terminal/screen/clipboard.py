"""Copy a URL through the terminal itself, for hosts that allow it."""

from __future__ import annotations

import base64
import sys

from mcp_elicit_client.core.urls import TargetUrl


async def copy_through_terminal(target: TargetUrl) -> bool:
    """
    Put *target* into the clipboard of the user's terminal, with OSC 52.

    Works over SSH, where the terminal allows it; none tells whether it did.
    Pass it as ``copy_url`` to offer it.
    """
    stream = sys.__stdout__
    try:
        if stream is None or not stream.isatty():
            return False
        stream.write(f"\x1b]52;c;{base64.b64encode(target.url.encode()).decode()}\x07")
        stream.flush()
    except (OSError, ValueError):
        return False
    return True
