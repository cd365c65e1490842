"""User interfaces and other ready-made handlers."""
