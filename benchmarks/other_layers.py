"""Layers of other libraries between a server and `mirror`: the relay of LiteLLM, and the session of the Copilot SDK."""

from __future__ import annotations

import importlib.util
import re
import uuid
from importlib import metadata
from types import SimpleNamespace
from typing import Any

import anyio
from mcp.types import ElicitResult

from benchmarks.other_users import mirror


def _imported(name: str) -> Any:
    """Import a module before the scenarios begin, if its library is installed: the import takes seconds."""
    return importlib.import_module(name) if importlib.util.find_spec(name.partition(".")[0]) is not None else None


_relay = _imported("litellm.proxy.mcp_server.elicitation_handler")
_session = _imported("copilot.session")
_events = _imported("copilot.generated.session_events")

_EXAMPLE = re.compile(r"```python\n(from copilot\.session import ElicitationContext.*?)\n```", re.DOTALL)


async def litellm_relay(_context: Any, params: Any) -> Any:
    """Pass a request on as the proxy does: from a callback to a session with a client, which asks `mirror`."""
    sdk: Any = importlib.import_module("mcp")
    servers: Any = importlib.import_module("mcp.server")
    results: list[Any] = []
    server = servers.MCPServer("gateway")

    async def call(context: Any) -> str:
        capabilities = context.session.client_params.capabilities
        results.append(
            await _relay.handle_elicitation_request(
                None,
                params,
                downstream_session=context.session,
                downstream_capabilities=capabilities,
                related_request_id=context.request_id,
            )
        )
        return ""

    call.__annotations__ = {"context": servers.mcpserver.Context, "return": str}
    server.add_tool(call)
    if getattr(params, "mode", "form") == "url" and params.elicitation_id is None:
        # As the proxy does, since multi-round-trip requests have no ID.
        params = params.model_copy(update={"elicitation_id": str(uuid.uuid4())})
    async with sdk.Client(server, elicitation_callback=mirror.sdk, mode="legacy") as client:
        await client.call_tool("call", {})
    return results[0]


async def copilot_session(_context: Any, params: Any) -> Any:
    """Pass a request through the session class of the Copilot SDK to `mirror`."""
    return await _through_copilot(_as_copilot_handler, params)


async def copilot_example(_context: Any, params: Any) -> Any:
    """Pass a request through the session class of the Copilot SDK to the handler of its documentation."""
    return await _through_copilot(_example_of_copilot(), params)


async def _as_copilot_handler(context: Any) -> Any:
    asked = SimpleNamespace(message=context["message"], mode=context.get("mode", "form"))
    answer = await mirror.sdk(None, asked)
    return answer.model_dump(exclude_none=True, include={"action", "content"})


def _example_of_copilot() -> Any:
    """Return the handler that the installed documentation defines."""
    found = _EXAMPLE.search(metadata.distribution("github-copilot-sdk").read_text("METADATA") or "")
    if found is None:
        raise LookupError("The documentation has no example.")
    scope: dict[str, Any] = {}
    program = found[1].partition("\nsession = ")[0].partition("\nasync with ")[0]
    exec(program, scope)  # noqa: S102 -- the example is what is tested
    return scope["handle_elicitation"]


class _Program:
    """Stands for Copilot's command-line program, which needs an account: receives the replies of a session."""

    def __init__(self) -> None:
        self.result: Any = None
        self.replied = anyio.Event()

    async def request(self, _method: str, params: Any, **_options: Any) -> Any:
        self.result = params["result"]
        self.replied.set()
        return {"success": True}


async def _through_copilot(handler: Any, params: Any) -> Any:
    program = _Program()
    session = _session.CopilotSession("1", program)
    session._register_elicitation_handler(handler)  # noqa: SLF001 -- as `create_session` does
    data = params.model_dump(by_alias=True, mode="json", exclude_none=True, exclude={"meta", "task"})
    event = {
        "type": "elicitation.requested",
        "id": str(uuid.uuid4()),
        "parentId": None,
        "timestamp": "2026-11-22T12:00:00Z",
        "data": {"requestId": "1", "elicitationSource": "mail", **data},
    }
    session._dispatch_event(_events.session_event_from_dict(event))  # noqa: SLF001 -- as the program's events
    await program.replied.wait()
    return ElicitResult.model_validate(program.result)
