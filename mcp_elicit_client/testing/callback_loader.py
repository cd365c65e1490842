"""From the name of a callback to what is tested, whatever shape its library gives it."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, TypeAlias, get_args

from mcp_elicit_client.testing.scenario_run import CallbackUnderTest

Shape: TypeAlias = Literal["sdk", "fastmcp", "langchain", "mcp-agent"]
"""
What a callback is called with: ``(context, params)``; FastMCP's ``(message,
response_type, params, context)``; langchain-mcp-adapters' ``(mcp_context,
params, context)``; or mcp-agent's ``(request)``.
"""

SHAPES: tuple[Shape, ...] = get_args(Shape)


class LoadError(Exception):
    """There is no such callback; the text says why."""


def load(spec: str, *, user: str | None = None, shape: Shape = "sdk", server: str = "fake-server") -> CallbackUnderTest:
    """
    Load what is tested.

    Args:
        spec: ``MODULE:CALLABLE`` or ``FILE.py:CALLABLE``; the callable may
            have dots.
        user: The user hook, spelt alike; see `UserHook`.
        shape: What the callback is called with.
        server: What the callback calls the server.

    Raises:
        LoadError: If there is no such thing.
    """
    callback = find(spec)
    try:
        fitted = _FITTING[shape](callback, server)
    except ImportError as error:
        raise LoadError(f"the shape {shape} takes a library that is not installed: {error.name}") from None
    return CallbackUnderTest(fitted, None if user is None else find(user), server)


def find(spec: str) -> Any:
    """
    Import what *spec* names.

    Raises:
        LoadError: If there is no such thing, or it cannot be called.
    """
    module_name, _, path = spec.partition(":")
    if not module_name or not path:
        raise LoadError(f"{spec!r} is not MODULE:CALLABLE")
    try:
        found = functools.reduce(getattr, path.split("."), _module(module_name))
    except AttributeError as error:
        raise LoadError(f"{module_name} has no {path}: {error}") from None
    except LoadError:
        raise
    except Exception as error:
        raise LoadError(f"cannot import {module_name}: {type(error).__name__}: {error}") from error
    if not callable(found):
        raise LoadError(f"{spec} cannot be called")
    return found


def _module(name: str) -> Any:
    if not name.endswith(".py"):
        return importlib.import_module(name)
    path = Path(name).resolve()
    known = sys.modules.get(path.stem)
    if known is not None and getattr(known, "__file__", None) == str(path):
        return known
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.exists():
        raise LoadError(f"there is no file {name}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _sdk(callback: Any, _server: str) -> Any:
    return callback


def _fastmcp(handler: Any, _server: str) -> Any:
    # What FastMCP's own client hands to the SDK.
    from fastmcp.client.elicitation import create_elicitation_callback

    return create_elicitation_callback(handler)


def _langchain(handler: Any, server: str) -> Any:
    callbacks = importlib.import_module("langchain_mcp_adapters.callbacks")
    context = callbacks.CallbackContext(server_name=server, tool_name="ask")
    return callbacks.Callbacks(on_elicitation=handler).to_mcp_format(context=context).elicitation_callback


def _mcp_agent(handler: Any, server: str) -> Any:
    # What mcp-agent's own session hands to the SDK.
    sessions = importlib.import_module("mcp_agent.mcp.mcp_agent_client_session")
    context = SimpleNamespace(upstream_session=None, elicitation_handler=handler)
    session = SimpleNamespace(context=context, server_config=SimpleNamespace(name=server))
    return functools.partial(sessions.MCPAgentClientSession._handle_elicitation_callback, session)  # noqa: SLF001


_FITTING: Mapping[Shape, Callable[[Any, str], Any]] = {
    "sdk": _sdk,
    "fastmcp": _fastmcp,
    "langchain": _langchain,
    "mcp-agent": _mcp_agent,
}
