"""The store of suspended calls: a file of the user, or the store that the options name."""

from __future__ import annotations

import argparse
import errno
import getpass
import os
import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from mcp_elicit_client.cli import messages
from mcp_elicit_client.cli.common import CommandFailedError, UsageError
from mcp_elicit_client.core.request import check_user
from mcp_elicit_client.exceptions import MissingExtraError
from mcp_elicit_client.inbox import Inbox, PostgresStore, RedisStore, SqliteStore, Store

_VARIABLE = "MCP_ELICIT_STORE"
_REDIS = ("redis", "rediss", "unix")
_POSTGRES = ("postgresql", "postgres")


@dataclass(frozen=True, slots=True)
class OpenStore:
    """
    An open store.

    Attributes:
        inbox: The inbox in the store.
        user: The user that the calls and requests belong to.
        is_private: Only this user of the computer can write to it.
        options: The options that select it, for other commands.
    """

    inbox: Inbox
    user: str
    is_private: bool
    options: str


def default_store() -> Path:
    """Return the file with the suspended calls of this user of the computer."""
    home = Path.home()
    if sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        folder = home / "Library" / "Application Support"
    else:
        chosen = os.environ.get("XDG_STATE_HOME", "")
        folder = Path(chosen) if Path(chosen).is_absolute() else home / ".local" / "state"
    return folder / "mcp-elicit" / "calls.db"


@asynccontextmanager
async def open_store(options: argparse.Namespace, *, create: bool = False) -> AsyncIterator[OpenStore]:
    """
    Open the store that the options or the environment select.

    Args:
        options: The options.
        create: Create the file that they name, if it does not exist.

    Raises:
        CommandFailedError: If the store cannot be used.
        UsageError: If they do not name a store.
    """
    chosen = options.store or os.environ.get(_VARIABLE) or ""
    try:
        user = check_user(options.user) or _account()
        store, is_private = _make_store(chosen, create=create)
    except MissingExtraError as error:
        raise CommandFailedError(str(error), code="store") from None
    except ValueError as error:  # the name of the user is too long, or the URL is not one
        raise UsageError(str(error)) from None
    again = f" --store {shlex.quote(options.store)}" if options.store and "://" not in chosen else ""
    again += f" --user {shlex.quote(options.user)}" if options.user else ""
    inbox = Inbox(store)
    try:
        yield OpenStore(inbox, user, is_private, again)
    finally:
        await inbox.aclose()


def _make_store(chosen: str, *, create: bool) -> tuple[Store, bool]:
    scheme, separator, _ = chosen.partition("://")
    if not separator:
        path = Path(chosen) if chosen else default_store()
        if not chosen:
            _make_folder(path.parent)
        elif not create and not path.exists():
            reason = os.strerror(errno.ENOENT)
            raise CommandFailedError(messages.CANNOT_READ, path=path, reason=reason, code="store")
        return SqliteStore(path), True
    urlsplit(chosen)
    if scheme in _REDIS:
        return RedisStore(chosen), False
    if scheme in _POSTGRES:
        return PostgresStore(chosen), False
    raise UsageError(messages.UNKNOWN_STORE)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise CommandFailedError(messages.CANNOT_WRITE, path=folder, reason=error.strerror, code="store") from None


def _account() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # an account without a name
        return str(os.getuid()) if sys.platform != "win32" else "user"
