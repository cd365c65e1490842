"""From a server's ``requestedSchema`` to a `Form`, and back."""
