"""The adapters for SDKs whose requests are dictionaries, without the SDKs: what they ask, and what they get."""

from __future__ import annotations

import asyncio
import functools
import json
import threading
from types import SimpleNamespace
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from mcp_elicit_client import Answer, FormRequest
from mcp_elicit_client.hosts.claude_agent import answer_elicitations
from mcp_elicit_client.hosts.openai_codex import approval_handler
from mcp_elicit_client.typing import Request

METHOD = "mcpServer/elicitation/request"
NAME = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}
CANCELLED = {"action": "cancel", "content": None, "_meta": None}


class User:
    """Answers as the test says, and remembers what it was asked, in which thread."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer or Answer.accept({"name": "Ann"}, by="user")
        self.asked: list[Any] = []
        self.thread: Any = None

    async def __call__(self, request: Request) -> Answer:
        await anyio.lowlevel.checkpoint()
        self.asked.append(request)
        self.thread = threading.get_ident()
        if isinstance(self.answer, Exception):
            raise self.answer
        answer: Answer = self.answer
        return answer


# --- Codex

CODEX_FORM = {
    "threadId": "t",
    "turnId": None,
    "serverName": "mail",
    "mode": "form",
    "_meta": None,
    "message": "Who?",
    "requestedSchema": NAME,
}
CODEX_URL = {
    "threadId": "t",
    "serverName": "mail",
    "mode": "url",
    "message": "Sign in",
    "url": "https://example.com/",
    "elicitationId": "e1",
}


def refuse(_method: str, _params: Any) -> dict[str, Any]:
    return {"decision": "decline"}


def test_codex_gets_all_members_of_an_answer() -> None:
    user = User()
    handle = approval_handler(user, refuse, user="ann")

    assert handle(METHOD, CODEX_FORM) == {"action": "accept", "content": {"name": "Ann"}, "_meta": None}
    assert handle(METHOD, CODEX_FORM)["action"] == "accept"
    (asked, _) = user.asked
    assert (asked.server.name, asked.user, asked.message) == ("mail", "ann", "Who?")


@pytest.mark.parametrize("params", [CODEX_FORM, CODEX_URL])
@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_codex_gets_a_decline_and_a_cancel(params: dict[str, Any], action: Any) -> None:
    handle = approval_handler(User(Answer(action=action, by="user")), refuse)

    assert handle(METHOD, params) == {**CANCELLED, "action": action}


@pytest.mark.parametrize(
    "params",
    [
        None,
        {},
        {**CODEX_FORM, "serverName": None},
        {**CODEX_FORM, "serverName": " "},
        {**CODEX_FORM, "mode": "openai/form"},
        {**CODEX_FORM, "message": 5},
        {**CODEX_URL, "url": "javascript:alert(1)"},
    ],
)
def test_a_request_of_codex_that_cannot_be_answered_is_a_cancel(params: Any) -> None:
    user = User()

    assert approval_handler(user, refuse)(METHOD, params) == CANCELLED
    assert user.asked == []


def test_an_exception_does_not_end_codex_and_is_no_decline() -> None:
    assert approval_handler(User(RuntimeError("secret")), refuse)(METHOD, CODEX_FORM) == CANCELLED


def test_other_requests_of_codex_are_for_the_host_application() -> None:
    user = User()
    handle = approval_handler(user, refuse)

    assert handle("item/commandExecution/requestApproval", {"command": "rm"}) == {"decision": "decline"}
    assert user.asked == []


@pytest.mark.anyio
@pytest.mark.event_loops("asyncio")
async def test_the_handler_of_codex_runs_in_the_loop_of_the_application() -> None:
    user = User()
    handle = approval_handler(user, refuse, loop=asyncio.get_running_loop())
    answer = await anyio.to_thread.run_sync(functools.partial(handle, METHOD, CODEX_FORM))

    assert answer["action"] == "accept"
    assert user.thread == threading.get_ident()


# --- Claude


class Query:
    """What the SDK does with control requests."""

    def __init__(self) -> None:
        self.written: list[Any] = []
        self.others: list[Any] = []
        self.transport = SimpleNamespace(write=self._write)

    async def _write(self, data: str) -> None:
        assert data.endswith("\n")
        self.written.append(json.loads(data))

    async def _handle_control_request(self, request: Any) -> None:
        self.others.append(request)


CLAUDE_FORM = {
    "subtype": "elicitation",
    "mcp_server_name": "mail",
    "message": "Who?",
    "mode": "form",
    "requested_schema": NAME,
    "property_order": ["age", "name", "unknown", 5],
}
CLAUDE_URL = {
    "subtype": "elicitation",
    "mcp_server_name": "mail",
    "message": "Sign in",
    "mode": "url",
    "url": "https://example.com/",
    "elicitation_id": "e1",
}


async def ask_claude(handler: User, asked: Any, **options: Any) -> Any:
    """Return the response to one control request."""
    query = Query()
    client: Any = SimpleNamespace(_query=query)
    answer_elicitations(client, handler, **options)
    await query._handle_control_request({"type": "control_request", "request_id": "r1", "request": asked})
    (written,) = query.written
    assert (written["type"], written["response"]["subtype"]) == ("control_response", "success")
    assert written["response"]["request_id"] == "r1"
    return written["response"]["response"]


@pytest.mark.anyio
async def test_claude_gets_the_answer_and_the_form_keeps_its_order() -> None:
    user = User()

    assert await ask_claude(user, CLAUDE_FORM, user="ann") == {"action": "accept", "content": {"name": "Ann"}}
    (asked,) = user.asked
    assert isinstance(asked, FormRequest)
    assert (asked.server.name, asked.user) == ("mail", "ann")
    assert [field.name for field in asked.form.fields] == ["age", "name"]


@pytest.mark.anyio
async def test_a_url_of_claude_is_answered_after_the_user_has_finished() -> None:
    user = User(Answer.accept(by="user"))

    assert await ask_claude(user, CLAUDE_URL) == {"action": "accept"}
    assert (user.asked[0].respond_after, user.asked[0].elicitation_id) == ("completion", "e1")


@pytest.mark.anyio
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_claude_gets_a_decline_and_a_cancel(action: Any) -> None:
    assert await ask_claude(User(Answer(action=action, by="user")), CLAUDE_FORM) == {"action": action}


@pytest.mark.anyio
@pytest.mark.parametrize(
    "asked",
    [
        {"subtype": "elicitation"},
        {**CLAUDE_FORM, "mcp_server_name": ""},
        {**CLAUDE_FORM, "mode": "other"},
        {**CLAUDE_FORM, "requested_schema": []},
        {**CLAUDE_URL, "url": "https://example.com\\@evil.example/"},
    ],
)
async def test_a_request_of_claude_that_cannot_be_answered_is_a_cancel(asked: Any) -> None:
    user = User()

    assert await ask_claude(user, asked) == {"action": "cancel"}
    assert user.asked == []


@pytest.mark.anyio
async def test_an_exception_is_a_cancel_for_claude() -> None:
    assert await ask_claude(User(RuntimeError("secret")), CLAUDE_FORM) == {"action": "cancel"}


@pytest.mark.anyio
async def test_other_control_requests_are_for_the_sdk() -> None:
    query = Query()
    client: Any = SimpleNamespace(_query=query)
    answer_elicitations(client, User())
    request = {"type": "control_request", "request_id": "r1", "request": {"subtype": "can_use_tool"}}
    await query._handle_control_request(request)

    assert (query.others, query.written) == ([request], [])


@pytest.mark.parametrize("client", [object(), SimpleNamespace(_query=None), SimpleNamespace(_query=object())])
def test_a_client_that_is_not_connected_is_refused(client: Any) -> None:
    with pytest.raises(TypeError, match="must be a ClaudeSDKClient of claude-agent-sdk"):
        answer_elicitations(client, User())
