"""Validation of answers."""
