"""What the app replies."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, cast, get_args
from urllib.parse import parse_qs

from pydantic_core import from_json
from starlette.exceptions import HTTPException
from starlette.requests import Request as WebRequest
from starlette.responses import JSONResponse, Response

from mcp_elicit_client.core.answer import Action
from mcp_elicit_client.core.schema.writer import write_schema
from mcp_elicit_client.core.validation.content import ValidationResult
from mcp_elicit_client.exceptions import EntryClosedError, EntryNotFoundError, InboxError
from mcp_elicit_client.inbox.entries import Entry
from mcp_elicit_client.inbox.inbox import Inbox
from mcp_elicit_client.inbox.web.app import Authenticate
from mcp_elicit_client.inbox.web.form_data import FormData, content_of
from mcp_elicit_client.inbox.web.openapi import openapi
from mcp_elicit_client.inbox.web.pages import Pages
from mcp_elicit_client.inbox.web.sse import EventStream
from mcp_elicit_client.typing import FormRequest

Step: TypeAlias = Literal["review", "change", "open", "check", "accept", "decline", "cancel", "block"]
"""What the buttons of the pages do; check is for their script."""

_MOST = 1_000


class Endpoints:
    """
    The endpoints of one app.

    Args:
        inbox: The questions.
        authenticate: Tells who is signed in.
        single_request: As in `inbox_app`.
    """

    def __init__(self, inbox: Inbox, authenticate: Authenticate, *, single_request: bool = False) -> None:
        self._inbox = inbox
        self._authenticate = authenticate
        self._pages = Pages(single_request=single_request)
        self.exceptions: Mapping[Any, Any] = {
            HTTPException: self._refuse,
            EntryNotFoundError: self._refuse,
            EntryClosedError: self._refuse,
            InboxError: self._refuse,
        }

    async def waiting(self, web: WebRequest) -> Response:
        """List the questions that wait."""
        page = await self._inbox.list(await self._owner(web), cursor=_after(web))
        if _wants_page(web):
            return self._pages.waiting(page, is_later="after" in web.query_params)
        return JSONResponse(page.model_dump(mode="json"))

    async def history(self, web: WebRequest) -> Response:
        """List those that no longer wait."""
        page = await self._inbox.history(await self._owner(web), cursor=_after(web))
        if _wants_page(web):
            return self._pages.history(page)
        return JSONResponse(page.model_dump(mode="json"))

    async def events(self, web: WebRequest) -> Response:
        """Tell what comes and changes."""
        return EventStream(self._inbox, await self._owner(web))

    async def openapi(self, web: WebRequest) -> Response:
        """Describe the endpoints."""
        await self._owner(web)
        return JSONResponse(openapi())

    async def show(self, web: WebRequest) -> Response:
        """Show one question."""
        entry = await self._inbox.get(await self._owner(web), web.path_params["id"])
        if _wants_page(web):
            return self._pages.question(entry)
        request = entry.read()
        schema = write_schema(request.form) if isinstance(request, FormRequest) else None
        return JSONResponse({**entry.model_dump(mode="json"), "answer_schema": schema})

    async def answer(self, web: WebRequest) -> Response:
        """Take an answer."""
        owner = await self._owner(web)
        entry = await self._inbox.get(owner, web.path_params["id"])
        kind = web.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "application/json":
            return await self._answer_json(owner, entry, await web.body())
        if kind != "application/x-www-form-urlencoded":
            raise HTTPException(415, "send application/json, or a form")
        return await self._answer_page(web, owner, entry, _filled(await web.body()))

    async def _answer_json(self, owner: str, entry: Entry, body: bytes) -> Response:
        try:
            said = from_json(body)
        except ValueError:
            raise HTTPException(400, "the body is no JSON") from None
        if not isinstance(said, dict) or said.get("action") not in ("accept", "decline", "cancel", "check"):
            raise HTTPException(400, "action must be accept, decline, cancel or check")
        content = said.get("content")
        if content is not None and not isinstance(content, dict):
            raise HTTPException(400, "content must be an object")
        if said["action"] == "check":
            return _told(await self._inbox.validate(owner, entry.id, content), status=200)
        validation = await self._inbox.answer(
            owner,
            entry.id,
            said["action"],
            content,
            block_server=said.get("block_server") is True,
            confirmed=said.get("confirmed") is True,
        )
        return _told(validation)

    async def _answer_page(self, web: WebRequest, owner: str, entry: Entry, filled: FormData) -> Response:
        """Take one step of the pages: look at the values, change them, send them, or say no."""
        request = entry.read()
        step = _step(filled)
        form = request.form if isinstance(request, FormRequest) else None
        content = None if form is None else content_of(form, filled)
        if step == "check":
            return self._pages.checked(entry, await self._inbox.validate(owner, entry.id, content))
        if entry.state != "pending":
            raise EntryClosedError(entry.state)
        if step in ("review", "change", "open"):
            validation = ValidationResult(valid=True)
            if step == "review":
                validation = await self._inbox.validate(owner, entry.id, content)
            return self._pages.step(entry, step, filled, validation)
        action = cast("Action", "decline" if step == "block" else step)
        validation = await self._inbox.answer(
            owner, entry.id, action, content, block_server=step == "block", confirmed="confirmed" in filled
        )
        if not validation:
            return self._pages.step(entry, "review", filled, validation)
        return self._pages.answered(await self._inbox.get(owner, web.path_params["id"]))

    async def _owner(self, web: WebRequest) -> str:
        owner = self._authenticate(web)
        if inspect.isawaitable(owner):
            owner = await owner
        if not isinstance(owner, str) or not owner:
            raise HTTPException(401, "nobody is signed in")
        return owner

    async def _refuse(self, web: WebRequest, error: Exception) -> Response:
        state: str | None = None
        match error:
            case HTTPException():
                status, reason = error.status_code, error.detail
            case EntryNotFoundError():
                status, reason = 404, str(error)
            case EntryClosedError():
                status, reason, state = 409, str(error), error.state
            case _:
                status, reason = 503, "the inbox cannot be used just now"
        if _wants_page(web):
            return self._pages.refusal(status, state)
        return JSONResponse({"error": reason, **({"state": state} if state else {})}, status)


def _wants_page(web: WebRequest) -> bool:
    return "text/html" in web.headers.get("accept", "")


def _after(web: WebRequest) -> str | None:
    after = web.query_params.get("after")
    if after is not None and not (after.isascii() and after.isdigit() and len(after) < 19):
        raise HTTPException(400, "that is no place in a list")
    return after


def _filled(body: bytes) -> FormData:
    try:
        return parse_qs(body.decode(), keep_blank_values=True, max_num_fields=_MOST, errors="strict")
    except ValueError:
        raise HTTPException(400, "the body is no form") from None


def _step(filled: FormData) -> Step:
    steps = filled.get("action", ())
    if len(steps) != 1 or steps[0] not in get_args(Step):
        raise HTTPException(400, "action must be one of those that the page has")
    return cast("Step", steps[0])


def _told(validation: ValidationResult, status: int | None = None) -> Response:
    return JSONResponse(validation.model_dump(mode="json"), status or (200 if validation else 422))
