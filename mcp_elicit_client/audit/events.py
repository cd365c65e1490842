"""`EventEncoder`: writes requests and answers as events in JSON, by default without messages and values."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType
from typing import Any, NamedTuple

from pydantic_core import to_json

from mcp_elicit_client._concurrency import collect_in_turns
from mcp_elicit_client.audit.chain import Keys
from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.form import Form
from mcp_elicit_client.core.schema.writer import write_schema
from mcp_elicit_client.core.secrets.in_answer import searching_steps
from mcp_elicit_client.core.text import is_plain, sanitize_text
from mcp_elicit_client.core.validation.content import drop_nulls, drop_unknown
from mcp_elicit_client.dispatch import secret_fields_async, validate_async
from mcp_elicit_client.typing import Answer, FormRequest, Request, UrlRequest

MAX_DIAGNOSTICS = 32
"""The maximum number of findings in one event.  Further ones are counted."""

MAX_FIELDS_BYTES = 327_680
"""The maximum length of the fields of one event, so that two events fit into what is read at the end of a log."""

LARGEST_NUMBER = 2**63
"""Numbers of at least this magnitude are written as text."""

_MAX_MESSAGE = 16_384
_NAME = 128
_TEXT = 256
_VALUE = 1_024
_SHORT = 4
_WITHHELD = "(withheld: it quotes the answer)"


class AnswerDetails(NamedTuple):
    """
    What is logged of an answer besides the decision.

    Attributes:
        values: The values that are included, by the names of their fields:
            see `loggable_values`.
        unfit: The codes of its errors: see `unfit_codes`.
    """

    values: Mapping[str, Any] = MappingProxyType({})
    unfit: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EventEncoder:
    """
    Encodes events as JSON.

    Attributes:
        keys: The keys, for fingerprints.
        host: The host application's name for its user or session.
        include_messages: Include messages.
    """

    keys: Keys
    host: str | None = None
    include_messages: bool = False

    def request_event(
        self,
        request: Request,
        outcome: Answer | BaseException,
        now: float,
        seconds: float,
        details: AnswerDetails,
    ) -> bytes:
        """
        Encode a request and its answer.

        Args:
            request: The request.
            outcome: The answer, or the exception of the handler.
            now: The time, in seconds since 1970.
            seconds: The duration, in seconds.
            details: What else is logged of the answer.

        Returns:
            A JSON object in ASCII.
        """
        event = {**_header("question", now), "host": _optional(self.host, _TEXT), **_source(request)}
        event["user_id"] = None if request.user is None else self.text_id(request.user)
        event["message_id"] = self.text_id(request.message)
        if self.include_messages:
            event["message"] = sanitize_text(request.message, limit=_MAX_MESSAGE)
        answer = outcome if isinstance(outcome, Answer) else None
        if isinstance(request, FormRequest):
            event |= self._form(request, answer, details.values)
        else:
            event |= self._url(request)
        event["unfit"] = list(details.unfit) or None
        event |= _diagnostics(request.diagnostics if answer is None else request.diagnostics + answer.diagnostics)
        event |= _decision(outcome, details.values) if isinstance(outcome, Answer) else _failure(outcome)
        event["latency"] = round(seconds, 6)
        return _json({name: value for name, value in event.items() if value is not None})

    def recovery_event(self, lost: int, now: float) -> bytes:
        """Encode that *lost* events could not be written before this one."""
        return _json({**_header("recovery", now), "lost": lost})

    def text_id(self, text: str) -> str:
        """Return the fingerprint of a user, a message or a URL."""
        return self.keys.fingerprint(text.encode("utf-8", "surrogatepass"))

    def schema_id(self, form: Form) -> str:
        """Return the fingerprint of a form: of its schema, including all texts."""
        return self.keys.fingerprint(_json(write_schema(form)))

    def _form(self, request: FormRequest, answer: Answer | None, values: Mapping[str, Any]) -> dict[str, Any]:
        form = request.form
        content = answer.content if answer is not None and answer.action == "accept" else None
        fields: list[dict[str, Any]] = [
            {"name": _clean(field.name, _NAME), "kind": field.kind} for field in form.fields
        ]
        details: dict[str, Any] = {"schema_id": self.schema_id(form)}
        if answer is None or content is None:
            return details | _limited(fields)
        for field, about in zip(form.fields, fields, strict=True):
            if field.name in content:
                about["source"] = answer.sources.get(field.name, "unknown")
            if field.name in values:
                about["value"] = values[field.name]
        return details | _limited(fields)

    def _url(self, request: UrlRequest) -> dict[str, Any]:
        target = request.target
        return {
            "url_host": target.host,
            "url_port": target.port,
            "url_id": self.text_id(target.url),
            "elicitation_id": _optional(request.elicitation_id, _NAME),
            "previous_visits": request.previous_visits or None,
            "warnings": [warning.code for warning in target.warnings],
        }


async def unfit_codes(request: Request, answer: Answer) -> list[str]:
    """Return the codes of the errors for which a cancel is sent in place of *answer*."""
    if not isinstance(request, FormRequest) or answer.action != "accept":
        return []
    requested = drop_unknown(request.form, drop_nulls(request.form, answer.content or {}))
    validation = await validate_async(request, requested)
    return sorted({error.code for error in validation.errors})


async def loggable_values(request: Request, answer: Answer) -> dict[str, Any]:
    """Return the values of *answer* without sensitive data.  Other tasks get their turns while it is searched for."""
    if not isinstance(request, FormRequest) or answer.action != "accept" or not answer.content:
        return {}
    values = {name: _value(value) for name, value in answer.content.items()}
    found = (*await secret_fields_async(request), *await collect_in_turns(searching_steps(values)))
    hidden = {finding.field for finding in found} | {field.name for field in request.form.fields if field.sensitive}
    return {name: value for name, value in values.items() if name not in hidden}


def _decision(answer: Answer, values: Mapping[str, Any]) -> dict[str, Any]:
    reason = answer.reason
    if reason and answer.content:
        withheld = [value for name, value in answer.content.items() if name not in values]
        reason = _WITHHELD if _quotes(reason, withheld) else reason
    return {
        "outcome": "answered",
        "action": answer.action,
        "by": answer.by,
        "policy": _clean(answer.policy, _NAME) or None,
        "reason": _clean(reason, _TEXT) or None,
        "confirmed": answer.confirmed or None,
        "block_server": answer.block_server or None,
        "remember": answer.remember or None,
    }


def _limited(fields: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the first *fields*, without values that are too long, and the number of further ones."""
    left = MAX_FIELDS_BYTES
    for index, field in enumerate(fields):
        if len(_json(field)) > left:
            field.pop("value", None)
        left -= len(_json(field)) + 1
        if left < 0:
            return {"fields": fields[:index], "more_fields": len(fields) - index}
    return {"fields": fields}


def _json(value: object) -> bytes:
    return to_json(value, ensure_ascii=True)


def _header(event: str, now: float) -> dict[str, Any]:
    time = datetime.fromtimestamp(now, timezone.utc).isoformat(timespec="microseconds")
    return {"event": event, "time": f"{time[:-6]}Z", "version": _version()}


@cache
def _version() -> str:
    try:
        return version("mcp-elicit-client")
    except PackageNotFoundError:
        return "unknown"


def _source(request: Request) -> dict[str, Any]:
    server = request.server
    return {
        "server": _clean(server.name, _TEXT),
        "claimed_name": _optional(server.claimed_name, _TEXT),
        "claimed_origin": [_clean(name, _TEXT) for name in request.claimed_origin] or None,
        "transport": _optional(server.transport, _NAME),
        "origin": _optional(server.origin, _TEXT),
        "protocol_version": _optional(request.protocol_version, _NAME),
        "mode": request.mode,
        "tool": _optional(request.tool, _NAME),
        "request_id": _id(request.request_id),
        "batch_position": None
        if request.batch_position is None
        else f"{request.batch_position.number}/{request.batch_position.total}",
    }


def _diagnostics(diagnostics: Sequence[Diagnostic]) -> dict[str, Any]:
    if not diagnostics:
        return {}
    found = list(dict.fromkeys((each.code, _optional(each.field, _NAME)) for each in diagnostics))
    return {
        "diagnostics": [
            {"code": code, "field": field} if field is not None else {"code": code}
            for code, field in found[:MAX_DIAGNOSTICS]
        ],
        "more_diagnostics": len(found) - MAX_DIAGNOSTICS if len(found) > MAX_DIAGNOSTICS else None,
    }


def _failure(error: BaseException) -> dict[str, Any]:
    """Return the class of an error.  Its text may quote values."""
    if isinstance(error, Exception):
        return {"outcome": "raised", "action": "cancel", "by": "error", "error": _clean(type(error).__name__, _NAME)}
    return {"outcome": "withdrawn"}


def _quotes(reason: str, values: Iterable[Any]) -> bool:
    """Return True if *reason* contains a value: a short one as a word, a longer one anywhere."""
    quoted = _normalized(reason)
    for value in values:
        for each in value if isinstance(value, (list, tuple)) else (value,):
            text = "" if each is None or isinstance(each, bool) else _normalized(each)
            if len(text) >= _SHORT:
                if text in quoted:
                    return True
            elif text and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", quoted):
                return True
    return False


def _normalized(value: str | float) -> str:
    """Return *value* as text, without differences of case and spacing."""
    text = value if isinstance(value, str) else str(_value(value))
    return " ".join(sanitize_text(text, limit=None, multiline=False).casefold().split())


def _value(value: Any) -> Any:
    match value:
        case str():
            return sanitize_text(value, limit=_VALUE)
        case list() | tuple():
            return [_value(each) for each in value]
        case float() if not math.isfinite(value):
            return str(value)
        case int():
            return _number(value)
        case _:
            return value


def _id(value: str | int | None) -> str | int | None:
    return _number(value) if isinstance(value, int) else _optional(value, _NAME)


def _number(value: int) -> int | str:
    # Python refuses to write very long numbers in decimal digits.
    return value if abs(value) < LARGEST_NUMBER else _clean(hex(value), _NAME)


def _optional(text: str | None, limit: int) -> str | None:
    return None if text is None else _clean(text, limit)


def _clean(text: str, limit: int) -> str:
    return text if len(text) <= limit and is_plain(text) else sanitize_text(text, limit=limit, multiline=False)
