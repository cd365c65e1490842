"""
The handler, and the nodes whose calls it answers.

A question cannot interrupt the graph from where it arrives: there an
exception would reach the SDK, and not LangGraph.  So the node is made by
`InterruptHandler.node`, or the call in it by `InterruptHandler.run`: when a question comes up that nobody has
answered yet, the call is given up, and the node interrupted in its own frame.
When the graph is resumed, LangGraph runs the node from its start; the call is
made again, and the same question finds its answer.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import hashlib
import importlib
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, ParamSpec, TypeVar

import anyio
from pydantic import ValidationError

from mcp_elicit_client.core.answer import Action
from mcp_elicit_client.core.request import FIRST_MULTI_ROUND_TRIP_VERSION, request_key
from mcp_elicit_client.core.schema.writer import write_schema
from mcp_elicit_client.dispatch import check_answer_async
from mcp_elicit_client.exceptions import MissingExtraError
from mcp_elicit_client.inbox.records import write_request
from mcp_elicit_client.typing import Answer, FormRequest, Request

P = ParamSpec("P")
T = TypeVar("T")

NO_ANSWER = "what the graph was resumed with is no answer to this question"
"""Why a question is asked again; or else why its answer does not fit."""


class InterruptHandler:
    """
    Ask by interrupting the node in which the call is made.

    It answers the questions of calls that are made through `run`, and cancels
    all others: nobody would be asked.

    What the graph is resumed with counts only if it names the question that
    it answers, as `answer_to` makes it: after an interrupt the server is
    called again, and nothing keeps it from asking something else.

    Raises:
        MissingExtraError: If ``langgraph`` is not installed.
    """

    def __init__(self) -> None:
        try:
            importlib.import_module("langgraph.types")
        except ImportError as error:
            raise MissingExtraError("langgraph", "asking by interrupting a graph") from error
        self._runs: list[_NodeRun] = []

    def node(self, function: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
        """
        Make of an async *function* a node that is interrupted by what is asked while it runs.

        The connection to the server may be made within it: all of it is left
        before the interrupt is raised.  It runs from its start when the graph
        is resumed; see `run`.
        """

        @functools.wraps(function)
        async def interruptible(*arguments: P.args, **options: P.kwargs) -> T:
            return await self.run(lambda: function(*arguments, **options))

        return interruptible

    async def run(self, call: Callable[[], Awaitable[T]]) -> T:
        """
        Make a call in a node, and interrupt the node if it asks something.

        Not within ``async with`` of a connection that the node makes: the
        SDK's task groups would wrap the interrupt, and LangGraph not know it.
        Make the connection in *call*, or outside of the graph.

        Whatever comes before a question is done again when the graph is
        resumed, by the node and by the server: for each question once more.
        Calls through `once` are not, where the protocol lets them go on.

        Args:
            call: Makes the call, from its start.

        Returns:
            What it returns.

        Raises:
            GraphInterrupt: LangGraph's own; leave it alone.
            RuntimeError: If this is no node of a graph.
        """
        from langgraph.config import get_config

        get_config()
        result: list[T] = []
        with self._running() as run:
            try:
                with run.scope:
                    result.append(await call())
            except Exception:
                # What else went wrong, went wrong because the call was given up.
                if run.interrupted is None:
                    raise
        if run.interrupted is not None:
            raise run.interrupted
        return result[0]

    async def __call__(self, request: Request, /) -> Answer:
        """Answer with what the graph was resumed with, or interrupt it."""
        run = self._run_of(request)
        if run is None:
            return Answer.cancel(
                by="unattended", reason="it is not clear which node of a graph this question belongs to"
            )
        question = fingerprint(request)
        problem = ""
        while True:
            value = run.interrupt(_payload(question, request, problem))
            if run.interrupted is not None:
                await run.over.wait()
                return Answer.cancel(by="host", reason="the graph was interrupted; the question will be asked again")
            answer = _read(value, question, request)
            if answer is not None:
                answer = await check_answer_async(request, answer)
                if answer.by != "error":
                    return answer
            problem = NO_ANSWER if answer is None else answer.reason

    @contextlib.contextmanager
    def _running(self) -> Iterator[_NodeRun]:
        run = _NodeRun()
        self._runs.append(run)
        token = _current.set(run)
        try:
            yield run
        finally:
            _current.reset(token)
            self._runs.remove(run)
            run.over.set()

    def _run_of(self, request: Request) -> _NodeRun | None:
        """
        Return the run during which *request* was asked; None if that is not clear.

        From 2026-07-28 on a question is answered where its call is made.  Before,
        it comes on its own, and can only belong to the one call that is under way.
        """
        current = _current.get()
        if (request.protocol_version or "") >= FIRST_MULTI_ROUND_TRIP_VERSION and current in self._runs:
            return current
        return self._runs[0] if len(self._runs) == 1 else None


class _NodeRun:
    """One call in one node."""

    def __init__(self) -> None:
        from langgraph.errors import GraphInterrupt
        from langgraph.types import interrupt

        self.scope = anyio.CancelScope()
        self.over = anyio.Event()
        self.interrupted: Exception | None = None
        self._context = contextvars.copy_context()  # LangGraph's, of the node
        self._interrupt = interrupt
        self._exception = GraphInterrupt

    def interrupt(self, payload: Mapping[str, Any]) -> object:
        """Return what the graph was resumed with; else have it interrupted, and the call given up."""
        if self.interrupted is None:
            try:
                return self._context.run(self._interrupt, payload)
            except self._exception as interrupted:
                self.interrupted = interrupted
                self.scope.cancel()
        return None


_current: contextvars.ContextVar[_NodeRun | None] = contextvars.ContextVar("mcp_elicit_client_run", default=None)


def fingerprint(request: Request) -> str:
    """Name a question, so that an answer can say which one it answers."""
    asked = json.dumps([request.server.name, request.tool, request_key(request)])
    return hashlib.sha256(asked.encode()).hexdigest()[:32]


def resume_value(
    question: Mapping[str, Any], action: Action, content: Mapping[str, Any] | None = None, *, block_server: bool = False
) -> dict[str, Any]:
    """
    Make the value to resume a graph with: ``Command(resume=answer_to(...))``.

    Args:
        question: The value of the interrupt, as it was shown to the user.
        action: Accept, decline or cancel.
        content: The values by field name; only with the accept of a form.
        block_server: As in `Answer`; only where the request can be silenced.
    """
    said: dict[str, Any] = {"question": question["question"], "action": action}
    if content is not None:
        said["content"] = dict(content)
    return {**said, "block_server": True} if block_server else said


def _payload(question: str, request: Request, problem: str) -> dict[str, Any]:
    schema = write_schema(request.form) if isinstance(request, FormRequest) else None
    return {
        "type": "elicitation.asked",
        "question": question,
        "request": json.loads(write_request(request)),
        "answer_schema": schema,
        "problem": problem,
    }


def _read(value: object, question: str, request: Request) -> Answer | None:
    """Read what a graph was resumed with; None if it is no answer to *question*."""
    if not isinstance(value, Mapping) or value.get("question") != question:
        return None
    content = value.get("content")
    try:
        return Answer.model_validate(
            {
                "action": value.get("action"),
                "content": content,
                "by": "user",
                "reason": "the graph was resumed with it",
                "sources": dict.fromkeys(content or {}, "user"),
                "block_server": value.get("block_server") is True and request.can_block,
            }
        )
    except (ValidationError, TypeError):
        return None
