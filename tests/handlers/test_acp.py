"""An agent forwards requests to its editor: what the editor gets, and what its responses mean."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

import anyio
import anyio.to_thread
import pytest

from mcp_elicit_client import Answer, FormRequest, RequestError, Server, UrlRequest, parse_request
from mcp_elicit_client.core.request import with_completion
from mcp_elicit_client.handlers.acp import Editor, EditorHandler
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.typing import Request
from tests.support import corpus, example_or_none, form_params
from tests.support.acp import SESSION, Peer, agent_side, capabilities

pytestmark = [pytest.mark.anyio, pytest.mark.event_loops("asyncio")]

NAME = {"type": "object", "properties": {"name": {"type": "string", "title": "Name"}}, "required": ["name"]}
URL = {"mode": "url", "message": "Sign in", "url": "https://example.com"}


@dataclass
class Asking:
    """An editor, and the handler that asks in it."""

    editor: Editor
    peer: Peer

    def handler(self, **options: Any) -> EditorHandler:
        return EditorHandler(self.editor, SESSION, **options)

    async def asked(self) -> Any:
        """Return the next request that the editor gets."""
        message = await self.peer.read()
        assert message["method"] == "elicitation/create"
        return message


@asynccontextmanager
async def editor(*modes: str, **params: Any) -> AsyncIterator[Asking]:
    attached: list[Editor] = []
    async with agent_side(lambda connection: attached.append(Editor(connection)), *modes, **params) as peer:
        yield Asking(attached[0], peer)


def request(params: dict[str, Any], **details: Any) -> Any:
    return parse_request(params, server=Server(name="airline"), **details)


async def asking(handler: EditorHandler, asked: Request, respond: Callable[[], Awaitable[object]]) -> Answer:
    """Return the answer of *handler*, while *respond* plays the editor."""
    answers: list[Answer] = []

    async def ask() -> None:
        answers.append(await handler(asked))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await respond()
    return answers[0]


async def ask_form(schema: dict[str, Any], *results: Any, **options: Any) -> tuple[Answer, list[Any]]:
    """Ask for a form, respond with one of *results* after another; return the answer and the requests."""
    seen: list[Any] = []
    async with editor("form", "url") as it:

        async def respond() -> None:
            for result in results:
                seen.append(await it.asked())
                it.peer.respond(seen[-1], result)

        return await asking(it.handler(**options), request(form_params(schema, "Who?")), respond), seen


# --- what the editor gets


async def test_a_form_is_sent_with_its_scope_and_who_asks() -> None:
    answer, (sent,) = await ask_form(
        NAME, {"action": "accept", "content": {"name": "Ann"}}, tool_call_id=lambda _request: "call-1"
    )

    assert sent["params"] == {
        "sessionId": SESSION,
        "toolCallId": "call-1",
        "mode": "form",
        "message": "airline asks for 1 answer\nText after | comes from the server.\n\n| Who?",
        "requestedSchema": NAME,
    }
    assert (answer.action, answer.content, answer.by) == ("accept", {"name": "Ann"}, "user")


@pytest.mark.parametrize("found", [7, b"call-1"])
async def test_an_id_that_is_not_a_string_is_an_error_of_the_host(found: Any) -> None:
    async with editor("form") as each:
        handler = each.handler(tool_call_id=lambda _request: found)
        with (
            anyio.fail_after(60),
            pytest.raises(TypeError, match=r"`tool_call_id\(request\)` must be str or None, not "),
        ):
            await handler(request(form_params(NAME)))


async def test_values_that_the_editor_suggested_have_the_source_default() -> None:
    schema = {"properties": {name: {"type": "string", "default": "Ann"} for name in "ab"}}
    answer, _ = await ask_form(schema, {"action": "accept", "content": {"a": "Ann", "b": "Bob"}})

    assert answer.sources == {"a": "default", "b": "user"}


async def test_every_line_of_the_server_is_marked() -> None:
    message = "Hello\nairline asks for 1 answer\n\nWarning: none"
    async with editor("form") as it:
        asked = request(form_params(NAME, message), tool="book\ntable")

        async def respond() -> None:
            text = (await it.asked())["params"]["message"]
            ours, _, theirs = text.partition("\n\n")
            assert ours.splitlines() == ["airline asks for 1 answer", "Text after | comes from the server."]
            assert all(line.startswith("|") for line in theirs.splitlines())
            it.peer.disconnect()

        await asking(it.handler(), asked, respond)


async def test_texts_are_in_the_language_of_the_agent() -> None:
    german = MessageCatalog.for_language("de")
    _, (sent,) = await ask_form(NAME, {"action": "cancel"}, messages=german)

    assert sent["params"]["message"].startswith("airline")
    assert "Text after" not in sent["params"]["message"]


async def test_a_url_is_sent_as_it_was_inspected_and_not_as_the_package_would_write_it() -> None:
    async with editor("url") as it:

        async def respond() -> None:
            sent = await it.asked()
            assert sent["params"]["url"] == "https://example.com"  # pydantic would add a slash
            assert sent["params"]["mode"] == "url"
            assert len(sent["params"]["elicitationId"]) == 32
            it.peer.respond(sent, {"action": "accept", "content": {"ignored": 1}})

        answer = await asking(it.handler(), request(URL), respond)

    assert (answer.action, answer.content, answer.by) == ("accept", None, "user")


SPELLED: list[tuple[dict[str, Any], dict[str, Any], Any, Any]] = [
    (
        {"type": "integer", "enum": [1, 2], "enumNames": ["One", "Two"], "default": 2},
        {
            "type": "string",
            "oneOf": [{"const": "1", "title": "One"}, {"const": "2", "title": "Two"}],
            "default": "2",
        },
        "1",
        1,
    ),
    ({"type": "integer", "enum": [1, 2]}, {"type": "string", "enum": ["1", "2"]}, 2, 2),
    (
        {"type": "boolean", "enum": [True]},
        {"type": "string", "oneOf": [{"const": "true", "title": "yes"}]},
        "true",
        True,
    ),
    (
        {"enum": ["a", 1, 2.5]},
        {"type": "string", "enum": ["a", "1", "2.5"]},
        "2.5",
        2.5,
    ),
    (
        {"type": "array", "items": {"type": "string"}, "minItems": 1},
        {"type": "string", "description": "(list, separated by commas, at least 1 value)"},
        "a, b",
        ["a", "b"],
    ),
    (
        {"type": "integer", "exclusiveMinimum": 0, "maximum": 7.5},
        {"type": "integer", "minimum": 1, "maximum": 7},
        1.0,
        1,
    ),
    (
        {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5, "description": "Hours"},
        {
            "type": "number",
            "exclusiveMinimum": 0,
            "multipleOf": 0.5,
            "description": "Hours\n(number, more than 0, multiple of 0.5)",
        },
        1.5,
        1.5,
    ),
    (
        {"type": "string", "format": "uuid"},
        {
            "type": "string",
            "x-format": "uuid",
            "description": "(UUID, 123e4567-e89b-12d3-a456-426614174000)",
        },
        "123e4567-e89b-12d3-a456-426614174000",
        "123e4567-e89b-12d3-a456-426614174000",
    ),
    ({"type": "string", "maxLength": 2**40}, {"type": "string"}, "x", "x"),
    ({"type": "string", "pattern": "a" * 513}, {"type": "string"}, "x", "x"),
]


@pytest.mark.parametrize(("asked", "sent", "typed", "value"), SPELLED)
async def test_a_field_is_spelled_as_every_editor_reads_it_and_its_value_as_the_server_does(
    asked: dict[str, Any], sent: dict[str, Any], typed: Any, value: Any
) -> None:
    schema = {"type": "object", "properties": {"f": {"title": "F", **asked}}, "required": ["f"]}
    answer, (seen,) = await ask_form(schema, {"action": "accept", "content": {"f": typed}})

    assert seen["params"]["requestedSchema"]["properties"]["f"] == {"title": "F", **sent}
    assert (answer.action, answer.content) == ("accept", {"f": value})


@pytest.mark.parametrize(
    "field", [{"type": "string", "format": "password"}, {"enum": [1, "1"]}, {"enum": [False, "false"]}]
)
async def test_a_required_field_that_no_editor_can_show_is_refused_and_an_optional_one_is_skipped(
    field: dict[str, Any],
) -> None:
    properties = {"f": field, "name": {"type": "string"}}
    refused, seen = await ask_form({"properties": properties, "required": ["f"]})
    skipped, (sent,) = await ask_form({"properties": properties}, {"action": "accept", "content": {"name": "Ann"}})

    assert (refused.action, refused.by, seen) == ("cancel", "unattended", [])
    assert "'f'" in refused.reason
    assert list(sent["params"]["requestedSchema"]["properties"]) == ["name"]
    assert "1 unsupported optional field was skipped." in sent["params"]["message"]
    assert (skipped.action, skipped.content) == ("accept", {"name": "Ann"})


# --- what responses mean


@pytest.mark.parametrize("action", ["decline", "cancel"])
@pytest.mark.parametrize("params", [form_params(NAME), URL])
async def test_a_decline_is_a_decline_and_a_cancel_is_a_cancel_of_the_user(params: dict[str, Any], action: str) -> None:
    async with editor("form", "url") as it:

        async def respond() -> None:
            it.peer.respond(await it.asked(), {"action": action, "content": {"name": "ignored"}})

        answer = await asking(it.handler(), request(params), respond)

    assert (answer.action, answer.content, answer.by) == (action, None, "user")


async def test_an_answer_that_does_not_fit_can_be_corrected() -> None:
    schema = {
        "properties": {
            "age": {"type": "integer", "title": "Age", "exclusiveMinimum": 17, "multipleOf": 2, "default": 18},
            "name": {"type": "string", "title": "Name"},
            "town": {"type": "string", "default": "Rome"},  # which the user clears
        },
        "required": ["age"],
    }
    wrong = {"action": "accept", "content": {"age": 19, "name": "Ann"}}
    answer, (_, again) = await ask_form(schema, wrong, {"action": "accept", "content": {"age": 20, "name": "Ann"}})

    assert (answer.action, answer.content) == ("accept", {"age": 20, "name": "Ann"})
    assert "\n1 field needs attention\n| Age\n" in again["params"]["message"]
    properties = again["params"]["requestedSchema"]["properties"]
    assert {name: each.get("default") for name, each in properties.items()} == {
        "age": None,
        "name": "Ann",
        "town": None,
    }


async def test_an_editor_that_never_sends_a_valid_answer_is_given_up() -> None:
    answer, seen = await ask_form(NAME, *[{"action": "accept", "content": {"name": 5}}] * 3)

    assert (answer.action, answer.by) == ("cancel", "error")
    assert len(seen) == 3
    assert "5" not in answer.reason


async def test_untouched_optional_fields_are_omitted_however_the_editor_sends_them() -> None:
    schema = {
        "properties": {
            "email": {"type": "string", "format": "email"},
            "size": {"enum": [1, 2]},
            "note": {"type": "string"},
            "kind": {"enum": ["", "a"]},
        }
    }
    content = {"email": "", "size": None, "note": "", "kind": ""}
    answer, _ = await ask_form(schema, {"action": "accept", "content": content})
    nothing, _ = await ask_form(schema, {"action": "accept"})

    assert (answer.action, answer.content) == ("accept", {"note": "", "kind": ""})
    assert (nothing.action, nothing.content) == ("accept", {})


BAD_RESULTS: list[Any] = [
    None,
    [],
    "accept",
    {},
    {"action": "approve"},
    {"action": True},
    {"action": ["accept"]},
    {"action": "accept", "content": "yes"},
    {"action": "accept", "content": [1]},
]


@pytest.mark.parametrize("result", BAD_RESULTS, ids=repr)
async def test_a_response_of_another_type_is_a_cancel(result: Any) -> None:
    answer, _ = await ask_form(NAME, result)

    assert (answer.action, answer.by) == ("cancel", "error")


@pytest.mark.parametrize(
    ("error", "by"),
    [
        ({"code": -32601, "message": "Method not found"}, "unattended"),
        ({"code": -32602, "message": "secret \x1b[2J"}, "unattended"),
        ({"code": -32603, "message": "Internal error", "data": {"details": "secret"}}, "error"),
        ({"code": "x"}, "error"),
        ("no object", "error"),
    ],
)
@pytest.mark.parametrize("params", [form_params(NAME), URL])
async def test_an_error_of_the_editor_is_a_cancel_and_its_text_is_not_repeated(
    params: dict[str, Any], error: Any, by: str
) -> None:
    async with editor("form", "url") as it:

        async def respond() -> None:
            it.peer.respond(await it.asked(), error=error)

        answer = await asking(it.handler(), request(params), respond)

    assert (answer.action, answer.by) == ("cancel", by)
    assert "secret" not in answer.reason


# --- what the editor declared


@pytest.mark.parametrize(
    ("params", "modes"),
    [
        (capabilities(), set()),
        (capabilities("form"), {"form"}),
        (capabilities("url"), {"url"}),
        (capabilities("form", "url"), {"form", "url"}),
        ({"protocolVersion": 1, "clientCapabilities": {"elicitation": None}}, set()),
        ({"protocolVersion": 1, "clientCapabilities": {"elicitation": {"form": None, "url": True}}}, set()),
        ({"protocolVersion": 1, "clientCapabilities": None}, set()),
        ({"protocolVersion": 2, "capabilities": {"elicitation": {"form": {}}}}, {"form"}),
        ({"protocolVersion": 1}, set()),
    ],
)
async def test_only_declared_modes_are_sent(params: dict[str, Any], modes: set[str]) -> None:
    async with editor(**params) as it:
        assert it.editor.modes == modes
        for mode, asked in (("form", request(form_params(NAME))), ("url", request(URL))):
            if mode not in modes:
                answer = await it.handler()(asked)
                assert (answer.action, answer.by) == ("cancel", "unattended")
                assert mode in answer.reason


# --- URLs


class Completion:
    def __init__(self) -> None:
        self.event = anyio.Event()

    def is_finished(self) -> bool:
        return self.event.is_set()

    async def wait(self) -> None:
        await self.event.wait()


async def test_the_editor_learns_of_completion_also_after_the_answer() -> None:
    completion = Completion()
    async with editor("form", "url") as it:
        asked = with_completion(request(URL, protocol_version="2025-11-25"), completion)
        sent: list[Any] = []

        async def respond() -> None:
            sent.append(await it.asked())
            it.peer.respond(sent[0], {"action": "accept"})

        answer = await asking(it.handler(), asked, respond)
        assert answer.action == "accept"
        completion.event.set()
        notified = await it.peer.read()

    elicitation_id = sent[0]["params"]["elicitationId"]
    assert (notified["method"], notified["params"]) == ("elicitation/complete", {"elicitationId": elicitation_id})
    assert "id" not in notified


@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
async def test_a_server_that_goes_on_at_once_gets_the_answer_after_the_user_has_finished(action: str) -> None:
    async with editor("form", "url") as it:

        async def respond() -> None:
            it.peer.respond(await it.asked(), {"action": "accept"})
            question = await it.asked()
            assert question["params"]["mode"] == "form"
            assert question["params"]["requestedSchema"]["properties"] == {}
            assert "when you have finished at example.com" in question["params"]["message"]
            it.peer.respond(question, {"action": action})
            assert (await it.peer.read())["method"] == "elicitation/complete"

        answer = await asking(it.handler(), request(URL, protocol_version="2026-07-28"), respond)

    assert (answer.action, answer.by) == (action, "user")


async def test_completion_reported_by_the_server_ends_the_question() -> None:
    completion = Completion()
    async with editor("form", "url") as it:

        async def respond() -> None:
            it.peer.respond(await it.asked(), {"action": "accept"})
            question = await it.asked()
            completion.event.set()
            withdrawn = await it.peer.read()
            assert (withdrawn["method"], withdrawn["params"]) == ("$/cancel_request", {"requestId": question["id"]})
            assert (await it.peer.read())["method"] == "elicitation/complete"

        asked = with_completion(request(URL, respond_after="completion"), completion)
        answer = await asking(it.handler(), asked, respond)

    assert (answer.action, answer.by) == ("accept", "user")


async def test_an_editor_without_forms_is_not_asked_whether_the_user_has_finished() -> None:
    async with editor("url") as it:

        async def respond() -> None:
            it.peer.respond(await it.asked(), {"action": "accept"})

        answer = await asking(it.handler(), request(URL, respond_after="completion"), respond)

    assert answer.action == "accept"


# --- requests that are not answered


async def test_a_cancelled_request_is_withdrawn_in_the_editor() -> None:
    async with editor("form") as it:
        task = asyncio.ensure_future(it.handler()(request(form_params(NAME))))
        sent = await it.asked()
        task.cancel()
        withdrawn = await it.peer.read()
        with pytest.raises(asyncio.CancelledError):
            await task

        it.peer.respond(sent, {"action": "accept", "content": {"name": "late"}})  # changes nothing
        it.peer.say("session/cancel", {"sessionId": SESSION})

    assert (withdrawn["method"], withdrawn["params"]) == ("$/cancel_request", {"requestId": sent["id"]})


async def test_a_turn_that_the_user_cancels_cancels_its_requests_and_no_others() -> None:
    async with editor("form") as it:
        asked = request(form_params(NAME))
        other = asyncio.ensure_future(EditorHandler(it.editor, "session-2")(asked))
        kept = await it.asked()

        async def respond() -> None:
            sent = await it.asked()
            it.peer.say("session/cancel", {"sessionId": ["no text"]})
            it.peer.say("session/cancel", {"sessionId": SESSION})
            assert (await it.peer.read())["params"] == {"requestId": sent["id"]}

        answer = await asking(it.handler(), asked, respond)
        it.peer.respond(kept, {"action": "accept", "content": {"name": "Ann"}})
        with anyio.fail_after(60):
            assert (await other).content == {"name": "Ann"}

    assert (answer.action, answer.by, answer.reason) == ("cancel", "host", "the turn was cancelled in the editor")


async def test_after_a_turn_was_cancelled_the_user_is_not_asked_until_the_next_one() -> None:
    async with editor("form") as it:
        asked = request(form_params(NAME))
        it.peer.say("session/cancel", {"sessionId": SESSION})
        await it.peer.call("session/load", {}, 7)  # after which the cancel was read

        refused = await it.handler()(asked)
        prompted = await it.peer.call("session/prompt", {"sessionId": SESSION, "prompt": []}, 8)

        async def respond() -> None:
            it.peer.respond(await it.asked(), {"action": "decline"})

        answer = await asking(it.handler(), asked, respond)

    assert prompted["id"] == 8, "nothing was sent before"
    assert (refused.action, refused.by, refused.reason) == ("cancel", "host", "the turn was cancelled in the editor")
    assert (answer.action, answer.by) == ("decline", "user")


async def test_an_editor_that_never_responds_is_not_waited_for() -> None:
    async with editor("form") as it:

        async def respond() -> None:
            sent = await it.asked()
            assert (await it.peer.read())["params"] == {"requestId": sent["id"]}

        answer = await asking(it.handler(answer_timeout=0.05), request(form_params(NAME)), respond)
        past = request(form_params(NAME)).model_copy(
            update={"deadline": datetime.now(timezone.utc) - timedelta(seconds=1)}
        )
        late = await it.handler(answer_timeout=None)(past)

    assert (answer.action, answer.by) == ("cancel", "timeout")
    assert (late.action, late.by) == ("cancel", "timeout")


@pytest.mark.parametrize("params", [form_params(NAME), URL])
async def test_a_connection_that_closes_ends_open_requests_and_those_after_it(params: dict[str, Any]) -> None:
    async with editor("form", "url") as it:

        async def respond() -> None:
            await it.asked()
            it.peer.disconnect()

        answer = await asking(it.handler(), request(params), respond)
        after = await it.handler()(request(params))

    for each in (answer, after):
        assert (each.action, each.by) == ("cancel", "unattended")
        assert each.reason == "the connection to the editor is closed"


async def test_a_connection_that_closes_ends_a_request_that_could_not_be_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    async with editor("form") as it:
        is_sending = anyio.Event()

        async def send(_message: Any) -> None:
            is_sending.set()
            await anyio.sleep_forever()

        async def respond() -> None:
            await is_sending.wait()
            it.peer.disconnect()

        monkeypatch.setattr(it.peer, "send", send)
        answer = await asking(it.handler(answer_timeout=30), request(form_params(NAME)), respond)

    assert (answer.action, answer.by) == ("cancel", "unattended")
    assert answer.reason == "the connection to the editor is closed"


@pytest.mark.parametrize("junk", [[], 5, "text", {"id": []}, {"id": {}, "method": "elicitation/create"}, [{}]])
async def test_messages_that_are_none_do_not_end_the_connection(junk: Any) -> None:
    async with editor("form") as it:

        async def respond() -> None:
            sent = await it.asked()
            it.peer.write(junk)
            it.peer.write({"id": "elicitation-99", "result": {"action": "accept"}})
            it.peer.respond(sent, {"action": "decline"})

        answer = await asking(it.handler(), request(form_params(NAME)), respond)

    assert (answer.action, answer.by) == ("decline", "user")


async def test_an_error_that_is_not_an_object_ends_the_request_of_the_agent_and_not_the_connection() -> None:
    from acp import RequestError as AcpError

    attached: list[tuple[Any, Editor]] = []
    async with agent_side(lambda connection: attached.append((connection, Editor(connection))), "form") as peer:
        connection, in_editor = attached[0]
        handler = EditorHandler(in_editor, SESSION, answer_timeout=30)

        async def respond() -> None:
            sent = await peer.read()
            reading = asyncio.ensure_future(connection.read_text_file(path="/a", session_id=SESSION))
            peer.respond(await peer.read(), error="text")
            with pytest.raises(AcpError):
                await reading
            peer.respond(sent, {"action": "decline"})

        answer = await asking(handler, request(form_params(NAME)), respond)

    assert (answer.action, answer.by) == ("decline", "user")


def test_something_else_than_a_connection_is_refused() -> None:
    with pytest.raises(TypeError, match="is not a connection of agent-client-protocol"):
        Editor(object())  # type: ignore[arg-type]


async def test_an_editor_that_was_created_too_late_says_so() -> None:
    connections: list[Any] = []
    async with agent_side(connections.append, "form"):
        late = Editor(connections[0])

        with pytest.raises(RuntimeError, match=r"has not seen `initialize` .* Create it in `on_connect`"):
            _ = late.modes


def test_a_connection_in_place_of_an_editor_is_refused() -> None:
    with pytest.raises(TypeError, match=r"`editor` must be Editor, not Peer\. Pass Editor\(connection\)\."):
        EditorHandler(Peer(), SESSION)  # type: ignore[arg-type]


async def test_editors_that_share_a_connection_get_their_own_responses() -> None:
    editors: list[Editor] = []

    def attach(connection: Any) -> None:
        editors.extend([Editor(connection), Editor(connection)])

    async with agent_side(attach, "form") as peer:
        answers = [asyncio.ensure_future(EditorHandler(each, SESSION)(request(form_params(NAME)))) for each in editors]
        sent = [await peer.read(), await peer.read()]
        for number, each in enumerate(reversed(sent)):
            peer.respond(each, {"action": "accept", "content": {"name": f"user {number}"}})
        with anyio.fail_after(30):
            names = [(await answer).content for answer in answers]

    assert names == [{"name": "user 1"}, {"name": "user 0"}]


# --- real requests


async def test_every_form_of_the_corpus_comes_back_as_it_was_accepted_or_is_refused_with_a_reason() -> None:
    from acp.schema import ElicitationFormSessionMode

    accepted = refused = 0
    async with editor("form", "url") as it:
        for row in corpus("requests.jsonl"):
            try:
                asked = request(row["params"])
            except RequestError:
                continue
            if isinstance(asked, UrlRequest):
                continue
            # Patterns are checked in another process, which takes its time.
            content = await anyio.to_thread.run_sync(example_or_none, asked.form)
            if content is None:
                continue

            async def respond(asked: FormRequest = asked, content: dict[str, Any] = content) -> None:
                sent = await it.asked()
                ElicitationFormSessionMode.model_validate(
                    {"sessionId": SESSION, "requestedSchema": sent["params"]["requestedSchema"]}
                )
                shown = parse_request(sent["params"])
                assert isinstance(shown, FormRequest)
                assert [each.name for each in shown.form.fields] == [each.name for each in asked.form.fields]
                it.peer.respond(sent, {"action": "accept", "content": as_typed(shown, content)})

            if any(each.is_hidden for each in asked.form.fields if each.required):
                answer = await it.handler()(asked)
                assert (answer.action, answer.by) == ("cancel", "unattended")
                assert answer.reason
                refused += 1
                continue
            answer = await asking(it.handler(), asked, respond)
            assert (answer.action, answer.content) == ("accept", content), row["id"]
            accepted += 1

    assert accepted > 200


def as_typed(shown: FormRequest, content: dict[str, Any]) -> dict[str, Any]:
    """Return *content* as an editor sends it, which knows the form that it shows."""
    by_name = shown.form.by_name
    typed: dict[str, Any] = {}
    for name, value in content.items():
        kind = by_name[name].kind
        if kind == "choice" and not isinstance(value, str):
            typed[name] = {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)
        else:
            typed[name] = "\n".join([*value, ""]) if kind == "text" and isinstance(value, list) else value
    return typed
