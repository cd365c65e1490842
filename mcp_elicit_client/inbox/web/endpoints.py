"""The endpoints of the app: JSON for clients, pages for browsers."""

from __future__ import annotations

import functools
import importlib.resources
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, TypeAlias, cast, get_args
from urllib.parse import parse_qs

from pydantic.json_schema import models_json_schema
from pydantic_core import from_json
from starlette.exceptions import HTTPException
from starlette.requests import Request as WebRequest
from starlette.responses import JSONResponse, Response

from mcp_elicit_client.core.schema.writer import write_schema
from mcp_elicit_client.core.validation.content import ValidationResult
from mcp_elicit_client.exceptions import EntryClosedError, EntryNotFoundError, InboxError
from mcp_elicit_client.inbox.inbox import Inbox
from mcp_elicit_client.inbox.records import Entry, EntryPage
from mcp_elicit_client.inbox.web.controls import FormData, read_form_data
from mcp_elicit_client.inbox.web.pages import Pages
from mcp_elicit_client.inbox.web.sse import EventStream
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.form_input import FormState
from mcp_elicit_client.typing import FormRequest

Authenticate: TypeAlias = "Callable[[Any], str | Awaitable[str | None] | None]"
"""Returns the signed-in user of a Starlette request; None if no user is signed in."""

ChooseMessages: TypeAlias = "Callable[[Any], MessageCatalog]"
"""Returns the texts for the user of a Starlette request."""

Step: TypeAlias = Literal["review", "change", "open", "check", "accept", "decline", "cancel", "block"]
"""The actions of the buttons on the pages.  Only the script of the pages sends ``check``."""

_MAX_FORM_VALUES = 1_000


class Endpoints:
    """
    The endpoints of one app.

    Args:
        inbox: The inbox.
        authenticate: Returns the signed-in user.
        pages_for: Returns the writer of the pages for a Starlette request,
            in the user's language.
    """

    def __init__(self, inbox: Inbox, authenticate: Authenticate, pages_for: Callable[[WebRequest], Pages]) -> None:
        self._inbox = inbox
        self._authenticate = authenticate
        self._pages_for = pages_for
        self.exception_handlers: Mapping[Any, Any] = {
            HTTPException: self._refuse,
            EntryNotFoundError: self._refuse,
            EntryClosedError: self._refuse,
            InboxError: self._refuse,
        }

    async def pending(self, web: WebRequest) -> Response:
        """List the pending requests."""
        page = await self._inbox.list(await self._owner(web), cursor=_cursor(web))
        if _wants_page(web):
            return self._pages_for(web).pending(page, is_first="cursor" not in web.query_params)
        return JSONResponse(page.model_dump(mode="json"))

    async def history(self, web: WebRequest) -> Response:
        """List the closed requests."""
        page = await self._inbox.history(await self._owner(web), cursor=_cursor(web))
        if _wants_page(web):
            return self._pages_for(web).history(page)
        return JSONResponse(page.model_dump(mode="json"))

    async def events(self, web: WebRequest) -> Response:
        """Stream new and changed requests."""
        return EventStream(self._inbox, await self._owner(web))

    async def openapi(self, web: WebRequest) -> Response:
        """Return the OpenAPI description."""
        await self._owner(web)
        return JSONResponse(_openapi())

    async def show(self, web: WebRequest) -> Response:
        """Show one request."""
        entry = await self._inbox.get(await self._owner(web), web.path_params["id"])
        if _wants_page(web):
            return self._pages_for(web).request(entry)
        request = entry.read()
        schema = write_schema(request.form) if isinstance(request, FormRequest) else None
        return JSONResponse({**entry.model_dump(mode="json"), "answer_schema": schema})

    async def answer(self, web: WebRequest) -> Response:
        """Accept an answer."""
        owner = await self._owner(web)
        entry = await self._inbox.get(owner, web.path_params["id"])
        content_type = web.headers.get("content-type", "").partition(";")[0].strip().lower()
        if content_type == "application/json":
            return await self._answer_json(owner, entry, await web.body())
        if content_type != "application/x-www-form-urlencoded":
            raise HTTPException(415, "Send application/json or a form.")
        try:
            return await self._answer_page(owner, entry, _form_data(await web.body()), self._pages_for(web))
        except EntryClosedError:
            return self._pages_for(web).closed(await self._inbox.get(owner, entry.id), is_late=True)

    async def _answer_json(self, owner: str, entry: Entry, body: bytes) -> Response:
        try:
            given = from_json(body)
        except ValueError:
            raise HTTPException(400, "The body must be JSON.") from None
        if not isinstance(given, dict) or given.get("action") not in ("accept", "decline", "cancel", "check"):
            raise HTTPException(400, "`action` must be accept, decline, cancel or check.")
        content = given.get("content")
        if content is not None and not isinstance(content, dict):
            raise HTTPException(400, "`content` must be an object.")
        if given["action"] == "check":
            return JSONResponse((await self._inbox.validate(owner, entry.id, content)).model_dump(mode="json"))
        validation = await self._inbox.answer(
            owner,
            entry.id,
            given["action"],
            content,
            block_server=given.get("block_server") is True,
            confirmed=given.get("confirmed") is True,
        )
        return JSONResponse(validation.model_dump(mode="json"), 200 if validation else 422)

    async def _answer_page(self, owner: str, entry: Entry, filled: FormData, pages: Pages) -> Response:
        """Take one step of the pages: review the values, change them, or answer."""
        step = _step(filled)
        request = entry.read()
        state = read_form_data(request, filled) if isinstance(request, FormRequest) else None
        if step == "check":
            return pages.errors(entry, (await self._check(owner, entry, state)).errors)
        if entry.state != "pending":
            raise EntryClosedError(entry.state)
        if step == "open":
            return pages.opened(entry)
        if step == "change":
            return pages.request(entry, filled)
        if step == "review":
            checked = await self._check(owner, entry, state)
            if not checked:
                return pages.request(entry, filled, checked.errors)
            return pages.review(entry, filled, checked.unchecked)
        if step == "accept" and state is not None and state.errors:
            return pages.request(entry, filled, state.errors)
        validation = await self._inbox.answer(
            owner,
            entry.id,
            "decline" if step == "block" else step,
            state.content if state is not None and step == "accept" else None,
            block_server=step == "block",
            confirmed="confirmed" in filled,
        )
        if not validation:
            return pages.request(entry, filled, validation.errors)
        return pages.answered(await self._inbox.get(owner, entry.id))

    async def _check(self, owner: str, entry: Entry, state: FormState | None) -> ValidationResult:
        if state is None or state.errors:
            return ValidationResult(valid=state is None, errors=() if state is None else state.errors)
        return await self._inbox.validate(owner, entry.id, state.content)

    async def _owner(self, web: WebRequest) -> str:
        owner = self._authenticate(web)
        if inspect.isawaitable(owner):
            owner = await owner
        if not isinstance(owner, str) or not owner:
            raise HTTPException(401, "No user is signed in.")
        return owner

    async def _refuse(self, web: WebRequest, error: Exception) -> Response:
        state: dict[str, str] = {}
        match error:
            case HTTPException():
                status, reason = error.status_code, error.detail
            case EntryNotFoundError():
                status, reason = 404, str(error)
            case EntryClosedError():
                status, reason, state = 409, str(error), {"state": error.state}
            case _:
                status, reason = 503, "The inbox is temporarily unavailable."
        if _wants_page(web):
            return self._pages_for(web).refusal(status)
        return JSONResponse({"error": reason, **state}, status)


def _wants_page(web: WebRequest) -> bool:
    return "text/html" in web.headers.get("accept", "")


def _cursor(web: WebRequest) -> str | None:
    cursor = web.query_params.get("cursor")
    if cursor is not None and not (cursor.isascii() and cursor.isdigit() and len(cursor) < 19):
        raise HTTPException(400, "`cursor` must be the `next_cursor` of a page.")
    return cursor


def _form_data(body: bytes) -> FormData:
    try:
        return parse_qs(body.decode(), keep_blank_values=True, max_num_fields=_MAX_FORM_VALUES, errors="strict")
    except ValueError:
        raise HTTPException(400, "The body must be a form.") from None


def _step(filled: FormData) -> Step:
    steps = filled.get("action", ())
    if len(steps) != 1 or steps[0] not in get_args(Step):
        raise HTTPException(400, "`action` must be one of the actions of the page.")
    return cast("Step", steps[0])


@functools.cache
def _openapi() -> dict[str, Any]:
    """Return the OpenAPI description, as JSON."""
    text = (importlib.resources.files(__package__) / "openapi.json").read_text(encoding="utf-8")
    description: dict[str, Any] = json.loads(text)
    _, schemas = models_json_schema(
        [(model, "serialization") for model in (Entry, EntryPage, ValidationResult)],
        ref_template="#/components/schemas/{model}",
    )
    description["components"]["schemas"] = schemas["$defs"]
    return description
