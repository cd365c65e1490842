"""
The path of a request: admission, reading, policies, defaults, handler, check.

Adapters make a `Dispatcher`, policies are made with `apply_policy`.  A handler
is normalized once, when it is registered, wrapped in a policy or passed to an
adapter.
"""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable, Collection, Coroutine, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import anyio
import anyio.lowlevel

from mcp_elicit_client._arguments import check_handler, check_policy, check_policy_result, check_type, describe
from mcp_elicit_client._concurrency import CancelledInsideError, Waker, not_cancelled_inside
from mcp_elicit_client.core.answer import Answer, checking_steps, reason_for_log
from mcp_elicit_client.core.budgets import Admission, UserAndServer
from mcp_elicit_client.core.form import has_patterns, labels_of, option_count
from mcp_elicit_client.core.parse import check_size, is_read_with, parse_request, read_wire, restrict_request, to_wire
from mcp_elicit_client.core.request import (
    FormRequest,
    Server,
    UrlRequest,
    limits_of,
    user_and_server_of,
    without_unsafe_offers,
)
from mcp_elicit_client.core.validation.content import ValidationResult, validation_steps
from mcp_elicit_client.core.validation.pattern_pool import POOL, PatternJob
from mcp_elicit_client.core.validation.patterns import PatternSteps, settling_steps
from mcp_elicit_client.exceptions import RequestError
from mcp_elicit_client.notices import Notifier
from mcp_elicit_client.reader import MAX_SMALL, SECONDS_PER_SIZE, limits_of_small, read_in_thread
from mcp_elicit_client.request_options import DEFAULT_REQUEST_OPTIONS, MODES, RequestOptions, check_inner_options
from mcp_elicit_client.stored_answers import stored_answers
from mcp_elicit_client.typing import Handler, Mode, Policy, Request

if TYPE_CHECKING:
    from mcp_elicit_client.core.secrets.findings import SecretFinding

T = TypeVar("T")

_logger = logging.getLogger("mcp_elicit_client")

OUTCOME_META_KEY = "mcp-elicit-client/outcome"
"""The key in a result's ``_meta`` for who decided, if `RequestOptions.report_outcome` is set."""

ADMISSION = "admission"
"""The name of the policy in answers to requests that are not read."""

MAX_BATCH = 16
"""The largest number of requests that one ``input_required`` result may hold."""

_LENGTH_OF_OPTION = 100
"""The characters of an option, where its texts are not counted: more than most have."""

Ask: TypeAlias = Callable[[Request], Coroutine[Any, Any, Answer]]
"""An async function from a request to an answer."""


class _RequestState:
    """
    What is known about a request that is being answered.

    Attributes:
        read_with: The options with which the dispatcher read it; None for
            requests from elsewhere.
        admission: The limits of the dispatcher; None for requests from
            elsewhere.
        was_asked: The handler was asked.
        has_ended: The request is answered.  Tasks that its handler started
            may go on.
    """

    __slots__ = ("admission", "has_ended", "read_with", "was_asked")

    def __init__(self, read_with: RequestOptions | None, admission: Admission | None) -> None:
        self.read_with: RequestOptions | None = read_with
        self.admission: Admission | None = admission
        self.was_asked: bool = False
        self.has_ended: bool = False


class _OuterPolicy(NamedTuple):
    """
    A policy that a request has passed, and that will see its answer.

    Attributes:
        limits: The policy and whom it limits, if it limits asking.
        refuse: Returns what it answers to the request by now; None to go on.
    """

    limits: tuple[object, UserAndServer] | None
    refuse: Callable[[], Answer | None] | None


_state: ContextVar[_RequestState | None] = ContextVar("request_state", default=None)
"""The state of the current request; None outside of every handler."""

_outer_policies: ContextVar[tuple[_OuterPolicy, ...]] = ContextVar("outer_policies", default=())
"""The policies around the current place, outermost first: those that limit asking or may refuse later."""

_is_registered: ContextVar[bool] = ContextVar("is_registered", default=False)
"""True while `stored_answers` answer in place of a registered handler."""


class NormalizedHandler:
    """
    A handler that always returns an `Answer`.  Made by `normalize_handler` and `apply_policy`.

    Attributes:
        held_options: The options of the registry or `Caller` inside, if only
            policies wrap it; otherwise None.  Those inside of other functions
            are checked with each request.
        admission: The limits that apply before requests are read, which the
            callbacks of a registry or `Caller` share; None if the handler
            contains neither.
        notifier: Tells the user of requests that a policy declined.
    """

    __slots__ = ("_ask", "_modes", "admission", "held_options", "notifier")

    def __init__(
        self,
        ask: Ask,
        held_options: RequestOptions | None = None,
        admission: Admission | None = None,
        notifier: Notifier | None = None,
        modes: Callable[[], frozenset[Mode]] = lambda: MODES,
    ) -> None:
        self._ask: Ask = ask
        self._modes = modes
        self.held_options: RequestOptions | None = held_options
        self.admission: Admission | None = admission
        self.notifier: Notifier = notifier or Notifier()

    @property
    def modes(self) -> frozenset[Mode]:
        """The modes that are answered: those of the registry or `Caller` inside, if only policies wrap it, or both."""
        return self._modes()

    def wrapped_in(self, ask: Ask, notifier: Notifier | None = None) -> NormalizedHandler:
        """Return a handler that calls *ask*, which wraps this one: it has the same options, admission and modes."""
        return NormalizedHandler(ask, self.held_options, self.admission, notifier or self.notifier, lambda: self.modes)

    def __call__(self, request: Request, /) -> Coroutine[Any, Any, Answer]:
        """Answer *request*."""
        outer = _state.get()
        return self.begin(request) if outer is None or outer.has_ended else self._ask(request)

    async def begin(
        self, request: Request, read_with: RequestOptions | None = None, admission: Admission | None = None
    ) -> Answer:
        """
        Answer *request* apart from all others, and begin to show a notice if a policy declined it.

        A handler of another request may have opened the session that it came from.

        Args:
            request: The request.
            read_with: The options with which the dispatcher read it; None if
                it comes from elsewhere.
            admission: The limits of the dispatcher, which count the time for
                reading it again.
        """
        state = _RequestState(read_with, admission)
        state_token, policies_token = _state.set(state), _outer_policies.set(())
        try:
            answer = await self._ask(request)
            if not state.was_asked and self.notifier.start(request, answer):
                await anyio.lowlevel.checkpoint()
            return answer
        finally:
            state.has_ended = True
            _outer_policies.reset(policies_token)
            _state.reset(state_token)


def restrict(options: RequestOptions, request: Request) -> Request:
    """
    Apply *options* to a request that was read with others.

    Raises:
        RequestError: If they do not allow it.
    """
    _check_mode(options, request)
    return restrict_request(request, options.limits, options.url_rules)


async def restrict_async(options: RequestOptions, request: Request) -> Request:
    """
    Apply *options* to a request as `restrict` does.  The event loop is not blocked.

    Raises:
        RequestError: If they do not allow it.
    """
    if isinstance(request, UrlRequest) or is_read_with(request, options.limits, options.url_rules):
        return restrict(options, request)
    return await _work_on_request(request, lambda: restrict(options, request))


def _check_mode(options: RequestOptions, request: Request) -> None:
    if options.modes is not None and request.mode not in options.modes:
        raise RequestError(f"this client does not accept requests in {request.mode} mode")


def enforce_options(options: RequestOptions, ask: Ask) -> Ask:
    """
    Return *ask* so that *options* apply to requests and answers, however the requests were read.

    Requests that *options* do not allow, and answers that do not fit what
    they allow, are cancelled.  If the dispatcher cannot see *options*,
    because a function contains the registry, and some of them would have no
    effect, every request raises ``ValueError``.
    """
    checked = options

    async def enforced(request: Request, /) -> Answer:
        nonlocal checked
        state = _state.get()
        outer = state.read_with if state is not None else None
        if outer is not None and outer is not options and outer is not checked:
            check_inner_options(outer, options)
            checked = outer
        try:
            allowed = await restrict_async(options, request)
        except RequestError as error:
            _logger.warning("a request of server %r is refused: %s", request.server.name, error)
            return Answer.cancel(by="error", reason=str(error))
        answer = await ask(allowed)
        # What was read with these options is checked with them, by the dispatcher.
        return answer if allowed is request else await check_answer_async(allowed, answer)

    return enforced


def normalize_handler(handler: Handler) -> NormalizedHandler:
    """
    Return *handler* so that it always returns an `Answer`, and gets requests whose defaults are settled.

    Args:
        handler: The handler.

    Raises:
        TypeError: If *handler* is not an async function, or an object with
            an async ``__call__``.
    """
    if isinstance(handler, NormalizedHandler):
        return handler
    check_handler(handler)

    async def ask(request: Request, /) -> Answer:
        stored = stored_answers.get()
        if stored is not None and _is_registered.get():
            _note_that_a_handler_is_asked()
            return await stored.answer(without_unsafe_offers(request))
        return await with_settled_defaults(without_unsafe_offers(request), ask_by_now)

    async def ask_by_now(request: Request) -> Answer:
        # The request may have waited, in a policy or until its patterns were checked.
        refusal = refusal_by_now()
        if refusal is not None:
            return refusal
        _note_that_a_handler_is_asked()
        return normalize_answer(await handler(request), handler)

    return NormalizedHandler(ask, notifier=_notifier_of(handler))


def register_handler(handler: Handler) -> NormalizedHandler:
    """
    Return the normalized *handler*, in whose place the `stored_answers`, if any, answer.

    Policies that it is wrapped in run as always.

    Raises:
        TypeError: As `normalize_handler`.
    """
    inner = normalize_handler(handler)

    def ask(request: Request, /) -> Coroutine[Any, Any, Answer]:
        return inner(request) if stored_answers.get() is None else ask_stored(request)

    async def ask_stored(request: Request) -> Answer:
        token = _is_registered.set(True)
        try:
            return await inner(request)
        finally:
            _is_registered.reset(token)

    return inner.wrapped_in(ask)


def _note_that_a_handler_is_asked() -> None:
    state = _state.get()
    if state is not None:
        state.was_asked = True


def _notifier_of(handler: Handler) -> Notifier | None:
    notify = getattr(handler, "notify", None)
    return Notifier(notify) if callable(notify) else None


async def with_settled_defaults(request: Request, ask: Ask) -> Answer:
    """Call *ask* with *request* and settled defaults; add what was found to the answer."""
    if not _has_patterns(request):
        return await ask(request)
    settled = await settle_defaults_async(request)
    answer = await ask(settled)
    found = settled.diagnostics[len(request.diagnostics) :]
    return answer.model_copy(update={"diagnostics": (*answer.diagnostics, *found)}) if found else answer


async def no_handler(request: Request, /) -> Answer:
    """Answer a request for which no handler is registered: cancel, unless its call is resumed."""
    stored = stored_answers.get()
    if stored is not None and stored.is_resuming:
        return await stored.answer(request)
    return Answer.cancel(by="unattended", reason="no handler is registered for this request")


def apply_policy(
    handler: Handler,
    answer: Callable[[Request, NormalizedHandler], Coroutine[Any, Any, Answer]],
    *,
    limits_asking: bool = False,
    refuse: Callable[[Request], Answer | None] | None = None,
) -> NormalizedHandler:
    """
    Put a policy before *handler*.

    Args:
        handler: The handler that the policy may call.
        answer: The policy: takes the request and the normalized handler.
        limits_asking: The policy only limits how often or when users are
            asked.  It is skipped when a suspended call is resumed, because
            the user has answered already, and inside of itself: a registry
            and one registered in it may share a policy.
        refuse: Returns the answer of the policy to a request that waits
            behind it, if it would refuse the request by now; otherwise None.
    """
    inner = normalize_handler(handler)

    def ask(request: Request, /) -> Coroutine[Any, Any, Answer]:
        return answer(request, inner) if refuse is None and not limits_asking else ask_inside(request)

    async def ask_inside(request: Request) -> Answer:
        limits = (answer, user_and_server_of(request)) if limits_asking else None
        stored, outer = stored_answers.get(), _outer_policies.get()
        if limits and ((stored is not None and stored.is_resuming) or limits in [policy.limits for policy in outer]):
            return await inner(request)
        refuse_by_now = functools.partial(refuse, request) if refuse is not None else None
        token = _outer_policies.set((*outer, _OuterPolicy(limits, refuse_by_now)))
        try:
            return await answer(request, inner)
        finally:
            _outer_policies.reset(token)

    return inner.wrapped_in(ask)


@contextmanager
def refusing(refuse: Callable[[], Answer | None]) -> Iterator[None]:
    """
    Let *refuse* refuse the current request after it has waited in this block.

    Args:
        refuse: Returns the answer if the request must now be refused;
            otherwise None.
    """
    token = _outer_policies.set((*_outer_policies.get(), _OuterPolicy(None, refuse)))
    try:
        yield
    finally:
        _outer_policies.reset(token)


def refusal_by_now() -> Answer | None:
    """Return the refusal of an outer policy after the current request has waited; None if it is not refused."""
    for policy in _outer_policies.get():
        answer = policy.refuse() if policy.refuse is not None else None
        if answer is not None:
            return answer
    return None


def chain_policies(policies: Collection[Policy], handler: Handler) -> NormalizedHandler:
    """
    Wrap *handler* in *policies*; the first sees a request first, and its answer last.

    Raises:
        TypeError: If one of them is not a policy or not a handler.
    """
    wrapped = normalize_handler(handler)
    for policy in reversed([*policies]):
        check_policy(policy)
        outer = policy(wrapped)
        if not isinstance(outer, NormalizedHandler):
            check_policy_result(policy, outer)
            outer = wrapped.wrapped_in(_answering(outer), _notifier_of(outer))
        wrapped = outer
    return wrapped


def _answering(handler: Handler) -> Ask:
    async def ask(request: Request, /) -> Answer:
        return normalize_answer(await handler(request), handler)

    return ask


def options_for(handler: Handler, request_options: RequestOptions | None) -> RequestOptions:
    """
    Return *request_options*; if that is None, the options of the registry or `Caller` that *handler* contains.

    Raises:
        TypeError: If *request_options* are of another type.
        ValueError: If some of the options would have no effect.
    """
    check_type("request_options", request_options, RequestOptions, NoneType)
    held = normalize_handler(handler).held_options
    if request_options is None:
        return held or DEFAULT_REQUEST_OPTIONS
    if held is not None:
        check_inner_options(request_options, held)
    return request_options


class Dispatcher:
    """
    Turns the params of elicitations into checked answers.

    Args:
        handler: The handler that answers.
        request_options: Limits, URL rules and modes; None for those of the
            registry or `Caller` that *handler* contains.

    Attributes:
        handler: The normalized handler.
        request_options: Limits, URL rules and modes.
        admission: The limits that apply before requests are read.

    Raises:
        ValueError: If *handler* contains options that would have no effect.
    """

    def __init__(self, handler: Handler, request_options: RequestOptions | None = None) -> None:
        self.handler: NormalizedHandler = normalize_handler(handler)
        self.request_options: RequestOptions = options_for(self.handler, request_options)
        self.admission: Admission = self.handler.admission or Admission()
        self._limits_of_small = limits_of_small(self.request_options.limits)

    async def answer(
        self,
        params: object,
        *,
        server: Server,
        user: str | None = None,
        handler: NormalizedHandler | None = None,
        **details: Any,
    ) -> Answer:
        """
        Answer *params*.

        A server that has too many open requests, or sends them too fast, gets
        a cancel, and nothing is read.  If the handler raises or returns an
        invalid answer, that is logged and the answer is a cancel.  Only a
        cancellation of the task passes through.

        Args:
            params: The params, as the host's library passes them.
            server: The server that sent them.
            user: The user that they are for, if there are several.
            handler: What answers this request; None for that of the
                dispatcher.
            details: ``protocol_version``, ``tool`` and ``request_id``, as far
                as known.

        Raises:
            RequestError: If the request cannot be answered.  The server may
                see the text.
        """
        with self.admission.admit((user, server.name)) as admitted:
            # Other tasks get their turns, however many requests are answered without waiting.
            await anyio.sleep(admitted.delay)
            if admitted.refusal:
                return self._refuse(server, admitted.refusal)
            try:
                request = await self._read(params, server=server, user=user, **details)
            except RequestError as error:
                _logger.warning("a request of server %r cannot be answered: %s", server.name, error)
                self.handler.notifier.on_refused(error)
                raise
            except Exception:
                _logger.exception("a request of server %r could not be read", server.name)
                reason = "the request could not be read"
                self.handler.notifier.on_refused(RequestError(reason))
                return Answer.cancel(by="error", reason=reason)
            too_many = admitted.hold(request)
            if too_many:
                return self._refuse(server, too_many)
            return await self._answer_request(request, handler or self.handler)

    async def answer_again(self, request: Request, handler: NormalizedHandler) -> Answer:
        """
        Answer a request that was read before, with what *handler* returns for it by now.

        Raises:
            RequestError: If the limits or URL rules do not allow it.
        """
        await anyio.lowlevel.checkpoint()
        try:
            allowed = await restrict_async(self.request_options, request)
        except RequestError as error:
            _logger.warning("a request of server %r cannot be answered: %s", request.server.name, error)
            raise
        return await self._answer_request(allowed, handler)

    def _refuse(self, server: Server, refusal: str) -> Answer:
        if self.admission.should_log(server.name, refusal):
            _logger.warning("requests of server %r are cancelled: %s", server.name, refusal)
        self.handler.notifier.on_refused(RequestError(refusal))
        return Answer.cancel(by="policy", policy=ADMISSION, reason=refusal)

    async def _read(self, params: object, *, server: Server, user: str | None, **details: Any) -> Request:
        if isinstance(params, (FormRequest, UrlRequest)):
            return await restrict_async(self.request_options, parse_request(params, user=user))

        def read() -> Request:
            with self.admission.measure_reading((user, server.name)):
                return self.parse(wire, server=server, user=user, **details)

        wire = to_wire(params)
        try:
            size = check_size(wire, self._limits_of_small)
        except RequestError:  # too large to read it here, or invalid
            return await read_in_thread(read, (user, server.name))
        # Estimated: measuring may take longer than reading.
        self.admission.count_reading((user, server.name), size.total * SECONDS_PER_SIZE)
        options = self.request_options
        request = read_wire(wire, size, options.limits, options.url_rules, server=server, user=user, **details)
        _check_mode(options, request)
        return request

    async def _answer_request(self, request: Request, handler: NormalizedHandler) -> Answer:
        server = request.server.name
        try:
            answer = await not_cancelled_inside(handler.begin(request, self.request_options, self.admission))
            answer = await check_answer_async(request, validate_answer(answer))
        except CancelledInsideError:
            _logger.exception(
                "a request of server %r could not be answered: a task of the handler was cancelled", server
            )
            return Answer.cancel(by="error", reason="a task of the handler was cancelled")
        except _InvalidResultError as error:
            _logger.error("a request of server %r could not be answered: %s", server, error)  # noqa: TRY400 -- no trace
            return Answer.cancel(by="error", reason="the handler failed")
        except Exception:
            # Catch every exception here.  Handler errors must not reach the server or fail the host's call.
            _logger.exception("a request of server %r could not be answered", server)
            return Answer.cancel(by="error", reason="the handler failed")
        if answer.by == "error":
            _logger.warning("no answer for server %r: %s", server, reason_for_log(answer))
        return answer

    def parse(self, params: object, **details: Any) -> Request:
        """
        Read *params*; *details* are those of `parse_request`.

        Raises:
            RequestError: If the request cannot be answered, or its mode is
                not declared.
        """
        options = self.request_options
        return restrict(options, parse_request(params, limits=options.limits, url_rules=options.url_rules, **details))

    def to_wire(self, answer: Answer) -> dict[str, Any]:
        """Return the result of *answer* as JSON: everything that the server learns."""
        wire = answer.to_wire()
        if self.request_options.report_outcome:
            wire["_meta"] = {
                OUTCOME_META_KEY: {"by": answer.by, **({"policy": answer.policy} if answer.policy else {})}
            }
        return wire


async def settle_defaults_async(request: Request) -> Request:
    """Check the defaults that have a pattern.  The event loop is not blocked."""
    if not isinstance(request, FormRequest) or not _has_patterns(request):
        return request
    form, dropped = await _run_steps(settling_steps(request.form), request)
    if form is request.form:
        return request
    return request.model_copy(update={"form": form, "diagnostics": (*request.diagnostics, *dropped)})


def _has_patterns(request: Request) -> bool:
    return isinstance(request, FormRequest) and has_patterns(request.form)


async def check_answer_async(request: Request, answer: Answer) -> Answer:
    """Check *answer* as `check_answer` does.  The event loop is not blocked while patterns are checked."""
    return await _run_steps(checking_steps(request, answer), request)


async def validate_async(request: FormRequest, content: object) -> ValidationResult:
    """Check *content* as `validate` does.  The event loop is not blocked while patterns are checked."""
    return await _run_steps(validation_steps(request.form, content, limits_of(request)), request)


async def secret_fields_async(request: FormRequest) -> tuple[SecretFinding, ...]:
    """Return what `secret_fields` finds in *request*.  The event loop is not blocked."""
    # Most processes never look for secrets.
    from mcp_elicit_client.core.secrets.in_request import secret_fields

    return await _work_on_request(request, lambda: secret_fields(request.form, request.message))


async def _work_on_request(request: FormRequest, work: Callable[[], T]) -> T:
    """
    Return the result of *work*, which reads the texts of *request*: in a thread, if they are long.

    Its processor time counts as that for reading the request.
    """
    state, user_and_server = _state.get(), user_and_server_of(request)
    admission = state.admission if state is not None else None

    def measured() -> T:
        with nullcontext() if admission is None else admission.measure_reading(user_and_server):
            return work()

    length = len(request.message) + sum(map(len, labels_of(request.form)))
    if length + _LENGTH_OF_OPTION * option_count(request.form) <= MAX_SMALL:
        return measured()
    return await read_in_thread(measured, user_and_server)


async def _run_steps(steps: PatternSteps[T], request: Request) -> T:
    try:
        checks = next(steps)
        while True:
            waker = Waker()
            job = PatternJob(checks, user_and_server_of(request), waker.wake)
            POOL.submit(job)
            try:
                await waker.wait()
            finally:
                job.is_abandoned = True
            checks = steps.send(job.results)
    except StopIteration as end:
        result: T = end.value
        return result


class _InvalidResultError(TypeError):
    """A handler or a hook returned neither an `Answer` nor a result of the SDK."""


def normalize_answer(result: object, function: object) -> Answer:
    """
    Return what *function*, a handler or a hook, returned as an `Answer`.

    Raises:
        TypeError: If *result* is neither an `Answer` nor a result of the SDK.
    """
    if isinstance(result, Answer):
        return validate_answer(result)
    action = getattr(result, "action", None)
    content = getattr(result, "content", None)
    if action not in ("accept", "decline", "cancel") or not (content is None or isinstance(content, dict)):
        returned = "None" if result is None else f"an object of type `{type(result).__name__}`"
        hint = " Await it." if inspect.isawaitable(result) else ""
        raise _InvalidResultError(
            f"{describe(function)} returned {returned}.{hint} Return an `Answer` or an `ElicitResult`."
        )
    return Answer(action=action, content=content, by="host")


def validate_answer(answer: Answer) -> Answer:
    """
    Validate *answer* again: it may have been made without validation, or its content changed since.

    Raises:
        ValidationError: If it is not valid.
    """
    return Answer.model_validate(dict(vars(answer)))
