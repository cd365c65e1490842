"""
The pure part: no I/O, no async, and no ``mcp`` before a result is built.
"""
