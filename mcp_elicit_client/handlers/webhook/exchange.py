"""One question on its way to a webhook, and through an inbox if there is one."""

from __future__ import annotations

import logging
import math
import secrets as random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio
import httpx

from mcp_elicit_client._concurrency import run_until
from mcp_elicit_client.dispatch import check_answer_async
from mcp_elicit_client.exceptions import EntryClosedError, EntryNotFoundError, InboxError, State
from mcp_elicit_client.handlers.webhook.delivery import UndeliveredError, deliver
from mcp_elicit_client.handlers.webhook.payloads import closed, question, read_reply
from mcp_elicit_client.handlers.webhook.signatures import SignatureError, sign, verify_signature
from mcp_elicit_client.inbox.inbox import Inbox
from mcp_elicit_client.typing import Answer, Request

if TYPE_CHECKING:
    from mcp_elicit_client.handlers.webhook.handler import WebhookHandler

_GOODBYE = 5.0

_logger = logging.getLogger("mcp_elicit_client")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeferredAnswers:
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


class WebhookExchange:
    """
    One question on its way.

    Args:
        handler: How it is asked.
        client: What sends.
        request: The question.
        deadline: When its time is over, on the event loop's clock.
    """

    def __init__(self, handler: WebhookHandler, client: httpx.AsyncClient, request: Request, deadline: float) -> None:
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

    async def ask_with(self, deferred: DeferredAnswers) -> Answer:
        """Ask a webhook that may answer later: the question waits in the inbox meanwhile."""
        owner = deferred.owner(self._request)
        if not isinstance(owner, str) or not owner:
            return Answer.cancel(by="unattended", reason="it is not clear whose question this is")
        placed = anyio.Event()
        from_webhook: Answer | None = None

        def place(entry_id: str) -> None:
            self._id = entry_id
            placed.set()

        async def send() -> None:
            nonlocal from_webhook
            await placed.wait()
            answer = await self._send(f"{deferred.url.rstrip('/')}/{self._id}")
            if answer is not None and answer.by != "error":
                answer = await self._claim(deferred.inbox, owner, answer)
            from_webhook = answer
            if answer is None or answer.by != "error":
                await anyio.sleep_forever()  # until what is in the inbox now, or will be, has arrived

        state: State = "withdrawn"
        try:
            answer = await run_until(send, lambda: deferred.inbox.ask(owner, self._request, placed=place))
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
            fits = await inbox.answer(owner, self._id, answer.action, answer.content, answered_by=who)
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
            if verify_signature(reply.body, reply.headers, handler.secret) != self._id:
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
        return await check_answer_async(self._request, answer.model_copy(update={"reason": reason}))

    @property
    def _host(self) -> str:
        return httpx.URL(self._handler.url).host

    @staticmethod
    def _failed(reason: str) -> Answer:
        return Answer.cancel(by="error", reason=reason)

    async def _close(self, state: State) -> None:
        """Tell the webhook, if it is to be told, that its answer is not wanted any more."""
        if self._is_over or not self._handler.notify_closed or not self._id:
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
