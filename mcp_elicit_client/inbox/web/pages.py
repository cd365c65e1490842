"""The pages for people."""

from __future__ import annotations

import contextlib
import functools
import math
import os
import sys
from datetime import datetime, timezone
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

from jinja2 import BytecodeCache, Environment, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket
from starlette.responses import HTMLResponse, JSONResponse, Response

from mcp_elicit_client.core.validation.content import ValidationResult
from mcp_elicit_client.inbox.entries import Entry, EntryPage
from mcp_elicit_client.inbox.web.controls import controls_of
from mcp_elicit_client.inbox.web.form_data import FormData, content_of
from mcp_elicit_client.typing import FormRequest, UrlRequest

ENDINGS = {
    "answered": "It has been answered.",
    "withdrawn": "Whoever asked no longer wants an answer.",
    "expired": "Its time is over.",
    "orphaned": "The program that asked is gone.",
}
"""What became of a question, in words."""

_REFUSALS = {
    401: ("You are not signed in", "Sign in, and open this page again."),
    404: ("There is no such question", "It may be too old, or it is not for you."),
    409: ("This question is closed", "Nothing was sent."),
    503: ("The questions cannot be reached", "Try again in a minute."),
}
_SOMETHING = ("That did not work", "Go back and try again.")


class Pages:
    """
    Writes pages; whatever comes from a server is escaped.

    Args:
        single_request: Whether each question is on a page by itself, and closing it is
            an answer.
    """

    def __init__(self, *, single_request: bool = False) -> None:
        self._templates = environment(single_request=single_request)

    def waiting(self, page: EntryPage, *, is_later: bool) -> Response:
        """The questions that wait; *is_later*: not the first of them."""
        return self._write(
            "waiting.html", page=page, is_later=is_later, requests=[entry.read() for entry in page.entries]
        )

    def history(self, page: EntryPage) -> Response:
        """Those that no longer wait."""
        return self._write("history.html", page=page, requests=[entry.read() for entry in page.entries])

    def question(self, entry: Entry) -> Response:
        """One question: to be answered, or what became of it."""
        if entry.state != "pending":
            return self._write("closed.html", entry=entry, ending=ENDINGS[entry.state])
        request = entry.read()
        if isinstance(request, UrlRequest):
            return self._write("url.html", entry=entry, request=request)
        return self._form(entry, request, None, ValidationResult(valid=True))

    def step(self, entry: Entry, step: str, filled: FormData, validation: ValidationResult) -> Response:
        """The page after a step: the review, the form again, or the link that was agreed to."""
        request = entry.read()
        if isinstance(request, UrlRequest):
            template = "visit.html" if step == "open" else "url.html"
            return self._write(template, entry=entry, request=request)
        if step != "review" or not validation:
            return self._form(entry, request, filled, validation)
        controls = controls_of(request.form, filled)
        content = content_of(request.form, filled)
        names = [field.name for field in request.form.fields]
        rows = [(control, name in content) for control, name in zip(controls, names, strict=True)]
        asked = {name for control in controls for name in control.names}
        sent = [(name, value) for name, values in filled.items() if name in asked for value in values]
        from mcp_elicit_client.core.secrets.in_answer import typed_secrets

        secrets = typed_secrets(request.form, content, dict.fromkeys(content, "user"))
        warnings = list(dict.fromkeys(finding.message for finding in secrets))
        return self._write("review.html", entry=entry, request=request, rows=rows, sent=sent, warnings=warnings)

    def answered(self, entry: Entry) -> Response:
        """What was just answered."""
        request = entry.read()
        link = request if isinstance(request, UrlRequest) and entry.action == "accept" else None
        return self._write("answered.html", entry=entry, link=link)

    def refusal(self, status: int, state: str | None) -> Response:
        """Why there is nothing to see."""
        title, advice = _REFUSALS.get(status, _SOMETHING)
        return self._write("refusal.html", status, title=title, advice=advice, ending=ENDINGS.get(state or "", ""))

    @staticmethod
    def checked(entry: Entry, validation: ValidationResult) -> Response:
        """What is wrong so far, for the page's script: sentences by control."""
        request = entry.read()
        controls = controls_of(request.form, {}, validation.errors) if isinstance(request, FormRequest) else ()
        return JSONResponse({control.id: list(control.errors) for control in controls})

    def _form(
        self, entry: Entry, request: FormRequest, filled: FormData | None, validation: ValidationResult
    ) -> Response:
        controls = controls_of(request.form, filled, validation.errors)
        known = request.form.by_name
        others = [error.message for error in validation.errors if error.field not in known]
        return self._write(
            "form.html", 200 if validation else 422, entry=entry, request=request, controls=controls, others=others
        )

    def _write(self, template: str, status: int = 200, **values: Any) -> Response:
        page = self._templates.get_template(template)
        return HTMLResponse(page.render(values, seconds_left=_seconds_left), status)


def _seconds_left(entry: Entry) -> int:
    return max(0, math.ceil((entry.expires_at - datetime.now(timezone.utc)).total_seconds()))


_FOLDER = Path(__file__).parent / "templates"

# What is compiled is bound to these: who changes the options changes the name.
_KIND = "escaped-1"


class _BesideTheSource(BytecodeCache):
    """Keeps compiled templates where Python keeps compiled modules, on the same terms."""

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            with self._path(bucket).open("rb") as file:
                bucket.load_bytecode(file)
        except Exception:  # noqa: BLE001 -- not there, or damaged in whichever way: it is compiled again
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


@functools.cache
def environment(*, single_request: bool) -> Environment:
    """
    Return what renders the templates; everything in them is escaped.

    Args:
        single_request: As in `Pages`.
    """
    found = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        bytecode_cache=_BesideTheSource(),
    )
    found.globals["alone"] = single_request
    return found
