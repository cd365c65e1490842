"""The endpoints of the app: JSON for clients, pages for browsers."""

from __future__ import annotations

import inspect
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from types import NoneType
from typing import Any, Literal, TypeAlias, cast, get_args
from urllib.parse import parse_qs

from pydantic_core import from_json
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.requests import Request as WebRequest
from starlette.responses import JSONResponse, Response
from starlette.routing import Match, Route
from starlette.types import Scope

from mcp_elicit_client.core.validation.content import VALID, ValidationResult, validation_result
from mcp_elicit_client.exceptions import EntryClosedError, EntryNotFoundError, InboxError
from mcp_elicit_client.inbox.inbox import Inbox, draft_of
from mcp_elicit_client.inbox.records import Entry, EntryPage, is_id, parse_cursor
from mcp_elicit_client.inbox.web.controls import (
    REVIEWED_NAME,
    FormData,
    is_control,
    is_reviewed,
    is_storable,
    read_form_data,
    storable_values,
)
from mcp_elicit_client.inbox.web.pages import Pages
from mcp_elicit_client.inbox.web.security_middleware import media_type
from mcp_elicit_client.inbox.web.sse import EventStream
from mcp_elicit_client.presentation.catalog import ENGLISH
from mcp_elicit_client.presentation.form_input import FormState
from mcp_elicit_client.presentation.warnings import warnings_to_confirm
from mcp_elicit_client.typing import FormRequest, UrlRequest

_logger = logging.getLogger("mcp_elicit_client")

Authenticate: TypeAlias = "Callable[[Any], str | Awaitable[str | None] | None]"
"""Returns the signed-in user of a Starlette request; None if no user is signed in."""

PageStep: TypeAlias = Literal["review", "confirm", "open", "extend", "check", "accept", "decline", "cancel", "block"]
"""The actions of the buttons on the pages.  Only the script of the pages sends ``check``, which keeps a draft."""

PageView: TypeAlias = Literal["form", "errors", "review", "confirm", "open"]
"""
The part of a pending request that a page shows.

It is the request, its form with the errors in the draft, the draft before it
is sent, the warnings to confirm, or the URL that the user agreed to open.
"""

_FORM_TYPE = "application/x-www-form-urlencoded"

_JSON_ACTIONS = ("accept", "decline", "cancel", "check", "extend")

_JSON_MEMBERS = ("action", "content", "confirm_warnings", "block_server", "remember")

_RECENT = 10
"""The number of closed requests that are searched for notices."""

_MAX_FORM_VALUES = 12_000


class PathRoute(Route):
    """A route that refuses the methods that its path does not have.  Starlette leaves them to later routes."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, child_scope = super().matches(scope)
        return Match.FULL if match is Match.PARTIAL else match, child_scope


class Endpoints:
    """
    The endpoints of one app.

    Args:
        inbox: The inbox.
        authenticate: Returns the signed-in user.
        pages_for: Returns the writer of the pages for a Starlette request,
            in the user's language.
        lists_remembered: There is an endpoint for remembered answers.
    """

    def __init__(
        self,
        inbox: Inbox,
        authenticate: Authenticate,
        pages_for: Callable[[WebRequest], Pages],
        *,
        lists_remembered: bool = False,
    ) -> None:
        self._inbox = inbox
        self._lists_remembered = lists_remembered
        self._authenticate = authenticate
        self._pages_for = pages_for
        self.exception_handlers: Mapping[Any, Any] = {
            HTTPException: self.refuse,
            EntryNotFoundError: self.refuse,
            EntryClosedError: self.refuse,
            InboxError: self.refuse,
            ClientDisconnect: self.refuse,  # No one reads the response, but the web server would log an error.
        }

    async def pending(self, web: WebRequest) -> Response:
        """List the pending requests."""
        owner = await self.owner(web)
        page = await self._inbox.list(owner, cursor=_cursor(web))
        if wants_page(web):
            pages, is_first = self._pages_for(web), "cursor" not in web.query_params
            if is_first:
                pages.add_notices((await self._inbox.history(owner, limit=_RECENT)).entries)
            return pages.pending(page, is_first=is_first)
        return _list_json(page)

    async def history(self, web: WebRequest) -> Response:
        """List the closed requests."""
        page = await self._inbox.history(await self.owner(web), cursor=_cursor(web))
        if wants_page(web):
            return self._pages_for(web).history(page)
        return _list_json(page)

    async def events(self, web: WebRequest) -> Response:
        """Stream new and closed requests."""
        return EventStream(self._inbox, await self.owner(web))

    async def openapi(self, web: WebRequest) -> Response:
        """Return the OpenAPI description."""
        from mcp_elicit_client.inbox.web.openapi import describe_api  # only for programs, so that pages come sooner

        await self.owner(web)
        description = describe_api()
        if not self._lists_remembered:
            paths = {name: path for name, path in description["paths"].items() if name != "/remembered"}
            description = {**description, "paths": paths}
        return JSONResponse(description)

    async def show(self, web: WebRequest) -> Response:
        """Show one request."""
        owner = await self.owner(web)
        entry = await self._inbox.get(owner, web.path_params["id"])
        if wants_page(web):
            view = web.query_params.get("view", "form")
            return await self._show_page(owner, entry, view, self._pages_for(web))
        return JSONResponse(entry.model_dump(mode="json"))

    async def _show_page(self, owner: str, entry: Entry, view: str, pages: Pages) -> Response:
        if pages.is_single_request:
            pages.add_notices((await self._inbox.history(owner, limit=_RECENT)).entries)
        if entry.state != "pending":
            return pages.closed(entry)
        draft = await draft_of(self._inbox, entry) or {}
        if view == "open" and draft.get("consented") is True:
            return pages.opened(entry)
        if view == "confirm" and pages.must_confirm(entry):
            return pages.confirm(entry)
        filled = draft.get("values")
        if filled is None or view not in ("errors", "review"):
            return pages.request(entry, filled, saved_at=draft.get("saved_at"))
        state = _read(entry, filled, pages)
        checked = await self._check(owner, entry, state)
        if not checked:
            return pages.request(entry, filled, checked.errors)
        if view == "review" and state is not None:
            return pages.review(entry, filled, state, checked.unchecked)
        return pages.request(entry, filled)

    async def answer(self, web: WebRequest) -> Response:
        """Accept an answer."""
        try:
            owner = await self.owner(web)
        except HTTPException as error:
            page = await self._keep(web, error)
            if page is None:
                raise
            return page
        entry = await self._inbox.get(owner, web.path_params["id"])
        content_type = media_type(web.headers)
        if content_type == "application/json":
            return await self._answer_json(owner, entry, await web.body())
        if content_type != _FORM_TYPE:
            raise HTTPException(415, "Send application/json or a form.")
        filled = _form_data(await web.body())
        try:
            return await self._answer_page(owner, entry, filled, web)
        except EntryClosedError:
            step = _step(filled)
            return self._pages_for(web).late(
                await self._inbox.get(owner, entry.id), "decline" if step == "block" else step
            )

    async def _keep(self, web: WebRequest, error: HTTPException) -> Response | None:
        """Return a page that keeps what a signed-out user has sent with a form; None if there is nothing to keep."""
        is_sign_out = error.status_code in (401, 403) or error.status_code // 100 == 3
        entry_id = web.path_params["id"]
        if not is_sign_out or not is_id(entry_id) or not wants_page(web) or media_type(web.headers) != _FORM_TYPE:
            return None
        filled = _form_data(await web.body())
        kept = [(name, value) for name, values in filled.items() if is_control(name) for value in values]
        step = _step(filled)
        if step not in ("review", "accept") or not kept:
            return None
        return self._pages_for(web).signed_out(entry_id, step, kept)

    async def _answer_json(self, owner: str, entry: Entry, body: bytes) -> Response:
        given = _read_body(body)
        content, codes = given.get("content"), given.get("confirm_warnings", [])
        if given["action"] == "check":
            return JSONResponse((await self._inbox.validate(owner, entry.id, content)).model_dump(mode="json"))
        if given["action"] == "extend":
            return JSONResponse((await self._inbox.extend(owner, entry.id)).model_dump(mode="json"))
        if given["action"] == "accept" and entry.state == "pending":
            refused = await self._check_confirmed(owner, entry, content, codes)
            if refused is not None:
                return refused
        validation = await self._inbox.answer(
            owner,
            entry.id,
            given["action"],
            content,
            block_server=given.get("block_server", False),
            confirmed=bool(codes) and given["action"] == "accept",
            remember=given.get("remember", False),
        )
        return JSONResponse(validation.model_dump(mode="json"), 200 if validation else 422)

    async def _check_confirmed(
        self, owner: str, entry: Entry, content: dict[str, Any] | None, codes: Sequence[str]
    ) -> Response | None:
        """Return None if the user confirmed exactly the present warnings, otherwise the response with the warnings."""
        warnings = warnings_to_confirm(entry.read(), content, ENGLISH)
        if {each.code for each in warnings} == set(codes):
            return None
        validation = await self._inbox.validate(owner, entry.id, content)
        if not validation:
            return JSONResponse(validation.model_dump(mode="json"), 422)
        error = "Show the warnings to the user. Send their codes as `confirm_warnings` after the user confirmed them."
        return JSONResponse({"error": error, "warnings": [asdict(each) for each in warnings]}, 409)

    async def _answer_page(self, owner: str, entry: Entry, filled: FormData, web: WebRequest) -> Response:
        """Take one step of the pages: keep a draft, ask for more time, review the values, or answer."""
        pages = self._pages_for(web)
        step = _confirmed_step(entry, filled, pages)
        state = _read(entry, filled, pages)
        if entry.state != "pending":
            if step == "check":
                return JSONResponse({}, 409)
            raise EntryClosedError(entry.state)
        if step == "check" or (step in ("extend", "cancel") and len(filled) > 1):
            await self._save_draft(owner, entry, filled)
        match step:
            case "check":
                return pages.errors(entry, (await self._check(owner, entry, state)).errors)
            case "extend":
                extended = await self._inbox.extend(owner, entry.id)
                return pages.times(extended) if _wants_json(web) else _see(entry, _view_of(entry, filled))
            case "confirm":
                return _see(entry, "confirm")
            case "open":
                await self._inbox.save_draft(owner, entry.id, {"consented": True})
                return _see(entry, "open")
            case "review" | "accept" if step == "review" or _has_changed(filled, state):
                return await self._review(owner, entry, filled, state, pages)
        validation = await self._inbox.answer(
            owner,
            entry.id,
            "decline" if step == "block" else step,
            state.content if state is not None and step == "accept" else None,
            block_server=step == "block",
            confirmed="confirmed" in filled,
            remember="remember" in filled,
        )
        if not validation:
            return await self._review(owner, entry, filled, state, pages)
        return _see(entry)

    async def _review(
        self, owner: str, entry: Entry, filled: FormData, state: FormState | None, pages: Pages
    ) -> Response:
        """Show the values before they are sent, or what is wrong with them."""
        if state is None:
            return _see(entry)
        await self._save_draft(owner, entry, filled)
        checked = await self._check(owner, entry, state)
        if not is_storable(entry.read(), filled):  # What is hidden while it is typed is not stored.
            if checked:
                return pages.review(entry, filled, state, checked.unchecked)
            return pages.request(entry, filled, checked.errors)
        return _see(entry, "review" if checked else "errors")

    async def _save_draft(self, owner: str, entry: Entry, filled: FormData) -> None:
        request = entry.read()
        if isinstance(request, FormRequest) and request.form.fields:
            values = storable_values(request, filled)
            await self._inbox.save_draft(owner, entry.id, {"values": values, "saved_at": time.time()})

    async def _check(self, owner: str, entry: Entry, state: FormState | None) -> ValidationResult:
        """Return all errors at once, patterns included."""
        if state is None:
            return VALID
        checked = await self._inbox.validate(owner, entry.id, state.content)
        if not state.errors:
            return checked
        others = [error for error in checked.errors if error.field in state.content]
        return validation_result([*state.errors, *others], checked.unchecked)

    async def owner(self, web: WebRequest) -> str:
        """Return the signed-in user."""
        owner = self._authenticate(web)
        if inspect.isawaitable(owner):
            owner = await owner
        if not isinstance(owner, (str, NoneType)):
            _logger.error("`authenticate` must return a string or None, not %s", type(owner).__name__)
        if not isinstance(owner, str) or not owner:
            raise HTTPException(401, "No user is signed in.")
        return owner

    async def refuse(self, web: WebRequest, error: Exception) -> Response:
        """Return the response for *error*: a page, if the client wants one."""
        state: dict[str, str] = {}
        headers: Mapping[str, str] = {}
        match error:
            case HTTPException():
                status, reason, headers = error.status_code, error.detail, error.headers or {}
            case EntryNotFoundError():
                status, reason = 404, str(error)
            case EntryClosedError():
                status, reason, state = 409, str(error), {"state": error.state}
            case _:
                if isinstance(error, InboxError):  # why, is for the operator only
                    _logger.warning("An HTTP request to the inbox failed. %s", error)
                status, reason = 503, "The inbox is temporarily unavailable."
        if wants_page(web):
            response = self._pages_for(web).refusal(status)
        else:
            response = JSONResponse({"error": reason, **state}, status)
        response.headers.update(headers)  # such as `Allow`, or those of `authenticate`
        return response


def _read_body(body: bytes) -> dict[str, Any]:
    """Return the members of a JSON body."""
    try:
        given = from_json(body)
    except ValueError:
        raise HTTPException(400, "The body must be JSON.") from None
    if not isinstance(given, dict) or given.get("action") not in _JSON_ACTIONS:
        raise HTTPException(400, "`action` must be accept, decline, cancel, check or extend.")
    unknown = next((name for name in given if name not in _JSON_MEMBERS), None)
    if unknown is not None:  # A misspelled `content` would otherwise be an answer without values.
        raise HTTPException(400, f"The member {unknown!r} is unknown. Known are {', '.join(_JSON_MEMBERS)}.")
    if not isinstance(given.get("content"), (dict, NoneType)):
        raise HTTPException(400, "`content` must be an object.")
    codes = given.get("confirm_warnings", [])
    if not isinstance(codes, list) or not all(isinstance(code, str) for code in codes):
        raise HTTPException(400, "`confirm_warnings` must be a list of codes.")
    for name in ("block_server", "remember"):
        if not isinstance(given.get(name, False), bool):
            raise HTTPException(400, f"`{name}` must be true or false.")
    return given


def wants_page(web: WebRequest) -> bool:
    """Return True if a client wants a page in place of JSON: it is a browser."""
    return "text/html" in web.headers.get("accept", "")


def _wants_json(web: WebRequest) -> bool:
    return "application/json" in web.headers.get("accept", "")


def _read(entry: Entry, filled: FormData, pages: Pages) -> FormState | None:
    request = entry.read()
    return read_form_data(request, filled, locale=pages.locale) if isinstance(request, FormRequest) else None


def _has_changed(filled: FormData, state: FormState | None) -> bool:
    """Return True if the content has errors, or differs from what the user reviewed."""
    return state is not None and (bool(state.errors) or not is_reviewed(filled, state))


def _confirmed_step(entry: Entry, filled: FormData, pages: Pages) -> PageStep:
    """Return the step of the button; the one before it if there are warnings that the user has not confirmed."""
    step, request = _step(filled), entry.read()
    if step == "open" and not isinstance(request, UrlRequest):
        raise HTTPException(400, "`action` must be one of the actions of the page.")
    if step not in ("accept", "open") or "confirmed" in filled or not pages.must_confirm(entry):
        return step
    return "review" if isinstance(request, FormRequest) and request.form.fields else "confirm"


def _view_of(entry: Entry, filled: FormData) -> PageView:
    """Return the view whose page sent *filled*."""
    if entry.request["mode"] == "url":
        return "open"  # which is the request before the user agreed to open the URL
    return "review" if REVIEWED_NAME in filled else "form"


def _see(entry: Entry, view: PageView = "form") -> Response:
    """Redirect to a view of a request, so that reloading and going back repeat nothing."""
    url = entry.id if view == "form" else f"{entry.id}?view={view}"
    return Response(status_code=303, headers={"Location": url})


def _list_json(page: EntryPage) -> Response:
    for entry in page.entries:
        entry.read()  # An `InboxError` in a computed field would become an error of pydantic.
    return JSONResponse(page.model_dump(mode="json"))


def _cursor(web: WebRequest) -> str | None:
    cursor = web.query_params.get("cursor")
    try:
        parse_cursor(cursor)
    except ValueError as error:
        raise HTTPException(400, str(error)) from None
    return cursor


def _form_data(body: bytes) -> FormData:
    try:
        return parse_qs(body.decode(), keep_blank_values=True, max_num_fields=_MAX_FORM_VALUES, errors="strict")
    except ValueError:
        raise HTTPException(400, "The body must be a form.") from None


def _step(filled: FormData) -> PageStep:
    steps = filled.get("action", ())
    if len(steps) != 1 or steps[0] not in get_args(PageStep):
        raise HTTPException(400, "`action` must be one of the actions of the page.")
    return cast("PageStep", steps[0])
