"""fast-agent: one agent for each server."""

import asyncio
import json
import sys
import tempfile
from pathlib import Path

from fast_agent import FastAgent

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.hosts.fast_agent import elicitation_handler

registry = ElicitationRegistry()
registry.on_elicitation(HeadlessHandler(accept_defaults_from={"restaurant"}))

# What fastagent.config.yaml says; JSON is YAML.
config = {
    "default_model": "passthrough",
    "logger": {"type": "none", "progress_display": False},
    "mcp": {"servers": {"restaurant": {"command": sys.executable, "args": ["-m", "mcp_elicit_client.demo.server"]}}},
}
file = Path(tempfile.mkdtemp()) / "fastagent.config.yaml"
file.write_text(json.dumps(config), encoding="utf-8")
fast = FastAgent("example", config_path=str(file), parse_cli_args=False, quiet=True)


@fast.agent(
    name="waiter",
    servers=["restaurant"],
    elicitation_handler=elicitation_handler(registry, server="restaurant"),
)
async def main() -> None:
    async with fast.run() as app:
        result = await app["waiter"].call_tool("restaurant__book_table", {})
        print([part.text for part in result.content if part.type == "text"])


if __name__ == "__main__":
    asyncio.run(main())
