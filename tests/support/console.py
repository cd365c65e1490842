"""A console whose user follows a script."""

from __future__ import annotations

from collections.abc import Iterable

from mcp_elicit_client.handlers.terminal import EndOfInputError, InterruptedByUserError

CTRL_C = "\x03"


class ScriptedConsole:
    """Answers each prompt with the next line of a script; its end is the end of input."""

    def __init__(self, lines: Iterable[str], width: int = 80) -> None:
        self.lines = list(lines)
        self.width = width
        self.shown = ""
        self.hidden: list[bool] = []

    def write(self, text: str) -> None:
        self.shown += f"{text}\n"

    async def ask(self, prompt: str, *, hidden: bool = False) -> str:
        self.shown += prompt
        self.hidden.append(hidden)
        if not self.lines:
            raise EndOfInputError
        line = self.lines.pop(0)
        if line == CTRL_C:
            raise InterruptedByUserError
        self.shown += f"{line}\n"
        return line
