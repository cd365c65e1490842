"""Suspend calls while their requests are pending: `SuspendOptions`, `SuspendedCall`, and what is stored."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from types import NoneType
from typing import Any, ClassVar

import anyio
from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import from_json

from mcp_elicit_client._arguments import check_seconds, check_type
from mcp_elicit_client.calls.active_call import ActiveCall, CallHistory, StoredAnswersFor
from mcp_elicit_client.calls.methods import CallSpec, model_to_wire
from mcp_elicit_client.calls.multi_round_trip import InputRequired
from mcp_elicit_client.core.answer import Answer
from mcp_elicit_client.core.request import AnyRequest, check_user
from mcp_elicit_client.dispatch import settle_defaults_async
from mcp_elicit_client.exceptions import CallError, InboxError
from mcp_elicit_client.inbox.inbox import Inbox
from mcp_elicit_client.inbox.stores.models import StoredCall
from mcp_elicit_client.inbox.suspended_calls import calls_of
from mcp_elicit_client.typing import Request

RESUME_TIMEOUT = 590.0
"""How long a suspended call can be resumed, in seconds: less than the 600 s of the Python SDK's server."""

MAX_RESUME_TIMEOUT = 366 * 86_400.0
"""The longest `SuspendOptions.resume_timeout`, in seconds."""

TASK_TIMEOUT = 86_400.0
"""How long a suspended task can be resumed, in seconds, if the server keeps it that long."""

_ANSWER_SHARE = 0.9
"""The share of `SuspendOptions.resume_timeout` in which requests can be answered.  The rest is for resuming."""

FORMAT = 1
"""The format of a `CallSnapshot`.  Others are refused."""

MAX_SNAPSHOT = 8_388_608
"""The maximum length of a `CallSnapshot` as JSON, in characters."""

_PENDING = Answer.cancel(by="pending", reason="the request is stored in an inbox")


@dataclass(frozen=True, slots=True)
class SuspendOptions:
    """
    The inbox in which calls are suspended.  Only the user of a call may answer its requests and resume it.

    Attributes:
        inbox: The inbox that stores the calls and their requests.
        default_user: The user of calls without one (`Caller`), if all calls
            in the inbox belong to one user.  None if several users share the
            inbox: calls without a user are then refused.
        resume_timeout: How long a call can be resumed, in seconds, from each
            time that the server requires input.  Set it to less than the
            time for which the server accepts its state.  Requests can be
            answered for nine tenths of it, or until a policy closes them.
        task_timeout: How long a task can be resumed, in seconds; less if the
            server does not keep it that long.
        owner: The owner of the calls and their requests in the inbox, if it
            is not the user, such as a conversation of the user.
        reference: A text of the host application that is stored with a call,
            such as the ID of the model's tool call (`Snapshot.reference`).

    Raises:
        TypeError: If an option is of the wrong type, such as a store in place
            of the inbox.
        ValueError: If the user is empty or too long, or the timeout is out of
            range.
    """

    inbox: Inbox
    default_user: str | None = None
    resume_timeout: float = RESUME_TIMEOUT
    task_timeout: float = TASK_TIMEOUT
    owner: str | None = None
    reference: str | None = None

    def __post_init__(self) -> None:
        check_type("inbox", self.inbox, Inbox, hint="Pass Inbox(store).")
        check_user(self.default_user, "default_user")
        check_type("owner", self.owner, str, NoneType)
        check_type("reference", self.reference, str, NoneType)
        for name in ("resume_timeout", "task_timeout"):
            check_seconds(name, getattr(self, name), maximum=MAX_RESUME_TIMEOUT)


class SuspendedCall(BaseModel):
    """
    A stored call that waits for answers.  No process waits meanwhile.

    Attributes:
        id: The ID for `Caller.resume`.  It stays the same until the call
            ends.
        request_ids: The IDs of the requests in the inbox; empty if the server
            only waits, for example until the user has finished at a URL.
        pending_ids: The IDs of those that are not answered yet.
        expires_at: Until when the call can be resumed, in UTC.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

    id: str
    request_ids: tuple[str, ...]
    pending_ids: tuple[str, ...]
    expires_at: datetime


def user_of_call(options: SuspendOptions, user: str | None) -> str | None:
    """Return the only user who may resume a call of *user*; None if there are no users."""
    return user or options.default_user


def owner_of_call(options: SuspendOptions, user: str | None) -> str:
    """
    Return the owner of a call of *user* in the inbox.

    Raises:
        ValueError: If there is neither an owner, a user nor a default.
    """
    owner = options.owner or user_of_call(options, user)
    if owner is None:
        raise ValueError("A call without a user cannot be suspended. Pass `user`, or SuspendOptions.default_user.")
    return owner


def expire_with_call(options: SuspendOptions, request: Request, seconds: float) -> Request:
    """Return *request* so that it expires in time, if it is stored now and its call expires in *seconds*."""
    now = calls_of(options.inbox).store.clock()
    deadline = datetime.fromtimestamp(now + _ANSWER_SHARE * seconds, timezone.utc)
    if request.deadline is not None:
        deadline = min(deadline, request.deadline)
    return request.model_copy(update={"deadline": deadline})


def suspended_call(call: StoredCall, pending_ids: Iterable[str]) -> SuspendedCall:
    """Return what the host application gets of the stored *call*."""
    expires_at = datetime.fromtimestamp(call.expires_at, timezone.utc)
    return SuspendedCall(
        id=call.id, request_ids=call.request_ids, pending_ids=tuple(pending_ids), expires_at=expires_at
    )


class Snapshot(BaseModel):
    """
    All that is stored of a suspended call.

    Attributes:
        format: The format of this record.
        server: The name that the host application gave the server.
        user: The only user who may resume the call, if it has one.
        reference: See `SuspendOptions`.
        history: The history of the call.
    """

    format: int = FORMAT
    server: str
    user: str | None = None
    reference: str | None = None
    history: CallHistory

    def write(self) -> str:
        """
        Write this snapshot as JSON.

        Raises:
            CallError: If that is impossible, or the result is too long.
        """
        try:
            text = self.model_dump_json()
        except (ValueError, RecursionError) as error:
            raise CallError(
                "The call cannot be suspended: it cannot be written as JSON. Call without `suspend`."
            ) from error
        if len(text) > MAX_SNAPSHOT:
            raise CallError(
                f"The call cannot be suspended: it takes more than {MAX_SNAPSHOT} characters. Call without `suspend`."
            )
        return text


class TaskSnapshot(Snapshot):
    """
    All that is stored of a suspended task: with its ID, the server reports the rest at any time.

    Attributes:
        task_id: The server's ID of the task.
        tool: The name of the tool; None if it is unknown.
        created_at: When the task was created, in seconds since 1970.
        requests: What identifies the requests in the inbox, by the server's
            keys.  The order is that of their IDs in the inbox.
        responses: The responses to requests that are not in the inbox, as on
            the wire, each with what identifies its request.
    """

    task_id: str = Field(repr=False)
    tool: str | None
    created_at: float
    requests: dict[str, str] = {}
    responses: dict[str, tuple[str, dict[str, Any]]] = {}


class CallSnapshot(Snapshot):
    """
    All that is stored of a suspended call that is made again with the answers.

    Attributes:
        call_spec: What is called.
        state: The server's ``requestState``, unchanged.
        requests: The deferred requests, as the server sent them, by its keys.
            The order is that of their IDs in the inbox.
        answers: The answers of policies, by the server's keys.
        host_requests: The requests to the host application itself, as on the
            wire, by the server's keys.
    """

    call_spec: CallSpec
    state: str | None
    requests: dict[str, AnyRequest]
    answers: dict[str, Answer]
    host_requests: dict[str, Any]


def read_snapshot(text: str) -> CallSnapshot | TaskSnapshot:
    """
    Read the JSON of a snapshot.

    Raises:
        InboxError: If its format is another one.
        ValueError: If it is not a snapshot.
    """
    stored = from_json(text)
    found = stored.get("format") if isinstance(stored, dict) else None
    if isinstance(found, int) and found != FORMAT:
        raise InboxError(
            f"The suspended call is stored in format {found}; this version reads format {FORMAT}. "
            "Resume it with the version of mcp-elicit-client that suspended it, or call the tool again."
        )
    is_task = isinstance(stored, dict) and "task_id" in stored
    return TaskSnapshot.model_validate_json(text) if is_task else CallSnapshot.model_validate_json(text)


class Claim:
    """
    The exclusive right of this process to resume a call.

    Attributes:
        id: The ID of the call.
        was_sent: The server may have received a part of the call.
        was_suspended: The call was suspended again.
    """

    def __init__(self, call_id: str) -> None:
        self.id = call_id
        self.was_sent: bool = False
        self.was_suspended: bool = False

    def mark_sent(self) -> None:
        """Note that the server may receive a part of the call from now on."""
        self.was_sent = True


@dataclass(frozen=True, slots=True)
class PausedCall:
    """
    A call that waits for answers, and is not stored yet.

    Attributes:
        snapshot: What is needed to continue it.
        shown: The requests as a handler would have got them, by the server's
            keys.
    """

    snapshot: CallSnapshot
    shown: Mapping[str, Request]


class CallPauser:
    """
    Pauses one call.

    Its requests go through the host application's policies.  Where a
    registered handler would be asked, the request is deferred instead, and
    its answer is a cancel by ``pending``.  An answer of a policy replaces it.

    Args:
        call: The active call.
        spec: What is called.
        server: The name that the host application gave the server.
        has_policies: Policies see requests before they are deferred.
        max_wait: How long the call waits for a server that only wants to be
            asked again later, in seconds.

    Attributes:
        has_policies: As above.
    """

    def __init__(
        self,
        call: ActiveCall,
        spec: CallSpec,
        server: str,
        *,
        has_policies: bool = True,
        max_wait: float = math.inf,
    ) -> None:
        self.has_policies: bool = has_policies
        self._wait_until = anyio.current_time() + max_wait
        self._call = call
        self._spec = spec
        self._server = server
        self._deferred: dict[str, Deferral] = {}

    def defer(self, key: str) -> StoredAnswersFor:
        """Return what defers the request with *key*."""
        return defer_into(self._deferred, key)

    def pause(self, required: InputRequired, answers: Mapping[str, Answer]) -> PausedCall | None:
        """
        Return the paused call if it has deferred requests.

        Args:
            required: What the server requires.
            answers: The answers to its elicitation requests, by its keys.

        Returns:
            The paused call; None if no answer is pending.
        """
        deferred, self._deferred = self._deferred, {}
        pending = {key: deferred[key] for key, answer in answers.items() if answer.by == "pending"}
        shown = {key: deferral.shown for key, deferral in pending.items() if deferral.shown is not None}
        if not shown:
            return None
        requests = {key: pending[key].request for key in shown}
        given = {key: answer for key, answer in answers.items() if key not in shown}
        return PausedCall(self._snapshot(required, requests, given), shown)

    def pause_waiting(self, required: InputRequired) -> PausedCall | None:
        """Return the paused call if its server, which requires nothing, has let it wait for long; None otherwise."""
        is_long = anyio.current_time() >= self._wait_until
        return PausedCall(self._snapshot(required, {}, {}), {}) if is_long else None

    def _snapshot(self, required: InputRequired, requests: dict[str, Any], answers: dict[str, Answer]) -> CallSnapshot:
        return CallSnapshot(
            server=self._server,
            user=self._call.user,
            call_spec=self._spec,
            state=required.state,
            history=self._call.history,
            requests=requests,
            answers=answers,
            host_requests={key: model_to_wire(request) for key, request in required.host_requests.items()},
        )

    async def suspend(self, required: InputRequired, answers: Mapping[str, Answer]) -> Any:
        """Return what the call ends with for now; None to continue it, because no answer is pending."""
        return self.pause(required, answers)

    async def suspend_waiting(self, required: InputRequired) -> Any:
        """Return what the call ends with if the user's time passes at a server that requires nothing; None to fail."""
        del required


class CallSuspender(CallPauser):
    """
    Suspends one call: it is paused and stored.

    Args:
        options: Where the call is suspended.
        call: The active call.
        spec: What is called.
        server: The name that the host application gave the server.
        claim: The claim of this process, if the call is being resumed.
    """

    def __init__(
        self, options: SuspendOptions, call: ActiveCall, spec: CallSpec, server: str, claim: Claim | None = None
    ) -> None:
        super().__init__(call, spec, server)
        self._options = options
        self._claim = claim

    async def suspend(self, required: InputRequired, answers: Mapping[str, Answer]) -> SuspendedCall | None:
        """
        Suspend the call if it has deferred requests.

        Raises:
            CallError: If the call cannot be stored as JSON, or is too large.
            InboxError: If the inbox cannot be used.  The call may have been
                stored, so nothing may be sent any more.
        """
        paused = self.pause(required, answers)
        return None if paused is None else await self._store(paused)

    async def suspend_waiting(self, required: InputRequired) -> SuspendedCall:
        """
        Suspend the call without requests: the user may still be at a URL that they have opened.

        Raises:
            Exception: As in `suspend`.
        """
        return await self._store(PausedCall(self._snapshot(required, {}, {}), {}))

    async def _store(self, paused: PausedCall) -> SuspendedCall:
        options, call_id = self._options, None if self._claim is None else self._claim.id
        shown = [expire_with_call(options, each, options.resume_timeout) for each in paused.shown.values()]
        user = user_of_call(options, self._call.user)
        snapshot = paused.snapshot.model_copy(update={"user": user, "reference": options.reference})
        try:
            with self._call.timeouts.paused_for_host():
                stored = await calls_of(options.inbox).suspend(
                    owner_of_call(options, self._call.user), snapshot.write(), shown, options.resume_timeout, call_id
                )
        except ValueError as error:
            raise CallError(
                "The call cannot be suspended: a request cannot be written as JSON. Call without `suspend`."
            ) from error
        if self._claim is not None:
            self._claim.was_suspended = True
        return suspended_call(stored, stored.request_ids)


@dataclass(slots=True)
class Deferral:
    """
    Stands in for the answer to one request of a call that is being suspended.

    Attributes:
        request: The request as the server sent it.
        shown: The request as the handler would have got it; None if no
            handler would have been asked.
        is_resuming: See `StoredAnswers`.
    """

    request: Request
    shown: Request | None = None
    is_resuming: bool = False

    async def answer(self, request: Request, /) -> Answer:
        self.shown = await settle_defaults_async(request)
        return _PENDING


def defer_into(deferred: dict[str, Deferral], key: str) -> StoredAnswersFor:
    """Return what defers the request with *key*, and adds it to *deferred*."""

    def defer(request: Request) -> Deferral:
        deferred[key] = deferral = Deferral(request)
        return deferral

    return defer
