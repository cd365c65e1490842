"""
Sessions of the official SDK that declare only given modes, and receive while a request is open.

The SDK declares both modes as soon as there is a callback.  In mcp 1.x, the
callback blocks the receive loop: results of other calls, completions,
cancellations and disconnects are not seen while the user thinks.  Here it runs
in its own task.  Abandoned requests are reported to the server, as in mcp 2.x.
Both majors refuse requests that consist of a message only (`message_only`).

The SDK has no public API for this, so private parts are used:
``_received_request``, ``_handle_incoming``, ``_receive_loop``,
``_request_id`` and ``_send_response`` of mcp 1.x,
``_build_capabilities``, ``_on_request``, ``_dispatcher`` and
``Client._build_session`` of 2.x.  The tests run with both ends of the
supported range, so a change in the SDK breaks them first.
"""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import Collection, Iterator
from types import TracebackType
from typing import Any

import anyio
import anyio.lowlevel
import mcp
from mcp import types

from mcp_elicit_client._concurrency import CancellingEvent, single_error
from mcp_elicit_client.sdk.callback import supports_multi_round_trip
from mcp_elicit_client.sdk.http_transport import http_transport
from mcp_elicit_client.sdk.message_only import CompletingStream, complete_params, complete_result
from mcp_elicit_client.sdk.tasks_extension import (
    Resolve,
    client_options,
    finish_tasks,
    session_options,
    tasks_extensions,
)
from mcp_elicit_client.typing import Mode

_logger = logging.getLogger("mcp_elicit_client")

_ClientSession: Any = mcp.ClientSession
_Client: Any = getattr(mcp, "Client", object)
_NOTIFY_TIMEOUT = 1.0
"""The maximum time for reporting an abandoned request to the server, in seconds."""


class _OpenRequests:
    """
    The open requests of one server, by their IDs.

    A request that has the ID of an open one replaces it: the SDK can withdraw
    only the later one, and the server takes one response.

    Args:
        dispatcher: The dispatcher of mcp 2.x, which may begin with the later
            one.
    """

    def __init__(self, dispatcher: Any = None) -> None:
        self._dispatcher = dispatcher
        self._scopes: dict[str | int, anyio.CancelScope] = {}

    def is_replaced(self, context: Any) -> bool:
        """Return True if a later request has arrived with the same ID."""
        in_flight = getattr(self._dispatcher, "_in_flight", None)  # None for a server in the same process
        return in_flight is not None and not any(each.dctx is context for each in in_flight.values())

    @contextlib.contextmanager
    def answering(self, request_id: str | int) -> Iterator[None]:
        """Return a block in which a request is answered.  It is left at once when another request replaces this one."""
        replaced = self._scopes.get(request_id)
        if replaced is not None:
            replaced.cancel()
        with anyio.CancelScope() as scope:
            self._scopes[request_id] = scope
            try:
                yield
            finally:
                if self._scopes.get(request_id) is scope:
                    del self._scopes[request_id]


def client_session(read: Any, write: Any, *, modes: Collection[Mode], resolve_task: Resolve, **options: Any) -> Any:
    """
    Return a ``ClientSession`` that declares only *modes*, and tasks.

    Args:
        read: The stream to read from.
        write: The stream to write to.
        modes: The modes that the callback answers.
        resolve_task: Finishes a task.
        options: Other arguments of ``ClientSession``, by keyword.
    """
    if supports_multi_round_trip():
        session = _Session(read, write, **session_options(options, resolve_task))
        return finish_tasks(prepare_session(session, modes), resolve_task)
    return _ConcurrentSession(read, write, modes=modes, **options)


def client(server: Any, *, modes: Collection[Mode], resolve_task: Resolve, **options: Any) -> Any:
    """
    Return a ``Client`` of mcp 2.x that declares only *modes*, and tasks.

    Args:
        server: The first argument of ``Client``: a URL, a command, a
            transport or a server.
        modes: The modes that the callback answers.
        resolve_task: Finishes a task.
        options: Other arguments of ``Client``, by keyword.

    Raises:
        RuntimeError: With mcp 1.x, which has no ``Client``.
    """
    if not supports_multi_round_trip():
        raise RuntimeError("mcp 1.x has no Client. Use a session, or install mcp 2.")
    if isinstance(server, str) and "cache" not in options:  # a cache of the host application needs the URL
        server = http_transport(server)
    return _CapabilityClient.declaring(modes, resolve_task, server, options)


def prepare_session(session: Any, modes: Collection[Mode]) -> Any:
    """
    Prepare a ``ClientSession`` of mcp 2.x that is not connected yet.

    It declares only *modes*, takes requests that consist of a message only,
    and has the event ``disconnected``, which is set when the connection to
    the server is lost.
    """
    dispatcher = session._dispatcher  # noqa: SLF001
    session.disconnected = CancellingEvent()
    session._build_capabilities = functools.partial(_declared, session._build_capabilities, modes)  # noqa: SLF001
    session._on_request = functools.partial(_on_request, session._on_request, _OpenRequests(dispatcher))  # noqa: SLF001
    dispatcher.send_raw_request = functools.partial(_send_raw_request, dispatcher.send_raw_request)
    dispatcher.run = functools.partial(_run, dispatcher.run, session.disconnected)
    return session


async def _on_request(answer: Any, open_requests: _OpenRequests, context: Any, method: str, params: Any) -> Any:
    if not open_requests.is_replaced(context):
        with open_requests.answering(context.request_id):
            return await answer(context, method, complete_params(method, params))
    context.cancel_requested.set()  # so that the SDK sends no response: it would answer the later request
    return {}


async def _send_raw_request(send: Any, *arguments: Any, **options: Any) -> Any:
    return complete_result(await send(*arguments, **options))


async def _run(run: Any, disconnected: CancellingEvent, *arguments: Any, **options: Any) -> None:
    try:
        await run(*arguments, **options)
    finally:
        disconnected.set()


def _declared(build: Any, modes: Collection[Mode], version: str) -> Any:
    capabilities = build(version)
    return capabilities.model_copy(update={"elicitation": _capability(modes)})


def _capability(modes: Collection[Mode]) -> types.ElicitationCapability | None:
    if not modes:
        return None
    return types.ElicitationCapability.model_validate({mode: {} for mode in ("form", "url") if mode in modes})


class _WithoutGroups:
    """A mixin of context managers: errors leave them as they were raised, not in an exception group."""

    async def __aenter__(self) -> Any:
        parent: Any = super()
        try:
            return await parent.__aenter__()
        except BaseException as error:
            single = single_error(error, None)
            if single is error:
                raise
            raise single from single.__cause__

    async def __aexit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> Any:
        parent: Any = super()
        try:
            return await parent.__aexit__(kind, raised, trace)
        except BaseException as error:
            single = single_error(error, raised)
            if single is raised:
                return False
            if single is error:
                raise
            raise single from single.__cause__


class _Session(_WithoutGroups, _ClientSession):  # type: ignore[misc,unused-ignore]
    """A session of mcp 2.x."""


class _CapabilityClient(_WithoutGroups, _Client):  # type: ignore[misc,unused-ignore]
    _modes: Collection[Mode]
    _resolve_task: Resolve

    @classmethod
    def declaring(cls, modes: Collection[Mode], resolve_task: Resolve, server: Any, options: dict[str, Any]) -> Any:
        client = cls(server, **client_options(options, tasks_extensions(resolve_task)))
        client._modes = modes
        client._resolve_task = resolve_task
        return client

    async def _build_session(self, exit_stack: Any) -> Any:
        session = prepare_session(await super()._build_session(exit_stack), self._modes)
        return finish_tasks(session, self._resolve_task)


class _ConcurrentSession(_WithoutGroups, _ClientSession):  # type: ignore[misc,unused-ignore]
    """
    A session of mcp 1.x that receives while a request is open.

    Attributes:
        disconnected: Set when the connection to the server is lost.
        protocol_version: The protocol version; None before `initialize`.
    """

    def __init__(self, read: Any, write: Any, *, modes: Collection[Mode], **options: Any) -> None:
        super().__init__(CompletingStream(read), write, **options)
        self._modes = modes
        self._group: Any = None
        self._open_requests = _OpenRequests()
        self.disconnected = CancellingEvent()
        self.protocol_version: str | None = None

    async def initialize(self) -> Any:
        result = await super().initialize()
        self.protocol_version = str(result.protocolVersion)
        return result

    async def send_request(self, request: Any, *arguments: Any, **options: Any) -> Any:
        is_initialize = isinstance(request.root, types.InitializeRequest)
        if is_initialize:
            request.root.params.capabilities.elicitation = _capability(self._modes)
        request_id = self._request_id
        try:
            return await super().send_request(request, *arguments, **options)
        except anyio.get_cancelled_exc_class():
            if not is_initialize:  # the protocol does not allow clients to cancel it
                await self._report_cancelled(request_id)
            raise

    async def _report_cancelled(self, request_id: Any) -> None:
        params = {"requestId": request_id, "reason": "the client cancelled the call"}
        notification: Any = types.CancelledNotification.model_validate(
            {"method": "notifications/cancelled", "params": params}
        )
        wrap: Any = types.ClientNotification
        with (
            anyio.move_on_after(_NOTIFY_TIMEOUT, shield=True),
            contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError),
        ):
            await self.send_notification(wrap(notification))

    async def _receive_loop(self) -> None:
        async with anyio.create_task_group() as group:
            self._group = group
            try:
                await super()._receive_loop()
            finally:
                self.disconnected.set()
            group.cancel_scope.cancel()

    async def _received_request(self, responder: Any) -> None:
        if not _is_elicitation(responder):
            await super()._received_request(responder)
            return
        self._group.start_soon(self._answer, responder)
        await anyio.lowlevel.checkpoint()  # the task takes the responder, so that it can be cancelled

    async def _answer(self, responder: Any) -> None:
        try:
            with self._open_requests.answering(responder.request_id):
                await super()._received_request(responder)
        except anyio.get_cancelled_exc_class():
            if not responder.cancelled:  # the session ends, not this request
                raise
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            _logger.debug("a request was answered after the server disconnected")
        except Exception:
            _logger.exception("a request could not be answered")
            error = types.ErrorData(code=types.INTERNAL_ERROR, message="the request could not be answered")
            with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                await self._send_response(responder.request_id, error)

    async def _handle_incoming(self, message: Any) -> None:
        # The receive loop passes messages here that are not answered yet.  An elicitation will be.
        if not _is_elicitation(message):
            await super()._handle_incoming(message)


def _is_elicitation(message: Any) -> bool:
    request = getattr(getattr(message, "request", None), "root", None)
    return isinstance(request, types.ElicitRequest) and getattr(request.params, "task", None) is None
