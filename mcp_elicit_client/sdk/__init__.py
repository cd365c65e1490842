"""The official SDK, mcp 1.x and 2.x."""
