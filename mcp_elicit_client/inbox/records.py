"""Between what a store holds and what people see."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, cast

from mcp_elicit_client.core.answer import Action, Answer
from mcp_elicit_client.exceptions import InboxError
from mcp_elicit_client.inbox.encryption import Cipher
from mcp_elicit_client.inbox.entries import Entry, EntryPage, read_request, write_request
from mcp_elicit_client.inbox.stores.protocol import Record, Resolution, StoredCall
from mcp_elicit_client.typing import Request

_ID = 24
_DIGITS = 19
_LONGEST = 64


class RecordCodec:
    """Writes records, and reads them; whatever it cannot read is an `InboxError`."""

    def __init__(self, sealer: Cipher) -> None:
        self._sealer = sealer

    def new_id(self) -> str:
        """Return an id that nobody can guess."""
        return secrets.token_urlsafe(_ID)

    def record(self, owner: str, request: Request, now: float, lifetime: float, call: str = "") -> Record:
        """
        Write a new question down, under an id that nobody can guess.

        Args:
            owner: Whose it is.
            request: The question.
            now: The time, in seconds since 1970.
            lifetime: How long it can be answered if it does not say itself, in seconds.
            call: The parked call that it belongs to.

        Raises:
            ValueError: If the request cannot be written as JSON.
        """
        expires = now + lifetime if request.deadline is None else request.deadline.timestamp()
        entry_id = self.new_id()
        sealed = self._sealer.encrypt(write_request(request), _place(entry_id, owner))
        return Record(entry_id, owner, sealed, created_at=now, expires_at=expires, call=call)

    def read(self, record: Record) -> Request:
        """Return the request that was asked."""
        try:
            return read_request(self._open(record))
        except ValueError:
            raise InboxError("the inbox holds what is no request") from None

    def entry(self, record: Record) -> Entry:
        """Return what may be seen of a question."""
        settlement = record.resolution
        try:
            return Entry(
                id=record.id,
                owner=record.owner,
                request=json.loads(self._open(record)),
                state="pending" if settlement is None else settlement.state,
                answered_by="" if settlement is None else settlement.answered_by,
                updated_at=_time(record.created_at if settlement is None else settlement.updated_at),
                created_at=_time(record.created_at),
                expires_at=_time(record.expires_at),
                call=record.call or None,
                action=cast("Action | None", (settlement and settlement.action) or None),  # pydantic checks it
            )
        except ValueError:
            raise InboxError("the inbox holds what is no question") from None

    def page(self, records: Sequence[Record], limit: int, cursors: Sequence[int]) -> EntryPage:
        """Return the first *limit* of *records*, and where the next page begins if there are more."""
        after = str(cursors[limit - 1]) if len(records) > limit > 0 else None
        return EntryPage(entries=tuple(map(self.entry, records[:limit])), next_cursor=after)

    def seal_answer(self, entry_id: str, reply: Mapping[str, Any]) -> str:
        """Write down what a person answered, beside the action."""
        return self._sealer.encrypt(json.dumps(reply), f"answer {entry_id}")

    def answer_of(self, record: Record, settlement: Resolution) -> Answer:
        """Return the answer to a question that was settled."""
        match settlement.state:
            case "answered" if settlement.answer is not None:
                try:
                    reply = json.loads(self._sealer.decrypt(settlement.answer, f"answer {record.id}"))
                    sources = dict.fromkeys(reply["content"] or {}, "user")
                    reason = f"answered by {settlement.answered_by}"
                    return Answer.model_validate(
                        {"action": settlement.action, "by": "user", "reason": reason, "sources": sources, **reply}
                    )
                except (ValueError, TypeError, LookupError):
                    raise InboxError("the inbox holds what is no answer") from None
            case "withdrawn":
                return Answer.cancel(by="host", reason="the question was withdrawn")
            case "expired":
                return Answer.cancel(by="timeout", reason="nobody answered in time")
            case _:
                return Answer.cancel(by="error", reason="the answer did not arrive")

    def seal_call(self, owner: str, call_id: str, body: str) -> str:
        """Write down what is needed to resume a parked call."""
        return self._sealer.encrypt(body, f"call {call_id} {owner}")

    def open_call(self, call: StoredCall) -> str:
        """Return what was written down of a parked call."""
        return self._sealer.decrypt(call.body, f"call {call.id} {call.owner}")

    def _open(self, record: Record) -> str:
        return self._sealer.decrypt(record.request, _place(record.id, record.owner))


def is_id(text: str) -> bool:
    """Tell whether *text* may be an id: any store can look for it."""
    return text.isascii() and len(text) <= _LONGEST


def parse_cursor(text: str | None) -> int | None:
    """
    Read a `Page.after`.

    Raises:
        ValueError: If no page had it.
    """
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < _DIGITS):
        raise ValueError("that is no place in a list")
    return int(text)


def _place(entry_id: str, owner: str) -> str:
    return f"request {entry_id} {owner}"


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, timezone.utc)
