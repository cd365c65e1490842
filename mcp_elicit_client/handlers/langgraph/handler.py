"""
`InterruptHandler`, and the nodes whose requests it answers.

A request cannot interrupt the graph where it arrives: an exception would
reach the SDK instead of LangGraph.  `InterruptHandler.run` therefore cancels
the call when a request has no answer yet, and interrupts the node in the
node's own frame.  When the graph is resumed, LangGraph runs the node from its
start.  The call is made again, and the same request gets the answer.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import hashlib
import importlib
import json
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from types import NoneType
from typing import Any, ParamSpec, TypeGuard, TypeVar, get_args

import anyio
from pydantic import ValidationError

from mcp_elicit_client._arguments import check_function, check_sync, check_type, describe, is_async
from mcp_elicit_client.core.answer import Action
from mcp_elicit_client.core.request import FIRST_MULTI_ROUND_TRIP_VERSION, check_user, request_key
from mcp_elicit_client.dispatch import check_answer_async, validate_async
from mcp_elicit_client.exceptions import MissingExtraError
from mcp_elicit_client.handlers.ag_ui_interrupts import interrupt_data, public_question
from mcp_elicit_client.inbox.records import read_request
from mcp_elicit_client.presentation import messages as texts
from mcp_elicit_client.presentation.catalog import ENGLISH, MessageCatalog
from mcp_elicit_client.presentation.descriptions import error_text
from mcp_elicit_client.presentation.form_input import answer_of_user
from mcp_elicit_client.sdk.callback import calling
from mcp_elicit_client.typing import Answer, FormRequest, Request

_logger = logging.getLogger("mcp_elicit_client")

P = ParamSpec("P")
T = TypeVar("T")

INTERRUPT_TYPE = "elicitation.asked"
"""The ``type`` in the value of each interrupt."""

CANCELLED = "__agui_cancelled__"
"""What ``ag-ui-langgraph`` resumes a graph with if the user cancelled, without an agent that matches IDs."""


class InterruptHandler:
    """
    Interrupt the node in which a call is made.

    Requests of calls that are not made with `run` are cancelled.

    Resume the graph with `resume_value`, which names the request that it
    answers.  After an interrupt the server is called again, and may send
    another request.

    Args:
        user: Takes the configuration of a run (``RunnableConfig``) and
            returns its user, if the runs of several users use this handler:
            ``lambda config: config["configurable"]["user"]``.  Each run gets
            only requests of this user (`Request.user`); pass the same user to
            the `Caller` or the callback.  None if there is only one user.
        messages: The texts of the interrupts, or a function that takes the
            configuration of a run and returns those of its user.

    Raises:
        MissingExtraError: If ``langgraph`` is not installed.
    """

    def __init__(
        self,
        *,
        user: Callable[[Mapping[str, Any]], str | None] | None = None,
        messages: Callable[[Mapping[str, Any]], MessageCatalog] | MessageCatalog = ENGLISH,
    ) -> None:
        try:
            importlib.import_module("langgraph.types")
        except ImportError as error:
            raise MissingExtraError("langgraph", "InterruptHandler") from error
        if user is not None:
            check_sync("user", user, "config")
        if not isinstance(messages, MessageCatalog):
            check_sync("messages", messages, "config")
        self._user = user
        self._messages = messages
        self._runs: list[_NodeRun] = []

    def node(self, function: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
        """
        Return *function* as a node that is interrupted by requests during its calls.

        It may connect to the server: the connection is closed before the
        interrupt is raised.  It runs from its start when the graph is
        resumed; see `run`.

        Raises:
            TypeError: If *function* is not async.
        """
        if not is_async(function):
            raise TypeError(
                f"{describe(function)} is not async. Define the node with `async def`,"
                " or call `anyio.run(ask.run, call)` in it."
            )

        @functools.wraps(function)
        async def interruptible(*arguments: P.args, **options: P.kwargs) -> T:
            return await self.run(lambda: function(*arguments, **options))

        return interruptible

    async def run(self, call: Callable[[], Awaitable[T]], *, tool_call_id: str | None = None) -> T:
        """
        Make a call in a node, and interrupt the node if there is a request.

        Connect to the server in *call* or outside of the graph.  Inside of
        ``async with`` of a connection, the SDK's task groups would wrap the
        interrupt, and LangGraph would not recognize it.

        When the graph is resumed, the node and the server repeat everything
        before the request, once for each request.  Calls with `durable` are
        not repeated if the protocol version allows that.

        Args:
            call: Makes the call.
            tool_call_id: The ID of the model's tool call that leads to it,
                if there is one.  Front ends show the request there.

        Returns:
            The result of *call*.

        Raises:
            GraphInterrupt: The interrupt of LangGraph.  Do not catch it.
            RuntimeError: If this does not run in a node of a graph.
            TypeError: If *call* is not a function.
            ValueError: If the user of the run does not have 1 to 256
                characters.
        """
        from langgraph.config import get_config

        check_function("call", call, hint="Pass a function that makes the call, such as `lambda: make_call()`.")
        try:
            config = get_config()
        except RuntimeError as error:  # LangGraph's text says neither what was called nor what to do
            raise RuntimeError(
                f"This does not run in a node of a graph, so there is nothing to interrupt. Invoke the graph. ({error})"
            ) from None
        user = None if self._user is None else check_user(self._user(config))
        catalog = self._messages if isinstance(self._messages, MessageCatalog) else self._messages(config)
        result: list[T] = []
        with self._running(_NodeRun(user, tool_call_id, catalog)) as run:
            try:
                with run.scope:
                    result.append(await call())
            except Exception:
                # Other errors follow from cancelling the call.
                if run.interrupted is None:
                    raise
        if run.interrupted is not None:
            raise run.interrupted
        return result[0]

    async def __call__(self, request: Request, /) -> Answer:
        """Return the answer with which the graph was resumed, or interrupt it."""
        run = self._run_of(request)
        if run is None:
            return Answer.cancel(by="unattended", reason="the node to which the request belongs is unknown")
        question = fingerprint(request)
        problem = ""
        is_malformed = False
        while True:
            value = run.interrupt(_payload(question, request, problem, run.catalog, run.tool_call_id))
            if run.interrupted is not None:
                if is_malformed:  # by the latest value: LangGraph repeats earlier ones in each run of the node
                    _logger.warning("a graph was resumed with an invalid value. Make it with `resume_value`.")
                await run.over.wait()
                return Answer.cancel(by="host", reason="the graph was interrupted; the request will be repeated")
            answer = _read(value, question, request)
            if answer is not None:
                answer = await check_answer_async(request, answer)
                if answer.by != "error":
                    return answer
            is_malformed = answer is None and _names(value, question)
            if answer is None and not is_malformed:
                problem = run.catalog.text(texts.NOT_ITS_ANSWER)
                continue
            reason = run.catalog.text(texts.NOT_ITS_ANSWER) if answer is None else answer.reason
            problem = await _problem(request, value, reason, run.catalog)

    @contextlib.contextmanager
    def _running(self, run: _NodeRun) -> Iterator[_NodeRun]:
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
        Return the run to which *request* belongs; None if that is unknown.

        Multi-round-trip requests are answered where the call is made.  A
        server-initiated request can be assigned only if one call is active
        over its session, or one run of its user.
        """
        runs = [run for run in self._runs if self._user is None or run.user == request.user]
        is_returned = (request.protocol_version or "") >= FIRST_MULTI_ROUND_TRIP_VERSION
        context = contextvars.copy_context() if is_returned else calling.get()
        current = None if context is None else context.get(_current)
        if current in runs:
            return current
        outer = {run.outer for run in runs}  # each waits for the run inside of it
        inner = [run for run in runs if run not in outer]
        return inner[0] if len(inner) == 1 else None


class _NodeRun:
    """One call in a node, for one user."""

    def __init__(self, user: str | None, tool_call_id: str | None, catalog: MessageCatalog) -> None:
        from langgraph.errors import GraphInterrupt
        from langgraph.types import interrupt

        self.outer = _current.get()
        self.user = user
        self.tool_call_id = tool_call_id
        self.catalog = catalog
        self.scope = anyio.CancelScope()
        self.over = anyio.Event()
        self.interrupted: Exception | None = None
        self._context = contextvars.copy_context()  # the context of the node, with LangGraph's variables
        self._interrupt = interrupt
        self._exception = GraphInterrupt

    def interrupt(self, payload: Mapping[str, Any]) -> object:
        """Return the value with which the graph was resumed; otherwise interrupt the node and cancel the call."""
        if self.interrupted is None:
            try:
                return self._context.run(self._interrupt, payload)
            except self._exception as interrupted:
                self.interrupted = interrupted
                self.scope.cancel()
        return None


_current: contextvars.ContextVar[_NodeRun | None] = contextvars.ContextVar("mcp_elicit_client_run", default=None)


def fingerprint(request: Request) -> str:
    """Return a digest of *request*, with which answers name it."""
    text = json.dumps([request.tool, request_key(request)])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def resume_value(  # noqa: PLR0913 -- all that an answer can say, by keyword
    question: Mapping[str, Any],
    action: Action,
    content: Mapping[str, Any] | None = None,
    *,
    block_server: bool = False,
    confirmed: bool = False,
    remember: bool = False,
) -> dict[str, Any]:
    """
    Return the value to resume a graph with: ``Command(resume=resume_value(...))``.

    Args:
        question: The value of the interrupt that was shown to the user.
        action: Accept, decline or cancel.
        content: The values by field name, if a form is accepted.
        block_server: As in `Answer`.  It is ignored unless the request has
            `can_block`.
        confirmed: As in `Answer`.
        remember: As in `Answer`.  It is ignored unless the request has
            `remember_seconds`.

    Raises:
        TypeError: If *question* is not the value of an interrupt, or *content*
            not a mapping.
        ValueError: If *action* is not one of the three actions.
    """
    check_type("question", question, Mapping, hint="Pass the value of the interrupt, such as `interrupt.value`.")
    if "question" not in question:
        raise TypeError("`question` is not the value of an interrupt of `InterruptHandler`. Pass the whole value.")
    if action not in get_args(Action):
        raise ValueError(f"`action` must be accept, decline or cancel, not {action!r}.")
    check_type("content", content, Mapping, NoneType)
    value: dict[str, Any] = {"question": question["question"], "action": action}
    if content is not None:
        value["content"] = dict(content)
    flags = {"block_server": block_server, "confirmed": confirmed, "remember": remember}
    return {**value, **{name: True for name, is_set in flags.items() if is_set}}


def question_request(question: Mapping[str, Any]) -> Request:
    """
    Return the request in the value of an interrupt.

    Raises:
        ValueError: If *question* is not such a value.
    """
    return read_request(json.dumps(question["request"]))


def _payload(
    question: str, request: Request, problem: str, catalog: MessageCatalog = ENGLISH, tool_call_id: str | None = None
) -> dict[str, Any]:
    """Return the value of the interrupt.  Browsers get all of it, also where a front end shows only a part."""
    # The graph can be resumed at any time.
    request = request.model_copy(update={"deadline": None, "max_deadline": None})
    data = public_question(request)
    data["untrusted"] += ["message", "responseSchema", "problem"]
    return {
        "type": INTERRUPT_TYPE,
        "question": question,
        **data,
        "problem": problem,
        **interrupt_data(request, problem=problem, catalog=catalog),
        **({} if tool_call_id is None else {"toolCallId": tool_call_id}),
    }


async def _problem(request: Request, value: Any, reason: str, catalog: MessageCatalog) -> str:
    """Return why *value* was not accepted: the errors of its content, or *reason*."""
    if not isinstance(request, FormRequest) or value.get("action") != "accept":
        return reason
    validation = await validate_async(request, value.get("content") or {})
    return error_text(request.form, validation.errors, catalog) or reason


def _names(value: object, question: str) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping) and value.get("question") == question


def _read(value: object, question: str, request: Request) -> Answer | None:
    """
    Read the value with which a graph was resumed; None if it does not answer *question*.

    A cancel of an AG-UI front end need not name the request.
    """
    if isinstance(value, Mapping) and value.get(CANCELLED) is True:
        return Answer.cancel(by="user", reason="the interrupt was cancelled")
    if not _names(value, question):
        return None
    choices = {name: value.get(name) is True for name in ("block_server", "confirmed", "remember")}
    action: Any = value.get("action")
    try:
        answer = answer_of_user(request, action, value.get("content"), **choices)
    except (ValidationError, TypeError):
        return None
    return answer.model_copy(update={"reason": "the graph was resumed with it"})
