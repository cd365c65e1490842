"""The stores of an inbox: memory, SQLite, PostgreSQL and Redis."""
