"""The ``mcp-elicit`` command."""

from mcp_elicit_client.cli.main import main

__all__ = ["main"]
