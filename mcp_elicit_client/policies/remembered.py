"""`RememberedAnswers`: the same answer to the same request for some time, if the user chose that."""

from __future__ import annotations

import hashlib
import secrets
import sys
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeVar

from mcp_elicit_client._arguments import YEAR, check_int, check_seconds, check_sync
from mcp_elicit_client._concurrency import collect_in_turns
from mcp_elicit_client.core.diagnostics import has_warning
from mcp_elicit_client.core.form import form_digest
from mcp_elicit_client.core.request import is_safe_to_remember, user_and_server_of
from mcp_elicit_client.core.secrets.in_answer import searching_steps
from mcp_elicit_client.dispatch import NormalizedHandler, apply_policy, check_answer_async, secret_fields_async
from mcp_elicit_client.typing import Action, Answer, FormRequest, Handler, Request

NAME = "remembered"

T = TypeVar("T")

_Key: TypeAlias = tuple[str | None, str, str]
"""The user, the name of the server, and the hash of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberedAnswer:
    """
    An answer that is given again to the same request.

    Attributes:
        id: A random ID, for `RememberedAnswers.revoke`.
        user: The user who gave it; None if there is only one.
        server: The name that the host application gave the server.
        message: The message of the request.  Sanitized text of the server.
        action: ``accept`` or ``decline``.
        content: The values by field name; None if it has none.
        seconds_left: The time until it is forgotten.
    """

    id: str
    user: str | None
    server: str
    message: str
    action: Action
    content: Mapping[str, Any] | None = field(repr=False)
    seconds_left: float


def monotonic_with_sleep() -> float:
    """Return the seconds of a clock that never goes back, and goes on while the computer sleeps."""
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    if sys.platform == "darwin":  # `time.monotonic` uses another clock there
        return time.clock_gettime(time.CLOCK_MONOTONIC)
    return time.monotonic()


@dataclass(frozen=True, slots=True)
class _Stored:
    answer: RememberedAnswer
    expires_at: float


class RememberedAnswers:
    """
    Gives the user's answer to a form again if the server sends the same form again soon.

    Use `policy` as a policy, before those that limit how often a server may
    ask.  It offers that to the user (`FormRequest.remember_seconds`), and
    remembers an accept or a decline if the user chose it (`Answer.remember`).
    The same form has the same message, fields, options and default values.
    Server, its address, claimed name, gateways, tool and user must also be
    the same.

    URLs are never answered from memory.  Neither are forms with a warning,
    forms that request sensitive data, and answers that contain it.  The
    answers are in the memory of this process: other processes ask again.

    Args:
        seconds: How long an answer is remembered: at most a year.
        max_per_user: The maximum number of answers of one user.  Above it,
            the oldest answer to the server with most of them is forgotten.
        max_answers: The maximum number of answers of all users.  Above it,
            the user with most of them loses one in the same way.
        clock: Returns the time, in seconds, and never goes back.  The default
            one goes on while the computer sleeps.

    Raises:
        TypeError: If an argument is of the wrong type.
        ValueError: If one of the numbers is not above 0, or *seconds* is more
            than a year.
    """

    def __init__(
        self,
        *,
        seconds: float = 900,
        max_per_user: int = 50,
        max_answers: int = 1_000,
        clock: Callable[[], float] = monotonic_with_sleep,
    ) -> None:
        check_seconds("seconds", seconds, maximum=YEAR)
        check_int("max_per_user", max_per_user, 1)
        check_int("max_answers", max_answers, 1)
        check_sync("clock", clock)
        self._seconds = seconds
        self._max_per_user = max_per_user
        self._max_answers = max_answers
        self._clock = clock
        self._lock = threading.Lock()
        self._stored: OrderedDict[_Key, _Stored] = OrderedDict()

    def policy(self, handler: Handler) -> Handler:
        """Wrap *handler*: call it for requests to which no answer is remembered."""
        return apply_policy(handler, self._answer, limits_asking=True, refuse=self._recall)

    def list(self, user: str | None = None) -> tuple[RememberedAnswer, ...]:
        """Return the answers of *user*, oldest first."""
        with self._lock:
            self._forget_expired()
            return tuple(self._as_listed(stored) for key, stored in self._stored.items() if key[0] == user)

    def revoke(self, answer_id: str, *, user: str | None = None) -> bool:
        """Delete one answer of *user*.  Return False if the user has no answer with this ID."""
        return self._remove(lambda stored: stored.answer.id == answer_id, user) > 0

    def revoke_all(self, *, user: str | None = None, server: str | None = None) -> int:
        """Delete all answers of *user*, or those to one server.  Return their number."""
        return self._remove(lambda stored: server in (None, stored.answer.server), user)

    async def _answer(self, request: Request, ask: NormalizedHandler) -> Answer:
        remembered = self._recall(request)
        if remembered is not None:
            return remembered
        if not isinstance(request, FormRequest) or not await _may_be_remembered(request):
            return await ask(request)
        answer = await ask(request.model_copy(update={"remember_seconds": self._seconds}))
        if await _is_to_be_remembered(answer):
            # An answer that is not sent, because it does not fit, would cancel each further request.
            checked = await check_answer_async(request, answer)
            if checked.action == answer.action:
                self._store(request, checked)
        return answer

    def _recall(self, request: Request) -> Answer | None:
        """Return the answer to the same request as before, if the user chose that."""
        if not isinstance(request, FormRequest):
            return None
        with self._lock:
            if not any(key[:2] == user_and_server_of(request) for key in self._stored):
                return None
            self._forget_expired()
            stored = self._stored.get(_key(request))
        if stored is None:
            return None
        content = stored.answer.content
        return Answer(
            action=stored.answer.action,
            content=None if content is None else dict(content),
            by="policy",
            policy=NAME,
            reason="the user chose to answer the same request the same way",
            sources=dict.fromkeys(content or (), "policy"),
        )

    def _store(self, request: FormRequest, answer: Answer) -> None:
        expires_at = self._clock() + self._seconds
        remembered = RememberedAnswer(
            id=secrets.token_urlsafe(12),
            user=request.user,
            server=request.server.name,
            message=request.message,
            action=answer.action,
            content=answer.content if answer.action == "accept" else None,
            seconds_left=self._seconds,
        )
        key = _key(request)
        with self._lock:
            self._forget_expired()
            self._stored.pop(key, None)
            self._stored[key] = _Stored(remembered, expires_at)
            users = Counter(user for user, _, _ in self._stored)
            if users[request.user] > self._max_per_user:
                self._forget_one(request.user)
            elif len(self._stored) > self._max_answers:
                self._forget_one(_most_frequent(users))

    def _forget_one(self, user: str | None) -> None:
        """Forget the oldest answer to the server that has most of the answers of *user*."""
        of_user = [key for key in self._stored if key[0] == user]
        most = _most_frequent(Counter(server for _, server, _ in of_user))
        del self._stored[next(key for key in of_user if key[1] == most)]

    def _remove(self, matches: Callable[[_Stored], bool], user: str | None) -> int:
        with self._lock:
            self._forget_expired()
            found = [key for key, stored in self._stored.items() if key[0] == user and matches(stored)]
            for key in found:
                del self._stored[key]
            return len(found)

    def _forget_expired(self) -> None:
        now = self._clock()
        while self._stored and next(iter(self._stored.values())).expires_at <= now:
            self._stored.popitem(last=False)

    def _as_listed(self, stored: _Stored) -> RememberedAnswer:
        return replace(stored.answer, seconds_left=stored.expires_at - self._clock())


def _most_frequent(counts: Counter[T]) -> T:
    """Return what was counted most often; of several, the one that was counted first."""
    return counts.most_common(1)[0][0]


def _key(request: FormRequest) -> _Key:
    parts = (request.server, request.claimed_origin, request.tool, request.message, form_digest(request.form))
    return (*user_and_server_of(request), hashlib.sha256(repr(parts).encode()).hexdigest())


async def _may_be_remembered(request: FormRequest) -> bool:
    """Return True if the user may choose that *request* is answered the same way again."""
    return (
        is_safe_to_remember(request)
        # Of a text that was cut, the user did not see everything: the next request may differ in the rest.
        and not any(each.code == "truncated" for each in request.diagnostics)
        and not await secret_fields_async(request)
    )


async def _is_to_be_remembered(answer: Answer) -> bool:
    return (
        answer.remember
        and answer.by == "user"
        and answer.action != "cancel"
        and not answer.block_server
        and not answer.confirmed
        and not has_warning(answer.diagnostics)
        and not await collect_in_turns(searching_steps(answer.content or {}))
    )
