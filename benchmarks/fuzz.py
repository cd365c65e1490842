"""
Fuzzed requests through the callback of a registry, for example every night.

Run from the checkout: ``python -m benchmarks.fuzz [requests] [seed]``
(1 000 000 requests by default).  The command fails if the callback raises or
returns anything but a result; accepts what its form does not allow, or what
the user did not enter; lets a text of the user reach the log; or stalls the
event loop for more than 100 ms, on an idle machine.
"""

from __future__ import annotations

import copy
import gc
import logging
import random
import reprlib
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import anyio
import jsonschema
from mcp.types import ElicitResult, ErrorData

from mcp_elicit_client import Answer, ElicitationRegistry, FormRequest
from mcp_elicit_client.core.limits import DEFAULT_LIMITS
from mcp_elicit_client.core.parse import check_size
from mcp_elicit_client.exceptions import RequestError
from mcp_elicit_client.policies import rate_limit, recommended
from mcp_elicit_client.reader import limits_of_small
from mcp_elicit_client.testing import PAYLOADS
from tests.support import form_params

ENTERED = "hunter2-of-the-user"
BAR = 0.1

_IN_FLIGHT = 8
_TEXTS = [
    "",
    "x",
    "a" * 300,
    "\u202e",
    "e\u0301" * 40,
    "\x1b[31m",
    "\ud800",
    "[link]",
    "password",
    "1e400",
    "\n\n\n",
    ENTERED[:3],
]
_VALUES: Sequence[Any] = [None, True, False, 0, -1, 1.5, 10**30, float("nan"), float("inf"), [], {}, *_TEXTS]
_KEYWORDS = (
    *("type", "title", "description", "default", "enum", "enumNames", "oneOf", "anyOf", "const", "items", "format"),
    *("pattern", "minLength", "maxLength", "minimum", "maximum", "multipleOf", "minItems", "maxItems", "required"),
    *("properties", "$ref", "additionalProperties", "allOf", "not", "mode", "message", "url", "_meta", "elicitationId"),
)
_GOOD: Sequence[Any] = [
    {"type": "string", "minLength": 1, "maxLength": 30},
    {"type": "string", "format": "email", "default": "ann@example.com"},
    {"type": "string", "pattern": "^[a-z]+$"},
    {"type": "integer", "minimum": 0, "maximum": 9},
    {"type": "number", "multipleOf": 0.5},
    {"type": "boolean", "default": True},
    {"type": "string", "enum": ["a", "b"]},
    {"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]},
    {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "minItems": 1},
]


class Fuzzer:
    """Requests that were changed at random places, and answers of a user who enters anything."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 -- repeatable
        small = [payload for payload in (make() for make in PAYLOADS.values()) if _can_be_copied(payload)]
        self._seeds = [
            *small,
            {"mode": "url", "message": "m", "url": "https://a.example/path?q=1", "elicitationId": "e"},
            *(form_params({"properties": {"a": field, "b": field}, "required": ["a"]}) for field in _GOOD),
        ]

    def request(self) -> Any:
        """Return a request."""
        params = copy.deepcopy(self.random.choice(self._seeds))
        for _ in range(self.random.choice([0, 0, 1, 1, 2, 4])):
            params = self._changed(params, depth=self.random.randrange(6))
        return params

    def content(self, request: Any) -> dict[str, Any]:
        """Return what the user enters."""
        names = [field.name for field in request.form.fields] if isinstance(request, FormRequest) else []
        values = [*_VALUES, "a", "b", ["a"], 3, "ann@example.com", ENTERED, object()]
        return {name: self.random.choice(values) for name in [*names, "unknown"] if self.random.random() < 0.8}

    def _changed(self, value: Any, depth: int) -> Any:
        pick = self.random
        if depth and isinstance(value, dict) and value:
            key = pick.choice(list(value))
            if pick.random() < 0.2:
                key = pick.choice(_KEYWORDS)
            value[key] = self._changed(value.get(key), depth - 1)
            return value
        if depth and isinstance(value, list) and value:
            at = pick.randrange(len(value))
            value[at] = self._changed(value[at], depth - 1)
            return value
        change: Callable[[], Any] = pick.choice(
            [
                lambda: pick.choice(_VALUES),
                lambda: {pick.choice(_KEYWORDS): value},
                lambda: [value, value],
                lambda: copy.deepcopy(pick.choice(_GOOD)),
            ]
        )
        return change()


def _can_be_copied(payload: Any) -> bool:
    try:
        copy.deepcopy(payload)
        check_size(payload, limits_of_small(DEFAULT_LIMITS))
    except (RecursionError, RequestError):
        return False
    return True


def _shown(params: object) -> str:
    try:
        return reprlib.repr(params)
    except ValueError:  # a number with too many digits
        return "a request with a large number"


class Findings(logging.Handler):
    """What went wrong, and how requests ended."""

    def __init__(self) -> None:
        super().__init__()
        self.wrong: list[str] = []
        self.ended: Counter[str] = Counter()
        self.longest_stall = 0.0

    def emit(self, record: logging.LogRecord) -> None:
        """Look for a text of the user in the log."""
        if ENTERED in logging.Formatter().format(record):
            self.wrong.append(f"leak: {record.getMessage()[:200]}")

    def check(self, params: Any, result: Any, entered: dict[str, Any] | None) -> None:
        """Check the result of one request; *entered* is None if the user was not asked."""
        if isinstance(result, ErrorData):
            self.ended["error"] += 1
            if ENTERED in result.message:
                self.wrong.append(f"leak: {result.message[:200]}")
            return
        if not isinstance(result, ElicitResult):
            self.wrong.append(f"no result: {type(result).__name__}")
            return
        self.ended[result.action] += 1
        if result.action != "accept":
            if result.content:
                self.wrong.append(f"leak: content of a {result.action}")
        elif entered is None:
            self.wrong.append(f"accepted without the user: {_shown(params)}")
        elif result.content:
            self._check_content(params, result.content, entered)

    def _check_content(self, params: Any, content: dict[str, Any], entered: dict[str, Any]) -> None:
        if any(name not in entered for name in content):
            self.wrong.append(f"not entered by the user: {_shown(params)}")
        properties = params["requestedSchema"].get("properties", {})
        for name, value in content.items():
            field = properties.get(name)
            if field in _GOOD:  # a field that was not changed: jsonschema decides
                try:
                    jsonschema.validate(value, {key: field[key] for key in field if key != "default"})
                except jsonschema.ValidationError as error:
                    self.wrong.append(f"wrong accept: {error.message[:200]}")

    async def watch(self) -> None:
        """Measure stalls of the event loop until cancelled."""
        while True:
            begin = time.perf_counter()
            await anyio.sleep(0.005)
            self.longest_stall = max(self.longest_stall, time.perf_counter() - begin - 0.005)


async def run(requests: int, seed: int) -> Findings:
    """Send *requests* through callbacks, with and without policies."""
    fuzzer, findings = Fuzzer(seed), Findings()
    logger = logging.getLogger("mcp_elicit_client")
    logger.addHandler(findings)
    logger.propagate = False
    left = iter(range(requests))

    async def send(policy: Any) -> None:
        entered: dict[str, Any] | None = None
        registry = ElicitationRegistry(policy=policy)

        @registry.on_elicitation
        async def user(request: Any) -> Answer:
            nonlocal entered
            entered = fuzzer.content(request)
            return Answer.model_construct(
                action="accept", content=entered, by="user", sources={}, confirmed=fuzzer.random.random() < 0.5
            )

        for number in left:
            entered = None
            params = fuzzer.request()
            # Each server sends few requests, so that none is refused for their number.
            callback: Any = registry.callback(f"server {number // 64}")
            try:
                result = await callback(None, params)
            except Exception as error:  # noqa: BLE001 -- what this looks for
                findings.wrong.append(f"exception: {error!r:.300}")
            else:
                findings.check(params, result, entered)

    gc.freeze()
    async with anyio.create_task_group() as watching:
        watching.start_soon(findings.watch)
        async with anyio.create_task_group() as group:
            for at in range(_IN_FLIGHT):
                group.start_soon(send, recommended(rate_limit=rate_limit(["64/minute"])) if at % 2 else None)
        watching.cancel_scope.cancel()
    logger.removeHandler(findings)
    return findings


def main(arguments: Sequence[str]) -> int:
    """Print what was found; fail if anything is wrong."""
    requests, seed = [int(each) for each in [*arguments, *("1000000", "1")[len(arguments) :]]]
    begin = time.perf_counter()
    findings = anyio.run(run, requests, seed)
    print(f"{requests} requests in {time.perf_counter() - begin:.0f} s: {dict(findings.ended)}")
    print(f"longest stall: {findings.longest_stall * 1000:.0f} ms")
    for line in findings.wrong[:20]:
        print(line)
    return 1 if findings.wrong or findings.longest_stall > BAR else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
