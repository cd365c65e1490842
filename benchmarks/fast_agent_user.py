"""User hook for ``mcp-elicit check``: the user of fast-agent's form, who types keys in a pseudo terminal."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from fast_agent.mcp.elicitation_handlers import make_forms_elicitation_handler
from prompt_toolkit.application.current import get_app_session
from prompt_toolkit.input import DummyInput, Input
from prompt_toolkit.output import Output

from benchmarks.screen import Screen
from mcp_elicit_client.testing import UnsupportedActionError, UserAction
from mcp_elicit_client.testing.callback_under_test import FAILURE_TEXT

SERVER = "mail"

handler = make_forms_elicitation_handler(agent_name="agent", server_name=SERVER)

_TAB, _ENTER, _ESCAPE, _END, _BACKSPACE, _LINE = "\t", "\r", "\x1b", "\x05", "\x7f", "\n"
_TO_DECLINE = "\x1b[Z" * 3
"""From the first field back to a button: the last one is "Cancel All", before it are "Cancel" and "Decline"."""

_UP, _DOWN, _SPACE = "\x1b[A", "\x1b[B", " "
_VALIDATION = 0.1
"""Seconds until the form has validated what was typed."""

_REFUSED = "Error:"
"""What the form shows if a value is refused."""

_BEGINNING = 12
"""Characters of the message by which the user recognizes a form."""


class _BrokenTerminal(DummyInput):
    def attach(self, _input_ready_callback: Any) -> Any:
        raise OSError(FAILURE_TEXT)


class Keys:
    """Types keys into the forms that open, one after the other."""

    def __init__(self) -> None:
        self._screen: Screen | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._actions: list[UserAction] = []
        self._answered: object = None
        self._turn = asyncio.Lock()

    def follow(self, action: UserAction) -> None:
        """Perform *action*.  fast-agent does not ask about URLs, so there is nothing to do for them."""
        if action.action == "absent":
            _use(None, None)  # fast-agent opens the standard streams, as without a terminal
            return
        if self._screen is None:
            self._screen = Screen(lambda: get_app_session().app)
        _use(_BrokenTerminal() if action.action == "fail" else self._screen.input, self._screen.output)
        if action.params.get("mode") != "url" and action.action != "fail":
            list(_keys(action))  # raises an error if a value cannot be entered
            self._actions.append(action)
            task = asyncio.get_running_loop().create_task(self._perform_next(self._screen))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _perform_next(self, screen: Screen) -> None:
        async with self._turn:
            shown = await screen.next_view(self._answered)
            self._answered = screen.application
            action = next((each for each in self._actions if _beginning(each) in shown), self._actions[0])
            self._actions.remove(action)
            action.saw(shown)
            if action.action != "hang":
                await self._perform(action, screen)
            while screen.application is self._answered:  # noqa: ASYNC110 -- forms set no event
                await asyncio.sleep(_VALIDATION)

    async def _perform(self, action: UserAction, screen: Screen) -> None:
        await asyncio.sleep(action.after)
        await screen.press("".join(_keys(action)))
        if action.action == "cancel":
            return
        await asyncio.sleep(_VALIDATION)
        action.saw(screen.shown)
        await screen.press(_ENTER)
        while screen.application is self._answered:
            if _REFUSED in screen.shown:
                action.saw(screen.shown)
                await screen.press(_ESCAPE)
                return
            await asyncio.sleep(_VALIDATION)


def _use(reader: Input | None, writer: Output | None) -> None:
    session: Any = get_app_session()
    session._input, session._output = reader, writer  # noqa: SLF001 -- applications take no others


def _beginning(action: UserAction) -> str:
    text = str(action.params.get("message", ""))[:_BEGINNING]
    return text if text.isprintable() else ""


def _keys(action: UserAction) -> Iterator[str]:
    if action.action == "cancel":
        yield _ESCAPE
    elif action.action == "decline":
        yield _TO_DECLINE
    elif action.action == "accept":
        for name, schema in action.params.get("requestedSchema", {}).get("properties", {}).items():
            if _has_control(schema):
                yield from _entered(schema, action.content[name]) if name in action.content else ()
                yield _TAB


def _has_control(schema: dict[str, Any]) -> bool:
    return schema.get("type") != "array" or "items" not in schema or bool(_options(schema["items"]))


def _entered(schema: dict[str, Any], value: Any) -> Iterator[str]:
    """
    Yield the keys that enter *value*.

    Raises:
        UnsupportedActionError: If the control of the field has no such value.
    """
    options = _options(schema if schema.get("type") == "string" else schema.get("items", {}))
    default = schema.get("default")
    if schema.get("type") == "boolean":
        _require(isinstance(value, bool))
        yield _SPACE if value != bool(default) else ""
    elif options:
        values = value if isinstance(value, list) else [value]
        _require(set(values) <= set(options))
        if schema.get("type") == "array":
            yield from _marked(options, [each for each in default or [] if each in options], values)
        else:
            steps = options.index(value) - (options.index(default) if default in options else 0)
            yield (_DOWN if steps > 0 else _UP) * abs(steps)
            yield _SPACE
    else:
        yield _END
        yield _BACKSPACE * len("" if default is None else str(default))
        yield str(value).replace("\n", _LINE)


def _require(condition: object) -> None:
    if not condition:
        raise UnsupportedActionError("The control has no such value.")


def _marked(options: list[str], default: list[str], values: list[Any]) -> Iterator[str]:
    """Yield the keys that mark *values* in a list, whose cursor is at the first marked option."""
    yield _UP * (options.index(default[0]) if default else 0)
    for option in options:
        if (option in default) != (option in values):
            yield _SPACE
        yield _DOWN


def _options(schema: dict[str, Any]) -> list[str]:
    if "enum" in schema:
        return list(schema["enum"])
    several = schema.get("oneOf") or schema.get("anyOf") or []
    return [each["const"] for each in several if "const" in each]


user = Keys()
