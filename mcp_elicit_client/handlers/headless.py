"""`HeadlessHandler`: answers without a user."""

from __future__ import annotations

from collections.abc import Collection

import anyio.to_thread

from mcp_elicit_client._arguments import check_texts
from mcp_elicit_client.core.helpers import default_answer
from mcp_elicit_client.typing import Answer, Request


class HeadlessHandler:
    """
    Answer requests without a user.

    Every request is cancelled, except forms from the servers in
    `accept_defaults_from` that are complete with their default values.

    Args:
        accept_defaults_from: The names of servers whose default values are
            accepted.  Forms without default values and URLs are cancelled,
            because only a user can answer them.

    Raises:
        TypeError: If `accept_defaults_from` is not a collection of strings.
    """

    def __init__(self, *, accept_defaults_from: Collection[str] = ()) -> None:
        check_texts("accept_defaults_from", accept_defaults_from)
        self._accept_defaults_from = accept_defaults_from

    async def __call__(self, request: Request, /) -> Answer:
        """Answer *request*."""
        if request.server.name not in self._accept_defaults_from:
            return Answer.cancel(by="unattended", reason="there is no user to ask")
        answer = await anyio.to_thread.run_sync(default_answer, request, abandon_on_cancel=True)
        if answer.action != "accept":
            return answer
        return answer.model_copy(update={"reason": "the server is listed in accept_defaults_from"})
