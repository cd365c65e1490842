"""Requests, forms and answers as pure functions: no I/O, no async, and no ``mcp`` before a result is built."""
