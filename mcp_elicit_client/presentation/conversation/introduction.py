"""What introduces the turns of a conversation: the server, its request, and the warnings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from mcp_elicit_client.core.text import sanitize_and_cut
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.conversation.turns import HostText, Link, Part, ServerText, Style
from mcp_elicit_client.presentation.descriptions import request_details, title_line
from mcp_elicit_client.presentation.formatting import moment_text
from mcp_elicit_client.presentation.warnings import request_warnings, warning_line
from mcp_elicit_client.typing import Request, UrlRequest


class Introduction(NamedTuple):
    """
    Introduces the turns about *request*.

    With buttons, a turn takes the place of the one before.  Each turn then
    names the server and repeats its message.  If the message is too long for
    that, the first turn has it in messages that stay, and the others repeat
    its beginning.
    """

    request: Request
    catalog: MessageCatalog
    time_zone: str | None
    style: Style

    @property
    def is_kept(self) -> bool:
        """True if the message of the server is too long to be repeated."""
        return self.style.has_buttons and len(self.request.message) > self.style.max_repeated

    def kept(self) -> tuple[Part, ...]:
        """Return what the first turn shows in messages that stay."""
        return tuple(self._opening(self.request.message)) if self.is_kept else ()

    def begin(self) -> Iterator[Part]:
        """Yield the introduction of the first turn, without what is kept."""
        if not self.is_kept:
            yield from self._opening(self.request.message)
        yield from self._facts()

    def repeat(self, *, with_facts: bool) -> Iterator[Part]:
        """Yield the introduction of a later turn; *with_facts* if it asks what the first turn asked."""
        if not self.style.has_buttons:
            return
        yield from self._opening(sanitize_and_cut(self.request.message, self.style.max_repeated, multiline=True))
        if with_facts:
            yield from self._facts()

    def _opening(self, message: str) -> Iterator[Part]:
        yield HostText(title_line(self.request, self.catalog), is_heading=True)
        if message:
            yield ServerText(message)
        for detail in request_details(self.request, self.catalog):
            yield ServerText(detail.text, detail.label)
        yield HostText(self.catalog.text(messages.QUOTES_LEGEND if self.style.has_buttons else messages.LEGEND))

    def _facts(self) -> Iterator[Part]:
        request, text = self.request, self.catalog.text
        if isinstance(request, UrlRequest):
            yield HostText(text(messages.FULL_URL))
            yield Link(request.target)
        if request.deadline is not None:
            yield HostText(text(messages.EXPIRES_AT, time=moment_text(request.deadline, self.time_zone)))
        for warning in request_warnings(request, self.catalog):
            yield HostText(warning_line(warning, self.catalog))
