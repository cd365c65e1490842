"""`WebhookHandler`, which sends requests to a webhook, and `DeferredAnswers`, for answers that come later."""

from __future__ import annotations

import logging
import math
import secrets as random
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from functools import cache
from ipaddress import ip_address
from types import NoneType
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import anyio
import httpx

from mcp_elicit_client._arguments import YEAR, check_int, check_seconds, check_sync, check_type
from mcp_elicit_client.core.answer import invalid_answer
from mcp_elicit_client.core.request import check_user
from mcp_elicit_client.dispatch import check_answer_async
from mcp_elicit_client.exceptions import EntryClosedError, EntryNotFoundError, InboxError, State
from mcp_elicit_client.handlers.webhook.delivery import (
    UndeliveredError,
    deliver,
    pause_before,
    read_answer,
    write_closed,
    write_question,
)
from mcp_elicit_client.handlers.webhook.signatures import (
    Secrets,
    SignatureError,
    parse_secrets,
    sign,
    verify_signature,
)
from mcp_elicit_client.inbox.inbox import Inbox, ask_and_show
from mcp_elicit_client.typing import Answer, Request

if TYPE_CHECKING:
    import ssl

ANSWER_TIMEOUT = 240.0
"""The default maximum time of the user, in seconds."""

MAX_ATTEMPTS = 6
"""The default of `WebhookHandler.attempts`.  With the pauses, they take about 12 s."""

_CLOSE_TIMEOUT = 5.0
"""The maximum time for notifying the webhook of a closed request, in seconds."""

_MAX_PORT = 65_535

_logger = logging.getLogger("mcp_elicit_client")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeferredAnswers:
    """
    The inbox in which a webhook may answer later.

    Attributes:
        inbox: The inbox that stores the request meanwhile.  Its owner there is
            its user (`Request.user`).
        url: The URL under which the webhook reaches the `inbox_app` of that
            inbox.  The ID of the request is appended to it, and its user as a
            query.
        default_user: The owner of requests without a user; None to cancel
            them.  See `InboxHandler`.

    Raises:
        TypeError: If *inbox* is not an `Inbox`, or *url* not a string.
        ValueError: If *url* is invalid or has a query, or *default_user* does
            not have 1 to 256 characters.
    """

    inbox: Inbox
    url: str
    default_user: str | None = None

    def __post_init__(self) -> None:
        check_type("inbox", self.inbox, Inbox, hint="Pass Inbox(store).")
        check_type("url", self.url, str)
        parsed = _parse_url(self.url)
        if parsed is None or parsed.scheme not in ("https", "http") or not parsed.host:
            raise ValueError("The URL of the inbox must begin with https:// or http://.")
        if "?" in self.url or "#" in self.url:
            raise ValueError("The URL of the inbox must not have a query or fragment: the ID of a request is appended.")
        check_user(self.default_user, "default_user")


class WebhookHandler:
    """
    Send requests to a webhook, and wait for its answers.

    Requests are signed (`sign`), and the answer in the response must be
    signed too.  If the answer is not signed or invalid, or comes too late,
    the request is cancelled.  If the webhook cannot be reached, disconnects
    or is overloaded, the request is sent again with the same ID.

    Args:
        url: The URL of the webhook: https, or http on this computer.
        secret: The secret for signatures, from `generate_secret`.  If there
            are several, each signs, and each is accepted.
        deferred: Where the webhook may answer later, after a response with
            status 202; None if it must answer in its response.
        answer_timeout: The maximum time of the user, in seconds.
            `Request.deadline` may shorten it.
        attempts: The maximum number of attempts to send a request.
        notify_closed: Notify the webhook of requests that need no answer any
            more.  This may delay a cancellation by 5 s.
        allow_http: Allow http to other computers: only in networks in which
            no one else can read the traffic.
        client: The HTTP client, which you close; None for one that ignores
            the environment's proxies and ``.netrc`` and keeps no cookies.
        pause: Returns the pause before a repeated attempt, in seconds.  It
            takes the number of the repetition, from 1 on.

    Raises:
        TypeError: If an argument is of the wrong type.
        ValueError: If the URL or a secret is invalid, the URL is not safe,
            *answer_timeout* is not above 0 and at most a year, or *attempts*
            is below 1.
    """

    def __init__(  # noqa: PLR0913 -- options by keyword
        self,
        url: str,
        secret: Secrets,
        *,
        deferred: DeferredAnswers | None = None,
        answer_timeout: float = ANSWER_TIMEOUT,
        attempts: int = MAX_ATTEMPTS,
        notify_closed: bool = False,
        allow_http: bool = False,
        client: httpx.AsyncClient | None = None,
        pause: Callable[[int], float] = pause_before,
    ) -> None:
        parse_secrets(secret)
        check_type("deferred", deferred, DeferredAnswers, NoneType)
        check_seconds("answer_timeout", answer_timeout, maximum=YEAR)
        check_int("attempts", attempts, 1)
        check_type("notify_closed", notify_closed, bool)
        check_type("allow_http", allow_http, bool)
        check_type("client", client, httpx.AsyncClient, NoneType)
        check_sync("pause", pause, "attempt")
        _check_url(url, allow_http=allow_http)
        self._webhook = _Webhook(url, secret, attempts, notify_closed, pause)
        self._deferred = deferred
        self._answer_timeout = answer_timeout
        self._client = client

    async def __call__(self, request: Request, /) -> Answer:
        """Wait for the answer.  If this is cancelled, the connection closes and the request is withdrawn."""
        deadline = datetime.now(timezone.utc) + timedelta(seconds=self._answer_timeout)
        if request.deadline is not None:
            deadline = min(deadline, request.deadline)
        seconds = (deadline - datetime.now(timezone.utc)).total_seconds()
        request = request.model_copy(update={"deadline": deadline})
        async with AsyncExitStack() as stack:
            client = self._client if self._client is not None else await stack.enter_async_context(_client())
            exchange = _WebhookExchange(self._webhook, client, request, anyio.current_time() + seconds)
            return await (exchange.ask() if self._deferred is None else exchange.ask_with(self._deferred))


@dataclass(frozen=True, slots=True)
class _Webhook:
    url: str = field(repr=False)
    secret: Secrets = field(repr=False)
    attempts: int
    notifies_closed: bool
    pause: Callable[[int], float]


class _WebhookExchange:
    """One request and its answer.  The deadline is on the clock of the event loop."""

    def __init__(self, webhook: _Webhook, client: httpx.AsyncClient, request: Request, deadline: float) -> None:
        self._webhook = webhook
        self._client = client
        self._request = request
        self._deadline = deadline
        self._id = ""
        self._is_over = False  # the webhook has answered, or did not take the request
        self._host = httpx.URL(webhook.url).host

    async def ask(self) -> Answer:
        """Ask a webhook that must answer in its response."""
        self._id = random.token_urlsafe(24)
        state: State = "withdrawn"
        try:
            with anyio.CancelScope(deadline=self._deadline):
                answer = await self._send(None)
                return answer or _failed("the webhook answers later, but deferred answers are not configured")
            state = "expired"
            return Answer.cancel(by="timeout", reason="the user did not answer in time")
        finally:
            await self._close(state)

    async def ask_with(self, deferred: DeferredAnswers) -> Answer:
        """Ask a webhook that may answer later.  The inbox stores the request meanwhile."""
        owner = self._request.user or deferred.default_user
        if owner is None:
            return Answer.cancel(by="unattended", reason="the request has no user")
        from_webhook: Answer | None = None

        async def send(entry_id: str) -> None:
            nonlocal from_webhook
            self._id = entry_id
            answer = await self._send(_answer_url(deferred, self._id, self._request))
            with anyio.CancelScope(shield=True):  # the inbox returns the answer before this has ended
                if answer is not None and answer.by != "error":
                    answer = await self._store(deferred.inbox, owner, answer)
                if answer is not None and answer.by == "error":
                    answer = await self._withdraw(deferred.inbox, owner, answer)
            from_webhook = answer
            if answer is None or answer.by != "error":
                await anyio.sleep_forever()  # until the answer arrives through the inbox

        state: State = "withdrawn"
        try:
            answer = await ask_and_show(deferred.inbox, owner, self._request, send)
            if answer is not None:
                state = "answered" if answer.by == "user" else "expired" if answer.by == "timeout" else "withdrawn"
            return from_webhook or answer or _failed("the webhook did not answer")
        except InboxError as error:
            _logger.warning("a request of server %r could not be stored: %s", self._request.server.name, error)
            return _failed(str(error))
        finally:
            await self._close(state)

    async def _store(self, inbox: Inbox, owner: str, answer: Answer) -> Answer | None:
        """Store the webhook's answer in the inbox.  Return None if the request was answered there first."""
        answered_by = f"the webhook at {self._host}"
        try:
            fits = await inbox.answer(owner, self._id, answer.action, answer.content, answered_by=answered_by)
        except (EntryClosedError, EntryNotFoundError):
            return None
        except InboxError as error:
            return _failed(str(error))
        return answer if fits else invalid_answer(fits.errors, "the webhook's answer does not fit the form")

    async def _withdraw(self, inbox: Inbox, owner: str, failure: Answer) -> Answer | None:
        """Withdraw the request because of *failure*.  Return None if the request was answered in the inbox first."""
        try:
            await inbox.withdraw(owner, self._id, withdrawn_by="client")
        except (EntryClosedError, EntryNotFoundError):
            return None
        except InboxError as error:
            _logger.warning("A request could not be withdrawn. %s", error)
        return failure

    async def _send(self, answer_url: str | None) -> Answer | None:
        """Return the webhook's answer, a cancel with the reason if it failed, or None if it will answer later."""
        webhook = self._webhook
        body = write_question(self._id, self._request, answer_url)
        try:
            reply = await deliver(
                self._client,
                webhook.url,
                body,
                lambda: sign(body, self._id, webhook.secret),
                attempts=webhook.attempts,
                deadline=self._deadline,
                pause=webhook.pause,
            )
        except UndeliveredError as error:
            self._is_over = True
            return _failed(str(error))
        if reply is None:
            return None
        self._is_over = True
        try:
            if verify_signature(reply.body, reply.headers, webhook.secret, purpose="answer") != self._id:
                return _failed("the webhook's reply is for another request")
            answer = read_answer(reply.body, self._id, self._request)
        except SignatureError as error:
            return _failed(f"the webhook's reply is not authentic: {error}")
        except ValueError:
            return _failed("the webhook's reply is not a valid answer")
        reason = f"answered by the webhook at {self._host}"
        return await check_answer_async(self._request, answer.model_copy(update={"reason": reason}))

    async def _close(self, state: State) -> None:
        """Notify the webhook that the request needs no answer any more, if that is enabled."""
        if self._is_over or not self._webhook.notifies_closed or not self._id:
            return
        body, notice_id = write_closed(self._id, state), random.token_urlsafe(24)
        with anyio.move_on_after(_CLOSE_TIMEOUT, shield=True):
            try:
                await deliver(
                    self._client,
                    self._webhook.url,
                    body,
                    lambda: sign(body, notice_id, self._webhook.secret),
                    attempts=1,
                    deadline=math.inf,
                )
            except UndeliveredError as error:
                _logger.debug("the webhook could not be notified of a closed request: %s", error)


def _answer_url(deferred: DeferredAnswers, entry_id: str, request: Request) -> str:
    """Return the URL at which the webhook answers a request."""
    query = "" if request.user is None else f"?{urlencode({'user': request.user})}"
    return f"{deferred.url.rstrip('/')}/{entry_id}{query}"


def _failed(reason: str) -> Answer:
    return Answer.cancel(by="error", reason=reason)


def _client() -> httpx.AsyncClient:
    return httpx.AsyncClient(verify=_certificates(), trust_env=False)


@cache
def _certificates() -> ssl.SSLContext:
    # Reading the certificates takes longer than everything else that a client needs.
    return httpx.create_ssl_context()


def _check_url(url: str, *, allow_http: bool) -> None:
    """Check the URL of a webhook.  Errors do not quote it, because it may contain a secret."""
    parsed = _parse_url(url)
    if parsed is None:
        raise ValueError("The webhook's URL is invalid.")
    if parsed.scheme not in ("https", "http") or not parsed.host:
        raise ValueError("The webhook's URL must begin with https://.")
    if parsed.userinfo:
        raise ValueError("The webhook's URL must not contain a user name or password. Requests are signed instead.")
    if parsed.scheme == "http" and not allow_http and not _is_local(parsed.host):
        raise ValueError("The webhook's URL must begin with https://, or be on this computer.")


def _parse_url(url: str) -> httpx.URL | None:
    """Return *url*, or None if it is invalid."""
    try:
        parsed = httpx.URL(url)
        host = parsed.raw_host.decode()
        host.encode("idna")  # a label may be empty or too long
    except (httpx.InvalidURL, UnicodeError, TypeError):
        return None
    if "%" in host:  # httpx has escaped what no host name has, such as a space
        return None
    return parsed if parsed.port is None or 0 < parsed.port <= _MAX_PORT else None


def _is_local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
