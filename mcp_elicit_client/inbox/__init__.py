"""An inbox: stored requests that can be answered later, elsewhere and from any process."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from mcp_elicit_client.exceptions import EntryClosedError, EntryNotFoundError, InboxError, State
from mcp_elicit_client.inbox.handler import InboxHandler
from mcp_elicit_client.inbox.inbox import Inbox
from mcp_elicit_client.inbox.records import Entry, EntryPage, request_schema
from mcp_elicit_client.inbox.stores.memory import MemoryStore
from mcp_elicit_client.inbox.stores.protocol import Store

if TYPE_CHECKING:
    from mcp_elicit_client.inbox.stores.postgres import PostgresStore
    from mcp_elicit_client.inbox.stores.redis import RedisStore
    from mcp_elicit_client.inbox.stores.sqlite import SqliteStore

__all__ = [
    "Entry",
    "EntryClosedError",
    "EntryNotFoundError",
    "EntryPage",
    "Inbox",
    "InboxError",
    "InboxHandler",
    "MemoryStore",
    "PostgresStore",
    "RedisStore",
    "SqliteStore",
    "State",
    "Store",
    "request_schema",
]

_LAZY = {"PostgresStore": "postgres", "RedisStore": "redis", "SqliteStore": "sqlite"}


def __getattr__(name: str) -> object:
    """Import a store when it is first used."""
    if name not in _LAZY:
        raise AttributeError(name)
    return getattr(importlib.import_module(f"{__name__}.stores.{_LAZY[name]}"), name)
