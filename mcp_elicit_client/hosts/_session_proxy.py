"""`wrap_session`: for libraries that take a session and call tools themselves."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar, cast

from mcp_elicit_client._arguments import check_method, check_type
from mcp_elicit_client.core.request import check_user

if TYPE_CHECKING:
    from mcp_elicit_client.calls import Caller

S = TypeVar("S")


def wrap_session(caller: Caller, session: S, *, user: str | None = None) -> S:
    """
    Return *session* so that its calls are made by *caller*.

    Multi-round-trip requests, required URL elicitations (``-32042``) and
    completions are handled, and timeouts do not include the user's time.

    Args:
        caller: The caller for the server of this session.
        session: An entered session or client, made with ``caller.session`` or
            ``caller.client``, or by you with the callback and the message
            handler of *caller*.
        user: The user of the session, 1 to 256 characters; None for that of
            *caller*.

    Raises:
        TypeError: If *caller* is not a `Caller`, or *session* has no
            ``call_tool``.
        ValueError: If *user* is empty or too long.
    """
    return cast("S", SessionProxy(caller, session, user))


class SessionProxy:
    """A session whose calls are made by a caller; the rest is that of the session."""

    def __init__(self, caller: Caller, session: Any, user: str | None) -> None:
        from mcp_elicit_client.calls import Caller

        check_type("caller", caller, Caller, hint="Pass the caller first and the session second.")
        check_method("session", session, "call_tool", "a `ClientSession` in its `async with`")
        self._caller = caller
        self._user = check_user(user)
        self._session = session

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        read_timeout_seconds: float | timedelta | None = None,  # a `timedelta` in mcp 1.x
        progress_callback: Any = None,
        *,
        meta: Mapping[str, Any] | None = None,
    ) -> Any:
        limit = read_timeout_seconds
        return await self._caller.call_tool(
            self._session,
            name,
            arguments,
            user=self._user,
            timeout=limit.total_seconds() if isinstance(limit, timedelta) else limit,
            progress_callback=progress_callback,
            meta=meta,
        )

    async def get_prompt(
        self, name: str, arguments: Mapping[str, str] | None = None, *, meta: Mapping[str, Any] | None = None
    ) -> Any:
        return await self._caller.get_prompt(self._session, name, arguments, user=self._user, meta=meta)

    async def read_resource(self, uri: Any, *, meta: Mapping[str, Any] | None = None, cache_mode: Any = None) -> Any:
        del cache_mode  # a read that may ask the user is not answered from a cache
        return await self._caller.read_resource(self._session, str(uri), user=self._user, meta=meta)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)
