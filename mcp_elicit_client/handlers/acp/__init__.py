"""`Editor` and `EditorHandler`: an agent asks its user in the editor (Agent Client Protocol)."""

from mcp_elicit_client.handlers.acp.editor import Editor
from mcp_elicit_client.handlers.acp.handler import EditorHandler

__all__ = ["Editor", "EditorHandler"]
