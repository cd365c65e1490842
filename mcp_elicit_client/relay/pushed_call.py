"""`PushedCall`: one call whose client is asked with `elicitation/create` while the call runs."""

from __future__ import annotations

import logging
from typing import Any

import anyio
import anyio.abc
from pydantic import ValidationError

from mcp_elicit_client.calls.active_call import ActiveCall, AskParams
from mcp_elicit_client.calls.server_errors import error_code, sdk_error
from mcp_elicit_client.calls.suspending import Deferral, defer_into
from mcp_elicit_client.calls.url_elicitations import URL_ELICITATION_REQUIRED, UrlRequired
from mcp_elicit_client.core.answer import UrlElicitationIncompleteError
from mcp_elicit_client.core.request import BatchPosition, UrlRequest
from mcp_elicit_client.exceptions import REPORT, RequestError
from mcp_elicit_client.relay.connections import MAX_LISTENERS, UpstreamConnection
from mcp_elicit_client.relay.downstream import Downstream
from mcp_elicit_client.relay.wire import answer_of_result, client_params
from mcp_elicit_client.typing import Answer, Request

_logger = logging.getLogger("mcp_elicit_client")

COMPLETION_TTL = 600.0
"""How long the completion of a URL elicitation is awaited, in seconds."""


class PushedCall:
    """
    One call.

    Args:
        downstream: The client that makes the call.
        connection: The connection that the call uses.
        group: Where tasks run that outlive the call.
    """

    def __init__(self, downstream: Downstream, connection: UpstreamConnection, group: anyio.abc.TaskGroup) -> None:
        self._downstream = downstream
        self._connection = connection
        self._group = group
        self.is_active: bool = True

    async def ask(self, request: Request) -> Answer:
        """Ask the client.  If this is cancelled, the request is withdrawn there."""
        params = client_params(request, self._downstream.protocol_version)
        try:
            result = await self._downstream.elicit(params)
        except ValidationError:  # its text contains what the user entered
            return _cancel(request, "an invalid result")
        except Exception as error:
            if error_code(error) is None:
                raise
            return _cancel(request, "an error")
        answer = answer_of_result(result)
        if answer.action == "accept":
            self._await_completion(request, params)
        return answer

    async def forward_urls(self, _call: ActiveCall, ask: AskParams, required: UrlRequired) -> None:
        """
        Forward required URL elicitations to the client with the error ``-32042``, and report completions from now on.

        Raises:
            UrlElicitationIncompleteError: If a policy or a limit refuses one
                of the URLs.
            Exception: Otherwise, the error of the SDK for the client.
        """
        deferred: dict[str, Deferral] = {}
        for number, params in enumerate(required.elicitations, 1):
            position = BatchPosition(number=number, total=len(required.elicitations))
            stored = defer_into(deferred, str(number))
            try:
                answer = await ask(params, stored=stored, batch_position=position, respond_after="completion")
            except RequestError as unsafe:
                raise UrlElicitationIncompleteError(
                    f"The server requires a URL elicitation that is not allowed: {unsafe}. {REPORT}"
                ) from required.error
            if answer.by != "pending":
                raise UrlElicitationIncompleteError(
                    "The server requires a URL elicitation that a policy of the gateway refused.", (answer,)
                ) from required.error
        shown = [each.shown for each in deferred.values() if isinstance(each.shown, UrlRequest)]
        entries = [client_params(each, self._downstream.protocol_version) for each in shown]
        for request, entry in zip(shown, entries, strict=True):
            self._await_completion(request, entry)
        raise sdk_error(URL_ELICITATION_REQUIRED, "URL elicitations are required.", {"elicitations": entries})

    def _await_completion(self, request: Request, params: dict[str, Any]) -> None:
        if not isinstance(request, UrlRequest) or request.completion is None:
            return
        if self._connection.listeners < MAX_LISTENERS:
            self._connection.listeners += 1
            self._group.start_soon(self._report_completion, request.completion, params["elicitationId"])

    async def _report_completion(self, completion: Any, elicitation_id: str) -> None:
        try:
            with anyio.move_on_after(COMPLETION_TTL):
                await completion.wait()
                await self._downstream.complete(elicitation_id, is_calling=self.is_active)
        except Exception as error:  # noqa: BLE001 -- the client may have gone
            _logger.debug("a completed URL elicitation could not be reported: %r", error)
        finally:
            self._connection.listeners -= 1


def _cancel(request: Request, returned: str) -> Answer:
    _logger.warning("the client of the gateway returned %s for a request of %r", returned, request.server.name)
    return Answer.cancel(by="error", reason=f"the client of the gateway returned {returned}")
