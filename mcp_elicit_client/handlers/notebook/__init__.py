"""
Requests in a Jupyter notebook: in the output of the cell that runs.

Requires the extra ``notebook``.
"""

from mcp_elicit_client.handlers.notebook.handler import NotebookHandler

__all__ = ["NotebookHandler"]
