"""Checks of arguments that type checkers may not see: they fail when they are passed, and name the fix."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Collection
from typing import Any, TypeGuard

_AWAITABLES = ("Awaitable", "Coroutine", "Future", "Task")
_OWN_POLICIES = "mcp_elicit_client.policies"
YEAR = 31_536_000
"""The longest time to answer a request, in seconds."""


def check_handler(handler: object) -> None:
    """
    Check that *handler* is an async function, or an object with an async ``__call__``, and takes a request.

    Its ``notify``, if it has one, must be async as well.

    Raises:
        TypeError: If it is not.
    """
    name = describe(handler)
    if isinstance(handler, type):
        raise TypeError(f"{name} is a class, not a handler. Pass an instance, such as {handler.__name__}().")
    if not callable(handler):
        hint = " Pass the handler first, and the server as `server`." if isinstance(handler, str) else ""
        hint = hint or (" Pass its attribute `handler`." if hasattr(handler, "handler") else "")
        raise TypeError(f"{name} is not a handler. A handler is an async function that takes a request.{hint}")
    if is_policy_factory(handler):
        raise TypeError(f"{name} makes a policy; it is not a handler. Pass `policy={_name_of(handler)}()`.")
    if not is_async(handler):
        raise TypeError(
            f"{name} is not async. Define the handler with `async def`. If it is a policy, pass it as `policy`."
        )
    if not _takes(handler, 1):
        raise TypeError(f"{name} does not take one argument. Define the handler as `async def handle(request)`.")
    notify = getattr(handler, "notify", None)
    if callable(notify):
        check_async("notify", notify, "notice")


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
        hint = " Join several with `compose`." if isinstance(policy, (list, tuple)) else ""
        raise TypeError(f"{name} is not a policy. A policy is a function that takes a handler and returns one.{hint}")
    if is_coroutine_function(policy):
        raise TypeError(f"{name} is async, so it is not a policy. Pass handlers to `on_elicitation`.")
    if is_policy_factory(policy) or not _takes(policy, 1):
        raise TypeError(f"{name} makes a policy. Call it: {_name_of(policy)}().")


def check_seconds(  # noqa: PLR0913 -- all but two by keyword
    name: str,
    value: object,
    *,
    optional: bool = False,
    allow_zero: bool = False,
    maximum: float = math.inf,
    hint: str = "",
) -> None:
    """
    Check that the argument *name* is a number of seconds above 0, or of at least 0 if *allow_zero*.

    Raises:
        TypeError: If it is not a number; None is allowed if *optional*.
        ValueError: If it is out of range, or not a number (NaN).
    """
    if (optional and value is None) or (is_number(value) and (0 < value <= maximum or (allow_zero and value == 0))):
        return
    error = ValueError if is_number(value) else TypeError
    smallest = "of at least 0" if allow_zero else "above 0"
    largest = "" if maximum == math.inf else f" and at most {maximum:.0f}"
    expected = f"a number {smallest}{largest}{' or None' if optional else ''}"
    raise error(f"`{name}` must be {expected}, not {value!r}.{hint and ' '}{hint}")


def check_int(name: str, value: object, minimum: int = 0) -> None:
    """
    Check that the argument *name* is an int of at least *minimum*.

    Raises:
        TypeError: If it is not an int, or a bool.
        ValueError: If it is too small.
    """
    message = f"`{name}` must be an int of at least {minimum}, not {value!r}."
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(message)
    if value < minimum:
        raise ValueError(message)


def check_type(name: str, value: object, *types: type, hint: str = "") -> None:
    """
    Check that the argument *name* is of one of *types*.  Its value is not quoted: it may be a secret.

    Raises:
        TypeError: If it is not.
    """
    if not isinstance(value, types):
        names = " or ".join("None" if each is type(None) else each.__name__ for each in types)
        found = f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
        raise TypeError(f"`{name}` must be {names}, not {found}.{hint and ' '}{hint}")


def check_policy_result(policy: object, handler: object) -> None:
    """
    Check the *handler* that *policy* returned.

    Raises:
        TypeError: If it is not a handler.
    """
    if is_async(handler):
        return
    advice = "Return an async function."
    if inspect.isroutine(handler):
        advice = "Define it with `async def`."
    if inspect.isroutine(policy):
        advice += f" If `{_name_of(policy)}` makes a policy, call it: {_name_of(policy)}()."
    raise TypeError(
        f"The policy ({_described(policy)}) returned {_described(handler)}, which is not a handler. {advice}"
    )


def check_method(name: str, value: object, method: str, example: str) -> None:
    """
    Check that the argument *name* is an object with *method*: of any class, such as one of the host application.

    Raises:
        TypeError: If it is not.
    """
    if isinstance(value, type) or not callable(getattr(value, method, None)):
        raise TypeError(
            f"`{name}` must be an object with the method `{method}`, such as {example}, not {_described(value)}."
        )


def check_texts(name: str, value: object) -> None:
    """
    Check that the argument *name* is a collection of strings, and not a single one.

    Raises:
        TypeError: If it is not.
    """
    if isinstance(value, (str, bytes)):
        raise TypeError(f"`{name}` must be a collection of strings, not one string. Pass {[value]!r}.")
    if not isinstance(value, Collection):  # of an iterator, nothing would be left after the first look
        raise TypeError(f"`{name}` must be a collection of strings, not {type(value).__name__}.")
    if not all(isinstance(each, str) for each in value):
        raise TypeError(f"`{name}` must be a collection of strings, not {value!r}.")


def check_function(name: str, function: object, *parameters: str, hint: str = "") -> None:
    """
    Check that the argument *name* is a function that can be called with *parameters*.

    Raises:
        TypeError: If it is not.
    """
    if not callable(function):
        raise TypeError(f"`{name}` must be a function, not {_described(function)}.{hint and ' '}{hint}")
    if not _takes(function, len(parameters)):
        call = f"{name}({', '.join(parameters)})"
        raise TypeError(f"`{name}` must be a function that can be called as `{call}`.{hint and ' '}{hint}")


def check_sync(name: str, function: object, *parameters: str, hint: str = "") -> None:
    """
    Check that the argument *name* is a function that is not async, and can be called with *parameters*.

    Raises:
        TypeError: If it is not.
    """
    if callable(function) and not isinstance(function, type) and is_coroutine_function(function):
        raise TypeError(f"`{name}` must not be async. Define it with `def`.")
    check_function(name, function, *parameters, hint=hint)


def check_async(name: str, function: object, *parameters: str) -> None:
    """
    Check that the argument *name* is an async function that can be called with *parameters*.

    Raises:
        TypeError: If it is not.
    """
    if not is_async(function):
        raise TypeError(f"`{name}` must be an async function, not {_described(function)}. Define it with `async def`.")
    check_function(name, function, *parameters)


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
    """Return words for *value* at the beginning of an error."""
    words = _described(value)
    return words[0].upper() + words[1:]


def _described(value: object) -> str:
    if isinstance(value, str):
        return f"the string {value!r}"
    if isinstance(value, type) or inspect.isroutine(value):
        return f"`{_name_of(value)}`"
    return "None" if value is None else f"an object of type `{type(value).__name__}`"


def is_number(value: object) -> TypeGuard[float]:
    """Return True if *value* is an int or a float; a bool is neither."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_coroutine_function(function: Callable[..., Any]) -> bool:
    """Return True if *function*, or its method ``__call__``, is defined with ``async def``."""
    if inspect.iscoroutinefunction(function):
        return True
    return not inspect.isroutine(function) and inspect.iscoroutinefunction(type(function).__call__)


def _takes(function: Any, count: int) -> bool:
    """Return False if *function* certainly cannot be called with *count* arguments."""
    if _has_parameters(function, count) or _is_without_signature(function):
        return True
    try:
        signature = inspect.signature(function)
    except Exception:  # noqa: BLE001 -- compiled, or with annotations that cannot be evaluated: nothing is known
        return True
    try:
        signature.bind(*[None] * count)
    except TypeError:
        return False
    return True


def _has_parameters(function: Any, count: int) -> bool:
    """Return True if *function* is a plain one with *count* parameters.  A signature takes 20 times as long to make."""
    if not inspect.isfunction(function) or vars(function):  # it may wrap another one
        return False
    code = function.__code__
    return code.co_argcount == count and not code.co_kwonlyargcount


def _is_without_signature(function: Any) -> bool:
    """Return True if *function* is compiled and does not say what it takes."""
    return inspect.isbuiltin(function) and getattr(function, "__text_signature__", None) is None


def _name_of(value: object) -> str:
    name = getattr(value, "__qualname__", None) or type(value).__name__
    return str(name).rpartition("<locals>.")[2]
