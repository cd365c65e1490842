"""What is on screen, as one thing that draws itself and obeys keys."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from prompt_toolkit.buffer import Buffer

from mcp_elicit_client.handlers.terminal.interactive.old_descriptions import name_of, title_line
from mcp_elicit_client.handlers.terminal.interactive.old_messages import MessageCatalog
from mcp_elicit_client.handlers.terminal.interactive.rendering import Drawing, Line, host_text, server_text
from mcp_elicit_client.presentation.quoting import columns
from mcp_elicit_client.typing import Request

if TYPE_CHECKING:
    from mcp_elicit_client.handlers.terminal.interactive.application import TerminalApp

_COUNTDOWN = 60
_PAGE = 10
_SHOWN_PROBLEMS = ("impersonation", "sensitive_data")


@dataclass(frozen=True, slots=True)
class Button:
    """
    Something to press.

    Attributes:
        name: What it does, in one word.
        label: What is on it.
        key: The key that does the same; empty if there is none.
        guarded: Whether it does nothing until the question was seen for a moment.
    """

    name: str
    label: str
    key: str = ""
    guarded: bool = False


@dataclass(frozen=True, slots=True)
class Confirmation:
    """
    A question within the question, to be answered with yes or anything else.

    Attributes:
        text: The question.
        warnings: What to know first.
        on_yes: What yes does.
        escape: Whether Escape, pressed once more, means yes.
    """

    text: str
    on_yes: Callable[[], None]
    warnings: Sequence[str] = ()
    escape: bool = False


class View(ABC):
    """
    A form, a review, or a question about a URL.

    Attributes:
        stage: What it is shown on.
        request: What it is about.
        at: The button that Enter would press; None if none.
        confirmation: What is being asked within it.
        busy: Whether it waits for something, and obeys nothing but a way out.
    """

    def __init__(self, stage: TerminalApp, request: Request) -> None:
        self.stage = stage
        self.request = request
        self.at: int | None = None
        self.confirmation: Confirmation | None = None
        self.busy: bool = False
        self.look: int | None = None
        self._drawn: float | None = None
        self._lines = 0
        self._cursor = 0

    @property
    def words(self) -> MessageCatalog:
        """The texts."""
        return self.stage.words

    @property
    def buffer(self) -> Buffer | None:
        """What typing goes to; None if there is nothing to type."""
        return None

    @property
    def ready(self) -> bool:
        """Whether it was on screen long enough to be sent on purpose."""
        return self._drawn is not None and time.monotonic() - self._drawn >= self.stage.inert

    @abstractmethod
    def buttons(self) -> Sequence[Button]:
        """What can be pressed."""

    @abstractmethod
    def body(self, width: int) -> Drawing:
        """Draw what scrolls."""

    @abstractmethod
    def activate(self, name: str) -> None:
        """Do what the button *name* says."""

    @abstractmethod
    def handle_key(self, key: str, data: str) -> None:
        """Obey a key that means nothing to every view."""

    @property
    def takes_spaces(self) -> bool:
        """Whether a space is typed, and chooses nothing."""
        return False

    def keys(self) -> Sequence[tuple[str, str]]:
        """The keys that do something here, and what."""
        return ()

    def is_touched(self) -> bool:
        """Tell whether anything was typed that leaving would lose."""
        return False

    def press(self, key: str, data: str = "") -> None:
        """Obey a key."""
        if key == "cancel":
            self.stage.cancel()
        elif self.confirmation is not None:
            self._settle(key, data)
        elif key in ("page-up", "page-down"):
            here = self._cursor if self.look is None else self.look
            self.look = min(max(here + (_PAGE if key == "page-down" else -_PAGE), 0), max(self._lines - 1, 0))
        elif key == "escape":
            self._escape()
        elif not self.busy:
            self.look = None
            self._obey(key, data)
        self.stage.refresh()

    def _obey(self, key: str, data: str) -> None:
        for button in self.buttons():
            if button.name == key:
                if self.ready or not button.guarded:
                    self.activate(key)
                return
        self.handle_key(key, data)

    def press_focused(self) -> None:
        """Press the button that Enter would press."""
        if self.at is not None:
            button = self.buttons()[self.at]
            if self.ready or not button.guarded:
                self.activate(button.name)

    def _escape(self) -> None:
        if not self.is_touched():
            self.stage.cancel()
        else:
            self.confirmation = Confirmation(self.words.ask_discard, self.stage.cancel, escape=True)

    def _settle(self, key: str, data: str) -> None:
        confirmation, self.confirmation = self.confirmation, None
        yes = key == "char" and data != "" and data in self.words.yes_keys
        if confirmation is not None and (yes or (confirmation.escape and key == "escape")):
            confirmation.on_yes()

    def drawn(self) -> bool:
        """Note that it is on screen now; tell whether it was not before."""
        if self._drawn is not None:
            return False
        self._drawn = time.monotonic()
        self.begin()
        return True

    def begin(self) -> None:  # noqa: B027 -- most have nothing to begin
        """Begin whatever takes the application that shows it."""

    def header(self, width: int) -> list[Line]:
        """Draw who asks, and for what: always in sight."""
        return host_text(title_line(self.request, self.words), width)

    def message(self, width: int) -> Drawing:
        """Draw what the server says, and what to know about it."""
        request, words = self.request, self.words
        lines = server_text(request.message, width) if request.message else []
        claimed = request.server.claimed_name
        if claimed and claimed != request.server.name:
            lines += [*host_text(words.claims, width, "class:hint"), *server_text(claimed, width)]
        lines += host_text(words.legend, width, "class:hint")
        for problem in request.diagnostics:
            if problem.code in _SHOWN_PROBLEMS:
                message = words.problems.get(problem.code, problem.message)
                lines += host_text(words.careful.format(message=message), width, "class:warning")
        left = self._seconds_left()
        if request.deadline is not None and left is not None and left > _COUNTDOWN:
            lines += host_text(
                words.closes_at.format(time=f"{request.deadline.astimezone():%H:%M:%S}"), width, "class:hint"
            )
        return Drawing([*lines, []])

    def content(self, width: int) -> Drawing:
        """Draw what scrolls, and remember how long it is."""
        drawing = self.body(width)
        self._lines = len(drawing.lines)
        self._cursor = drawing.cursor[0] if drawing.cursor else 0
        if self.look is not None:
            return Drawing(drawing.lines, (min(self.look, max(self._lines - 1, 0)), 0))
        return drawing

    def footer(self, width: int) -> list[Line]:
        """Draw what can be pressed: always in sight."""
        lines: list[Line] = []
        left = self._seconds_left()
        if left is not None and left <= _COUNTDOWN:
            lines += host_text(self.words.closes_in.format(seconds=max(int(left), 0)), width, "class:warning")
        if self.confirmation is not None:
            for each in self.confirmation.warnings:
                lines += host_text(self.words.careful.format(message=each), width, "class:warning")
            question = self.confirmation.text.format(yes=self.words.yes_keys[0])
            return [*lines, *host_text(question, width, "class:warning")]
        if self.busy:
            lines += host_text(self.words.checking, width, "class:hint")
        lines += flow([self._draw(at, button) for at, button in enumerate(self.buttons())], width)
        keys = [(key, what) for key, what in self.keys() if what]
        if self.stage.overflows:
            keys.append(("PgUp/PgDn", self.words.key_scroll))
        pieces: list[Line] = [[("class:hint", f"{key} {what}")] for key, what in keys]
        return [*lines, *flow(pieces, width)]

    def _draw(self, at: int, button: Button) -> Line:
        style = "class:pressed" if at == self.at else "class:button"
        label = button.label if self.ready or not button.guarded else self.words.wait
        text = f"{button.key} {label}" if button.key else label
        return [("class:focus", ">" if at == self.at else " "), (style, f"[{text}]")]

    def _seconds_left(self) -> float | None:
        deadline = self.request.deadline
        return None if deadline is None else (deadline - datetime.now(timezone.utc)).total_seconds()

    @property
    def name(self) -> str:
        """What the host calls the server."""
        return name_of(self.request.server)


def flow(pieces: Sequence[Line], width: int) -> list[Line]:
    """Set pieces one after the other, on as many lines as they take."""
    lines: list[Line] = []
    used = 0
    for piece in pieces:
        wide = sum(columns(text) for _, text in piece)
        if lines and used + 2 + wide < width:
            lines[-1] = [*lines[-1], ("", "  "), *piece]
            used += 2 + wide
        elif wide <= width:
            lines.append(list(piece))
            used = wide
        else:
            lines += [*host_text("".join(text for _, text in piece), width, piece[-1][0])]
            used = width
    return lines
