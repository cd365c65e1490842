"""`ask_on_screen`: shows one request in the interactive form and returns the user's answer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import anyio

from mcp_elicit_client.handlers.terminal.console import EndOfInputError, InterruptedByUserError
from mcp_elicit_client.handlers.terminal.interactive.application import TerminalApp
from mcp_elicit_client.handlers.terminal.interactive.form_view import FormView
from mcp_elicit_client.handlers.terminal.interactive.url_view import UrlView
from mcp_elicit_client.handlers.terminal.url import CopyUrl, OpenedUrl, OpenUrl, UrlConsentFlow
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.descriptions import server_name
from mcp_elicit_client.presentation.drafts import Drafts
from mcp_elicit_client.presentation.qr import qr_code
from mcp_elicit_client.presentation.url_prompts import UrlPrompt
from mcp_elicit_client.typing import Answer, FormRequest, Request


async def ask_on_screen(
    app: TerminalApp, request: Request, drafts: Drafts, open_url: OpenUrl, copy_url: CopyUrl | None
) -> Answer:
    """Show *request* in *app*.  The answer is ``accept`` only if the user sends it on purpose."""
    try:
        if isinstance(request, FormRequest):
            return await _ask_form(app, request, drafts)
        return await UrlConsentFlow(ScreenUrls(app), request, open_url, copy_url).ask()
    except EndOfInputError:
        return Answer.cancel(by="unattended", reason="the input ended")
    except InterruptedByUserError:
        return Answer.cancel(by="user", reason="the user cancelled the request")
    except asyncio.CancelledError:
        with anyio.CancelScope(shield=True):
            await app.say(app.catalog.text(messages.WITHDRAWN, server=server_name(request.server)))
        raise


async def _ask_form(app: TerminalApp, request: FormRequest, drafts: Drafts) -> Answer:
    form = FormView(app, request, drafts.take(request))
    try:
        answer: Answer = await app.show(form.first())
    except (asyncio.CancelledError, InterruptedByUserError, EndOfInputError):
        drafts.keep(request, form.draft())
        raise
    return answer


@dataclass(frozen=True, slots=True)
class ScreenUrls:
    """URL requests on the screen."""

    app: TerminalApp

    @property
    def catalog(self) -> MessageCatalog:
        """The texts."""
        return self.app.catalog

    async def choose(self, prompt: UrlPrompt, last: OpenedUrl | None) -> str:
        """Show *prompt* and what happened since the last question; return the user's choice."""
        notes: tuple[str, ...] = last.notes if last is not None else ()
        code: str | None = None
        if last is not None and not last.opened:
            text, url = self.catalog.text(messages.OPEN_YOURSELF), prompt.request.target.url
            # The complete URL without a gutter, above the question, can be selected or clicked.
            await self.say(f"{text}\n\n{url}\n")
            notes, code = (*notes, text), qr_code(url, self.app.width)
        choice: str = await self.app.show(UrlView(self.app, prompt, notes, code))
        return choice

    async def say(self, text: str) -> None:
        """Show *text* above the question."""
        await self.app.say(text)
