"""`Editor`: the editor at the other end of an agent's connection, and what the agent asks it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import anyio

from mcp_elicit_client.handlers.acp import wire
from mcp_elicit_client.handlers.acp.connection import ConnectionTap
from mcp_elicit_client.typing import Action, Mode, UrlRequest

if TYPE_CHECKING:
    from acp.agent.connection import AgentSideConnection
    from acp.interfaces import Client

_COMPLETION_TIMEOUT = 3_600.0
"""How long the editor is notified of a completed URL elicitation after its answer, in seconds."""


class EditorError(Exception):
    """
    The editor did not ask the user, or its response is not valid.

    Attributes:
        was_asked: The user may have been asked.
    """

    def __init__(self, reason: str, *, was_asked: bool = True) -> None:
        super().__init__(reason)
        self.was_asked = was_asked


class Editor:
    """
    The editor, or another ACP client, at the other end of an agent's connection.

    Create it in the agent's ``on_connect``.

    Args:
        connection: The connection that ``on_connect`` gets.

    Raises:
        TypeError: If *connection* is not a connection of
            ``agent-client-protocol``.
    """

    def __init__(self, connection: AgentSideConnection | Client) -> None:
        self._connection = EditorConnection(connection)

    @property
    def modes(self) -> frozenset[Mode]:
        """
        The modes that the editor declared in ``initialize``.  Register `EditorHandler` for these.

        Raises:
            RuntimeError: If this object has not seen ``initialize``.
        """
        return self._connection.modes


class EditorConnection:
    """The requests and notifications that `EditorHandler` sends to an editor."""

    def __init__(self, connection: AgentSideConnection | Client) -> None:
        self._modes: frozenset[Mode] | None = None
        self._open: dict[str, set[anyio.CancelScope]] = {}
        self._cancelled_sessions: set[str] = set()
        self._tap = ConnectionTap(connection, received=self._on_received)

    @property
    def modes(self) -> frozenset[Mode]:
        """As `Editor.modes`."""
        if self._modes is None:
            raise RuntimeError("`Editor` has not seen `initialize` of the editor. Create it in `on_connect`.")
        return self._modes

    async def ask(self, params: Mapping[str, Any]) -> tuple[Action, Mapping[str, Any]]:
        """
        Send ``elicitation/create`` and return the action and the content of the response.

        Raises:
            ConnectionError: If the connection is closed.
            EditorError: If the editor did not ask, or its response is not
                valid.
        """
        return _read_response(await self._tap.request(wire.CREATE, params))

    def complete(self, elicitation_id: str) -> None:
        """Notify the editor that a URL elicitation is complete."""
        self._tap.notify(wire.COMPLETE, {"elicitationId": elicitation_id})

    def complete_after(self, request: UrlRequest, elicitation_id: str) -> None:
        """Notify the editor as soon as the MCP server reports completion, also after the answer."""
        completion = request.completion
        if completion is None:
            return

        async def wait() -> None:
            with anyio.move_on_after(_COMPLETION_TIMEOUT):
                await completion.wait()
                self.complete(elicitation_id)

        self._tap.start(wait())

    @contextlib.contextmanager
    def during_turn(self, session_id: str) -> Iterator[anyio.CancelScope]:
        """
        Cancel this block when the user cancels the turn of the session (``session/cancel``).

        After that, it is cancelled at once, until the next turn.
        """
        with anyio.CancelScope() as scope:
            if session_id in self._cancelled_sessions:
                scope.cancel()
            scopes = self._open.setdefault(session_id, set())
            scopes.add(scope)
            try:
                yield scope
            finally:
                scopes.discard(scope)
                if not scopes and self._open.get(session_id) is scopes:
                    del self._open[session_id]

    def _on_received(self, message: wire.WireMessage) -> bool:
        session_id = wire.as_mapping(message.get("params")).get("sessionId")
        match message.get("method"):
            case wire.INITIALIZE:
                self._modes = wire.declared_modes(message)
            case wire.PROMPT if isinstance(session_id, str):
                self._cancelled_sessions.discard(session_id)
            case wire.CANCEL_SESSION if isinstance(session_id, str):
                self._cancelled_sessions.add(session_id)
                for scope in self._open.get(session_id, ()):
                    scope.cancel()
        return False


def _read_response(message: wire.WireMessage) -> tuple[Action, Mapping[str, Any]]:
    error = message.get("error")
    if error is not None:
        code = wire.as_mapping(error).get("code")
        refused = code in (wire.INVALID_PARAMS, wire.METHOD_NOT_FOUND)
        shown = code if isinstance(code, int) else "unknown"
        raise EditorError(f"the editor responded with an error (code {shown})", was_asked=not refused)
    result = wire.as_mapping(message.get("result"))
    action = result.get("action")
    if action not in ("accept", "decline", "cancel"):
        raise EditorError("the editor's response has no valid action")
    content = result.get("content") if action == "accept" else None
    if not (content is None or isinstance(content, Mapping)):
        raise EditorError("the content of the editor's response is not an object")
    return action, content or {}
