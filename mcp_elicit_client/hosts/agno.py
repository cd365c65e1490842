"""agno: ``MCPTools(session=wrap_session(caller, session))``."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

from mcp_elicit_client.hosts._session_proxy import SessionProxy

if TYPE_CHECKING:
    from mcp_elicit_client.calls import Caller

__all__ = ["wrap_session"]

S = TypeVar("S")


def wrap_session(caller: Caller, session: S, *, user: str | None = None) -> S:
    """
    Return *session* so that ``MCPTools`` makes its calls with *caller*.

    Args:
        caller: The caller for the server of this session.
        session: A connected client or session of *caller*, such as
            ``Caller.connect`` yields.
        user: The user of the session; None for that of *caller*.

    Raises:
        TypeError: If *caller* is not a `Caller`.
        ValueError: If *user* is empty or too long.
    """
    return cast("S", _ConnectedSession(caller, session, user))


class _ConnectedSession(SessionProxy):
    """A session that is connected already.  agno would initialize it again, and ping it before each call."""

    async def initialize(self) -> None:
        """Do nothing."""

    async def send_ping(self) -> None:
        """Do nothing: the protocol has no pings from 2026-07-28 on."""
