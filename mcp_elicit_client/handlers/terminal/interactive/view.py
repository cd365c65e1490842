"""`View`: a part of a request that the application shows, such as a form, with its actions and keys."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Protocol

from prompt_toolkit.buffer import Buffer

from mcp_elicit_client.core.messages import Message
from mcp_elicit_client.handlers.terminal.interactive.rendering import (
    Drawing,
    Line,
    columns_of,
    flow,
    host_text,
    labelled,
    rule,
    server_text,
)
from mcp_elicit_client.handlers.terminal.interactive.theme import Symbols
from mcp_elicit_client.handlers.terminal.interactive.viewport import Viewport
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog, no_keys, yes_keys
from mcp_elicit_client.presentation.descriptions import request_details, server_name, title_line
from mcp_elicit_client.presentation.formatting import format_time_left
from mcp_elicit_client.presentation.remembering import remember_line
from mcp_elicit_client.presentation.url_prompts import refusal
from mcp_elicit_client.presentation.warnings import RequestWarning, must_confirm, request_warnings
from mcp_elicit_client.typing import Request

_LAST_MINUTE = 60
"""Seconds before the deadline from which on it is a warning."""

_PAUSE = 0.2
"""Seconds without a key that show that nothing else is being typed."""

_MIN_BODY = 2
_MIN_KEYS = 3
"""The keys that remain in a very small terminal for a field that needs more lines: also the one that declines."""

_RULE_MARGIN = 9
"""The columns that `rule` needs beside the title and the expiry."""

_SMALL = 10
"""The lines of a terminal from which on a long title has two."""


@dataclass(frozen=True, slots=True)
class KeyAction:
    """
    Something that a key does.

    Attributes:
        name: The name of the action.
        label: What it does, as a verb.
        key: The key, as it is shown.
        letters: The letters that execute it.
        meaning: The key that executes it, by its meaning, or empty.
        guarded: It has no effect until the view was visible for a moment.
        careful: Its letter only selects it.  Enter executes it then.
        style: The style of its label.
        listed: The key line shows it.
    """

    name: str
    label: str
    key: str
    letters: str = ""
    meaning: str = ""
    guarded: bool = False
    careful: bool = False
    style: str = "class:button"
    listed: bool = True


@dataclass(frozen=True, slots=True)
class Question:
    """
    A question in the footer that is answered with yes or with any other key.

    Attributes:
        text: The question.
        on_yes: The action for yes.
        again: Keys that mean yes.
    """

    text: str
    on_yes: Callable[[], None]
    again: Sequence[str] = ()


class App(Protocol):
    """
    The part of the application that views use.

    Attributes:
        catalog: The texts.
        inert: Seconds until guarded actions have an effect.
        symbols: The marks.
        remembers: The user chose that the same request is answered the same
            way for some time.
        deadline: When the request expires; None if it does not.
    """

    catalog: MessageCatalog
    inert: float
    symbols: Symbols
    remembers: bool
    deadline: datetime | None

    @property
    def is_running(self) -> bool:
        """True while a view is shown."""
        ...

    def extend_deadline(self, request: Request) -> bool:
        """Extend the deadline of *request*.  Return False if that is not possible."""
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
    A form, a confirmation, a review, or a question about a URL.

    Attributes:
        app: The application that shows the view.
        request: The request.
        question: The question in the footer, or None.
        busy: The view waits for a check and can only be cancelled.
        selected: The name of the careful action that Enter executes; may be
            empty.
        status: A sentence in the footer; may be empty.
        details: Details are shown.
        viewport: The part of the view that is visible.
    """

    def __init__(self, app: App, request: Request) -> None:
        self.app = app
        self.request = request
        self.question: Question | None = None
        self.busy: bool = False
        self.selected: str = ""
        self.status: str = ""
        self.details: bool = False
        self.viewport: Viewport = Viewport()
        self._request_warnings = request_warnings(request, app.catalog)
        self.warned: bool = must_confirm(self._request_warnings)
        self._visible_since: float | None = None
        self._typed_at = 0.0
        self._header_rows = 0

    # --- What a view shows

    @property
    def catalog(self) -> MessageCatalog:
        """The texts."""
        return self.app.catalog

    @property
    def buffer(self) -> Buffer | None:
        """The buffer of the focused text input; None without such a focus."""
        return None

    @property
    def takes_spaces(self) -> bool:
        """True if a space is typed into the focused input."""
        return False

    @property
    def inert(self) -> float:
        """Seconds until guarded actions have an effect."""
        return self.app.inert

    @property
    def ready(self) -> bool:
        """True if the view was visible, without unrelated keys, long enough to be answered on purpose."""
        now = time.monotonic()
        is_visible = self._visible_since is not None and now - self._visible_since >= self.inert
        return is_visible and now - self._typed_at >= min(self.inert, _PAUSE)

    @property
    def scrolls_first(self) -> bool:
        """True if Enter scrolls, because the end of the view was never visible, before it confirms anything."""
        return self.viewport.has_unseen_lines

    @abstractmethod
    def body(self, width: int) -> Drawing:
        """Return the part that scrolls."""

    @abstractmethod
    def actions(self) -> Sequence[KeyAction]:
        """Return the actions, in the order in which to show them."""

    @abstractmethod
    def activate(self, name: str) -> None:
        """Execute the action *name*, other than leaving."""

    def handle_key(self, key: str, data: str) -> None:  # noqa: ARG002 -- most views take no text
        """Handle a key that belongs to no action: by default, list the letters that do."""
        self._list_keys(action.key for action in self.actions() if action.letters)

    def _list_keys(self, keys: Iterable[str]) -> None:
        self.status = self.catalog.text(messages.PRESS_ONE_OF, keys=", ".join(keys))

    def is_touched(self) -> bool:
        """Return True if the user entered something."""
        return False

    def position(self) -> str:
        """Return where the focus is, in words; empty if that needs no words."""
        return ""

    def title(self) -> Line:
        """Return the heading: the host's name of the server first."""
        return [("class:host", title_line(self.request, self.catalog))]

    def warnings(self) -> Iterable[RequestWarning]:
        """Return the warnings to show above the keys."""
        return (each for each in self._request_warnings if not each.is_note)

    @property
    def remember_label(self) -> str:
        """The label of the choice to remember the answer; empty if it is not offered here."""
        return ""

    def remember_lines(self, width: int) -> list[Line]:
        """Return the choice to remember the answer, if it is offered."""
        if not self.remember_label:
            return []
        line = remember_line(self.request, self.catalog, is_chosen=self.app.remembers, how="F6")
        return [*host_text(line, width, "class:host", " "), []]

    # --- Actions that several views have

    def leaving_actions(self) -> list[KeyAction]:
        """Return the actions to decline, to block the server if that is offered, and to cancel."""
        text = self.catalog.text
        taken = yes_keys(self.catalog) + no_keys(self.catalog)
        letter = next(each for each in "drz" if each not in taken)
        block = text(messages.BLOCK, server=server_name(self.request.server))
        blocking = [KeyAction("block", block, "F4", meaning="block")] if self.request.can_block else []
        return [
            KeyAction("decline", text(messages.DECLINE), letter, letters=letter + letter.upper(), guarded=True),
            *blocking,
            KeyAction("cancel", text(messages.CANCEL), "Ctrl+C" if self.details else "Esc", meaning="escape"),
        ]

    def leave(self, name: str) -> None:
        """Decline, block or cancel; ask before, if something was typed or if the server would be blocked."""
        questions: dict[str, Message] = {
            "cancel": messages.CANCEL_ANYWAY,
            "decline": messages.DECLINE_ANYWAY,
            "block": messages.BLOCK_ANYWAY,
        }
        if name == "block" or self.is_touched():
            text = self.catalog.text(questions[name], server=server_name(self.request.server))
            self.question = Question(text, lambda: self.left(name), ("cancel", "escape") if name == "cancel" else ())
        else:
            self.left(name)

    def left(self, name: str) -> None:
        """End the view with a decline, a block or a cancel."""
        if name == "cancel":
            self.app.cancel()
        else:
            self.app.end(refusal(name))

    # --- Keys

    def press(self, key: str, data: str = "") -> None:
        """Handle a key."""
        self.status = ""
        if self.question is not None:
            self._answer(key, data)
        elif key == "details" or (key == "escape" and self.details):
            self.details = not self.details
            self.viewport.follow_focus()
        elif key in ("cancel", "escape"):
            self.leave("cancel")
        elif key in ("page-up", "page-down"):
            self.turn_page(1 if key == "page-down" else -1)
        elif key == "remember" and self.remember_label:
            self.app.remembers = not self.app.remembers
        elif key == "more-time":
            self._extend()
        elif self.busy:
            self.status = self.catalog.text(messages.CHECKING)
        else:
            self.viewport.follow_focus()
            self._press(key, data)
        self.app.refresh()

    def _extend(self) -> None:
        """Extend the deadline."""
        if self.app.deadline is not None and not self.app.extend_deadline(self.request):
            self.status = self.catalog.text(messages.NO_MORE_TIME)

    def _press(self, key: str, data: str) -> None:
        selected, self.selected = self.selected, ""
        action = self._action_for(key, data)
        if key == "enter" and self.scrolls_first:
            self.selected = selected
            self.turn_page(1)
        elif key == "enter" and selected:
            self._confirm(selected)
        elif action is not None:
            self._choose(action)
        else:
            self._restart_quiet()
            self.handle_key(key, data)

    def _action_for(self, key: str, data: str) -> KeyAction | None:
        is_letter = key == "char" and bool(data)
        for action in self.actions():
            if (action.meaning and action.meaning == key) or (is_letter and data in action.letters):
                return action
        return None

    def _choose(self, action: KeyAction) -> None:
        if action.guarded and not self.ready:
            self._too_early(action.key)
        elif action.name in ("decline", "block", "cancel"):
            self.leave(action.name)
        elif action.careful or (action.guarded and self.scrolls_first):
            self.selected = action.name
        else:
            self.activate(action.name)

    def _confirm(self, name: str) -> None:
        if self.ready:
            self.activate(name)
        else:
            self.selected = name
            self._too_early(self.catalog.text(messages.ENTER))

    def _too_early(self, key: str) -> None:
        self._restart_quiet()
        self.status = self.catalog.text(messages.PRESS_AGAIN, key=key)

    def _restart_quiet(self) -> None:
        """Wait again: keys that belong to something else are still being typed."""
        if not self.ready:
            self._typed_at = time.monotonic()

    def _answer(self, key: str, data: str) -> None:
        question, self.question = self.question, None
        yes = key == "char" and data != "" and data in yes_keys(self.catalog)
        if question is not None and (yes or key in question.again):
            question.on_yes()

    def turn_page(self, step: int) -> None:
        """Scroll *step* pages down."""
        self.page_turned(self.viewport.turn_page(step))

    def page_turned(self, visible: Sequence[int]) -> None:  # noqa: B027 -- most views have no focus
        """Note that the user turned the page: the items with these indices are visible."""

    def click(self, row: int) -> None:
        """Note a click on the line *row* of the terminal: the item there gets the focus."""
        item = self.viewport.item_at(row - self._header_rows)
        if item is not None and self.question is None:
            self.point_at(item)
            self.app.refresh()

    def point_at(self, item: int) -> None:  # noqa: B027 -- most views have no focus
        """Move the focus to the item with the index *item*."""

    # --- Drawing

    def drawn(self) -> None:
        """Note that the view is visible."""
        if self._visible_since is None:
            self._visible_since = time.monotonic()
            self.begin()

    def begin(self) -> None:  # noqa: B027 -- most views have nothing to start
        """Start what needs a running application."""

    def draw(self, width: int, height: int) -> Drawing:
        """Return all lines to show: at most *height*."""
        had_unseen_lines = self.viewport.has_unseen_lines
        drawing = self._draw(width, height)
        # The keys depend on whether all lines were seen, and the visible lines on the room that the keys leave.
        return drawing if self.viewport.has_unseen_lines == had_unseen_lines else self._draw(width, height)

    def _draw(self, width: int, height: int) -> Drawing:
        body = self.body(width)
        header, footer = self._header(width), self._footer(width)
        position = self.position()
        has_rule = bool(position) or len(body.lines) > height - len(header) - len(footer)
        room = height - len(header) - len(footer) - has_rule
        if room < _MIN_BODY:  # a very small terminal: the warnings scroll with the rest
            header, has_rule = header[: 2 if height >= _SMALL else 1], False
            body = self._with_warnings(body, width)
            first, end = body.focus or (0, 0)
            wanted = max(min(end - first + 1, height - len(header) - _MIN_KEYS), _MIN_BODY)
            footer = self._footer(width, compact=True)[: max(height - len(header) - wanted, 1)]
            room = max(height - len(header) - len(footer), 1)
        self._header_rows = len(header)
        shown = self.viewport.show(body, room)
        divider = [self._rule(position, width)] if has_rule else []
        drawing = Drawing([*header, *shown, *divider, *footer][: max(height, 1)])
        cursor_row = None if body.cursor is None else self.viewport.row_of(body.cursor[0])
        if body.cursor is not None and cursor_row is not None:
            drawing.cursor = (len(header) + cursor_row, body.cursor[1])
            drawing.shown = body.shown and self.question is None and not self.busy
        return drawing

    def _rule(self, position: str, width: int) -> Line:
        above, below = self.viewport.count_hidden()
        text = self.catalog.text
        parts = [text(messages.MORE_ABOVE, count=above)] if above and not below else []
        parts += [text(messages.MORE_BELOW, count=below)] if below else []
        pieces: Line = [("class:host", position)] if position else []
        right: Line = [("class:hint", ", ".join(parts))] if parts else []
        return rule(pieces, width, self.app.symbols.rule, right)

    def _header(self, width: int) -> list[Line]:
        title = self.title()
        if columns_of(title) + 4 <= width:
            return [rule(title, width, self.app.symbols.rule, self._expiry())]
        return host_text("".join(text for _, text in title), width)

    def _has_room_for_expiry(self, width: int) -> bool:
        return columns_of([*self.title(), *self._expiry()]) + _RULE_MARGIN <= width

    def _warning_lines(self, width: int) -> list[Line]:
        lines: list[Line] = []
        for warning in self.warnings():
            lines += host_text(f"{self.app.symbols.attention} {warning.text}", width, "class:warning", " ")
        return lines

    def _with_warnings(self, body: Drawing, width: int) -> Drawing:
        """Return *body* below the warnings."""
        warnings = self._warning_lines(width)
        moved = Drawing(warnings, items=[row + len(warnings) for row in body.items])
        if body.focus is not None:
            moved.focus = (body.focus[0] + len(warnings), body.focus[1] + len(warnings))
        moved.add(body)
        return moved

    def _footer(self, width: int, *, compact: bool = False) -> list[Line]:
        """Return the warnings, the status, and the question or the keys.  They do not scroll."""
        lines = [] if compact else self._warning_lines(width)
        if self.question is not None:
            return [*lines, *host_text(self.question.text, width, "class:warning", " ")]
        status = host_text(self._status(), width, "class:host", " ") if self._status() else []
        text = self.catalog.text
        scroll = [KeyAction("more", text(messages.KEY_SCROLL), text(messages.ENTER))] if self.scrolls_first else []
        pieces = [self._key(action) for action in (*scroll, *self.actions()) if action.listed]
        expiry = self._expiry()
        if expiry and not compact and not self._has_room_for_expiry(width):
            pieces.append(expiry)
        keys = flow(pieces, width)
        if self.selected and self.scrolls_first:
            # The lines stay reserved: otherwise the status would hide the end of the view when that becomes visible.
            return [*lines, *keys, *([] for _ in status)]
        return [*lines, *status, *keys]

    def _status(self) -> str:
        if self.busy and not self.status:
            return self.catalog.text(messages.CHECKING)
        if self.selected and not self.status:
            label = next(each.label for each in self.actions() if each.name == self.selected)
            return self.catalog.text(messages.PRESS_ENTER, action=label)
        return self.status

    def _key(self, action: KeyAction) -> Line:
        if action.name == self.selected:
            return [("class:focus", "> "), ("class:pressed", f"{action.key} {action.label}")]
        return [("class:key", action.key), ("class:button", " "), (action.style, action.label)]

    def _expiry(self) -> Line:
        deadline = self.app.deadline
        if deadline is None:
            return []
        left = max(int((deadline - datetime.now(timezone.utc)).total_seconds()), 0)
        style = "class:warning" if left < _LAST_MINUTE else "class:hint"
        expiry: Line = [(style, self.catalog.text(messages.EXPIRES_IN_TIME, time=format_time_left(left)))]
        latest = self.request.max_deadline
        if left < _LAST_MINUTE and latest is not None and deadline < latest:
            expiry += [("", "  "), ("class:key", "F5"), ("", " "), ("", self.catalog.text(messages.MORE_TIME))]
        return expiry

    def message(self, width: int) -> Drawing:
        """Return the server's message with the details and notes about the request."""
        request, catalog = self.request, self.catalog
        lines = server_text(request.message, width) if request.message else []
        for detail in request_details(request, catalog):
            lines += labelled(detail.label, detail.text, width)
        for warning in self._request_warnings:
            if warning.is_note:
                lines += host_text(warning.text, width, "class:hint", " ")
        if self.details:
            lines += host_text(catalog.text(messages.LEGEND), width, "class:hint", " ")
        return Drawing([*lines, []])
