"""`ask_on_screen`: shows one request in the interactive form and returns the user's answer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import NamedTuple

import anyio

from mcp_elicit_client._concurrency import run_until
from mcp_elicit_client.handlers.terminal.console import EndOfInputError, InterruptedByUserError
from mcp_elicit_client.handlers.terminal.interactive.application import TerminalApp
from mcp_elicit_client.handlers.terminal.interactive.form_view import FormView
from mcp_elicit_client.handlers.terminal.interactive.url_view import UrlView
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.descriptions import ended_line, server_name
from mcp_elicit_client.presentation.drafts import Drafts
from mcp_elicit_client.presentation.opener import UrlAction, opening_failure
from mcp_elicit_client.presentation.qr import qr_code
from mcp_elicit_client.presentation.url_prompts import (
    UrlPrompt,
    after_choice,
    completion_prompt,
    consent_prompt,
    refusal,
)
from mcp_elicit_client.typing import Answer, FormRequest, Request, UrlRequest


async def ask_on_screen(
    app: TerminalApp, request: Request, drafts: Drafts, open_url: UrlAction, copy_url: UrlAction | None
) -> Answer:
    """Show *request* in *app*.  The answer is ``accept`` only if the user sends it on purpose."""
    try:
        if isinstance(request, FormRequest):
            return await _ask_form(app, request, drafts)
        return await _UrlQuestions(app, request, open_url, copy_url).ask()
    except EndOfInputError:
        return Answer.cancel(by="unattended", reason="the input ended")
    except InterruptedByUserError:
        return Answer.cancel(by="user", reason="the user cancelled the request")
    except asyncio.CancelledError:
        with anyio.CancelScope(shield=True):
            await app.say(ended_line(request, app.deadline, app.catalog))
        raise


async def _ask_form(app: TerminalApp, request: FormRequest, drafts: Drafts) -> Answer:
    form = FormView(app, request, drafts.take(request))
    try:
        answer: Answer = await app.show(form.first())
    except (asyncio.CancelledError, InterruptedByUserError, EndOfInputError):
        drafts.keep(request, form.draft())
        raise
    return answer


class _OpenedUrl(NamedTuple):
    """Whether a program accepted a URL, and what happened, in a sentence of the host, which may be empty."""

    opened: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class _UrlQuestions:
    """The questions about one URL: consent, opening it, and waiting for its completion."""

    app: TerminalApp
    request: UrlRequest
    open_url: UrlAction
    copy_url: UrlAction | None

    async def ask(self) -> Answer:
        """Ask for consent, open the URL only after it was given, and return the user's answer."""
        last: _OpenedUrl | None = None
        if not self.request.previous_visits:
            prompt = consent_prompt(self.request, can_copy=self.copy_url is not None)
            choice = await self._choose(prompt, None)
            if choice in ("decline", "block", "cancel"):
                return refusal(choice)
            last = await self._visit(choice)
            following = after_choice(prompt, opened=last.opened)
            if isinstance(following, Answer):
                text = self.app.catalog.text(messages.NOTHING_OPENS)
                await self.app.say(f"{last.note}\n{text}\n{self.request.target.url}")
                return following
        return await self._wait(last)

    async def _choose(self, prompt: UrlPrompt, last: _OpenedUrl | None) -> str:
        """Show *prompt* and the result of the *last* attempt to open the URL; return the user's choice."""
        code: str | None = None
        if last is not None and not last.opened:
            text, url = self.app.catalog.text(messages.OPEN_YOURSELF), self.request.target.url
            # The complete URL without a gutter, above the question, can be selected or clicked.
            await self.app.say(f"{text}\n\n{url}\n")
            code = qr_code(url)
        choice: str = await self.app.show(UrlView(self.app, prompt, last.note if last is not None else "", code))
        return choice

    async def _visit(self, choice: str) -> _OpenedUrl:
        """Open or copy the URL as the user chose."""
        text, target = self.app.catalog.text, self.request.target
        if choice in ("open", "reopen"):
            if await self.open_url(target):
                return _OpenedUrl(opened=True, note=text(messages.OPENING, domain=target.registrable_domain))
            return _OpenedUrl(opened=False, note=text(opening_failure()))
        if choice == "copy" and self.copy_url is not None:
            copied = await self.copy_url(target)
            return _OpenedUrl(opened=False, note=text(messages.COPIED if copied else messages.NOT_COPIED))
        return _OpenedUrl(opened=False)

    async def _wait(self, last: _OpenedUrl | None) -> Answer:
        """Wait until the user has finished, or until the server reports it."""
        completion = self.request.completion
        if completion is None:
            return await self._ask_when_done(last)
        answer = await run_until(completion.wait, lambda: self._ask_when_done(last))
        if answer is not None:
            return answer
        await self.app.say(self.app.catalog.text(messages.FINISHED, server=server_name(self.request.server)))
        return Answer.accept(by="user", reason="the user agreed; the server reports completion")

    async def _ask_when_done(self, last: _OpenedUrl | None) -> Answer:
        prompt = completion_prompt(self.request)
        while True:
            choice = await self._choose(prompt, last)
            if choice == "done":
                return Answer.accept(by="user", reason="the user reports completion")
            if choice != "reopen":
                return refusal(choice)
            last = await self._visit(choice)
