"""A handler whose user is elsewhere."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from mcp_elicit_client.dispatch import settle_defaults
from mcp_elicit_client.exceptions import InboxError
from mcp_elicit_client.inbox.inbox import Inbox
from mcp_elicit_client.stored_answers import stored_answers
from mcp_elicit_client.typing import Answer, Request

_logger = logging.getLogger("mcp_elicit_client")


@dataclass(frozen=True, slots=True)
class InboxHandler:
    """
    Put questions into an inbox, and wait until somebody answers them there.

    Where it is not clear whose a question is, nobody is asked: cancel.  So it
    is where the inbox cannot be used.

    Attributes:
        inbox: Where the questions go.
        owner: Whose a request is: a user, a conversation.  None or an empty
            text if that is not clear.
    """

    inbox: Inbox
    owner: Callable[[Request], str | None]

    async def __call__(self, request: Request, /) -> Answer:
        """Wait for the answer; being cancelled withdraws the question."""
        stored = stored_answers.get()
        if stored is not None:  # also where it is not registered
            return await stored.answer(request)
        owner = self.owner(request)
        if not isinstance(owner, str) or not owner:
            return Answer.cancel(by="unattended", reason="it is not clear whose question this is")
        try:
            return await self.inbox.ask(owner, await settle_defaults(request))
        except InboxError as error:
            _logger.warning("a question of server %r could not be asked: %s", request.server.name, error)
            return Answer.cancel(by="error", reason=str(error))
