"""Policies, each alone and all together."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import date, datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
import pytest
import trio.lowlevel
from trio.testing import MockClock

from mcp_elicit_client import Answer, ElicitationRegistry, FormRequest, Server, parse_request
from mcp_elicit_client.calls.active_call import ActiveCall, CallTimeouts, ask_within
from mcp_elicit_client.core.secrets import in_answer
from mcp_elicit_client.core.secrets.rules import load_rules
from mcp_elicit_client.dispatch import Dispatcher
from mcp_elicit_client.exceptions import MissingExtraError, PermissionsFileError
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.handlers.terminal import TerminalHandler
from mcp_elicit_client.policies import (
    AutomaticAnswers,
    Permissions,
    answer_timeout,
    compose,
    cooldown_after_declines,
    flag_impersonation,
    form_fingerprint,
    hooks,
    one_at_a_time,
    protect_secrets,
    rate_limit,
    recommended,
)
from mcp_elicit_client.policies import permissions as permissions_module
from mcp_elicit_client.policies.impersonation import skeleton
from mcp_elicit_client.typing import Request
from tests.support import ROOT, cases, forks, form_params, free_port, read_line, skip_or_fail, succeeds_in_fork
from tests.support.console import ScriptedConsole
from tests.support.power_failures import Disk

pytestmark = pytest.mark.anyio

YES = Answer.accept({"a": "x"}, by="user")
NO = Answer.decline(by="user")
LEFT = Answer.cancel(by="user")
TEXT = form_params({"properties": {"a": {"type": "string"}}}, "What colour?")
URL = {"mode": "url", "message": "m", "url": "https://a.example/", "elicitationId": "e"}
SIMULATED = ("trio", {"clock": MockClock(autojump_threshold=0)})


def request(params: Any = TEXT, server: str = "mail", **details: Any) -> Any:
    return parse_request(params, server=server, **details)


def guarded(policy: Any, handler: Any) -> Any:
    """A handler wrapped in a policy of this package, which always returns an `Answer`."""
    return policy(handler)


def answering(answer: Answer) -> Any:
    async def handler(_request: Request) -> Answer:
        return answer

    return handler


class Asked:
    """A handler that counts."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers) or [YES]
        self.requests: list[Any] = []

    async def __call__(self, request: Request, /) -> Answer:
        self.requests.append(request)
        return self.answers[0] if len(self.answers) == 1 else self.answers.pop(0)


# --- answers without a decision of a user


async def nothing(_request: Request) -> Any:
    return None


async def fail(_request: Request) -> Answer:
    raise RuntimeError("boom")


async def for_ever(_request: Request) -> Answer:
    await anyio.sleep_forever()
    raise AssertionError


async def nonsense(*_: object) -> Any:
    return "yes"


async def failing(*_: object) -> Any:
    raise RuntimeError("boom")


async def declined(times: int) -> Any:
    now = [0.0]
    handler: Any = cooldown_after_declines(clock=lambda: now[0])(answering(NO))
    for _ in range(times):
        now[0] += 10_000
        await handler(request())
    return await handler(request())


async def over_the_queue() -> Any:
    handler: Any = one_at_a_time(max_queued=0)(for_ever)
    async with anyio.create_task_group() as group:
        group.start_soon(handler, request())
        await anyio.wait_all_tasks_blocked()
        answer = await handler(request())
        group.cancel_scope.cancel()
    return answer


async def too_often(storage: str = "memory://") -> Any:
    handler: Any = rate_limit(["1/hour"], storage=storage)(answering(YES))
    await handler(request())
    return await handler(request())


async def broken_file(folder: Path) -> Any:
    path = folder / "permissions.json"
    permissions = Permissions(path)
    path.write_text("{")
    path.chmod(0o600)
    return await permissions.policy(answering(YES))(request())


def permitted(permission: Any) -> Any:
    permissions = Permissions()
    permissions.set(permission, server="mail")
    return permissions.policy(answering(YES))(request())


async def boundary(handler: Any, params: Any = TEXT) -> Answer:
    return await Dispatcher(handler).answer(params, server=Server(name="mail"))


async def asked_in_a_call(*, questions: int = 25, times: int = 1, answer: Answer = YES) -> Answer:
    call = ActiveCall(None, None, CallTimeouts(None, None), questions)
    for number in range(times):
        params = form_params({"properties": {}}, str(number * (answer == YES)))
        last = await ask_within([call], answering(answer), request(params))
    return last


async def late_in_a_call() -> Answer:
    from mcp_elicit_client.calls import Caller

    caller = Caller(for_ever, "mail")
    call = ActiveCall(None, None, CallTimeouts(None, 1e-9), 9)
    caller._elicitations.calls.add(call)
    with call.timeouts:
        return await caller.handler(request())


LINE = "-----{} RSA PRIVATE KEY-----"
KEY = {"a": f"{LINE.format('BEGIN')}\nMIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn/ygWyF8PbnGy0AHB7\n{LINE.format('END')}"}
PASSWORD = form_params({"properties": {"password": {"type": "string", "title": "Password"}}}, "Log in")

PATHS: dict[str, Callable[[Path], Awaitable[Any]]] = {
    "permissions: block": lambda _: permitted("block"),
    "permissions: block until restart": lambda _: permitted("block_until_restart"),
    "permissions: decline": lambda _: permitted("decline"),
    "permissions: invalid file": broken_file,
    "rate limit: reached": lambda _: too_often(),
    "rate limit: storage unavailable": lambda _: too_often("redis://127.0.0.1:1"),
    "queue: full": lambda _: over_the_queue(),
    "cooldown: after three declines": lambda _: quiet_now(),
    "cooldown: after five declines": lambda _: declined(5),
    "answer timeout: no answer": lambda _: answer_timeout(0.01)(for_ever)(request()),
    "secrets: form with a password": lambda _: protect_secrets()(answering(YES))(request(PASSWORD)),
    "secrets: answer with a key": lambda _: protect_secrets()(answering(Answer.accept(KEY, by="user")))(request()),
    "hooks: before raises": lambda _: hooks(before=failing)(answering(YES))(request()),
    "hooks: before returns another type": lambda _: hooks(before=nonsense)(answering(YES))(request()),
    "hooks: after raises": lambda _: hooks(after=failing)(answering(YES))(request()),
    "hooks: after returns another type": lambda _: hooks(after=nonsense)(answering(YES))(request()),
    "automatic answers: invalid value, unattended": lambda _: AutomaticAnswers(
        {("mail", form_fingerprint(request().form)): {"a": 5}}
    ).policy(HeadlessHandler())(request()),
    "headless": lambda _: HeadlessHandler()(request()),
    "headless: URL": lambda _: HeadlessHandler(accept_defaults_from={"mail"})(request(URL)),
    "no handler": lambda _: ElicitationRegistry()(request()),
    "a handler that returns nothing": lambda _: boundary(nothing),
    "a handler that raises": lambda _: boundary(fail),
    "invalid answer": lambda _: boundary(answering(Answer.accept({"a": 5}, by="user"))),
    "terminal: end of input": lambda _: TerminalHandler(console=ScriptedConsole([]))(request()),
    "terminal: not a terminal": lambda _: TerminalHandler()(request()),
    "call: answer timeout": lambda _: late_in_a_call(),
    "call: too many requests": lambda _: asked_in_a_call(questions=2, times=3),
    "call: repeated request": lambda _: asked_in_a_call(times=2, answer=NO),
}


async def quiet_now() -> Any:
    handler: Any = cooldown_after_declines()(answering(NO))
    for _ in range(3):
        await handler(request())
    return await handler(request())


@pytest.mark.parametrize("case", cases("paths"))
async def test_answers_without_a_decision_of_a_user_match_the_table(case: Any, tmp_path: Path) -> None:
    answer = await PATHS[case["name"]](tmp_path)

    assert (answer.action, answer.by, answer.policy) == (case["action"], case["by"], case["policy"])
    assert answer.by not in ("user", "host", "default")
    assert answer.content is None
    assert answer.reason
    assert case["action"] == "cancel" or case["why"]


def test_every_path_is_in_the_table() -> None:
    assert [case.values[0]["name"] for case in cases("paths")] == list(PATHS)


# --- permissions


async def test_the_most_specific_permission_applies() -> None:
    permissions = Permissions()
    permissions.set("block", server=None)
    permissions.set("ask", server="mail")
    permissions.set("decline", server="mail", mode="url")
    permissions.set("ask", server="mail", tool="send")

    holds = permissions._permission_for
    assert holds(request(server="other")) == "block"
    assert holds(request()) == "ask"
    assert holds(request(URL)) == "decline"
    assert holds(request(URL, tool="send")) == "ask"
    permissions.set("block_until_restart", server="mail")
    assert holds(request(URL, tool="send")) == "block_until_restart"
    assert len(list(permissions)) == 4


async def test_a_request_without_a_rule_is_asked_and_can_be_blocked(tmp_path: Path) -> None:
    path = tmp_path / "permissions.json"
    asked = Asked(Answer.decline(by="user", block_server=True), YES)
    permissions = Permissions(path)
    handler: Any = permissions.policy(asked)

    first = await handler(request())
    second = await handler(request())
    other = await handler(request(server="other"))

    assert [each.action for each in (first, second, other)] == ["decline", "cancel", "accept"]
    assert [each.can_block for each in asked.requests] == [True, True]
    assert Permissions(path)._permission_for(request()) == "block"


@forks
def test_a_process_that_was_forked_while_a_thread_stored_a_permission_can_store_its_own(tmp_path: Path) -> None:
    path = tmp_path / "permissions.json"
    permissions = Permissions(path)
    with permissions._lock:  # as another thread
        assert succeeds_in_fork(partial(permissions.set, "block", server="shop"))

    assert [rule.server for rule in Permissions(path)] == ["shop"]


def test_a_file_is_private_and_does_not_contain_temporary_blocks(tmp_path: Path) -> None:
    path = tmp_path / "permissions.json"
    permissions = Permissions(path)
    permissions.set("block", server="mail", mode="url", tool="pay")
    permissions.set("block_until_restart", server="other")

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text()) == {
        "version": 1,
        "rules": [{"server": "mail", "mode": "url", "tool": "pay", "permission": "block"}],
    }
    assert [each.name for each in tmp_path.iterdir()] == ["permissions.json"]


def test_a_permission_that_was_set_survives_a_power_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(monkeypatch)
    folder = tmp_path / "permissions"
    folder.mkdir()
    permissions = Permissions(folder / "permissions.json")
    for server in ("mail", "other"):
        permissions.set("block", server=server)
        copy = disk.copy(folder, tmp_path / server) / "permissions.json"
        assert list(Permissions(copy)) == list(permissions)


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_other_users_can_write_to_is_refused(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "permissions.json"
    Permissions(path).set("block", server="mail")
    path.chmod(mode)

    with pytest.raises(PermissionsFileError, match="Other users can write to"):
        Permissions(path)


BROKEN = {
    "{": "it is not JSON",
    "[]": "it is not an object",
    '{"version": 2}': "`version` must be 1",
    '{"rules": [{"permission": "ask"}, {"server": "mail"}]}': r"`rules\[1\]\.permission` is missing",
    '{"rules": [{"permission": "ask", "mode": "Form"}]}': r"`rules\[0\]\.mode` must be 'form' or 'url'",
    '{"rules": [{"permission": "ask", "surprise": 1}]}': r"`rules\[0\]\.surprise` is unknown",
    '{"rules": [{"permission": "ask", "server": 5}]}': r"`rules\[0\]\.server` is of the wrong type",
    "[" * 100_000: "it is not JSON",
    '{"rules": [{"server": "\\ud800", "permission": "ask"}]}': "it is not JSON",
    '{"rules": [{"permission": "block", "permission": "ask"}]}': "several members 'permission' in one object. Keep one",
    '{"rules": [{"permission": "block"}], "rules": []}': "several members 'rules' in one object",
    " " * 1_100_000: "is larger than 1048576 bytes",
}


@pytest.mark.parametrize(("text", "why"), BROKEN.items(), ids=range(len(BROKEN)))
def test_an_invalid_file_is_refused_with_a_reason(text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "permissions.json"
    path.write_text(text)
    path.chmod(0o600)

    with pytest.raises(PermissionsFileError, match=why):
        Permissions(path)


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])  # without and with the mark of Windows editors
def test_a_file_that_was_edited_on_windows_is_read(start: bytes, tmp_path: Path) -> None:
    path = tmp_path / "permissions.json"
    path.write_bytes(start + b'{\r\n"rules": [{"server": "mail", "permission": "block"}]\r\n}\r\n')
    path.chmod(0o600)
    permissions = Permissions(path)
    assert permissions._permission_for(request()) == "block"
    permissions.set("decline", server="other")
    assert [each.server for each in Permissions(path)] == ["mail", "other"]


def test_a_change_of_another_process_is_detected(tmp_path: Path) -> None:
    path = tmp_path / "permissions.json"
    here, there = Permissions(path), Permissions(path)

    there.set("block", server="mail")
    assert here._permission_for(request()) == "block"
    here.set("block", server="other")
    assert there._permission_for(request(server="other")) == "block"
    assert len(list(Permissions(path))) == 2


async def test_a_rule_that_is_set_while_another_thread_reads_the_file_applies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, threads = tmp_path / "permissions.json", list[threading.Thread]()
    permissions, others = Permissions(path), Permissions(path)
    others.set("ask", server="mail")

    class Rules(list[Any]):
        def __iter__(self) -> Iterator[Any]:
            if not threads:
                threads.append(threading.Thread(target=permissions.set, args=["block"], kwargs={"server": "odd"}))
                threads[0].start()
                threads[0].join(0.1)  # it is done by then, unless it waits
            return super().__iter__()

    read = permissions_module._read
    monkeypatch.setattr(permissions_module, "_read", lambda path: (Rules(read(path)[0]), read(path)[1]))
    handler = permissions.policy(answering(YES))
    await handler(request())
    threads[0].join()

    assert (await handler(request(server="odd"))).action == "cancel"


def test_writes_are_atomic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "permissions.json"
    permissions = Permissions(path)
    permissions.set("block", server="mail")
    before = path.read_text()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(PermissionsFileError, match="No space left"):
        permissions.set("block", server="other")

    assert path.read_text() == before
    assert [each.name for each in tmp_path.iterdir()] == ["permissions.json"]
    assert permissions._permission_for(request(server="other")) == "block"  # as long as the process lives


def test_a_name_that_no_file_can_contain_does_not_prevent_that_others_are_stored(tmp_path: Path) -> None:
    path = tmp_path / "permissions.json"
    permissions = Permissions(path)
    with pytest.raises(PermissionsFileError, match="cannot contain a name that is not valid Unicode"):
        permissions.set("block", server="mail\udcff")
    permissions.set("block", server="files")

    assert [each.server for each in Permissions(path)] == ["files"]
    assert permissions._permission_for(request(server="mail\udcff")) == "block"  # until the process ends


def test_no_file_is_written_that_is_too_large_to_read(tmp_path: Path) -> None:
    path = tmp_path / "permissions.json"
    permissions = Permissions(path)
    permissions.set("block", server="mail")
    before = path.read_text()

    with pytest.raises(PermissionsFileError, match="would be larger than 1048576 bytes"):
        permissions.set("block", server="x" * 1_048_576)

    assert path.read_text() == before
    assert len(list(Permissions(path))) == 1
    assert permissions._permission_for(request(server="x" * 1_048_576)) == "block"  # as long as the process lives


async def test_the_answer_of_the_user_is_sent_if_the_block_cannot_be_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    handler = Permissions(tmp_path / "permissions.json").policy(Asked(Answer.decline(by="user", block_server=True)))
    monkeypatch.setattr(os, "fsync", full)

    first, second = await handler(request()), await handler(request())

    assert (first.action, second.action) == ("decline", "cancel")
    assert "cannot be stored" in caplog.text


def test_an_unknown_permission_is_refused() -> None:
    with pytest.raises(ValueError, match="A permission is one of ask, block, decline, block_until_restart"):
        Permissions().set("yes", server="mail")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="requires a server"):
        Permissions().set("block_until_restart", server=None)


@pytest.mark.parametrize("server", ["", " "])
def test_a_permission_for_a_blank_server_is_refused(server: str) -> None:
    with pytest.raises(ValueError, match="Pass None to set the permission for every server"):
        Permissions().set("block", server=server)


@pytest.mark.parametrize("user", ["", "u" * 257])
def test_a_permission_for_a_user_who_cannot_exist_is_refused(user: str) -> None:
    with pytest.raises(ValueError, match="`user` must have 1 to 256 characters"):
        Permissions().set("block", server="mail", user=user)


def test_a_permissions_file_with_contradicting_rules_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "permissions.json"
    rules = [{"server": "mail", "permission": permission} for permission in ("block", "ask")]
    path.write_text(json.dumps({"version": 1, "rules": rules}), encoding="utf-8")
    path.chmod(0o600)

    with pytest.raises(PermissionsFileError, match="several rules for the same requests"):
        Permissions(path)


def test_a_missing_folder_of_the_permissions_is_named(tmp_path: Path) -> None:
    with pytest.raises(PermissionsFileError, match=f"Create the folder {tmp_path / 'missing'}."):
        Permissions(tmp_path / "missing" / "permissions.json").set("block", server="mail")


# --- rate limits


@contextmanager
def simulated_time(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    now = [1_800_000_000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    yield now


async def test_the_default_rates_are_five_per_minute_and_twenty_per_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    with simulated_time(monkeypatch) as now:
        asked = Asked()
        handler: Any = rate_limit()(asked)
        counts = []
        for _minute in range(62):
            for _ in range(10):
                await handler(request())
            counts.append(len(asked.requests))
            now[0] += 61
        for _ in range(3):
            await handler(request(server="other"))

    assert counts[:5] == [5, 10, 15, 20, 20]
    assert counts[58] == 20
    assert counts[61] > 20  # the hour is over
    assert len([each for each in asked.requests if each.server.name == "other"]) == 3


async def test_each_of_several_rates_in_one_text_applies() -> None:
    asked = Asked()
    handler: Any = rate_limit(["5/minute; 2/hour"])(asked)
    for _ in range(5):
        await handler(request())

    assert len(asked.requests) == 2


def test_an_invalid_rate_or_storage_is_refused() -> None:
    for rate in ("often", "5 per fortnight", "0/minute", "5/minute;0/hour", "1000001/day", f"5/{10**30} days"):
        with pytest.raises(ValueError, match=f"'{rate}' is not a rate. Write a number from 1 to 1000000 and a time"):
            rate_limit([rate])
    with pytest.raises(ValueError, match="`storage` must be memory:// or a URL of Redis"):
        rate_limit(storage="nowhere://")
    with pytest.raises(ValueError, match="`storage` must be memory:// or a URL of Redis"):
        rate_limit(storage="redis+unknown://localhost")


@pytest.mark.parametrize(
    "storage", [":hunter2@localhost:6379", "nowhere://:hunter2@localhost", "redis://:hunter2/hunter2@localhost"]
)
def test_an_invalid_storage_is_refused_without_its_password(storage: str) -> None:
    with pytest.raises(ValueError, match="`storage` must be") as caught:
        rate_limit(storage=storage)
    assert "hunter2" not in str(caught.value)


def test_a_storage_whose_package_is_missing_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)

    with pytest.raises(MissingExtraError, match=r"pip install 'mcp-elicit-client\[redis\]'") as caught:
        rate_limit(storage="redis://127.0.0.1:1")
    assert caught.value.extra == "redis"


@contextmanager
def redis(folder: Path) -> Iterator[tuple[str, Any]]:
    port = free_port()
    command = ["redis-server", "--port", str(port), "--save", "", "--dir", str(folder), "--bind", "127.0.0.1"]
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    except FileNotFoundError:
        skip_or_fail("redis-server is not installed; see .ci/run")
    with process:
        try:
            while "Ready to accept connections" not in read_line(process):
                assert process.poll() is None
            yield f"redis://127.0.0.1:{port}", process
        finally:
            process.kill()


async def test_an_unavailable_storage_cancels_requests_until_it_is_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    asked = Asked()
    with redis(tmp_path) as (storage, process):
        handler: Any = rate_limit(storage=storage)(asked)
        assert (await handler(request())).action == "accept"
        process.kill()
        process.wait()
        answers = [await handler(request()) for _ in range(3)]

    assert [(answer.action, answer.reason) for answer in answers] == [
        ("cancel", "the storage of the rate limit is unavailable")
    ] * 3
    assert len([each for each in caplog.records if "storage of the rate limit is unavailable" in each.message]) == 1
    assert len(asked.requests) == 1


async def test_a_storage_that_does_not_respond_cancels_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[cooldown_after_declines.__module__], "_STORAGE_TIMEOUT", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent, anyio.fail_after(4):
        handler: Any = rate_limit(storage=f"redis://127.0.0.1:{silent.getsockname()[1]}")(Asked())
        answer = await handler(request())

    assert (answer.action, answer.reason) == ("cancel", "the storage of the rate limit is unavailable")


async def test_a_storage_that_hangs_leaves_the_threads_of_the_host_application_free() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=100) as silent:
        handler: Any = rate_limit(storage=f"redis://127.0.0.1:{silent.getsockname()[1]}")(Asked())
        async with anyio.create_task_group() as tasks:
            for number in range(50):
                tasks.start_soon(handler, request(user=str(number)))
            await anyio.wait_all_tasks_blocked()
            occupied = anyio.to_thread.current_default_thread_limiter().borrowed_tokens
            silent.close()

    assert occupied == 0


async def test_while_one_request_tries_an_unavailable_storage_others_are_refused_at_once() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        handler: Any = rate_limit(storage=f"redis://127.0.0.1:{server.getsockname()[1]}")(Asked())
        assert (await handler(request())).reason == "the storage of the rate limit is unavailable"
        server.listen()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(handler, request(user="trying"))
            connection = (await anyio.to_thread.run_sync(server.accept))[0]
            with connection, anyio.fail_after(4):
                answers = [await handler(request(user=str(number))) for number in range(20)]
            server.close()

    assert {answer.reason for answer in answers} == {"the storage of the rate limit is unavailable"}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"rates": ["1/minute"]}, "the server reached its rate limit"),
        ({"server_rates": ["1/minute"]}, "the server reached its rate limit for all users"),
    ],
)
async def test_a_limit_that_was_reached_is_not_looked_up_again_in_the_storage(
    options: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    with redis(tmp_path) as (storage, process):
        handler: Any = rate_limit(**options, storage=storage)(Asked())
        await handler(request())
        assert (await handler(request())).reason == reason
        process.kill()
        process.wait()

        assert (await handler(request())).reason == reason


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_event_loops_that_share_a_stored_limit_do_not_wait_for_each_other_forever(tmp_path: Path) -> None:
    with redis(tmp_path) as (storage, _):
        asked = Asked()
        handler: Any = rate_limit(["1000/minute"], storage=storage)(asked)

        async def ask_often() -> None:
            with anyio.fail_after(60):
                for _ in range(10):
                    async with anyio.create_task_group() as group:
                        for _ in range(4):
                            group.start_soon(handler, request())

        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(anyio.to_thread.run_sync, anyio.run, ask_often)

    assert len(asked.requests) == 120


FLOOD = """
import sys, anyio, json, time
from mcp_elicit_client import Answer, parse_request
from mcp_elicit_client.policies import rate_limit
asked = []
async def handler(request):
    asked.append(1)
    return Answer.cancel(by="user")
async def main():
    flooded = rate_limit(storage=sys.argv[1])(handler)
    request = parse_request({"message": "m"}, server="mail")
    started = time.monotonic()
    async with anyio.create_task_group() as group:
        for _ in range(10_000):
            group.start_soon(flooded, request)
    print(json.dumps([len(asked), time.monotonic() - started]))
anyio.run(main)
"""


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_two_processes_share_one_limit(tmp_path: Path) -> None:
    with redis(tmp_path) as (storage, _):
        command = [sys.executable, "-c", FLOOD, storage]
        processes = [subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, text=True) for _ in range(2)]
        outcomes = [json.loads(process.communicate(timeout=60)[0]) for process in processes]

    assert sum(asked for asked, _ in outcomes) == 5


@pytest.mark.parametrize("anyio_backend", [SIMULATED])
async def test_a_flood_does_not_delay_other_servers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begin = anyio.current_time()
    clock = trio.lowlevel.current_clock()  # type: ignore[attr-defined,unused-ignore]
    monkeypatch.setattr(time, "monotonic", clock.current_time)
    shown: list[tuple[float, str]] = []
    answered: list[tuple[float, str]] = []
    open_now = most_open = 0

    async def user(asked: Request) -> Answer:
        nonlocal open_now, most_open
        open_now += 1
        most_open = max(most_open, open_now)
        shown.append((anyio.current_time() - begin, asked.server.name))
        await anyio.sleep(5)
        open_now -= 1
        return LEFT

    handler: Any = recommended()(user)

    async def ask(server: str) -> None:
        answer = await handler(request(server=server))
        if answer.by == "policy":
            answered.append((anyio.current_time() - begin, answer.policy))

    async with anyio.create_task_group() as group:
        for _ in range(10_000):
            group.start_soon(ask, "flood")
        await anyio.sleep(0.5)
        group.start_soon(ask, "mail")

    assert most_open == 1
    assert [server for _, server in shown].count(
        "flood"
    ) == 4  # one, and three that waited; the fifth found the queue full
    assert [server for _, server in shown][1] == "mail" or [server for _, server in shown][2] == "mail"
    assert len(answered) == 10_000 - 4
    assert max(at for at, _ in answered) < 1


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_flood_leaves_nothing_behind() -> None:
    import gc
    import tracemalloc

    handler: Any = recommended()(answering(LEFT))
    asked = request()

    async def flood() -> int:
        async with anyio.create_task_group() as group:
            for _ in range(5_000):
                group.start_soon(handler, asked)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    first, second = await flood(), await flood()
    tracemalloc.stop()

    assert second - first < 100_000


# --- the queue


async def test_servers_take_turns_in_the_queue() -> None:
    shown: list[str] = []
    may_answer = [anyio.Event() for _ in range(6)]

    async def user(asked: Request) -> Answer:
        shown.append(f"{asked.server.name} {asked.message}")
        await may_answer[len(shown) - 1].wait()
        return LEFT

    handler: Any = one_at_a_time()(user)
    async with anyio.create_task_group() as group:
        for server, message in [("a", "1"), ("a", "2"), ("a", "3"), ("b", "1"), ("b", "2"), ("c", "1")]:
            group.start_soon(handler, request(form_params({}, message), server))
            await anyio.wait_all_tasks_blocked()
        for event in may_answer:
            event.set()
            await anyio.wait_all_tasks_blocked()

    assert shown == ["a 1", "a 2", "b 1", "c 1", "a 3", "b 2"]


async def test_a_withdrawn_request_leaves_the_queue() -> None:
    shown: list[str] = []

    async def user(asked: Request) -> Answer:
        shown.append(asked.message)
        if asked.message != "3":
            await anyio.sleep_forever()
        return LEFT

    handler: Any = one_at_a_time()(user)
    async with anyio.create_task_group() as group:
        scopes = [anyio.CancelScope() for _ in range(3)]

        async def ask(number: int) -> None:
            with scopes[number - 1]:
                await handler(request(form_params({}, str(number))))

        for number in (1, 2, 3):
            group.start_soon(ask, number)
            await anyio.wait_all_tasks_blocked()
        scopes[1].cancel()
        await anyio.wait_all_tasks_blocked()
        scopes[0].cancel()

    assert shown == ["1", "3"]


@pytest.mark.parametrize("backends", [("asyncio", "asyncio"), ("trio", "asyncio"), ("asyncio", "trio")])
def test_requests_of_all_event_loops_are_shown_one_at_a_time(backends: tuple[str, str]) -> None:
    open_now = most_open = asked = 0
    lock = threading.Lock()

    async def user(_request: Request) -> Answer:
        nonlocal open_now, most_open, asked
        with lock:
            open_now += 1
            asked += 1
            most_open = max(most_open, open_now)
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        with lock:
            open_now -= 1
        return LEFT

    handler: Any = one_at_a_time(max_queued=50)(user)

    async def ask_often() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(20):
                group.start_soon(handler, request())

    threads = [threading.Thread(target=anyio.run, args=(ask_often,), kwargs={"backend": each}) for each in backends]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)

    assert (asked, most_open) == (40, 1)


async def abandon_in_a_closed_event_loop(handler: Any) -> None:
    """Let a request wait for *handler* in an event loop that is closed meanwhile, as it is when a thread ends."""

    def wait_in_a_loop_that_is_closed() -> None:
        loop = asyncio.new_event_loop()
        task = loop.create_task(handler(request()))
        task._log_destroy_pending = False  # type: ignore[attr-defined]
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()

    await anyio.to_thread.run_sync(wait_in_a_loop_that_is_closed)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of the task that was abandoned
async def test_a_queued_request_whose_event_loop_was_closed_is_skipped() -> None:
    shown: list[str] = []
    may_answer = anyio.Event()

    async def user(asked: Request) -> Answer:
        shown.append(asked.server.name)
        await may_answer.wait()
        return YES

    handler: Any = one_at_a_time()(user)
    answers: list[Answer] = []

    async def ask(server: str) -> None:
        answers.append(await handler(request(server=server)))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(ask, "first")
            await anyio.wait_all_tasks_blocked()
            await abandon_in_a_closed_event_loop(handler)
            group.start_soon(ask, "second")
            await anyio.wait_all_tasks_blocked()
            may_answer.set()
        gc.collect()
        await ask("third")

    assert [answer.action for answer in answers] == ["accept"] * 3
    assert shown == ["first", "second", "third"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of the task that was abandoned
async def test_a_shown_request_whose_event_loop_was_closed_gives_up_its_turn() -> None:
    asked = Asked()
    abandoned: list[Any] = []  # so that it is not garbage-collected, which would end it

    async def user(shown: Request) -> Answer:
        if not abandoned:
            abandoned.append(asyncio.current_task())
            await asyncio.Event().wait()
        return await asked(shown)

    handler: Any = one_at_a_time()(user)
    await abandon_in_a_closed_event_loop(handler)

    with anyio.fail_after(60):
        assert (await handler(request())).action == "accept"
        assert (await handler(request())).action == "accept"
    assert len(asked.requests) == 2
    abandoned.clear()
    gc.collect()


def test_requests_in_an_event_loop_that_was_stopped_keep_no_other_waiting() -> None:
    shown: list[str] = []

    async def user(asked: Request) -> Answer:
        shown.append(asked.server.name)
        if asked.server.name in ("shown", "queued"):
            await may_answer.wait()
        return YES

    handler: Any = one_at_a_time()(user)

    async def ask(server: str) -> Answer:
        with anyio.fail_after(60):
            answer: Answer = await handler(request(server=server))
            return answer

    async def work_for_a_moment() -> None:
        for _ in range(9):
            await asyncio.sleep(0)

    may_answer = asyncio.Event()
    loop = asyncio.new_event_loop()
    tasks = [loop.create_task(ask(server)) for server in ("shown", "queued")]
    loop.run_until_complete(work_for_a_moment())  # then it is stopped, as by Ctrl+C
    answers = [asyncio.run(ask("other")), asyncio.run(ask("another"))]
    may_answer.set()
    answers += [loop.run_until_complete(task) for task in tasks]
    loop.close()

    assert [answer.action for answer in answers] == ["accept"] * 4
    assert shown == ["shown", "other", "another", "queued"]
    assert asyncio.run(ask("last")).action == "accept"


@pytest.mark.parametrize(
    ("make", "times"), [(one_at_a_time, 9), (lambda: rate_limit(["5/hour"]), 5), (cooldown_after_declines, 3)]
)
async def test_a_policy_that_two_nested_registries_share_limits_each_request_once(make: Any, times: int) -> None:
    asked, policy = Asked(NO), make()
    inner, outer = ElicitationRegistry(policy=policy), ElicitationRegistry(policy=policy)
    inner.on_elicitation(asked)
    outer.on_elicitation(inner)

    with anyio.fail_after(60):
        for _ in range(9):
            await outer(request())

    assert len(asked.requests) == times


async def test_a_block_of_one_server_leaves_a_session_with_another_that_its_handler_opened() -> None:
    answers: list[Answer] = []
    permissions = Permissions()
    other: Any = guarded(one_at_a_time(), answering(YES))

    async def open_session(_request: Request) -> Answer:
        permissions.set("block", server="mail")
        answers.append(await Dispatcher(other).answer(TEXT, server=Server(name="shop")))
        return YES

    await guarded(permissions.policy, open_session)(request())

    assert [answer.action for answer in answers] == ["accept"]


async def test_a_shared_policy_limits_the_requests_of_sessions_that_a_handler_opened() -> None:
    answers: list[Answer] = []
    policy = rate_limit(["1/hour"])
    inner = guarded(policy, answering(YES))

    async def open_session(_request: Request) -> Answer:
        answers.append(await Dispatcher(inner).answer(TEXT, server=Server(name="mail")))
        return YES

    await guarded(policy, open_session)(request())

    assert [(answer.action, answer.policy) for answer in answers] == [("cancel", "rate_limit")]


async def test_a_block_applies_after_a_session_that_the_handler_opened() -> None:
    permissions, asked = Permissions(), Asked(YES)
    inner: Any = guarded(one_at_a_time(), asked)

    async def open_session(request: Request) -> Answer:
        await Dispatcher(inner).answer(TEXT, server=Server(name="shop"))
        permissions.set("block", server="mail")
        answer: Answer = await inner(request)
        return answer

    answer = await guarded(permissions.policy, open_session)(request())

    assert (answer.action, answer.policy) == ("cancel", "permissions")
    assert [each.server.name for each in asked.requests] == ["shop"]


async def test_a_policy_that_two_nested_registries_share_limits_each_user_alone() -> None:
    asked, policy = Asked(YES), rate_limit(["1/hour"])
    inner: Any = guarded(policy, asked)

    async def ask_for_bob(request: Request) -> Answer:
        answer: Answer = await inner(request.model_copy(update={"user": "bob"}))
        return answer

    outer = guarded(policy, ask_for_bob)
    answers = [await handler(request(user=user)) for handler, user in [(outer, "ann"), (inner, "bob")]]

    assert [answer.action for answer in answers] == ["accept", "cancel"]


async def test_of_two_policies_that_refuse_a_waiting_request_the_outer_one_answers() -> None:
    asked, ann, team = Asked(YES), Permissions(), Permissions()

    async def block(request: Request) -> Answer:
        ann.set("block", server="mail")
        team.set("decline", server="mail")
        answer: Answer = await guarded(one_at_a_time(), asked)(request)
        return answer

    answer = await guarded(compose(ann.policy, team.policy), block)(request())

    assert (answer.action, asked.requests) == ("cancel", [])


@pytest.mark.parametrize("queue", [one_at_a_time, lambda: None])
async def test_a_server_that_is_blocked_while_its_patterns_are_checked_is_not_shown(queue: Any) -> None:
    permissions = Permissions()
    asked = Asked(YES)
    handler: Any = compose(permissions.policy, queue())(asked)
    endless = {"type": "string", "pattern": "^(a|aa)+$", "default": "a" * 60 + "!"}
    answers: list[Answer] = []

    async def ask() -> None:
        answers.append(await handler(request(form_params({"properties": {"a": endless}}))))

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        permissions.set("block", server="mail")

    assert (answers[0].action, answers[0].policy, asked.requests) == ("cancel", "permissions", [])


async def test_a_task_that_outlives_its_handler_skips_no_policy() -> None:
    registry = ElicitationRegistry(policy=rate_limit(["2/hour"]))
    is_answered = anyio.Event()
    later: list[Answer] = []

    async def ask_later() -> None:
        await is_answered.wait()
        later.extend([await registry(request()) for _ in range(2)])

    async with anyio.create_task_group() as group:

        async def user(_request: Request) -> Answer:
            if not is_answered.is_set():
                group.start_soon(ask_later)
            return YES

        registry.on_elicitation(user)
        await registry(request())
        is_answered.set()

    assert [(answer.action, answer.policy) for answer in later] == [("accept", ""), ("cancel", "rate_limit")]


# --- the cooldown


async def test_three_declines_start_a_cooldown_and_five_block() -> None:
    now = [0.0]
    asked = Asked(NO)
    handler: Any = cooldown_after_declines(clock=lambda: now[0])(asked)
    shown = []
    for _ in range(8):
        await handler(request())
        shown.append(len(asked.requests))
    now[0] += 599
    await handler(request())
    shown.append(len(asked.requests))
    for _ in range(3):
        now[0] += 601
        await handler(request())
        shown.append(len(asked.requests))
    now[0] += 1_000_000
    await handler(request())

    assert shown == [1, 2, 3, 3, 3, 3, 3, 3, 3, 4, 5, 5]
    assert len(asked.requests) == 5
    assert (await handler(request(server="other"))).action == "decline"


async def test_only_consecutive_declines_of_a_user_count() -> None:
    policy_declines = Answer.decline(by="policy")
    answers = [NO, NO, YES, NO, NO, LEFT, policy_declines, policy_declines, policy_declines, YES]
    asked = Asked(*answers, YES)
    handler: Any = cooldown_after_declines()(asked)
    for _ in answers:
        await handler(request())

    assert len(asked.requests) == len(answers)


@pytest.mark.parametrize(
    "accepted",
    [
        Answer.accept({"a": 5}, by="user"),
        Answer.accept({"a": "x"}, by="default"),
        Answer.accept({"a": "x"}, by="policy"),
    ],
    ids=["does not fit", "of default values", "of a policy"],
)
async def test_an_accept_that_is_not_sent_or_not_of_the_user_ends_no_row_of_declines(accepted: Answer) -> None:
    asked = Asked(NO, NO, accepted, NO, YES)
    handler: Any = cooldown_after_declines()(asked)
    for _ in range(5):
        await handler(request())

    assert len(asked.requests) == 4


# --- the answer timeout


@pytest.mark.parametrize("anyio_backend", [SIMULATED])
async def test_a_request_has_a_deadline_and_is_cancelled_after_it() -> None:
    deadlines = []

    async def user(asked: Request) -> Answer:
        deadlines.append(asked.deadline)
        await anyio.sleep(1_000)
        return YES

    before = anyio.current_time()
    answer = await guarded(compose(answer_timeout(240), answer_timeout(500)), user)(request())

    assert (answer.action, answer.by) == ("cancel", "timeout")
    assert round(anyio.current_time() - before) == 240
    (deadline,) = deadlines
    assert deadline is not None
    assert abs(deadline.timestamp() - time.time() - 240) < 10


@pytest.mark.parametrize("anyio_backend", [SIMULATED])
@pytest.mark.parametrize(("change", "seconds"), [(timedelta(seconds=-200), 240), (timedelta(days=2), 2640)], ids=str)
async def test_the_user_gets_no_less_time_than_before_and_no_more_than_the_maximum(
    change: timedelta, seconds: int
) -> None:
    async def user(asked: Request) -> Answer:
        assert asked.deadline is not None
        asked.extend_deadline(asked.deadline + change)
        await anyio.sleep(10_000)
        return YES

    before = anyio.current_time()
    await guarded(answer_timeout(240), user)(request())

    assert round(anyio.current_time() - before) == seconds


@pytest.mark.parametrize("anyio_backend", [SIMULATED])
async def test_a_deadline_without_a_maximum_cannot_be_extended() -> None:
    async def user(asked: Request) -> Answer:
        assert asked.deadline is not None
        asked.extend_deadline(asked.deadline + timedelta(hours=1))
        await anyio.sleep(10_000)
        return YES

    before = anyio.current_time()
    until = datetime.now(timezone.utc) + timedelta(seconds=100)
    await guarded(answer_timeout(240), user)(request().model_copy(update={"deadline": until}))

    assert round(anyio.current_time() - before) == 240


def test_a_time_without_a_time_zone_extends_no_deadline() -> None:
    with pytest.raises(ValueError, match="`deadline` has no time zone"):
        request().extend_deadline(datetime.now())  # noqa: DTZ005 -- the mistake


# --- automatic answers


@pytest.mark.parametrize("value", [date(2026, 11, 20), {"b": "c"}, [1], 3, None], ids=repr)
async def test_the_user_is_asked_if_a_listed_value_does_not_fit_its_form(value: Any) -> None:
    automatic = AutomaticAnswers({("mail", form_fingerprint(request().form)): {"a": value}})
    handler: Any = automatic.policy(Asked(NO))

    assert automatic.preview(request()) is None
    assert (await handler(request())).by == "user"


async def test_the_user_is_asked_if_a_listed_value_is_for_a_field_that_the_form_does_not_have() -> None:
    automatic = AutomaticAnswers({("mail", form_fingerprint(request().form)): {"a": "blue", "A": "blue"}})

    assert automatic.preview(request()) is None


@pytest.mark.parametrize("schema", [{}, {"additionalProperties": False}, {"properties": {"a": {"type": "object"}}}])
def test_a_confirmation_cannot_be_listed_since_its_fingerprint_fits_every_other_one(schema: dict[str, Any]) -> None:
    params = {"message": "Continue?", "requestedSchema": {"type": "object", "properties": {}, **schema}}
    confirmation = parse_request(params, server="mail")
    assert isinstance(confirmation, FormRequest)

    with pytest.raises(ValueError, match="Let the user confirm"):
        AutomaticAnswers({("mail", form_fingerprint(confirmation.form)): {}})


async def test_only_a_listed_form_of_a_listed_server_is_answered_automatically() -> None:
    form = request().form
    automatic = AutomaticAnswers({("mail", form_fingerprint(form)): {"a": "blue"}})
    asked = Asked(NO)
    handler: Any = automatic.policy(asked)

    answer = await handler(request())
    assert (answer.action, answer.content, answer.by, answer.policy) == (
        "accept",
        {"a": "blue"},
        "policy",
        "automatic_answers",
    )
    assert answer.sources == {"a": "policy"}
    for other in (
        request(server="other"),
        request(form_params({"properties": {"a": {"type": "string", "title": "Password"}}})),
        request(form_params({"properties": {"a": {"type": "string"}}, "additionalProperties": False})),
        request(URL),
    ):
        assert (await handler(other)).action == "decline"
        assert automatic.preview(other) is None
    preview = automatic.preview(request())
    assert preview is not None
    assert preview.content == {"a": "blue"}


def test_a_fingerprint_does_not_include_the_message() -> None:
    assert form_fingerprint(request().form) == form_fingerprint(request({**TEXT, "message": "other"}).form)
    assert len(form_fingerprint(request().form)) == 64


# --- hooks


async def test_hooks_may_answer_change_and_refuse() -> None:
    seen: list[Any] = []

    async def look(asked: Request) -> None:
        seen.append(asked)

    async def answer(_asked: Request) -> Answer:
        return NO

    async def rename(asked: Request) -> Request:
        return asked.model_copy(update={"message": "changed"})

    async def veto(_asked: Request, answered: Answer) -> Answer | None:
        seen.append(answered)
        return LEFT if answered.action == "accept" else None

    asked = Asked(YES, NO, YES)
    assert (await hooks(before=look)(asked)(request())).action == "accept"
    assert (await hooks(before=answer)(asked)(request())).action == "decline"
    assert (await hooks(before=rename, after=veto)(asked)(request())).action == "decline"
    assert (await hooks(after=veto)(asked)(request())).action == "cancel"
    assert [each.message for each in asked.requests] == ["What colour?", "changed", "What colour?"]
    assert len(seen) == 3


async def test_a_cancellation_passes_through_hooks() -> None:
    async def forever(_asked: Request) -> None:
        await anyio.sleep_forever()

    with anyio.move_on_after(0.01) as scope:
        await hooks(before=forever)(answering(YES))(request())

    assert scope.cancelled_caught


# --- impersonation

LIKE_OTHERS = [
    *("bank", "BANK", "b a n k", "Bаnk", "ban\u200dk", "b4nk"),
    *("Claude", "С1aude", "Claude (system)", "system", "S\u0443stem", "ADMIN", "github-copilot", "0penAI"),
]
HARMLESS = [
    "mail",
    "Mail",
    "mail-server",
    "weather",
    "banking-news",
    "asker",
    "everything",
    "restaurant",
    "\u0431\u0430\u043d\u043a\u0430",
]


@pytest.mark.parametrize("claimed", LIKE_OTHERS)
async def test_a_server_that_reports_another_name_is_flagged(claimed: str) -> None:
    asked = Asked()
    server = Server(name="mail", claimed_name=claimed)

    await flag_impersonation(known_names=["mail", "bank", "My Editor"])(asked)(parse_request(TEXT, server=server))

    assert [problem.code for problem in asked.requests[0].diagnostics] == ["impersonation"]
    assert claimed == "bank" or claimed not in asked.requests[0].diagnostics[0].message


@pytest.mark.parametrize("claimed", [*HARMLESS, None])
async def test_a_server_that_reports_its_own_name_is_not_flagged(claimed: str | None) -> None:
    asked = Asked()
    server = Server(name="mail", claimed_name=claimed)

    await flag_impersonation(known_names=["mail", "bank", "My Editor"])(asked)(parse_request(TEXT, server=server))

    assert asked.requests[0].diagnostics == ()


async def test_a_name_with_look_alike_letters_is_flagged() -> None:
    asked = Asked()

    await flag_impersonation()(asked)(parse_request(TEXT, server=Server(name="mail", claimed_name="m\u0430il")))

    assert [problem.code for problem in asked.requests[0].diagnostics] == ["impersonation"]
    assert skeleton("m\u0430il") == skeleton("mail")


# --- secrets


async def test_a_form_that_requests_a_password_is_declined_or_marked() -> None:
    asked = Asked(Answer.accept({"password": "hunter2"}, by="user"))

    refused = await guarded(protect_secrets(), asked)(request(PASSWORD))
    marked = await guarded(protect_secrets(action="warn"), asked)(request(PASSWORD))

    assert (refused.action, marked.action) == ("decline", "accept")
    assert "must not request it in forms" in refused.reason
    (shown,) = asked.requests
    assert [field.is_hidden for field in shown.form.fields] == [True]
    assert [problem.code for problem in shown.diagnostics] == ["sensitive_data"]
    assert [note.code for note in marked.diagnostics] == ["sensitive_data"]  # so that a log outside of it knows


async def test_an_answer_with_a_key_is_sent_only_after_confirmation() -> None:
    key = Answer.accept(KEY, by="user")
    confirmations: list[bool] = [True, False]

    async def confirm(_request: FormRequest, findings: Any) -> bool:
        assert findings
        return confirmations.pop(0)

    actions = [
        (await protect_secrets()(answering(key))(request())).action,
        (await protect_secrets()(answering(key.model_copy(update={"confirmed": True})))(request())).action,
        (await protect_secrets(confirm=confirm)(answering(key))(request())).action,
        (await protect_secrets(confirm=confirm)(answering(key))(request())).action,
        (await protect_secrets()(answering(YES))(request())).action,
    ]

    assert actions == ["cancel", "accept", "accept", "cancel", "accept"]


@pytest.mark.parametrize("result", ["no", Answer.decline(by="user"), 1], ids=repr)
async def test_only_true_confirms_an_answer_with_a_key(result: Any) -> None:
    async def confirm(_request: FormRequest, _findings: Any) -> Any:
        return result

    answer: Any = await protect_secrets(confirm=confirm)(answering(Answer.accept(KEY, by="user")))(request())

    assert (answer.action, answer.policy) == ("cancel", "secrets")


async def test_a_url_request_is_not_checked_for_sensitive_data() -> None:
    assert (await protect_secrets()(answering(Answer.accept(by="user")))(request(URL))).action == "accept"


# --- combinations


async def test_the_recommended_policies_need_no_options() -> None:
    handler: Any = recommended()(answering(YES))

    assert await handler(request()) == YES
    assert (await handler(request(PASSWORD))).policy == "secrets"


async def test_the_policy_of_a_registry_applies_to_all_handlers() -> None:
    registry = ElicitationRegistry(policy=recommended())
    registry.on_elicitation(answering(YES))

    assert (await registry(request())).action == "accept"
    assert (await registry(request(PASSWORD))).policy == "secrets"
    assert registry.modes == {"form", "url"}


async def test_the_outcome_is_reported_to_the_server_only_if_enabled() -> None:
    for tell, told in [(False, None), (True, {"mcp-elicit-client/outcome": {"by": "policy", "policy": "secrets"}})]:
        registry = ElicitationRegistry(policy=recommended(), report_outcome=tell)
        registry.on_elicitation(answering(YES))
        result: Any = await registry.callback("mail")(None, PASSWORD)
        assert (result.action, result.meta) == ("decline", told)


async def test_policies_see_a_request_in_order_and_its_answer_in_reverse() -> None:
    order: list[str] = []

    def named(name: str) -> Any:
        def policy(handler: Any) -> Any:
            async def wrapped(asked: Request) -> Answer:
                order.append(f"{name} in")
                answer: Answer = await handler(asked)
                order.append(f"{name} out")
                return answer

            return wrapped

        return policy

    await compose(named("first"), None, named("second"))(answering(YES))(request())

    assert order == ["first in", "second in", "second out", "first out"]


async def test_no_value_of_an_answer_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    secret = "AKIAQYLPMN5HFIQR7BBB"
    with caplog.at_level(logging.DEBUG):
        await recommended()(answering(Answer.accept({"a": secret}, by="user")))(request())

    assert secret not in caplog.text


def test_the_tables_of_secrets_are_loaded_before_the_first_request() -> None:
    tables = (load_rules, in_answer._keys, in_answer._shapes)
    for each in tables:
        each.cache_clear()

    protect_secrets()

    assert [each.cache_info().currsize for each in tables] == [1, 1, 1]
