"""`EditorHandler`: asks the user in the editor, within one session of an agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from types import NoneType
from typing import Any
from uuid import uuid4

import anyio
import anyio.lowlevel

from mcp_elicit_client._arguments import check_seconds, check_sync, check_type
from mcp_elicit_client._concurrency import run_until
from mcp_elicit_client.core.answer import invalid_answer
from mcp_elicit_client.core.form import Form
from mcp_elicit_client.core.request import limits_of
from mcp_elicit_client.core.schema.writer import to_schema
from mcp_elicit_client.dispatch import validate_async
from mcp_elicit_client.handlers.acp.editor import Editor, EditorError
from mcp_elicit_client.handlers.acp.texts import finished_text, problem_text, request_text
from mcp_elicit_client.presentation.catalog import ENGLISH, MessageCatalog
from mcp_elicit_client.presentation.form_input import sources_of
from mcp_elicit_client.presentation.plain_forms import PlainForm
from mcp_elicit_client.presentation.url_prompts import refusal
from mcp_elicit_client.typing import Action, Answer, FormRequest, Mode, Request, UrlRequest

ANSWER_TIMEOUT = 900.0
"""The default maximum time of the user, in seconds."""

MAX_ATTEMPTS = 3
"""How often the user is asked, if the editor sends answers that do not fit the form."""


class EditorHandler:
    """
    Ask the user in the editor, within one ACP session.

    Requests that the editor cannot show are cancelled; the reason is in the
    answer.  The user may correct an answer that does not fit the form.

    Args:
        editor: The editor.
        session_id: The ID of the session.
        tool_call_id: Returns the ID of the tool call that led to a request,
            if the agent reported one to the editor.
        answer_timeout: The maximum time of the user, in seconds; None for no
            limit.  `Request.deadline` may shorten it.
        messages: The texts, in one language: the agent does not know that of
            the editor.
    """

    def __init__(
        self,
        editor: Editor,
        session_id: str,
        tool_call_id: Callable[[Request], str | None] | None = None,
        answer_timeout: float | None = ANSWER_TIMEOUT,
        messages: MessageCatalog = ENGLISH,
    ) -> None:
        check_type("editor", editor, Editor, hint="Pass Editor(connection).")
        check_type("session_id", session_id, str)
        if tool_call_id is not None:
            check_sync("tool_call_id", tool_call_id, "request")
        check_seconds("answer_timeout", answer_timeout, optional=True)
        check_type("messages", messages, MessageCatalog)
        self._editor = editor._connection  # noqa: SLF001 -- host applications have no use for it
        self._session_id = session_id
        self._tool_call_id = tool_call_id
        self._answer_timeout = answer_timeout
        self._messages = messages

    async def __call__(self, request: Request, /) -> Answer:
        """Wait for the answer.  If this is cancelled, the request is withdrawn."""
        if request.mode not in self._editor.modes:
            return _unattended(f"the editor does not support requests in {request.mode} mode")
        ask = self._ask_form if isinstance(request, FormRequest) else self._ask_url
        with self._editor.during_turn(self._session_id), anyio.move_on_after(self._seconds(request)) as limit:
            try:
                await anyio.lowlevel.checkpoint()  # nothing is sent if the turn was cancelled before
                return await ask(request)  # type: ignore[arg-type]
            except ConnectionError:
                return _unattended("the connection to the editor is closed")
            except EditorError as error:
                return Answer.cancel(by="error" if error.was_asked else "unattended", reason=str(error))
        if limit.cancelled_caught:
            return Answer.cancel(by="timeout", reason="the user did not answer in time")
        return Answer.cancel(by="host", reason="the turn was cancelled in the editor")

    def _seconds(self, request: Request) -> float | None:
        if request.deadline is None:
            return self._answer_timeout
        left = (request.deadline - datetime.now(timezone.utc)).total_seconds()
        return max(left if self._answer_timeout is None else min(left, self._answer_timeout), 0)

    async def _ask(self, request: Request, mode: Mode, **params: Any) -> tuple[Action, Mapping[str, Any]]:
        tool_call_id = None if self._tool_call_id is None else self._tool_call_id(request)
        check_type("tool_call_id(request)", tool_call_id, str, NoneType)
        scope = {"sessionId": self._session_id, **({} if tool_call_id is None else {"toolCallId": tool_call_id})}
        return await self._editor.ask({**scope, "mode": mode, **params})

    async def _ask_form(self, request: FormRequest) -> Answer:
        plain = PlainForm(request.form, self._messages, limits_of(request))
        if plain.inexpressible:
            names = ", ".join(map(repr, plain.inexpressible))
            return _unattended(f"the editor cannot show a form with these required fields: {names}")
        shown = request.model_copy(update={"form": plain.form})
        problem = ""
        for _ in range(MAX_ATTEMPTS):
            text = request_text(shown, self._messages, problem)
            action, raw = await self._ask(request, "form", message=text, requestedSchema=to_schema(shown.form))
            if action != "accept":
                return refusal(action)
            content = plain.content(raw)
            validation = await validate_async(request, content)
            if validation:
                return Answer.accept(content, by="user", sources=sources_of(request, content))
            problem = problem_text(plain.form, validation.errors, self._messages)
            wrong = {error.field for error in validation.errors}
            kept = {name: raw[name] for name in content if name not in wrong}
            # A field that the user has cleared must not suggest the server's value again.
            form = plain.form if "" in wrong else plain.with_defaults(kept)
            shown = shown.model_copy(update={"form": form})
        return invalid_answer(validation.errors, "the editor's answers do not fit the form")

    async def _ask_url(self, request: UrlRequest) -> Answer:
        elicitation_id = uuid4().hex
        text = request_text(request, self._messages)
        url = request.target.url
        action, _ = await self._ask(request, "url", message=text, url=url, elicitationId=elicitation_id)
        if action == "accept" and request.respond_after == "completion":
            action = await self._wait_until_finished(request)
            self._editor.complete(elicitation_id)
        elif action == "accept":
            self._editor.complete_after(request, elicitation_id)
        if action == "accept":
            return Answer.accept(by="user", reason="the user agreed in the editor")
        return refusal(action)

    async def _wait_until_finished(self, request: UrlRequest) -> Action:
        """Return when the user has finished, because the server continues as soon as it has the answer."""

        async def ask() -> Action:
            text = finished_text(request, self._messages)
            action, _ = await self._ask(request, "form", message=text, requestedSchema=to_schema(Form()))
            return action

        if "form" not in self._editor.modes:
            return "accept"  # the server asks again if the user has not finished
        if request.completion is None:
            return await ask()
        return await run_until(request.completion.wait, ask) or "accept"


def _unattended(reason: str) -> Answer:
    return Answer.cancel(by="unattended", reason=reason)
