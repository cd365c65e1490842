"""`Permissions`: which servers may show requests."""

from __future__ import annotations

import itertools
import json
import logging
import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import NoneType
from typing import ClassVar, Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import from_json

from mcp_elicit_client._arguments import check_type
from mcp_elicit_client._concurrency import ForkSafeLock
from mcp_elicit_client._files import LockTimeoutError, UnsafeFileError, locked, open_safely, sync_folder
from mcp_elicit_client.core.request import check_user, user_and_server_of
from mcp_elicit_client.core.text import is_unicode
from mcp_elicit_client.dispatch import NormalizedHandler, apply_policy
from mcp_elicit_client.exceptions import PermissionsFileError
from mcp_elicit_client.typing import Answer, Handler, Mode, Request

NAME = "permissions"

_logger = logging.getLogger("mcp_elicit_client")

Permission: TypeAlias = Literal["ask", "block", "decline", "block_until_restart"]
"""
What happens to a request.

``ask``: the user is asked.  ``block``: cancelled.  ``decline``: declined on
behalf of the user.  ``block_until_restart``: cancelled until this process ends;
not stored.
"""

_MAX_FILE = 1_048_576


class Rule(BaseModel):
    """
    The permission of some requests; None matches any.

    Attributes:
        server: The name that the host application gave the server.
        mode: The mode, ``form`` or ``url``.
        tool: The tool that is being called.
        user: The user that the request is for.
        permission: The permission.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid")

    server: str | None = None
    mode: Mode | None = None
    tool: str | None = None
    user: str | None = None
    permission: Permission


_Key: TypeAlias = tuple[str | None, str | None, str | None, str | None]


def _key(rule: Rule) -> _Key:
    return rule.user, rule.server, rule.tool, rule.mode


def _can_be_stored(rule: Rule) -> bool:
    return all(name is None or is_unicode(name) for name in _key(rule))


class _File(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    rules: list[Rule] = []


class Permissions:
    """
    The permissions of one user or several, in memory or in a file.

    Use `policy` as a policy.  The most specific rule applies: a rule of the
    user before one of all users, then a rule of the server, the tool and the
    mode.  A user who blocks a server blocks it for that user only.  The file
    is JSON with mode 0600.  Writes are atomic, keep what other processes
    wrote, and are detected and reloaded by them.  A file that other users can
    write to, a link and a special file are refused.

    Args:
        path: The file; None to keep permissions in memory only.  Its folder
            must exist.

    Raises:
        PermissionsFileError: If the file exists and cannot be used.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        check_type("path", path, str, os.PathLike, NoneType)
        self._path = None if path is None else Path(path).absolute()
        self._rules: dict[_Key, Rule] = {}
        self._unsaved: dict[_Key, Rule] = {}
        self._lock = ForkSafeLock()
        self._blocked: set[tuple[str | None, str]] = set()
        self._read_at: tuple[int, ...] | None = None
        self._refresh()

    def policy(self, handler: Handler) -> Handler:
        """Wrap *handler*: call it if a rule permits that, and store the servers that the user blocks."""
        return apply_policy(handler, self._answer, refuse=self._refusal)

    async def _answer(self, request: Request, ask: NormalizedHandler) -> Answer:
        refusal = self._refusal(request)
        if refusal is not None:
            return refusal
        answer = await ask(request.model_copy(update={"can_block": True}))
        if answer.block_server:
            self._block(request)
        return answer

    def _refusal(self, request: Request) -> Answer | None:
        try:
            permission = self._permission_for(request)
        except PermissionsFileError as error:
            return Answer.cancel(by="error", policy=NAME, reason=str(error))
        if permission == "decline":
            return Answer.decline(by="policy", policy=NAME, reason="the user declines all requests of this kind")
        if permission != "ask":
            return Answer.cancel(by="policy", policy=NAME, reason="the server is blocked")
        return None

    def _block(self, request: Request) -> None:
        try:
            self.set("block", server=request.server.name, user=request.user)
        except PermissionsFileError as error:
            # The block applies until the process ends.  The answer of the user is sent.
            _logger.error("the block of server %r cannot be stored: %s", request.server.name, error)  # noqa: TRY400

    def _permission_for(self, request: Request) -> Permission:
        """
        Return the permission of the most specific rule for *request*; ``ask`` if no rule matches.

        Raises:
            PermissionsFileError: If the file cannot be used any more.
        """
        self._refresh()
        user, server = user_and_server_of(request)
        if not self._blocked.isdisjoint([(user, server), (None, server)]):
            return "block_until_restart"
        if self._rules:
            # The most specific first.  Looked up, because there may be rules of many users.
            for key in itertools.product((user, None), (server, None), (request.tool, None), (request.mode, None)):
                rule = self._rules.get(key)
                if rule is not None:
                    return rule.permission
        return "ask"

    def set(
        self,
        permission: Permission,
        *,
        server: str | None,
        mode: Mode | None = None,
        tool: str | None = None,
        user: str | None = None,
    ) -> None:
        """
        Set a permission, and store it unless it is ``block_until_restart``.

        Args:
            permission: The permission.
            server: The name that the host application gave the server; None
                for all servers.
            mode: The mode; None for both.
            tool: The tool; None for all tools.
            user: The user; None for all users.

        Raises:
            PermissionsFileError: If the file cannot be written, or cannot
                contain a name, because it is not valid Unicode.  The
                permission then applies until the process ends.
            TypeError: If a name is not a string.
            ValueError: If *permission* or *mode* is unknown, *server* is
                blank, *user* does not have 1 to 256 characters, or
                ``block_until_restart`` has no server.
        """
        for name, value in (("server", server), ("mode", mode), ("tool", tool), ("user", user)):
            check_type(name, value, str, NoneType)
        if server is not None and not server.strip():
            raise ValueError("The server name is empty. Pass None to set the permission for every server.")
        check_user(user)
        if mode not in (None, "form", "url"):
            raise ValueError(f'`mode` must be "form" or "url", not {mode!r}.')
        if permission not in get_args(Permission):
            raise ValueError(f"A permission is one of {', '.join(get_args(Permission))}, not {permission!r}.")
        if permission == "block_until_restart":
            if server is None:
                raise ValueError("`block_until_restart` requires a server. Pass `server`.")
            self._blocked.add((user, server))
            return
        rule = Rule(server=server, mode=mode, tool=tool, user=user, permission=permission)
        with self._lock:
            self._unsaved[_key(rule)] = rule
            self._rules = self._rules | self._unsaved  # a new mapping: another thread may read the old one
            self._write()
            if self._unsaved.get(_key(rule)) is rule:
                raise PermissionsFileError(f"{self._path} cannot contain a name that is not valid Unicode.")

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._rules.values())

    def _refresh(self) -> None:
        if self._path is None:
            return
        try:
            found = os.lstat(self._path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise PermissionsFileError(f"Cannot read {self._path}: {error.strerror}.") from None
        if _version(found) != self._read_at:
            with self._lock:
                self._read()

    def _read(self) -> None:
        """Read the file.  Call it with the lock: a rule that another thread writes meanwhile would be lost."""
        assert self._path is not None
        rules, self._read_at = _read(self._path)
        self._rules = {_key(rule): rule for rule in rules} | self._unsaved

    def _write(self) -> None:
        """Add the unsaved rules to those of the file.  An invalid file is not replaced."""
        if self._path is None:
            self._unsaved.clear()
            return
        try:
            with locked(self._path):
                if os.path.lexists(self._path):
                    self._read()
                self._replace()
        except FileNotFoundError:
            raise PermissionsFileError(f"Cannot write {self._path}. Create the folder {self._path.parent}.") from None
        except OSError as error:
            raise PermissionsFileError(f"Cannot write {self._path}: {error.strerror}.") from None
        except (UnsafeFileError, LockTimeoutError) as error:
            raise PermissionsFileError(f"Cannot write {self._path}: {error}") from None
        self._unsaved = {key: rule for key, rule in self._unsaved.items() if not _can_be_stored(rule)}

    def _replace(self) -> None:
        assert self._path is not None
        rules = list(filter(_can_be_stored, self._rules.values()))
        text = f"{_File(rules=rules).model_dump_json(indent=2, exclude_none=True)}\n"
        if len(text.encode()) > _MAX_FILE:
            raise PermissionsFileError(f"{self._path} would be larger than {_MAX_FILE} bytes. Remove rules from it.")
        descriptor, name = tempfile.mkstemp(dir=self._path.parent, prefix=f".{self._path.name}.")  # mode 0600
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self._path)
            sync_folder(self._path.parent)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise
        self._read_at = _version(os.lstat(self._path))


def _version(found: os.stat_result) -> tuple[int, ...]:
    """Return what differs after the file, its mode or its owner was changed."""
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_mode)


def _read(path: Path) -> tuple[list[Rule], tuple[int, ...]]:
    try:
        with os.fdopen(open_safely(path, os.O_RDONLY), "rb") as file:
            version = _version(os.fstat(file.fileno()))
            data = file.read(_MAX_FILE + 1)
    except UnsafeFileError as error:
        raise PermissionsFileError(str(error)) from None
    except OSError as error:
        raise PermissionsFileError(f"Cannot read {path}: {error.strerror}.") from None
    if len(data) > _MAX_FILE:
        raise PermissionsFileError(f"{path} is larger than {_MAX_FILE} bytes. Use another file.")
    try:
        text = data.decode("utf-8-sig")
        rules = _File.model_validate(from_json(text)).rules
        json.loads(text, object_pairs_hook=partial(_check_names, path))
    except ValidationError as error:
        raise PermissionsFileError(f"{path} is not a permissions file: {_fault(error)}.") from None
    except ValueError:
        raise PermissionsFileError(f"{path} is not a permissions file: it is not JSON.") from None
    if len({_key(rule) for rule in rules}) < len(rules):
        raise PermissionsFileError(f"{path} has several rules for the same requests. Keep one of them.")
    return rules, version


def _check_names(path: Path, members: Sequence[tuple[str, object]]) -> None:
    """Check that no two members of an object in the file have one name: `from_json` returns the last one."""
    for name, count in Counter(name for name, _ in members).items():
        if count > 1:
            raise PermissionsFileError(f"{path} has several members {name!r} in one object. Keep one of them.")


def _fault(error: ValidationError) -> str:
    """Return the first fault of a file, with its place."""
    first = error.errors()[0]
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
    if not place:
        return "it is not an object"
    match first["type"]:
        case "missing":
            fault = "is missing"
        case "extra_forbidden":
            fault = "is unknown"
        case "literal_error":
            fault = f"must be {first['ctx']['expected']}"
        case _:
            fault = "is of the wrong type"
    return f"`{place.removeprefix('.')}` {fault}"
