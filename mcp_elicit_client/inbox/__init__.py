"""Questions that wait until somebody answers them: later, elsewhere, in another process."""

from mcp_elicit_client.inbox.entries import Entry, Page, State, request_schema
from mcp_elicit_client.inbox.errors import EntryClosedError, EntryNotFoundError, InboxError
from mcp_elicit_client.inbox.handler import InboxHandler
from mcp_elicit_client.inbox.inbox import Inbox
from mcp_elicit_client.inbox.stores.memory import MemoryStore
from mcp_elicit_client.inbox.stores.redis import RedisStore
from mcp_elicit_client.inbox.stores.sqlite import SqliteStore

__all__ = [
    "Entry",
    "EntryClosedError",
    "EntryNotFoundError",
    "Inbox",
    "InboxError",
    "InboxHandler",
    "MemoryStore",
    "Page",
    "RedisStore",
    "SqliteStore",
    "State",
    "request_schema",
]
