"""A handler whose user is behind a webhook."""

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
from typing import TYPE_CHECKING

import anyio
import httpx

from mcp_elicit_client.handlers.remote.messages import closed, question, read_reply
from mcp_elicit_client.handlers.remote.sending import UndeliveredError, deliver, pause_before
from mcp_elicit_client.handlers.remote.signing import Secrets, SignatureError, keys_of, sign, verify
from mcp_elicit_client.hosts.boundary import checked
from mcp_elicit_client.inbox.entries import State
from mcp_elicit_client.inbox.errors import EntryClosedError, EntryNotFoundError, InboxError
from mcp_elicit_client.inbox.inbox import Inbox
from mcp_elicit_client.racing import ask_until
from mcp_elicit_client.typing import Answer, Request

if TYPE_CHECKING:
    import ssl

PATIENCE = 240.0
"""How long a question waits for its answer, in seconds."""

ATTEMPTS = 6
"""How often a question is sent at most; with the pauses between, that takes about 12 s."""

_GOODBYE = 5.0

_logger = logging.getLogger("mcp_elicit_client")


@dataclass(frozen=True, slots=True, kw_only=True)
class Later:
    """
    Where a webhook may answer later.

    Attributes:
        inbox: Where the question waits meanwhile.
        owner: Whose a request is there; None or an empty text if that is not clear.
        url: Where the `inbox_app` over that inbox is mounted, as the webhook
            reaches it; the id of the question is put behind it.
    """

    inbox: Inbox
    owner: Callable[[Request], str | None]
    url: str


@dataclass(frozen=True, slots=True)
class RemoteHandler:
    """
    Send questions to a webhook, and wait for its answers.

    The question is signed (`sign`), and so must be the answer in its
    response.  Whoever answers otherwise, elsewhere or not in time has not
    answered: cancel.  What cannot be reached, breaks off or is overloaded is
    tried again, under the same id, until there is any reply.

    Attributes:
        url: The webhook: https, or http on this machine.
        secret: What signs, as `new_secret` makes it.  Of several, each signs,
            and an answer signed with any is good.
        later: Where it may answer later, having said 202; None if it must
            answer in its response.
        patience: How long a question waits, in seconds; one with a deadline
            of its own (`Request.deadline`) no longer than that.
        attempts: How often a question is sent at most.
        tell_closed: Whether the webhook is told of a question that needs no
            answer any more, since it was answered elsewhere, withdrawn, or
            its time is over.  It may hold up a cancellation for 5 s.
        allow_http: Whether a webhook elsewhere may be reached without TLS:
            only where the network itself keeps others from reading.
        client: What sends; the host closes it.  None for a client of our own
            that uses neither the environment's proxies nor ``.netrc``, and
            keeps no cookies from question to question.
        pause: How long to wait before an attempt, in seconds.

    Raises:
        ValueError: If the URL or a secret is none, or the URL is not safe.
    """

    url: str = field(repr=False)
    secret: Secrets = field(repr=False)
    later: Later | None = field(default=None, kw_only=True)
    patience: float = field(default=PATIENCE, kw_only=True)
    attempts: int = field(default=ATTEMPTS, kw_only=True)
    tell_closed: bool = field(default=False, kw_only=True)
    allow_http: bool = field(default=False, kw_only=True)
    client: httpx.AsyncClient | None = field(default=None, kw_only=True)
    pause: Callable[[int], float] = field(default=pause_before, kw_only=True)

    def __post_init__(self) -> None:
        keys_of(self.secret)
        _check_url(self.url, allow_http=self.allow_http)

    async def __call__(self, request: Request, /) -> Answer:
        """Wait for the answer; being cancelled closes the connection and withdraws the question."""
        deadline = datetime.now(timezone.utc) + timedelta(seconds=self.patience)
        if request.deadline is not None:
            deadline = min(deadline, request.deadline)
        seconds = (deadline - datetime.now(timezone.utc)).total_seconds()
        request = request.model_copy(update={"deadline": deadline})
        async with AsyncExitStack() as stack:
            client = self.client if self.client is not None else await stack.enter_async_context(_client())
            asking = _Asking(self, client, request, anyio.current_time() + seconds)
            return await (asking.ask() if self.later is None else asking.ask_with(self.later))


class _Asking:
    """
    One question on its way.

    Args:
        handler: How it is asked.
        client: What sends.
        request: The question.
        deadline: When its time is over, on the event loop's clock.
    """

    def __init__(self, handler: RemoteHandler, client: httpx.AsyncClient, request: Request, deadline: float) -> None:
        self._handler = handler
        self._client = client
        self._request = request
        self._deadline = deadline
        self._id = ""
        self._is_over = False  # for the webhook: it has answered, or not taken it

    async def ask(self) -> Answer:
        """Ask a webhook that must answer in its response."""
        self._id = random.token_urlsafe(24)
        state: State = "withdrawn"
        try:
            with anyio.CancelScope(deadline=self._deadline):
                answer = await self._send(None)
                return answer or self._failed("the webhook answers later, for which there is no inbox here")
            state = "expired"
            return Answer.cancel(by="timeout", reason="nobody answered in time")
        finally:
            await self._close(state)

    async def ask_with(self, later: Later) -> Answer:
        """Ask a webhook that may answer later: the question waits in the inbox meanwhile."""
        owner = later.owner(self._request)
        if not isinstance(owner, str) or not owner:
            return Answer.cancel(by="nobody", reason="it is not clear whose question this is")
        placed = anyio.Event()
        from_webhook: Answer | None = None

        def place(entry_id: str) -> None:
            self._id = entry_id
            placed.set()

        async def send() -> None:
            nonlocal from_webhook
            await placed.wait()
            answer = await self._send(f"{later.url.rstrip('/')}/{self._id}")
            if answer is not None and answer.by != "error":
                answer = await self._claim(later.inbox, owner, answer)
            from_webhook = answer
            if answer is None or answer.by != "error":
                await anyio.sleep_forever()  # until what is in the inbox now, or will be, has arrived

        state: State = "withdrawn"
        try:
            answer = await ask_until(send, lambda: later.inbox.ask(owner, self._request, placed=place))
            if answer is not None:
                state = "answered" if answer.by == "user" else "expired" if answer.by == "timeout" else "withdrawn"
            return from_webhook or answer or self._failed("the webhook did not answer")
        except InboxError as error:
            _logger.warning("a question of server %r could not be asked: %s", self._request.server.name, error)
            return Answer.cancel(by="error", reason=str(error))
        finally:
            await self._close(state)

    async def _claim(self, inbox: Inbox, owner: str, answer: Answer) -> Answer | None:
        """Settle the question in the inbox with what the webhook answered; None if somebody was faster."""
        who = f"the webhook at {self._host}"
        try:
            fits = await inbox.answer(owner, self._id, answer.action, answer.content, who=who)
        except (EntryClosedError, EntryNotFoundError):
            return None
        except InboxError as error:
            return self._failed(str(error))
        return answer if fits else self._failed("the webhook's answer does not fit the form")

    async def _send(self, answer_url: str | None) -> Answer | None:
        """Return what the webhook answers, or why it does not; None if it will later."""
        handler = self._handler
        body = question(self._id, self._request, answer_url)
        try:
            reply = await deliver(
                self._client,
                handler.url,
                body,
                lambda: sign(body, self._id, handler.secret),
                attempts=handler.attempts,
                deadline=self._deadline,
                pause=handler.pause,
            )
            if reply is None:
                return None
            self._is_over = True
            if verify(reply.body, reply.headers, handler.secret) != self._id:
                return self._failed("the webhook's reply is not for this question")
            answer = read_reply(reply.body, self._id, self._request)
        except UndeliveredError as error:
            self._is_over = True
            return self._failed(str(error))
        except SignatureError as error:
            return self._failed(f"the webhook's reply cannot be trusted: {error}")
        except ValueError:
            return self._failed("the webhook's reply is no answer")
        reason = f"answered by the webhook at {self._host}"
        return await checked(self._request, answer.model_copy(update={"reason": reason}))

    @property
    def _host(self) -> str:
        return httpx.URL(self._handler.url).host

    @staticmethod
    def _failed(reason: str) -> Answer:
        return Answer.cancel(by="error", reason=reason)

    async def _close(self, state: State) -> None:
        """Tell the webhook, if it is to be told, that its answer is not wanted any more."""
        if self._is_over or not self._handler.tell_closed or not self._id:
            return
        body, notice_id = closed(self._id, state), random.token_urlsafe(24)
        with anyio.move_on_after(_GOODBYE, shield=True):
            try:
                await deliver(
                    self._client,
                    self._handler.url,
                    body,
                    lambda: sign(body, notice_id, self._handler.secret),
                    attempts=1,
                    deadline=math.inf,
                )
            except UndeliveredError as error:
                _logger.debug("a webhook could not be told that a question is closed: %s", error)


def _client() -> httpx.AsyncClient:
    return httpx.AsyncClient(verify=_certificates(), trust_env=False)


@cache
def _certificates() -> ssl.SSLContext:
    # Reading them takes longer than all else that a client needs.
    return httpx.create_ssl_context()


def _check_url(url: str, *, allow_http: bool) -> None:
    """
    Refuse what is no webhook.  What is raised does not quote it: it may hold a secret.

    Raises:
        ValueError: If it is none, or not safe.
    """
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, TypeError):
        raise ValueError("the webhook's URL is none") from None
    if parsed.scheme not in ("https", "http") or not parsed.host:
        raise ValueError("the webhook's URL must begin with https://")
    if parsed.userinfo:
        raise ValueError("the webhook's URL must not hold a user or a password: the signature tells who asks")
    if parsed.scheme == "http" and not allow_http and not _is_here(parsed.host):
        raise ValueError("the webhook's URL must begin with https://, or be on this machine")


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
