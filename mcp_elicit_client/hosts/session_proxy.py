"""
For libraries that take a session: one whose tool calls survive being asked.

They call tools and know nothing of questions.  Here each is a call of a
`Caller`, with all that belongs to it: questions that come back in place of a
result, URLs that are wanted first (``-32042``), completions, and a clock that
does not count the user's time.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from mcp_elicit_client.calls import Caller

S = TypeVar("S")

Seconds = float
"""Time limits of mcp 2.x; those of 1.x are a ``timedelta``."""


def wrap_session(caller: Caller, session: S) -> S:
    """
    Return *session* as the library is to see it: the same, but its calls are those of *caller*.

    Args:
        caller: Who makes the calls, for the server of this session.
        session: A session made with ``caller.session`` or ``caller.client``,
            or by the host with the caller's callback and message handler.
    """
    return cast("S", _SessionProxy(caller, session))


class _SessionProxy:
    def __init__(self, caller: Caller, session: Any) -> None:
        self._caller = caller
        self._session = session

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        read_timeout_seconds: Seconds | timedelta | None = None,
        progress_callback: Any = None,
        *,
        meta: Mapping[str, Any] | None = None,
    ) -> Any:
        limit = read_timeout_seconds
        return await self._caller.call_tool(
            self._session,
            name,
            arguments,
            timeout=limit.total_seconds() if isinstance(limit, timedelta) else limit,
            progress_callback=progress_callback,
            meta=meta,
        )

    async def get_prompt(
        self, name: str, arguments: Mapping[str, str] | None = None, *, meta: Mapping[str, Any] | None = None
    ) -> Any:
        return await self._caller.get_prompt(self._session, name, arguments, meta=meta)

    async def read_resource(self, uri: Any, *, meta: Mapping[str, Any] | None = None, cache_mode: Any = None) -> Any:
        del cache_mode  # what may ask is not read from a cache
        return await self._caller.read_resource(self._session, str(uri), meta=meta)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)
