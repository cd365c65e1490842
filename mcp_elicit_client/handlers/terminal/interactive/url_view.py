"""`UrlView`: the questions about a URL."""

from __future__ import annotations

from collections.abc import Sequence

from mcp_elicit_client.handlers.terminal.interactive.rendering import Drawing, Line, host_text
from mcp_elicit_client.handlers.terminal.interactive.view import App, Button, View
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.quoting import GUTTER
from mcp_elicit_client.presentation.url_prompts import UrlPrompt
from mcp_elicit_client.typing import UrlRequest

_GUARDED = ("open", "copy", "show", "done")


class UrlView(View):
    """
    A question about a URL.

    Attributes:
        prompt: The question.
        notes: Sentences of the host about what happened.
        code: The URL as a QR code; None if there is none.
    """

    request: UrlRequest

    def __init__(self, app: App, prompt: UrlPrompt, notes: Sequence[str] = (), code: str | None = None) -> None:
        super().__init__(app, prompt.request)
        self.prompt = prompt
        self.notes = notes
        self.code = code
        self.at = prompt.choices.index(prompt.default) if prompt.default is not None else None

    def buttons(self) -> Sequence[Button]:
        return [self.choice_button(choice, guarded=choice in _GUARDED) for choice in self.prompt.choices]

    def keys(self) -> Sequence[tuple[str, str]]:
        text = self.catalog.text
        return [("Tab Enter", text(messages.KEY_SELECT)), ("Esc", text(messages.KEY_CANCEL))]

    def activate(self, name: str) -> None:
        self.app.end(name)

    def handle_key(self, key: str, data: str) -> None:  # noqa: ARG002 -- nothing is typed here
        last = len(self.buttons()) - 1
        match key:
            case "next" | "right" | "down":
                self.at = 0 if self.at is None or self.at == last else self.at + 1
            case "previous" | "left" | "up":
                self.at = last if self.at is None or self.at == 0 else self.at - 1
            case "enter":
                self.press_focused()

    def body(self, width: int) -> Drawing:
        text, target = self.catalog.text, self.request.target
        drawing = self.message(width)
        drawing.lines += [*host_text(text(messages.FULL_URL), width), *url_lines(target.split_at_domain, width)]
        for note in self.notes:
            drawing.lines += host_text(note, width)
        if self.code is not None:
            drawing.lines += [[("", line)] for line in self.code.split("\n")]
        if self.prompt.step == "waiting":
            hint = text(messages.SELECT_WHEN_FINISHED, domain=target.registrable_domain)
            drawing.lines += host_text(hint, width)
        drawing.cursor = (len(drawing.lines) - 1, 0)
        return drawing


def url_lines(parts: tuple[str, str, str], width: int) -> list[Line]:
    """Return lines of the full URL, with its registrable domain marked."""
    room = max(width - len(GUTTER) - 1, 1)
    styled = [
        (style, character)
        for style, part in zip(("class:server", "class:domain", "class:server"), parts, strict=True)
        for character in part
    ]
    lines: list[Line] = []
    for start in range(0, len(styled), room):
        line: Line = [("class:gutter", GUTTER)]
        for style, character in styled[start : start + room]:
            if line[-1][0] == style:
                line[-1] = (style, line[-1][1] + character)
            else:
                line.append((style, character))
        lines.append(line)
    return lines
