"""`CellOutput`: the part of a cell's output that shows one request, and how it ended."""

from __future__ import annotations

import contextvars
from collections.abc import Mapping
from html import escape
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from mcp_elicit_client.core.answer import Answer
from mcp_elicit_client.handlers.notebook.kernel import NotebookKernel
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.descriptions import server_name, title_line
from mcp_elicit_client.typing import Request

WIDGET = "application/vnd.jupyter.widget-view+json"

_FRAME = """\
<iframe src="{url}" title="{title}" referrerpolicy="origin" \
sandbox="allow-scripts allow-forms allow-same-origin allow-modals allow-popups allow-popups-to-escape-sandbox" \
style="width: 100%; height: 36rem; max-height: 85vh; border: 0; resize: vertical"></iframe>
<script>
(() => {{
  const frame = document.currentScript.previousElementSibling;
  addEventListener("message", function fit(event) {{
    if (!frame.isConnected) return removeEventListener("message", fit);
    const {{ type, height }} = event.data || {{}};
    if (event.source === frame.contentWindow && event.origin === "{origin}" && type === "mcp-elicitation-height")
      frame.style.height = `${{Number(height)}}px`;
  }});
}})();
</script>"""
"""A page in a frame that is as high as the page says; where scripts do not run, the page scrolls."""


class CellOutput:
    """
    The part of a cell's output that shows one request.

    Args:
        kernel: The kernel.
        request: The request.
        catalog: The texts.
    """

    def __init__(self, kernel: NotebookKernel, request: Request, catalog: MessageCatalog) -> None:
        self._kernel = kernel
        self._request = request
        self._catalog = catalog
        self._parent = kernel.parent
        self._id = uuid4().hex
        self._is_shown = False

    def show_widget(self, model_id: str) -> None:
        """Show a widget."""
        view = {"version_major": 2, "version_minor": 0, "model_id": model_id}
        self._show({WIDGET: view, "text/plain": title_line(self._request, self._catalog)})

    def show_frame(self, url: str) -> None:
        """Show a page in a frame."""
        title = title_line(self._request, self._catalog)
        page = urlsplit(url)
        frame = _FRAME.format(url=escape(url), title=escape(title), origin=f"{page.scheme}://{page.netloc}")
        self._show({"text/html": frame, "text/plain": title})

    def show_url(self, url: str) -> None:
        """Show the URL of a page."""
        self.show_text(self._catalog.text(messages.REQUEST_SENT, url=url))

    def show_text(self, text: str) -> None:
        """Show text."""
        self._show({"text/plain": text})

    def end(self, answer: Answer | None) -> None:
        """Replace what is shown by a sentence about how the request ended; None: it was withdrawn."""
        if not self._is_shown:
            return
        self._show_outcome("withdrawn" if answer is None else "expired" if answer.by == "timeout" else answer.action)
        if answer is None and self._parent is self._kernel.parent:
            self._kernel.if_interrupted(lambda: self._show_outcome("cancel"))

    def _show_outcome(self, outcome: str) -> None:
        server, shown = server_name(self._request.server), self._catalog.text(messages.OUTCOMES[outcome])
        self.show_text(self._catalog.text(messages.REQUEST_ENDED, server=server, outcome=shown))

    def _show(self, data: Mapping[str, Any]) -> None:
        update, self._is_shown = self._is_shown, True
        # What the task of this handler prints stays where it was.
        context = contextvars.copy_context()
        context.run(self._kernel.display, data, self._id, self._parent, update=update)
