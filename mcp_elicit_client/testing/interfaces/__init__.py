"""
User interfaces of this package with a scripted person in front of them, for ``mcp-elicit check --interface``.

`Interface` connects both: its `callback` asks with the user interface, and
its `follow` is the user hook.  The subclasses drive what a person sees and
does.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import anyio

from mcp_elicit_client.check.interfaces import SERVER
from mcp_elicit_client.policies import compose, one_at_a_time, rate_limit
from mcp_elicit_client.registry import ElicitationRegistry
from mcp_elicit_client.testing.callback_under_test import FAILURE_TEXT, UserAction, take_action
from mcp_elicit_client.typing import Answer, Request

_RATE = "30/minute"


class Interface:
    """A user interface, and the person in front of it."""

    def __init__(self) -> None:
        self._actions: list[UserAction] = []

    @cached_property
    def callback(self) -> Any:
        """The callback for the SDK."""
        registry = ElicitationRegistry(policy=compose(rate_limit([_RATE]), one_at_a_time()))
        registry.on_elicitation(self._ask)
        return registry.callback(SERVER)

    def follow(self, action: UserAction) -> None:
        """Perform *action* when its request is shown.  This is the user hook."""
        self._actions.append(action)

    async def _ask(self, request: Request, /) -> Answer:
        action = take_action(self._actions, request.message) if self._actions else UserAction("absent", {}, {})
        if action.action == "fail":
            raise RuntimeError(FAILURE_TEXT)
        if action.action == "absent":
            return await self.ask_unattended(request)
        async with anyio.create_task_group() as group:
            group.start_soon(self._act, action, request)
            answer = await self.show(request)
            group.cancel_scope.cancel()
        return answer

    async def _act(self, action: UserAction, request: Request) -> None:
        await anyio.sleep(action.after)
        await self.perform(action, request)

    # --- what each interface defines

    async def show(self, request: Request) -> Answer:
        """Ask with the user interface."""
        raise NotImplementedError

    async def ask_unattended(self, request: Request) -> Answer:
        """Ask with the user interface, without a person in front of it."""
        raise NotImplementedError

    async def perform(self, action: UserAction, request: Request) -> None:
        """Look at what is shown for *request*, and do what a person does who performs *action*."""
        raise NotImplementedError
