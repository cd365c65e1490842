"""
A receiver for `WebhookHandler`: it verifies signatures, answers each request once, and signs its answers.

``python examples/webhook_receiver.py SECRET [SERVER ...]`` listens on a free
port of this machine and prints it.  Forms of the given servers are accepted
with their default values.  Other requests are answered later in the inbox, if
they have an ``answer_url``, or cancelled.
"""

import json
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from mcp_elicit_client.handlers.webhook import SignatureError, sign, verify_signature

REMEMBERED = 3_600.0
LONGEST = 1_048_576

Decide = Callable[[dict[str, Any]], Awaitable[dict[str, Any] | None]]


async def read(web: Request) -> bytes | None:
    """Return the body; None if it is too long."""
    body = bytearray()
    async for part in web.stream():
        body += part
        if len(body) > LONGEST:
            return None
    return bytes(body)


def receiver(secret: str, decide: Decide) -> Starlette:
    """
    Create the webhook application.

    Args:
        secret: The signing secret of both sides.
        decide: Takes the request and returns the answer (``action``,
            ``content``, ...), or None if it will be answered in the inbox.
            It is called once for each request, even if that is sent again.
    """
    questions: dict[str, Question] = {}

    async def receive(web: Request) -> Response:
        if web.headers.get("content-type", "").partition(";")[0] != "application/json":
            return Response(status_code=415)
        body = await read(web)
        if body is None:
            return Response(status_code=413)
        try:
            message_id = verify_signature(body, web.headers, secret)
        except SignatureError:
            return Response(status_code=401)
        message = json.loads(body)
        if message["type"] == "elicitation.closed":
            print("closed:", message["data"]["id"], message["data"]["state"], flush=True)
            return Response(status_code=202)
        if message["type"] != "elicitation.asked":
            return Response(status_code=400)

        forget_old(questions)
        if message_id not in questions:
            questions[message_id] = Question()
            await questions[message_id].settle(decide, message["data"])
        answer = await questions[message_id].settled()
        if answer is None:
            return Response(status_code=202)
        reply = json.dumps({"type": "elicitation.answered", "data": {**answer, "id": message_id}}).encode()
        signed = sign(reply, message_id, secret, purpose="answer")
        return Response(reply, media_type="application/json", headers=signed)

    async def health(_web: Request) -> Response:
        return JSONResponse({"questions": len(questions)})

    return Starlette(routes=[Route("/elicitation", receive, methods=["POST"]), Route("/", health)])


class Question:
    """A question, and its answer when there is one."""

    def __init__(self) -> None:
        self.since = time.monotonic()
        self._decided = anyio.Event()
        self._answer: dict[str, Any] | None = None

    async def settle(self, decide: Decide, question: dict[str, Any]) -> None:
        """Decide, even if the connection breaks: the request will be sent again."""
        try:
            with anyio.CancelScope(shield=True):
                self._answer = await decide(question)
        except Exception as error:  # noqa: BLE001 -- the sender needs a response
            print("could not decide:", repr(error), file=sys.stderr)
            self._answer = {"action": "cancel"}
        finally:
            self._decided.set()

    async def settled(self) -> dict[str, Any] | None:
        """Wait for the answer, which another connection may compute."""
        await self._decided.wait()
        return self._answer


def forget_old(questions: dict[str, Question]) -> None:
    """Remove requests that will not be sent again."""
    oldest = time.monotonic() - REMEMBERED
    for message_id in [each for each, question in questions.items() if question.since < oldest]:
        del questions[message_id]


def by_rule(servers: list[str]) -> Decide:
    """Accept the forms of *servers* with their default values; leave other requests to users."""

    async def decide(question: dict[str, Any]) -> dict[str, Any] | None:
        request = question["request"]
        print("asked:", request["server"]["name"], request["message"], flush=True)
        if request["mode"] == "form" and request["server"]["name"] in servers:
            fields = request["form"]["fields"]
            content = {field["name"]: field["default"] for field in fields if field["default"] is not None}
            if content and all(field["name"] in content for field in fields if field["required"]):
                return {"action": "accept", "content": content, "by": "policy"}
        # No decision was made.
        return None if question["answer_url"] else {"action": "cancel", "by": "policy"}

    return decide


if __name__ == "__main__":
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    app = receiver(sys.argv[1], by_rule(sys.argv[2:]))
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])
