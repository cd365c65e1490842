"""`View`: a part of a request that the application shows, such as a form, with its buttons and keys."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Protocol

from prompt_toolkit.buffer import Buffer

from mcp_elicit_client.core.messages import Message
from mcp_elicit_client.handlers.terminal.interactive.rendering import Drawing, Line, flow, host_text, server_text
from mcp_elicit_client.handlers.terminal.url import refusal
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.descriptions import request_details, server_name, title_line
from mcp_elicit_client.presentation.warnings import request_warnings, warning_line
from mcp_elicit_client.typing import Request, UrlRequest

_COUNTDOWN = 60
"""Seconds before the deadline from which on they are counted down."""

_PAGE = 10
_LABELS: dict[str, Message] = {str(name): label for name, label in messages.URL_CHOICES.items()}
_REFUSAL_KEYS = {"decline": "Ctrl+D", "block": "F4", "cancel": "Ctrl+C"}


@dataclass(frozen=True, slots=True)
class Button:
    """
    A button.

    Attributes:
        name: The name of its action.
        label: Its label.
        key: The key with the same action; empty if there is none.
        guarded: It has no effect until the view was visible for a moment.
    """

    name: str
    label: str
    key: str = ""
    guarded: bool = False


@dataclass(frozen=True, slots=True)
class Confirmation:
    """
    A question in the footer that is answered with yes or with any other key.

    Attributes:
        text: The question.
        on_yes: The action for yes.
        warnings: Warnings to show before the question.
        escape: A second Escape means yes.
    """

    text: str
    on_yes: Callable[[], None]
    warnings: Sequence[str] = ()
    escape: bool = False


class App(Protocol):
    """
    The part of the application that views use.

    Attributes:
        catalog: The texts.
        inert: Seconds until guarded buttons have an effect.
        overflows: The view is longer than the terminal.
    """

    catalog: MessageCatalog
    inert: float
    overflows: bool

    @property
    def is_running(self) -> bool:
        """True while a view is shown."""
        ...

    def end(self, result: Any) -> None:
        """End the view with *result*."""
        ...

    def cancel(self) -> None:
        """End the view because the user cancelled the request."""
        ...

    def switch_to(self, view: View) -> None:
        """Replace the view."""
        ...

    def refresh(self) -> None:
        """Draw the view again."""
        ...

    def call_later(self, work: Callable[[], Any], then: Callable[[Any], None]) -> None:
        """Call *work* in a thread, and *then* with its result."""
        ...


class View(ABC):
    """
    A form, a review, or a question about a URL.

    Attributes:
        app: The application that shows the view.
        request: The request.
        at: The index of the focused button; None if no button is focused.
        confirmation: The question in the footer; None if there is none.
        busy: The view waits for a check and can only be cancelled.
        look: The line to scroll to; None for the cursor.
    """

    def __init__(self, app: App, request: Request) -> None:
        self.app = app
        self.request = request
        self.at: int | None = None
        self.confirmation: Confirmation | None = None
        self.busy: bool = False
        self.look: int | None = None
        self._drawn: float | None = None
        self._lines = 0
        self._cursor = 0

    @property
    def catalog(self) -> MessageCatalog:
        """The texts."""
        return self.app.catalog

    @property
    def buffer(self) -> Buffer | None:
        """The buffer of the focused text input; None if there is none."""
        return None

    @property
    def ready(self) -> bool:
        """True if the view was visible long enough to be sent on purpose."""
        return self._drawn is not None and time.monotonic() - self._drawn >= self.app.inert

    @abstractmethod
    def buttons(self) -> Sequence[Button]:
        """Return the buttons."""

    @abstractmethod
    def body(self, width: int) -> Drawing:
        """Return the part that scrolls."""

    @abstractmethod
    def handle_key(self, key: str, data: str) -> None:
        """Handle a key that has no meaning common to all views."""

    def activate(self, name: str) -> None:
        """Execute the action of the button *name*."""
        if name == "cancel":
            self.app.cancel()
        else:
            self.app.end(refusal(name))

    def refusal_buttons(self) -> list[Button]:
        """Return the buttons to decline, to block the server if that is offered, and to cancel."""
        names = ["decline", *(["block"] if self.request.can_block else []), "cancel"]
        return [self.choice_button(name) for name in names]

    def choice_button(self, name: str, *, guarded: bool = False) -> Button:
        """Return the button for a choice that `messages.URL_CHOICES` names."""
        parameters = {"server": server_name(self.request.server)}
        if isinstance(self.request, UrlRequest):
            parameters["domain"] = self.request.target.registrable_domain
        label = self.catalog.text(_LABELS[name], **parameters)
        return Button(name, label, _REFUSAL_KEYS.get(name, ""), guarded=guarded)

    @property
    def takes_spaces(self) -> bool:
        """True if a space is typed into the focused input."""
        return False

    def keys(self) -> Sequence[tuple[str, str]]:
        """Return the keys that have a meaning here, with their hints."""
        return ()

    def is_touched(self) -> bool:
        """Return True if the user entered something."""
        return False

    def press(self, key: str, data: str = "") -> None:
        """Handle a key."""
        if key == "cancel":
            self.app.cancel()
        elif self.confirmation is not None:
            self._answer(key, data)
        elif key in ("page-up", "page-down"):
            here = self._cursor if self.look is None else self.look
            self.look = min(max(here + (_PAGE if key == "page-down" else -_PAGE), 0), max(self._lines - 1, 0))
        elif key == "escape":
            self._escape()
        elif not self.busy:
            self.look = None
            self._press_or_handle(key, data)
        self.app.refresh()

    def _press_or_handle(self, key: str, data: str) -> None:
        for button in self.buttons():
            if button.name == key:
                self._press_button(button)
                return
        self.handle_key(key, data)

    def press_focused(self) -> None:
        """Press the focused button."""
        if self.at is not None:
            self._press_button(self.buttons()[self.at])

    def _press_button(self, button: Button) -> None:
        if self.ready or not button.guarded:
            self.activate(button.name)

    def _escape(self) -> None:
        if not self.is_touched():
            self.app.cancel()
        else:
            text = self.catalog.text(messages.CANCEL_ANYWAY)
            self.confirmation = Confirmation(text, self.app.cancel, escape=True)

    def _answer(self, key: str, data: str) -> None:
        confirmation, self.confirmation = self.confirmation, None
        yes = key == "char" and data != "" and data in self.catalog.yes_keys
        if confirmation is not None and (yes or (confirmation.escape and key == "escape")):
            confirmation.on_yes()

    def drawn(self) -> bool:
        """Note that the view is visible.  Return True if it was not visible before."""
        if self._drawn is not None:
            return False
        self._drawn = time.monotonic()
        self.begin()
        return True

    def begin(self) -> None:  # noqa: B027 -- most views have nothing to start
        """Start what needs a running application."""

    def header(self, width: int) -> list[Line]:
        """Return the title, which does not scroll."""
        return host_text(title_line(self.request, self.catalog), width)

    def message(self, width: int) -> Drawing:
        """Return the server's message with the details and warnings about the request."""
        request, catalog = self.request, self.catalog
        lines = server_text(request.message, width) if request.message else []
        for detail in request_details(request, catalog):
            lines += [*host_text(f"{detail.label}:", width, "class:hint"), *server_text(detail.text, width)]
        lines += host_text(catalog.text(messages.LEGEND), width, "class:hint")
        for warning in request_warnings(request, catalog):
            style = "class:hint" if warning.is_note else "class:warning"
            lines += host_text(warning_line(warning, catalog), width, style)
        left = self._seconds_left()
        if request.deadline is not None and left is not None and left > _COUNTDOWN:
            time_of_day = f"{request.deadline.astimezone():%H:%M:%S}"
            lines += host_text(catalog.text(messages.EXPIRES_AT, time=time_of_day), width, "class:hint")
        return Drawing([*lines, []])

    def content(self, width: int) -> Drawing:
        """Return the part that scrolls, with the cursor at the line to show."""
        drawing = self.body(width)
        self._lines = len(drawing.lines)
        self._cursor = drawing.cursor[0] if drawing.cursor else 0
        if self.look is not None:
            return Drawing(drawing.lines, (min(self.look, max(self._lines - 1, 0)), 0))
        return drawing

    def footer(self, width: int) -> list[Line]:
        """Return the countdown, the question or the buttons, and the keys.  They do not scroll."""
        text = self.catalog.text
        lines: list[Line] = []
        left = self._seconds_left()
        if left is not None and left <= _COUNTDOWN:
            lines += host_text(text(messages.EXPIRES_IN, count=max(int(left), 0)), width, "class:warning")
        if self.confirmation is not None:
            for each in self.confirmation.warnings:
                lines += host_text(text(messages.WARNING, message=each), width, "class:warning")
            return [*lines, *host_text(self.confirmation.text, width, "class:warning")]
        if self.busy:
            lines += host_text(text(messages.CHECKING), width, "class:hint")
        lines += flow([self._draw(at, button) for at, button in enumerate(self.buttons())], width)
        keys = [(key, hint) for key, hint in self.keys() if hint]
        if self.app.overflows:
            keys.append(("PgUp/PgDn", text(messages.KEY_SCROLL)))
        pieces: list[Line] = [[("class:hint", f"{key} {hint}")] for key, hint in keys]
        return [*lines, *flow(pieces, width)]

    def _draw(self, at: int, button: Button) -> Line:
        style = "class:pressed" if at == self.at else "class:button"
        label = button.label if self.ready or not button.guarded else self.catalog.text(messages.WAIT)
        text = f"{button.key} {label}" if button.key else label
        return [("class:focus", ">" if at == self.at else " "), (style, f"[{text}]")]

    def _seconds_left(self) -> float | None:
        deadline = self.request.deadline
        return None if deadline is None else (deadline - datetime.now(timezone.utc)).total_seconds()
