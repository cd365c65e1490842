"""`UrlView`: the questions about a URL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcp_elicit_client.handlers.terminal.interactive.rendering import (
    BAR,
    GUTTER,
    MARK,
    Drawing,
    Line,
    host_text,
)
from mcp_elicit_client.handlers.terminal.interactive.view import App, KeyAction, View
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.descriptions import title_line
from mcp_elicit_client.presentation.url_prompts import UrlChoice, UrlPrompt
from mcp_elicit_client.typing import UrlRequest

_LETTERS: Mapping[UrlChoice, str] = {"open": "o", "copy": "c", "show": "s", "done": "f", "reopen": "o"}
"""The keys of the choices, other than those to leave."""


class UrlView(View):
    """
    A question about a URL.

    Attributes:
        prompt: The question.
        note: A sentence of the host about what happened; may be empty.
        code: The URL as a QR code; None if it has none.
    """

    request: UrlRequest

    def __init__(self, app: App, prompt: UrlPrompt, note: str, code: str | None) -> None:
        super().__init__(app, prompt.request)
        self.prompt = prompt
        self.note = note
        self.code = code
        self._code_fits = False

    def actions(self) -> Sequence[KeyAction]:
        domain = self.request.target.registrable_domain
        choices: list[KeyAction] = []
        for name in self.prompt.choices:
            if name in _LETTERS:
                letter = _LETTERS[name]
                label = self.catalog.text(messages.URL_CHOICES[name], domain=domain)
                careful = self.warned and name in ("open", "reopen")
                choices.append(KeyAction(name, label, letter, letter + letter.upper(), guarded=True, careful=careful))
        decline, *others = self.leaving_actions()
        if self.prompt.default == "decline":
            return [decline, *choices, *others]
        return [*choices, decline, *others]

    def activate(self, name: str) -> None:
        self.app.end(name)

    def left(self, name: str) -> None:
        if name == "cancel":
            self.app.cancel()
        else:
            self.app.end(name)

    def title(self) -> Line:
        return _emphasized(title_line(self.request, self.catalog), self.request.target.registrable_domain)

    def draw(self, width: int, height: int) -> Drawing:
        # A part of the code is of no use.
        self._code_fits = self.code is not None and len(self.code.partition("\n")[0]) <= width
        drawing = super().draw(width, height)
        if self._code_fits and self.viewport.overflows:
            self._code_fits = False
            return super().draw(width, height)
        return drawing

    def body(self, width: int) -> Drawing:
        text, target = self.catalog.text, self.request.target
        drawing = self.message(width)
        drawing.lines += url_lines(target.split_at_domain, width)
        if self.note:
            drawing.lines += host_text(self.note, width, "class:host", " ")
        if self.code is not None and self._code_fits:
            drawing.lines += host_text(text(messages.OPEN_YOURSELF), width, "class:host", " ")
            drawing.lines += [[("", line)] for line in self.code.split("\n")]
        if self.prompt.step == "waiting":
            hint = text(messages.SELECT_WHEN_FINISHED, domain=target.registrable_domain)
            drawing.lines += host_text(hint, width, "class:host", " ")
        drawing.lines.append([])
        drawing.cursor = (len(drawing.lines) - 1, 0)
        return drawing


def _emphasized(title: str, domain: str) -> Line:
    before, found, after = title.rpartition(domain)
    if not found:
        return [("class:host", title)]
    return [("class:host", before), ("class:domain", domain), ("class:host", after)]


def url_lines(parts: tuple[str, str, str], width: int) -> list[Line]:
    """Return lines of the full URL, with its registrable domain marked and, if it fits, in one line."""
    room = max(width - len(GUTTER) - 1, 1)
    before, domain, after = parts
    lines: list[Line] = []

    def begin() -> None:
        lines.append([("", MARK), ("class:gutter", BAR)])

    used = room
    for style, part in (("class:server", before), ("class:domain", domain), ("class:server", after)):
        rest = part
        if style == "class:domain" and used + len(rest) > room >= len(rest):
            used = room
        while rest:
            if used >= room:
                begin()
                used = 0
            piece, rest = rest[: room - used], rest[room - used :]
            lines[-1].append((style, piece))
            used += len(piece)
    return lines
