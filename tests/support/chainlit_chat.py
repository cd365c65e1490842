"""A real Chainlit server, and people who speak its protocol as the page in the browser does."""

from __future__ import annotations

import os
import tempfile
import uuid
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

# Chainlit writes files to this directory when it is imported.
os.environ["CHAINLIT_APP_ROOT"] = tempfile.mkdtemp(prefix="chainlit-")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of packages that Chainlit imports
    import chainlit
    import socketio
    from chainlit.server import app

from mcp_elicit_client.handlers.chainlit import ChainlitHandler
from mcp_elicit_client.handlers.chainlit.handler import ELEMENT
from tests.support import until
from tests.support.webapps import serving

CHAINLIT: Any = chainlit
"""Chainlit, imported in the one place where this can be done."""


class Person:
    """
    A person with an open chat.

    Attributes:
        id: The chat.
        elements: What each element shows, by ID.
        changes: How often an element was sent.
        messages: The texts of the messages.
    """

    def __init__(self, origin: str) -> None:
        self.id = str(uuid.uuid4())
        self.elements: dict[str, dict[str, Any]] = {}
        self.changes = 0
        self.messages: list[str] = []
        self._http = httpx.AsyncClient(base_url=origin, trust_env=False)
        self._origin = origin
        self._socket = socketio.AsyncClient()
        self._socket.on("element", self._see)
        self._socket.on("new_message", self._read)

    async def join(self) -> None:
        """Open the chat, or open it again after the connection was lost."""
        auth = {"sessionId": self.id, "clientType": "webapp", "userEnv": "{}", "chatProfile": ""}
        await self._socket.connect(self._origin, socketio_path="/ws/socket.io", auth=auth, transports=["websocket"])
        await self._socket.emit("connection_successful")

    async def leave(self) -> None:
        """Close the chat."""
        await self._socket.disconnect()

    async def close(self) -> None:
        """Close everything."""
        await self.leave()
        await self._http.aclose()

    async def _see(self, element: dict[str, Any]) -> None:
        assert element["type"] == "custom"
        self.elements[element["id"]] = element["props"]
        self.changes += 1

    async def _read(self, message: dict[str, Any]) -> None:
        self.messages.append(message["output"])

    @property
    def latest(self) -> dict[str, Any]:
        """What the last element shows."""
        return list(self.elements.values())[-1]

    @property
    def labels(self) -> list[str]:
        """The buttons of the last element."""
        return [each["label"] for each in self.latest["buttons"]] if self.elements else []

    @property
    def text(self) -> str:
        """The text of the last element."""
        return "\n".join(each["text"] for each in self.latest["paragraphs"])

    def data(self, label: str) -> str:
        """The data of a button."""
        return next(str(each["data"]) for each in self.latest["buttons"] if each["label"] == label)

    async def until_changed(self, count: int) -> None:
        """Wait until an element was sent after the first *count* ones."""
        await until(lambda: self.changes > count)

    async def act(self, **payload: Any) -> dict[str, Any]:
        """Do what the element does when a person presses or submits; return the reaction."""
        action = {"id": str(uuid.uuid4()), "name": ELEMENT, "payload": payload, "label": "", "tooltip": ""}
        done = await self._http.post("/project/action", json={"sessionId": self.id, "action": action})
        reaction: dict[str, Any] = done.raise_for_status().json()["response"]
        return reaction

    async def press(self, label: str) -> dict[str, Any]:
        """Press a button of the last element, and wait until it shows something else."""
        count = self.changes
        reaction = await self.act(data=self.data(label))
        assert reaction["note"] == "", reaction
        await until(lambda: self.changes > count)
        return reaction

    async def open(self) -> dict[str, Any]:
        """Return the form of the last element, which opens by itself."""
        [opener] = [each for each in self.latest["buttons"] if each["opens_dialog"]]
        dialog: dict[str, Any] = (await self.act(data=opener["data"]))["dialog"]
        return dialog


@asynccontextmanager
async def running(**options: Any) -> AsyncIterator[tuple[ChainlitHandler, str]]:
    """A handler, and the origin of the server."""
    async with serving(app, ws="auto", lifespan="off") as origin:  # its end would end the process
        yield ChainlitHandler(**options), origin


@asynccontextmanager
async def joined(origin: str) -> AsyncIterator[Person]:
    """A person who has opened the chat."""
    person = Person(origin)
    await person.join()
    try:
        yield person
    finally:
        await person.close()
