"""Callbacks of this package, as the scenarios test them, and how their users are played."""

from __future__ import annotations

from typing import Any

import anyio

from mcp_elicit_client import ElicitationRegistry, TargetUrl
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.handlers.terminal import EndOfInputError, TerminalHandler
from mcp_elicit_client.hosts.fastmcp import elicitation_handler
from mcp_elicit_client.policies import compose, one_at_a_time, rate_limit, recommended
from mcp_elicit_client.testing import CallbackUnderTest, ScriptedUser, UnsupportedActionError, UserAction
from mcp_elicit_client.testing.callback_under_test import FAILURE_TEXT
from mcp_elicit_client.typing import Handler

SERVER = "mail"


def registry_of(handler: Handler) -> ElicitationRegistry:
    registry = ElicitationRegistry(policy=compose(rate_limit(["30/minute"]), one_at_a_time()))
    registry.on_elicitation(handler)
    return registry


def scripted() -> CallbackUnderTest:
    user = ScriptedUser()
    return CallbackUnderTest(registry_of(user).callback(SERVER), user.follow, SERVER)


_user = ScriptedUser()
follow = _user.follow
callback = registry_of(_user).callback(SERVER)
fastmcp = elicitation_handler(registry_of(_user), server=SERVER)
_recommended = ElicitationRegistry(policy=recommended())
_recommended.on_elicitation(_user)
with_recommended_policy = _recommended.callback(SERVER)
headless = registry_of(HeadlessHandler()).callback(SERVER)


class TypingConsole:
    """A console whose user performs actions."""

    width = 100

    def __init__(self) -> None:
        self.lines: list[Any] = []
        self.after = 0.0
        self.current: UserAction | None = None
        self.waiting: list[UserAction] = []
        self.written: list[str] = []

    def write(self, text: str) -> None:
        for action in self.waiting:
            if str(action.params["message"]) in text:
                self.begin(action)
                break
        if self.waiting:
            self.written.append(text)
        elif self.current is not None:
            self.current.saw(text)

    async def ask(self, prompt: str, *, hidden: bool = False) -> str:
        self.write(prompt)
        if self.waiting and not self.lines:
            self.begin(self.waiting[0])
        await anyio.sleep(self.after)
        self.after = 0.0
        if not self.lines:
            if self.current is not None and self.current.action == "hang":
                await anyio.sleep_forever()
            raise EndOfInputError
        line = self.lines.pop(0)
        if isinstance(line, Exception):
            raise line
        return str(line)

    def type(self, action: UserAction) -> None:
        self.lines = [] if not self.waiting else self.lines
        self.waiting.append(action)

    def begin(self, action: UserAction) -> None:
        self.waiting.remove(action)
        self.current, self.after, self.lines = action, action.after, []
        action.seen += self.written
        self.written.clear()
        fields = action.params.get("requestedSchema", {}).get("properties", {})
        if action.action == "fail":
            self.lines = [RuntimeError(FAILURE_TEXT)]
        elif action.action in ("decline", "cancel"):
            self.lines = [f"/{action.action}"] if fields else [action.action]
        elif action.action == "accept" and action.params.get("mode") == "url":
            self.lines = ["open", "confirm", "done"]
        elif action.action == "accept":
            self.lines = [*(typed(action.content.get(name)) for name in fields), "send", "confirm"]


def typed(value: Any) -> str:
    match value:
        case None:
            return ""
        case "":
            return "/empty"
        case []:
            return "/empty"
        case bool():
            return "yes" if value else "no"
        case str() if "\n" in value:
            raise UnsupportedActionError("A line break cannot be typed on a line.")
        case str() if value in ("/decline", "/cancel"):
            return f"/{value}"
        case list():
            return ",".join(map(str, value))
        case _:
            return str(value)


async def opens(_target: TargetUrl) -> bool:
    return True


console = TypingConsole()
type_at = console.type
terminal = registry_of(TerminalHandler(console=console, open_url=opens)).callback(SERVER)
