"""What goes down and comes back: the params of a request for the client, and its answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp_elicit_client.core.answer import Answer
from mcp_elicit_client.core.origin import write_origin
from mcp_elicit_client.core.request import FIRST_MULTI_ROUND_TRIP_VERSION, ProtocolVersion, Request, UrlRequest
from mcp_elicit_client.core.schema.writer import SchemaNotExpressibleError, check_expressible, write_params
from mcp_elicit_client.exceptions import RequestError
from mcp_elicit_client.relay.downstream import new_elicitation_id

_FORWARDED = frozenset({"traceparent", "tracestate", "baggage"})
"""The keys of ``_meta`` that are forwarded to upstream servers: those of W3C Trace Context."""

_OF_ONE_HOP = "io.modelcontextprotocol/"


def client_params(request: Request, protocol_version: ProtocolVersion) -> dict[str, Any]:
    """
    Return *request*, which can be relayed, as the params with which the client is asked.

    The sanitized texts go down.  The message begins with the name that the
    host application gave the upstream server.  URL elicitations get an ID of
    the gateway.  The origin is part of the params of server-initiated
    requests; others have no ``_meta``.

    Raises:
        RequestError: If it came through too many gateways.
    """
    params = write_params(_with_elicitation_id(request), protocol_version)
    params["message"] = with_server_name(request.message, request.server.name)
    if protocol_version < FIRST_MULTI_ROUND_TRIP_VERSION:
        params["_meta"] = write_origin(request.origin)
    return params


def _with_elicitation_id(request: Request) -> Request:
    if not isinstance(request, UrlRequest):
        return request
    return request.model_copy(update={"elicitation_id": new_elicitation_id()})


def refuse_unrelayable(request: Request, version: ProtocolVersion) -> Answer | None:
    """Return the answer to a request that a client could not read in *version*; None if it can be relayed."""
    try:
        write_origin(request.origin)
        check_expressible(_with_elicitation_id(request), version)
    except (SchemaNotExpressibleError, RequestError) as error:
        return Answer.cancel(by="error", reason=f"the request cannot be relayed: {error}")
    return None


def with_server_name(message: str, server: str) -> str:
    """Return *message* with the name of the server in front of it, once."""
    label = f"[{server}] "
    while message.startswith(label):
        message = message.removeprefix(label)
    return label + message


def answer_of_result(result: Any) -> Answer:
    """Return the answer in an ``ElicitResult``.  It is not checked against the form yet."""
    action, content = result.action, result.content
    if action == "accept":
        return Answer.accept(dict(content or {}), by="user")
    if action == "decline":
        return Answer.decline(by="user")
    return Answer.cancel(by="user")


def forwarded_meta(meta: Any) -> dict[str, Any] | None:
    """Return the members of the ``_meta`` of a request that are forwarded."""
    if meta is None:
        return None
    wire = meta if isinstance(meta, Mapping) else meta.model_dump(by_alias=True, exclude_none=True)
    return {name: wire[name] for name in _FORWARDED if name in wire} or None


def remove_hop_meta(result: Any) -> None:
    """Remove from *result* the members of its ``_meta`` that belong to one connection."""
    meta = getattr(result, "meta", None)
    if meta:
        result.meta = {name: value for name, value in meta.items() if not name.startswith(_OF_ONE_HOP)} or None
