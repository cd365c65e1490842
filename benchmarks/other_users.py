"""How the users of other libraries' own handlers answer: user hooks for ``mcp-elicit check``."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from mcp_elicit_client.testing.user_action import FAILURE_TEXT, UnsupportedActionError, UserAction

_NOT_UTF_8 = b"\xff\xfe"
"""What breaks an interface that reads lines."""


def fastmcp_command_line(wish: UserAction) -> list[str | bytes]:
    """Answer at the prompts of FastMCP's own command line."""
    words = {"accept": "", "decline": "decline", "cancel": "cancel"}
    return list(_at_prompts(wish, words, lists=json.dumps))


def mcp_agent_console(wish: UserAction) -> list[str | bytes]:
    """Answer at the prompts of mcp-agent's console handler."""
    words = {"accept": "", "decline": "/decline", "cancel": "/cancel"}
    return list(_at_prompts(wish, words, lists=json.dumps))


def sdk_url_example(wish: UserAction) -> list[str | bytes]:
    """Answer the question of the SDK's example for URLs."""
    match wish.action:
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


def _at_prompts(wish: UserAction, words: dict[str, str], *, lists: Any) -> Iterator[str | bytes]:
    """Type one line for each field, or one that decides."""
    if wish.action in ("leave", "wait"):
        return
    if wish.action == "fail":
        yield _NOT_UTF_8
        return
    if wish.action != "accept":
        yield words[wish.action]
        return
    fields = wish.params.get("requestedSchema", {}).get("properties", {})
    if not fields:
        yield words["accept"]
    for name in fields:
        yield _typed(wish.content[name], lists) if name in wish.content else ""


def _typed(value: Any, lists: Any) -> str:
    match value:
        case str() if "\n" in value:
            raise UnsupportedActionError("a line break cannot be typed at a prompt")
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
            raise UnsupportedActionError("this cannot be typed at a prompt")


class Mirror:
    """A handler that returns what its user wants, as the SDK's own result; for the libraries around it."""

    def __init__(self) -> None:
        self._wishes: list[UserAction] = []

    def follow(self, wish: UserAction) -> None:
        """Remember what the user wants."""
        self._wishes.append(wish)

    async def fastmcp(self, _message: str, _response_type: Any, params: Any, _context: Any) -> Any:
        """Answer as FastMCP's ``elicitation_handler``: with data, or with a result of the SDK."""
        result = await self.sdk(None, params)
        return result.content if result.content is not None else result

    async def sdk(self, _context: Any, params: Any) -> Any:
        """Answer as the SDK's ``elicitation_callback``."""
        from mcp.types import ElicitResult

        wish = self._wishes.pop(0)
        if wish.action == "fail":
            raise RuntimeError(FAILURE_TEXT)
        if wish.action in ("leave", "wait", "cancel"):
            return ElicitResult(action="cancel")
        if wish.action == "decline":
            return ElicitResult(action="decline")
        if getattr(params, "mode", "form") == "url":
            return ElicitResult(action="accept")
        return ElicitResult(action="accept", content=dict(wish.content))


mirror = Mirror()
