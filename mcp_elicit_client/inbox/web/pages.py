"""The pages for browsers."""

from __future__ import annotations

import contextlib
import functools
import math
import os
import sys
from collections.abc import Sequence
from datetime import datetime, timezone
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

from jinja2 import BytecodeCache, Environment, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket
from starlette.responses import HTMLResponse, JSONResponse, Response

from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.validation.field_errors import FieldError
from mcp_elicit_client.inbox.records import Entry, EntryPage
from mcp_elicit_client.inbox.web.controls import FormData, make_controls, read_form_data
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.descriptions import (
    format_value,
    request_details,
    server_name,
    title_line,
)
from mcp_elicit_client.presentation.form_input import OMITTED
from mcp_elicit_client.presentation.url_prompts import consent_prompt
from mcp_elicit_client.presentation.warnings import answer_warnings, must_confirm, request_warnings, warning_line
from mcp_elicit_client.typing import FormRequest, UrlRequest

_REFUSALS = {
    401: (messages.NOT_SIGNED_IN, messages.SIGN_IN),
    404: (messages.NOT_FOUND, messages.MAY_HAVE_EXPIRED),
    503: (messages.UNAVAILABLE, messages.TRY_AGAIN),
}


class Pages:
    """
    Writes pages.  All text of a server is escaped.

    Args:
        catalog: The texts.
        single_request: As in `inbox_app`.
    """

    def __init__(self, catalog: MessageCatalog, *, single_request: bool = False) -> None:
        self._catalog = catalog
        self._templates = environment(catalog, single_request=single_request)

    def pending(self, page: EntryPage, *, is_first: bool) -> Response:
        """Return a page of the list of pending requests."""
        requests = [entry.read() for entry in page.entries]
        return self._write("pending.html", page=page, is_first=is_first, requests=requests)

    def history(self, page: EntryPage) -> Response:
        """Return a page of the list of closed requests."""
        return self._write("history.html", page=page, requests=[entry.read() for entry in page.entries])

    def request(
        self, entry: Entry, filled: FormData | None = None, errors: Sequence[FieldError] | None = None
    ) -> Response:
        """
        Return the page of one request.

        Args:
            entry: The request.
            filled: The values that were sent before; None for the default
                values.
            errors: The errors in these values.
        """
        if entry.state != "pending":
            return self.closed(entry)
        request = entry.read()
        if isinstance(request, UrlRequest):
            return self._write("url.html", entry=entry, request=request, prompt=consent_prompt(request))
        controls = make_controls(request.form, self._catalog, filled, errors or ())
        names = request.form.by_name
        others = [self._catalog.error(error) for error in errors or () if error.field not in names]
        status = 422 if errors else 200
        return self._write(
            "form.html", status, entry=entry, request=request, controls=controls, others=others, errors=errors or ()
        )

    def review(self, entry: Entry, filled: FormData, unchecked: Sequence[Diagnostic] = ()) -> Response:
        """Return the page that shows the values before they are sent, with a note if patterns are *unchecked*."""
        request = entry.read()
        if not isinstance(request, FormRequest):
            return self.request(entry)
        form, catalog = request.form, self._catalog
        state = read_form_data(request, filled)
        rows = [
            (field.title, format_value(field, state.content.get(field.name, OMITTED), catalog)) for field in form.fields
        ]
        names = {name for control in make_controls(form, catalog, filled) for name in control.names}
        sent = [(name, value) for name, values in filled.items() if name in names for value in values]
        warnings = answer_warnings(form, state.content, state.sources, catalog, unchecked)
        return self._write(
            "review.html",
            entry=entry,
            request=request,
            rows=rows,
            sent=sent,
            warnings=warnings,
            must_confirm=must_confirm(warnings),
        )

    def opened(self, entry: Entry) -> Response:
        """Return the page with the link that the user agreed to open, where the answer is sent afterwards."""
        return self._write("opened.html", entry=entry, request=entry.read())

    def answered(self, entry: Entry) -> Response:
        """Return the page after an answer."""
        request = entry.read()
        link = request if isinstance(request, UrlRequest) and entry.action == "accept" else None
        return self._write("answered.html", entry=entry, link=link)

    def closed(self, entry: Entry, *, is_late: bool = False) -> Response:
        """Return the page of a closed request, which *is_late* if the user has just tried to answer it."""
        status = 409 if is_late else 200
        return self._write("closed.html", status, entry=entry, request=entry.read(), is_late=is_late)

    def refusal(self, status: int) -> Response:
        """Return the page of an HTTP error."""
        title, advice = _REFUSALS.get(status, (messages.WENT_WRONG, messages.GO_BACK))
        return self._write("refusal.html", status, title=title, advice=advice)

    def errors(self, entry: Entry, errors: Sequence[FieldError]) -> Response:
        """Return the sentences about what is wrong so far by control, for the script of the page."""
        request = entry.read()
        controls = make_controls(request.form, self._catalog, {}, errors) if isinstance(request, FormRequest) else ()
        return JSONResponse({control.id: list(control.errors) for control in controls})

    def _write(self, template: str, status: int = 200, **values: Any) -> Response:
        return HTMLResponse(self._templates.get_template(template).render(values), status)


def _seconds_left(entry: Entry) -> int:
    return max(0, math.ceil((entry.expires_at - datetime.now(timezone.utc)).total_seconds()))


_FOLDER = Path(__file__).parent / "templates"

# Compiled templates depend on the options of the environment.  Increase the number with each change of them.
_KIND = "escaped-2"


class _TemplateCache(BytecodeCache):
    """Keeps compiled templates where Python keeps compiled modules, under the same conditions."""

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            with self._path(bucket).open("rb") as file:
                bucket.load_bytecode(file)
        except Exception:  # noqa: BLE001 -- missing or damaged in any way: it is compiled again
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        if sys.dont_write_bytecode:
            return
        path = self._path(bucket)
        whole = path.with_suffix(f".{os.getpid()}")
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole.open("wb") as file:
                bucket.write_bytecode(file)
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
        "text": catalog.text,
        "title_of": functools.partial(title_line, catalog=catalog),
        "details_of": functools.partial(request_details, catalog=catalog),
        "warnings_of": functools.partial(request_warnings, catalog=catalog),
        "warning_line": functools.partial(warning_line, catalog=catalog),
        "server_of": server_name,
        "seconds_left": _seconds_left,
    }
    return templates
