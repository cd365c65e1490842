"""`Caller`: makes calls to one server and handles every elicitation that the calls lead to."""

from __future__ import annotations

import dataclasses
import functools
import logging
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypedDict, overload

from pydantic import AnyUrl
from typing_extensions import Unpack

from mcp_elicit_client._arguments import check_async, check_type
from mcp_elicit_client.calls.active_call import ActiveCall, CallTimeouts
from mcp_elicit_client.calls.connections import _Connections
from mcp_elicit_client.calls.methods import AnyClient, CallSpec, ProgressCallback, check_call, unwrap_session
from mcp_elicit_client.calls.resuming import claim_call, load_call
from mcp_elicit_client.calls.runner import CallLimits, CallRunner, CompleteUrls, FinishTask
from mcp_elicit_client.calls.server_errors import reports_missing_push
from mcp_elicit_client.calls.suspending import (
    CallPauser,
    CallSuspender,
    SuspendedCall,
    SuspendOptions,
    TaskSnapshot,
    owner_of_call,
    user_of_call,
)
from mcp_elicit_client.calls.task_calls import TaskCalls
from mcp_elicit_client.calls.task_polling import OnTaskStatus, TaskHandle
from mcp_elicit_client.calls.url_elicitations import complete_urls
from mcp_elicit_client.core.request import Server, check_user
from mcp_elicit_client.exceptions import HandshakeRequiredError, ResumeError
from mcp_elicit_client.inbox.suspended_calls import calls_of
from mcp_elicit_client.request_options import RequestOptions
from mcp_elicit_client.sdk.callback import uses_multi_round_trip
from mcp_elicit_client.typing import Handler, Mode

if TYPE_CHECKING:
    from mcp.types import CallToolResult, GetPromptResult, ReadResourceResult

_logger = logging.getLogger("mcp_elicit_client")

ANSWER_TIMEOUT = 240.0
"""
The default time of the user, in seconds.  It is less than the 300 s after
which the SDK's HTTP transport stops reading, and less than the 600 s for which
the Python SDK's server accepts its state.
"""


class CallOptions(TypedDict, total=False):
    """The options of all calls; see `Caller.call_tool`."""

    user: str | None
    timeout: float | None
    answer_timeout: float | None
    meta: Mapping[str, Any] | None


class ToolOptions(CallOptions, total=False):
    """The options of tool calls; see `Caller.call_tool`."""

    progress_callback: ProgressCallback | None
    on_task_status: OnTaskStatus | None


class Caller(_Connections):
    """
    Makes calls to one server, and answers its requests.

    Create one `Caller` for each server.  It works with ``ClientSession`` of
    mcp 1.x and 2.x, ``Client`` of mcp 2.x, and FastMCP's ``Client``.  Connect
    with `session` or `client`, which declare only the modes that are answered,
    or make the connection yourself with `callback` and `message_handler`.

    Args:
        handler: The handler that answers: a registry, or any other.
        server: The name that your users see.
        user: The user that calls are for, and requests outside of calls: 1 to
            256 characters; None if there is only one user.  A call may name
            another.  Use one session for each user: if calls of several users
            are active over one session, server-initiated requests are
            cancelled, because the SDK does not say which call they belong to.
        modes: The modes that are declared and answered.  Requests in another
            mode are refused.  None for the modes of the registry, or both.
        request_options: Limits, URL rules and modes; None for those of the
            registry.
        max_questions: The maximum number of requests in one call.
        max_rounds: How often the server may require input in one call
            (2026-07-28).
        max_retries: How often one call is sent again because of required URL
            elicitations (``-32042``).

    Attributes:
        server: The server.
        request_options: Limits, URL rules and modes.
        handler: The handler for adapters in `hosts`, where another library
            makes the session.  It answers server-initiated requests.  The SDK
            does not say which call a request belongs to: if several calls are
            active, the timeouts of all of them are paused.

    Raises:
        TypeError: If an argument is of the wrong type.
        ValueError: If options of the registry would have no effect, or
            *modes* contains anything but modes; or if *user* is empty or too
            long, or a limit is negative.
    """

    def __init__(  # noqa: PLR0913 -- limits with defaults, all by keyword
        self,
        handler: Handler,
        server: Server | str,
        *,
        user: str | None = None,
        modes: Collection[Mode] | None = None,
        request_options: RequestOptions | None = None,
        max_questions: int = 25,
        max_rounds: int = 10,
        max_retries: int = 5,
    ) -> None:
        super().__init__(handler, server, user, modes, request_options)
        self._limits = CallLimits(max_questions=max_questions, max_rounds=max_rounds, max_retries=max_retries)
        self._tasks = TaskCalls(self._elicitations, self.server.name)

    @overload
    async def call_tool(
        self,
        client: AnyClient,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        suspend: None = None,
        wait: Literal[True] = True,
        **options: Unpack[ToolOptions],
    ) -> CallToolResult: ...

    @overload
    async def call_tool(
        self,
        client: AnyClient,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        suspend: SuspendOptions,
        wait: Literal[True] = True,
        **options: Unpack[ToolOptions],
    ) -> CallToolResult | SuspendedCall: ...

    @overload
    async def call_tool(
        self,
        client: AnyClient,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        suspend: None = None,
        wait: bool,
        **options: Unpack[ToolOptions],
    ) -> CallToolResult | TaskHandle: ...

    @overload
    async def call_tool(
        self,
        client: AnyClient,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        suspend: SuspendOptions | None = None,
        wait: bool = True,
        **options: Unpack[ToolOptions],
    ) -> CallToolResult | SuspendedCall | TaskHandle: ...

    async def call_tool(  # noqa: PLR0913 -- as the SDK's, and two timeouts, by keyword
        self,
        client: AnyClient,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        user: str | None = None,
        timeout: float | None = None,
        answer_timeout: float | None = ANSWER_TIMEOUT,
        meta: Mapping[str, Any] | None = None,
        progress_callback: ProgressCallback | None = None,
        suspend: SuspendOptions | None = None,
        wait: bool = True,
        on_task_status: OnTaskStatus | None = None,
    ) -> CallToolResult | SuspendedCall | TaskHandle:
        """
        Call a tool, and handle every elicitation that the call leads to.

        If the server requires URL elicitations (``-32042``), the user is asked
        and the call is sent again.  If it requires input (2026-07-28), its
        requests are answered one at a time and the call continues.  If it
        creates a task, the task is polled and its requests are answered.  If
        the call is cancelled or fails, its open request is withdrawn, and its
        task is cancelled.

        Args:
            client: A ``ClientSession``, or a ``Client`` of mcp 2.x or FastMCP.
            name: The name of the tool.
            arguments: The arguments of the tool.
            user: The user that the call is for; None for that of the
                `Caller`.
            timeout: The maximum time of the server, in seconds; None for no
                limit.  It is paused while a request is open.  The read
                timeout of the session does not apply.
            answer_timeout: The maximum time of the user for all requests of
                this call, in seconds; None for no limit.  When it passes, open
                requests are cancelled, and the server may end the call.
            meta: The ``_meta`` of the request.
            progress_callback: The callback of the SDK for progress.
            suspend: Where to suspend the call when it requires input from a
                user; None to wait for the answers.
            wait: Wait for the result of a task.  If False, and the server
                creates a task, its `TaskHandle` is returned at once.
            on_task_status: Is called with the `TaskHandle` for every new
                status of a task, and every new text about it.

        Returns:
            The SDK's ``CallToolResult``; or a `SuspendedCall`, if the call was
            suspended; or a `TaskHandle`.

        Raises:
            TypeError: If an argument is of the wrong type, or JSON does not
                allow a value in it.
            ValueError: If *user* is empty or too long, a timeout is not above
                0, or a call without a user is to be suspended.
            CallTimeoutError: If a timeout passes.
            UrlElicitationIncompleteError: If a required URL elicitation was
                not completed.
            RequestStateRejectedError: If the server rejects its own state.
            HandshakeRequiredError: If the server cannot ask over this
                connection.
            CallError: If the server exceeds a limit, or repeats a request
                that was declined or cancelled; or if the call cannot be suspended.
            TaskError: If a task ends without a result, or the connection is
                lost meanwhile.
            CapabilityRequiredError: If the server requires a capability that
                the client does not declare.
            InboxError: If the inbox cannot be used.
            Exception: The SDK's error, if the server returns another error.
        """
        _check_functions(progress_callback, on_task_status)
        check_type("wait", wait, bool)
        spec = CallSpec("tool", name, arguments, meta)
        timeouts = CallTimeouts(timeout, answer_timeout)
        finish_task = functools.partial(self._tasks.finish, wait=wait, on_status=on_task_status, suspend=suspend)
        result: CallToolResult | SuspendedCall | TaskHandle = await self._call(
            client,
            spec,
            timeouts,
            user=user,
            suspend=suspend,
            finish_task=finish_task,
            progress_callback=progress_callback,
        )
        return result

    @overload
    async def get_prompt(
        self,
        client: AnyClient,
        name: str,
        arguments: Mapping[str, str] | None = None,
        *,
        suspend: None = None,
        **options: Unpack[CallOptions],
    ) -> GetPromptResult: ...

    @overload
    async def get_prompt(
        self,
        client: AnyClient,
        name: str,
        arguments: Mapping[str, str] | None = None,
        *,
        suspend: SuspendOptions | None,
        **options: Unpack[CallOptions],
    ) -> GetPromptResult | SuspendedCall: ...

    async def get_prompt(  # noqa: PLR0913 -- see call_tool
        self,
        client: AnyClient,
        name: str,
        arguments: Mapping[str, str] | None = None,
        *,
        user: str | None = None,
        timeout: float | None = None,
        answer_timeout: float | None = ANSWER_TIMEOUT,
        meta: Mapping[str, Any] | None = None,
        suspend: SuspendOptions | None = None,
    ) -> GetPromptResult | SuspendedCall:
        """Get a prompt, and handle every elicitation that the call leads to, as `call_tool` does."""
        spec = CallSpec("prompt", name, arguments, meta)
        timeouts = CallTimeouts(timeout, answer_timeout)
        result: GetPromptResult | SuspendedCall = await self._call(client, spec, timeouts, user=user, suspend=suspend)
        return result

    @overload
    async def read_resource(
        self,
        client: AnyClient,
        uri: str,
        *,
        suspend: None = None,
        **options: Unpack[CallOptions],
    ) -> ReadResourceResult: ...

    @overload
    async def read_resource(
        self,
        client: AnyClient,
        uri: str,
        *,
        suspend: SuspendOptions | None,
        **options: Unpack[CallOptions],
    ) -> ReadResourceResult | SuspendedCall: ...

    async def read_resource(  # noqa: PLR0913 -- see call_tool
        self,
        client: AnyClient,
        uri: str,
        *,
        user: str | None = None,
        timeout: float | None = None,
        answer_timeout: float | None = ANSWER_TIMEOUT,
        meta: Mapping[str, Any] | None = None,
        suspend: SuspendOptions | None = None,
    ) -> ReadResourceResult | SuspendedCall:
        """Read a resource, and handle every elicitation that the call leads to, as `call_tool` does."""
        # The models of mcp 1.x have URLs of pydantic.
        spec = CallSpec("resource", str(uri) if isinstance(uri, AnyUrl) else uri, None, meta)
        timeouts = CallTimeouts(timeout, answer_timeout)
        result: ReadResourceResult | SuspendedCall = await self._call(
            client, spec, timeouts, user=user, suspend=suspend
        )
        return result

    async def resume(  # noqa: PLR0913 -- see call_tool
        self,
        call_id: str,
        client: AnyClient,
        suspend: SuspendOptions,
        *,
        user: str | None = None,
        timeout: float | None = None,
        answer_timeout: float | None = ANSWER_TIMEOUT,
        progress_callback: ProgressCallback | None = None,
        on_task_status: OnTaskStatus | None = None,
    ) -> CallToolResult | GetPromptResult | ReadResourceResult | SuspendedCall:
        """
        Continue a suspended call, in any process, once its requests are answered.

        A request that was declined is answered with decline; one that was
        withdrawn or has expired with cancel.  The call is sent at most once.
        If this process stops while it resumes the call, the outcome is
        unknown, and the call cannot be resumed again.  A task, however, can
        be resumed any number of times, until it expires.

        Args:
            call_id: The ID of the `SuspendedCall`.
            client: As in `call_tool`, for the same server.
            suspend: Where the call is stored.  If the server requires further
                input, the call is suspended there again, with its reference
                if there is no other one.
            user: The user who resumes the call; None for that of the `Caller`.
                Take it from your session, never from the request that names
                the call.  A wrong user, or none, finds no call of a user.
            timeout: As in `call_tool`.
            answer_timeout: As in `call_tool`.
            progress_callback: As in `call_tool`.
            on_task_status: As in `call_tool`.

        Returns:
            The result of the call; or a `SuspendedCall`: the same one if
            requests are still pending (nothing is sent then), or one with
            further requests.  It has no requests if *answer_timeout* passes
            while the server waits for the user.

        Raises:
            ResumeError: If the call cannot be resumed, or not here.  Nothing
                was sent.
            RequestStateRejectedError: If the server rejects its own state.
            InboxError: If the inbox cannot be used or read.
            Exception: As in `call_tool`.
        """
        check_type("suspend", suspend, SuspendOptions, hint="Pass SuspendOptions(inbox).")
        _check_functions(progress_callback, on_task_status)
        check_type("call_id", call_id, str)
        result: CallToolResult | GetPromptResult | ReadResourceResult | SuspendedCall
        session = unwrap_session(client)
        user = self._user_of_call(user)
        stored, owner = calls_of(suspend.inbox), owner_of_call(suspend, user)
        resumed_by = user_of_call(suspend, user)
        loaded = await load_call(stored, owner, call_id, self.server.name, user=resumed_by)
        if not uses_multi_round_trip(session):
            raise ResumeError("protocol")
        timeouts, limit = CallTimeouts(timeout, answer_timeout), self._limits.max_questions
        snapshot = loaded.snapshot
        if isinstance(snapshot, TaskSnapshot):
            call = ActiveCall(session, snapshot.tool, timeouts, limit, user=snapshot.user or user)
            result = await self._tasks.resume_suspended(call, snapshot.task_id, loaded, suspend, on_task_status)
            return result
        if loaded.suspended.pending_ids:
            return loaded.suspended
        async with claim_call(stored, owner, call_id) as claim:
            loaded = await load_call(stored, owner, call_id, self.server.name, "resuming", user=resumed_by)
            snapshot = loaded.snapshot
            if loaded.suspended.pending_ids or isinstance(snapshot, TaskSnapshot):
                return loaded.suspended
            suspend = dataclasses.replace(suspend, reference=suspend.reference or snapshot.reference)
            spec = snapshot.call_spec
            call = ActiveCall(session, spec.tool, timeouts, limit, snapshot.history, user=snapshot.user or user)
            suspender = CallSuspender(suspend, call, spec, self.server.name, claim)
            finish_task = functools.partial(self._tasks.finish, on_status=on_task_status, suspend=suspend, claim=claim)
            runner = self._runner(call, spec, suspender, progress_callback, finish_task=finish_task)
            result = await runner.resume(snapshot, loaded.answers, claim.mark_sent)
            return result

    async def resume_task(  # noqa: PLR0913 -- see call_tool
        self,
        task: TaskHandle | str,
        client: AnyClient,
        *,
        tool: str | None = None,
        user: str | None = None,
        timeout: float | None = None,
        answer_timeout: float | None = ANSWER_TIMEOUT,
        on_task_status: OnTaskStatus | None = None,
    ) -> CallToolResult:
        """
        Wait for the result of a task, in any process.

        Resuming can be repeated, also after errors.  If this call is
        cancelled or fails, the task runs on.  Keys that this `Caller` has
        asked are not asked again; for other processes, suspend the call.

        Args:
            task: The task, or its ID.
            client: As in `call_tool`, for the same server.
            tool: The name of the tool, if *task* is an ID; None if it is
                unknown: the result is then not checked against its schema.
            user: The user that the call is for; None for that of *task* or
                the `Caller`.
            timeout: As in `call_tool`.
            answer_timeout: As in `call_tool`.
            on_task_status: As in `call_tool`.

        Returns:
            The SDK's ``CallToolResult``.

        Raises:
            ValueError: If *task* cannot be an ID, or belongs to another
                server.
            TaskError: If the task has no result, or cannot be resumed here.
            Exception: As in `call_tool`.
        """
        _check_functions(None, on_task_status)
        call = self._task_call(task, client, tool, user, CallTimeouts(timeout, answer_timeout))
        result: CallToolResult = await self._tasks.resume(call, task, on_task_status)
        return result

    async def cancel_task(self, task: TaskHandle | str, client: AnyClient) -> None:
        """
        Cancel a task.  It may complete nevertheless.

        Args:
            task: The task, or its ID.
            client: As in `call_tool`, for the same server.

        Raises:
            ValueError: As in `resume_task`.
            TaskError: If the server no longer has the task.
            Exception: The SDK's error, if the server cannot be reached.
        """
        await self._tasks.cancel(self._task_call(task, client, None, None, CallTimeouts(None, None)), task)

    def _task_call(
        self, task: TaskHandle | str, client: AnyClient, tool: str | None, user: str | None, timeouts: CallTimeouts
    ) -> ActiveCall:
        check_type("task", task, TaskHandle, str)
        if isinstance(task, TaskHandle):
            if task.server != self.server.name:
                raise ValueError("This task belongs to another server. Resume it with the Caller of that server.")
            tool, user = tool or task.tool, user or task.user
        limit = self._limits.max_questions
        return ActiveCall(unwrap_session(client), tool, timeouts, limit, user=self._user_of_call(user))

    async def _resolve_task(self, created: Any, context: Any) -> Any:
        """Finish a task of a call that the host application made without this `Caller`, over its connection."""
        seconds = context.read_timeout_seconds
        if seconds is not None:  # The SDK takes 0 as well.  The task exists by now, and must end with the call.
            seconds = max(seconds, 0.001)
        timeouts = CallTimeouts(seconds, ANSWER_TIMEOUT)
        call = ActiveCall(context.session, context.tool_name, timeouts, self._limits.max_questions, user=self.user)
        with self._elicitations.during(call), timeouts:
            return await self._tasks.finish(call, created)

    def _user_of_call(self, user: str | None) -> str | None:
        return self.user if user is None else check_user(user)

    async def _call(  # noqa: PLR0913 -- see call_tool
        self,
        client: AnyClient,
        spec: CallSpec,
        timeouts: CallTimeouts,
        *,
        user: str | None,
        suspend: SuspendOptions | None,
        finish_task: FinishTask | None = None,
        progress_callback: ProgressCallback | None = None,
    ) -> Any:
        check_call(spec)
        user = self._user_of_call(user)
        if suspend is not None:
            check_type("suspend", suspend, SuspendOptions, hint="Pass SuspendOptions(inbox).")
            owner_of_call(suspend, user)
        call = ActiveCall(unwrap_session(client), spec.tool, timeouts, self._limits.max_questions, user=user)
        suspender = None if suspend is None else CallSuspender(suspend, call, spec, self.server.name)
        try:
            result = await self._runner(call, spec, suspender, progress_callback, finish_task=finish_task).run()
        except HandshakeRequiredError:
            self._needs_handshake = True
            raise
        if reports_missing_push(result, call.session):
            self._needs_handshake = True
            _logger.warning("server %r: %s", self.server.name, HandshakeRequiredError())
        return result

    def _runner(  # noqa: PLR0913 -- the parts of one call
        self,
        call: ActiveCall,
        spec: CallSpec,
        suspender: CallPauser | None,
        progress_callback: ProgressCallback | None,
        *,
        finish_task: FinishTask | None = None,
        complete_urls: CompleteUrls = complete_urls,
    ) -> CallRunner:
        return CallRunner(
            call,
            spec,
            elicitations=self._elicitations,
            limits=self._limits,
            finish_task=finish_task or self._tasks.finish,
            suspender=suspender,
            progress_callback=progress_callback,
            complete_urls=complete_urls,
        )


def _check_functions(progress_callback: object, on_task_status: object) -> None:
    if progress_callback is not None:
        check_async("progress_callback", progress_callback, "progress", "total", "message")
    if on_task_status is not None:
        check_async("on_task_status", on_task_status, "task")
