"""ACP clients, such as editors and chats: answer the requests of an agent (``agent-client-protocol``)."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, NamedTuple

from mcp_elicit_client.calls.url_elicitations import CompletionTracker, UrlCompletion
from mcp_elicit_client.core.parse import MAX_ELICITATION_ID
from mcp_elicit_client.core.request import Server, with_completion
from mcp_elicit_client.dispatch import normalize_handler, options_for
from mcp_elicit_client.exceptions import MissingExtraError, RequestError
from mcp_elicit_client.handlers.acp import wire
from mcp_elicit_client.handlers.acp.connection import ConnectionTap
from mcp_elicit_client.request_options import RequestOptions, modes_within
from mcp_elicit_client.sdk.callback import SdkDispatcher, UserSource
from mcp_elicit_client.typing import Answer, Handler, Mode, Request, UrlRequest

if TYPE_CHECKING:
    from acp.client.connection import ClientSideConnection
    from acp.interfaces import Agent
    from acp.schema import ElicitationCapabilities

_logger = logging.getLogger("mcp_elicit_client")


def elicitation_capabilities(
    handler: Handler, *, request_options: RequestOptions | None = None
) -> ElicitationCapabilities:
    """
    Return ``ClientCapabilities.elicitation`` for *handler*: the modes of a registry, or both.

    Args:
        handler: The handler that answers.
        request_options: Limits, URL rules and modes; None for those of the
            registry.

    Raises:
        MissingExtraError: If ``agent-client-protocol`` is not installed.
    """
    try:
        from acp.schema import ElicitationCapabilities, ElicitationFormCapabilities, ElicitationUrlCapabilities
    except ImportError as error:
        raise MissingExtraError("acp", "elicitation_capabilities") from error
    options = options_for(handler, request_options)
    modes = modes_within(options, normalize_handler(handler).modes)
    return ElicitationCapabilities(
        form=ElicitationFormCapabilities() if "form" in modes else None,
        url=ElicitationUrlCapabilities() if "url" in modes else None,
    )


def answer_agent(
    connection: ClientSideConnection | Agent,
    handler: Handler,
    *,
    agent: Server | str,
    user: UserSource = None,
    request_options: RequestOptions | None = None,
) -> None:
    """
    Answer the elicitation requests of an agent with *handler*.

    Call this in the client's ``on_connect``, and declare
    `elicitation_capabilities`: requests in a mode that the client did not
    declare are refused with the error ``-32602``.  The client's own
    ``create_elicitation`` and ``complete_elicitation`` are not called, and
    ``use_unstable_protocol`` is not needed.

    An open request is withdrawn when the agent cancels it, when the client
    cancels the turn (``session/cancel``), and when the connection ends.
    After a turn was cancelled, requests of its session are cancelled until
    the next turn.

    Args:
        connection: The connection that ``on_connect`` gets.
        handler: The handler: a registry, or any other.
        agent: The name of the agent that your users see.
        user: As for `sdk.callback.elicitation_callback`.
        request_options: Limits, URL rules and modes; None for those of the
            registry.

    Raises:
        TypeError: If *connection* is not a connection of
            ``agent-client-protocol``, or *handler* is not a handler.
        ValueError: As for `sdk.callback.elicitation_callback`.
    """
    _AgentRequests(handler, Server.from_name(agent), user, request_options).attach(connection)


class _OpenRequest(NamedTuple):
    """A request of an agent that is not answered yet."""

    task: asyncio.Task[None]
    session_id: object
    elicitation_id: object


class _AgentRequests:
    """The requests of one agent over one connection."""

    def __init__(
        self, handler: Handler, agent: Server, user: UserSource, request_options: RequestOptions | None
    ) -> None:
        self._handler = normalize_handler(handler)
        self._dispatcher = SdkDispatcher(self._handler.wrapped_in(self._ask), request_options, user)
        self._agent = agent
        self._declared: frozenset[Mode] | None = None
        self._completions = CompletionTracker()
        self._open: dict[object, _OpenRequest] = {}
        self._elicitation_ids: set[str] = set()
        self._cancelled_sessions: set[object] = set()

    def attach(self, connection: object) -> None:
        """Handle the messages of *connection*."""
        self._tap = ConnectionTap(connection, received=self._on_received, sent=self._on_sent)

    def _on_sent(self, message: wire.WireMessage) -> None:
        match message.get("method"):
            case wire.INITIALIZE:
                self._declared = wire.declared_modes(message)
            case wire.PROMPT:
                self._cancelled_sessions.discard(wire.as_mapping(message.get("params")).get("sessionId"))
            case wire.CANCEL_SESSION:
                session_id = wire.as_mapping(message.get("params")).get("sessionId")
                self._cancelled_sessions.add(session_id)
                for request_id in [each for each, request in self._open.items() if request.session_id == session_id]:
                    self._withdraw(request_id, result={"action": "cancel"})

    def _on_received(self, message: wire.WireMessage) -> bool:
        """Return True if the package must not see *message*."""
        params = wire.as_mapping(message.get("params"))
        match message.get("method"):
            case wire.CREATE if "id" in message:
                self._start(message["id"], params)
            case wire.COMPLETE:
                elicitation_id = params.get("elicitationId")
                if isinstance(elicitation_id, str) and len(elicitation_id) <= MAX_ELICITATION_ID:
                    self._completions.complete(elicitation_id)
            case wire.CANCEL_REQUEST:
                request_id = params.get("requestId")
                # Others have their response.  The package has no such method, and would log an error.
                if isinstance(request_id, (str, int)) and request_id in self._open:
                    self._withdraw(request_id, error={"code": wire.REQUEST_CANCELLED, "message": "Request cancelled"})
            case _:
                return False
        return True

    def _start(self, request_id: object, params: wire.WireMessage) -> None:
        if request_id in self._open:
            self._refuse(request_id, "the ID of the request is in use")
            return
        session_id = params.get("sessionId")
        if isinstance(session_id, str) and session_id in self._cancelled_sessions:  # it crossed the cancel of the turn
            self._tap.respond(request_id, result={"action": "cancel"})
            return
        elicitation_id = params.get("elicitationId")
        if isinstance(elicitation_id, str):
            if elicitation_id in self._elicitation_ids:
                self._refuse(request_id, "`elicitationId` is in use")
                return
            self._elicitation_ids.add(elicitation_id)
            self._completions.forget(elicitation_id)
        task = self._tap.start(self._answer(request_id, params))
        self._open[request_id] = _OpenRequest(task, session_id, elicitation_id)

    def _withdraw(self, request_id: object, **response: Any) -> None:
        self._open[request_id].task.cancel()
        self._remove(request_id)
        self._tap.respond(request_id, **response)

    def _refuse(self, request_id: object, reason: str) -> None:
        self._tap.respond(request_id, **self._refusal(reason))

    def _refusal(self, reason: str) -> dict[str, Any]:
        _logger.warning("a request of agent %r is refused: %s", self._agent.name, reason)
        return {"error": {"code": wire.INVALID_PARAMS, "message": reason}}

    async def _answer(self, request_id: object, params: wire.WireMessage) -> None:
        response = await self._response(params)
        request = self._open.get(request_id)
        # A handler may go on after its request was withdrawn, and the agent may have used the ID again.
        if request is not None and request.task is asyncio.current_task():
            self._tap.respond(request_id, **response)
            self._remove(request_id)

    async def _response(self, params: wire.WireMessage) -> dict[str, Any]:
        if self._declared is None:
            _logger.warning("`answer_agent` has not seen `initialize` of the client. Call it in `on_connect`.")
        try:
            request = wire.to_mcp_params(params, self._declared or frozenset())
            answer = await self._dispatcher.answer_in(None, request, server=self._agent)
        except RequestError as error:
            return self._refusal(str(error))
        except Exception:
            _logger.exception("a request of agent %r could not be answered", self._agent.name)
            return {"result": {"action": "cancel"}}
        return {"result": self._dispatcher.to_wire(answer)}

    def _remove(self, request_id: object) -> None:
        """Forget a request that has its response: the agent may use its IDs again."""
        request = self._open.pop(request_id, None)
        if request is not None and isinstance(request.elicitation_id, str):
            self._elicitation_ids.discard(request.elicitation_id)

    async def _ask(self, request: Request, /) -> Answer:
        if isinstance(request, UrlRequest) and request.elicitation_id is not None:
            request = with_completion(request, UrlCompletion(self._completions, request.elicitation_id))
        return await self._handler(request)
