"""A person who types keys into the interactive form of the terminal and reads what is drawn."""

from __future__ import annotations

import importlib.util
import select
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import anyio

from mcp_elicit_client.core.form import BooleanField, ChoiceField, Field, MultiChoiceField
from mcp_elicit_client.core.schema.enums import Choice
from mcp_elicit_client.exceptions import MissingExtraError
from mcp_elicit_client.presentation.drafts import Drafts
from mcp_elicit_client.presentation.opener import open_url
from mcp_elicit_client.testing.callback_under_test import UserAction
from mcp_elicit_client.testing.interfaces import Interface
from mcp_elicit_client.typing import Answer, FormRequest, Request

if sys.platform == "win32":
    raise ImportError("The interactive form requires macOS or Linux.")
if importlib.util.find_spec("prompt_toolkit") is None:
    raise MissingExtraError("terminal", "the interactive form")

from prompt_toolkit.application import Application
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from mcp_elicit_client.handlers.terminal.interactive.application import TerminalApp
from mcp_elicit_client.handlers.terminal.interactive.confirm_view import ConfirmView
from mcp_elicit_client.handlers.terminal.interactive.prompt_user import ask_on_screen
from mcp_elicit_client.handlers.terminal.interactive.review_view import ReviewView

_TAB, _ENTER, _DOWN, _SPACE = "\t", "\r", "\x1b[B", " "
_CLEAR, _DECLINE, _SEND, _CANCEL = "\x1bOQ", "\x1bOR", "\x13", "\x03"
_PASTE = "\x1b[200~{}\x1b[201~"
_MAX_TYPED = 100
_SIZE = Size(rows=100, columns=100)
_POLL_INTERVAL = 0.002


class TerminalInterface(Interface):
    """The interactive form, and the person at the keyboard."""

    def __init__(self) -> None:
        super().__init__()
        self._people: list[_Person] = []
        self._drafts = Drafts()

    async def show(self, request: Request) -> Answer:
        with create_pipe_input() as keyboard:
            person = _Person(request, keyboard)
            self._people.append(person)
            try:
                return await ask_on_screen(person.app, request, self._drafts, open_url, None)
            finally:
                self._people.remove(person)

    async def ask_unattended(self, request: Request) -> Answer:
        with create_pipe_input() as keyboard:
            keyboard.close()
            return await ask_on_screen(_Person(request, keyboard).app, request, self._drafts, open_url, None)

    async def perform(self, action: UserAction, request: Request) -> None:
        await _until(lambda: any(each.request is request for each in self._people))
        person = next(each for each in self._people if each.request is request)
        await person.look(action)
        match action.action:
            case "accept" if isinstance(request, FormRequest):
                await person.fill_in(request.form.fields, action.content)
            case "accept":
                await person.visit()
            case "decline":
                await person.press(_DECLINE if "F3" in "".join(person.lines) else "d", "y")
            case "cancel":
                await person.cancel()


class _Output(DummyOutput):
    def get_size(self) -> Size:
        return _SIZE


class _Person:
    """The user who is asked one request, and the terminal in front of them."""

    def __init__(self, request: Request, keyboard: PipeInput) -> None:
        self.request = request
        self.app = TerminalApp(inert=0.0, input=keyboard, output=_Output())
        self._keyboard = keyboard
        self._action = UserAction("hang", {}, {})

    @property
    def _application(self) -> Application[Any] | None:
        """The application that waits for keys, or None."""
        application = self.app.application
        return application if application is not None and application.is_running and not application.is_done else None

    @property
    def lines(self) -> Sequence[str]:
        """The lines on the screen."""
        drawn = self._application.renderer.last_rendered_screen if self._application is not None else None
        rows = [drawn.data_buffer[row] for row in range(drawn.height)] if drawn is not None else []
        return ["".join(row[at].char for at in range(_SIZE.columns)).rstrip() for row in rows]

    @property
    def _errors(self) -> set[str]:
        return {line for line in self.lines if line.strip().startswith(self.app.symbols.attention)}

    async def look(self, action: UserAction, before: object = None) -> None:
        """Begin with *action* as soon as another application than *before* is drawn."""
        await _until(lambda: self._application is not before and bool(self.lines))
        self._action = action
        self._read()

    async def press(self, *keys: str) -> None:
        """Type *keys* one after the other and look at the results, as long as the same application is shown."""
        application = self._application
        for each in keys:
            if application is not None and self._application is application:
                self._keyboard.send_text(each)
                await self._settle(application)
                self._read()

    def _read(self) -> None:
        """Read the screen, except for rules, whose lengths say nothing."""
        self._action.saw("\n".join(self.lines).replace(self.app.symbols.rule, ""))

    async def _settle(self, application: Application[Any]) -> None:
        """Wait until all keys were read and their effect is drawn."""

        def has_read() -> bool:
            return self._application is not application or not select.select([self._keyboard.fileno()], [], [], 0)[0]

        def has_drawn() -> bool:
            is_busy = self.app.view is not None and self.app.view.busy
            return self._application is not application or (application.render_counter > count and not is_busy)

        await _until(has_read)
        application.invalidate()
        count = application.render_counter
        await _until(has_drawn)

    async def cancel(self) -> None:
        """Cancel, twice if the form asks whether the input is to be dropped."""
        await self.press(_CANCEL, _CANCEL)

    async def visit(self) -> None:
        """Open the URL, despite warnings, and report the completion if it is asked for."""
        application = self._application
        await self.press("o", _ENTER)
        await self.look(self._action, application)
        await self.press("f")

    async def fill_in(self, fields: Sequence[Field], values: Mapping[str, Any]) -> None:
        """Enter the values, review and send them; cancel if the form does not take them."""
        if isinstance(self.app.view, ConfirmView):
            field = self.app.view.field
            value = True if field is None else values.get(field.name, field.default)
            key = "x" if value is None else "y" if value is True else "n" if value is False else _CANCEL
            await self.press(key, _ENTER)
        elif await self._enter_all(fields, values):
            await self.press(_SEND)
            if isinstance(self.app.view, ReviewView):
                await self.press(_SEND, _ENTER)
        await self.cancel()

    async def _enter_all(self, fields: Sequence[Field], values: Mapping[str, Any]) -> bool:
        """Enter *values*; return False if a field has no such value."""
        for field in fields:
            if field.name in values and not await self._enter(field, values[field.name]):
                return False
            await self.press(_TAB)
        return True

    async def _enter(self, field: Field, value: Any) -> bool:
        if isinstance(field, BooleanField):
            if isinstance(value, bool):
                await self.press("y" if value else "n")
            return isinstance(value, bool)
        await self.press(_CLEAR)
        if isinstance(field, (ChoiceField, MultiChoiceField)) and field.choices:
            return await self._select(field.choices, value if isinstance(value, list) else [value])
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        is_typed = text.isprintable() and len(text) <= _MAX_TYPED
        await self.press(text if is_typed else _PASTE.format(text))
        return True

    async def _select(self, choices: Sequence[Choice], values: Sequence[Any]) -> bool:
        before, focused = self._errors, -1
        wanted = [index for index, each in enumerate(choices) if each.value in values]
        for index in wanted:
            await self.press(_DOWN * (index - focused) + _SPACE)
            focused = index
        return len(wanted) == len(values) and self._errors <= before


async def _until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 -- applications set no event
        await anyio.sleep(_POLL_INTERVAL)


terminal: Interface = TerminalInterface()
