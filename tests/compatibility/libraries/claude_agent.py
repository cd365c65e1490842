"""Claude Agent SDK: Claude Code, with a stand-in for the model that calls the tool that it is told to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

import anyio
from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, ResultMessage

from mcp_elicit_client.hosts.claude_agent import answer_elicitations
from mcp_elicit_client.typing import Handler
from tests.compatibility.measuring import Call, Servers

NO_RESULT = "[]"
TOOLS = ("ask_form", "ask_url", "need_url")


class Model(BaseHTTPRequestHandler):
    """Calls the tool that the last prompt names, and repeats its result."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        events = list(_events(_reply(body))) if "messages" in body else []
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for event in events:
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    def log_message(self, *_: Any) -> None:
        pass


def _reply(body: dict[str, Any]) -> dict[str, Any]:
    content = [each["content"] for each in body["messages"] if each["role"] == "user"][-1]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    results: list[Any] = []
    for part in reversed(parts):
        if part["type"] == "tool_result":
            results.append(part)
        elif part["type"] == "text" and "_" in (asked := _asked_tool(part["text"])):
            name = next((tool["name"] for tool in body.get("tools", []) if tool["name"].endswith(asked)), None)
            if results or name is None:
                break
            return {"type": "tool_use", "id": f"toolu_{uuid4().hex}", "name": name, "input": {}}
    return {"type": "text", "text": json.dumps(results)}


def _asked_tool(prompt: str) -> str:
    """Return the name of the tool that ends *prompt*."""
    return prompt.rstrip(".").rpartition(" ")[2]


def _events(block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {
        "id": f"msg_{uuid4().hex}",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "usage": usage,
    }
    yield {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None}}
    if block["type"] == "tool_use":
        start, delta = block, {"type": "input_json_delta", "partial_json": "{}"}
    else:
        start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
    yield {"type": "content_block_start", "index": 0, "content_block": start}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    reason = "tool_use" if block["type"] == "tool_use" else "end_turn"
    yield {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}
    yield {"type": "message_stop"}


@contextmanager
def model() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def _environment(url: str, folder: str) -> dict[str, str]:
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CONFIG_DIR": folder,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "ENABLE_TOOL_SEARCH": "false",
    }


@asynccontextmanager
async def connected(handler: Handler, servers: Servers) -> AsyncIterator[Call]:
    with model() as url, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        options = ClaudeAgentOptions(
            mcp_servers={name: {"command": command, "args": args} for name, (command, *args) in servers.items()},
            allowed_tools=[f"mcp__{name}__{tool}" for name in servers for tool in TOOLS],
            cwd=folder,
            setting_sources=[],
            env=_environment(url, folder),
        )
        async with ClaudeSDKClient(options) as client:
            answer_elicitations(client, handler)

            async def call(server: str, tool: str) -> str:
                while True:
                    await client.query(f"call mcp__{server}__{tool}")
                    results = [
                        each.result async for each in client.receive_response() if isinstance(each, ResultMessage)
                    ]
                    if results[-1] != NO_RESULT:
                        return str(results[-1])
                    await anyio.sleep(0.1)  # the servers are still connecting

            yield call


def main() -> int:
    """Run the program whose path is the argument, with the stand-in for the model."""
    with model() as url, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        environment = {**os.environ, **_environment(url, folder)}
        return subprocess.run([sys.executable, sys.argv[1]], cwd=folder, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
