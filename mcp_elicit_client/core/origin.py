"""
The origin of a request that gateways relay: reading and writing it in ``_meta``.

A gateway names the server that asked it in the ``_meta`` of the request that
it sends to its own client, under `ORIGIN_META_KEY`: a list of names, the
gateway's own server first.  In multi-round-trip requests, it is in the
``_meta`` of the ``input_required`` result: its requests have none.  Each gateway puts the name that it gave its server
in front of the names that it received.  Names that came over the wire are
claims: they are shown, and never decide anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from mcp_elicit_client.core.text import sanitize_and_cut
from mcp_elicit_client.exceptions import RequestError

ORIGIN_META_KEY = "mcp-elicit-client/origin"
"""The key in ``_meta`` of a relayed request."""

MAX_ORIGIN = 5
"""The longest `FormRequest.origin`, in names."""

MAX_ORIGIN_NAME = 100
"""The longest name in `FormRequest.claimed_origin`, in characters.  Longer names are cut."""

_SEPARATOR = ">"


def read_origin(meta: object) -> tuple[str, ...]:
    """
    Return the names in the ``_meta`` of a request, nearest first, sanitized; empty if there are none.

    Raises:
        RequestError: If the value is not a list of names, or so long that the
            origin, with the server that sent the request, has more than
            `MAX_ORIGIN` names.
    """
    names = meta.get(ORIGIN_META_KEY) if isinstance(meta, Mapping) else None
    if names is None:
        return ()
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise RequestError(f"`_meta.{ORIGIN_META_KEY}` must be a list of names")
    return _checked(names[:MAX_ORIGIN])


def write_origin(origin: Iterable[str]) -> dict[str, Any]:
    """
    Return the ``_meta`` with which a gateway relays a request, or an ``input_required`` result.

    Args:
        origin: `FormRequest.origin` of the request that the gateway received.

    Raises:
        RequestError: If the client of the gateway would refuse the request,
            because its origin would have more than `MAX_ORIGIN` names.
    """
    return {ORIGIN_META_KEY: list(_known_names(tuple(origin)))}


def join_origin(origin: Iterable[str]) -> str:
    """
    Return *origin* in one line.  A name cannot look like two names.

    Examples:
        >>> join_origin(["gateway", "files"])
        'gateway > files'
    """
    return f" {_SEPARATOR} ".join(map(_sanitized, origin))


def _checked(names: Iterable[str]) -> tuple[str, ...]:
    sanitized = tuple(map(_sanitized, names))
    if len(sanitized) >= MAX_ORIGIN:
        raise RequestError(f"the request was relayed by more than {MAX_ORIGIN - 1} gateways")
    if not all(name.strip() for name in sanitized):
        raise RequestError(f"`_meta.{ORIGIN_META_KEY}` contains an empty name")
    return sanitized


@lru_cache(maxsize=128)
def _known_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return *names* checked: gateways write the same origins again and again."""
    return _checked(names)


def _sanitized(name: str) -> str:
    """Return *name* in one line, without the separator."""
    shown = sanitize_and_cut(name, MAX_ORIGIN_NAME)
    if _SEPARATOR not in shown:
        return shown
    return sanitize_and_cut(shown.replace(_SEPARATOR, f"\\u{{{ord(_SEPARATOR):x}}}"), MAX_ORIGIN_NAME)
