"""User hooks for ``mcp-elicit check``: the users of the handlers of other libraries."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import anyio

from mcp_elicit_client.testing import UnsupportedActionError, UserAction
from mcp_elicit_client.testing.callback_under_test import FAILURE_TEXT

_NOT_UTF_8 = b"\xff\xfe"
"""Input that makes an interface fail which reads lines."""


def fastmcp_command_line(action: UserAction) -> list[str | bytes]:
    """Answer at the prompts of FastMCP's own command line."""
    words = {"accept": "", "decline": "decline", "cancel": "cancel"}
    return list(_at_prompts(action, words, lists=json.dumps))


def mcp_agent_console(action: UserAction) -> list[str | bytes]:
    """Answer at the prompts of mcp-agent's console handler."""
    words = {"accept": "", "decline": "/decline", "cancel": "/cancel"}
    return list(_at_prompts(action, words, lists=json.dumps))


def sdk_url_example(action: UserAction) -> list[str | bytes]:
    """Answer the prompt of the SDK's URL example."""
    match action.action:
        case "accept":
            return ["y"]
        case "decline":
            return ["n"]
        case "cancel":
            return ["neither"]
        case "fail":
            return [_NOT_UTF_8]
        case _:
            return []


def _at_prompts(action: UserAction, words: dict[str, str], *, lists: Any) -> Iterator[str | bytes]:
    """Type one line for each field, or one that decides."""
    if action.action in ("absent", "hang"):
        return
    if action.action == "fail":
        yield _NOT_UTF_8
        return
    if action.action != "accept":
        yield words[action.action]
        return
    fields = action.params.get("requestedSchema", {}).get("properties", {})
    if not fields:
        yield words["accept"]
    for name in fields:
        yield _typed(action.content[name], lists) if name in action.content else ""


def _typed(value: Any, lists: Any) -> str:
    match value:
        case str() if "\n" in value:
            raise UnsupportedActionError("A line break cannot be typed at a prompt.")
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case float() if math.isinf(value) or math.isnan(value):
            return "inf" if value > 0 else "nan"
        case int() | float():
            return str(value)
        case list():
            return str(lists(value))
        case _:
            raise UnsupportedActionError("This value cannot be typed at a prompt.")


class Mirror:
    """A handler that returns the user's action as a result of the SDK, to test the library around it."""

    def __init__(self) -> None:
        self._actions: list[UserAction] = []

    def follow(self, action: UserAction) -> None:
        """Store the action of the user."""
        self._actions.append(action)

    async def fastmcp(self, _message: str, _response_type: Any, params: Any, _context: Any) -> Any:
        """Answer as an ``elicitation_handler`` of FastMCP: with data, or with a result of the SDK."""
        result = await self.sdk(None, params)
        return result.content if result.content is not None else result

    async def sdk(self, _context: Any, params: Any) -> Any:
        """Answer as an ``elicitation_callback`` of the SDK."""
        from mcp.types import ElicitResult

        intended = (each for each in self._actions if each.params.get("message") == params.message)
        action = next(intended, self._actions[0])
        self._actions.remove(action)
        if action.action == "fail":
            raise RuntimeError(FAILURE_TEXT)
        await anyio.sleep(float("inf") if action.action == "hang" else action.after)
        if action.action in ("absent", "cancel"):
            return ElicitResult(action="cancel")
        if action.action == "decline":
            return ElicitResult(action="decline")
        if getattr(params, "mode", "form") == "url":
            return ElicitResult(action="accept")
        return ElicitResult(action="accept", content=dict(action.content))


mirror = Mirror()
