"""Stores of processes that share them, by their address."""

from __future__ import annotations

from typing import Any

from mcp_elicit_client.inbox import PostgresStore, RedisStore, SqliteStore


def store_at(address: str, **options: Any) -> Any:
    """Return the store with an `Stores.address`, in any process."""
    url, _, name = address.partition("#")
    if url.startswith("redis:"):
        return RedisStore(url, prefix=name, **options)
    if url.startswith("postgresql:"):
        return PostgresStore(url, schema=name, **options)
    return SqliteStore(address, **options)
