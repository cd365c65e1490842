"""
AG-UI: `InterruptBridge`, runs whose MCP calls are suspended while the user of a front end answers.

A request ends the run with an interrupt.  The next run of the thread brings
the answer and resumes the call, in any process.

Requires the extra ``agui``.
"""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from typing import Any, TypeAlias

from mcp_elicit_client._arguments import check_sync, check_type
from mcp_elicit_client.calls import Caller, SuspendedCall, SuspendOptions
from mcp_elicit_client.exceptions import CallError, MissingExtraError, ResumeError
from mcp_elicit_client.handlers.ag_ui_interrupts import METADATA_KEY, ResumeEntryError, interrupt_data, public_question
from mcp_elicit_client.hosts._ag_ui_thread import Thread
from mcp_elicit_client.presentation.catalog import ENGLISH, MessageCatalog

try:
    from ag_ui.core import (
        BaseEvent,
        EventType,
        Interrupt,
        MessagesSnapshotEvent,
        RunAgentInput,
        RunErrorEvent,
        RunFinishedEvent,
        RunFinishedInterruptOutcome,
        RunStartedEvent,
        StateSnapshotEvent,
        ToolCallResultEvent,
        ToolMessage,
    )
except ImportError as _error:
    raise MissingExtraError("agui", "hosts.ag_ui") from _error

_logger = logging.getLogger("mcp_elicit_client")

Connect: TypeAlias = Callable[[], AbstractAsyncContextManager[Any]]
"""Returns a context manager for a connected client: ``lambda: caller.connect(url)``."""

_CONNECTIONS = "Pass {caller: lambda: caller.connect(url)}."

_CALL_FAILED = "The call failed."
_FAILED = "The run failed."
"""The text of ``RUN_ERROR`` after an exception.  Its own text may contain what the user entered."""


class ThreadCalls:
    """The MCP calls of one run of an agent."""

    def __init__(
        self, connections: Mapping[Caller, Connect], suspend: SuspendOptions, user: str, thread_id: str
    ) -> None:
        self._connections = connections
        self._thread = Thread(suspend, user, thread_id)

    async def call_tool(
        self,
        caller: Caller,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        tool_call_id: str,
        **options: Any,
    ) -> Any:
        """
        Call a tool; suspend the call if the server requires input.

        Args:
            caller: The caller for the server: one of those of the bridge.
            name: The name of the tool.
            arguments: Its arguments.
            tool_call_id: The ID of the model's tool call.
            options: As for `Caller.call_tool`.

        Returns:
            The result of the call; or a `SuspendedCall`.  The agent then has
            to end its run without a result for the tool call.  The next run
            brings it as a tool message.

        Raises:
            ValueError: If *caller* is not one of the bridge.
            CallError: Also if the server only waits for the user, and the time
                for that has passed.
            Exception: As for `Caller.call_tool`.
        """
        if caller not in self._connections:
            raise ValueError("`caller` is not one of the bridge. Add it to `connections` of `InterruptBridge`.")
        suspend = self._thread.options(reference=tool_call_id)
        async with self._connections[caller]() as client:
            result = await caller.call_tool(client, name, arguments, user=self._thread.user, suspend=suspend, **options)
            return await self._thread.settle(caller, client, result, suspend)


Agent: TypeAlias = Callable[[RunAgentInput, ThreadCalls], AsyncIterator[BaseEvent]]
"""
An agent: takes the input of the run and makes calls, yields the events of the
run.  Frameworks have such a function for their AG-UI endpoint.
"""


class InterruptBridge:
    """
    Connects an AG-UI agent to suspended MCP calls.

    Args:
        suspend: Where calls are suspended, and how long.
        connections: The caller of each server, and what connects to it.
            Their registries need a handler: it answers servers that cannot
            be suspended (up to 2025-11-25) while the run waits, so pass a
            `HeadlessHandler`.

    Raises:
        TypeError: If an argument is of the wrong type, such as an inbox in
            place of the options.
        ValueError: If two callers have the same server name: a suspended call
            is resumed with the caller of that name.
    """

    def __init__(self, suspend: SuspendOptions, connections: Mapping[Caller, Connect]) -> None:
        check_type("suspend", suspend, SuspendOptions, hint="Pass SuspendOptions(inbox).")
        check_type("connections", connections, Mapping, hint=_CONNECTIONS)
        for caller, connect in connections.items():
            check_type("connections", caller, Caller, hint=_CONNECTIONS)
            check_sync("connections", connect)
        self._connections = connections
        self._suspend = suspend
        self._callers = {caller.server.name: caller for caller in connections}
        if len(self._callers) < len(connections):
            raise ValueError("Two callers have the same server name. Name each server differently.")

    async def run(
        self, run_input: RunAgentInput, agent: Agent, *, user: str, messages: MessageCatalog = ENGLISH
    ) -> AsyncIterator[BaseEvent]:
        """
        Run an agent, or resume the calls of its thread first.

        Args:
            run_input: The input that the front end sent.
            agent: The agent.  It is not called while interrupts are open.
            user: The signed-in user.  The front end chooses the ID of the
                thread, so it is not enough to answer a request.
            messages: The texts of the interrupts, in the user's language.

        Yields:
            The events of the run.  The last one is ``RUN_FINISHED``, with the
            open interrupts, or ``RUN_ERROR``.

        Raises:
            TypeError: If *agent* is not a function that returns an iterator,
                or *user* or *messages* is of the wrong type.
        """
        check_sync("agent", agent, "run_input", "calls")
        check_type("user", user, str)
        check_type("messages", messages, MessageCatalog)
        yield RunStartedEvent(thread_id=run_input.thread_id, run_id=run_input.run_id)
        try:
            thread = Thread(self._suspend, user, run_input.thread_id, messages)
            async with aclosing(self._events(run_input, agent, thread)) as events:
                async for event in events:
                    yield event
        except ResumeEntryError as error:
            yield RunErrorEvent(message=str(error), code=error.code)
        except Exception:
            _logger.exception("a run failed")
            yield RunErrorEvent(message=_FAILED, code="RUN_FAILED")

    async def _events(self, run_input: RunAgentInput, agent: Agent, thread: Thread) -> AsyncGenerator[BaseEvent, None]:
        if run_input.resume:
            messages: list[Any] = []
            for call_id in await thread.answer_all(run_input.resume):
                message = await self._resume(thread, call_id)
                if message is not None:
                    messages.append(message)
                    yield ToolCallResultEvent(
                        message_id=message.id, tool_call_id=message.tool_call_id, content=message.content, role="tool"
                    )
            run_input = run_input.model_copy(update={"messages": [*run_input.messages, *messages], "resume": None})
            if not messages and not await thread.open_entries():
                yield _finished(run_input)  # the resume is a repetition: the calls were resumed before
                return
        if entries := await thread.open_entries():
            yield StateSnapshotEvent(snapshot=run_input.state)
            yield MessagesSnapshotEvent(messages=run_input.messages)
            yield _finished(run_input, await self._interrupts(thread, entries))
            return
        async with aclosing(self._run_agent(run_input, agent, thread)) as events:
            async for event in events:
                yield event

    async def _run_agent(
        self, run_input: RunAgentInput, agent: Agent, thread: Thread
    ) -> AsyncGenerator[BaseEvent, None]:
        """Yield the events of the agent, with this run's own beginning and end."""
        finished: BaseEvent = _finished(run_input)
        calls = ThreadCalls(self._connections, self._suspend, thread.user, run_input.thread_id)
        events: Any = agent(run_input, calls)
        # A generator is closed in the task that runs it, also if its events are not read to the end.
        async with aclosing(events) if hasattr(events, "aclose") else nullcontext():
            async for event in events:
                if event.type == EventType.RUN_FINISHED:
                    finished = event
                elif event.type != EventType.RUN_STARTED:
                    yield event
                if event.type == EventType.RUN_ERROR:
                    return
        entries = await thread.open_entries()
        yield _finished(run_input, await self._interrupts(thread, entries)) if entries else finished

    async def _interrupts(self, thread: Thread, entries: Sequence[Any]) -> list[Interrupt]:
        references = await thread.references(entries)
        return [
            Interrupt.model_validate(
                {
                    "id": entry.id,
                    **interrupt_data(entry.read(), expires_at=entry.expires_at, catalog=thread.catalog),
                    "toolCallId": references.get(entry.call),
                    "metadata": {METADATA_KEY: public_question(entry.read())},
                }
            )
            for entry in entries
        ]

    async def _resume(self, thread: Thread, call_id: str) -> ToolMessage | None:
        """Resume a call; return its result, or None if it has further requests, or was resumed before."""
        server, tool_call_id = await thread.call(call_id)
        if server is None:
            return None
        caller = self._callers.get(server)
        if caller is None:
            _logger.error("a call of server %r cannot be resumed: `connections` has no caller for it", server)
            raise ResumeEntryError("The server of the call is not available.", "RESUME_FAILED")
        suspend = thread.options(reference=tool_call_id)
        try:
            async with self._connections[caller]() as client:
                result = await caller.resume(call_id, client, suspend, user=thread.user)
                result = await thread.settle(caller, client, result, suspend)
        except ResumeError as error:
            is_kept = error.code == "unreachable"
            text = str(error) if is_kept else "The call cannot be resumed. Its outcome is unknown."
            raise ResumeEntryError(text, "RESUME_FAILED") from None
        except Exception as error:
            _logger.exception("a call could not be resumed")
            text = str(error) if isinstance(error, CallError) else _CALL_FAILED
            return _tool_message(tool_call_id, text, error=text)
        if isinstance(result, SuspendedCall):
            return None
        text = result_text(result)
        return _tool_message(tool_call_id, text, error=(text or _CALL_FAILED) if result.is_error else None)


def result_text(result: Any) -> str:
    """
    Return the result of a tool as text for the model: its texts, or its structured content as JSON.

    Raises:
        TypeError: If *result* is a suspended call, or another object without
            ``content``.
    """
    if not hasattr(result, "content"):
        raise TypeError(
            f"`result` must be the result of a tool, not {type(result).__name__}."
            " After a SuspendedCall, end the run without a result."
        )
    texts = [text for each in result.content if isinstance(text := getattr(each, "text", None), str)]
    structured = getattr(result, "structured_content", None)
    return "\n".join(texts) if texts or structured is None else json.dumps(structured)


def _tool_message(tool_call_id: str | None, content: str, error: str | None = None) -> ToolMessage:
    return ToolMessage(id=uuid.uuid4().hex, tool_call_id=tool_call_id or "", content=content, error=error)


def _finished(run_input: RunAgentInput, interrupts: Sequence[Interrupt] = ()) -> RunFinishedEvent:
    outcome = RunFinishedInterruptOutcome(interrupts=list(interrupts)) if interrupts else None
    return RunFinishedEvent(thread_id=run_input.thread_id, run_id=run_input.run_id, outcome=outcome)
