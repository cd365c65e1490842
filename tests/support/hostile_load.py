"""A hostile server that keeps many requests in flight, and an honest one beside it."""

from __future__ import annotations

import itertools
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

import anyio
import anyio.lowlevel

from mcp_elicit_client import Answer, FormRequest, RequestError, Server
from mcp_elicit_client.dispatch import Dispatcher
from mcp_elicit_client.testing import PAYLOADS
from mcp_elicit_client.typing import Policy, Request
from tests.support import form_params

IN_FLIGHT = 60
HOSTILE, HONEST = Server(name="hostile"), Server(name="honest")

_SLOW = {"type": "string", "pattern": "^(a|aa)+$", "default": "a" * 60 + "!"}
_COMBINING = {"type": "string", "title": "e" + "\u0301" * 190, "description": "\u202e" * 1_000}
CODE = form_params({"properties": {"a": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{4}$"}}, "required": ["a"]})
RIGHT, WRONG = {"a": "1234-5678"}, {"a": "not a code"}


def _patterns() -> Iterator[Any]:
    for number in itertools.count():
        yield form_params({"properties": {f"f{each}": _SLOW for each in range(8)}}, f"m{number}")


@cache
def _payloads() -> list[Any]:
    return [make() for make in PAYLOADS.values()]


@cache
def _large_forms() -> list[Any]:
    options = [f"option {number} \u0416\u0301" for number in range(10_000)]
    references = {f"f{number}": {"$ref": "#/$defs/x"} for number in range(200)}
    return [
        form_params({"properties": {f"f{number}": _COMBINING for number in range(200)}}),
        form_params({"properties": {f"f{number}": {"type": "string", "enum": options} for number in range(15)}}),
        form_params({"properties": {f"f{number}": {"type": "string", "title": "x" * 5_000} for number in range(200)}}),
        form_params({"properties": references, "$defs": {"x": {"enum": options}}}),
    ]


LOADS: Mapping[str, Callable[[], Iterator[Any]]] = {
    "patterns": _patterns,
    "large forms": lambda: itertools.cycle(_large_forms()),
    "payloads": lambda: itertools.cycle(_payloads()),
    "small requests": lambda: itertools.repeat(form_params({"properties": {}})),
    "everything": lambda: itertools.chain.from_iterable(
        zip(*(make() for make in list(LOADS.values())[:4]), strict=False)
    ),
}
"""Endless requests of a hostile server, by name."""


class Load:
    """
    A client whose servers are hostile and honest.

    Args:
        policy: The policies; None for none.
        holds: The user never answers the hostile server; otherwise, the user
            accepts what its patterns take longest to check.

    Attributes:
        hostile: How often the hostile server got each policy's or user's answer.
        shown_at: When the honest server's last request was shown.
    """

    def __init__(self, policy: Policy | None, *, holds: bool) -> None:
        _payloads(), _large_forms()  # made before anything is measured
        self._holds = holds
        self._dispatcher = Dispatcher(self._user if policy is None else policy(self._user))
        self._content: Mapping[str, Any] = {}
        self.hostile: dict[str, int] = {}
        self.shown_at = 0.0

    async def _user(self, asked: Request) -> Answer:
        if asked.server.name == HONEST.name:
            self.shown_at = time.perf_counter()
            return Answer.accept(self._content, by="user")
        if self._holds:
            await anyio.sleep_forever()
        fields = asked.form.fields if isinstance(asked, FormRequest) else ()
        return Answer.accept({field.name: "a" * 60 + "!" for field in fields}, by="user")

    async def _send(self, requests: Iterator[Any]) -> None:
        for params in requests:
            try:
                answer = await self._dispatcher.answer(params, server=HOSTILE)
                ended = answer.policy or answer.by
            except RequestError:
                ended = "refused"
            self.hostile[ended] = self.hostile.get(ended, 0) + 1

    @asynccontextmanager
    async def flood(self, load: str) -> AsyncIterator[None]:
        """Keep requests of the hostile server in flight; the block begins when they are."""
        requests = LOADS[load]()
        async with anyio.create_task_group() as group:
            for _ in range(IN_FLIGHT):
                group.start_soon(self._send, requests)
            for _ in range(10):
                await anyio.lowlevel.checkpoint()
            yield
            group.cancel_scope.cancel()

    async def ask_honest(self, content: Mapping[str, Any]) -> tuple[Answer, float]:
        """Return the answer to the honest server, and the seconds until its request was shown."""
        self._content = content
        begin = time.perf_counter()
        answer = await self._dispatcher.answer(CODE, server=HONEST)
        return answer, self.shown_at - begin
