"""The webhook: real HTTP on this machine, and endpoints that are slow, dead, lying or elsewhere."""

from __future__ import annotations

import base64
import gzip
import importlib.util
import json
import logging
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import httpx
import pytest
import standardwebhooks
import uvicorn
from starlette.requests import Request as WebRequest
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse

from mcp_elicit_client import Answer, ElicitationRegistry, Limits, parse_request
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.calls._connect import Command, connect
from mcp_elicit_client.handlers.webhook import (
    DeferredAnswers,
    SignatureError,
    WebhookHandler,
    generate_secret,
    sign,
    verify_signature,
    webhook_authenticator,
)
from mcp_elicit_client.handlers.webhook.delivery import pause_before
from mcp_elicit_client.inbox import Inbox, InboxError, MemoryStore, SqliteStore
from mcp_elicit_client.inbox.web import inbox_app
from tests.support import DEMO, ROOT, form_params, read_line

pytestmark = pytest.mark.anyio

SECRET = generate_secret()
OTHER = generate_secret()
MARK = "\x1b[2Jevil-4711"
"""What lying endpoints put wherever they can."""

FORM = form_params(
    {"properties": {"city": {"type": "string", "maxLength": 9}, "n": {"type": "integer"}}, "required": ["city"]},
    "Where to?",
)
PATTERN = form_params({"properties": {"city": {"type": "string", "pattern": "^[A-Z]+$"}}, "required": ["city"]})
URL = {"mode": "url", "message": "Pay", "url": "https://pay.example/", "elicitationId": "e"}
GOOD = {"action": "accept", "content": {"city": "Bern"}}

Step = Callable[[WebRequest, bytes], Awaitable[Response]]


def request(params: Any = FORM, **details: Any) -> Any:
    return parse_request(params, server="travel", **details)


def at_once(_attempt: int) -> float:
    return 0.0


# --- endpoints


class Endpoint:
    """A webhook that takes one scripted step for each request, and repeats the last one."""

    def __init__(self, url: str, steps: tuple[Step, ...]) -> None:
        self.url = url
        self.steps = steps
        self.seen: list[tuple[dict[str, str], bytes]] = []
        self.arrived = threading.Event()
        self.left = threading.Event()

    @property
    def messages(self) -> list[Any]:
        return [json.loads(body) for _, body in self.seen]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        web = WebRequest(scope, receive)
        body = await web.body()
        self.seen.append((dict(web.headers), body))
        step = self.steps[min(len(self.seen), len(self.steps)) - 1]
        self.arrived.set()
        web.state.endpoint = self
        await (await step(web, body))(scope, receive, send)


class Host:
    """A real HTTP server in a thread of its own, with an endpoint at every path."""

    def __init__(self) -> None:
        self.apps: dict[str, Any] = {}
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.origin = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        config = uvicorn.Config(self, log_level="critical", lifespan="off", timeout_graceful_shutdown=0)
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.listener]})

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        first = scope["path"].split("/")[1]
        await self.apps[first]({**scope, "root_path": f"/{first}"}, receive, send)

    def endpoint(self, *steps: Step) -> Endpoint:
        name = f"e{len(self.apps)}"
        self.apps[name] = Endpoint(f"{self.origin}/{name}", steps)
        endpoint: Endpoint = self.apps[name]
        return endpoint

    def mount(self, app: Any) -> str:
        name = f"a{len(self.apps)}"
        self.apps[name] = app
        return f"{self.origin}/{name}"


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    host = Host()
    host.thread.start()
    yield host
    host.server.should_exit = True
    host.thread.join()
    host.listener.close()


def replying(
    data: dict[str, Any] | None = None,
    *,
    secret: str = SECRET,
    message_id: str | None = None,
    age: float = 0,
    body: bytes | None = None,
    headers: dict[str, str] | None = None,
    status: int = 200,
    kind: str = "elicitation.answered",
    purpose: Any = "answer",
) -> Step:
    """Answer with *data*, signed unless the arguments change that."""

    async def step(web: WebRequest, _asked: bytes) -> Response:
        asked_id = web.headers["webhook-id"]
        said = json.dumps({"type": kind, "data": {"id": asked_id, **(data or {})}}).encode() if body is None else body
        signed = sign(said, message_id or asked_id, secret, purpose=purpose, now=time.time() - age)
        return Response(said, status, {**signed, "content-type": "application/json", **(headers or {})})

    return step


def status(code: int, **headers: str) -> Step:
    async def step(_web: WebRequest, _asked: bytes) -> Response:
        return Response(MARK, code, {name.replace("_", "-"): value for name, value in headers.items()})

    return step


async def unsigned(web: WebRequest, _asked: bytes) -> Response:
    data = {"id": web.headers["webhook-id"], **GOOD}
    return JSONResponse({"type": "elicitation.answered", "data": data})


async def echoing(web: WebRequest, asked: bytes) -> Response:
    """Echo the request with its signature."""
    signed = {name: web.headers[name] for name in ("webhook-id", "webhook-timestamp", "webhook-signature")}
    return Response(asked, 200, {**signed, "content-type": "application/json"})


async def holding(web: WebRequest, _asked: bytes) -> Response:
    """Do not respond until the client disconnects."""
    while (await web.receive())["type"] != "http.disconnect":
        pass
    web.state.endpoint.left.set()
    return Response()


async def trickling(_web: WebRequest, _asked: bytes) -> Response:
    """Send the response byte by byte without end."""

    async def parts() -> AsyncIterator[bytes]:
        yield b'{"type"'
        await anyio.sleep_forever()

    return StreamingResponse(parts(), headers={"content-type": "application/json"})


async def breaking_off(_web: WebRequest, _asked: bytes) -> Response:
    async def parts() -> AsyncIterator[bytes]:
        yield b'{"type"'
        raise ConnectionError

    return StreamingResponse(parts(), headers={"content-type": "application/json"})


async def flooding(web: WebRequest, _asked: bytes) -> Response:
    """Send large parts without end."""

    async def parts() -> AsyncIterator[bytes]:
        try:
            while True:
                yield b" " * 65_536
                await anyio.lowlevel.checkpoint()
        finally:
            web.state.endpoint.left.set()

    return StreamingResponse(parts(), headers={"content-type": "application/json"})


@contextmanager
def closing_server() -> Iterator[tuple[str, list[bytes]]]:
    """Accept connections, read, and disconnect."""
    seen: list[bytes] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                seen.append(connection.recv(65_536))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/", seen
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


async def until(event: threading.Event) -> None:
    assert await anyio.to_thread.run_sync(event.wait, 10)


@asynccontextmanager
async def asked(handler: WebhookHandler, params: Any = FORM, **more: Any) -> AsyncIterator[Any]:
    """Ask in a background task, which is cancelled at the end of the block."""
    outcome: list[Answer] = []
    over = anyio.Event()

    async def ask() -> None:
        outcome.append(await handler(request(params, **more)))
        over.set()

    async def answer() -> Answer:
        with anyio.fail_after(60):
            await over.wait()
        return outcome[0]

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        yield answer
        group.cancel_scope.cancel()


JSON = {"content-type": "application/json"}


def signed_json(body: bytes, secret: str = SECRET, **options: Any) -> dict[str, str]:
    return {**JSON, **sign(body, "q1", secret, **options)}


# --- signatures


def test_other_libraries_accept_the_signatures() -> None:
    theirs = standardwebhooks.Webhook(SECRET)

    assert theirs.verify(b'{"a": 1}', sign(b'{"a": 1}', "q_1", SECRET)) == {"a": 1}
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        theirs.verify(b'{"a": 1}', sign(b'{"a": 1}', "q_1", OTHER))


def test_the_signatures_of_other_libraries_are_accepted() -> None:
    now = datetime.now(timezone.utc)
    headers = {
        "Webhook-Id": "q_1",
        "Webhook-Timestamp": str(int(now.timestamp())),
        "Webhook-Signature": standardwebhooks.Webhook(SECRET).sign("q_1", now, "{}"),
    }

    assert verify_signature(b"{}", headers, SECRET) == "q_1"


def test_the_example_of_the_svix_documentation_has_the_same_signature() -> None:
    body = b'{"test": 2432232314}'
    signed = sign(body, "msg_p5jXN8AQM9LWM0D4loKWxJek", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", now=1614265330)

    assert signed["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_both_secrets_are_valid_during_a_rotation() -> None:
    signed = sign(b"{}", "q", [OTHER, SECRET])

    assert verify_signature(b"{}", signed, OTHER) == verify_signature(b"{}", signed, SECRET) == "q"
    assert verify_signature(b"{}", sign(b"{}", "q", OTHER), [SECRET, OTHER]) == "q"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"webhook-id": None}, "not signed"),
        ({"webhook-timestamp": None}, "not signed"),
        ({"webhook-signature": None}, "not signed"),
        ({"webhook-id": "q2"}, "wrong"),
        ({"webhook-id": "q.1"}, "malformed"),
        ({"webhook-id": ""}, "malformed"),
        ({"webhook-id": "q" * 257}, "malformed"),
        ({"webhook-timestamp": "1000000001"}, "wrong"),
        ({"webhook-timestamp": "1e9"}, "malformed"),
        ({"webhook-timestamp": "-5"}, "malformed"),
        ({"webhook-timestamp": "٣"}, "malformed"),
        ({"webhook-timestamp": "9" * 400}, "malformed"),
        ({"webhook-signature": ""}, "wrong"),
        ({"webhook-signature": "v1,"}, "wrong"),
        ({"webhook-signature": "v1,AAAA v1a,AAAA"}, "wrong"),
        ({"webhook-signature": "v1,\udc80ü"}, "wrong"),
        ({"webhook-signature": "x " * 20}, "wrong"),
    ],
)
def test_a_modified_message_is_refused(change: dict[str, str | None], why: str) -> None:
    headers: dict[str, Any] = {**sign(b"{}", "q1", SECRET, now=1e9), **change}

    with pytest.raises(SignatureError, match=why):
        verify_signature(b"{}", {name: value for name, value in headers.items() if value is not None}, SECRET, now=1e9)


def test_an_ambiguous_id_is_not_signed() -> None:
    with pytest.raises(ValueError, match="message ID"):
        sign(b"{}", "q.1", SECRET)


def test_another_body_is_refused() -> None:
    with pytest.raises(SignatureError, match="wrong"):
        verify_signature(b"{} ", sign(b"{}", "q", SECRET), SECRET)


@pytest.mark.parametrize(("late", "taken"), [(-301, False), (-300, True), (0, True), (300, True), (301, False)])
def test_a_message_that_is_too_old_or_too_early_is_refused(late: int, taken: bool) -> None:
    signed = sign(b"{}", "q", SECRET, now=1e9)

    if taken:
        assert verify_signature(b"{}", signed, SECRET, now=1e9 + late) == "q"
    else:
        with pytest.raises(SignatureError, match="too old"):
            verify_signature(b"{}", signed, SECRET, now=1e9 + late)


@pytest.mark.parametrize(
    "secrets",
    [
        "",
        [],
        "whsec_",
        "whsec_!!!!",
        "whsec_" + base64.b64encode(b"k" * 23).decode(),
        "whsec_" + base64.b64encode(b"k" * 65).decode(),
        [SECRET, "hunter2hunter2hunter2hunter2"],
    ],
)
def test_an_invalid_secret_is_refused_and_not_quoted(secrets: Any) -> None:
    with pytest.raises(ValueError, match="secret") as caught:
        WebhookHandler("https://hook.example/", secrets)
    assert "hunter2" not in str(caught.value)
    with pytest.raises(ValueError, match="secret"):
        webhook_authenticator(secrets)


# --- a request and its answer


async def test_the_request_is_signed_and_the_answer_is_returned(host: Host) -> None:
    endpoint = host.endpoint(replying(GOOD))

    answer = await WebhookHandler(endpoint.url, SECRET)(request({**FORM, "_meta": {"private": 1}}))

    assert (answer.action, answer.content, answer.by) == ("accept", {"city": "Bern"}, "user")
    assert (answer.sources, answer.reason) == ({"city": "user"}, "answered by the webhook at 127.0.0.1")
    [(headers, body)] = endpoint.seen
    message = json.loads(body)
    assert verify_signature(body, headers, SECRET) == message["data"]["id"]
    assert headers["idempotency-key"] == f'"{message["data"]["id"]}"'
    assert message["type"] == "elicitation.asked"
    assert message["data"]["request"]["message"] == "Where to?"
    assert message["data"]["request"]["server"]["name"] == "travel"
    assert message["data"]["answer_schema"]["required"] == ["city"]
    assert message["data"]["answer_url"] is None
    assert b"private" not in body
    left = datetime.fromisoformat(message["data"]["request"]["deadline"]) - datetime.now(timezone.utc)
    assert timedelta(seconds=200) < left <= timedelta(seconds=240)


@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
async def test_a_url_is_answered_without_content(host: Host, action: str) -> None:
    endpoint = host.endpoint(replying({"action": action, "content": {"x": "y"}}))

    answer = await WebhookHandler(endpoint.url, SECRET)(request(URL))

    assert (answer.action, answer.content, answer.by) == (action, None, "user")
    assert endpoint.messages[0]["data"]["answer_schema"] is None


SUGGESTED = form_params(
    {
        "properties": {
            "city": {"type": "string", "default": "Bern"},
            "hotel": {"type": "string", "default": "Savoy"},
            "insured": {"type": "boolean", "default": True},
        }
    }
)


@pytest.mark.parametrize("way", ["response", "response with an inbox", "later"])
async def test_values_that_were_suggested_are_defaults_however_the_webhook_answers(host: Host, way: str) -> None:
    given = {"action": "accept", "content": {"city": "Bern", "hotel": "Ritz", "insured": True}}
    inboxed, endpoint = Inboxed(host), host.endpoint(status(202) if way == "later" else replying(given))
    handler = WebhookHandler(endpoint.url, SECRET) if way == "response" else inboxed.handler(endpoint)

    async with asked(handler, request(SUGGESTED)) as answer:
        if way == "later":
            await inboxed.post(endpoint, given)
        got = await answer()

    # Nobody suggests a yes to the user, so a yes was chosen.
    assert (got.by, got.sources) == ("user", {"city": "default", "hotel": "user", "insured": "user"})


async def test_a_webhook_may_answer_by_policy(host: Host) -> None:
    answer = await WebhookHandler(host.endpoint(replying({**GOOD, "by": "policy"})).url, SECRET)(request())

    assert (answer.by, answer.sources) == ("policy", {"city": "policy"})


@pytest.mark.parametrize("can_block", [True, False])
async def test_a_block_applies_only_if_the_request_allows_it(host: Host, can_block: bool) -> None:
    endpoint = host.endpoint(replying({"action": "decline", "block_server": True}))
    question = request().model_copy(update={"can_block": can_block})

    assert (await WebhookHandler(endpoint.url, SECRET)(question)).block_server is can_block


async def test_larger_limits_of_the_request_apply_to_the_answer(host: Host) -> None:
    content = {"city": "Bern", "n": 2**57}
    endpoint = host.endpoint(replying({"action": "accept", "content": content}))
    question = request(limits=Limits(max_integer=2**60))

    assert (await WebhookHandler(endpoint.url, SECRET)(question)).content == content


async def test_undeclared_values_are_omitted(host: Host) -> None:
    endpoint = host.endpoint(replying({"action": "accept", "content": {"city": "Bern", "password": "x"}}))

    assert (await WebhookHandler(endpoint.url, SECRET)(request())).content == {"city": "Bern"}


# --- invalid replies

BOMB = gzip.compress(b" " * 50_000_000)

LIES: dict[str, tuple[Step, str]] = {
    "unsigned": (unsigned, "not signed"),
    "other-secret": (replying(GOOD, secret=OTHER), "signature is wrong"),
    "other-message": (replying(GOOD, message_id="q2"), "for another request"),
    "other-question": (replying({**GOOD, "id": "q2"}), "not a valid answer"),
    "old": (replying(GOOD, age=400), "too old"),
    "early": (replying(GOOD, age=-400), "too old"),
    "our-own-question": (echoing, "signature is wrong"),
    "signed-as-a-question": (replying(GOOD, purpose="question"), "signature is wrong"),
    "other-type": (replying(GOOD, kind="elicitation.asked"), "not a valid answer"),
    "no-json": (replying(body=MARK.encode()), "not a valid answer"),
    "empty": (replying(body=b""), "not a valid answer"),
    "not-utf-8": (replying(body=b'{"type": "\xff"}'), "not a valid answer"),
    "list": (replying(body=b"[]"), "not a valid answer"),
    "deep": (replying(body=b"[" * 60_000), "not a valid answer"),
    "html": (replying(GOOD, headers={"content-type": "text/html"}), "not JSON"),
    "other-action": (replying({"action": MARK}), "not a valid answer"),
    "no-action": (replying({"content": {"city": "Bern"}}), "not a valid answer"),
    "action-by-error": (replying({**GOOD, "by": "error"}), "not a valid answer"),
    "yes-to-secrets": (replying({**GOOD, "confirmed": "yes"}), "not a valid answer"),
    "content-is-a-text": (replying({"action": "accept", "content": MARK}), "not a valid answer"),
    "content-is-nested": (replying({"action": "accept", "content": {"city": {"a": MARK}}}), "not a valid answer"),
    "content-missing": (replying({"action": "accept"}), "does not fit the form: required"),
    "content-too-long": (
        replying({"action": "accept", "content": {"city": MARK}}),
        "does not fit the form: max_length",
    ),
    "content-of-wrong-type": (replying({"action": "accept", "content": {"city": 1}}), "does not fit the form: type"),
    "huge": (flooding, "longer than 65536 bytes"),
    "huge-and-signed": (replying(body=b" " * 65_537), "longer than 65536 bytes"),
    "bomb": (replying(body=BOMB, headers={"content-encoding": "gzip"}), "compressed"),
    "small-but-compressed": (replying(body=gzip.compress(b"{}"), headers={"content-encoding": "gzip"}), "compressed"),
    **{f"status-{code}": (replying(GOOD, status=code), f"refused the request (status {code})") for code in (201, 206)},
    **{
        f"status-{code}": (status(code), f"refused the request (status {code})")
        for code in (204, 400, 401, 403, 404, 410, 501)
    },
    "later-without-inbox": (status(202), "answers later"),
}


@pytest.mark.parametrize(("lie", "why"), LIES.values(), ids=LIES)
async def test_an_invalid_reply_is_a_cancel_without_a_retry(
    host: Host, lie: Step, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint = host.endpoint(lie)

    answer = await WebhookHandler(endpoint.url, SECRET, pause=at_once)(request())

    assert (answer.action, answer.content, answer.by) == ("cancel", None, "error")
    assert why in answer.reason
    assert "evil" not in answer.reason + caplog.text
    assert len(endpoint.seen) == 1


async def test_an_answer_that_does_not_match_a_pattern_is_a_cancel(host: Host) -> None:
    endpoint = host.endpoint(replying(GOOD))

    answer = await WebhookHandler(endpoint.url, SECRET)(request(PATTERN))

    assert (answer.action, answer.reason) == ("cancel", "the answer does not fit the form: pattern")


async def test_an_endless_reply_is_cut_off(host: Host) -> None:
    endpoint = host.endpoint(flooding)

    await WebhookHandler(endpoint.url, SECRET)(request())

    await until(endpoint.left)


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("shared", [False, True])
async def test_a_redirect_is_not_followed(host: Host, code: int, shared: bool) -> None:
    elsewhere = host.endpoint(replying(GOOD))

    async def redirecting(_web: WebRequest, _asked: bytes) -> Response:
        return RedirectResponse(elsewhere.url.replace("127.0.0.1", "localhost"), code)

    endpoint = host.endpoint(redirecting)
    async with httpx.AsyncClient(follow_redirects=True, trust_env=False) as client:
        handler = WebhookHandler(endpoint.url, SECRET, client=client if shared else None)
        answer = await handler(request())

    assert (answer.action, answer.by) == ("cancel", "error")
    assert f"redirects (status {code})" in answer.reason
    assert (len(endpoint.seen), elsewhere.seen) == (1, [])


# --- retries


async def test_an_overloaded_webhook_gets_the_request_again_with_the_same_id(host: Host) -> None:
    endpoint = host.endpoint(status(503), status(429, retry_after="0"), status(502), breaking_off, replying(GOOD))

    answer = await WebhookHandler(endpoint.url, SECRET, pause=at_once)(request())

    assert answer.content == {"city": "Bern"}
    assert len(endpoint.seen) == 5
    assert len({headers["webhook-id"] for headers, _ in endpoint.seen}) == 1
    assert len({headers["idempotency-key"] for headers, _ in endpoint.seen}) == 1
    assert len({body for _, body in endpoint.seen}) == 1


async def test_each_attempt_is_signed_anew(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = host.endpoint(status(503), status(503), replying(GOOD, age=-1_000))
    clock = iter(range(1_000_000_000, 2_000_000_000, 500))
    monkeypatch.setattr("mcp_elicit_client.handlers.webhook.signatures.time.time", lambda: next(clock))

    await WebhookHandler(endpoint.url, SECRET, pause=at_once)(request())

    times = [int(headers["webhook-timestamp"]) for headers, _ in endpoint.seen]
    assert times == sorted(set(times))
    assert len({headers["webhook-signature"] for headers, _ in endpoint.seen}) == 3


async def test_the_request_is_cancelled_after_the_last_attempt(host: Host) -> None:
    endpoint = host.endpoint(status(500))

    answer = await WebhookHandler(endpoint.url, SECRET, attempts=3, pause=at_once)(request())

    assert answer.reason == "the webhook could not answer (status 500) (3 attempts)"
    assert (answer.action, answer.by, len(endpoint.seen)) == ("cancel", "error", 3)


async def test_an_unreachable_webhook_is_a_cancel() -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        url = f"http://127.0.0.1:{gone.getsockname()[1]}/"

    answer = await WebhookHandler(url, SECRET, attempts=2, pause=at_once)(request())

    assert (answer.action, answer.by) == ("cancel", "error")
    assert answer.reason == "the webhook could not be reached (2 attempts)"


async def test_a_webhook_that_disconnects_is_retried_and_then_a_cancel() -> None:
    with closing_server() as (url, seen):
        answer = await WebhookHandler(url, SECRET, attempts=2, pause=at_once)(request())

        assert (answer.action, answer.by, len(seen)) == ("cancel", "error", 2)
        assert "disconnected" in answer.reason


@pytest.mark.parametrize("after", ["3600", "Fri, 31 Dec 2100 23:59:59 GMT", "999999999999999999999"])
async def test_a_pause_beyond_the_deadline_is_a_cancel(host: Host, after: str) -> None:
    endpoint = host.endpoint(status(503, retry_after=after))

    with anyio.fail_after(60):
        answer = await WebhookHandler(endpoint.url, SECRET, answer_timeout=60, pause=at_once)(request())

    assert (answer.action, answer.by, len(endpoint.seen)) == ("cancel", "error", 1)


@pytest.mark.parametrize(
    "after",
    [
        "",
        "soon",
        "-5",
        "٣",
        "Fri, 31 Dec 1999 23:59:59 GMT",
        "Fri, 31 Dec 1999 23:59:59",
        f"Fri, 31 Dec {'9' * 20} 23:59:59 GMT",
        f"Fri, 31 Dec 1999 23:59:59 +{'9' * 20}",
    ],
)
async def test_an_invalid_retry_after_is_ignored(host: Host, after: str) -> None:
    raw = after.encode("latin-1", "ignore").decode("latin-1")
    endpoint = host.endpoint(status(503, retry_after=raw), replying(GOOD))

    assert (await WebhookHandler(endpoint.url, SECRET, pause=at_once)(request())).action == "accept"


def test_pauses_double_up_to_a_maximum() -> None:
    longest = [max(pause_before(attempt) for _ in range(200)) for attempt in range(1, 12)]
    shortest = [min(pause_before(attempt) for _ in range(200)) for attempt in range(1, 12)]

    for attempt, bound in enumerate((0.5, 1, 2, 4, 8, 16, 30, 30, 30, 30, 30)):
        assert bound / 2 <= shortest[attempt] < longest[attempt] <= bound


# --- timeouts


@pytest.mark.parametrize("slow", [holding, trickling])
async def test_a_late_answer_is_a_timeout(host: Host, slow: Step) -> None:
    endpoint = host.endpoint(slow)

    answer = await WebhookHandler(endpoint.url, SECRET, answer_timeout=0.2)(request())

    assert (answer.action, answer.by, answer.reason) == ("cancel", "timeout", "the user did not answer in time")
    assert len(endpoint.seen) == 1


async def test_only_the_answer_timeout_limits_the_wait_for_a_connection_of_a_busy_client(host: Host) -> None:
    timeouts: list[Any] = []

    async def note(sent: httpx.Request) -> None:
        timeouts.append(sent.extensions["timeout"])

    async with httpx.AsyncClient(event_hooks={"request": [note]}, limits=httpx.Limits(max_connections=1)) as client:
        handler = WebhookHandler(host.endpoint(holding).url, SECRET, client=client, answer_timeout=0.2)
        async with anyio.create_task_group() as group:
            group.start_soon(handler, request())
            group.start_soon(handler, request())

    assert [(each["pool"], each["read"]) for each in timeouts] == [(None, None), (None, None)]


async def test_the_deadline_of_the_request_applies(host: Host) -> None:
    endpoint = host.endpoint(holding)
    soon = datetime.now(timezone.utc) + timedelta(seconds=0.2)

    answer = await WebhookHandler(endpoint.url, SECRET)(request().model_copy(update={"deadline": soon}))

    assert (answer.action, answer.by) == ("cancel", "timeout")
    assert endpoint.seen == [] or endpoint.messages[0]["data"]["request"]["deadline"] == soon.isoformat().replace(
        "+00:00", "Z"
    )


async def test_a_cancellation_closes_the_connection_and_notifies_the_webhook(host: Host) -> None:
    async def once(web: WebRequest, asked: bytes) -> Response:
        return await holding(web, asked) if b"asked" in asked else Response(status_code=202)

    endpoint = host.endpoint(once)
    async with asked(WebhookHandler(endpoint.url, SECRET, notify_closed=True)):
        await until(endpoint.arrived)

    await until(endpoint.left)
    question, notice = endpoint.messages
    assert notice["type"] == "elicitation.closed"
    assert notice["data"] == {"id": question["data"]["id"], "state": "withdrawn"}
    headers, body = endpoint.seen[1]
    assert verify_signature(body, headers, SECRET) != question["data"]["id"]


async def test_a_webhook_that_answered_is_not_notified(host: Host) -> None:
    endpoint = host.endpoint(replying(GOOD))

    await WebhookHandler(endpoint.url, SECRET, notify_closed=True)(request())

    assert len(endpoint.seen) == 1


# --- deferred answers


class Inboxed:
    """An inbox, its app on a real server, and a webhook that answers there."""

    def __init__(self, host: Host, **options: Any) -> None:
        self.inbox = Inbox(MemoryStore())
        self.url = host.mount(inbox_app(self.inbox, webhook_authenticator(SECRET, default_user="approvals")))
        self.later = DeferredAnswers(inbox=self.inbox, url=self.url, default_user="approvals")
        self.options = options

    def handler(self, endpoint: Endpoint, **options: Any) -> WebhookHandler:
        return WebhookHandler(endpoint.url, SECRET, deferred=self.later, pause=at_once, **options)

    async def post(self, endpoint: Endpoint, said: Any, secret: str = SECRET, **changes: Any) -> httpx.Response:
        await until(endpoint.arrived)
        data = endpoint.messages[0]["data"]
        body = json.dumps(said).encode()
        message_id, purpose = changes.get("message_id", data["id"]), changes.get("purpose", "answer")
        signed = sign(body, message_id, secret, purpose=purpose)
        headers = {"content-type": changes.get("content_type", "application/json"), "origin": self.url, **signed}
        async with httpx.AsyncClient(trust_env=False) as client:
            return await client.post(changes.get("url", data["answer_url"]), content=body, headers=headers)

    async def states(self) -> list[tuple[str, str]]:
        return [(entry.state, entry.answered_by) for entry in (await self.inbox.history("approvals")).entries]


async def test_a_deferred_answer_arrives_through_the_inbox(host: Host) -> None:
    inboxed, endpoint = Inboxed(host), host.endpoint(status(202))

    async with asked(inboxed.handler(endpoint, notify_closed=True)) as answer:
        wrong = await inboxed.post(endpoint, {"action": "accept", "content": {}})
        right = await inboxed.post(endpoint, GOOD)
        late = await inboxed.post(endpoint, {"action": "decline"})
        got = await answer()

    assert (wrong.status_code, right.status_code, late.status_code) == (422, 200, 409)
    assert (got.action, got.content, got.by) == ("accept", {"city": "Bern"}, "user")
    assert endpoint.messages[0]["data"]["answer_url"].startswith(inboxed.url)
    assert [message["type"] for message in endpoint.messages] == ["elicitation.asked", "elicitation.closed"]
    assert endpoint.messages[1]["data"]["state"] == "answered"


@pytest.mark.parametrize(
    ("secret", "changes"),
    [
        (OTHER, {}),
        (SECRET, {"message_id": "another"}),
        (SECRET, {"purpose": "question"}),
        (SECRET, {"content_type": "application/x-www-form-urlencoded"}),
        (SECRET, {"content_type": "multipart/form-data; boundary=x"}),
        (SECRET, {"content_type": "text/plain"}),
        (SECRET, {"content_type": ""}),
    ],
    ids=["another secret", "another question", "another purpose", "form", "multipart", "text", "no type"],
)
async def test_a_signature_gives_access_to_its_own_request_only(host: Host, secret: str, changes: Any) -> None:
    inboxed, endpoint = Inboxed(host), host.endpoint(status(202))

    async with asked(inboxed.handler(endpoint)):
        refused = await inboxed.post(endpoint, GOOD, secret, **changes)
        async with httpx.AsyncClient(trust_env=False) as client:
            listed = await client.get(f"{inboxed.url}/", headers=sign(b"", "list", SECRET))
        waiting = (await inboxed.inbox.list("approvals")).entries

    assert (refused.status_code, listed.status_code, len(waiting)) == (401, 401, 1)


async def test_the_log_says_why_a_signed_answer_was_refused(host: Host, caplog: pytest.LogCaptureFixture) -> None:
    inboxed, endpoint = Inboxed(host), host.endpoint(status(202))
    body = json.dumps(GOOD).encode()
    async with asked(inboxed.handler(endpoint)), httpx.AsyncClient(trust_env=False) as client:
        await until(endpoint.arrived)
        url = json.loads(endpoint.seen[0][1])["data"]["answer_url"]
        entry_id = url.rpartition("/")[2].partition("?")[0]
        late = sign(body, entry_id, SECRET, purpose="answer", now=time.time() - 400)
        for headers in (late, sign(body, "other", SECRET, purpose="answer"), {}):
            assert (await client.post(url, content=body, headers={**JSON, **headers})).status_code == 401

    refusals = [record.getMessage() for record in caplog.records if "refused" in record.getMessage()]
    assert refusals == [
        f"an answer that a webhook sent later was refused: {reason}"
        for reason in ("it is too old, or the clocks differ", "its ID is that of another request")
    ]


FORGED = {"message": "hi&action=accept&f0=ATTACKER&x=", "requestedSchema": {"properties": {"city": {"type": "string"}}}}


@pytest.mark.parametrize("content_type", ["application/json", "application/x-www-form-urlencoded", "text/plain"])
async def test_an_echoed_request_is_not_an_answer(host: Host, content_type: str) -> None:
    inboxed, endpoint = Inboxed(host), host.endpoint(status(202))

    async with asked(inboxed.handler(endpoint), request(FORGED)):
        await until(endpoint.arrived)
        headers, body = endpoint.seen[0]
        url = json.loads(body)["data"]["answer_url"]
        changed = {**headers, "content-type": content_type, "origin": inboxed.url}
        async with httpx.AsyncClient(trust_env=False) as client:
            replayed = await client.post(url, content=body, headers=changed)
        assert replayed.status_code in (401, 403)
        assert len((await inboxed.inbox.list("approvals")).entries) == 1

    assert await inboxed.states() == [("withdrawn", "client")]


async def test_an_answer_in_the_response_is_stored_in_the_inbox(host: Host) -> None:
    inboxed, endpoint = Inboxed(host), host.endpoint(replying({**GOOD, "by": "policy"}))

    answer = await inboxed.handler(endpoint)(request())

    assert (answer.content, answer.by) == ({"city": "Bern"}, "policy")
    assert await inboxed.states() == [("answered", "the webhook at 127.0.0.1")]


async def test_all_that_an_answer_in_the_response_says_is_kept_while_a_slow_inbox_stores_it(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    inboxed, endpoint = Inboxed(host), host.endpoint(replying({**GOOD, "by": "policy", "confirmed": True}))
    store = inboxed.inbox.answer

    async def store_slowly(*arguments: Any, **options: Any) -> Any:
        stored = await store(*arguments, **options)
        await anyio.wait_all_tasks_blocked()  # the task that waits in the inbox has its answer
        return stored

    monkeypatch.setattr(inboxed.inbox, "answer", store_slowly)
    answer = await inboxed.handler(endpoint)(request())

    assert (answer.content, answer.by, answer.confirmed) == ({"city": "Bern"}, "policy", True)


async def test_an_answer_in_the_inbox_closes_the_request_of_the_webhook(host: Host) -> None:
    inboxed, endpoint = Inboxed(host), host.endpoint(holding)

    async with asked(inboxed.handler(endpoint)) as answer:
        await until(endpoint.arrived)
        [entry] = (await inboxed.inbox.list("approvals")).entries
        await inboxed.inbox.answer("approvals", entry.id, "decline", answered_by="ann")
        got = await answer()
        await until(endpoint.left)

    assert (got.action, got.by, got.reason) == ("decline", "user", "answered by ann")


async def test_an_answer_in_the_inbox_is_not_lost_when_the_webhook_fails(host: Host, tmp_path: Path) -> None:
    async def answered_meanwhile(web: WebRequest, _asked: bytes) -> Response:
        elsewhere = Inbox(SqliteStore(tmp_path / "inbox.db"))  # as another process: the answer arrives later
        await elsewhere.answer("ann", web.headers["webhook-id"], "accept", {"city": "Bern"})
        await elsewhere.aclose()
        return Response(status_code=400)

    inbox, endpoint = Inbox(SqliteStore(tmp_path / "inbox.db")), host.endpoint(answered_meanwhile)
    later = DeferredAnswers(inbox=inbox, url="https://app.example/", default_user="ann")

    answer = await WebhookHandler(endpoint.url, SECRET, deferred=later)(request())
    await inbox.aclose()

    assert (answer.content, answer.by, answer.reason) == ({"city": "Bern"}, "user", "answered by ann")


async def test_the_first_answer_applies(host: Host) -> None:
    inboxed = Inboxed(host)

    async def overtaken(web: WebRequest, body: bytes) -> Response:
        await inboxed.inbox.answer("approvals", web.headers["webhook-id"], "decline", answered_by="ann")
        return await replying(GOOD)(web, body)

    got = await inboxed.handler(host.endpoint(overtaken))(request())

    assert (got.action, got.reason) == ("decline", "answered by ann")


@pytest.mark.parametrize(
    "dead", [status(404), status(500), status(302), replying({"action": "accept"}), unsigned, breaking_off]
)
async def test_a_failing_webhook_withdraws_the_request(host: Host, dead: Step) -> None:
    inboxed = Inboxed(host)

    answer = await inboxed.handler(host.endpoint(dead), attempts=2)(request())

    assert (answer.action, answer.by) == ("cancel", "error")
    assert await inboxed.states() == [("withdrawn", "client")]


async def test_a_cancellation_withdraws_the_request(host: Host) -> None:
    inboxed, endpoint = Inboxed(host), host.endpoint(status(202))

    async with asked(inboxed.handler(endpoint)):
        await until(endpoint.arrived)

    assert await inboxed.states() == [("withdrawn", "client")]


async def test_a_request_in_the_inbox_expires(host: Host) -> None:
    inboxed, endpoint = Inboxed(host), host.endpoint(status(202))

    answer = await inboxed.handler(endpoint, answer_timeout=0.2, notify_closed=True)(request())

    assert (answer.action, answer.by) == ("cancel", "timeout")
    assert endpoint.messages[-1]["data"].get("state") == "expired"


async def test_the_webhook_answers_for_the_user_of_each_request(host: Host) -> None:
    inboxed, endpoint = Inboxed(host), host.endpoint(status(202))
    asks = request().model_copy(update={"user": "ann & bob"})

    async with asked(inboxed.handler(endpoint), asks) as answer:
        await until(endpoint.arrived)
        (entry,) = (await inboxed.inbox.list("ann & bob")).entries
        assert (await inboxed.post(endpoint, GOOD)).status_code == 200
        assert (await answer()).content == {"city": "Bern"}

    assert endpoint.messages[0]["data"]["answer_url"] == f"{inboxed.url}/{entry.id}?user=ann+%26+bob"


async def test_the_request_of_one_user_is_not_found_as_that_of_another(host: Host) -> None:
    inboxed, endpoint = Inboxed(host), host.endpoint(status(202))

    async with asked(inboxed.handler(endpoint), request().model_copy(update={"user": "ann"})):
        await until(endpoint.arrived)
        url = endpoint.messages[0]["data"]["answer_url"]
        urls = [url.replace("user=ann", "user=bob"), url.partition("?")[0]]
        replies = [await inboxed.post(endpoint, GOOD, url=each) for each in urls]
        pending = (await inboxed.inbox.list("ann")).entries

    assert ([reply.status_code for reply in replies], len(pending)) == ([404, 404], 1)


async def test_a_request_without_a_user_is_cancelled_unless_there_is_a_default(host: Host) -> None:
    inboxed, endpoint = Inboxed(host), host.endpoint(replying(GOOD))
    later = DeferredAnswers(inbox=inboxed.inbox, url=inboxed.url)

    answer = await WebhookHandler(endpoint.url, SECRET, deferred=later)(request())

    assert (answer.action, answer.by, endpoint.seen) == ("cancel", "unattended", [])


async def test_a_request_is_cancelled_if_the_inbox_fails(host: Host, tmp_path: Path) -> None:
    endpoint = host.endpoint(replying(GOOD))
    inbox = Inbox(SqliteStore(tmp_path / "missing" / "inbox.db"))
    later = DeferredAnswers(inbox=inbox, url="https://app.example/", default_user="ann")

    answer = await WebhookHandler(endpoint.url, SECRET, deferred=later)(request())

    assert (answer.action, answer.by, endpoint.seen) == ("cancel", "error", [])


async def test_an_answer_that_cannot_be_stored_is_a_cancel(host: Host) -> None:
    class Failing(MemoryStore):
        async def get(self, owner: str, entry_id: str) -> Any:
            raise InboxError("the disk is full")

    later = DeferredAnswers(inbox=Inbox(Failing()), url="https://app.example/", default_user="ann")

    answer = await WebhookHandler(host.endpoint(replying(GOOD)).url, SECRET, deferred=later)(request())

    assert (answer.action, answer.by, answer.reason) == ("cancel", "error", "the disk is full")


async def test_a_failing_notification_changes_nothing(host: Host) -> None:
    endpoint = host.endpoint(status(202), status(500))

    answer = await WebhookHandler(endpoint.url, SECRET, notify_closed=True, pause=at_once)(request())

    assert (answer.action, answer.by) == ("cancel", "error")
    assert [message["type"] for message in endpoint.messages] == ["elicitation.asked", "elicitation.closed"]


# --- the URL


@pytest.mark.parametrize(
    "url",
    [
        "",
        "hook-4711",
        "/hook-4711",
        "ftp://hook-4711.example/",
        "http://hook-4711.example/",
        "http://127.0.0.1.hook-4711.example/",
        "http://10.0.0.1/hook-4711",
        "https://user:hook-4711@hook.example/",
        "https://hook-4711@hook.example/",
        "https:///hook-4711",
        "https://hook-4711:port/",
        "https://hook-4711.example:0/",
        "https://hook-4711.example:65536/",
        "https://hook-4711..example/",
        "https://hook-4711 example/",
        f"https://hook-4711.{'x' * 64}.example/",
        "file:///hook-4711",
    ],
)
def test_an_unsafe_url_is_refused_and_not_quoted(url: str) -> None:
    with pytest.raises(ValueError, match="webhook's URL") as caught:
        WebhookHandler(url, SECRET)
    assert "4711" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    ["https://hook.example/x", "https://bücher.example./", "http://localhost:1/", "http://127.1.2.3/", "http://[::1]/"],
)
def test_https_and_this_computer_are_safe(url: str) -> None:
    WebhookHandler(url, SECRET)


@pytest.mark.parametrize("url", ["", "/requests", "ftp://app.example/", "https://", "https://app.example:0/"])
def test_a_url_of_an_inbox_that_nobody_can_reach_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="URL of the inbox"):
        DeferredAnswers(inbox=Inbox(MemoryStore()), url=url)


@pytest.mark.parametrize("url", ["https://app.example/requests?tenant=1", "https://app.example/#/requests"])
def test_a_url_of_an_inbox_to_which_no_id_can_be_appended_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="query or fragment"):
        DeferredAnswers(inbox=Inbox(MemoryStore()), url=url)


def test_http_elsewhere_must_be_allowed() -> None:
    WebhookHandler("http://hook.internal/", SECRET, allow_http=True)


def test_neither_url_nor_secret_is_shown() -> None:
    shown = repr(WebhookHandler("https://hook.example/token-4711", [SECRET]))

    assert SECRET not in shown
    assert "4711" not in shown


async def test_the_secret_is_not_logged(host: Host, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    registry = ElicitationRegistry()
    registry.on_elicitation(WebhookHandler(host.endpoint(status(500)).url, SECRET, attempts=2, pause=at_once))

    await registry(request())

    assert SECRET.removeprefix("whsec_") not in caplog.text


async def test_proxies_of_the_environment_are_not_used(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing_server() as (proxy, seen):
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy)
        answer = await WebhookHandler(host.endpoint(replying(GOOD)).url, SECRET)(request())

        assert (answer.action, seen) == ("accept", [])


def certificate(folder: Path) -> tuple[Path, Path]:
    """Write a self-signed certificate for this computer."""
    from ipaddress import ip_address

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "hook")])
    now = datetime.now(timezone.utc)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    paths = folder / "cert.pem", folder / "key.pem"
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    no_password = serialization.NoEncryption()
    paths[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, no_password))
    return paths


async def test_an_untrusted_certificate_is_refused(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    endpoint = Endpoint("", (replying(GOOD),))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(
            endpoint, log_level="critical", lifespan="off", ssl_certfile=str(cert), ssl_keyfile=str(key)
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            url = f"https://127.0.0.1:{listener.getsockname()[1]}/"
            stranger = await WebhookHandler(url, SECRET, attempts=1)(request())
            trusting = ssl.create_default_context(cafile=str(cert))
            async with httpx.AsyncClient(verify=trusting, trust_env=False) as client:
                known = await WebhookHandler(url, SECRET, client=client)(request())
        finally:
            server.should_exit = True
            thread.join()

    assert (stranger.action, stranger.by, known.action) == ("cancel", "error", "accept")
    assert len(endpoint.seen) == 1


# --- the receiver of the examples


@contextmanager
def example_receiver(*servers: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    command = [sys.executable, str(ROOT / "examples" / "webhook_receiver.py"), SECRET, *servers]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield f"http://127.0.0.1:{read_line(process).strip()}/elicitation", process
        finally:
            process.terminate()


async def test_a_server_asks_and_the_receiver_of_the_examples_answers() -> None:
    with example_receiver("restaurant") as (url, process):
        registry = ElicitationRegistry()
        registry.on_elicitation(WebhookHandler(url, SECRET))
        command = Command(DEMO[1:], errlog=sys.__stderr__ or sys.stderr)
        async with connect(command, Caller(registry, "restaurant")) as connection:
            result = await connection.call_tool("book_table", {})
        asked = read_line(process)

    assert '"guests": 2' in result["content"][0]["text"]
    assert asked.startswith("asked: restaurant")


def load_receiver() -> Any:
    path = ROOT / "examples" / "webhook_receiver.py"
    spec = importlib.util.spec_from_file_location("webhook_receiver", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def test_a_request_that_arrives_twice_is_decided_once_by_the_receiver(host: Host) -> None:
    decided: list[Any] = []
    both = threading.Semaphore(0)

    async def decide(question: Any) -> Any:
        decided.append(question)
        await anyio.to_thread.run_sync(both.acquire)
        return GOOD

    url = host.mount(load_receiver().receiver(SECRET, decide)) + "/elicitation"
    body = json.dumps({"type": "elicitation.asked", "data": {"id": "q1"}}).encode()
    replies: list[httpx.Response] = []

    async def post() -> None:
        async with httpx.AsyncClient(trust_env=False) as client:
            replies.append(await client.post(url, content=body, headers=signed_json(body)))

    async with anyio.create_task_group() as group:
        group.start_soon(post)
        group.start_soon(post)
        with anyio.fail_after(60):
            while not decided:
                await anyio.sleep(0.01)
        both.release()

    assert len(decided) == 1
    assert [reply.json()["data"] for reply in replies] == [{**GOOD, "id": "q1"}] * 2


@pytest.mark.parametrize(
    "body", [b"x" * 1_100_000, b'{"type": "elicitation.asked", "data": {}}'], ids=["huge", "unsigned"]
)
async def test_the_receiver_of_the_examples_refuses_unsigned_and_huge_messages(host: Host, body: bytes) -> None:
    async def decide(_question: Any) -> Any:
        raise AssertionError

    url = host.mount(load_receiver().receiver(SECRET, decide)) + "/elicitation"
    async with httpx.AsyncClient(trust_env=False) as client:
        assert (await client.post(url, content=body, headers=JSON)).status_code in (401, 413)
        form = {**signed_json(body), "content-type": "application/x-www-form-urlencoded"}
        assert (await client.post(url, content=body, headers=form)).status_code == 415


async def test_the_receiver_of_the_examples_decides_once_and_checks_signatures() -> None:
    suggested = form_params({"properties": {"city": {"type": "string", "default": "Bern"}}}, "Where to?")
    body = json.dumps(
        {
            "type": "elicitation.asked",
            "data": {
                "id": "q1",
                "request": json.loads(request(suggested).model_dump_json()),
                "answer_schema": None,
                "answer_url": None,
            },
        }
    ).encode()
    with example_receiver("travel") as (url, process):
        async with httpx.AsyncClient(trust_env=False) as client:
            replies = [await client.post(url, content=body, headers=signed_json(body)) for _ in range(3)]
            refused = [
                await client.post(url, content=body, headers=headers)
                for headers in (JSON, signed_json(body, OTHER), signed_json(body, now=time.time() - 400))
            ]
            declined = await WebhookHandler(url, SECRET)(request())
        process.terminate()
        assert process.stdout is not None
        lines = process.stdout.read().splitlines()

    assert [reply.json()["data"]["content"] for reply in replies] == [{"city": "Bern"}] * 3
    assert [reply.status_code for reply in refused] == [401] * 3
    assert (declined.action, declined.by) == ("cancel", "policy")
    assert len([line for line in lines if line.startswith("asked:")]) == 2


async def test_a_client_that_was_replaced_in_a_test_answers() -> None:
    def answer(sent: httpx.Request) -> httpx.Response:
        message_id = sent.headers["webhook-id"]
        body = json.dumps({"type": "elicitation.answered", "data": {"id": message_id, "action": "decline"}}).encode()
        headers = {"content-type": "application/json", **sign(body, message_id, SECRET, purpose="answer")}
        return httpx.Response(200, content=body, headers=headers)  # read already, unlike one of the network

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        answered = await WebhookHandler("https://hooks.example/", SECRET, client=client)(request(URL))

    assert (answered.action, answered.by) == ("decline", "user")
