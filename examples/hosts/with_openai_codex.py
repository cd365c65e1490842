"""Codex SDK: answer the requests of the MCP servers of Codex."""

import json
import sys
import tempfile
from typing import Any

from openai_codex.client import CodexClient, CodexConfig
from openai_codex.generated.v2_all import McpServerToolCallResponse

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.hosts.openai_codex import approval_handler

registry = ElicitationRegistry()
registry.on_elicitation(HeadlessHandler(accept_defaults_from={"restaurant"}))

SERVER = {"command": sys.executable, "args": ["-m", "mcp_elicit_client.demo.server"]}


def approve(_method: str, _params: dict[str, Any] | None) -> dict[str, Any]:
    """Refuse commands and changes of files.  The default handler of Codex accepts them."""
    return {"decision": "decline"}


def main() -> None:
    overrides = tuple(f"mcp_servers.restaurant.{name}={json.dumps(value)}" for name, value in SERVER.items())
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        config = CodexConfig(config_overrides=overrides, env={"CODEX_HOME": home})
        with CodexClient(config, approval_handler=approval_handler(registry, approve)) as codex:
            codex.initialize()
            thread = codex.thread_start({"approvalPolicy": "on-request", "sandbox": "read-only"}).thread
            # Without a model: the call that a turn would make.
            call = {"threadId": thread.id, "server": "restaurant", "tool": "book_table", "arguments": {}}
            print(codex.request("mcpServer/tool/call", call, response_model=McpServerToolCallResponse).content)


if __name__ == "__main__":
    main()
