"""Validation of answers against their forms."""
