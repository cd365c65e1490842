"""The objects that a function mentions: in its closure, its arguments, its attributes and its module."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


def find_mentioned(function: object, match: Callable[[object], tuple[T, ...] | None]) -> tuple[T, ...]:
    """
    Search *function*, and the functions that it wraps, for the objects that *match* knows.

    Args:
        function: A function, a bound method, a partial or a callable object.
        match: Returns what it finds in an object; None to search the object.

    Returns:
        What *match* found, each once.
    """
    found: dict[T, None] = {}
    seen: set[int] = set()
    left = [function]
    while left:
        each = left.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        matches = match(each)
        if matches is not None:
            found |= dict.fromkeys(matches)
        elif callable(each) and not isinstance(each, type):
            left += _mentioned(each)
    return tuple(found)


def _mentioned(function: Any) -> Iterator[object]:
    if isinstance(function, functools.partial):
        yield from (function.func, *function.args, *function.keywords.values())
        return
    owner = getattr(function, "__self__", None)
    if not hasattr(function, "__code__"):  # an object with `__call__`, not a function
        owner, function = function, type(function).__call__
    code = getattr(function, "__code__", None)
    if code is None:  # not written in Python
        return
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # not assigned yet
            yield cell.cell_contents
    for name in code.co_names:
        value = function.__globals__.get(name)
        if not isinstance(value, types.FunctionType):  # those of other modules mention too much
            yield value
        if owner is not None:
            yield _attribute(owner, name)


def _attribute(owner: object, name: str) -> object:
    """Return an attribute without running a property."""
    slot = inspect.getattr_static(type(owner), name, None)
    if isinstance(slot, types.MemberDescriptorType):
        return getattr(owner, name, None)
    return getattr(owner, "__dict__", {}).get(name)
