"""The only code that knows a library: one module for each that takes a callback."""
