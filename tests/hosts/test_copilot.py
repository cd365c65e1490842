"""The Copilot SDK's own session, with events as its command-line program sends them, and the replies recorded."""

from __future__ import annotations

import uuid
from typing import Any

import anyio
import pytest

from mcp_elicit_client import Answer, Server
from mcp_elicit_client.hosts.copilot import elicitation_handler
from mcp_elicit_client.typing import Request

pytest.importorskip("copilot", reason="github-copilot-sdk is installed in the session `hosts`")

from copilot.generated.session_events import session_event_from_dict
from copilot.session import CopilotSession

pytestmark = [pytest.mark.anyio, pytest.mark.event_loops("asyncio")]

SECRET = "/home/ann/.config/token"
SCHEMA = {
    "type": "object",
    "properties": {"seats": {"type": "integer", "maximum": 8}, "name": {"type": "string"}},
    "required": ["seats"],
}
FORM = {"message": "How many?", "mode": "form", "requestedSchema": SCHEMA, "elicitationSource": "mail"}
URL = {"message": "Sign in", "mode": "url", "url": "https://login.example.com/x", "elicitationSource": "mail"}


class Peer:
    """Stands for the program: gets the replies of the session."""

    def __init__(self) -> None:
        self.replies: list[dict[str, Any]] = []
        self.came = anyio.Event()

    async def request(self, method: str, params: dict[str, Any], **_options: Any) -> dict[str, Any]:
        assert method == "session.ui.handlePendingElicitation"
        self.replies.append(params)
        self.came.set()
        return {"success": True}


async def reply_of(answer: Any, data: dict[str, Any], asked: list[Request]) -> dict[str, Any]:
    async def ask(request: Request) -> Any:
        asked.append(request)
        if isinstance(answer, Exception):
            raise answer
        return answer

    peer = Peer()
    session = CopilotSession("s1", peer)
    servers = {"bank": Server(name="The bank", transport="stdio")}
    session._register_elicitation_handler(elicitation_handler(ask, servers=servers))
    event = {
        "type": "elicitation.requested",
        "id": str(uuid.uuid4()),
        "parentId": None,
        "timestamp": "2026-11-22T12:00:00Z",
        "data": {"requestId": "r1", **data},
    }
    session._dispatch_event(session_event_from_dict(event))
    with anyio.fail_after(30):
        await peer.came.wait()
    (reply,) = peer.replies
    assert reply["requestId"] == "r1"
    return dict(reply["result"])


@pytest.mark.parametrize(
    ("data", "answer", "result"),
    [
        (FORM, Answer.accept({"seats": 3}, by="user"), {"action": "accept", "content": {"seats": 3}}),
        (FORM, Answer.accept({"seats": 3, "name": None}, by="user"), {"action": "cancel"}),
        (FORM, Answer.accept({"seats": 9}, by="user"), {"action": "cancel"}),
        (FORM, Answer.decline(by="user"), {"action": "decline"}),
        (FORM, Answer.cancel(by="user"), {"action": "cancel"}),
        (FORM, None, {"action": "cancel"}),
        (FORM, RuntimeError(SECRET), {"action": "cancel"}),
        (URL, Answer.accept({"x": 1}, by="user"), {"action": "accept"}),
        (URL, Answer.decline(by="user"), {"action": "decline"}),
        ({"message": "Sure?", "mode": "url"}, Answer.accept(by="user"), {"action": "cancel"}),
    ],
)
async def test_the_program_gets_a_whole_answer(data: dict[str, Any], answer: Any, result: dict[str, Any]) -> None:
    reply = await reply_of(answer, data, [])

    assert {key: value for key, value in reply.items() if value is not None} == result


async def test_the_handler_gets_the_configured_server_or_the_agent() -> None:
    asked: list[Request] = []
    for data in (FORM, {**FORM, "elicitationSource": "bank"}, {"message": "Sure?"}):
        await reply_of(Answer.decline(by="user"), data, asked)

    assert [(request.server.name, request.server.transport) for request in asked] == [
        ("mail", None),
        ("The bank", "stdio"),
        ("Copilot", None),
    ]
