from __future__ import annotations

import ast
import errno
import hashlib
import hmac
import itertools
import json
import logging
import os
import re
import resource  # noqa: F401 -- for the processes, which import all that is here
import shutil
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

import anyio
import pytest

from mcp_elicit_client import Answer, Diagnostic, Limits, Server, TextField, accept, parse_request, sanitize_text
from mcp_elicit_client._files import LOCK_TIMEOUT
from mcp_elicit_client.audit import AuditError, AuditLog, Checkpoint, Telemetry, Verification, verify, writer
from mcp_elicit_client.audit.files import make_key, read_key
from mcp_elicit_client.audit.verifier import ViolationCode
from mcp_elicit_client.cli import main
from mcp_elicit_client.core.request import BatchPosition
from mcp_elicit_client.typing import Request
from tests.support import LONG, ROOT, form_params, read_line
from tests.support.power_failures import Disk

KEY = bytes(range(32))
SERVER = Server(name="mail", claimed_name="Mail\x1b[2J", transport="stdio", origin="mail-server")
FORM: Any = parse_request(
    form_params(
        {
            "properties": {
                "name": {"type": "string", "title": "Your name"},
                "size": {"enum": ["s", "m"], "default": "m"},
                "many": {"type": "array", "items": {"type": "string"}},
                "age": {"type": "integer"},
                "odd": {"type": "object"},
            },
            "required": ["name"],
        },
        message="Who are you?",
    ),
    server=SERVER,
    protocol_version="2025-11-25",
    tool="book",
    request_id=7,
    batch_position=BatchPosition(number=1, total=2),
)
URL: Any = parse_request(
    {"mode": "url", "message": "Log in.", "url": "https://xn--80ak6aa92e.com:8443/?code=s3cret", "elicitationId": "e1"},
    server="mail",
)
YES = Answer.accept({"name": "Ada"}, by="user", sources={"name": "user"})
NO = Answer.decline(by="user")


def answering(reply: Any) -> Any:
    async def handler(_request: Request) -> Any:
        if isinstance(reply, BaseException):
            raise reply
        return reply() if callable(reply) else reply

    return handler


def ask(log: AuditLog, request: Request = FORM, reply: Any = NO) -> Any:
    """Ask without an event loop, which the log does not need."""
    question: Any = log.policy(answering(reply))(request)
    with pytest.raises(StopIteration) as answered:
        question.send(None)
    return answered.value.value


def write(path: Path, count: int, **options: Any) -> AuditLog:
    log = AuditLog(path, **{"key": KEY, "clock": lambda: 1_800_000_000.25, **options})
    for _ in range(count):
        ask(log)
    return log


def events(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def codes(found: Verification) -> list[tuple[str, int]]:
    return [(damage.code, damage.line) for damage in found.violations]


def python(code: str, *arguments: object, **options: Any) -> subprocess.Popen[str]:
    """Start a process that can write to a log."""
    begin = f"""
import json, os, signal, sys
sys.path.insert(0, {str(ROOT)!r})
from tests.audit.test_audit import *
"""
    words = [sys.executable, "-c", begin + code, *map(str, arguments)]
    started.append(subprocess.Popen(words, stdout=subprocess.PIPE, text=True, **options))
    return started[-1]


started: list[subprocess.Popen[str]] = []


@pytest.fixture(autouse=True)
def leave_no_process_behind() -> Iterator[None]:
    yield
    while started:
        with started.pop() as process:
            process.kill()


def finish(*processes: subprocess.Popen[str]) -> list[int]:
    for process in processes:
        process.communicate(timeout=60)
    return [process.returncode for process in processes]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit.jsonl"


# What is logged


def test_a_request_is_one_line_with_its_server_and_decision(path: Path) -> None:
    log = AuditLog(path, key=KEY, host="ann", clock=lambda: 1_800_000_000.25)
    answer = Answer.accept(
        {"name": "Ada", "size": "m", "many": ["x"]},
        by="user",
        reason="typed",
        sources={"name": "user", "size": "default"},
    )

    assert ask(log, reply=answer) == answer

    [event] = events(path)
    assert 0 <= event.pop("latency") < 1
    assert re.fullmatch("[0-9a-f]{64}", event.pop("mac"))
    assert event == {
        "schema": 1,
        "seq": 1,
        "prev": "0" * 64,
        "event": "question",
        "time": "2027-01-15T08:00:00.250000Z",
        "version": "0.1.0",
        "host": "ann",
        "server": "mail",
        "claimed_name": "Mail\\u{1b}[2J",
        "transport": "stdio",
        "origin": "mail-server",
        "protocol_version": "2025-11-25",
        "mode": "form",
        "tool": "book",
        "request_id": 7,
        "batch_position": "1/2",
        "message_id": log.fingerprint("Who are you?"),
        "schema_id": log.fingerprint(FORM.form),
        "fields": [
            {"name": "name", "kind": "text", "source": "user"},
            {"name": "size", "kind": "choice", "source": "default"},
            {"name": "many", "kind": "multichoice", "source": "unknown"},
            {"name": "age", "kind": "number"},
        ],
        "diagnostics": [{"code": "unsupported_field", "field": "odd"}],
        "outcome": "answered",
        "action": "accept",
        "by": "user",
        "reason": "typed",
    }


def test_a_url_request_is_logged_with_its_host_and_warnings(path: Path) -> None:
    log = write(path, 0)

    ask(log, URL.model_copy(update={"previous_visits": 2}), Answer.accept(by="user"))

    [event] = events(path)
    assert event["url_host"] == "xn--80ak6aa92e.com"
    assert event["url_port"] == 8443
    assert event["url_id"] == log.fingerprint(URL.target.url)
    assert event["elicitation_id"] == "e1"
    assert event["previous_visits"] == 2
    assert event["warnings"] == [warning.code for warning in URL.target.warnings] != []
    assert b"s3cret" not in path.read_bytes()


def test_the_user_is_logged_only_as_a_fingerprint(path: Path) -> None:
    log = AuditLog(path, include_values=True, include_messages=True)
    ask(log, FORM.model_copy(update={"user": "ann@example.com"}))
    ask(log, FORM)

    named, unnamed = events(path)
    assert named["user_id"] == log.fingerprint("ann@example.com")
    assert "user_id" not in unnamed
    assert b"ann@example.com" not in path.read_bytes()


def test_the_policy_that_decided_is_logged(path: Path) -> None:
    ask(write(path, 0), reply=Answer.cancel(by="policy", policy="rate_limit", reason="too often"))

    assert {name: events(path)[0][name] for name in ("action", "by", "policy", "reason")} == {
        "action": "cancel",
        "by": "policy",
        "policy": "rate_limit",
        "reason": "too often",
    }


def test_confirmations_and_blocks_are_logged(path: Path) -> None:
    log = write(path, 0)

    ask(log, reply=YES.model_copy(update={"confirmed": True}))
    ask(log, reply=NO.model_copy(update={"block_server": True}))

    assert [(event.get("confirmed"), event.get("block_server")) for event in events(path)] == [
        (True, None),
        (None, True),
    ]


def test_a_result_of_the_sdk_is_logged_as_the_hosts(path: Path) -> None:
    answer = ask(write(path, 0), reply=accept({"name": "Ada"}))

    assert answer.action == "accept"
    assert events(path)[0]["by"] == "host"


@pytest.mark.parametrize(
    ("content", "unfit"),
    [
        ({"name": "Ada"}, None),
        ({"name": "Ada", "more": "x"}, None),
        ({"name": "Ada", "many": None}, ["null"]),
        ({"size": "xl"}, ["choice", "required"]),
    ],
)
def test_an_accept_that_does_not_fit_is_logged_as_unfit(
    path: Path, content: dict[str, Any], unfit: list[str] | None
) -> None:
    ask(write(path, 0), reply=Answer.accept(content, by="host"))

    assert events(path)[0].get("unfit") == unfit


@pytest.mark.parametrize(
    ("content", "unfit"), [({"code": "1234"}, None), ({"code": "x"}, ["pattern"]), (None, ["required"])]
)
def test_an_accept_that_is_not_sent_because_of_a_pattern_or_no_content_is_logged_as_unfit(
    path: Path, content: dict[str, Any] | None, unfit: list[str] | None
) -> None:
    code = {"type": "string", "pattern": "^[0-9]{4}$"}
    request = parse_request(form_params({"properties": {"code": code}, "required": ["code"]}), server=SERVER)

    anyio.run(write(path, 0).policy(answering(Answer.accept(content, by="user"))), request)

    assert events(path)[0].get("unfit") == unfit


def test_findings_are_logged_once_up_to_a_maximum(path: Path) -> None:
    problems = tuple(Diagnostic(code="truncated", message="m", field=f"f{at}") for at in range(40))
    request = FORM.model_copy(update={"diagnostics": (problems[0], *problems)})

    ask(write(path, 0), request, NO.model_copy(update={"diagnostics": (problems[0],)}))

    [event] = events(path)
    assert len(event["diagnostics"]) == 32
    assert event["more_diagnostics"] == 8


# What is not


SECRETS = [
    "hunter2-hunter2", "correct horse battery staple", "P@ssw0rd!2026", "493-021", "4111 1111 1111 1111",
    "4111111111111111",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "xoxb-123456789012-abcdef", "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
    "078-05-1120", "DE89 3704 0044 0532 0130 00", "ann@example.com", "+1 555 0100 1234", "1985-04-12", "AB+ rhesus",
    "12 Rue de la Paix", "-----BEGIN PRIVATE KEY-----", "abandon ability able about above absent", "CVV 737 secret",
    "Rosebud sled", "mother's maiden: Szabó", "пароль-секрет", "密码是一二三四五", "emoji 🔑 key", "tab\there's secret",
    "quote\"in'secret", "back\\slash secret", "line\nbreak secret",
]  # fmt: skip


def spellings(text: str) -> Iterator[bytes]:
    """Return the ways in which a file might contain *text*."""
    for each in (text, sanitize_text(text), sanitize_text(text, multiline=False), text.casefold()):
        yield each.encode()
        yield json.dumps(each)[1:-1].encode()


@pytest.mark.parametrize("secret", SECRETS)
def test_the_log_contains_no_answers_and_messages(path: Path, secret: str) -> None:
    log = write(path, 0)
    form = parse_request(
        form_params(
            {
                "properties": {
                    "text": {"type": "string", "title": secret, "description": secret, "default": secret},
                    "choice": {"enum": [secret, "other"], "default": secret},
                    "many": {"type": "array", "items": {"type": "string"}},
                    "bad": {"type": "integer", "default": secret},
                }
            },
            message=f"Is it {secret}?",
        ),
        server="mail",
    )
    content = {"text": secret, "choice": secret, "many": ["x", secret]}
    for reply in (
        Answer.accept(content, by="user", reason=f"the user typed {secret.upper()}", sources={"text": "user"}),
        Answer.accept({"bad": secret}, by="host"),
        NO,
    ):
        ask(log, form, reply)
    with pytest.raises(ValueError, match=re.escape(secret)):
        ask(log, form, ValueError(secret))

    data = path.read_bytes()
    assert len(events(path)) == 4
    assert not [each for each in spellings(secret) if each in data or each in data.lower()]
    assert not [each for each in digests(secret) if each in data]


def digests(text: str) -> Iterator[bytes]:
    """Return what can be computed from a guessed *text* without the key."""
    for digest in ("md5", "sha1", "sha256"):
        yield hashlib.new(digest, text.encode()).hexdigest()[:32].encode()
        yield hmac.new(b"", text.encode(), digest).hexdigest()[:32].encode()


@pytest.mark.parametrize(
    ("content", "reason", "kept"),
    [
        ({"name": "Ada Lovelace"}, "we know ADA LOVELACE already", False),
        ({"name": "Ada"}, "the name is Ada.", False),
        ({"name": "a"}, "an answer that was remembered", True),
        ({"many": ["x", "remembered"]}, "remembered", False),
        ({"age": 1842}, "born before 1842", False),
        ({"age": 4}, "after 4 tries", False),
        ({"name": ""}, "nothing was typed", True),
        ({"name": "Bob"}, "the host listed this form", True),
    ],
)
def test_a_reason_that_quotes_the_answer_is_withheld(
    path: Path, content: dict[str, Any], reason: str, kept: bool
) -> None:
    ask(write(path, 0), reply=Answer.accept(content, by="host", reason=reason))

    assert events(path)[0]["reason"] == (reason if kept else "(withheld: it quotes the answer)")


def test_sensitive_data_is_not_logged_with_include_values(path: Path) -> None:
    form = {"properties": {name: {"type": "string"} for name in ("city", "password")}}
    request = parse_request(form_params(form), server="mail")
    content = {"city": "Paris", "password": "s3cr3t!"}

    ask(write(path, 0, include_values=True), request, Answer.accept(content, by="user", reason="s3cr3t! is for Paris"))

    assert [field.get("value") for field in events(path)[0]["fields"]] == ["Paris", None]
    assert b"s3cr3t!" not in path.read_bytes()


@pytest.mark.parametrize(
    ("fields", "content"),
    [
        pytest.param(
            {"many": {"type": "array", "items": {"type": "string"}}}, {"many": ["\U0001f600" * 999] * 200}, id="list"
        ),
        pytest.param({f"{'ø' * 120}{at}": {"type": "string"} for at in range(900)}, {}, id="names"),
    ],
)
def test_no_line_is_too_long_to_be_verified(path: Path, fields: dict[str, Any], content: dict[str, Any]) -> None:
    form = form_params({"properties": {"first": {"type": "string"}, **fields}})
    request = parse_request(form, server="mail", limits=Limits(max_fields=1_000))
    log = AuditLog(path, include_values=True)
    for _ in range(3):
        anyio.run(log.policy(answering(Answer.accept({"first": "Ada", **content}, by="user"))), request)
    assert verify(path).valid
    log.close()
    path.with_name("audit.jsonl.head").unlink()
    ask(AuditLog(path))  # finds the end of the log

    [event, *_, last] = events(path)
    assert (event["fields"][0]["value"], last["seq"]) == ("Ada", 4)
    assert not any("value" in each for each in event["fields"][1:])
    assert len(event["fields"]) + event.get("more_fields", 0) == 1 + len(fields)


def test_values_and_messages_are_logged_only_if_included(path: Path) -> None:
    fields = (
        TextField(name="name", title="n"),
        TextField(name="secret", title="s", sensitive=True),
        TextField(name="wild", title="w"),
        *FORM.form.fields[2:],
    )
    request = FORM.model_copy(update={"form": FORM.form.model_copy(update={"fields": fields})})
    content: Any = {"name": "Ada", "secret": "hunter2", "wild": "\x1b[2J\u202e", "many": ["x"], "age": -(10**5000)}

    ask(
        write(path, 0, include_values=True, include_messages=True),
        request,
        Answer.accept(content, by="user", reason="it is Ada"),
    )

    [event] = events(path)
    assert event["message"] == "Who are you?"
    assert event["reason"] == "it is Ada"
    told = {field["name"]: field.get("value") for field in event["fields"]}
    assert told.pop("age").startswith("-0x31e208")
    assert told == {"name": "Ada", "secret": None, "wild": "\\u{1b}[2J\\u{202e}", "many": ["x"]}
    assert b"hunter2" not in path.read_bytes()


def test_a_number_that_json_cannot_represent_is_text(path: Path) -> None:
    ask(write(path, 0, include_values=True), reply=Answer.accept({"age": float("inf")}, by="host"))

    assert events(path)[0]["fields"][3]["value"] == "inf"


FORGED = '\n{"event":"question","server":"bank","action":"accept"}\r\n\x1b[2J\u202e\u2028[link=x]\ud800'


def test_server_text_cannot_forge_lines_or_events(path: Path) -> None:
    request = FORM.model_copy(
        update={
            "server": Server(name="mail", claimed_name=FORGED, transport=FORGED, origin=FORGED),
            "claimed_origin": (FORGED,),
            "protocol_version": FORGED,
            "tool": FORGED,
            "request_id": FORGED,
            "form": FORM.form.model_copy(update={"fields": (TextField(name=FORGED[:-1], title="t"),)}),
            "diagnostics": (Diagnostic.model_construct(code="truncated", message="m", field=FORGED),),
        }
    )
    ask(write(path, 0), request)

    data = path.read_bytes()
    assert data.isascii()
    assert data.count(b"\n") == 1
    [event] = events(path)
    assert (event["event"], event["server"]) == ("question", "mail")
    cleaned = sanitize_text(FORGED, limit=128, multiline=False)
    for told in (
        event["claimed_name"],
        event["claimed_origin"][0],
        event["tool"],
        event["request_id"],
        event["diagnostics"][0]["field"],
    ):
        assert told == cleaned == sanitize_text(told, multiline=False)
    assert cleaned.startswith(event["fields"][0]["name"])


def test_the_size_of_an_event_is_limited(path: Path) -> None:
    names = [f"{at:03}" + "\U000e0041" * 125 for at in range(64)]
    properties = {name: {"type": "string", "default": 1, "title": "t" * 300} for name in names}
    request = parse_request(form_params({"properties": properties}), server="mail", request_id=10**5000)

    ask(write(path, 0), request, Answer.accept(dict.fromkeys(names, "x"), by="user"))

    assert len(path.read_bytes()) < 200_000
    assert verify(path, KEY)


def test_fingerprints_reveal_nothing_without_the_key(tmp_path: Path) -> None:
    logs = [write(tmp_path / name, 0, key=key) for name, key in (("a", KEY), ("b", KEY), ("c", KEY[::-1]))]
    other = FORM.form.model_copy(update={"fields": FORM.form.fields[:2]})

    assert logs[0].fingerprint("x") == logs[1].fingerprint("x")
    assert len({log.fingerprint(each) for log in logs for each in ("x", "y", FORM.form, other)}) == 8
    assert not {log.fingerprint("x").encode() for log in logs} & set(digests("x"))


@pytest.mark.parametrize("part", ["title", "description"])
def test_forms_with_different_texts_have_different_fingerprints(path: Path, part: str) -> None:
    field = FORM.form.fields[0].model_copy(update={part: "other words"})
    form = FORM.form.model_copy(update={"fields": (field, *FORM.form.fields[1:])})

    log = write(path, 0)

    assert log.fingerprint(form) != log.fingerprint(FORM.form)


def test_only_texts_and_forms_have_a_fingerprint(path: Path) -> None:
    request: Any = FORM

    with pytest.raises(TypeError, match="`what` must be str or Form, not FormRequest"):
        write(path, 0).fingerprint(request)


# What passes through


@pytest.mark.anyio
async def test_cancellation_passes_through_and_is_logged(path: Path) -> None:
    log = write(path, 0)
    with anyio.CancelScope() as scope:

        async def asking(_request: Request) -> Answer:
            scope.cancel()
            await anyio.sleep_forever()
            return YES

        await log.policy(asking)(FORM)

    assert scope.cancelled_caught
    assert events(path)[0]["outcome"] == "withdrawn"
    assert "action" not in events(path)[0]


@pytest.mark.anyio
async def test_concurrent_requests_are_logged_in_the_order_of_their_answers(path: Path) -> None:
    log = write(path, 0)
    first, second = anyio.Event(), anyio.Event()

    async def waiting(request: Request) -> Answer:
        await (first if request.request_id == 1 else second).wait()
        first.set()
        return NO

    async with anyio.create_task_group() as tasks:
        for request_id in (1, 2):
            tasks.start_soon(log.policy(waiting), FORM.model_copy(update={"request_id": request_id}))
        second.set()

    assert [event["request_id"] for event in events(path)] == [2, 1]
    assert verify(path, KEY)


@pytest.mark.parametrize("reply", [KeyError("x"), None, "yes"])
def test_an_error_passes_through_and_its_class_is_logged(path: Path, reply: object) -> None:
    with pytest.raises((KeyError, TypeError)) as caught:
        ask(write(path, 0), reply=reply)

    [event] = events(path)
    assert (event["outcome"], event["action"], event["by"]) == ("raised", "cancel", "error")
    assert event["error"] == caught.type.__name__


# The chain


def rewritten(lines: Sequence[bytes]) -> list[bytes]:
    """Rewrite the log without the key."""
    done: list[bytes] = []
    mac = "0" * 64
    for line in lines:
        body = line.replace(b"decline", b"accept").rpartition(b',"mac":')[0]
        mac = hmac.digest(b"a guess that is wrong", mac.encode() + body, "sha256").hex()
        done.append(b'%s,"mac":"%s"}\n' % (body, mac.encode()))
    return done


def edited(lines: Sequence[bytes], at: int, old: bytes = b"decline", new: bytes = b"accept") -> list[bytes]:
    assert old in lines[at]
    return [*lines[:at], lines[at].replace(old, new), *lines[at + 1 :]]


TAMPERING: dict[str, tuple[Callable[[list[bytes]], list[bytes]], list[tuple[str, int]]]] = {
    "edit the first": (lambda lines: edited(lines, 0), [("modified", 1)]),
    "edit one in the middle": (lambda lines: edited(lines, 2), [("modified", 3)]),
    "edit the last": (lambda lines: edited(lines, 5), [("modified", 6), ("truncated", 0)]),
    "edit two": (lambda lines: edited(edited(lines, 1), 3), [("modified", 2), ("modified", 4)]),
    "edit a seal": (lambda lines: edited(lines, 2, b'"mac":"', b'"mac":"0'), [("malformed", 3), ("missing", 4)]),
    "edit a number": (lambda lines: edited(lines, 2, b'"seq":3', b'"seq":9'), [("missing", 3)]),
    "spaces": (lambda lines: edited(lines, 2, b":", b": "), [("malformed", 3), ("missing", 4)]),
    "one space": (lambda lines: edited(lines, 2, b'"by":', b'"by": '), [("modified", 3)]),
    "delete the first": (lambda lines: lines[1:], [("missing_start", 1)]),
    "delete one in the middle": (lambda lines: lines[:2] + lines[3:], [("missing", 3)]),
    "delete three in the middle": (lambda lines: lines[:1] + lines[4:], [("missing", 2)]),
    "delete the last": (lambda lines: lines[:-1], [("truncated", 0)]),
    "delete all": (lambda lines: [], [("truncated", 0)]),
    "swap": (lambda lines: [*lines[:2], lines[3], lines[2], *lines[4:]], [("missing", 3), ("missing", 5)]),
    "repeat": (lambda lines: [*lines[:4], lines[1], *lines[4:]], [("out_of_order", 5)]),
    "repeat the first": (lambda lines: [*lines, lines[0]], [("out_of_order", 7)]),
    "insert": (lambda lines: [*lines[:3], *rewritten(lines)[3:4], *lines[3:]], [("modified", 4)]),
    "append": (lambda lines: [*lines, rewritten(lines)[0].replace(b'"seq":1,', b'"seq":7,')], [("modified", 7)]),
    "insert what is no line": (lambda lines: [*lines[:3], b"hello\n", *lines[3:]], [("malformed", 4)]),
    "insert an empty line": (lambda lines: [*lines[:3], b"\n", *lines[3:]], [("malformed", 4)]),
    "line ends of Windows": (lambda lines: edited(lines, 2, b"\n", b"\r\n"), [("malformed", 3), ("missing", 4)]),
    "cut in the middle of a line": (lambda lines: [*lines[:-1], lines[-1][:99]], [("torn_write", 6), ("truncated", 0)]),
    "rewrite": (rewritten, [("modified", at) for at in range(1, 7)] + [("truncated", 0)]),
}


@pytest.mark.parametrize("name", TAMPERING)
def test_a_change_without_the_key_is_detected(path: Path, name: str) -> None:
    write(path, 6).close()
    assert verify(path, KEY) == Verification(True, 6, 1, Checkpoint(6, events(path)[-1]["mac"]))
    tamper, damages = TAMPERING[name]

    path.write_bytes(b"".join(tamper(path.read_bytes().splitlines(keepends=True))))

    found = verify(path, KEY)
    assert not found
    assert codes(found) == damages
    assert {damage.file for damage in found.violations if damage.line} <= {path.name}


@pytest.mark.parametrize("name", TAMPERING)
def test_a_change_is_detected_after_further_writes(path: Path, name: str) -> None:
    write(path, 6).close()
    tamper, damages = TAMPERING[name]
    path.write_bytes(b"".join(tamper(path.read_bytes().splitlines(keepends=True))))

    write(path, 3).close()

    found = verify(path, KEY)
    assert not found
    assert found.last.sequence == 9
    assert set(codes(found)) >= {
        damage for damage in damages if damage[0] not in ("truncated", "torn_write", "modified")
    }


@pytest.mark.parametrize(("length", "damages"), [(0, [("missing", 6)]), (99, [("malformed", 6), ("missing", 7)])])
def test_truncation_is_detected_from_later_lines(path: Path, length: int, damages: list[tuple[str, int]]) -> None:
    write(path, 7).close()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:5], lines[5][:length]]))

    write(path, 3).close()

    found = verify(path, KEY)
    assert codes(found) == damages
    assert found.events == 8
    assert "Missing before this line: lines 6 to 7" in found.violations[-1].message


def test_a_change_of_any_byte_is_detected(path: Path) -> None:
    write(path, 2).close()
    data = path.read_bytes()

    for at in range(len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])

        assert not verify(path, KEY), at


def test_truncation_at_any_byte_is_detected(path: Path) -> None:
    log = write(path, 2)
    anchor = log.checkpoint()
    data = path.read_bytes()

    for length in range(len(data) - 1):
        path.write_bytes(data[:length])

        assert not verify(path, KEY), length
        assert not verify(path, KEY, anchor), length


def test_a_missing_final_line_break_is_valid(path: Path) -> None:
    write(path, 2).close()
    path.write_bytes(path.read_bytes()[:-1])

    assert verify(path, KEY).events == 2


def head_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.head")


def test_a_checkpoint_detects_a_log_rewritten_with_the_key(path: Path) -> None:
    anchor = write(path, 6).checkpoint()
    for each in (path, head_of(path)):
        each.unlink()

    write(path, 6, clock=lambda: 0).close()

    assert verify(path, KEY)
    found = verify(path, KEY, anchor)
    assert codes(found) == [("checkpoint_mismatch", 0)]
    assert "rewritten" in found.violations[0].message


def test_a_checkpoint_detects_a_restored_old_copy(path: Path) -> None:
    log = write(path, 3)
    old = {each: each.read_bytes() for each in (path, head_of(path))}
    ask(log)
    anchor = log.checkpoint()
    for each, data in old.items():
        each.write_bytes(data)

    assert verify(path, KEY)
    assert codes(verify(path, KEY, anchor)) == [("truncated", 0)]


def test_without_head_and_checkpoint_the_log_is_invalid(path: Path) -> None:
    anchor = write(path, 4).checkpoint()
    head_of(path).unlink()

    assert codes(verify(path, KEY)) == [("invalid_head", 0)]
    assert verify(path, KEY, anchor)
    assert codes(verify(path, KEY, (5, "0" * 64))) == [("truncated", 0)]


@pytest.mark.parametrize("data", [b"0" * 172, b"x", bytes(400)])
def test_a_forged_head_is_detected(path: Path, data: bytes) -> None:
    anchor = write(path, 4).checkpoint()
    head_of(path).write_bytes(data)

    assert codes(verify(path, KEY)) == [("invalid_head", 0)]
    assert codes(verify(path, KEY, anchor)) == [("invalid_head", 0)]


def test_two_chains_with_a_common_start_cannot_be_mixed(path: Path) -> None:
    log = write(path, 2)
    files = {each: each.read_bytes() for each in (path, head_of(path))}
    ask(log, reply=YES)
    other = path.read_bytes()
    for each, data in files.items():
        each.write_bytes(data)
    ask(log, URL)
    path.write_bytes(other)
    ask(log)

    found = verify(path, KEY)

    assert codes(found) == [("out_of_order", 4)]
    assert "another line than the one above" in found.violations[0].message


def test_a_checkpoint_stays_valid_while_the_log_grows(path: Path) -> None:
    log = write(path, 0)
    anchors = [log.checkpoint()]
    for _ in range(5):
        ask(log)
        anchors.append(log.checkpoint())

    assert [anchor.sequence for anchor in anchors] == list(range(6))
    assert all(verify(path, KEY, anchor) for anchor in anchors)
    assert all(Checkpoint.parse(str(anchor)) == anchor for anchor in anchors)


@pytest.mark.parametrize("text", ["", "1", "1:", "x:" + "0" * 64, "1:" + "g" * 64, "1:" + "0" * 63])
def test_an_invalid_checkpoint_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="SEQUENCE:MAC"):
        Checkpoint.parse(text)


def test_a_hundred_violations_are_listed_and_the_others_counted(path: Path) -> None:
    write(path, 130).close()
    path.write_bytes(b"".join(rewritten(path.read_bytes().splitlines(keepends=True))))

    found = verify(path, KEY)

    assert (len(found.violations), found.more, found.events) == (100, 31, 0)


@pytest.mark.parametrize(
    "line",
    [
        b"null",
        b"[1]",
        b"{}",
        b'{"seq":1,"mac":"%s"}' % (b"0" * 64),
        b'{"seq":"x","mac":"%s"}' % (b"0" * 64),
        b"[" * 9999,
    ]
    + [b'{"seq":%s,"mac":"%s"}' % (b"9" * digits, b"0" * 64) for digits in (30, 5000)]
    + [b'{"seq":2,"found":3,"prev":4,"mac":"%s"}' % (b"0" * 64), b"x" * 1_100_000],
)
def test_arbitrary_bytes_are_violations(path: Path, line: bytes) -> None:
    write(path, 1).close()
    with path.open("ab") as file:
        file.write(line + b"\n")

    assert not verify(path, KEY)


def test_another_key_verifies_no_line(path: Path) -> None:
    write(path, 3).close()

    found = verify(path, KEY[::-1])

    assert (found.events, codes(found)) == (0, [("modified", 1), ("modified", 2), ("modified", 3), ("invalid_head", 0)])


def test_the_documentation_lists_exactly_the_violation_codes() -> None:
    part = (
        (ROOT / "docs" / "audit-format.md").read_text(encoding="utf-8").split("| Code | Meaning |")[1].split("\n\n")[0]
    )

    assert sorted(re.findall(r"^\| `([a-z_]+)` \|", part, re.MULTILINE)) == sorted(get_args(ViolationCode))


def test_the_documentation_lists_every_member_of_a_line() -> None:
    tree = ast.parse((ROOT / "mcp_elicit_client" / "audit" / "events.py").read_text(encoding="utf-8"))
    keys = [key for node in ast.walk(tree) if isinstance(node, ast.Dict) for key in node.keys]
    keys += [node.slice for node in ast.walk(tree) if isinstance(node, ast.Subscript)]
    written = {key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}
    page = (ROOT / "docs" / "audit-format.md").read_text(encoding="utf-8")

    assert written > {"event", "action", "user_id", "message", "value", "unfit", "lost", "latency"}
    assert sorted(name for name in {*written, "schema", "seq", "prev", "mac", "found"} if f"`{name}`" not in page) == []


# Files


def test_all_files_are_private_with_any_umask(path: Path) -> None:
    old = os.umask(0)
    try:
        log = write(path, 3, key=None, max_bytes=1)
    finally:
        os.umask(old)

    assert {each.name for each in path.parent.iterdir()} == {
        path.name, f"{path.name}.1", f"{path.name}.2", f"{path.name}.key", f"{path.name}.head"
    }  # fmt: skip
    assert {stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()} == {0o600}
    assert verify(path)
    assert len(read_key(f"{path}.key")) == 32
    log.close()


@pytest.mark.parametrize("suffix", ["", ".head", ".key"])
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_other_users_can_write_to_is_refused(path: Path, suffix: str, mode: int) -> None:
    write(path, 1, key=None).close()
    path.with_name(f"{path.name}{suffix}").chmod(mode)

    with pytest.raises(AuditError, match=f"audit.jsonl{suffix}. Run `chmod 600"):
        AuditLog(path)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o610])
def test_a_key_that_other_users_can_read_is_refused(path: Path, mode: int) -> None:
    write(path, 1, key=None).close()
    path.with_name(f"{path.name}.key").chmod(mode)

    for use in (AuditLog, verify):
        with pytest.raises(AuditError, match="Other users can read the key"):
            use(path)


@pytest.mark.parametrize("suffix", ["", ".head", ".key"])
def test_a_symbolic_link_is_not_followed(path: Path, suffix: str) -> None:
    write(path, 1, key=None).close()
    file = path.with_name(f"{path.name}{suffix}")
    file.symlink_to(file.rename(path.with_name("elsewhere")))

    with pytest.raises(AuditError, match="symbolic link"):
        AuditLog(path)


@pytest.mark.parametrize("suffix", ["", ".head", ".key"])
def test_a_path_that_is_not_a_regular_file_is_refused(path: Path, suffix: str) -> None:
    write(path, 1, key=None).close()
    file = path.with_name(f"{path.name}{suffix}")
    file.unlink()
    os.mkfifo(file, 0o600)

    with pytest.raises(AuditError, match="not a regular file"):
        AuditLog(path)


@pytest.mark.parametrize("suffix", ["", ".head"])
def test_verify_refuses_a_folder_in_place_of_a_file(path: Path, suffix: str) -> None:
    write(path, 1).close()
    file = path.with_name(f"{path.name}{suffix}")
    file.unlink()
    file.mkdir()

    with pytest.raises(AuditError, match="not a regular file"):
        verify(path, key=KEY)


@pytest.mark.parametrize("suffix", ["", ".head", ".key"])
def test_a_file_of_another_user_is_refused(path: Path, suffix: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    write(path, 1, key=None).close()
    os.chown(path.with_name(f"{path.name}{suffix}"), 12345, 12345)

    with pytest.raises(AuditError, match="belongs to another user"):
        AuditLog(path)


@pytest.mark.parametrize("data", [b"", b"xyz", b"00" * 15, b"00" * 8 + b"\xff"])
def test_an_invalid_key_is_refused(path: Path, data: bytes) -> None:
    file = path.with_name(f"{path.name}.key")
    file.write_bytes(data)
    file.chmod(0o600)

    with pytest.raises(AuditError, match=re.escape(f"{file} is not a key")):
        AuditLog(path)


def test_a_missing_key_is_not_replaced(path: Path) -> None:
    write(path, 1, key=None).close()
    path.with_name(f"{path.name}.key").unlink()

    with pytest.raises(AuditError, match="Restore the key"):
        AuditLog(path)


@pytest.mark.parametrize("has_head", [True, False])
def test_a_log_of_another_key_is_not_continued(path: Path, has_head: bool) -> None:
    write(path, 2).close()
    if not has_head:
        head_of(path).unlink()

    with pytest.raises(AuditError, match="another key"):
        write(path, 0, key=KEY[::-1])


@pytest.mark.parametrize(
    "options",
    [{"key": b"short"}, {"on_failure": "panic"}, {"max_bytes": 0}, {"backup_count": -1}, {"backup_count": 100_000}],
)
def test_invalid_options_are_refused(path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"at least|at most|on_failure"):
        AuditLog(path, **options)


def test_a_message_above_the_default_limits_leaves_the_log_valid(path: Path) -> None:
    message = "\N{GRINNING FACE}" * 200_000
    request: Any = parse_request(form_params({"properties": {}}, message=message), limits=Limits(max_message=200_000))
    log = write(path, 1, include_messages=True)
    ask(log, request)

    assert verify(path, KEY).events == 2
    assert events(path)[1]["message"].startswith("\N{GRINNING FACE}" * 16_000)
    assert events(path)[1]["message_id"] == log.fingerprint(message)


# Rotation


def test_a_full_file_is_rotated_and_the_chain_continues(path: Path) -> None:
    log = write(path, 40, max_bytes=3_000, backup_count=100)

    sizes = [each.stat().st_size for each in path.parent.glob("audit.jsonl.*[0-9]")]
    assert len(sizes) > 5
    assert max(sizes) <= 3_000
    assert verify(path, KEY, log.checkpoint()).events == 40
    assert events(path)[0]["prev"] == events(path.with_name("audit.jsonl.1"))[-1]["mac"]


@pytest.mark.parametrize("backup_count", [0, 3])
def test_no_event_is_lost_if_the_file_cannot_be_renamed(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, backup_count: int
) -> None:
    def refuse(*_: object) -> None:  # as for a file that `chattr +a` protects
        raise PermissionError(errno.EPERM, "Operation not permitted")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", refuse)
        log = write(path, 8, max_bytes=1_000, backup_count=backup_count, on_failure="cancel")
    assert [record.getMessage() for record in caplog.records] == [
        f"the audit log {path} cannot be rotated, and grows: Operation not permitted"
    ]
    assert verify(path, KEY, log.checkpoint()).events == 8

    ask(log)
    assert len(events(path)) == 1
    assert verify(path, KEY, log.checkpoint()).last.sequence == 9


@pytest.mark.parametrize("backup_count", [0, 1, 3])
def test_at_most_backup_count_files_are_kept(path: Path, backup_count: int) -> None:
    write(path, 30, max_bytes=1_500, backup_count=backup_count).close()

    found = verify(path, KEY)
    assert len(list(path.parent.glob("audit.jsonl.*[0-9]"))) == backup_count
    assert found
    assert found.first > 1
    assert found.last.sequence == 30
    assert found.events == 31 - found.first


@pytest.mark.parametrize("backup_count", [0, 1, 3])
def test_a_log_stays_valid_if_backup_count_is_reduced(path: Path, backup_count: int) -> None:
    write(path, 30, max_bytes=1_500, backup_count=100).close()
    write(path, 10, max_bytes=1_500, backup_count=backup_count).close()

    assert verify(path, KEY)
    assert len(list(path.parent.glob("audit.jsonl.*[0-9]"))) == backup_count


@pytest.mark.parametrize("suffix", ["20261127", "202611", "0", "01"])
def test_a_copy_of_the_log_with_another_number_is_left_alone(path: Path, suffix: str) -> None:
    log = write(path, 3)
    copy = path.with_name(f"{path.name}.{suffix}")
    copy.write_bytes(path.read_bytes())
    log.close()
    write(path, 5, max_bytes=1, backup_count=2).close()

    assert copy.exists()
    assert verify(path, KEY)


def test_a_checkpoint_of_a_deleted_file_is_a_violation(path: Path) -> None:
    log = write(path, 1, max_bytes=1, backup_count=2)
    anchors = [log.checkpoint()]
    for _ in range(4):
        ask(log)
        anchors.append(log.checkpoint())

    assert [bool(verify(path, KEY, anchor)) for anchor in anchors] == [False, True, True, True, True]
    assert "Use a later one" in verify(path, KEY, anchors[0]).violations[0].message


def test_a_missing_backup_is_detected(path: Path) -> None:
    write(path, 6, max_bytes=1).close()
    path.with_name("audit.jsonl.3").unlink()

    found = verify(path, KEY)

    assert codes(found) == [("missing", 1)]
    assert found.violations[0].file == "audit.jsonl.2"
    assert "line 3" in found.violations[0].message


def test_another_program_may_rotate_the_file(path: Path) -> None:
    log = write(path, 3)
    path.rename(path.with_name("audit.jsonl.1"))
    ask(log)

    assert verify(path, KEY).events == 4


@pytest.mark.parametrize("max_bytes", [1, 10_000])
@pytest.mark.parametrize("is_running", [True, False])
def test_a_deleted_log_is_detected(path: Path, max_bytes: int, is_running: bool) -> None:
    log = write(path, 3, max_bytes=max_bytes)
    if not is_running:
        log.close()
    path.unlink()
    ask(log)

    found = verify(path, KEY)
    assert ("log_missing", 1) in codes(found)
    assert found.last.sequence == 4


def test_a_process_killed_during_a_rotation_loses_nothing(path: Path) -> None:
    write(path, 3, max_bytes=1).close()
    path.with_name("audit.jsonl.2").rename(path.with_name("audit.jsonl.3"))
    path.with_name("audit.jsonl.1").rename(path.with_name("audit.jsonl.2"))
    assert verify(path, KEY).events == 3

    write(path, 3, max_bytes=1).close()

    assert (bool(verify(path, KEY)), verify(path, KEY).events) == (True, 6)


class FailingDisk:
    """Ends two of the writes to a log, given by their numbers, after *left* bytes of a line and no byte of a head."""

    def __init__(self, failing: tuple[int, int], left: int) -> None:
        self._failing = failing
        self._left = left
        self._count = 0

    def write_all(self, descriptor: int, data: bytes) -> None:
        if self._is_failing():
            os.write(descriptor, data[: self._left])
            raise OSError("No space left on device")
        os.write(descriptor, data)

    def write_at(self, descriptor: int, start: int, data: bytes) -> None:
        if self._is_failing():
            raise OSError("No space left on device")
        os.pwrite(descriptor, data, start)

    def _is_failing(self) -> bool:
        self._count += 1
        return self._count in self._failing


@pytest.mark.parametrize("left", [0, 5, -1])
@pytest.mark.parametrize("max_bytes", [1, 10_000_000])
@pytest.mark.parametrize("backup_count", [0, 100])
def test_a_log_stays_valid_if_any_two_writes_to_it_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: int, max_bytes: int, backup_count: int
) -> None:
    options = {"max_bytes": max_bytes, "backup_count": backup_count}
    for failing in itertools.combinations(range(1, 9), 2):
        disk = FailingDisk(failing, left)
        monkeypatch.setattr(writer, "write_all", disk.write_all)
        monkeypatch.setattr(writer, "write_at", disk.write_at)
        (tmp_path / str(failing)).mkdir()
        path = tmp_path / str(failing) / "audit.jsonl"
        others = write(path, 0, **options)  # of a process that goes on
        written = 0
        for _ in range(6):
            log = write(path, 1, **options)  # of a process that ends
            written += not log._is_failing
            log.close()
        ask(others)

        found = verify(path, KEY)
        assert {code for code, _ in codes(found)} <= {"torn_write"}, failing
        assert found, failing
        assert found.last.sequence >= written + 1, failing
        if backup_count:
            assert found.first == 1
            assert found.events == found.last.sequence
        else:
            assert not list(path.parent.glob("audit.jsonl.*[0-9]"))


@pytest.mark.parametrize("part", [b"{", bytes(172)], ids=["part", "zeros after a power failure"])
def test_a_head_that_was_not_written_whole_before_the_first_line_does_not_stop_the_log(path: Path, part: bytes) -> None:
    for each in (path, head_of(path)):
        each.touch(mode=0o600)
    head_of(path).write_bytes(part)

    write(path, 2).close()

    assert verify(path, KEY)
    assert verify(path, KEY).events == 2


@pytest.mark.parametrize("line_break", [b"", b"\n"], ids=["", "and the line break of another one"])
def test_a_log_may_end_in_several_torn_lines(path: Path, line_break: bytes) -> None:
    write(path, 2).close()
    with path.open("ab") as file:
        file.write(b'{"schema":1,"seq":3,\n{"sch' + line_break)

    assert verify(path, KEY)
    assert codes(verify(path, KEY)) == [("torn_write", 3), ("torn_write", 4)]
    write(path, 1).close()
    assert verify(path, KEY)


# Processes


WRITER = """
log = AuditLog(sys.argv[1], key=KEY, max_bytes=int(sys.argv[2]), backup_count=10_000)
print("ready", flush=True)
sys.stdin.readline()
for _ in range(int(sys.argv[3])):
    ask(log)
"""


def start_together(path: Path, processes: int, *arguments: object) -> None:
    started = [python(WRITER, path, *arguments, stdin=subprocess.PIPE) for _ in range(processes)]
    for each in started:
        assert read_line(each) == "ready\n"
    for each in started:
        assert each.stdin is not None
        each.stdin.write("go\n")
        each.stdin.flush()
    assert finish(*started) == [0] * processes


def test_two_processes_lose_no_events(path: Path) -> None:
    count = 10_000 if LONG else 2_000
    start_together(path, 2, 10**9, count)

    found = verify(path, KEY)
    assert found
    assert (found.events, found.first, found.last.sequence) == (2 * count, 1, 2 * count)


def test_processes_that_rotate_concurrently_lose_no_events(path: Path) -> None:
    count = 500 if LONG else 200
    start_together(path, 3, 5_000, count)

    assert (verify(path, KEY).events, bool(verify(path, KEY))) == (3 * count, True)


def test_concurrent_processes_create_one_key(path: Path) -> None:
    code = "log = AuditLog(sys.argv[1]); ask(log)"

    assert finish(*(python(code, path) for _ in range(4))) == [0] * 4

    assert verify(path).events == 4
    assert not list(path.parent.glob(".*"))


def test_an_existing_key_is_kept(path: Path) -> None:
    assert make_key(path) == make_key(path) == read_key(path)
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_threads_lose_no_events(path: Path) -> None:
    log = write(path, 0)
    threads = [threading.Thread(target=lambda: [ask(log) for _ in range(200)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert verify(path, KEY).events == 800


def test_a_forked_process_takes_its_own_lock(path: Path) -> None:
    code = """
log = write(Path(sys.argv[1]), 1)
children = []
for _ in range(3):
    child = os.fork()
    if not child:
        for _ in range(300):
            ask(log)
        os._exit(0)
    children.append(child)
for _ in range(300):
    ask(log)
for child in children:
    os.waitpid(child, 0)
"""
    assert finish(python(code, path)) == [0]

    found = verify(path, KEY)
    assert (bool(found), found.events) == (True, 1_201)


def test_verify_reads_a_log_that_is_in_use(path: Path) -> None:
    python(
        "log = write(Path(sys.argv[1]), 1, max_bytes=50_000, backup_count=9999)\n"
        "print(flush=True)\nwhile True: ask(log)",
        path,
    )
    read_line(started[-1])

    found = verify(path, KEY)
    while found and found.events < 1_000:
        found = verify(path, KEY)

    assert found


def test_a_process_killed_within_a_line_loses_that_line_only(path: Path) -> None:
    code = """
log = write(Path(sys.argv[1]), 3)
line = Path(sys.argv[1]).read_bytes().splitlines()[-1]
file = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND)
os.write(file, line[:200])
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert finish(python(code, path)) == [-signal.SIGKILL]
    found = verify(path, KEY)
    assert (bool(found), found.events, codes(found)) == (True, 3, [("torn_write", 4)])

    write(path, 2).close()

    found = verify(path, KEY)
    assert (bool(found), found.events, codes(found)) == (True, 5, [("torn_write", 4)])
    assert events_of(path)[3]["found"] == {"torn": 200}


def events_of(path: Path) -> list[dict[str, Any]]:
    """Return the events, without malformed lines."""
    return [json.loads(line) for line in path.read_bytes().splitlines() if line.endswith(b"}")]


def test_killed_processes_lose_no_written_lines(path: Path) -> None:
    code = "log = AuditLog(sys.argv[1], key=KEY)\nwhile True: ask(log); print(log.checkpoint().sequence, flush=True)"
    sequence = 0
    for _ in range(5):
        process = python(code, path)
        for _ in range(50):
            sequence = int(read_line(process))
        process.kill()
        finish(process)

    write(path, 1).close()

    found = verify(path, KEY)
    assert found
    assert found.last.sequence > sequence >= 250


@pytest.mark.parametrize("missing", [1, 2, 3, 60, 70, 300])
@pytest.mark.parametrize("has_head", [True, False])
def test_the_log_continues_after_a_torn_line(path: Path, missing: int, has_head: bool) -> None:
    log = write(path, 3)
    head = head_of(path).read_bytes()
    ask(log)
    log.close()
    head_of(path).write_bytes(head if has_head else b"")
    path.write_bytes(path.read_bytes()[:-missing])

    write(path, 2).close()

    found = verify(path, KEY)
    survives = missing == 1
    assert found.events == 5 + survives
    assert codes(found) == [("torn_write", 4)] * (not survives) + [("invalid_head", 5)] * (not has_head)
    assert bool(found) is has_head


def test_bytes_added_to_a_torn_line_are_a_violation(path: Path) -> None:
    write(path, 2).close()
    with path.open("ab") as file:
        file.write(b'{"sch')
    write(path, 1).close()
    path.write_bytes(path.read_bytes().replace(b'{"sch\n', b'{"sch\nhello\n'))

    assert codes(verify(path, KEY)) == [("malformed", 3), ("malformed", 4)]


@pytest.mark.parametrize("added", [b"hello\n", b"hello", b'{"schema":1,"seq":3,"event":"answered"}\n', b'{"schema":1}'])
def test_bytes_that_are_no_beginning_of_a_line_stay_a_violation_after_the_next_line(path: Path, added: bytes) -> None:
    write(path, 2).close()
    with path.open("ab") as file:
        file.write(added)
    assert codes(verify(path, KEY)) == [("malformed", 3)]

    write(path, 1).close()

    assert codes(verify(path, KEY)) == [("malformed", 3)]


@pytest.mark.parametrize("removed", [slice(0, 3), slice(2, 3)], ids=["and all lines before it", "alone"])
def test_a_torn_line_that_is_removed_is_detected(path: Path, removed: slice) -> None:
    write(path, 2).close()
    with path.open("ab") as file:
        file.write(b'{"sch')
    write(path, 1).close()
    assert verify(path, KEY)
    lines = path.read_bytes().splitlines(keepends=True)
    del lines[removed]
    path.write_bytes(b"".join(lines))

    assert codes(verify(path, KEY)) == [("missing", len(lines))]


def test_a_torn_line_is_reported_before_the_file_is_rotated(path: Path) -> None:
    write(path, 2).close()
    with path.open("ab") as file:
        file.write(b'{"schema":1,"seq":3,')

    write(path, 2, max_bytes=1).close()

    assert (codes(verify(path, KEY)), verify(path, KEY).events) == ([("torn_write", 3)], 4)
    assert json.loads(path.with_name("audit.jsonl.1").read_bytes().splitlines()[-1])["found"] == {"torn": 20}


def test_a_process_killed_before_the_head_loses_nothing(path: Path) -> None:
    log = write(path, 2)
    head = head_of(path).read_bytes()
    ask(log)
    ask(log)
    head_of(path).write_bytes(head)

    assert verify(path, KEY).events == 4
    assert log.checkpoint().sequence == 4
    write(path, 2).close()
    assert (bool(verify(path, KEY)), verify(path, KEY).events) == (True, 6)


@pytest.mark.parametrize("is_running", [True, False])
@pytest.mark.parametrize("what", ["missing", "invalid"])
def test_a_missing_head_is_reported_and_written_again(path: Path, is_running: bool, what: str) -> None:
    log = write(path, 3)
    if not is_running:
        log.close()
    head_of(path).unlink() if what == "missing" else head_of(path).write_bytes(b"x" * 172)
    ask(log)
    ask(log)

    found = verify(path, KEY)
    assert (codes(found), found.events) == ([("invalid_head", 4)], 5)
    assert events(path)[3]["found"] == {"head": what}


def test_a_log_with_backups_only_is_continued_and_reported(path: Path) -> None:
    write(path, 2, max_bytes=1).close()
    path.unlink()
    head_of(path).unlink()
    write(path, 1).close()

    assert (codes(verify(path, KEY)), verify(path, KEY).events) == ([("invalid_head", 1)], 2)


# Failure


@pytest.fixture
def away(tmp_path: Path) -> Callable[[], None]:
    """Move the folder of the log away, or back."""
    folder, elsewhere = tmp_path / "folder", tmp_path / "elsewhere"
    folder.mkdir()

    def move() -> None:
        if folder.exists():
            folder.rename(elsewhere)
        else:
            elsewhere.rename(folder)

    return move


def test_a_log_that_cannot_be_written_cancels_requests_only_if_enabled(
    tmp_path: Path, away: Callable[[], None], caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "folder" / "audit.jsonl"
    log = write(path, 1)
    away()
    with caplog.at_level(logging.ERROR):
        assert [ask(log, reply=YES) for _ in range(3)] == [YES] * 3
        assert len(caplog.records) == 1
        assert "cannot be written: No such file" in caplog.text
        away()
        ask(log)
        assert len(caplog.records) == 2
        assert "can be written again; 3 events were lost" in caplog.text
        away()
        ask(log)
        assert len(caplog.records) == 3
        away()
        ask(log)

    assert [(event["event"], event.get("lost")) for event in events(path)] == [
        ("question", None), ("recovery", 3), ("question", None), ("recovery", 1), ("question", None)
    ]  # fmt: skip
    assert verify(path, KEY)


def test_with_cancel_a_request_that_cannot_be_logged_is_not_asked(tmp_path: Path, away: Callable[[], None]) -> None:
    path = tmp_path / "folder" / "audit.jsonl"
    log = write(path, 1, on_failure="cancel")
    away()

    answer = ask(log, reply=lambda: pytest.fail("the user was asked"))

    assert (answer.action, answer.by, answer.policy) == ("cancel", "error", "audit")
    assert answer.reason == "the audit log cannot be written"
    away()
    assert ask(log, reply=YES) == YES
    assert [event["event"] for event in events(path)] == ["question", "recovery", "question"]


@pytest.mark.parametrize(("reply", "action"), [(YES, "cancel"), (NO, "decline"), (Answer.cancel(by="user"), "cancel")])
def test_with_cancel_an_accept_that_was_not_logged_is_cancelled(
    tmp_path: Path, away: Callable[[], None], reply: Answer, action: str
) -> None:
    log = write(tmp_path / "folder" / "audit.jsonl", 0, on_failure="cancel")

    def answer() -> Answer:
        away()
        return reply

    got = ask(log, reply=answer)

    assert got.action == action
    assert got.by == ("error" if reply == YES else "user")
    assert got.content is None


@pytest.mark.parametrize("on_failure", ["continue", "cancel"])
def test_opening_the_log_is_retried(tmp_path: Path, on_failure: str, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "later" / "audit.jsonl"
    log = write(path, 0, on_failure=on_failure)
    assert "cannot be written: No such file" in caplog.text
    assert (ask(log, reply=YES) == YES) is (on_failure == "continue")
    with pytest.raises(AuditError, match="cannot be read"):
        log.checkpoint()

    path.parent.mkdir()

    assert ask(log, reply=YES) == YES
    assert [event.get("lost") for event in events(path)] == [1, None]


@pytest.mark.parametrize(("on_failure", "room"), [("continue", 0), ("continue", 400), ("cancel", 1)])
def test_events_lost_to_a_full_disk_are_counted(path: Path, on_failure: str, room: int) -> None:
    """A limit on the size of files leaves half a line, as a full disk does."""
    code = """
path = Path(sys.argv[1])
log = write(path, 2, on_failure=sys.argv[2])
limits = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + int(sys.argv[3]), limits[1]))
print(*(ask(log, reply=YES).action for _ in range(3)))
resource.setrlimit(resource.RLIMIT_FSIZE, limits)
ask(log)
"""
    out, _ = python(code, path, on_failure, room, stderr=subprocess.DEVNULL).communicate(timeout=60)

    assert out.split() == ["accept" if on_failure == "continue" else "cancel"] * 3
    found = verify(path, KEY)
    assert found
    assert found.events == 4
    assert {code for code, _ in codes(found)} == ({"torn_write"} if room else set())
    assert [event["lost"] for event in events_of(path) if event["event"] == "recovery"] == [3]


def test_threads_that_recover_at_the_same_time_count_each_lost_event_once(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = write(path, 1)
    with monkeypatch.context() as full:
        full.setattr(writer, "write_all", lambda *_: os.write(-1, b""))
        ask(log)
        ask(log)
    append, both = log._writer.append, threading.Barrier(2)

    def append_together(event: bytes) -> Checkpoint:
        if b'"recovery"' in event:
            both.wait(60)
        return append(event)

    monkeypatch.setattr(log._writer, "append", append_together)
    threads = [threading.Thread(target=ask, args=[log]) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert sum(event.get("lost", 0) for event in events(path)) == 2
    assert [event["event"] for event in events(path)].count("question") == 3
    assert verify(path, KEY)


@pytest.mark.parametrize("backup_count", [0, 3])
@pytest.mark.parametrize("room", [200, 400])
def test_a_disk_that_is_full_after_a_rotation_leaves_a_valid_log(path: Path, room: int, backup_count: int) -> None:
    code = """
path = Path(sys.argv[1])
log = write(path, 1, max_bytes=1_000, backup_count=int(sys.argv[3]))
limits = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), limits[1]))
for _ in range(3):
    ask(log)
resource.setrlimit(resource.RLIMIT_FSIZE, limits)
ask(log)
"""
    python(code, path, room, backup_count, stderr=subprocess.DEVNULL).communicate(timeout=60)

    found = verify(path, KEY)
    assert found
    assert {code for code, _ in codes(found)} <= {"torn_write"}
    assert found.last.sequence == 3


def test_a_held_lock_does_not_block_requests(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    log = write(path, 1)
    log._writer.lock_timeout = 0.01
    code = """
import fcntl
fcntl.flock(os.open(sys.argv[1] + ".head", os.O_RDWR), fcntl.LOCK_EX)
print(flush=True)
signal.pause()
"""
    process = python(code, path)
    read_line(process)

    assert ask(log, reply=YES) == YES
    assert "Another process holds the lock of the audit log" in caplog.text
    assert log._writer.lock_timeout == 0
    process.kill()
    finish(process)
    ask(log)
    assert log._writer.lock_timeout == LOCK_TIMEOUT
    assert [event.get("lost") for event in events(path)] == [None, 1, None]


def test_a_failed_log_releases_its_lock(path: Path) -> None:
    log, other = write(path, 1), write(path, 1)
    other._writer.lock_timeout = 0
    data = path.read_bytes()
    path.unlink()
    path.mkdir()
    ask(log)
    path.rmdir()
    path.write_bytes(data)
    path.chmod(0o600)

    ask(other)

    assert [event["event"] for event in events(path)] == ["question"] * 3
    assert verify(path, KEY)


def test_a_log_that_becomes_unsafe_is_not_written(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    log = write(path, 1)
    log.close()
    path.chmod(0o666)

    assert ask(log, reply=YES) == YES

    assert "Other users can write to" in caplog.text
    assert len(events(path)) == 1


def test_any_exception_of_the_log_is_a_failure_of_the_log(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def clock() -> float:
        raise ZeroDivisionError("hunter2")

    log = write(path, 0, clock=clock)
    assert [ask(log, reply=YES) for _ in range(2)] == [YES, YES]
    log = write(path, 0, clock=clock, on_failure="cancel")
    assert [ask(log, reply=YES).policy for _ in range(2)] == ["audit", "audit"]
    assert "cannot be written: ZeroDivisionError" in caplog.text
    assert "hunter2" not in caplog.text


def test_fsync_writes_each_line_to_the_disk(path: Path) -> None:
    write(path, 2, fsync=True).close()

    assert verify(path, KEY).events == 2


def test_with_fsync_no_event_is_lost_in_a_power_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(monkeypatch)
    folder = tmp_path / "log"
    folder.mkdir()
    log = AuditLog(folder / "audit.jsonl", fsync=True, max_bytes=1_200)
    for number in range(1, 9):
        ask(log)
        copy = disk.copy(folder, tmp_path / str(number)) / "audit.jsonl"

        assert verify(copy).events == number
        ask(AuditLog(copy, max_bytes=1_200))
        assert verify(copy), verify(copy)
        assert verify(copy).events == number + 1


# Telemetry


class Recorder:
    """Replaces the meters and tracers of OpenTelemetry, and records their calls."""

    def __init__(self) -> None:
        self.spans: list[dict[str, Any]] = []
        self.measured: list[tuple[str, float, dict[str, Any]]] = []

    def get_tracer(self, *_names: Any, **_options: Any) -> Any:
        return self

    get_meter = get_tracer

    def start_as_current_span(self, name: str, **options: Any) -> Any:
        from contextlib import nullcontext

        self.spans.append({"name": name, **options["attributes"]})
        return nullcontext(self)

    def set_attributes(self, attributes: dict[str, Any]) -> None:
        self.spans[-1].update(attributes)

    def set_status(self, status: Any) -> None:
        self.spans[-1]["status"] = status.name

    def create_counter(self, name: str, *_about: str) -> Any:
        class Instrument:
            def add(_, value: float, attributes: dict[str, Any]) -> None:  # noqa: N805
                self.measured.append((name, value, attributes))

            record = add

        return Instrument()

    create_histogram = create_counter


@pytest.fixture
def recorder() -> Recorder:
    pytest.importorskip("opentelemetry")
    return Recorder()


def telemetry(recorder: Any) -> Telemetry:
    return Telemetry(tracer_provider=recorder, meter_provider=recorder)


def test_telemetry_contains_no_server_text(path: Path, recorder: Recorder) -> None:
    log = write(path, 0, telemetry=telemetry(recorder))

    ask(log, reply=YES)
    ask(log, URL, Answer.cancel(by="policy", policy="cooldown"))
    with pytest.raises(KeyError):
        ask(log, reply=KeyError("hunter2"))

    form, url, failed = recorder.spans
    assert form == {
        "name": "elicitation/create",
        "mcp.method.name": "elicitation/create",
        "mcp_elicit.server": "mail",
        "mcp_elicit.mode": "form",
        "mcp_elicit.diagnostics": ["unsupported_field"],
        "mcp_elicit.fields": 4,
        "mcp_elicit.outcome": "answered",
        "mcp_elicit.action": "accept",
        "mcp_elicit.by": "user",
    }
    assert (url["mcp_elicit.policy"], url["mcp_elicit.mode"]) == ("cooldown", "url")
    assert (failed["mcp_elicit.outcome"], failed["error.type"], failed["status"]) == ("raised", "KeyError", "ERROR")
    assert not re.search(r"hunter2|Ada|Who|Mail|book|s3cret|e1", f"{recorder.spans} {recorder.measured}")
    assert [(name, value) for name, value, _ in recorder.measured if name == "mcp_elicit.requests"] == [
        ("mcp_elicit.requests", 1)
    ] * 3
    assert len(recorder.measured) == 6


def test_telemetry_reports_the_answer_after_the_log(
    tmp_path: Path, away: Callable[[], None], recorder: Recorder
) -> None:
    log = write(tmp_path / "folder" / "audit.jsonl", 0, on_failure="cancel", telemetry=telemetry(recorder))
    away()

    ask(log, reply=YES)

    assert (recorder.spans[0]["mcp_elicit.action"], recorder.spans[0]["mcp_elicit.by"]) == ("cancel", "error")


def test_telemetry_of_the_process_does_nothing_until_it_is_set_up(path: Path) -> None:
    pytest.importorskip("opentelemetry")
    log = write(path, 0, telemetry=True)

    assert ask(log, reply=YES) == YES
    with pytest.raises(GeneratorExit):
        ask(log, reply=GeneratorExit())
    assert [event["outcome"] for event in events(path)] == ["answered", "withdrawn"]


def test_telemetry_without_its_package_names_the_extra(path: Path) -> None:
    code = """
from mcp_elicit_client import MissingExtraError
sys.modules["opentelemetry"] = None
try:
    AuditLog(sys.argv[1], telemetry=True)
except MissingExtraError as error:
    print(error, Path(sys.argv[1]).exists())
"""
    out, _ = python(code, path).communicate(timeout=60)

    assert "mcp-elicit-client[otel]" in out
    assert out.endswith(" False\n")


# The command


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def run(*words: object) -> tuple[int, str, str]:
        try:
            status = main(["audit", *map(str, words)])
        except SystemExit as end:
            status = int(end.code or 0)
        shown = capsys.readouterr()
        return status, shown.out, shown.err

    return run


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    file = tmp_path / "key"
    file.write_text(KEY.hex(), encoding="ascii")
    file.chmod(0o600)
    return file


def test_the_command_verifies_a_log_with_the_key_beside_it(path: Path, run: Any) -> None:
    anchor = write(path, 3, key=None).checkpoint()

    assert run("verify", path) == (0, f"Verification passed: 3 lines.\nCheckpoint: {anchor}\n", "")
    assert run("verify", path, "--checkpoint", anchor)[0] == 0
    assert run("verify", path, "--checkpoint", f"4:{'0' * 64}")[:2] == (
        1,
        f"""truncated: The checkpoint includes line 4, missing from the end.
Verification failed: 1 violation.
Checkpoint: {anchor}
""",
    )


def test_the_command_reports_the_changed_line(path: Path, run: Any, key_file: Path) -> None:
    write(path, 3).close()
    path.write_bytes(path.read_bytes().replace(b"decline", b"accept", 1))

    status, out, _ = run("verify", path, "--key", key_file)
    assert status == 1
    assert out.startswith("audit.jsonl, line 1: modified: The line was changed.\n")

    status, out, _ = run("verify", path, "--key", key_file, "--json")
    found = json.loads(out)
    assert (status, found["valid"], found["events"]) == (1, False, 2)
    assert found["violations"][0]["line"] == 1


def test_the_command_distinguishes_another_key_from_a_changed_line(path: Path, run: Any, key_file: Path) -> None:
    write(path, 130, key=KEY[::-1]).close()

    status, out, _ = run("verify", path, "--key", key_file)

    assert status == 1
    assert "... and 31 more" in out
    assert "No line matches the key" in out


def test_the_command_does_not_blame_the_key_of_a_log_without_events(path: Path, run: Any, key_file: Path) -> None:
    AuditLog(path, key=KEY).close()

    status, out, _ = run("verify", path, "--key", key_file)

    assert status == 1
    assert out.startswith("invalid_head: The head file is missing.")
    assert "No line matches the key" not in out


def test_the_command_reports_errors(path: Path, run: Any, key_file: Path) -> None:
    write(path, 1).close()
    key_file.with_name("bad").write_text("xyz", encoding="ascii")
    for words, message in [
        (["verify", path], f"Cannot read {path}.key: No such file"),
        (["verify", path.parent / "nothing"], f"Cannot read {path.parent / 'nothing'}: No such file"),
        (["verify", path.parent / "nothing", "--key", key_file], "nothing: No such file"),
        (["verify", path, "--key", key_file, "--checkpoint", "x"], "A checkpoint is SEQUENCE:MAC"),
        (["verify", path, "--key", key_file.with_name("bad")], "Other users can read the key"),
        (["tail", path.parent / "nothing"], "Cannot read"),
        (["stats", path.parent], "is not a regular file"),
        (["tail", path, "-n", "-1"], "invalid"),
        (["stats", path, "--", "x"], "Only `mcp-elicit call` and `mcp-elicit answer` accept a command"),
        ([], "required"),
    ]:
        status, _, err = run(*words)

        assert status == 2
        assert message in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_the_command_does_not_blame_the_log_for_a_full_disk(path: Path) -> None:
    write(path, 1).close()
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "mcp_elicit_client", "audit", "tail", str(path)]
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)

    assert (ended.returncode, ended.stderr) == (1, "mcp-elicit: Cannot write stdout: No space left on device\n")


def test_the_command_prints_the_last_events(path: Path, run: Any) -> None:
    log = write(path, 3, max_bytes=1_500)
    listed = Answer.accept({"name": "Ada"}, by="policy", reason="listed", sources={"name": "policy"})
    ask(log, reply=listed.model_copy(update={"policy": "automatic_answers"}))
    ask(log, URL)

    status, out, _ = run("tail", path, "-n", 2)

    assert status == 0
    warned = ", ".join(warning.code for warning in URL.target.warnings)
    assert (
        re.sub(r"0[.]0\d\d s", "0 s", out)
        == f"""\
2027-01-15T08:00:00.250000Z #4 mail: form; accept by policy (automatic_answers); reason: listed; \
fields: "name" (policy), "size", "many", "age"; diagnostics: unsupported_field ("odd"); 0 s
2027-01-15T08:00:00.250000Z #5 mail: url xn--80ak6aa92e.com; decline by user; warnings: {warned}; 0 s
"""
    )
    assert run("tail", path)[1].count("\n") == 5
    assert [json.loads(line)["seq"] for line in run("tail", path, "--json", "-n", 3)[1].splitlines()] == [3, 4, 5]
    assert run("tail", path, "-n", 10**20)[1] == run("tail", path)[1]


def test_the_command_selects_the_events_of_a_user(path: Path, run: Any) -> None:
    log = AuditLog(path)
    for user in ("ann", "bob", "ann", "zo\udceb"):
        ask(log, FORM.model_copy(update={"user": user}))

    shown = run("tail", path, "--json", "--user", "ann")[1].splitlines()
    assert [json.loads(line)["seq"] for line in shown] == [1, 3]
    assert json.loads(run("stats", path, "--json", "--user", "bob", "--key", f"{path}.key")[1])["requests"] == 1
    assert run("tail", path, "--user", "zo\udceb")[1].count("\n") == 1
    assert run("tail", path, "--user", "eve")[:2] == (0, "")


WILD = [
    b"\x1b[2J\xff",
    b"null",
    b'{"event":"question","server":"\\u001b[2J\\nforged","fields":[{"name":"\\u202e"},3],"latency":"x","by":{"a":[]}}',
    b'{"event":"question","fields":3,"diagnostics":[{}],"latency":true,"action":["\\u001b"],"latency":NaN}',
    b'{"event":"recovery","lost":"many"}',
    b"[" * 9999,
]


def test_the_command_sanitizes_forged_events(path: Path, run: Any) -> None:
    write(path, 1).close()
    with path.open("ab") as file:
        file.write(b"\n".join(WILD))

    for words in (["tail"], ["stats"], ["tail", "--json"], ["stats", "--json"]):
        status, out, _ = run(*words, path)

        assert status == 0
        assert all(sanitize_text(line, limit=None) == line or "--json" in words for line in out.splitlines())
        assert out.isascii()
        assert "\nforged" not in out


def test_the_command_counts_events(path: Path, run: Any) -> None:
    log = write(path, 2, max_bytes=1_500)
    ask(log, URL, YES)
    log._writer._close()
    log._lost, log._is_failing = 4, True
    ask(log, FORM.model_copy(update={"server": Server(name="bank")}), Answer.cancel(by="policy", policy="cooldown"))
    with path.open("ab") as file:
        file.write(b"x\n")

    status, out, _ = run("stats", path, "--json")
    found = json.loads(out)
    assert status == 0
    assert 0 <= found.pop("median_latency") < 1
    assert found == {
        "requests": 4,
        "lost": 4,
        "malformed": 1,
        "server": {"mail": 3, "bank": 1},
        "mode": {"form": 3, "url": 1},
        "outcome": {"answered": 4},
        "action": {"decline": 2, "accept": 1, "cancel": 1},
        "by": {"user": 3, "policy": 1},
        "policy": {"cooldown": 1},
    }
    _, out, _ = run("stats", path)
    assert re.match(r"Requests: 4\. Median latency: 0\.\d{3} s\.\nLost events: 4\. Invalid lines: 1\.\nserver:\n", out)
    assert "   3 mail\n" in out


def test_the_command_follows_a_log_through_rotations(path: Path) -> None:
    log = write(path, 1, max_bytes=1_500)
    # Where the tests run in the background, SIGINT is ignored, and so it would be in the command.
    heed = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
    code = f"{heed} from mcp_elicit_client.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "audit", "tail", str(path), "--follow", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for sequence in range(1, 8):
            assert json.loads(read_line(process))["seq"] == sequence
            ask(log)
        process.send_signal(signal.SIGINT)

        assert process.wait(timeout=60) == 130
    assert path.with_name("audit.jsonl.1").exists()


@pytest.mark.parametrize("number", ["1" * 400, "-1e308", "NaN", "true"])
@pytest.mark.parametrize("command", ["tail", "stats"])
def test_a_number_that_is_none_of_the_log_is_not_counted(path: Path, run: Any, command: str, number: str) -> None:
    write(path, 1).close()
    with path.open("a") as file:
        file.write(f'{{"event":"question","latency":{number}}}\n{{"event":"recovery","lost":{number}}}\n')

    status, out, _ = run(command, path)

    assert status == 0
    assert ("Lost events: 0." in out) == (command == "stats")


def follow(path: Path, run: Any, monkeypatch: pytest.MonkeyPatch, *changes: Callable[[], object]) -> list[Any]:
    """Follow the log while *changes* happen, one for each time that nothing is new; return the numbers of the lines."""
    remaining = list(changes)

    def sleep(_seconds: float) -> None:
        if not remaining:
            raise KeyboardInterrupt
        remaining.pop(0)()

    monkeypatch.setattr("mcp_elicit_client.cli.audit.time.sleep", sleep)
    status, out, _ = run("tail", path, "--follow", "--json")
    assert status == 130
    return [json.loads(line).get("seq") for line in out.splitlines() if line]


def test_the_command_follows_several_rotations_at_once(path: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    log = write(path, 1, max_bytes=1)

    def ask_thrice() -> None:
        for _ in range(3):
            ask(log)

    assert follow(path, run, monkeypatch, ask_thrice, ask_thrice) == [1, 2, 3, 4, 5, 6, 7]


def test_the_command_shows_lines_that_are_written_just_before_a_rotation(
    path: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(path, 1).close()

    def continue_and_rotate() -> None:
        write(path, 1).close()
        write(path, 1, max_bytes=1).close()

    assert follow(path, run, monkeypatch, continue_and_rotate) == [1, 2, 3]


def test_the_command_shows_the_line_after_a_torn_one_that_was_rotated(
    path: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(path, 1).close()

    def tear() -> None:
        with path.open("ab") as file:
            file.write(b'{"sch')

    def rotate() -> None:
        path.rename(path.with_name("audit.jsonl.1"))
        write(path, 1).close()

    assert follow(path, run, monkeypatch, tear, rotate) == [1, None, 2]


def test_the_command_follows_a_log_that_is_truncated(path: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    log = write(path, 3)

    def truncate() -> None:
        os.truncate(path, 0)
        ask(log)

    assert follow(path, run, monkeypatch, truncate) == [1, 2, 3, 4]


def test_the_command_ends_when_its_reader_closes(path: Path) -> None:
    write(path, 2_000).close()
    command = f"{sys.executable} -m mcp_elicit_client audit tail {path} -n 2000 | head -n 1"

    run = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60, check=True)

    assert (run.stdout.count("\n"), run.stderr) == (1, "")


def test_a_copy_of_the_log_can_be_verified_elsewhere(path: Path, tmp_path: Path, run: Any, key_file: Path) -> None:
    write(path, 5, max_bytes=1_500).close()
    folder = tmp_path / "copy"
    folder.mkdir()
    for each in tmp_path.glob("audit.jsonl*"):
        shutil.copy(each, folder)

    assert run("verify", folder / path.name, "--key", key_file)[0] == 0


# A log that is changed while a process writes it


def files(path: Path) -> tuple[Path, Path]:
    return path, head_of(path)


def keep(path: Path, into: Path) -> None:
    into.mkdir()
    for each in path.parent.glob(f"{path.name}*"):
        if each.is_file():
            shutil.copy(each, into)


def put_back(into: Path, path: Path, names: tuple[str, ...]) -> None:
    for name in names:
        shutil.copy(into / name, path.parent / name)


NAMES = {"log": ("audit.jsonl",), "head": ("audit.jsonl.head",), "both": ("audit.jsonl", "audit.jsonl.head")}


@pytest.mark.parametrize("is_new_file", [False, True])
@pytest.mark.parametrize("is_open", [True, False])
@pytest.mark.parametrize("others", [0, 2, 3, 6])
@pytest.mark.parametrize("what", ["log", "both"])
def test_a_log_that_is_rolled_back_under_a_running_writer_is_reported(
    path: Path, tmp_path: Path, caplog: Any, what: str, others: int, is_open: bool, is_new_file: bool
) -> None:
    log = write(path, 3)
    keep(path, tmp_path / "kept")
    for _ in range(3):
        ask(log)
    if not is_open:
        log.close()
    for name in NAMES[what] if is_new_file else ():
        path.with_name(name).unlink()
    put_back(tmp_path / "kept", path, NAMES[what])
    if others:
        write(path, others, clock=lambda: 1_900_000_000.0).close()
    ask(log)

    assert not verify(path, KEY)
    assert "was changed before line" in caplog.text
    if what == "both":
        assert codes(verify(path, KEY))[0][0] == "log_missing"
        assert events(path)[-1]["found"] == {"log": "rolled back", "known": 6}


@pytest.mark.parametrize("is_open", [True, False])
@pytest.mark.parametrize("what", NAMES)
def test_a_log_or_head_that_is_deleted_under_a_running_writer_is_reported(
    path: Path, caplog: Any, what: str, is_open: bool
) -> None:
    log = write(path, 3)
    if not is_open:
        log.close()
    for name in NAMES[what]:
        path.with_name(name).unlink()
    ask(log)
    ask(log)

    assert not verify(path, KEY)
    assert caplog.text.count("was changed before line") == 1


def test_a_checkpoint_does_not_go_back_with_the_log(path: Path, tmp_path: Path) -> None:
    log = write(path, 1)
    keep(path, tmp_path / "kept")
    ask(log)
    checkpoint = log.checkpoint()
    put_back(tmp_path / "kept", path, NAMES["both"])

    assert log.checkpoint() == checkpoint
    ask(log)
    assert not verify(path, KEY)


def test_a_checkpoint_of_lines_of_other_processes_does_not_go_back_with_the_log(path: Path, tmp_path: Path) -> None:
    log = write(path, 1)
    keep(path, tmp_path / "kept")
    write(path, 3).close()
    checkpoint = log.checkpoint()
    put_back(tmp_path / "kept", path, NAMES["both"])

    assert log.checkpoint() == checkpoint
    ask(log)
    assert not verify(path, KEY)
    assert events(path)[-1]["found"] == {"log": "rolled back", "known": 4}


@pytest.mark.parametrize("backup_count", [0, 1, 5])
@pytest.mark.parametrize("max_bytes", [1, 1_500, 1_000_000])
def test_lines_and_rotations_of_other_processes_are_no_rollback(
    path: Path, caplog: Any, max_bytes: int, backup_count: int
) -> None:
    options: Any = {"max_bytes": max_bytes, "backup_count": backup_count}
    here, there = write(path, 2, **options), write(path, 0, **options)
    for count in (1, 3, 7, 0, 2):
        for _ in range(count):
            ask(there)
        here.checkpoint()
        ask(here)

    assert verify(path, KEY)
    assert "was changed" not in caplog.text


def test_a_log_that_another_program_copies_and_truncates_is_no_rollback(path: Path, caplog: Any) -> None:
    log = write(path, 3)
    shutil.copy(path, path.with_name("audit.jsonl.1"))
    os.truncate(path, 0)
    ask(log)
    write(path, 1).close()
    ask(log)

    assert verify(path, KEY).events == 6
    assert "rolled back" not in caplog.text
