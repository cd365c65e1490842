"""
A desktop application with Textual: a button calls a tool, and the requests of the server appear in the window.

``python examples/desktop_app.py`` starts it.  It needs ``pip install textual``.
"""

import asyncio
import sys

from mcp import StdioServerParameters
from rich.text import Text
from textual import on, work
from textual.app import App, ComposeResult
from textual.widgets import Button, Input, RichLog

from mcp_elicit_client import ElicitationRegistry, sanitize_text
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.handlers.terminal import InterruptedByUserError, TerminalHandler
from mcp_elicit_client.policies import recommended

SERVER = StdioServerParameters(command=sys.executable, args=["-m", "mcp_elicit_client.demo.server"])


class Desktop(App[None]):
    """The window.  It is also the console of the handler: it shows lines, and reads what the user types."""

    BINDINGS = [("escape", "interrupt", "Cancel the request")]
    typed: asyncio.Future[str] | None = None
    width = 80

    def compose(self) -> ComposeResult:
        yield RichLog(wrap=True)
        yield Button("Book a table")
        yield Input(disabled=True)

    def write(self, text: str) -> None:
        self.query_one(RichLog).write(Text(text))  # Text, since a string could contain markup

    async def ask(self, prompt: str, *, hidden: bool = False) -> str:
        entry = self.query_one(Input)
        entry.clear()
        entry.placeholder, entry.password, entry.disabled = prompt, hidden, False
        entry.focus()
        self.typed = asyncio.get_running_loop().create_future()
        try:
            line = await self.typed
            self.write(f"{prompt}{'' if hidden else line}")
            return line
        finally:
            entry.clear()
            entry.disabled = True

    @on(Input.Submitted)
    def submit(self, event: Input.Submitted) -> None:
        if self.typed and not self.typed.done():
            self.typed.set_result(event.value)

    def action_interrupt(self) -> None:
        if self.typed and not self.typed.done():
            self.typed.set_exception(InterruptedByUserError)

    @on(Button.Pressed)
    @work(exclusive=True)
    async def book(self) -> None:
        registry = ElicitationRegistry(policy=recommended())
        registry.on_elicitation(TerminalHandler(console=self))
        caller = Caller(registry, "restaurant")
        try:
            async with caller.connect(SERVER) as client:
                result = await caller.call_tool(client, "book_table", {})
        except Exception as error:  # noqa: BLE001 -- of the connection, the server or the call
            self.write(f"Failed: {sanitize_text(str(error))}")
        else:
            self.write("".join(part.text for part in result.content if part.type == "text"))


if __name__ == "__main__":
    Desktop().run()
