"""`inbox_app`: JSON, pages, and attacks by other sites."""

from __future__ import annotations

import json
import marshal
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import httpx
import pytest
from starlette.exceptions import HTTPException

from mcp_elicit_client import Answer, Limits, parse_request
from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.messages import FIELD_ERRORS, Message
from mcp_elicit_client.core.origin import write_origin
from mcp_elicit_client.exceptions import MissingExtraError
from mcp_elicit_client.inbox import EntryPage, Inbox, MemoryStore
from mcp_elicit_client.inbox.web import inbox_app, sse
from mcp_elicit_client.inbox.web.pages import environment
from mcp_elicit_client.inbox.web.security_middleware import MAX_BODY_BYTES
from mcp_elicit_client.policies import RememberedAnswers, protect_secrets
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import ENGLISH, MessageCatalog
from mcp_elicit_client.typing import Request
from tests.support import form_params
from tests.support.inboxes import asking, pending, request
from tests.support.web_inbox import EVIL, FORM, HOST, MANY, MOMENTS, OWN, PAGE, URL, WARNED_URL, Seen, Web

pytestmark = pytest.mark.anyio

GOOD = {"f0": "Ann", "f6": "yes", "f9": ["0", "2"]}


# --- JSON


async def test_a_request_is_listed_shown_and_answered_as_json(web: Web) -> None:
    async with web.asked() as question:
        listed = (await web.client.get("/")).json()
        shown = (await web.client.get(f"/{question.id}")).json()
        wrong = await web.client.post(f"/{question.id}", json={"action": "accept", "content": {"name": "A"}})
        checked = await web.client.post(f"/{question.id}", json={"action": "check", "content": {"name": "A"}})
        content = {"name": "Ann", "must": False}
        right = await web.client.post(f"/{question.id}", json={"action": "accept", "content": content})
        late = await web.client.post(f"/{question.id}", json={"action": "accept", "content": content})
        answer = await question.over()

    assert [entry["id"] for entry in listed["entries"]] == [question.id]
    assert shown["request"]["message"] == "Where to?"
    assert shown["answer_schema"]["required"] == ["name", "must"]
    assert (wrong.status_code, checked.status_code) == (422, 200)
    assert [(error["field"], error["code"]) for error in wrong.json()["errors"]] == [
        ("name", "min_length"),
        ("must", "required"),
    ]
    assert checked.json() == wrong.json()
    assert (right.status_code, right.json()["valid"]) == (200, True)
    assert (late.status_code, late.json()["state"]) == (409, "answered")
    assert answer.content == content
    past = (await web.client.get("/history")).json()
    assert [(entry["state"], entry["answered_by"]) for entry in past["entries"]] == [("answered", "ann")]
    assert "Ann" not in json.dumps(past)


TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.mark.parametrize(
    ("params", "content", "warned"),
    [
        pytest.param(WARNED_URL, None, {"punycode", "mixed_scripts"}, id="url"),
        pytest.param(FORM, {"name": TOKEN, "must": True}, {"sensitive_data"}, id="sensitive data"),
        pytest.param(URL, None, set(), id="no warning"),
    ],
)
async def test_an_answer_as_json_confirms_exactly_the_warnings_of_the_request(
    web: Web, params: dict[str, Any], content: dict[str, Any] | None, warned: set[str]
) -> None:
    async with web.asked(params) as question:

        async def accept(**more: Any) -> httpx.Response:
            return await web.client.post(f"/{question.id}", json={"action": "accept", "content": content, **more})

        refused = [await accept(confirm_warnings=[*warned, "another"])]
        if warned:
            refused += [await accept(), await accept(confirm_warnings=[])]
        claimed = await accept(confirmed=True)
        state = (await web.inbox.get("ann", question.id)).state
        taken = await accept(confirm_warnings=sorted(warned))
        answer = await question.over()

    assert [each.status_code for each in (claimed, *refused)] == [400, *[409] * len(refused)]
    assert all({warning["code"] for warning in each.json()["warnings"]} == warned for each in refused)
    assert all(warning["text"] for each in refused for warning in each.json()["warnings"])
    assert state == "pending"
    assert (taken.status_code, answer.action, answer.confirmed) == (200, "accept", bool(warned))


async def test_wrong_content_is_reported_before_its_warnings(web: Web) -> None:
    async with web.asked() as question:
        reply = await web.client.post(f"/{question.id}", json={"action": "accept", "content": {"name": TOKEN}})
        declined = await web.client.post(
            f"/{question.id}", json={"action": "decline", "confirm_warnings": ["sensitive_data"]}
        )
        answer = await question.over()

    assert (reply.status_code, [error["field"] for error in reply.json()["errors"]]) == (422, ["must"])
    assert (declined.status_code, answer.action, answer.confirmed) == (200, "decline", False)


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"[]", b'{"action": "yes"}', b'{"action": "accept", "content": []}', b"[" * 60_000),
        *(b'{"action": "accept", "confirm_warnings": "punycode"}', b'{"action": "check", "confirm_warnings": [1]}'),
        *(b'{"action": "decline", "block_server": "true"}', b'{"action": "decline", "remember": null}'),
    ],
)
async def test_a_bad_body_changes_nothing(web: Web, body: bytes) -> None:
    async with web.asked() as question:
        reply = await web.client.post(f"/{question.id}", content=body, headers={"content-type": "application/json"})
        state = (await web.inbox.get("ann", question.id)).state

    assert (reply.status_code, state) == (400, "pending")


async def test_an_unknown_member_is_refused_by_its_name_and_not_taken_as_an_answer_without_values(web: Web) -> None:
    async with web.asked() as question:
        for action in ("accept", "check"):
            reply = await web.client.post(f"/{question.id}", json={"action": action, "contents": {"must": "a"}})
            assert (reply.status_code, "'contents' is unknown" in reply.json()["error"]) == (400, True)
        assert (await web.inbox.get("ann", question.id)).state == "pending"


async def test_a_front_end_gives_the_user_more_time_up_to_the_latest_deadline(web: Web) -> None:
    async with web.asked() as question:

        async def extend(user: str = "ann") -> httpx.Response:
            return await web.client.post(f"/{question.id}", json={"action": "extend"}, headers={"x-user": user})

        shown = (await web.client.get(f"/{question.id}")).json()
        other = await extend("bob")
        unchanged = (await web.client.get(f"/{question.id}")).json()
        replies = [await extend() for _ in range(11)]
        stored = (await web.client.get(f"/{question.id}")).json()
        await web.client.post(f"/{question.id}", json={"action": "decline"})
        late = await extend()

    times = [shown["expires_at"], *(reply.json()["expires_at"] for reply in replies)]
    assert [reply.status_code for reply in replies] == [200] * 11
    assert times[:11] == sorted(set(times))
    assert times[10] == times[11] == shown["max_expires_at"]
    assert replies[-1].json() == stored
    assert (other.status_code, unchanged) == (404, shown)
    assert (late.status_code, late.json()["state"]) == (409, "answered")


@pytest.mark.parametrize("path", ["/", "/{id}"])
async def test_a_stored_request_that_cannot_be_read_makes_the_inbox_unavailable_and_is_logged(
    web: Web, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    stored = web.inbox._store._requests  # type: ignore[attr-defined]
    async with web.asked() as question:
        text = stored[question.id].request.replace('"mode":"form"', '"mode":"fax"')
        stored[question.id] = stored[question.id]._replace(request=text)
        statuses = [
            (await web.client.get(path.format(id=question.id), headers=headers)).status_code for headers in ({}, PAGE)
        ]

    assert statuses == [503, 503]
    failed = "An HTTP request to the inbox failed. The inbox contains a request that cannot be read."
    assert caplog.messages == [failed, failed]


async def test_the_openapi_description_contains_every_endpoint(web: Web) -> None:
    described = (await web.client.get("/openapi.json")).json()

    assert set(described["paths"]) == {"/", "/history", "/events", "/{id}"}
    assert {"Entry", "EntryPage", "ValidationResult"} <= set(described["components"]["schemas"])
    assert set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(described))) <= set(
        described["components"]["schemas"]
    )


# --- who may


@pytest.mark.parametrize("path", ["/", "/history", "/events", "/openapi.json", "/{id}"])
@pytest.mark.parametrize("user", ["", None])
async def test_without_a_signed_in_user_nothing_is_shown(web: Web, path: str, user: str | None) -> None:
    del web.client.headers["x-user"]
    async with web.asked() as question:
        headers = {} if user is None else {"x-user": user}
        as_json = await web.client.get(path.format(id=question.id), headers=headers)
        as_page = await web.get(path.format(id=question.id), **headers)

    assert (as_json.status_code, as_page.status) == (401, 401)
    assert "Where to?" not in as_json.text + as_page.html


async def test_a_user_that_is_no_string_is_not_signed_in_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    authenticate: Any = lambda _web: 5  # noqa: E731
    transport = httpx.ASGITransport(inbox_app(Inbox(MemoryStore()), authenticate))
    async with httpx.AsyncClient(transport=transport, base_url="http://app.example") as client:
        assert (await client.get("/")).status_code == 401

    assert "`authenticate` must return a string or None, not int" in caplog.text


async def test_a_request_of_another_user_looks_like_a_missing_one(web: Web) -> None:
    async with web.asked() as question:
        bob = {"x-user": "bob"}
        replies = [
            [
                await web.client.get(f"/{each}", headers=bob),
                await web.client.post(f"/{each}", headers=bob, json={"action": "decline"}),
                await web.client.post(f"/{each}", headers={**OWN, **bob}, data={"action": "decline"}),
                await web.client.get(f"/{each}", headers={**PAGE, **bob}),
            ]
            for each in (question.id, "x" * 32)
        ]
        listed = (await web.client.get("/", headers=bob)).json()
        assert (await web.inbox.get("ann", question.id)).state == "pending"

    assert [reply.status_code for reply in replies[0]] == [404] * 4
    assert [reply.text for reply in replies[0]] == [reply.text for reply in replies[1]]
    assert listed["entries"] == []


async def test_authentication_may_be_asynchronous() -> None:
    async def nobody(_request: Any) -> None:
        await anyio.lowlevel.checkpoint()

    transport = httpx.ASGITransport(app=inbox_app(Inbox(MemoryStore()), nobody))
    async with httpx.AsyncClient(transport=transport, base_url=HOST) as client:
        assert (await client.get("/")).status_code == 401


@pytest.mark.parametrize("accept", ["text/html", "application/json"])
async def test_a_refusal_of_the_host_keeps_its_headers(accept: str) -> None:
    def sign_in(_request: Any) -> str:
        raise HTTPException(303, headers={"Location": "/login"})

    transport = httpx.ASGITransport(app=inbox_app(Inbox(MemoryStore()), sign_in))
    async with httpx.AsyncClient(transport=transport, base_url=HOST) as client:
        reply = await client.get("/", headers={"accept": accept})

    assert (reply.status_code, reply.headers["location"]) == (303, "/login")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        *(("POST", path, "GET, HEAD") for path in ("/", "/history", "/events", "/openapi.json")),
        ("PUT", "/history", "GET, HEAD"),
        ("PUT", "/{id}", "GET, HEAD, POST"),
        ("PUT", "/remembered", "GET, HEAD, POST"),
    ],
)
async def test_an_error_about_the_method_lists_the_methods_that_are_allowed(
    method: str, path: str, allowed: str
) -> None:
    inbox = Inbox(MemoryStore())
    app = inbox_app(inbox, lambda _: "ann", remembered=RememberedAnswers())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=HOST) as client:
        reply = await client.request(method, path.format(id="x" * 32), json={})

    assert (reply.status_code, ", ".join(sorted(reply.headers["allow"].split(", ")))) == (405, allowed)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": HOST, "sec-fetch-site": "same-origin"}, 303),
        ({"origin": HOST}, 303),
        ({"origin": "null", "sec-fetch-site": "same-origin"}, 303),
        ({}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "null", "sec-fetch-site": "cross-site"}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "https://evil.example", "sec-fetch-site": "cross-site"}, 403),
        ({"origin": "https://app.example:8443", "sec-fetch-site": "same-site"}, 403),
        ({"origin": "https://app.example.evil.example"}, 403),
        ({"origin": "https://["}, 403),
        ({"origin": HOST, "sec-fetch-site": "cross-site"}, 403),
        ({"origin": "https://evil.example", "content-type": "application/json"}, 403),
        ({"origin": "https://evil.example", "content-type": "text/plain"}, 403),
    ],
)
async def test_forms_of_other_sites_are_refused(web: Web, headers: dict[str, str], status: int) -> None:
    async with web.asked() as question:
        form = {"content-type": "application/x-www-form-urlencoded", **headers}
        reply = await web.client.post(f"/{question.id}", content=b"action=decline", headers=form)
        state = (await web.inbox.get("ann", question.id)).state

    assert reply.status_code == status
    assert state == ("answered" if status == 303 else "pending")


async def test_the_log_says_once_which_origin_to_pass_if_a_proxy_changes_the_host(
    web: Web, caplog: pytest.LogCaptureFixture
) -> None:
    async with web.asked() as question:
        for site in ("cross-site", "same-origin", "same-origin"):
            headers = {"origin": "https://public.example", "sec-fetch-site": site}
            reply = await web.client.post(f"/{question.id}", json={"action": "decline"}, headers=headers)
            assert reply.status_code == 403

    (record,) = caplog.records
    assert "A page at https://public.example was refused" in record.message
    assert "If a proxy changes it, pass origins=['https://public.example']." in record.message


async def test_only_a_url_can_be_opened(web: Web) -> None:
    async with web.asked() as question:
        await web.fill(question, "check", f0="Ann")
        assert (await web.fill(question, "open")).status == 400
        page = await web.get(f"/{question.id}?view=open")

    assert (page.status, page.all("input", name="f0")[0]["value"]) == (200, "Ann")


@pytest.mark.parametrize("content_type", ["application/json ; charset=utf-8", "Application/JSON"])
async def test_json_is_accepted_however_its_content_type_is_written(web: Web, content_type: str) -> None:
    async with web.asked() as question:
        headers = {"content-type": content_type}
        reply = await web.client.post(f"/{question.id}", content=b'{"action": "decline"}', headers=headers)

    assert reply.status_code == 200


async def test_forms_from_other_origins_of_the_host_are_accepted() -> None:
    app = inbox_app(Inbox(MemoryStore()), lambda _: "ann", origins=["https://front.example"])
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://inner:8000") as client:
        statuses = [
            (await client.post("/x", headers={"origin": origin}, data={"action": "decline"})).status_code
            for origin in ("https://front.example", "https://other.example")
        ]

    assert statuses == [404, 403]


@pytest.mark.parametrize("character", ["é", "あ", "😀"])
async def test_the_longest_answer_is_sent_in_any_writing(web: Web, character: str) -> None:
    story = character * (Limits().max_answer - 20)
    params = form_params({"properties": {"story": {"type": "string"}}, "required": ["story"]})
    async with web.asked(params) as question:
        page = await web.fill(question, "review", f0=story)
        assert (page.status, page.all("input", name="f0")[0]["value"]) == (200, story)
        await web.fill(question, "accept", f0=story)
        assert (await question.over()).content == {"story": story}
    async with web.asked(params) as question:
        body = json.dumps({"action": "accept", "content": {"story": story}})
        reply = await web.client.post(f"/{question.id}", content=body, headers={"content-type": "application/json"})
        assert reply.status_code == 200


async def test_a_body_above_the_limit_is_not_read(web: Web) -> None:
    async with web.asked() as question:
        named = await web.client.post(f"/{question.id}", content=b" " * 5_000_000, headers=OWN)
        headers = [(b"host", b"app.example"), (b"content-type", b"application/json"), (b"x-user", b"ann")]
        scope = {"type": "http", "method": "POST", "path": f"/{question.id}", "query_string": b"", "headers": headers}
        read = 0
        statuses = []

        async def receive() -> Any:
            nonlocal read
            read += 1
            return {"type": "http.request", "body": b" " * 16_384, "more_body": True}

        async def send(message: Any) -> None:
            statuses.append(message.get("status"))

        await web.app(scope, receive, send)

    assert (named.status_code, statuses[0], read) == (413, 413, 17)


@pytest.mark.parametrize("step", ["review", "check"])
async def test_answers_that_are_too_long_are_refused_in_the_language_of_the_user(web: Web, step: str) -> None:
    async with web.asked() as question:
        data = {"action": step, "f0": "x" * MAX_BODY_BYTES}
        german = {**OWN, "accept-language": "de"}
        page = await web.client.post(f"/{question.id}", data=data, headers=german)
        reply = await web.client.post(f"/{question.id}", data=data, headers={**german, "accept": "application/json"})

    assert (page.status_code, reply.status_code) == (413, 413)
    assert "<h1>Ihre Antworten sind zu lang</h1>" in page.text
    assert reply.json() == {"error": "The body is too long."}


async def test_every_response_has_the_security_headers(web: Web) -> None:
    async with web.asked() as question:
        replies = [
            await web.client.get(path, headers=PAGE)
            for path in (
                "/",
                f"/{question.id}",
                "/nothing",
                "/static/inbox.css",
                "/static/mcp-elicitation.js",
                "/openapi.json",
            )
        ]
        replies.append(await web.client.post("/x", headers={"origin": "https://evil.example"}))

    for reply in replies:
        policy = reply.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert reply.headers["x-frame-options"] == "DENY"
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["cache-control"] == "no-store"
        assert "set-cookie" not in reply.headers
    assert [reply.status_code for reply in replies] == [200, 200, 404, 200, 200, 200, 403]


# --- pages


async def test_every_page_and_the_json_show_the_reported_origin_as_text_of_the_server(web: Web) -> None:
    async with web.asked({**FORM, "_meta": write_origin(["files", "disk"])}) as question:
        data = (await web.client.get(f"/{question.id}")).json()
        open_pages = [await web.get(path) for path in ("/", f"/{question.id}")]
        await web.client.post(f"/{question.id}", json={"action": "decline"})
        await question.over()
        pages = [*open_pages, await web.get("/history")]

    for page in pages:
        assert '<dd class="server" dir="auto">mail &gt; files &gt; disk</dd>' in page.html
    assert data["request"]["origin"] == ["mail", "files", "disk"]
    assert "request.origin" in data["untrusted"]


async def test_a_page_reads_its_request_from_the_store_once(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    get = MemoryStore.get

    async def counted(self: MemoryStore, owner: str, entry_id: str) -> Any:
        read.append(entry_id)
        return await get(self, owner, entry_id)

    async with web.asked() as question:
        monkeypatch.setattr(MemoryStore, "get", counted)
        await web.get(f"/{question.id}")

        assert read == [question.id]


async def test_a_form_is_filled_in_reviewed_and_sent(web: Web) -> None:
    async with web.asked() as question:
        listed = await web.get("/")
        assert [link["href"] for link in listed.all("a")] == [question.id, "history"]
        page = await web.get(f"/{question.id}")
        assert page.buttons == ["review", "decline", "cancel", "extend"]

        filled = {**GOOD, "f1": "ann@example.com", "f3": "3", "f4": "2.5", "f5": "-", "f7": "1", "f10": "a\r\nb"}
        review = await web.fill(question, "review", **filled)
        assert review.buttons == ["accept", "decline", "cancel", "extend"]
        assert "(not provided)" in review.text
        assert "x, z" in review.text
        sent: dict[str, list[str]] = {}
        for field in review.all("input", type="hidden"):
            sent.setdefault(field["name"], []).append(field["value"])

        changed = await web.get(review.all("a", **{"class": "button"})[0]["href"])
        assert changed.all("input", id="f0")[0]["value"] == "Ann"
        done = await web.fill(question, "accept", **sent)
        assert "You accepted." in done.text
        answer = await question.over()

    assert answer.content == {
        "name": "Ann",
        "mail": "ann@example.com",
        "count": 3,
        "price": 2.5,
        "must": True,
        "size": "M",
        "tags": ["x", "z"],
        "notes": "a\nb",
    }
    history = await web.get("/history")
    assert "accepted" in history.text
    assert "ann@example.com" not in history.html
    assert "You accepted." in (await web.get(f"/{question.id}")).text


async def test_untouched_fields_are_omitted_and_yes_is_never_preselected(web: Web) -> None:
    async with web.asked() as question:
        page = await web.get(f"/{question.id}")
        chosen = {(box["name"], box["value"]) for box in page.all("input") if "checked" in box}
        assert chosen == {("f5", "-"), ("f7", "1")}
        assert page.all("input", id="f1")[0]["value"] == "ann@example.com"
        await web.fill(question, "accept", f0="Ann", f5="-", f6="no", f3="", f4="", f8="-")
        answer = await question.over()

    assert answer.content == {"name": "Ann", "must": False}


async def test_an_untouched_suggestion_is_sent_as_the_server_suggested_it(web: Web) -> None:
    properties = {
        "lines": {"type": "string", "default": "a\r\nb"},
        "blank": {"type": "string", "default": "  "},
        "places": {"type": "array", "items": {"type": "string"}, "default": ["1 Road\nTown", " Inn"]},
        "places2": {"type": "array", "items": {"type": "string"}, "default": ["1 Road\nTown", " Inn"]},
        "options": {"type": "array", "items": {"type": "string", "enum": ["x", "0"]}, "default": ["0"]},
    }
    shown = "1 Road\r\nTown\r\n Inn"
    async with web.asked(form_params({"properties": properties})) as question:
        await web.fill(question, "accept", f0="a\r\nb", f1="  ", f2=shown, f3=f"{shown}\r\n", f4="0")
        answer = await question.over()

    assert answer.content == {
        "lines": "a\r\nb",
        "blank": "  ",
        "places": ["1 Road\nTown", " Inn"],
        "places2": ["1 Road", "Town", "Inn"],
        "options": ["x"],
    }


async def test_untouched_suggested_options_are_sent_in_the_order_of_the_server(web: Web) -> None:
    options = {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}}
    properties = {
        "ranked": {**options, "default": ["c", "a"]},
        "twice": {**options, "minItems": 2, "default": ["b", "b"]},
    }
    async with web.asked(form_params({"properties": properties})) as question:
        await web.fill(question, "accept", f0=["0", "2"], f1="1")
        answer = await question.over()

    assert answer.content == {"ranked": ["c", "a"], "twice": ["b", "b"]}
    assert answer.sources == {"ranked": "default", "twice": "default"}


@pytest.mark.parametrize("text", ["a\nb", "a\rb", "a\r\nb"])
async def test_a_suggestion_with_line_breaks_is_in_an_input_that_keeps_them(web: Web, text: str) -> None:
    async with web.asked(form_params({"properties": {"lines": {"type": "string", "default": text}}})) as question:
        page = await web.get(f"/{question.id}")

    assert page.all("textarea", id="f0")


async def test_errors_are_shown_beside_the_fields_and_in_a_summary_with_links(web: Web) -> None:
    async with web.asked() as question:
        for step in ("review", "accept"):
            page = await web.fill(question, step, f0="A", f2="soon", f3="12", f4="much", f8="99", f9=["7"])
            assert page.status == 200
            assert "Error: mail asks for 11 answers" in page.text
            assert "7 fields need attention" in page.text
            links = [link["href"] for link in page.all("a") if link["href"].startswith("#")]
            assert links == ["#f0", "#f2", "#f3", "#f4", "#f6-0", "#f8", "#f9-0"]
            ids = {attrs["id"] for _, attrs in page.tags if "id" in attrs}
            assert {link[1:] for link in links} <= ids
            wrong = [attrs for _, attrs in page.tags if attrs.get("aria-invalid") == "true"]
            assert len(wrong) == 6 + 3  # each box of the group
            # It is read out once, because it gets the focus.
            assert "autofocus" in page.all("div", id="summary")[0]
            assert not page.all("div", role="alert")
            assert page.all("input", id="f0")[0]["value"] == "A"
        checked = await web.client.post(
            f"/{question.id}", data={"action": "check", "f0": "A"}, headers={**OWN, "accept": "application/json"}
        )
        assert checked.json()["f0"] == ["Enter at least 2 characters."]
        assert checked.json()["f1"] == []
        assert (await web.inbox.get("ann", question.id)).state == "pending"


async def test_the_error_of_a_pattern_is_shown_together_with_other_errors(web: Web) -> None:
    fields = {"name": {"type": "string"}, "code": {"type": "string", "pattern": "^[A-Z]+$"}}
    request = parse_request(form_params({"properties": fields, "required": ["name"]}), server="mail")
    async with web.asked(request) as question:
        page = await web.fill(question, "review", f0="", f1="abc")
        assert "2 fields need attention" in page.text
        assert [link["href"] for link in page.all("a") if link["href"].startswith("#")] == ["#f0", "#f1"]
        page = await web.fill(question, "review", f0="Ann", f1="abc")
        assert "1 field needs attention" in page.text
        page = await web.fill(question, "review", f0="A" * 20_000, f1="ABC")
        assert "Your answers exceed 16384 characters in total." in page.text
        assert "This field is required." not in page.text


@pytest.mark.parametrize(("action", "said"), [("decline", "You declined"), ("cancel", "You cancelled")])
async def test_decline_and_cancel_need_no_values(web: Web, action: str, said: str) -> None:
    async with web.asked() as question:
        page = await web.fill(question, action, f0="A")
        answer = await question.over()

    assert said in page.text
    assert (answer.action, answer.block_server) == (action, False)


async def test_block_is_offered_only_if_the_request_allows_it(web: Web) -> None:
    request = parse_request(FORM, server="mail").model_copy(update={"can_block": True})
    async with web.asked() as question:
        assert "block" not in (await web.get(f"/{question.id}")).buttons
    async with web.asked(request) as question:
        assert (await web.get(f"/{question.id}")).buttons == ["review", "decline", "cancel", "block", "extend"]
        await web.fill(question, "block")
        answer = await question.over()
        assert (answer.action, answer.block_server) == ("decline", True)


async def test_a_url_is_shown_in_full_and_linked_only_after_consent(web: Web) -> None:
    async with web.asked(URL) as question:
        page = await web.get(f"/{question.id}")
        assert page.buttons == ["accept", "decline", "cancel", "extend"]
        assert re.search(r">https://pay.<strong class=\"domain [\w-]+\">shop.example</strong>/a\?b=1<", page.html)
        assert not [link for link in page.all("a") if "shop.example" in link["href"]]
        done = await web.fill(question, "accept")
        (link,) = [link for link in done.all("a") if "shop.example" in link["href"]]
        assert (link["href"], link["rel"]) == (URL["url"], "noopener noreferrer nofollow")
        assert (await question.over()).action == "accept"


async def test_decline_is_the_main_button_for_a_url_with_warnings(web: Web) -> None:
    async with web.asked({**URL, "url": "https://xn--pypal-4ve.example/"}) as question:
        page = await web.get(f"/{question.id}")
        assert page.buttons == ["decline", "cancel", "confirm", "extend"]
        assert [each["value"] for each in page.all("button") if "main" in each.get("class", "")] == ["decline"]


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize("action", ["confirm", "accept", "open"])
async def test_a_url_with_warnings_is_opened_by_two_different_buttons(web: Web, action: str, version: str) -> None:
    async with web.asked(WARNED_URL, protocol_version=version) as question:
        confirming = await web.fill(question, action)
        assert not [link for link in confirming.all("a") if "xn--" in link["href"]]
        assert (await web.inbox.get("ann", question.id)).state == "pending"
        assert "Warning: " in confirming.text
        assert "Open xn--pypal-4ve.example anyway" in confirming.text
        assert [each["class"] for each in confirming.all("a", "button") if "main" in each.get("class", "")] == [
            "button main"
        ]
        step = "accept" if version == "2025-11-25" else "open"
        assert confirming.buttons == [step, "decline", "cancel", "extend"]

        opened = await web.fill(question, step, confirmed="yes")
        (link,) = [link for link in opened.all("a") if "xn--" in link["href"]]
        assert link["href"] == WARNED_URL["url"]
        if step == "open":
            await web.fill(question, "accept", confirmed="yes")
        answer = await question.over()
        assert (answer.action, answer.confirmed) == ("accept", True)


@pytest.mark.parametrize("fields", [{}, {"name": {"type": "string", "default": "Ann"}}])
async def test_a_form_with_a_warning_is_sent_by_two_different_buttons(web: Web, fields: dict[str, Any]) -> None:
    warning = Diagnostic(code="impersonation", message="The name resembles another one.")
    request = parse_request(form_params({"properties": fields}), server="mail")
    async with web.asked(request.model_copy(update={"diagnostics": (warning,)})) as question:
        page = await web.get(f"/{question.id}")
        assert page.buttons[0] == ("review" if fields else "confirm")
        confirming = await web.fill(question, "accept")
        assert (await web.inbox.get("ann", question.id)).state == "pending"
        assert "Warning: The name resembles another one." in confirming.text
        assert "Send anyway" in confirming.text
        sent = {field["name"]: field["value"] for field in confirming.all("input", type="hidden")}
        await web.fill(question, "accept", **sent)
        assert (await question.over()).confirmed


async def test_the_page_that_confirms_is_only_there_for_a_warning(web: Web) -> None:
    async with web.asked(URL) as question:
        assert (await web.get(f"/{question.id}?view=confirm")).buttons[0] == "accept"


async def test_remembered_answers_are_listed_and_revoked_as_json(
    remembering: tuple[httpx.AsyncClient, RememberedAnswers],
) -> None:
    client, remembered = remembering
    answers = (await client.get("/remembered")).json()["answers"]
    assert [(each["server"], each["message"], each["action"]) for each in answers] == [
        ("ci", "Run the tests?", "accept"),
        ("ci", "Deploy?", "accept"),
    ]
    assert answers[0]["content"] == {"name": EVIL}
    assert 0 < answers[0]["seconds_left"] <= 900
    assert "/remembered" in (await client.get("/openapi.json")).json()["paths"]

    other = remembered.list(user="ben")[0].id
    for given, status in ((other, 404), ("", 404), (answers[0]["id"], 200), (answers[0]["id"], 404)):
        assert (await client.post("/remembered", json={"revoke": given})).status_code == status
    assert (await client.post("/remembered", json={"revoke": 5})).status_code == 400
    assert (await client.post("/remembered", content=b"[", headers={"content-type": "application/json"})).is_error
    assert [each.message for each in remembered.list(user="ann")] == ["Deploy?"]
    assert (await client.post("/remembered", json={"revoke": "all"})).json() == {"revoked": 1}
    assert len(remembered.list(user="ben")) == 2


async def test_remembered_answers_are_listed_and_revoked_on_a_page(
    remembering: tuple[httpx.AsyncClient, RememberedAnswers],
) -> None:
    client, remembered = remembering
    requests = Seen(await client.get("/", headers=PAGE))
    assert "remembered" in [link["href"] for link in requests.all("a")]

    page = Seen(await client.get("/remembered", headers=PAGE))
    assert page.buttons == [*(each.id for each in remembered.list("ann")), "all"]
    assert "Run the tests?" in page.text
    assert EVIL in page.text
    assert EVIL not in page.html
    foreign = {**PAGE, "origin": "https://evil.example"}
    refused = await client.post("/remembered", data={"revoke": "all"}, headers=foreign)
    assert refused.status_code == 403
    await client.post("/remembered", data={"revoke": page.buttons[0]}, headers=OWN)
    assert len(remembered.list("ann")) == 1
    after = await client.post("/remembered", data={"revoke": "all"}, headers=OWN, follow_redirects=True)
    assert "No remembered answers" in after.text
    assert len(remembered.list("ben")) == 2


async def test_without_remembered_answers_there_is_no_page_for_them(web: Web) -> None:
    assert (await web.get("/remembered")).status == 404
    assert "remembered" not in (await web.get("/")).html


async def test_an_answer_that_reports_completion_is_sent_after_the_visit(web: Web) -> None:
    async with web.asked(URL, protocol_version="2026-07-28") as question:
        assert (await web.get(f"/{question.id}")).buttons == ["open", "decline", "cancel", "extend"]
        visit = await web.fill(question, "open")
        assert [link["href"] for link in visit.all("a")] == ["./", URL["url"]]
        assert (await web.inbox.get("ann", question.id)).state == "pending"
        assert visit.buttons == ["accept", "decline", "cancel", "extend"]
        await web.fill(question, "accept")
        assert (await question.over()).action == "accept"


async def test_the_page_says_if_the_server_reports_an_unfinished_visit(web: Web) -> None:
    for visits in (0, 1):
        request = parse_request(URL, server="mail").model_copy(update={"previous_visits": visits})
        async with web.asked(request) as question:
            page = await web.get(f"/{question.id}")
            assert ("reports that you have not finished" in page.text) == bool(visits)
            await web.fill(question, "decline")


async def test_a_late_answer_gets_the_page_of_the_closed_request(web: Web) -> None:
    async with web.asked() as question:
        await web.fill(question, "accept", **GOOD)
        pages = [await web.fill(question, step, **GOOD) for step in ("review", "decline", "block")]
        await question.over()

    assert [page.status for page in pages] == [409] * 3
    late = "This request was already answered. You accepted. Your answer was not sent."
    assert all(late in page.text for page in pages)


@pytest.mark.parametrize("step", ["accept", "decline", "block", "cancel"])
async def test_an_answer_that_is_sent_twice_is_not_called_unsent(web: Web, step: str) -> None:
    async with web.asked() as question:
        pages = [await web.fill(question, step, **GOOD) for _ in range(2)]
        answer = await question.over()

    decided = {"accept": "You accepted.", "cancel": "You cancelled."}.get(step, "You declined.")
    assert f"This request was already answered. {decided}" in pages[1].text
    assert "Your answer was not sent." not in pages[1].text
    assert answer.action == ("decline" if step == "block" else step)


@pytest.mark.parametrize(
    "body", [b"", b"action=", b"action=yes", b"action=accept&action=decline", b"action=%ff", b"&" * 9]
)
async def test_a_bad_form_changes_nothing(web: Web, body: bytes) -> None:
    async with web.asked() as question:
        kind = {**OWN, "content-type": "application/x-www-form-urlencoded"}
        reply = await web.client.post(f"/{question.id}", content=body, headers=kind)
        state = (await web.inbox.get("ann", question.id)).state

    assert (reply.status_code, state) == (400, "pending")


async def test_server_text_is_neither_markup_nor_link(web: Web) -> None:
    choices = {"type": "string", "oneOf": [{"const": EVIL, "title": EVIL}, {"const": "b", "title": "b"}]}
    properties = {
        EVIL: {"type": "string", "title": EVIL, "description": EVIL, "default": EVIL, "minLength": 500},
        "b": choices,
        "c": {"type": "string", "enum": [EVIL, *"0123456789"]},
        "d": {"type": "array", "items": {"enum": [EVIL, "b"]}},
        "e": {"type": "string", "title": '" onfocus="alert(1)" autofocus="'},
    }
    params = form_params({"properties": properties}, EVIL)
    async with web.asked(params, tool=EVIL) as question:
        pages = [
            await web.get("/"),
            await web.get(f"/{question.id}"),
            await web.fill(question, "review", f0=EVIL, f1="0"),
            await web.fill(question, "review", f0=EVIL * 20, f1="0", f2="0", f3="0", f4='"><script>'),
            await web.fill(question, "decline"),
            await web.get("/history"),
        ]

    for page in pages:
        assert [tag for tag, _ in page.tags].count("script") == 1
        assert not [attrs for _, attrs in page.tags if any(name.startswith("on") for name in attrs)]
        assert not any("evil" in attrs.get("href", "") for _, attrs in page.tags)
        assert "style" not in [tag for tag, _ in page.tags]


async def test_every_control_has_a_label_and_every_reference_its_target(web: Web) -> None:
    async with web.asked() as question:
        for page in (await web.get(f"/{question.id}"), await web.fill(question, "review")):
            ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
            assert len(ids) == len(set(ids))
            labelled = {label["for"] for label in page.all("label") if "for" in label}
            for control in page.all("input", "select", "textarea"):
                if control.get("type") not in ("hidden", "radio", "checkbox"):
                    assert control["id"] in labelled
            for _, attrs in page.tags:
                assert set(attrs.get("aria-describedby", "").split()) <= set(ids)
            assert len(page.all("legend")) == len(page.all("fieldset")) == 4
            assert page.all("html")[0]["lang"] == "en"
            kinds = {control["id"]: control.get("type") for control in page.all("input") if "id" in control}
            assert (kinds["f1"], kinds["f2"], kinds["f3"]) == ("email", "date", "text")
            assert "data-search" in page.all("select", id="f8")[0]


async def test_a_form_without_fields_is_sent_without_a_review(web: Web) -> None:
    async with web.asked({"message": "Go on?"}) as question:
        assert (await web.get(f"/{question.id}")).buttons == ["accept", "decline", "cancel", "extend"]
        await web.fill(question, "accept")
        answer = await question.over()

    assert (answer.action, answer.content) == ("accept", {})


@pytest.mark.parametrize(
    ("filled", "content"),
    [
        ({"f0": "2026-12-24T19:30", "f0-zone": "+01:00"}, {"updated_at": "2026-12-24T19:30:00+01:00"}),
        ({"f0": "2026-12-24T19:30:05.5", "f0-zone": "Z"}, {"updated_at": "2026-12-24T19:30:05.5Z"}),
        ({"f0": "2026-12-24T19:30:00-03:00", "f0-zone": "Z"}, {"updated_at": "2026-12-24T19:30:00-03:00"}),
        (
            {
                "f0": "2026-12-24T19:30",
                "f0-zone": "Z",
                "f1": "08:15",
                "f1-zone": "-09:30",
                "f2": "2026-01-01T00:00:00Z",
            },
            {"updated_at": "2026-12-24T19:30:00Z", "at": "08:15:00-09:30", "odd": "2026-01-01T00:00:00Z"},
        ),
        ({"f0": "2026-12-24T19:30", "f0-zone": ""}, None),
        ({"f0": "2026-12-24T19:30", "f0-zone": "Nowhere"}, None),
        ({"f0": "2026-12-24T29:30", "f0-zone": "Z"}, None),
    ],
)
async def test_a_time_has_the_control_of_the_browser_and_a_list_of_time_zones(
    web: Web, filled: dict[str, str], content: Any
) -> None:
    async with web.asked(MOMENTS) as question:
        page = await web.get(f"/{question.id}")
        kinds = {control["id"]: control["type"] for control in page.all("input") if "id" in control}
        assert kinds == {"f0": "datetime-local", "f1": "time", "f2": "text"}
        assert page.all("input", id="f0")[0]["value"] == "2026-11-20T14:30:00"
        assert [zone["value"] for zone in page.all("option") if "selected" in zone] == ["+05:45"]
        review = await web.fill(question, "review", **filled)
        assert ("Check your answers" in review.text) == bool(content)
        sent = {field["name"]: field["value"] for field in review.all("input", type="hidden")}
        if content:
            changed = await web.get(f"/{question.id}")
            assert changed.all("input", id="f0")[0]["value"].startswith(filled["f0"][:16])
            await web.fill(question, "accept", **sent)
            assert (await question.over()).content == content


async def test_a_time_in_a_year_with_too_many_digits_stays_in_its_control(web: Web) -> None:
    async with web.asked(MOMENTS) as question:
        page = await web.fill(question, "review", **{"f0": "20266-12-24T19:30", "f0-zone": "+01:00"})
        assert "Enter the year with four digits." in page.text
        assert page.all("input", id="f0")[0]["value"] == "20266-12-24T19:30"
        assert [zone["value"] for zone in page.all("option") if "selected" in zone] == ["+01:00"]


async def test_the_review_marks_the_values_that_were_suggested(web: Web) -> None:
    properties = {
        "name": {"type": "string", "default": "Ann"},
        "seats": {"type": "integer", "default": 2},
        "window": {"type": "boolean", "default": False},
        "meal": {"type": "boolean", "default": True},
        "class": {"enum": ["first", "second"], "default": "second"},
        "extras": {"type": "array", "items": {"enum": ["bag", "bike"]}, "default": ["bike"]},
    }
    suggested = {"f0": "Ann", "f1": "2", "f2": "no", "f3": "yes", "f4": "1", "f5": "1"}
    changed = {"f0": "Bob", "f1": "3", "f2": "yes", "f3": "no", "f4": "0", "f5": "0"}
    async with web.asked(form_params({"properties": properties})) as question:
        marks = [
            [mark["class"].split()[1:] for mark in page.all("span") if mark.get("class", "").startswith("value")]
            for page in [await web.fill(question, "review", **values) for values in (suggested, changed)]
        ]

    assert marks == [[["is-suggested"]] * 3 + [[]] + [["is-suggested"]] * 2, [[]] * 6]


async def test_hints_contain_every_limit_and_mark_suggested_values(web: Web) -> None:
    properties = {
        "a": {"type": "integer", "minimum": 0.5, "maximum": 9.5, "multipleOf": 2, "default": 4},
        "b": {"type": "number", "exclusiveMinimum": 1, "exclusiveMaximum": 2},
        "c": {"type": "array", "items": {"enum": ["x", "y", "z"]}, "minItems": 1, "maxItems": 2},
        "d": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        "e": {"type": "string", "maxLength": 5, "default": "x"},
    }
    async with web.asked(form_params({"properties": properties})) as question:
        page = await web.get(f"/{question.id}")

    # The browser's control for numbers would drop what it cannot read.
    assert [page.all("input", id=f"f{at}")[0].get("inputmode") for at in range(2)] == ["numeric", "text"]
    hints = re.findall(r'class="hint" id="f\d-hint"><bdi>(.*?)</bdi>', page.html)
    assert hints == [
        "Whole number, from 0.5 to 9.5, multiple of 2 · suggested",
        "Number, more than 1, less than 2",
        "Select 1 to 2",
        "List, separated by commas, at most 3 values",
        "Text, at most 5 characters · suggested",
    ]


async def test_up_to_seven_options_are_radio_buttons_and_omitting_is_always_visible(web: Web) -> None:
    properties = {f"p{count}": {"type": "string", "enum": [str(at) for at in range(count)]} for count in (7, 8)}
    async with web.asked(form_params({"properties": properties})) as question:
        page = await web.get(f"/{question.id}")

    assert [radio["value"] for radio in page.all("input", type="radio")] == [*"0123456", "-"]
    assert [option["value"] for option in page.all("option")] == ["-", *"01234567"]
    assert page.all("fieldset")[0]["role"] == "radiogroup"


async def test_the_review_shows_the_end_of_a_long_value(web: Web) -> None:
    async with web.asked(form_params({"properties": {"a": {"type": "string"}}})) as question:
        review = await web.fill(question, "review", f0="x" * 15_000 + " is the end")

    assert f"{'x' * 15_000} is the end" in review.text


async def test_the_review_shows_line_breaks(web: Web) -> None:
    async with web.asked(form_params({"properties": {"a": {"type": "string", "maxLength": 500}}})) as question:
        review = await web.fill(question, "review", f0="one\r\ntwo")

    assert "\none\ntwo\n" in review.text


async def test_an_option_with_a_blank_label_has_a_text_on_the_page(web: Web) -> None:
    async with web.asked(form_params({"properties": {"a": {"enum": ["", "b"]}}})) as question:
        page = await web.get(f"/{question.id}")
        review = await web.fill(question, "review", f0="0")

    assert "(empty)" in page.text
    assert "(empty)" in review.text


async def test_sensitive_data_is_confirmed_in_the_review(web: Web) -> None:
    async with web.asked() as question:
        clean = await web.fill(question, "review", **GOOD)
        assert not clean.all("input", name="confirmed")
        review = await web.fill(question, "review", **{**GOOD, "f0": TOKEN})
        assert "Warning: This answer seems to contain" in review.text
        assert "Send anyway" in review.text
        sent: dict[str, list[str]] = {}
        for field in review.all("input", type="hidden"):
            sent.setdefault(field["name"], []).append(field["value"])
        await web.fill(question, "accept", **sent)
        assert (await question.over()).confirmed


async def test_browsers_are_told_to_fill_no_saved_password_into_a_field(web: Web) -> None:
    fields = {"user": {"type": "string"}, "secret": {"type": "string", "format": "password"}}
    async with web.asked(form_params({"properties": fields})) as question:
        page = await web.get(f"/{question.id}")
        controls = {each["name"]: (each["type"], each.get("autocomplete")) for each in page.all("input")}
        # Browsers ignore "off" for passwords: they would send the password for the host application to the server.
        assert controls["f0"] == ("text", "off")
        assert controls["f1"] == ("password", "new-password")


async def test_a_list_of_secrets_is_hidden_while_it_is_typed(web: Web) -> None:
    asked: list[Request] = []

    async def handler(request: Request) -> Answer:
        asked.append(request)
        return Answer.cancel(by="policy")

    fields = {"passwords": {"type": "array", "items": {"type": "string"}}}
    request = parse_request(form_params({"properties": fields}), server="mail")
    await protect_secrets(action="warn")(handler)(request)
    async with web.asked(asked[0]) as question:
        page = await web.get(f"/{question.id}")
        assert page.all("textarea") == []
        assert [each["type"] for each in page.all("input", name="f0")] == ["password"]
        review = await web.fill(question, "review", f0="hunter2, swordfish")
        assert "hunter2" not in review.text
        sent = {each["name"]: each["value"] for each in review.all("input", type="hidden")}
        await web.fill(question, "accept", **sent)
        assert (await question.over()).content == {"passwords": ["hunter2", "swordfish"]}


@pytest.mark.parametrize(("secret", "status"), [("", 303), ("hunter2", 200)])
async def test_only_a_page_with_hidden_text_is_the_response_to_its_form(web: Web, secret: str, status: int) -> None:
    fields = {"secret": {"type": "string", "format": "password"}}
    async with web.asked(form_params({"properties": fields})) as question:
        data = {"f0": secret, "action": "review"}
        # Without a redirect, Back leads to a page of the browser that asks whether to send the form again.
        assert (await web.client.post(f"/{question.id}", data=data, headers=OWN)).status_code == status


async def test_without_javascript_a_page_is_reloaded_when_its_request_expires(web: Web) -> None:
    async with web.asked() as question:
        page = await web.get(f"/{question.id}")
        again = re.findall(r'<noscript><meta http-equiv="refresh" content="(\d+)"></noscript>', page.html)
        assert 400 < int(again[0]) <= 441  # 40 s for each of the eleven fields
        await web.fill(question, "decline")
        assert "refresh" not in (await web.get(f"/{question.id}")).html


@pytest.mark.parametrize(("seconds", "pattern"), [(600, "%H:%M:%S UTC"), (300_000, "%Y-%m-%d %H:%M:%S UTC")])
async def test_without_javascript_the_time_is_shown_with_its_date_if_that_is_days_ahead(
    seconds: int, pattern: str
) -> None:
    inbox = Inbox(MemoryStore(), answer_timeout=seconds)
    app = inbox_app(inbox, lambda _: "ann")
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=HOST) as client:
        web = Web(client, inbox, app)
        async with web.asked() as question:
            expires_at = (await inbox.get("ann", question.id)).expires_at
            for path in ("/", f"/{question.id}"):
                assert f"Expires at {expires_at.strftime(pattern)}<" in (await web.get(path)).html


async def test_the_page_of_a_single_request_has_no_link_to_a_list() -> None:
    inbox = Inbox(MemoryStore())
    app = inbox_app(inbox, lambda _: "ann", single_request=True)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=HOST) as client:
        web = Web(client, inbox, app)
        async with web.asked() as question:
            page = await web.get(f"/{question.id}")
            assert "data-alone" in page.all("main")[0]
            assert "Select Cancel if you do not want to answer." in page.html
            done = await web.fill(question, "decline")
            again = await web.get(f"/{question.id}")
    for end in (done, again):
        assert end.all("a") == []
        assert "You can close this page." in end.text


async def test_the_host_can_replace_the_texts_of_the_pages() -> None:
    inbox = Inbox(MemoryStore())
    catalog = MessageCatalog(overrides={messages.REVIEW.text: "Weiter", FIELD_ERRORS["required"].text: "Fehlt."})
    app = inbox_app(inbox, lambda _: "ann", messages=catalog)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=HOST) as client:
        web = Web(client, inbox, app)
        async with web.asked() as question:
            assert "Weiter" in (await web.get(f"/{question.id}")).text
            assert "Fehlt." in (await web.fill(question, "review")).text


async def test_the_texts_for_the_script_of_the_pages_are_looked_up_once() -> None:
    looked_up: list[Message] = []

    class CountingCatalog(MessageCatalog):
        def text(self, message: Message, /, **parameters: object) -> str:
            looked_up.append(message)
            return super().text(message, **parameters)

    environment.cache_clear()
    inbox = Inbox(MemoryStore())
    catalog = CountingCatalog(overrides={messages.DRAFT_SAVED.text: "Kept at {time}."})
    app = inbox_app(inbox, lambda _: "ann", messages=catalog)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=HOST) as client:
        web = Web(client, inbox, app)
        async with web.asked() as question:
            pages = [await web.get(f"/{question.id}") for _ in range(2)]
    for page in pages:
        assert page.all("main", **{"data-saved-text": "Kept at {time}.", "data-max-body": str(MAX_BODY_BYTES)})
    assert looked_up.count(messages.DRAFT_SAVED) == 1
    assert looked_up.count(messages.REVIEW) == 2


async def test_typed_text_means_the_same_as_in_other_user_interfaces(web: Web) -> None:
    properties = {
        "tags": {"type": "array", "items": {"type": "string"}, "default": ["a,b"]},
        "day": {"type": "string", "format": "date"},
        "note": {"type": "string"},
        "count": {"type": "number"},
    }
    async with web.asked(form_params({"properties": properties})) as question:
        page = await web.get(f"/{question.id}")
        assert "&#34;a,b&#34;</textarea>" in page.html
        wrong = await web.fill(question, "review", f3="1_000")
        assert "Enter a number" in wrong.text
        await web.fill(question, "accept", f0="x, y", f1="2026-1-5", f2="  ", f3=" 2.50 ")
        assert (await question.over()).content == {"tags": ["x", "y"], "day": "2026-01-05", "count": 2.5}


# --- events


@asynccontextmanager
async def events_of(app: Any) -> AsyncIterator[list[str]]:
    """Provide the parts of the body of ``GET /events`` as they arrive; the client disconnects at the end."""
    sent: list[str] = []
    leaves = anyio.Event()
    headers = [(b"x-user", b"ann"), (b"host", b"app.example")]
    scope = {"type": "http", "method": "GET", "path": "/events", "query_string": b"", "headers": headers}

    async def receive() -> Any:
        await leaves.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message.get("body", b"").decode())

    async with anyio.create_task_group() as group:
        group.start_soon(app, scope, receive, send)
        yield sent
        leaves.set()


async def states_in(sent: list[str], count: int) -> list[str]:
    with anyio.fail_after(60):
        while True:
            found = re.findall(r'"state":"(\w+)"', "".join(sent))
            if len(found) >= count:
                return found
            await anyio.lowlevel.checkpoint()


async def test_events_contain_pending_requests_and_changes_until_the_client_disconnects(web: Web) -> None:
    async with web.asked() as question, events_of(web.app) as sent:
        assert await states_in(sent, 1) == ["pending"]
        await web.fill(question, "accept", **GOOD)
        assert await states_in(sent, 2) == ["pending", "answered"]

    assert "event: entry\n" in "".join(sent)
    assert "Ann" not in "".join(sent)


async def test_events_leave_out_a_request_that_cannot_be_read() -> None:
    store = MemoryStore()
    inbox = Inbox(store)
    async with asking(inbox, request({"message": "Damaged"})):
        (damaged,) = await pending(inbox)
        stored = store._requests[damaged.id]
        store._requests[damaged.id] = stored._replace(request=stored.request.replace('"mode":"form"', '"mode":"fax"'))
        async with (
            asking(inbox, request({"message": "Whole"})),
            events_of(inbox_app(inbox, lambda _: "ann")) as sent,
        ):
            assert await states_in(sent, 1) == ["pending"]

    assert damaged.id not in "".join(sent)


async def test_events_that_end_because_of_another_key_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    store = MemoryStore()
    inbox = Inbox(store, b"1" * 32)
    app = inbox_app(Inbox(store, b"2" * 32), lambda _: "ann")
    async with asking(inbox):
        await pending(inbox)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=HOST) as client:
            with anyio.fail_after(60):
                await client.get("/events")

    (logged,) = caplog.messages
    assert logged.startswith(
        "A stream of the inbox ended. The inbox contains data that was not encrypted with this key"
    )


async def test_the_events_end_after_some_time_so_that_the_user_is_authenticated_again(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "MAX_DURATION", 0.01)
    with anyio.fail_after(60):
        assert (await web.client.get("/events")).status_code == 200


async def test_a_head_request_for_the_events_ends_at_once(web: Web) -> None:
    with anyio.fail_after(60):
        reply = await web.client.head("/events")

    assert (reply.status_code, reply.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")


async def test_a_client_that_leaves_while_it_sends_a_body_is_no_error_of_the_app(web: Web) -> None:
    headers = [(b"content-type", b"application/x-www-form-urlencoded"), (b"x-user", b"ann"), (b"host", b"app.example")]
    headers.append((b"origin", HOST.encode()))
    async with web.asked() as question:
        scope = {"type": "http", "method": "POST", "path": f"/{question.id}", "query_string": b"", "headers": headers}
        received = iter([{"type": "http.request", "body": b"f0=A", "more_body": True}, {"type": "http.disconnect"}])

        async def receive() -> Any:
            return next(received)

        async def send(_message: Any) -> None:
            pass

        await web.app(scope, receive, send)


async def test_a_body_whose_length_has_thousands_of_digits_is_too_long(web: Web) -> None:
    async with web.asked() as question:
        headers = {"content-type": "application/json", "content-length": "9" * 5_000}
        assert (await web.client.post(f"/{question.id}", content=b"{}", headers=headers)).status_code == 413


async def test_a_trailing_slash_is_not_redirected(web: Web) -> None:
    async with web.asked() as question:
        assert (await web.client.get(f"/{question.id}/")).status_code == 404


@pytest.mark.parametrize(("first", "direction"), [("شاي", "rtl"), ("Tea", "ltr"), ("10", "rtl"), ("תה", "rtl")])
@pytest.mark.parametrize("is_required", [True, False])
async def test_a_long_list_has_the_direction_of_its_first_word(
    web: Web, first: str, direction: str, is_required: bool
) -> None:
    drink = {"type": "string", "enum": [first, *(f"قهوة {at}" for at in range(20))]}
    async with web.asked(form_params({"properties": {"a": drink}, "required": ["a"] * is_required})) as question:
        (select,) = (await web.get(f"/{question.id}")).all("select")
    # With `auto`, browsers look through all options again for each one that they read.
    assert select["dir"] == direction


async def test_ten_thousand_options_are_answered_without_javascript(web: Web) -> None:
    limits = Limits(max_options=20_000, max_request=2_000_000, max_answer=100_000)
    async with web.asked(MANY, limits=limits) as question:
        page = await web.get(f"/{question.id}")
        assert len(page.all("option")) == 20_001
        assert "multiple" in page.all("select", id="f1")[0]
        review = await web.fill(question, "review", f0="9999", f1=["9997", "9999"])
        assert "Zurich, Zug" in review.text
        await web.fill(question, "accept", f0="9999", f1=["9997", "9999"])
        assert (await question.over()).content == {"one": "Town 9999", "any": ["Zurich", "Zug"]}


# --- templates


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_compiled_templates_are_kept_where_python_keeps_bytecode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write() -> str:
        environment.cache_clear()
        return (
            environment(ENGLISH, single_request=False)
            .get_template("history.html")
            .render(page=EntryPage(entries=()), rows=[])
        )

    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    first = write()
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    assert write() == first
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(kept) == 3  # the page, its base template and its parts
    before = {path: path.stat().st_mtime_ns for path in kept}
    assert write() == first
    assert {path: path.stat().st_mtime_ns for path in kept} == before
    for path in kept:
        contents = path.read_bytes()
        other_version = marshal.dumps((b"", *marshal.loads(contents)[1:]))
        other_template = marshal.dumps((*marshal.loads(contents)[:1], "", compile("", path, "exec")))
        for wrong in (contents[:40], b"", marshal.dumps(1), other_version, other_template):
            path.write_bytes(wrong)
            assert write() == first
            assert path.read_bytes() != wrong
    environment.cache_clear()


# --- extras


def test_an_app_loads_the_openapi_description_only_for_who_asks_for_it() -> None:
    made = "from mcp_elicit_client.inbox import Inbox, MemoryStore, web; web.inbox_app(Inbox(MemoryStore()), str)"
    code = f"import sys; {made}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)

    loaded = {name for name in run.stdout.split() if name.startswith("mcp_elicit_client.inbox.web.")}
    assert "mcp_elicit_client.inbox.web.endpoints" in loaded
    assert "mcp_elicit_client.inbox.web.openapi" not in loaded


@pytest.mark.parametrize("module", ["jinja2", "starlette.applications"])
async def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"mcp-elicit-client\[browser\]"):
        inbox_app(Inbox(MemoryStore()), lambda _: None)
