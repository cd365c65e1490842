"""
The two processes of a web product: one that asks, one that serves the inbox over HTTP; a store is between them.

``ask ADDRESS COUNT`` prints a line when its requests are stored, then the answers; ``serve ADDRESS`` prints the port.
"""

from __future__ import annotations

import json
import socket
import sys

import anyio
import uvicorn

from mcp_elicit_client import parse_request
from mcp_elicit_client.inbox import Inbox, InboxHandler, Store
from mcp_elicit_client.inbox.web import inbox_app
from tests.servers.stores import store_at

LEASE = 2.0
FORM = {"properties": {"a": {"type": "string"}}, "required": ["a"]}


async def ask(store: Store, count: int) -> None:
    stored: list[str] = []
    answers: list[object] = []

    async def note(_owner: str, entry_id: str) -> None:
        stored.append(entry_id)
        if len(stored) == count:
            print("stored", flush=True)

    handler = InboxHandler(Inbox(store), "ann", on_pending=note)

    async def one(number: int) -> None:
        answer = await handler(parse_request({"message": str(number), "requestedSchema": FORM}, server="mail"))
        answers.append([number, (answer.content or {}).get("a"), answer.action])

    async with anyio.create_task_group() as group:
        for number in range(count):
            group.start_soon(one, number)
    await store.aclose()
    print(json.dumps(answers))


def serve(store: Store) -> None:
    app = inbox_app(Inbox(store), lambda web: web.headers.get("x-user"))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_keep_alive=60)).run(sockets=[listener])


if __name__ == "__main__":
    part, address, *more = sys.argv[1:]
    connected = store_at(address, lease_ttl=LEASE)
    if part == "ask":
        anyio.run(ask, connected, int(more[0]))
    else:
        serve(connected)
