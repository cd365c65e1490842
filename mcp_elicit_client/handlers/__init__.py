"""Ready-made handlers: each asks somebody, in its own way."""
