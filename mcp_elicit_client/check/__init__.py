"""What ``mcp-elicit check`` runs and reports: scenarios, results, requirements.  Importing it does not load the SDK."""
