"""A URL: whether to go there, and whether the user is done there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_elicit_client._concurrency import run_until
from mcp_elicit_client.handlers.terminal.interactive.rendering import Drawing, Line, host_text
from mcp_elicit_client.handlers.terminal.interactive.view import Button, View
from mcp_elicit_client.handlers.terminal.url import CopyUrl, OpenUrl
from mcp_elicit_client.presentation.opener import over_ssh
from mcp_elicit_client.presentation.qr import qr_code
from mcp_elicit_client.presentation.quoting import GUTTER
from mcp_elicit_client.presentation.url_prompts import UrlPrompt, completion_prompt, consent_prompt
from mcp_elicit_client.typing import Answer, UrlRequest

if TYPE_CHECKING:
    from mcp_elicit_client.handlers.terminal.interactive.application import TerminalApp

_KEYS = {"decline": "Ctrl+D", "block": "F4", "cancel": "Ctrl+C"}
_GUARDED = ("open", "copy", "show", "done")


class UrlView(View):
    """
    A URL with what can be done about it.

    Attributes:
        question: What is asked.
        notes: What happened, said by the host.
        code: The URL for a camera, drawn.
    """

    request: UrlRequest

    def __init__(
        self, stage: TerminalApp, question: UrlPrompt, notes: Sequence[str] = (), code: str | None = None
    ) -> None:
        super().__init__(stage, question.request)
        self.question = question
        self.notes = notes
        self.code = code
        names = [button.name for button in self.buttons()]
        self.at = names.index(question.default) if question.default is not None else None

    def buttons(self) -> Sequence[Button]:
        words = self.words
        return [
            Button(choice, getattr(words, f"do_{choice}"), _KEYS.get(choice, ""), guarded=choice in _GUARDED)
            for choice in self.question.choices
        ]

    def keys(self) -> Sequence[tuple[str, str]]:
        return [("Tab Enter", self.words.key_choose), ("Esc", self.words.key_leave)]

    def activate(self, name: str) -> None:
        self.stage.end(name)

    def handle_key(self, key: str, data: str) -> None:  # noqa: ARG002 -- nothing is typed here
        last = len(self.buttons()) - 1
        match key:
            case "next" | "right" | "down":
                self.at = 0 if self.at is None or self.at == last else self.at + 1
            case "previous" | "left" | "up":
                self.at = last if self.at is None or self.at == 0 else self.at - 1
            case "enter":
                self.press_focused()

    def body(self, width: int) -> Drawing:
        words, target = self.words, self.request.target
        drawing = self.message(width)
        drawing.lines += [*host_text(words.whole_address, width), *address(target.split_at_domain, width)]
        for warning in target.warnings:
            text = warning.translate(words.translate)
            drawing.lines += host_text(words.careful.format(message=text), width, "class:warning")
        for note in self.notes:
            drawing.lines += host_text(note, width)
        if self.code is not None:
            drawing.lines += [[("", line)] for line in self.code.split("\n")]
        if self.question.step == "waiting":
            drawing.lines += host_text(words.waiting, width)
        drawing.cursor = (len(drawing.lines) - 1, 0)
        return drawing


def address(marked: tuple[str, str, str], width: int) -> list[Line]:
    """Set the whole URL behind a gutter, with its domain marked."""
    room = max(width - len(GUTTER) - 1, 1)
    styled = [
        (style, character)
        for style, part in zip(("class:server", "class:domain", "class:server"), marked, strict=True)
        for character in part
    ]
    lines: list[Line] = []
    for start in range(0, len(styled), room):
        line: Line = [("class:gutter", GUTTER)]
        for style, character in styled[start : start + room]:
            if line[-1][0] == style:
                line[-1] = (style, line[-1][1] + character)
            else:
                line.append((style, character))
        lines.append(line)
    return lines


@dataclass(frozen=True, slots=True)
class ScreenVisit:
    """One URL that a person is asked to visit, on a stage."""

    stage: TerminalApp
    request: UrlRequest
    open_url: OpenUrl
    copy_url: CopyUrl | None

    async def ask(self) -> Answer:
        """Show where the URL leads; open it only if the user says so."""
        notes: tuple[str, ...] = ()
        code: str | None = None
        if not self.request.previous_visits:
            question = consent_prompt(self.request, can_copy=self.copy_url is not None)
            choice = await self.stage.show(UrlView(self.stage, question))
            if choice in ("decline", "block", "cancel"):
                return _refused(choice)
            opened, notes, code = await self._go(choice)
            if opened and self.request.respond_after == "consent":
                await self.stage.say("\n".join([*notes, self.stage.words.if_none_opens]))
                return Answer.accept(by="user", reason="the user agreed; the URL was handed to a browser")
        return await self._wait(notes, code)

    async def _go(self, choice: str) -> tuple[bool, tuple[str, ...], str | None]:
        """Open or show the URL; tell whether a program took it, and what to say about it."""
        words, target = self.stage.words, self.request.target
        notes: list[str] = []
        if choice in ("open", "reopen"):
            if await self.open_url(target):
                return True, (words.opening.format(url=target.url),), None
            notes.append(words.no_browser.format(ssh=words.over_ssh if over_ssh() else ""))
        if choice == "copy" and self.copy_url is not None:
            notes.append(words.copied if await self.copy_url(target) else words.not_copied)
        # Whole and without a gutter, to be selected or clicked: so above the question, not in it.
        await self.stage.say(f"{words.open_yourself}\n\n{target.url}\n")
        return False, (*notes, words.open_yourself), qr_code(target.url, self.stage.width)

    async def _wait(self, notes: Sequence[str], code: str | None) -> Answer:
        """Wait until the user is done, or the server says that they are."""
        completion = self.request.completion
        if completion is None:
            return await self._ask_when_done(notes, code)
        answer = await run_until(completion.wait, lambda: self._ask_when_done(notes, code))
        if answer is not None:
            return answer
        await self.stage.say(self.stage.words.finished)
        return Answer.accept(by="user", reason="the user agreed; the server says that it is finished")

    async def _ask_when_done(self, notes: Sequence[str], code: str | None) -> Answer:
        question = completion_prompt(self.request)
        while True:
            choice = await self.stage.show(UrlView(self.stage, question, notes, code))
            if choice == "done":
                return Answer.accept(by="user", reason="the user says to have been there")
            if choice != "reopen":
                return _refused(choice)
            _, notes, code = await self._go("reopen")


def _refused(choice: str) -> Answer:
    if choice == "cancel":
        return Answer.cancel(by="user")
    return Answer.decline(by="user", block_server=choice == "block")
