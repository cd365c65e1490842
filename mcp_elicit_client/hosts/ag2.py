"""
AG2: `answer_policy` for ``MCPToolkit(..., answering=...)``.

AG2 takes no callback: its policy ``ask`` puts one text to the user, and
declines all other requests without asking.  The policy of this module
replaces the class that answers requests in AG2's toolkit by a subclass.
Toolkits with other policies behave as before.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ag2.tools.toolkits.mcp_server import toolkit
from ag2.tools.toolkits.mcp_server.answering import InputRequestAnswerer, MCPAnswerPolicy

from mcp_elicit_client.sdk.callback import ElicitationCallback, elicitation_callback

if TYPE_CHECKING:
    from mcp_elicit_client.core.request import Server
    from mcp_elicit_client.request_options import RequestOptions
    from mcp_elicit_client.sdk.callback import UserSource
    from mcp_elicit_client.typing import Handler

_ATTRIBUTE = "InputRequestAnswerer"
_lock = threading.Lock()


def answer_policy(
    handler: Handler,
    *,
    server: Server | str,
    user: UserSource = None,
    request_options: RequestOptions | None = None,
    max_rounds: int = 10,
) -> Any:
    """
    Return the ``answering`` of an ``MCPToolkit``: an ``MCPAnswerPolicy``.

    Args:
        handler: The handler: a registry, or any other.
        server: The name that your users see.  Use one toolkit for each server.
        user: As for `sdk.callback.elicitation_callback`.
        request_options: Limits, URL rules and modes; None for those of the
            registry.
        max_rounds: As for ``MCPAnswerPolicy``.

    Raises:
        RuntimeError: If this version of AG2 answers requests in another way.
    """
    callback = elicitation_callback(handler, server=server, user=user, request_options=request_options)
    with _lock:
        current = getattr(toolkit, _ATTRIBUTE, None)
        if not isinstance(current, type) or not issubclass(current, InputRequestAnswerer):
            raise RuntimeError(  # noqa: TRY004 -- the version is wrong, and not the type of an argument
                "This version of AG2 is not supported: its MCP toolkit answers requests in another way."
            )
        if not issubclass(current, _HandlerAnswerer):
            setattr(toolkit, _ATTRIBUTE, _HandlerAnswerer)
    return _HandlerPolicy(elicitation="ask", max_rounds=max_rounds, callback=callback)


@dataclass(frozen=True, slots=True)
class _HandlerPolicy(MCPAnswerPolicy):  # type: ignore[misc,unused-ignore]
    callback: ElicitationCallback | None = None


class _HandlerAnswerer(InputRequestAnswerer):  # type: ignore[misc,unused-ignore]
    async def on_elicitation(self, context: Any, params: Any) -> Any:
        if isinstance(self._policy, _HandlerPolicy) and self._policy.callback is not None:
            return await self._policy.callback(context, params)
        return await super().on_elicitation(context, params)
