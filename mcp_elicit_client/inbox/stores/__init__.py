"""Where questions wait: in memory, in a file of SQLite, in Redis."""
