"""The pages for browsers."""

from __future__ import annotations

import contextlib
import functools
import marshal
import math
import os
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from importlib.util import cache_from_source
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from jinja2 import BytecodeCache, Environment, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket, bc_magic
from starlette.responses import HTMLResponse, JSONResponse, Response

from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.form import Field
from mcp_elicit_client.core.url.inspect import TargetUrl
from mcp_elicit_client.core.validation.field_errors import FieldError
from mcp_elicit_client.inbox.records import Entry, EntryPage, notice_of
from mcp_elicit_client.inbox.web.controls import REVIEWED_NAME, ZONE_NAME, FormData, digest, make_controls
from mcp_elicit_client.inbox.web.security_middleware import MAX_BODY_BYTES
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.descriptions import (
    Detail,
    answer_note,
    capitalize,
    format_value,
    origin_details,
    request_details,
    server_name,
    title_line,
)
from mcp_elicit_client.presentation.form_input import OMITTED, FormState, is_suggested
from mcp_elicit_client.presentation.formatting import moment_text
from mcp_elicit_client.presentation.notices import NoticeText, describe_notice
from mcp_elicit_client.presentation.remembering import describe_remembered, remember_label
from mcp_elicit_client.presentation.warnings import answer_warnings, must_confirm, request_warnings, warning_line
from mcp_elicit_client.typing import FormRequest, Request, Source, UrlRequest

if TYPE_CHECKING:
    from mcp_elicit_client.policies import RememberedAnswer

_REFUSALS = {
    401: (messages.NOT_SIGNED_IN, messages.SIGN_IN),
    404: (messages.NOT_FOUND, messages.MAY_HAVE_EXPIRED),
    413: (messages.TOO_LONG, messages.SHORTEN),
    503: (messages.UNAVAILABLE, messages.TRY_AGAIN),
}


_NOTICE_TIME = timedelta(minutes=10)
_MAX_NOTICES = 3


class _Row(NamedTuple):
    """A row of a list: a request, who sent it, what it asks for, what was decided, and the origin that is reported."""

    entry: Entry
    request: Request
    server: str
    kind: str
    outcome: str
    origin: Sequence[Detail]


class _AnswerRow(NamedTuple):
    """A row of the review: a value, a note about it, and the CSS class of values that the user did not enter."""

    label: str
    value: str
    note: str
    look: str


def _is_answered_by_owner(entry: Entry) -> bool:
    return entry.state == "answered" and entry.answered_by == entry.owner


def _answer_row(field: Field, state: FormState, catalog: MessageCatalog) -> _AnswerRow:
    value = state.content.get(field.name, OMITTED)
    source: Source | None = "default" if is_suggested(field, value) else state.sources.get(field.name)
    shown = format_value(field, value, catalog, limit=None, multiline=True)  # as long as a body may be
    look = "is-omitted" if value is OMITTED else "is-suggested" if source == "default" else ""
    note = answer_note(field, shown, value, source, catalog)
    if isinstance(value, bool):
        shown = capitalize(shown)  # as the label of its option
    return _AnswerRow(field.title, shown, note, look)


class Pages:
    """
    Writes pages.  All text of a server is escaped.

    Args:
        catalog: The texts.
        single_request: As in `inbox_app`.
        lists_remembered: There is a page with the remembered answers.
    """

    def __init__(
        self, catalog: MessageCatalog, *, single_request: bool = False, lists_remembered: bool = False
    ) -> None:
        self._catalog = catalog
        self._lists_remembered = lists_remembered
        self._notices: list[NoticeText] = []
        self.is_single_request = single_request
        self._templates = environment(catalog, single_request=single_request)

    @property
    def locale(self) -> str | None:
        """The locale in which the user reads and writes numbers and dates."""
        return self._catalog.locale

    def add_notices(self, closed: Sequence[Entry]) -> None:
        """Show on the next page which of the latest closed requests a policy has just declined."""
        oldest = _now() - _NOTICE_TIME
        recent = (notice_of(entry) for entry in closed if entry.updated_at >= oldest)
        notices = [describe_notice(notice, self._catalog) for notice in recent if notice is not None]
        self._notices = notices[:_MAX_NOTICES]

    def pending(self, page: EntryPage, *, is_first: bool) -> Response:
        """Return a page of the list of pending requests; *is_first*: the first one."""
        rows = [self._row(entry) for entry in page.entries]
        return self._write(
            "pending.html", page=page, is_first=is_first, rows=rows, lists_remembered=self._lists_remembered
        )

    def remembered(self, answers: Sequence[RememberedAnswer]) -> Response:
        """Return the page with the remembered answers of the user, each with a button that forgets it."""
        return self._write("remembered.html", answers=[describe_remembered(each, self._catalog) for each in answers])

    def history(self, page: EntryPage) -> Response:
        """Return a page of the list of closed requests."""
        return self._write("history.html", page=page, rows=[self._row(entry) for entry in page.entries])

    def _row(self, entry: Entry) -> _Row:
        request = entry.read()
        server, origin = server_name(request.server), origin_details(request, self._catalog)
        return _Row(entry, request, server, self._kind(request), self._outcome(entry, request), origin)

    def _kind(self, request: Request) -> str:
        """Return what a request asks for, in words."""
        if isinstance(request, UrlRequest):
            return self._catalog.text(messages.URL_CHOICES["open"], domain=request.target.registrable_domain)
        if not request.form.fields:
            return self._catalog.text(messages.CONFIRMATION)
        return self._catalog.text(messages.ANSWERS, count=len(request.form.fields))

    def _outcome(self, entry: Entry, request: Request) -> str:
        """Return what was decided, in words."""
        if entry.state == "pending":
            return ""
        if (notice := notice_of(entry)) is not None:
            shown = describe_notice(notice, self._catalog)
            return f"{shown.title} {shown.reason}"
        if entry.action is not None and entry.answered_by == entry.owner:
            return self._catalog.text(messages.DECISIONS[entry.action])
        if entry.action is not None:
            return self._catalog.text(messages.OUTCOMES[entry.action])
        return self._catalog.text(messages.CLOSED_BECAUSE[entry.state], server=server_name(request.server))

    def request(
        self,
        entry: Entry,
        filled: FormData | None = None,
        errors: Sequence[FieldError] | None = None,
        *,
        saved_at: float | None = None,
    ) -> Response:
        """
        Return the page of one request.

        Args:
            entry: The request, which is pending.
            filled: The values that were entered before; None for the default
                values.
            errors: The errors in these values.
            saved_at: When these values were kept as a draft, in seconds since
                1970.
        """
        request = entry.read()
        if isinstance(request, UrlRequest):
            from mcp_elicit_client.presentation.url_prompts import consent_prompt  # slow, and only for URLs

            return self._write(
                "url.html",
                entry=entry,
                request=request,
                prompt=consent_prompt(request),
                must_confirm=self.must_confirm(entry),
            )
        controls = make_controls(request.form, self._catalog, filled, errors or ())
        names = request.form.by_name
        others = [self._catalog.error(error) for error in errors or () if error.field not in names]
        return self._write(
            "form.html",
            entry=entry,
            request=request,
            controls=controls,
            must_confirm=self.must_confirm(entry),
            others=others,
            errors=errors or (),
            saved_at=None if saved_at is None else datetime.fromtimestamp(saved_at, timezone.utc),
        )

    def review(
        self, entry: Entry, filled: FormData, state: FormState, unchecked: Sequence[Diagnostic] = ()
    ) -> Response:
        """Return the page that shows the values before they are sent, with a note if patterns are *unchecked*."""
        request = entry.read()
        assert isinstance(request, FormRequest)
        form, catalog = request.form, self._catalog
        rows = [_answer_row(field, state, catalog) for field in form.fields]
        names = {ZONE_NAME, *(name for control in make_controls(form, catalog, filled) for name in control.names)}
        sent = [(name, value) for name, values in filled.items() if name in names for value in values]
        found = answer_warnings(form, state.content, state.sources, catalog, unchecked)
        warnings = (*(each for each in request_warnings(request, catalog) if not each.is_note), *found)
        return self._write(
            "review.html",
            entry=entry,
            request=request,
            rows=rows,
            sent=[*sent, (REVIEWED_NAME, digest(state))],
            warnings=warnings,
            must_confirm=must_confirm(warnings),
        )

    def must_confirm(self, entry: Entry) -> bool:
        """Return True if there is a warning about a request, so that accepting it takes two steps."""
        return must_confirm(request_warnings(entry.read(), self._catalog))

    def confirm(self, entry: Entry) -> Response:
        """Return the second step of accepting a request with warnings that has nothing to fill in."""
        request = entry.read()
        return self._write("confirm.html", entry=entry, request=request, is_url=isinstance(request, UrlRequest))

    def opened(self, entry: Entry) -> Response:
        """Return the page with the link that the user agreed to open, where the answer is sent afterwards."""
        return self._write("opened.html", entry=entry, request=entry.read(), must_confirm=self.must_confirm(entry))

    def closed(self, entry: Entry) -> Response:
        """Return the page of a closed request.  If its user answered it, the page says what was decided."""
        request = entry.read()
        if _is_answered_by_owner(entry):
            link = request if isinstance(request, UrlRequest) and entry.action == "accept" else None
            return self._write("answered.html", entry=entry, request=request, link=link)
        return self._write("closed.html", entry=entry, request=request, notes=())

    def late(self, entry: Entry, tried: str) -> Response:
        """
        Return the page of a closed request whose user has just tried to answer it.

        Args:
            entry: The request.
            tried: The action.  The same one as before is an answer that was
                sent twice, by a double click or after an error.
        """
        notes = [messages.NOT_SENT]
        if _is_answered_by_owner(entry) and entry.action is not None:
            decided = messages.DECISIONS[entry.action]
            notes = [decided] if tried == entry.action else [decided, messages.NOT_SENT]
        return self._write("closed.html", 409, entry=entry, request=entry.read(), notes=notes)

    def refusal(self, status: int) -> Response:
        """Return the page of an HTTP error."""
        title, advice = _REFUSALS.get(status, (messages.WENT_WRONG, messages.GO_BACK))
        return self._write("refusal.html", status, status=status, title=title, advice=advice)

    def signed_out(self, entry_id: str, step: Literal["review", "accept"], kept: Sequence[tuple[str, str]]) -> Response:
        """Return the page of a user who has to sign in before the form with the values *kept* is sent again."""
        label = messages.REVIEW if step == "review" else messages.SEND
        return self._write("signed_out.html", 401, entry_id=entry_id, step=step, kept=kept, label=label)

    def errors(self, entry: Entry, errors: Sequence[FieldError]) -> Response:
        """Return the sentences about what is wrong so far by control, for the script of the page."""
        request = entry.read()
        controls = make_controls(request.form, self._catalog, {}, errors) if isinstance(request, FormRequest) else ()
        return JSONResponse({control.id: list(control.errors) for control in controls})

    def times(self, entry: Entry) -> Response:
        """Return when a request expires, for the script of the page."""
        return JSONResponse({"expires_at": entry.expires_at.isoformat(), "can_extend": _can_extend(entry)})

    def _write(self, template: str, status_code: int = 200, **values: Any) -> Response:
        return HTMLResponse(self._templates.get_template(template).render(values, notices=self._notices), status_code)


def _now() -> datetime:
    return datetime.now(timezone.utc)


def _seconds_left(entry: Entry) -> int:
    return max(0, math.ceil((entry.expires_at - _now()).total_seconds()))


def _can_extend(entry: Entry) -> bool:
    return entry.max_expires_at > entry.expires_at


class _Heading(NamedTuple):
    """The heading of a request, split at the domain that it names."""

    before: str
    domain: str
    after: str


def _heading(catalog: MessageCatalog, request: Request) -> _Heading:
    title = title_line(request, catalog)
    if isinstance(request, FormRequest):
        return _Heading(title, "", "")
    return _split_at(title, request.target.registrable_domain)


def _split_at(text: str, domain: str) -> _Heading:
    """Split a sentence of the host at the domain that it names."""
    return _Heading(*text.rpartition(domain))


_SIZES = (20, 24, 30, 37, 45)


def _size(domain: str) -> str:
    """Return the CSS class with which *domain* fits on one line of a narrow screen; on several, if it is very long."""
    return next((f"chars-{size}" for size in _SIZES if len(domain) <= size), "chars-more")


class _ShortUrl(NamedTuple):
    """A URL split at its registrable domain, without the middle of what is long."""

    before: str
    domain: str
    after: str
    is_whole: bool


def _short_url(target: TargetUrl) -> _ShortUrl:
    before, domain, after = target.split_at_domain
    is_whole = len(before) <= _MAX_BEFORE and len(after) <= _MAX_AFTER
    if len(before) > _MAX_BEFORE:
        before = f"{before[: _MAX_BEFORE // 2]}\N{HORIZONTAL ELLIPSIS}{before[-_MAX_BEFORE // 2 :]}"
    if len(after) > _MAX_AFTER:
        after = f"{after[:_MAX_AFTER]}\N{HORIZONTAL ELLIPSIS}"
    return _ShortUrl(before, domain, after, is_whole)


_MAX_BEFORE = 40
_MAX_AFTER = 60

_FOLDER = Path(__file__).parent / "templates"

# Compiled templates depend on the options of the environment.  Increase the number with each change of them.
_KIND = "escaped-5"


class _TemplateCache(BytecodeCache):
    """Keeps compiled templates where Python keeps compiled modules, under the same conditions."""

    def load_bytecode(self, bucket: Bucket) -> None:
        # Jinja's own format is read with `marshal.load`, which takes nine times as long as `marshal.loads`.
        with contextlib.suppress(Exception):  # missing or damaged in any way: it is compiled again
            magic, checksum, code = marshal.loads(self._path(bucket).read_bytes())  # noqa: S302 -- as `.pyc` files
            if (magic, checksum) == (bc_magic, bucket.checksum):
                bucket.code = code

    def dump_bytecode(self, bucket: Bucket) -> None:
        if sys.dont_write_bytecode:
            return
        path = self._path(bucket)
        whole = path.with_suffix(f".{os.getpid()}")
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            whole.write_bytes(marshal.dumps((bc_magic, bucket.checksum, bucket.code)))
            whole.replace(path)

    @staticmethod
    def _path(bucket: Bucket) -> Path:
        name = str(_FOLDER / f"{_KIND}-{bucket.key}.py")
        return Path(cache_from_source(name) if sys.implementation.cache_tag else f"{name}c")


@functools.lru_cache(maxsize=32)
def environment(catalog: MessageCatalog, *, single_request: bool) -> Environment:
    """
    Return the environment of the templates, which escapes all values.

    Args:
        catalog: The texts.
        single_request: As in `Pages`.
    """
    templates = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        bytecode_cache=_TemplateCache(),
    )
    templates.globals |= {
        "single_request": single_request,
        "language": catalog.language,
        "messages": messages,
        "title_of": functools.partial(title_line, catalog=catalog),
        "heading_of": functools.partial(_heading, catalog),
        "split_at": _split_at,
        "size_of": _size,
        "short_url": _short_url,
        "can_extend": _can_extend,
        "moment_text": functools.partial(moment_text, time_zone=None),
        "details_of": functools.partial(request_details, catalog=catalog),
        "warnings_of": functools.partial(request_warnings, catalog=catalog),
        "warning_line": functools.partial(warning_line, catalog=catalog),
        "server_of": server_name,
        "remember_label": functools.partial(remember_label, catalog=catalog),
        "max_body_bytes": MAX_BODY_BYTES,
        "seconds_left": _seconds_left,
        "now": _now,
    }
    templates.filters["text"] = catalog.text
    templates.globals["parts"] = templates.get_template("parts.html").module
    return templates
