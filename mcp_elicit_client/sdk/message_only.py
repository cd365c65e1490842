"""
Requests that consist of a message only: they have no form, or one without properties.

Servers written in Go and Java send them to have something confirmed.  The SDK
refuses them, because the schema requires a form.  An empty one is added before
the SDK reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typing_extensions import Self

_OPTIONAL = frozenset({"$schema", "additionalProperties", "description", "properties", "required", "title", "type"})
"""The members of a schema that says nothing about its properties.  Others may declare them elsewhere."""


def complete_params(method: str, params: Any) -> Any:
    """Return the *params* of a request of the server, with an empty form if they are of a form and have none."""
    if method != "elicitation/create" or not isinstance(params, Mapping) or params.get("mode") not in (None, "form"):
        return params
    schema = params.get("requestedSchema")
    schema = {} if schema is None else schema
    if not isinstance(schema, Mapping) or not _OPTIONAL.issuperset(schema):
        return params
    if schema.get("type") is not None and schema.get("properties") is not None:
        return params
    stated = {name: value for name, value in schema.items() if value is not None}
    return {**params, "requestedSchema": {"type": "object", "properties": {}, **stated}}


def complete_result(result: Any) -> Any:
    """Return a *result* of the server, with an empty form in each request in it that is of a form and has none."""
    if type(result) is dict and "inputRequests" not in result:  # most results
        return result
    requests = result.get("inputRequests") if isinstance(result, Mapping) else None
    if not isinstance(requests, Mapping):
        return result
    return {**result, "inputRequests": {key: _complete_request(request) for key, request in requests.items()}}


def _complete_request(request: Any) -> Any:
    if not isinstance(request, Mapping):
        return request
    return {**request, "params": complete_params(str(request.get("method")), request.get("params"))}


class CompletingStream:
    """The stream that a session of mcp 1.x reads from, with an empty form in requests of a form that have none."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> Any:
        return await self._stream.__aexit__(*error)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        item = await self._stream.__anext__()
        message = getattr(getattr(item, "message", None), "root", None)
        method = getattr(message, "method", None)
        if method is not None and message is not None:
            message.params = complete_params(method, message.params)
        return item

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
