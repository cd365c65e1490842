"""Ask one question on a stage: what the terminal's handler does where there is a form."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import anyio

from mcp_elicit_client.handlers.terminal.interactive.application import TerminalApp
from mcp_elicit_client.handlers.terminal.interactive.form_view import FormView
from mcp_elicit_client.handlers.terminal.interactive.old_descriptions import name_of
from mcp_elicit_client.handlers.terminal.interactive.review_view import ReviewView
from mcp_elicit_client.handlers.terminal.interactive.url_view import ScreenVisit
from mcp_elicit_client.handlers.terminal.line_mode import EndOfInputError, InterruptedByUserError
from mcp_elicit_client.handlers.terminal.url import CopyUrl, OpenUrl
from mcp_elicit_client.presentation.drafts import Drafts
from mcp_elicit_client.typing import Answer, FormRequest, Request


@dataclass(kw_only=True)
class ScreenDrafts:
    """
    What was typed when a question was withdrawn.

    Attributes:
        values: What was an answer already.
        texts: What was not one yet.
    """

    values: Drafts
    texts: Drafts


async def ask_on_screen(
    stage: TerminalApp, request: Request, drafts: ScreenDrafts, open_url: OpenUrl, copy_url: CopyUrl | None
) -> Answer:
    """Ask *request* on *stage*: only what the person sends on purpose is an accept."""
    try:
        if isinstance(request, FormRequest):
            return await _ask_form(stage, request, drafts)
        return await ScreenVisit(stage, request, open_url, copy_url).ask()
    except EndOfInputError:
        return Answer.cancel(by="unattended", reason="the input ended")
    except InterruptedByUserError:
        return Answer.cancel(by="user", reason="the user left the question")
    except asyncio.CancelledError:
        with anyio.CancelScope(shield=True):
            await stage.say(stage.words.withdrawn.format(server=name_of(request.server)))
        raise


async def _ask_form(stage: TerminalApp, request: FormRequest, drafts: ScreenDrafts) -> Answer:
    form = FormView(stage, request)
    form.restore(drafts.values.take(request), drafts.texts.take(request))
    try:
        answer: Answer = await stage.show(form if form.controls else ReviewView(stage, form))
    except asyncio.CancelledError:
        drafts.values.keep(request, form.kept())
        drafts.texts.keep(request, form.kept_texts())
        raise
    return answer
