"""
A backend with many users: FastAPI, one registry, and an inbox in Redis that all workers share.

``python examples/many_users.py`` serves it with two workers.  ``REDIS_URL`` and
``PORT`` say where.
"""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import uvicorn
from fastapi import Depends, FastAPI, HTTPException, Request, Response
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import TextContent

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.inbox import Inbox, InboxHandler, RedisStore
from mcp_elicit_client.inbox.web import inbox_app
from mcp_elicit_client.policies import Permissions, recommended

SESSIONS = {"token-of-ann": "ann", "token-of-bob": "bob"}  # in place of your own sign-in
RESTAURANT = StdioServerParameters(command=sys.executable, args=["-m", "mcp_elicit_client.demo.server"])

# One of each for all users of this worker.  The inbox has no default user, so no request is without one.
inbox = Inbox(RedisStore(os.environ.get("REDIS_URL", "redis://127.0.0.1:6379")))
permissions = Permissions("permissions.json")  # a file, so that both workers know which servers a user has blocked
registry = ElicitationRegistry(policy=recommended(permissions=permissions))
registry.on_elicitation(InboxHandler(inbox))


def signed_in(request: Any) -> str | None:
    return SESSIONS.get(request.headers.get("authorization", "").removeprefix("Bearer "))


def current_user(request: Request) -> str:
    user = signed_in(request)
    if user is None:
        raise HTTPException(401)
    return user


@asynccontextmanager
async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
    yield
    await inbox.aclose()


app = FastAPI(lifespan=lifespan)


@app.post("/bookings")
async def book(user: Annotated[str, Depends(current_user)]) -> dict[str, Any]:
    """Call a tool for the signed-in user.  Meanwhile the user answers at /requests, served by any worker."""
    caller = Caller(registry, "restaurant", user=user)  # one session for each user and server
    async with stdio_client(RESTAURANT) as (reader, writer), caller.session(reader, writer) as session:
        await session.initialize()
        result = await caller.call_tool(session, "book_table")
    return {"user": user, "result": "".join(each.text for each in result.content if isinstance(each, TextContent))}


@app.get("/worker")
async def worker(response: Response) -> int:
    """Return which worker serves this connection."""
    response.headers["cache-control"] = "no-store"
    return os.getpid()


app.mount("/requests", inbox_app(inbox, signed_in))  # users see and answer their own requests only

if __name__ == "__main__":
    uvicorn.run("many_users:app", port=int(os.environ.get("PORT", "8000")), workers=2, log_level="warning")
