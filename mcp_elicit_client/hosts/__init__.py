"""The only code that knows a library: one module for each, and what several of them need."""
