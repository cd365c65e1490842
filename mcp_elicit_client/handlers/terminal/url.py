"""Ask for consent before a page is opened, and wait where the server looks at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from mcp_elicit_client._concurrency import run_until
from mcp_elicit_client.core.url.inspect import TargetUrl
from mcp_elicit_client.handlers.terminal.line_mode import Console
from mcp_elicit_client.handlers.terminal.parts import asks, decide, introduce, say
from mcp_elicit_client.presentation.opener import over_ssh
from mcp_elicit_client.presentation.qr import qr_code
from mcp_elicit_client.presentation.url_prompts import completion_prompt, consent_prompt
from mcp_elicit_client.typing import Answer, UrlRequest

OpenUrl = Callable[[TargetUrl], Awaitable[bool]]
"""Tries to open a URL, and says whether a program took it."""

CopyUrl = Callable[[TargetUrl], Awaitable[bool]]
"""Tries to put a URL into the user's clipboard, and says whether it did."""


@dataclass(frozen=True, slots=True)
class UrlConsentFlow:
    """One URL that a person is asked to visit, at one console."""

    console: Console
    request: UrlRequest
    open_url: OpenUrl
    copy_url: CopyUrl | None = None

    async def ask(self) -> Answer:
        """Show where the URL leads; open it only if the user says so."""
        introduce(self.console, self.request, asks(self.request))
        if not self.request.previous_visits:
            question = consent_prompt(self.request, can_copy=self.copy_url is not None)
            choice = await decide(self.console, question.choices, default=question.default)
            if choice in ("decline", "block", "cancel"):
                return _refused(choice)
            opened = await self._go(choice)
            if opened and self.request.respond_after == "consent":
                say(self.console, "If no page opens, visit the address above yourself.")
                return Answer.accept(by="user", reason="the user agreed; the URL was handed to a browser")
        return await self._wait()

    async def _go(self, choice: str) -> bool:
        """Open or show the URL; tell whether a program took it."""
        console, target = self.console, self.request.target
        if choice == "open" and await self.open_url(target):
            console.write("A browser was asked to open the page.")
            return True
        if choice == "open":
            console.write(f"No browser could be started here{', over SSH' if over_ssh() else ''}.")
        if choice == "copy" and self.copy_url is not None:
            copied = await self.copy_url(target)
            console.write("The address was copied." if copied else "The address could not be copied.")
        console.write(f"Open this address yourself, here or on another device:\n\n{target.url}\n")
        code = qr_code(target.url, console.width)
        if code is not None:
            console.write(f"{code}\n")
        return False

    async def _wait(self) -> Answer:
        """Wait until the user is done, or the server says that they are."""
        completion = self.request.completion
        if completion is None:
            return await self._ask_when_done()
        answer = await run_until(completion.wait, self._ask_when_done)
        if answer is not None:
            return answer
        self.console.write("\nThe server says that you are done.")
        return Answer.accept(by="user", reason="the user agreed; the server says that it is finished")

    async def _ask_when_done(self) -> Answer:
        question = completion_prompt(self.request)
        while True:
            choice = await decide(self.console, question.choices, about="When you have finished there: ")
            if choice == "done":
                return Answer.accept(by="user", reason="the user says to have been there")
            if choice != "reopen":
                return _refused(choice)
            await self._go("open")


def _refused(choice: str) -> Answer:
    if choice == "cancel":
        return Answer.cancel(by="user")
    return Answer.decline(by="user", block_server=choice == "block")
