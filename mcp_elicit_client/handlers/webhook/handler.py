"""A handler whose user is behind a webhook."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from functools import cache
from ipaddress import ip_address
from typing import TYPE_CHECKING

import anyio
import httpx

from mcp_elicit_client.handlers.webhook.delivery import pause_before
from mcp_elicit_client.handlers.webhook.exchange import DeferredAnswers, WebhookExchange
from mcp_elicit_client.handlers.webhook.signatures import Secrets, parse_secrets
from mcp_elicit_client.typing import Answer, Request

if TYPE_CHECKING:
    import ssl

ANSWER_TIMEOUT = 240.0
"""How long a question waits for its answer, in seconds."""

ATTEMPTS = 6
"""How often a question is sent at most; with the pauses between, that takes about 12 s."""


@dataclass(frozen=True, slots=True)
class WebhookHandler:
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
        answer_timeout: How long a question waits, in seconds; one with a deadline
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
    deferred: DeferredAnswers | None = field(default=None, kw_only=True)
    answer_timeout: float = field(default=ANSWER_TIMEOUT, kw_only=True)
    attempts: int = field(default=ATTEMPTS, kw_only=True)
    notify_closed: bool = field(default=False, kw_only=True)
    allow_http: bool = field(default=False, kw_only=True)
    client: httpx.AsyncClient | None = field(default=None, kw_only=True)
    pause: Callable[[int], float] = field(default=pause_before, kw_only=True)

    def __post_init__(self) -> None:
        parse_secrets(self.secret)
        _check_url(self.url, allow_http=self.allow_http)

    async def __call__(self, request: Request, /) -> Answer:
        """Wait for the answer; being cancelled closes the connection and withdraws the question."""
        deadline = datetime.now(timezone.utc) + timedelta(seconds=self.answer_timeout)
        if request.deadline is not None:
            deadline = min(deadline, request.deadline)
        seconds = (deadline - datetime.now(timezone.utc)).total_seconds()
        request = request.model_copy(update={"deadline": deadline})
        async with AsyncExitStack() as stack:
            client = self.client if self.client is not None else await stack.enter_async_context(_client())
            asking = WebhookExchange(self, client, request, anyio.current_time() + seconds)
            return await (asking.ask() if self.deferred is None else asking.ask_with(self.deferred))


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
