"""Files that others prepared: one check for permissions, inboxes, logs and keys, and no lost decisions."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_elicit_client.audit import AuditError, AuditLog, verify
from mcp_elicit_client.exceptions import InboxError, PermissionsFileError
from mcp_elicit_client.inbox.stores.sqlite_connection import SqliteConnection
from mcp_elicit_client.policies import Permissions

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")


def open_permissions(path: Path) -> None:
    Permissions(path)


def write_permissions(path: Path) -> None:
    permissions = Permissions(path.with_name("other.json"))
    permissions._path = path
    permissions.set("block", server="mail")


def open_log(path: Path) -> None:
    AuditLog(path, key=b"k" * 32, on_failure="cancel")


def open_head(path: Path) -> None:
    path.replace(path.with_name("log.head"))
    AuditLog(path.with_name("log"), key=b"k" * 32)


def open_key(path: Path) -> None:
    path.replace(path.with_name("log.key"))
    AuditLog(path.with_name("log"))


def open_inbox(path: Path) -> None:
    connection = SqliteConnection(path, 0.1)
    with connection.reading():
        pass
    connection.close()  # this removes the write-ahead log


def open_write_ahead_log(path: Path) -> None:
    open_inbox(path.with_name("inbox.db"))
    path.replace(path.with_name("inbox.db-wal"))
    open_inbox(path.with_name("inbox.db"))


OPENING = {
    "permissions": (open_permissions, PermissionsFileError),
    "permissions that are written": (write_permissions, PermissionsFileError),
    "log": (open_log, AuditError),
    "head": (open_head, AuditError),
    "key": (open_key, AuditError),
    "inbox": (open_inbox, InboxError),
    "write-ahead log": (open_write_ahead_log, InboxError),
}


def make_link(path: Path) -> None:
    real = path.with_name("real")
    real.touch(0o600)
    path.symlink_to(real)


def make_dangling_link(path: Path) -> None:
    path.symlink_to(path.with_name("nowhere"))


def make_pipe(path: Path) -> None:
    os.mkfifo(path, 0o600)


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(path))


def make_folder(path: Path) -> None:
    path.mkdir(0o700)


def make_writable(path: Path) -> None:
    path.touch()
    path.chmod(0o622)


def make_other_users(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    path.touch(0o600)
    os.chown(path, 65534, 65534)


PREPARED: dict[str, Callable[[Path], None]] = {
    "symbolic link": make_link,
    "link to nothing": make_dangling_link,
    "pipe": make_pipe,
    "socket": make_socket,
    "folder": make_folder,
    "writable by others": make_writable,
    "of another user": make_other_users,
}


@pytest.mark.parametrize("prepared", PREPARED)
@pytest.mark.parametrize("what", OPENING)
def test_what_others_prepared_is_refused_at_once(
    what: str, prepared: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "file"
    PREPARED[prepared](path)
    opening, error = OPENING[what]
    with pytest.raises(error):
        opening(path)


@pytest.mark.parametrize("what", ["permissions", "permissions that are written", "log", "head", "inbox"])
def test_a_file_with_a_second_name_is_refused(what: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch(0o600)
    os.link(path, tmp_path / "second")
    opening, error = OPENING[what]
    with pytest.raises(error, match="hard link"):
        opening(path)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644])
@pytest.mark.parametrize("what", ["key", "inbox", "write-ahead log"])
def test_a_private_file_that_others_can_read_is_refused(what: str, mode: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    path.chmod(mode)
    opening, error = OPENING[what]
    with pytest.raises(error, match="Other users can read"):
        opening(path)


@pytest.mark.parametrize("make", [make_pipe, make_folder])
@pytest.mark.parametrize("name", ["log", "log.head", "log.1"])
def test_a_log_to_verify_is_opened_without_waiting(name: str, make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / name)
    (tmp_path / "log").touch() if name != "log" else None
    with pytest.raises((AuditError, OSError)):
        verify(tmp_path / "log", b"k" * 32)


def test_a_file_whose_mode_changes_is_refused_from_then_on(tmp_path: Path) -> None:
    permissions = Permissions(tmp_path / "permissions.json")
    permissions.set("block", server="mail")
    (tmp_path / "permissions.json").chmod(0o666)
    with pytest.raises(PermissionsFileError, match="Other users can write"):
        permissions._refresh()


DECIDING = """
import sys
from mcp_elicit_client.exceptions import PermissionsFileError
from mcp_elicit_client.policies import Permissions
permissions = Permissions(sys.argv[1])
print("ready", flush=True)
sys.stdin.read(1)
number = 0
while number < 60:
    try:
        permissions.set("block", server=f"{sys.argv[2]}-{number}")
        number += 1
    except PermissionsFileError as error:  # where writing is slow, the others can hold the lock for a second
        if "holds the lock" not in str(error):
            raise
"""


def test_two_processes_that_write_permissions_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "permissions.json"
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", DECIDING, str(path), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for name in ("one", "two", "three")
    ]
    for program in programs:
        assert program.stdout is not None
        program.stdout.readline()
    for program in programs:
        assert program.stdin is not None
        program.stdin.write(b"x")
        program.stdin.flush()
    for program in programs:
        program.communicate(timeout=60)
        assert program.returncode == 0

    assert len(json.loads(path.read_text())["rules"]) == 180
    assert [each.name for each in tmp_path.iterdir()] == ["permissions.json"]


def test_a_decision_does_not_replace_an_invalid_file_and_applies_until_the_end(tmp_path: Path) -> None:
    path = tmp_path / "permissions.json"
    permissions = Permissions(path)
    path.write_text("{")
    with pytest.raises(PermissionsFileError, match="not JSON"):
        permissions.set("block", server="mail")
    assert path.read_text() == "{"

    path.write_text('{"rules": [{"server": "other", "permission": "block"}]}')
    permissions._refresh()
    assert {rule.server for rule in permissions} == {"mail", "other"}


@pytest.mark.parametrize("make", [make_link, make_pipe, make_folder])
def test_a_lock_file_that_others_prepared_is_refused_at_once(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / ".permissions.json.lock")
    with pytest.raises(PermissionsFileError):
        Permissions(tmp_path / "permissions.json").set("block", server="mail")


def test_a_relative_path_names_the_same_file_in_every_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("start", "other"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "start")
    permissions, log, inbox = Permissions("permissions.json"), AuditLog("log"), SqliteConnection(Path("inbox.db"), 0.1)
    permissions.set("block", server="mail")

    monkeypatch.chdir(tmp_path / "other")
    permissions.set("block", server="calendar")
    log.checkpoint()
    with inbox.reading():
        pass
    inbox.close()

    assert {rule.server for rule in Permissions(tmp_path / "start" / "permissions.json")} == {"mail", "calendar"}
    assert [*(tmp_path / "other").iterdir()] == []


def test_a_permissions_file_in_the_current_directory_does_not_replace_the_one_that_was_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cloned").mkdir()
    Permissions(tmp_path / "cloned" / "permissions.json").set("ask", server="mail")
    monkeypatch.chdir(tmp_path)
    permissions = Permissions("permissions.json")
    permissions.set("block", server="mail")

    monkeypatch.chdir("cloned")
    permissions.set("block", server="calendar")

    assert {rule.server: rule.permission for rule in permissions} == {"mail": "block", "calendar": "block"}
