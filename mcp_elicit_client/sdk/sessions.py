"""
Sessions of the official SDK that are honest, and that listen while a question is open.

They declare the modes that are answered and no other, where the SDK declares
both as soon as there is a callback.  With mcp 1.x the callback runs in a task
of its own, where the SDK runs it inside its receive loop: while the user
thinks, results of other calls, completions, the server's cancel and its death
are seen.  A request that is abandoned is told to the server, as mcp 2.x does.

Private parts of the SDK are involved, since it has no public ones for this:
``_received_request``, ``_handle_incoming``, ``_receive_loop``, ``_request_id``
and ``_send_response`` of mcp 1.x, ``_build_capabilities`` and
``Client._build_session`` of 2.x.  The tests run with both ends of the
supported range, so that a change breaks them and not a host.
"""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import Collection
from typing import Any

import anyio
import anyio.lowlevel
import mcp
from mcp import types

from mcp_elicit_client.sdk.callback import supports_multi_round_trip
from mcp_elicit_client.typing import Mode

_logger = logging.getLogger("mcp_elicit_client")

_ClientSession: Any = mcp.ClientSession
_Client: Any = getattr(mcp, "Client", object)
_FAREWELL = 1.0
"""How long telling the server that a request is abandoned may take, in seconds."""


def client_session(read: Any, write: Any, *, modes: Collection[Mode], **options: Any) -> Any:
    """
    Make a ``ClientSession`` that declares just *modes*.

    Args:
        read: The stream to read from, as for ``ClientSession``.
        write: The stream to write to.
        modes: The modes that the callback answers.
        options: What else ``ClientSession`` takes, by keyword.
    """
    if supports_multi_round_trip():
        return declare_modes(_ClientSession(read, write, **options), modes)
    return _ConcurrentSession(read, write, modes=modes, **options)


def client(server: Any, *, modes: Collection[Mode], **options: Any) -> Any:
    """
    Make a ``Client`` of mcp 2.x that declares just *modes*.

    Args:
        server: What ``Client`` takes: a URL, a command, a transport, a server.
        modes: The modes that the callback answers.
        options: What else ``Client`` takes, by keyword.

    Raises:
        RuntimeError: With mcp 1.x, which has no ``Client``.
    """
    if not supports_multi_round_trip():
        raise RuntimeError("mcp 1.x has no Client: use a session, or install mcp 2")
    return _CapabilityClient.declaring(modes, server, options)


def declare_modes(session: Any, modes: Collection[Mode]) -> Any:
    """Make a ``ClientSession`` of mcp 2.x, not yet connected, declare just *modes*."""
    session._build_capabilities = functools.partial(_narrowed, session._build_capabilities, modes)  # noqa: SLF001
    return session


def _narrowed(build: Any, modes: Collection[Mode], version: str) -> Any:
    capabilities = build(version)
    return capabilities.model_copy(update={"elicitation": _capability(modes)})


def _capability(modes: Collection[Mode]) -> types.ElicitationCapability | None:
    if not modes:
        return None
    return types.ElicitationCapability.model_validate({mode: {} for mode in ("form", "url") if mode in modes})


class _CapabilityClient(_Client):  # type: ignore[misc,unused-ignore]
    _modes: Collection[Mode]

    @classmethod
    def declaring(cls, modes: Collection[Mode], server: Any, options: dict[str, Any]) -> Any:
        made = cls(server, **options)
        made._modes = modes
        return made

    async def _build_session(self, exit_stack: Any) -> Any:
        return declare_modes(await super()._build_session(exit_stack), self._modes)


class _ConcurrentSession(_ClientSession):  # type: ignore[misc,unused-ignore]
    """A session of mcp 1.x that goes on receiving while a question is open."""

    def __init__(self, read: Any, write: Any, *, modes: Collection[Mode], **options: Any) -> None:
        super().__init__(read, write, **options)
        self._modes = modes
        self._questions: Any = None
        self.gone = anyio.Event()

    async def send_request(self, request: Any, *arguments: Any, **options: Any) -> Any:
        first = isinstance(request.root, types.InitializeRequest)
        if first:
            request.root.params.capabilities.elicitation = _capability(self._modes)
        request_id = self._request_id
        try:
            return await super().send_request(request, *arguments, **options)
        except anyio.get_cancelled_exc_class():
            if not first:  # the protocol forbids to cancel that one
                await self._abandon(request_id)
            raise

    async def _abandon(self, request_id: Any) -> None:
        params = {"requestId": request_id, "reason": "the caller left"}
        notice: Any = types.CancelledNotification.model_validate(
            {"method": "notifications/cancelled", "params": params}
        )
        wrap: Any = types.ClientNotification
        with (
            anyio.move_on_after(_FAREWELL, shield=True),
            contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError),
        ):
            await self.send_notification(wrap(notice))

    async def _receive_loop(self) -> None:
        async with anyio.create_task_group() as questions:
            self._questions = questions
            try:
                await super()._receive_loop()
            finally:
                self.gone.set()
            questions.cancel_scope.cancel()

    async def _received_request(self, responder: Any) -> None:
        if not _is_elicitation(responder):
            await super()._received_request(responder)
            return
        self._questions.start_soon(self._answer, responder)
        await anyio.lowlevel.checkpoint()  # lets the task take the responder, so that it can be cancelled

    async def _answer(self, responder: Any) -> None:
        try:
            await super()._received_request(responder)
        except anyio.get_cancelled_exc_class():
            if not responder.cancelled:  # not this question, but the session ends
                raise
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            _logger.debug("a question was answered when the server had gone")
        except Exception:
            _logger.exception("a question could not be answered")
            error = types.ErrorData(code=types.INTERNAL_ERROR, message="the question could not be answered")
            with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                await self._send_response(responder.request_id, error)

    async def _handle_incoming(self, message: Any) -> None:
        # The loop passes on what has no answer yet; a question will have one.
        if not _is_elicitation(message):
            await super()._handle_incoming(message)


def _is_elicitation(message: Any) -> bool:
    request = getattr(getattr(message, "request", None), "root", None)
    return isinstance(request, types.ElicitRequest) and getattr(request.params, "task", None) is None
