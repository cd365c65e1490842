"""
LangChain's ``langchain.mcp.MCPAdapter`` (beta): answers to its interrupts.

The other way is to give it clients that have a handler, which it leaves as
they are: ``MCPAdapter(ClientGroup(hosts.fastmcp.clients_from_config(registry, config)))``.
Only that way works with servers that send their questions by themselves
(until 2025-11-25).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from mcp_elicit_client.core.answer import Answer
from mcp_elicit_client.core.request import FIRST_MULTI_ROUND_TRIP_VERSION, BatchPosition, Server
from mcp_elicit_client.dispatch import MAX_BATCH, Dispatcher, RequestOptions
from mcp_elicit_client.exceptions import RequestError
from mcp_elicit_client.typing import Handler

if TYPE_CHECKING:
    from langchain.mcp.elicitation import MCPElicitationResume

INTERRUPT_TYPE = "mcp_elicitation"
"""The ``type`` in the value of an interrupt that holds questions of a server."""


def is_elicitation(value: object) -> bool:
    """Tell whether the value of an interrupt is one that `answer_interrupt` answers."""
    return (
        isinstance(value, Mapping)
        and value.get("type") == INTERRUPT_TYPE
        and isinstance(value.get("requests"), list)
        and all(isinstance(each, Mapping) and isinstance(each.get("key"), str) for each in value["requests"])
    )


async def answer_interrupt(
    handler: Handler, value: Mapping[str, Any], *, server: Server | str, request_options: RequestOptions | None = None
) -> MCPElicitationResume:
    """
    Ask the questions of an interrupt, one after the other.

    Args:
        handler: Who is asked.
        value: The ``value`` of the ``Interrupt``.
        server: What the host application calls the server: LangChain does not
            say which one asks.  With one adapter per server it is known.
        request_options: How requests are read; None for the registry's way.

    Returns:
        What to resume the run with: ``Command(resume=...)``.  A question that
        nobody could answer, and each beyond the sixteenth, is a cancel.

    Raises:
        ValueError: If *value* is another kind of interrupt.
    """
    if not is_elicitation(value):
        raise ValueError("this interrupt holds no questions of an MCP server")
    dispatcher, known = Dispatcher(handler, request_options), Server.from_name(server)
    tool = value.get("tool_name")
    asked = value["requests"]
    answers: dict[str, dict[str, Any]] = {}
    for number, each in enumerate(asked, 1):
        if number > MAX_BATCH:
            answers[each["key"]] = {"action": "cancel"}
            continue
        try:
            answer = await dispatcher.answer(
                _params(each),
                server=known,
                protocol_version=FIRST_MULTI_ROUND_TRIP_VERSION,
                tool=tool if isinstance(tool, str) else None,
                request_id=each["key"],
                batch_position=BatchPosition(number=number, total=len(asked)),
            )
        except RequestError:
            answer = Answer.cancel(by="error")
        answers[each["key"]] = answer.to_wire()
    return cast("MCPElicitationResume", {"responses": answers})


def _params(request: Mapping[str, Any]) -> dict[str, Any]:
    names = {"mode": "mode", "message": "message", "requested_schema": "requestedSchema", "url": "url"}
    return {wire: request[name] for name, wire in names.items() if name in request}
