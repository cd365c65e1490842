"""One adapter for each MCP library, and what several of them share."""
