"""`InboxHandler`: stores requests in an inbox and waits for their answers."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

import anyio

from mcp_elicit_client._arguments import check_async, check_type
from mcp_elicit_client._concurrency import call_inside
from mcp_elicit_client.core.answer import Answer
from mcp_elicit_client.core.notice import Notice
from mcp_elicit_client.core.request import check_user
from mcp_elicit_client.dispatch import settle_defaults_async
from mcp_elicit_client.exceptions import InboxError
from mcp_elicit_client.inbox.inbox import Inbox, ask_and_show, record_notice
from mcp_elicit_client.stored_answers import stored_answers
from mcp_elicit_client.typing import Request

_logger = logging.getLogger("mcp_elicit_client")


class InboxHandler:
    """
    Store requests in an inbox and wait for their answers.

    The owner of a stored request is its user (`Request.user`).  If the inbox
    cannot be used, the answer is a cancel.

    Args:
        inbox: The inbox.
        default_user: The owner of requests without a user, if all requests
            in the inbox are for one person.  None if several users share the
            inbox: requests without a user are then cancelled.
        on_pending: An async function that is called with the owner and the ID
            of each new request, for example to send the owner a link.  It
            cannot answer.  If it raises, that is logged.

    Raises:
        TypeError: If *inbox* is not an `Inbox`, or *on_pending* not an async
            function that takes the owner and the ID.
        ValueError: If *default_user* does not have 1 to 256 characters.
    """

    def __init__(
        self,
        inbox: Inbox,
        default_user: str | None = None,
        on_pending: Callable[[str, str], Awaitable[object]] | None = None,
    ) -> None:
        check_type("inbox", inbox, Inbox, hint="Pass Inbox(store).")
        if on_pending is not None:
            check_async("on_pending", on_pending, "owner", "entry_id")
        self._inbox = inbox
        self._default_user = check_user(default_user, "default_user")
        self._on_pending = on_pending

    async def __call__(self, request: Request, /) -> Answer:
        """Wait for the answer.  If this is cancelled, the request is withdrawn."""
        stored = stored_answers.get()
        if stored is not None:  # also where the handler is not registered
            return await stored.answer(request)
        owner = request.user or self._default_user
        if owner is None:
            _logger.warning(
                "a request of server %r is cancelled: it has no user. Pass `user` to the callback or the `Caller`, "
                "or `default_user` to the handler.",
                request.server.name,
            )
            return Answer.cancel(by="unattended", reason="the request has no user")
        try:
            settled = await settle_defaults_async(request)
            if self._on_pending is None:
                return await self._inbox.ask(owner, settled)
            return await self._ask_and_notify(owner, settled, self._on_pending)
        except InboxError as error:
            _logger.warning("A request of server %r could not be stored: %s", request.server.name, error)
            return Answer.cancel(by="error", reason=str(error))

    async def _ask_and_notify(
        self, owner: str, request: Request, on_pending: Callable[[str, str], Awaitable[object]]
    ) -> Answer:
        async def announce(entry_id: str) -> None:
            try:
                await call_inside(lambda: on_pending(owner, entry_id))
            except Exception:
                _logger.exception("The owner of a new request could not be notified.")
            await anyio.sleep_forever()

        answer = await ask_and_show(self._inbox, owner, request, announce)
        assert answer is not None  # `announce` does not end
        return answer

    async def notify(self, notice: Notice, /) -> None:
        """Add a request that a policy declined to the history of its user."""
        owner = notice.request.user or self._default_user
        if owner is not None:
            await record_notice(self._inbox, owner, notice)
