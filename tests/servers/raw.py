"""
A server without any SDK, over standard input and output, or HTTP in this process.

Over standard input and output it is one loop, which reads the next message as
the answer to its question.  Over HTTP, tests can stop it, drop its
connections, and have it refuse everything while a question is open.
"""

from __future__ import annotations

import contextlib
import http.server
import json
import queue
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Literal

Era = Literal["legacy", "2026-07-28"]
Message = dict[str, Any]

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
SLOW = 0.2
"""How long the tool ``slow`` takes before and after its question, in seconds."""


def question(key: str, text: str = "What?") -> Message:
    return {"id": key, "method": "elicitation/create", "params": {"message": text, "requestedSchema": SCHEMA}}


def typed(answer: Message) -> str:
    """Return what the user typed; or what was received in its place."""
    if "method" in answer:
        return f"read {answer['method']!r} as the answer"
    result = answer.get("result", answer)
    return str((result.get("content") or {}).get("text", result.get("action", result)))


# --- tools that push their questions


class Peer:
    """The client, in one call of a server that pushes its questions."""

    def __init__(
        self, send: Callable[[Message], None], receive: Callable[[], Message], arguments: Message | None = None
    ) -> None:
        self.send = send
        self.receive = receive
        self.arguments = arguments or {}

    def ask(self) -> str:
        """Ask what the argument ``params`` says."""
        self.send({**question("q"), **self.arguments})
        return typed(self.receive())

    def two(self) -> str:
        self.send(question("a"))
        self.send(question("b", "What else?"))
        answers = {each["id"]: typed(each) for each in (self.receive(), self.receive())}
        return " ".join(answers[key] for key in "ab")

    def slow(self) -> str:
        time.sleep(SLOW)
        self.send(question("q"))
        answer = typed(self.receive())
        time.sleep(SLOW)
        return answer

    def pinged(self) -> str:
        self.send(question("q"))
        self.send({"id": "ping", "method": "ping"})
        answers = {each["id"]: each for each in (self.receive(), self.receive())}
        assert answers["ping"]["result"] == {}
        return typed(answers["q"])

    def withdrawn(self) -> str:
        self.send(question("q"))
        self.send({"method": "notifications/cancelled", "params": {"requestId": "q", "reason": "changed my mind"}})
        self.send(question("other", "What else?"))
        answer = self.receive()
        while answer.get("id") != "other":
            answer = self.receive()
        return typed(answer)

    def reused(self) -> str:
        """Ask twice with one ID, and return every answer."""
        self.send(question("q"))
        self.send(question("q", "What else?"))
        answers = [typed(self.receive())]
        self.send({"id": "ping", "method": "ping"})
        while (answer := self.receive())["id"] != "ping":
            answers.append(typed(answer))
        return " ".join(answers)

    def forever(self) -> str:
        self.send(question("q"))
        while True:
            self.receive()


# --- tools that return their questions


def in_rounds(tool: str, params: Message) -> Message:
    """Return the result of one round of *tool*."""
    given = params.get("inputResponses")
    if tool == "slow":
        time.sleep(SLOW)
    is_asked_again = tool == "again" and "again" not in (given or {})
    if not given or is_asked_again:
        keys = ["again"] if given else "ab" if tool == "two" else "q"
        asked = {key: {**question(key, f"{key}?"), **(params.get("arguments") or {})} for key in keys}
        requests = {key: {"method": each["method"], "params": each["params"]} for key, each in asked.items()}
        return {"resultType": "input_required", "inputRequests": requests, "requestState": "s"}
    return text_result(" ".join(typed(given[key]) for key in sorted(given)))


def text_result(text: str) -> Message:
    return {"resultType": "complete", "content": [{"type": "text", "text": text}]}


INVALID = {"resultType": "complete", "content": "not a list"}
"""What the tool ``invalid`` returns."""

TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("ask", "two", "slow", "pinged", "withdrawn")]
LISTED = {"resultType": "complete", "tools": TOOLS, "ttlMs": 0, "cacheScope": "private"}
INITIALIZED = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "raw", "version": "1"},
}
DISCOVERED = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "raw", "version": "1"},
    "ttlMs": 0,
    "cacheScope": "private",
}


def reply(message: Message, era: Era) -> Message:
    """Return the answer to anything but a call."""
    results = {"tools/list": LISTED, "ping": {}, ("initialize" if era == "legacy" else "server/discover"): None}
    if message["method"] not in results:
        return {"id": message["id"], "error": {"code": -32601, "message": "Method not found"}}
    result = results[message["method"]]
    return {"id": message["id"], "result": result or (INITIALIZED if era == "legacy" else DISCOVERED)}


def serve_stdio(era: Era) -> None:
    """Serve in one loop."""

    def send(message: Message) -> None:
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

    def receive() -> Message:
        line = sys.stdin.readline()
        if not line:
            sys.exit()
        message: Message = json.loads(line)
        return message

    while True:
        message = receive()
        if message.get("method") == "tools/call":
            send({"id": message["id"], "result": call(message, era, send, receive)})
        elif "id" in message and "method" in message:
            send(reply(message, era))


def nothing(*_: Any) -> Any:
    """Neither send nor receive."""


def call(message: Message, era: Era, send: Callable[[Message], None], receive: Callable[[], Message]) -> Message:
    params = message["params"]
    if params["name"] == "invalid":
        return INVALID
    if params["name"] == "rounds":
        return in_rounds("ask", params)
    if era == "legacy":
        return text_result(getattr(Peer(send, receive, params.get("arguments")), params["name"])())
    return in_rounds(params["name"], params)


# --- over HTTP


class PushingCall:
    """One call of a server that pushes its questions.  Its messages stay, so that another stream can continue."""

    def __init__(self, message: Message) -> None:
        self.sent: list[Message] = []
        self.received: queue.Queue[Message] = queue.Queue()
        self.changed = threading.Condition()
        self.is_done = False
        threading.Thread(target=self._run, args=(message,), daemon=True).start()

    def _run(self, message: Message) -> None:
        self._send({"id": message["id"], "result": call(message, "legacy", self._send, self.received.get)})
        with self.changed:
            self.is_done = True
            self.changed.notify_all()

    def _send(self, message: Message) -> None:
        with self.changed:
            self.sent.append({"jsonrpc": "2.0", **message})
            self.changed.notify_all()

    def next(self, at: int) -> Message | None:
        """Wait for message number *at*; return None if there is none any more."""
        with self.changed:
            self.changed.wait_for(lambda: len(self.sent) > at or self.is_done)
            return self.sent[at] if len(self.sent) > at else None


class RawHttpServer:
    """
    A server over HTTP, in threads of this process.

    Attributes:
        status: What every request is answered with; None to serve them.
        headers: Additional headers of all responses.
        breaks_off: Responses end after their headers.
        methods: The methods of all requests.
        url: Where it is.
    """

    def __init__(self, era: Era, *, synchronous: bool = False) -> None:
        self.era = era
        self.status: int | None = None
        self.headers: dict[str, str] = {}
        self.breaks_off = False
        self.methods: list[str] = []
        self.port = 0
        self.call: PushingCall | None = None
        self._class = http.server.HTTPServer if synchronous else http.server.ThreadingHTTPServer
        self._connections: set[socket.socket] = set()
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def start(self) -> None:
        self._server = self._class(("127.0.0.1", self.port), _handler(self))
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        """Stop: nobody listens any more, and all connections are lost."""
        self._server.shutdown()
        self._server.server_close()
        self.drop()

    def drop(self) -> None:
        """Lose all connections."""
        for connection in tuple(self._connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    @contextlib.contextmanager
    def connection(self, made: socket.socket) -> Any:
        self._connections.add(made)
        try:
            yield
        finally:
            self._connections.discard(made)


def _handler(server: RawHttpServer) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def handle(self) -> None:
            with server.connection(self.connection), contextlib.suppress(ConnectionError, ValueError):
                super().handle()

        def do_POST(self) -> None:
            message = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if self.path == "/moved":
                self.redirect("/mcp")
                return
            server.methods.append(message.get("method", "answer"))
            if server.status is not None:
                self.respond(server.status)
            elif message.get("method") == "tools/call" and server.era == "legacy":
                server.call = PushingCall(message)
                self.stream(server.call, 0)
            elif message.get("method") == "tools/call":
                result = call(message, server.era, nothing, nothing)
                self.respond(200, {"id": message["id"], "result": result})
            elif "method" in message and "id" in message:
                self.respond(200, reply(message, server.era))
            else:
                if "method" not in message and server.call is not None:
                    server.call.received.put(message)
                self.respond(202)

        def do_GET(self) -> None:
            last = self.headers.get("last-event-id")
            if server.status is not None:
                self.respond(server.status)
            elif last is None or server.call is None:
                self.respond(405)
            else:
                self.stream(server.call, int(last) + 1)

        def do_DELETE(self) -> None:
            self.respond(200)

        def respond(self, status: int, message: Message | None = None) -> None:
            body = b"" if message is None else json.dumps({"jsonrpc": "2.0", **message}).encode()
            self.send_response(status)
            self.send_header("mcp-session-id", "raw")
            self.send_header("content-type", "application/json" if body else "text/plain")
            self.send_header("content-length", str(len(body)))
            for name, value in server.headers.items():
                self.send_header(name, value)
            self.end_headers()
            if not server.breaks_off:
                self.wfile.write(body)

        def redirect(self, location: str) -> None:
            self.send_response(307)
            self.send_header("location", location)
            self.send_header("content-length", "0")
            self.end_headers()

        def stream(self, pushing: PushingCall, at: int) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            while (message := pushing.next(at)) is not None:
                event = f"event: message\nid: {at}\nretry: 50\ndata: {json.dumps(message)}\n\n"
                self.wfile.write(event.encode())
                at += 1

    return Handler


if __name__ == "__main__":
    serve_stdio("legacy" if "--legacy" in sys.argv else "2026-07-28")
