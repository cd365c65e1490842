"""The callback that is tested, how it is loaded, and the actions of its user."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType, SimpleNamespace
from typing import Any, Literal, TypeAlias

from mcp_elicit_client._arguments import check_type, is_async, is_coroutine_function
from mcp_elicit_client.check.runner import LoadError
from mcp_elicit_client.check.settings import CallbackShape

UserActionName: TypeAlias = Literal["accept", "decline", "cancel", "absent", "fail", "hang"]
"""
What a user does.

``accept``: send the form, or consent to the URL.  ``decline``.  ``cancel``.
``absent``: there is no user.  ``fail``: the user interface fails.  ``hang``: the
user never answers.
"""

FAILURE_TEXT = "the interface broke at /home/ann/.secrets"
"""The text of the exception that a failing interface raises."""


class UnsupportedActionError(Exception):
    """The interface under test does not let its user do this.  The text says why."""


@dataclass
class UserAction:
    """
    What the user does with the next request.

    Attributes:
        action: The action.
        content: The values that the user gives, by field name, as JSON.  They
            may be invalid.  The user does not touch other fields.
        params: The params of the request, as JSON.
        after: Seconds that the user waits first.
        seen: Texts that the user was shown, as far as the user hook reports
            them.
    """

    action: UserActionName
    content: Mapping[str, Any]
    params: Mapping[str, Any]
    after: float = 0.0
    seen: list[str] = field(default_factory=list)

    def saw(self, text: str) -> None:
        """Report that the user is shown *text*.  Printed text is noticed without this."""
        self.seen.append(text)


def take_action(actions: list[UserAction], message: str) -> UserAction:
    """Remove and return the action for the request with *message*: if none is meant for it, the first one."""
    meant = (each for each in actions if each.params.get("message") == message)
    action = next(meant, actions[0])
    actions.remove(action)
    return action


UserHook: TypeAlias = Callable[[UserAction], "Iterable[str | bytes] | None"]
"""
Plays the user of a callback.

It is called with the action before the request is sent.  It returns the lines
that the user types at standard input, or None if it needs none.

Raises:
    UnsupportedActionError: If the interface does not support the action.
"""


@dataclass(frozen=True)
class CallbackUnderTest:
    """
    A callback that is tested.

    Attributes:
        callback: An ``elicitation_callback`` of the SDK.
        user: The user hook; None if the callback asks no user, or if its user
            cannot be played.
        server: The server name that the callback shows.

    Raises:
        TypeError: If the callback or the hook is not a function.
    """

    callback: Callable[..., Any]
    user: UserHook | None = None
    server: str = "fake-server"

    def __post_init__(self) -> None:
        check_type("callback", self.callback, Callable)  # type: ignore[arg-type]
        check_type("user", self.user, Callable, NoneType)  # type: ignore[arg-type]
        check_type("server", self.server, str)


def load_callback(spec: str, *, user: str | None, shape: CallbackShape, server: str) -> CallbackUnderTest:
    """
    Load the callback that is tested.

    Args:
        spec: ``MODULE:CALLABLE`` or ``FILE.py:CALLABLE``.  The callable may
            be a dotted path.
        user: The user hook, in the same form; see `UserHook`.
        shape: The parameters of the callback.
        server: The server name that the callback shows.

    Raises:
        LoadError: If the callback, the hook or the library of *shape* cannot
            be loaded, if the callback is not async, or if the hook is.
    """
    callback = load_callable(spec)
    if isinstance(callback, type):
        raise LoadError(f"{spec} is a class. Name an instance of it.")
    if not is_async(callback):
        raise LoadError(f"{spec} is not async. Define it with `async def`, or annotate that it returns an `Awaitable`.")
    try:
        adapted = _ADAPTERS[shape](callback, server)
    except ImportError as error:
        raise LoadError(f"The shape {shape} requires a library that is not installed: {error.name}.") from None
    hook = None if user is None else load_callable(user)
    if hook is not None and is_coroutine_function(hook):
        raise LoadError(f"{user} is async. Define it with `def`. Of a `ScriptedUser`, name its method `follow`.")
    return CallbackUnderTest(adapted, hook, server)


def load_callable(spec: str) -> Any:
    """
    Import the callable that *spec* names.

    Raises:
        LoadError: If it cannot be imported, or is not callable.
    """
    module_name, _, path = spec.rpartition(":")  # a path of Windows has another colon
    if not module_name or not path:
        raise LoadError(f"{spec!r} is not MODULE:CALLABLE, such as myhost:callback.")
    try:
        found = functools.reduce(getattr, path.split("."), _import(module_name))
    except AttributeError as error:
        raise LoadError(f"{module_name} has no {path}: {error}") from None
    except LoadError:
        raise
    except Exception as error:
        raise LoadError(f"Cannot import {module_name}: {type(error).__name__}: {error}") from error
    if not callable(found):
        raise LoadError(f"{spec} is not callable.")
    return found


def _import(name: str) -> Any:
    if not name.endswith(".py"):
        return importlib.import_module(name)
    path = Path(name).resolve()
    known = sys.modules.get(path.stem)
    if known is not None and getattr(known, "__file__", None) == str(path):
        return known
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.exists():
        raise LoadError(f"There is no file {name}.")
    sys.path.insert(0, str(path.parent))  # as for `python FILE`
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _adapt_sdk(callback: Any, _server: str) -> Any:
    return callback


def _adapt_fastmcp(handler: Any, _server: str) -> Any:
    # FastMCP's own client passes this callback to the SDK.
    from fastmcp.client.elicitation import create_elicitation_callback

    return create_elicitation_callback(handler)


def _adapt_langchain(handler: Any, server: str) -> Any:
    callbacks = importlib.import_module("langchain_mcp_adapters.callbacks")
    context = callbacks.CallbackContext(server_name=server, tool_name="ask")
    return callbacks.Callbacks(on_elicitation=handler).to_mcp_format(context=context).elicitation_callback


def _adapt_mcp_agent(handler: Any, server: str) -> Any:
    # mcp-agent's own session passes this callback to the SDK.
    sessions = importlib.import_module("mcp_agent.mcp.mcp_agent_client_session")
    context = SimpleNamespace(upstream_session=None, elicitation_handler=handler)
    session = SimpleNamespace(context=context, server_config=SimpleNamespace(name=server))
    return functools.partial(sessions.MCPAgentClientSession._handle_elicitation_callback, session)  # noqa: SLF001


_ADAPTERS: Mapping[CallbackShape, Callable[[Any, str], Any]] = {
    "sdk": _adapt_sdk,
    "fastmcp": _adapt_fastmcp,
    "langchain": _adapt_langchain,
    "mcp-agent": _adapt_mcp_agent,
}
