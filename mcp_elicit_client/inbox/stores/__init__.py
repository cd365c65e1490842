"""The stores of an inbox: memory, SQLite and Redis."""
