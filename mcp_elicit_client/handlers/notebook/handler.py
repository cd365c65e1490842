"""`NotebookHandler`: asks in the output of the cell that runs."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import NoneType
from typing import TYPE_CHECKING, Literal

import anyio

from mcp_elicit_client._arguments import YEAR, check_handler, check_seconds, check_type
from mcp_elicit_client._concurrency import is_trio, run_until
from mcp_elicit_client.core.notice import Notice
from mcp_elicit_client.exceptions import MissingExtraError
from mcp_elicit_client.handlers.browser.asking import START_TIMEOUT, ask_in_inbox, ask_on_page, within_limits
from mcp_elicit_client.handlers.browser.local_server import PROCESS
from mcp_elicit_client.handlers.browser.tab import BrowserTab
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.handlers.notebook.kernel import NotebookKernel, check_origin, current_kernel, notebook_origins
from mcp_elicit_client.handlers.notebook.output import CellOutput
from mcp_elicit_client.inbox.inbox import Inbox
from mcp_elicit_client.inbox.stores.memory import MemoryStore
from mcp_elicit_client.presentation.catalog import MessageCatalog, catalog_of_environment
from mcp_elicit_client.presentation.notices import notice_lines
from mcp_elicit_client.typing import Answer, Request, UrlRequest

if TYPE_CHECKING:
    from mcp_elicit_client.handlers.notebook.widget import RequestWidget

LINK_TIMEOUT = 120.0
"""Seconds for which a URL that the user agreed to open is shown after the answer."""

_OWNER = "notebook"
_WIDTH = 79
_REQUIRED = ("jinja2", "starlette", "uvicorn", "anywidget")


class NotebookHandler:
    """
    Ask in the output of the cell that runs, while the cell awaits the call.

    The request is a widget, if the kernel and the front end deliver its
    messages while a cell runs (ipykernel 7.4; 7.0 to 7.3 with JupyterLab).
    Otherwise it is a page of this computer in a frame, which only the
    notebook can show; without a frame, the URL of that page.  Afterwards a
    sentence replaces it, so that a saved notebook holds neither a form, a URL
    nor an answer.

    If the cell is interrupted, or its output is cleared for three seconds,
    the request is cancelled.  What was entered is restored if the server
    sends the same request again.  Four requests are open at a time.

    Args:
        form: ``widget`` or ``page`` to use one of them only.
        origin: The origin of the notebook, such as ``http://localhost:8888``,
            whose pages may show the page in a frame.  None to look for the
            notebook server that started the kernel.
        answer_timeout: Seconds for which a request without a deadline can be
            answered; None for 40 seconds for each field, at least 240 and at
            most 1800.  The user can extend this ten times.
        messages: The texts; None for the language of the browser.
        unattended: Answers if there is no user: outside of a kernel, and in
            programs that run notebooks, such as nbclient and papermill.

    Raises:
        MissingExtraError: If the extra ``notebook`` is not installed.
        ValueError: If *form* or *origin* is not one of the values above, or
            *answer_timeout* is not above 0 and at most a year.
    """

    def __init__(
        self,
        *,
        form: Literal["auto", "widget", "page"] = "auto",
        origin: str | None = None,
        answer_timeout: float | None = None,
        messages: MessageCatalog | None = None,
        unattended: HeadlessHandler | None = None,
    ) -> None:
        check_seconds("answer_timeout", answer_timeout, optional=True, maximum=YEAR)
        if any(importlib.util.find_spec(name) is None for name in _REQUIRED):
            raise MissingExtraError("notebook", "requests in a notebook")
        if form not in ("auto", "widget", "page"):
            raise ValueError(f"`form` takes 'auto', 'widget' or 'page', not {form!r}.")
        if origin is not None:
            check_origin(origin)
        check_type("messages", messages, MessageCatalog, NoneType)
        if unattended is not None:
            check_handler(unattended)
        self._answer_timeout = answer_timeout
        self._form = form
        self._origin = origin
        self._messages = messages
        self._unattended = unattended or HeadlessHandler()
        current_kernel()  # which notes the cells from now on

    async def __call__(self, request: Request, /) -> Answer:
        """Ask in the output of the current cell.  If this is cancelled, the request is withdrawn."""
        kernel = current_kernel()
        if kernel is None or not kernel.has_user:
            return await self._unattended(request)
        return await within_limits(request, self._answer_timeout, lambda each: self._ask(each, kernel))

    async def notify(self, notice: Notice, /) -> None:
        """Show that a policy declined a request: with the open requests of its user, and in the current cell."""
        await PROCESS.notify(notice)
        kernel = current_kernel()
        if kernel is not None and kernel.has_user:
            output = CellOutput(kernel, notice.request, self._catalog)
            output.show_text(notice_lines(notice, self._catalog, _WIDTH))

    @property
    def _catalog(self) -> MessageCatalog:
        return self._messages or catalog_of_environment()

    async def _ask(self, request: Request, kernel: NotebookKernel) -> Answer:
        output = CellOutput(kernel, request, self._catalog)
        showing = _Showing(request, kernel, output, self._form, self._origin, self._messages)
        answer: Answer | None = None
        try:
            answer = await run_until(kernel.interrupted, showing.ask)
            if answer is None:
                answer = Answer.cancel(by="user", reason="the cell was interrupted")
            elif answer.by == "user":
                answer = answer.model_copy(update={"reason": "answered in the notebook"})
        finally:
            showing.end(answer)
        return answer


@dataclass(slots=True)
class _Showing:
    """One request while it is shown, and what the handler was made with."""

    request: Request
    kernel: NotebookKernel
    output: CellOutput
    form: Literal["auto", "widget", "page"]
    origin: str | None
    messages: MessageCatalog | None
    widget: RequestWidget | None = None

    async def ask(self) -> Answer:
        if self.form == "widget" or (self.form == "auto" and self._can_use_widgets()):
            answer = await self._ask_in_widget()
            if answer is not None or self.form == "widget":
                return answer or Answer.cancel(by="unattended", reason="the notebook does not show the widget")
            self.kernel.has_failed = True
        return await self._ask_on_page()

    def _can_use_widgets(self) -> bool:
        return self.kernel.delivers_widgets and not self.kernel.has_failed and not is_trio()

    async def _ask_on_page(self) -> Answer:
        origins = notebook_origins() if self.origin is None else (self.origin,)

        def prepare(page: BrowserTab) -> Callable[[], Awaitable[bool]]:
            async def show() -> bool:
                if origins:
                    self.output.show_frame(page.url)
                return bool(origins)

            return show

        return await ask_on_page(self.request, self.messages, prepare, self.output.show_url, frame_ancestors=origins)

    async def _ask_in_widget(self) -> Answer | None:
        """Return the answer; None if the front end does not show the widget."""
        inbox = Inbox(MemoryStore())
        was_shown = False

        async def show_until_removed(request_id: str) -> None:
            nonlocal was_shown
            widget = self._show_widget(inbox, request_id)
            with anyio.move_on_after(START_TIMEOUT):
                await widget.shown()
                was_shown = True
            if was_shown:
                await widget.removed()

        answer = await ask_in_inbox(self.request, inbox, _OWNER, show_until_removed)
        if answer is None and was_shown:
            return Answer.cancel(by="unattended", reason="the output was removed")
        return answer

    def _show_widget(self, inbox: Inbox, request_id: str) -> RequestWidget:
        from mcp_elicit_client.handlers.notebook.widget import RequestWidget
        from mcp_elicit_client.inbox.web import inbox_app

        app = inbox_app(inbox, lambda _: _OWNER, single_request=True, messages=self.messages)
        self.widget = RequestWidget(app, request_id)
        self.output.show_widget(self.widget.model_id)
        return self.widget

    def end(self, answer: Answer | None) -> None:
        """Replace the request by a sentence; after consent to a URL, once the user opened it."""
        request = self.request
        is_link = isinstance(request, UrlRequest) and request.respond_after == "consent"
        if is_link and answer is not None and answer.action == "accept":
            # The event loop may end before, if another thread runs it.
            threading.Thread(target=self._end_after_link, args=[answer], daemon=True).start()
        else:
            self._end(answer)

    def _end_after_link(self, answer: Answer) -> None:
        is_opened = threading.Event() if self.widget is None else self.widget.link_opened
        is_opened.wait(LINK_TIMEOUT)
        self._end(answer)

    def _end(self, answer: Answer | None) -> None:
        self.output.end(answer)
        if self.widget is not None:
            self.widget.close()
