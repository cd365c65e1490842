"""Checks of arguments that type checkers may not see: they fail when they are passed, and name the fix."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

_AWAITABLES = ("Awaitable", "Coroutine", "Future", "Task")
_OWN_POLICIES = "mcp_elicit_client.policies"
_YEAR = 31_536_000


def check_handler(handler: object) -> None:
    """
    Check that *handler* is an async function, or an object with an async ``__call__``.

    Raises:
        TypeError: If it is not.
    """
    name = describe(handler)
    if isinstance(handler, type):
        raise TypeError(f"{name} is a class, not a handler. Pass an instance, such as {handler.__name__}().")
    if not callable(handler):
        hint = " Pass the handler first, and the server as `server`." if isinstance(handler, str) else ""
        raise TypeError(f"{name} is not a handler. A handler is an async function that takes a request.{hint}")
    if is_policy_factory(handler):
        raise TypeError(f"{name} makes a policy; it is not a handler. Pass `policy={_name_of(handler)}()`.")
    if not is_async(handler):
        raise TypeError(
            f"{name} is not async. Define the handler with `async def`. If it is a policy, pass it as `policy`."
        )


def check_policy(policy: object) -> None:
    """
    Check that *policy* can be called with a handler.

    Raises:
        TypeError: If it is not.
    """
    name = describe(policy)
    if not isinstance(policy, type) and hasattr(policy, "policy"):
        raise TypeError(f"{name} is not a policy. Pass its method `policy`, without calling it.")
    if isinstance(policy, type):
        method = ".policy" if hasattr(policy, "policy") else ""
        raise TypeError(f"{name} is a class, not a policy. Make an instance: {policy.__name__}(...){method}.")
    if not callable(policy):
        raise TypeError(f"{name} is not a policy. A policy is a function that takes a handler and returns one.")
    if _is_coroutine_function(policy):
        raise TypeError(f"{name} is async, so it is not a policy. Pass handlers to `on_elicitation`.")
    if is_policy_factory(policy) or not _takes_one(policy):
        raise TypeError(f"{name} makes a policy. Call it: {_name_of(policy)}().")


def check_answer_timeout(seconds: float | None) -> float | None:
    """
    Return *seconds*, the time to answer a request.

    Raises:
        ValueError: If it is not above 0 and at most a year.
    """
    if seconds is not None and not 0 < seconds <= _YEAR:
        raise ValueError(f"The answer timeout must be above 0 and at most {_YEAR} seconds, a year, not {seconds!r}.")
    return seconds


def check_policy_result(policy: object, handler: object) -> None:
    """
    Check the *handler* that *policy* returned.

    Raises:
        TypeError: If it is not a handler.
    """
    if not is_async(handler):
        raise TypeError(
            f"The policy {describe(policy)} returned {describe(handler)}, which is not a handler. "
            f"If it makes a policy, call it: {_name_of(policy)}()."
        )


def check_texts(name: str, value: object) -> None:
    """
    Check that the argument *name* is not a single string where a collection of strings is expected.

    Raises:
        TypeError: If it is.
    """
    if isinstance(value, (str, bytes)):
        raise TypeError(f"`{name}` must be a collection of strings, not one string. Pass {[value]!r}.")


def check_sync(name: str, function: object) -> None:
    """
    Check that the argument *name* is a function that is not async.

    Raises:
        TypeError: If it is not.
    """
    if not callable(function):
        raise TypeError(f"`{name}` must be a function, not {describe(function)}.")
    if not isinstance(function, type) and _is_coroutine_function(function):
        raise TypeError(f"`{name}` must not be async. Define it with `def`.")


def check_async(name: str, function: object) -> None:
    """
    Check that the argument *name* is an async function.

    Raises:
        TypeError: If it is not.
    """
    if not is_async(function):
        raise TypeError(f"`{name}` must be an async function, not {describe(function)}. Define it with `async def`.")


def is_async(function: object) -> bool:
    """Return False if *function* cannot be called, is a class, or certainly returns nothing to await."""
    if isinstance(function, type) or not callable(function):
        return False
    while isinstance(function, functools.partial):
        function = function.func
    if inspect.iscoroutinefunction(function):
        return True
    call: Any = function if inspect.isroutine(function) else type(function).__call__
    if not inspect.isfunction(call) and not inspect.ismethod(call):
        return True  # compiled: nothing is known about it
    call = inspect.unwrap(call)
    returned = str(getattr(call, "__annotations__", {}).get("return", ""))
    return inspect.iscoroutinefunction(call) or any(name in returned for name in _AWAITABLES)


def is_policy_factory(function: object) -> bool:
    """Return True if *function* is one of this package that makes a policy."""
    return (
        inspect.isfunction(function)
        and str(function.__module__).startswith(_OWN_POLICIES)
        and function.__qualname__ == function.__name__ != "<lambda>"
    )


def describe(value: object) -> str:
    """Return words for *value* in an error."""
    if isinstance(value, str):
        return f"The string {value!r}"
    if isinstance(value, type) or inspect.isroutine(value):
        return f"`{_name_of(value)}`"
    return "None" if value is None else f"An object of type `{type(value).__name__}`"


def _is_coroutine_function(function: Callable[..., Any]) -> bool:
    """Return True if *function*, or its method ``__call__``, is defined with ``async def``."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def _takes_one(function: Callable[..., Any]) -> bool:
    try:
        inspect.signature(function).bind(object())
    except TypeError:
        return False
    except ValueError:  # compiled: nothing is known about it
        return True
    return True


def _name_of(value: object) -> str:
    name = getattr(value, "__qualname__", None) or type(value).__name__
    return str(name).rpartition("<locals>.")[2]
