"""
The high-level server of mcp 2.x, which seals its state: one question leads to the next.

Its key is made anew whenever it is started, and its state lives as many
seconds as ``ELICIT_TTL`` says.
"""

from __future__ import annotations

import importlib
import os
from typing import Annotated, Any, Literal

from pydantic import BaseModel

from tests.servers.serving import serve

mcpserver: Any = importlib.import_module("mcp.server.mcpserver")
resolve: Any = importlib.import_module("mcp.server.mcpserver.resolve")
request_state: Any = importlib.import_module("mcp.server.request_state")


class Trip(BaseModel):
    city: str


class Seat(BaseModel):
    place: Literal["aisle", "window"]


async def where() -> Any:
    return resolve.Elicit("Where to?", Trip)


async def which(trip: Annotated[Trip, resolve.Resolve(where)]) -> Any:
    return resolve.Elicit(f"Which seat to {trip.city}?", Seat)


async def book(
    day: str,
    trip: Annotated[Trip, resolve.Resolve(where)],
    seat: Annotated[Seat, resolve.Resolve(which)],
) -> str:
    booked.append(day)
    return f"{day}: {trip.city}, {seat.place}, {len(booked)} booked"


booked: list[str] = []


def build(ttl: float = 600) -> Any:
    """Make the server, with a key of its own."""
    server = mcpserver.MCPServer(
        "airline", request_state_security=request_state.RequestStateSecurity.ephemeral(ttl=ttl)
    )
    server.tool()(book)
    return server


if __name__ == "__main__":
    serve(build(float(os.environ.get("ELICIT_TTL", "600"))))
