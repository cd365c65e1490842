"""`RequestWidget`: the element of the inbox as a widget, whose requests arrive as messages of the kernel."""

from __future__ import annotations

import asyncio
import logging
import threading
from contextlib import suppress
from functools import cache
from importlib.resources import files
from typing import Any

import anyio
import anywidget
import httpx
import traitlets
from starlette.types import ASGIApp

from mcp_elicit_client._concurrency import start_in_background

_ORIGIN = "http://notebook.invalid"
_METHODS = frozenset({"GET", "HEAD", "POST"})
_UNSEEN_TIMEOUT = 3.0
"""Seconds after which a widget without a view counts as removed.  A notebook that draws it again takes less time."""

_logger = logging.getLogger("mcp_elicit_client")


@cache
def _module() -> str:
    """Return the JavaScript of the widget: the element, and what connects it to the kernel."""
    package = files("mcp_elicit_client")
    element = package / "inbox" / "web" / "static" / "mcp-elicitation.js"
    own = package / "handlers" / "notebook" / "widget.js"
    return f"{element.read_text(encoding='utf-8')}\n{own.read_text(encoding='utf-8')}"


class _Model(anywidget.AnyWidget):
    """The part of the widget that the front end knows."""

    _esm = _module()
    request_id = traitlets.Unicode().tag(sync=True)


class RequestWidget:
    """
    A widget that shows one request of an inbox.

    Create it in a task of asyncio.  Messages may arrive in any thread.

    Args:
        app: The inbox app, which takes all requests for those of one user.
        request_id: The ID of the request.
    """

    def __init__(self, app: ASGIApp, request_id: str) -> None:
        self._loop = asyncio.get_running_loop()
        self._received: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app, raise_app_exceptions=False), follow_redirects=True
        )
        self._views: set[str] = set()
        self._is_shown = asyncio.Event()
        self._is_removed = asyncio.Event()
        self.link_opened: threading.Event = threading.Event()
        self._model = _Model(request_id=request_id)
        self._model.on_msg(self._receive)
        start_in_background(self._serve)

    @property
    def model_id(self) -> str:
        """The ID under which the front end shows the widget."""
        return str(self._model.model_id)

    async def shown(self) -> None:
        """Wait until a view shows the request."""
        await self._is_shown.wait()

    async def removed(self) -> None:
        """Wait until no view is left: the output was cleared, or the cell was deleted."""
        while True:
            await self._is_removed.wait()
            with anyio.move_on_after(_UNSEEN_TIMEOUT) as waiting:
                self._is_shown.clear()
                await self._is_shown.wait()
            if waiting.cancelled_caught:
                return

    def close(self) -> None:
        """Forget the widget, here and in the front end."""
        self._put(None)
        self._model.close()

    def _receive(self, _model: object, content: object, _buffers: object) -> None:
        """Take a message, in the thread in which the kernel delivers it."""
        if isinstance(content, dict):
            if content.get("kind") == "opened":
                self.link_opened.set()
            self._put(content)

    def _put(self, content: dict[str, Any] | None) -> None:
        with suppress(RuntimeError):  # The event loop has ended: only the link of a URL is still shown.
            self._loop.call_soon_threadsafe(self._received.put_nowait, content)

    async def _serve(self) -> None:
        async with self._client, anyio.create_task_group() as group:
            while (content := await self._received.get()) is not None:
                match content.get("kind"):
                    case "request":
                        group.start_soon(self._reply, content)
                    case "shown":
                        self._views.add(str(content.get("view")))
                        self._is_shown.set()
                        self._is_removed.clear()
                    case "removed":
                        self._views.discard(str(content.get("view")))
                        if not self._views:
                            self._is_removed.set()
            group.cancel_scope.cancel()

    async def _reply(self, content: dict[str, Any]) -> None:
        """Answer a request of the element."""
        reply: dict[str, Any] = {"status": 400, "path": "/", "type": "text/plain", "body": ""}
        if _is_request(content):
            try:
                response = await self._client.request(
                    content["method"],
                    httpx.URL(_ORIGIN).copy_with(raw_path=content["path"].encode()),
                    headers={
                        "Accept": content["accept"],
                        "Accept-Language": content["languages"],
                        "Content-Type": "application/x-www-form-urlencoded",
                        "Sec-Fetch-Site": "same-origin",
                    },
                    content=content["body"].encode(),
                )
                kind = response.headers.get("content-type", "text/plain")
                reply = {"status": response.status_code, "path": response.url.raw_path.decode(), "type": kind}
                reply["body"] = response.text
            except Exception:
                _logger.exception("A message of a notebook could not be answered.")
        self._model.send({**reply, "id": content.get("id")})


def _is_request(content: dict[str, Any]) -> bool:
    """Return True for a request of the element.  It has no event stream: the kernel replaces what is shown."""
    values = [content.get(name) for name in ("id", "method", "path", "accept", "languages", "body")]
    if not all(isinstance(each, str) for each in values):
        return False
    line = f"{content['path']}{content['accept']}{content['languages']}"
    is_plain = line.isascii() and line.isprintable()
    return is_plain and content["method"] in _METHODS and content["path"] != "/events"
