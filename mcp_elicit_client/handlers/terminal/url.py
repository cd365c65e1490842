"""The course of a URL request in the terminal: consent, opening the URL, and waiting for its completion."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from mcp_elicit_client._concurrency import run_until
from mcp_elicit_client.core.url.inspect import TargetUrl
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.descriptions import server_name
from mcp_elicit_client.presentation.opener import over_ssh
from mcp_elicit_client.presentation.url_prompts import (
    UrlPrompt,
    after_choice,
    completion_prompt,
    consent_prompt,
    refusal,
)
from mcp_elicit_client.typing import Answer, UrlRequest

OpenUrl = Callable[[TargetUrl], Awaitable[bool]]
"""Tries to open a URL and returns True if a program accepted it."""

CopyUrl = Callable[[TargetUrl], Awaitable[bool]]
"""Tries to copy a URL to the user's clipboard and returns True if it was copied."""


class OpenedUrl(NamedTuple):
    """
    The result of an attempt to open a URL.

    Attributes:
        opened: A program accepted the URL.  Otherwise the user has to open it.
        notes: What happened, in sentences of the host.
    """

    opened: bool
    notes: tuple[str, ...]


class UrlInterface(Protocol):
    """The part of a user interface that URL requests need."""

    @property
    def catalog(self) -> MessageCatalog:
        """The texts."""
        ...

    async def choose(self, prompt: UrlPrompt, last: OpenedUrl | None) -> str:
        """Show *prompt* and the result of the *last* attempt to open the URL; return the user's choice."""
        ...

    async def say(self, text: str) -> None:
        """Show *text*, which remains visible."""
        ...


@dataclass(frozen=True, slots=True)
class UrlConsentFlow:
    """The questions about one URL, in a user interface."""

    interface: UrlInterface
    request: UrlRequest
    open_url: OpenUrl
    copy_url: CopyUrl | None = None

    async def ask(self) -> Answer:
        """Ask for consent, open the URL only after it was given, and return the user's answer."""
        last: OpenedUrl | None = None
        if not self.request.previous_visits:
            prompt = consent_prompt(self.request, can_copy=self.copy_url is not None)
            choice = await self.interface.choose(prompt, None)
            if choice in ("decline", "block", "cancel"):
                return refusal(choice)
            last = await self._visit(choice)
            following = after_choice(prompt, opened=last.opened)
            if isinstance(following, Answer):
                text = self.interface.catalog.text(messages.NOTHING_OPENS)
                await self.interface.say("\n".join([*last.notes, text, self.request.target.url]))
                return following
        return await self._wait(last)

    async def _visit(self, choice: str) -> OpenedUrl:
        """Open or copy the URL as the user chose."""
        text, target = self.interface.catalog.text, self.request.target
        if choice in ("open", "reopen"):
            if await self.open_url(target):
                return OpenedUrl(opened=True, notes=(text(messages.OPENING, domain=target.registrable_domain),))
            return OpenedUrl(
                opened=False, notes=(text(messages.NO_BROWSER_OVER_SSH if over_ssh() else messages.NO_BROWSER),)
            )
        if choice == "copy" and self.copy_url is not None:
            copied = await self.copy_url(target)
            return OpenedUrl(opened=False, notes=(text(messages.COPIED if copied else messages.NOT_COPIED),))
        return OpenedUrl(opened=False, notes=())

    async def _wait(self, last: OpenedUrl | None) -> Answer:
        """Wait until the user has finished, or until the server reports it."""
        completion = self.request.completion
        if completion is None:
            return await self._ask_when_done(last)
        answer = await run_until(completion.wait, lambda: self._ask_when_done(last))
        if answer is not None:
            return answer
        server = server_name(self.request.server)
        await self.interface.say(self.interface.catalog.text(messages.FINISHED, server=server))
        return Answer.accept(by="user", reason="the user agreed; the server reports completion")

    async def _ask_when_done(self, last: OpenedUrl | None) -> Answer:
        prompt = completion_prompt(self.request)
        while True:
            choice = await self.interface.choose(prompt, last)
            if choice == "done":
                return Answer.accept(by="user", reason="the user reports completion")
            if choice != "reopen":
                return refusal(choice)
            last = await self._visit(choice)
