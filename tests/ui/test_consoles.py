"""The terminal in line mode: on Windows with a fake keyboard, and where the event loop cannot watch it."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import io
import os
import select
import struct
import sys
import threading
import types
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import anyio
import pytest

from mcp_elicit_client import parse_request
from mcp_elicit_client.handlers.terminal import EndOfInputError, InterruptedByUserError, TerminalHandler
from mcp_elicit_client.handlers.terminal import terminal as this_terminal
from mcp_elicit_client.handlers.terminal.windows_console import WindowsConsole
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.quoting import terminal_width
from tests.support import form_params

pytestmark = pytest.mark.anyio


class FakeKeys:
    """A keyboard on which somebody types each of *batches* when there is a prompt and the one before was read."""

    def __init__(self, screen: io.StringIO, *batches: str, before: str = "") -> None:
        self._screen = screen
        self._batches = list(batches)
        self._keys = list(before)
        self._is_paused = False

    def waiting(self) -> bool:
        if not self._keys and self._screen.getvalue()[-1:] not in ("", "\n"):
            self._is_paused = not self._is_paused
            if not self._is_paused and self._batches:
                self._keys = list(self._batches.pop(0))
        return bool(self._keys)

    def read(self) -> str:
        return self._keys.pop(0)

    def restore(self) -> None:
        self._keys = []


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


async def typed(*keys: str, hidden: bool = False, before: str = "") -> tuple[str, str]:
    writer = Terminal()
    with anyio.fail_after(60):
        line = await WindowsConsole(FakeKeys(writer, *keys, before=before), writer).ask("name: ", hidden=hidden)
    return line, writer.getvalue()


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ("Ann\r", "Ann"),
        ("Grüße 日本\r", "Grüße 日本"),
        ("Anx\x08n\r", "Ann"),
        ("\x08\x08Ann\r", "Ann"),
        ("a b c\x17d\r", "a b d"),
        ("wrong\x1bAnn\r", "Ann"),
        ("wrong\x15Ann\r", "Ann"),
        ("a\tb\r", "a b"),
        ("A\xe0Hn\x00;n\r", "Ann"),
        ("a\x01\x02\x1cb\r", "ab"),
        ("\ud83d\udc4d!\r", "\N{THUMBS UP SIGN}!"),
        ("x\x1a\r", "x"),
    ],
)
async def test_a_line_is_typed_on_windows(keys: str, line: str) -> None:
    assert (await typed(keys))[0] == line


async def test_a_letter_that_looks_like_a_special_key_is_kept() -> None:
    assert (await typed("voil", "\xe0", "\r"))[0] == "voil\xe0"


async def test_what_is_erased_disappears_from_the_screen() -> None:
    _, shown = await typed("a日\x08\x08b\r")

    assert shown == "name: a日\b \b\b \b\b \bb\n"


async def test_hidden_input_is_not_shown_on_windows() -> None:
    line, shown = await typed("hunter2\x08\r", hidden=True)

    assert (line, shown) == ("hunter", "name: \n")


async def test_keys_from_before_the_prompt_are_discarded_on_windows() -> None:
    assert (await typed("Ann\r", before="send\rsend\r"))[0] == "Ann"


async def test_further_lines_of_pasted_text_are_ignored_on_windows_and_the_user_is_told() -> None:
    request = parse_request(form_params({"properties": {"a": {"type": "string"}, "b": {"type": "string"}}}), server="m")

    with on_windows("Ann\rBob\rsend\r", "Cay\r", "s\r") as (_, writer), anyio.fail_after(60):
        answer = await TerminalHandler(messages=MessageCatalog())(request)

    assert answer.content == {"a": "Ann", "b": "Cay"}
    assert writer.getvalue().count("Text that was typed or pasted before this prompt was ignored.") == 1


async def test_ctrl_c_and_ctrl_z_end_the_question_on_windows() -> None:
    with pytest.raises(InterruptedByUserError):
        await typed("half\x03")
    with pytest.raises(EndOfInputError):
        await typed("\x1a\r")


class FakeWindows:
    """The parts of Windows that the console uses."""

    def __init__(self, keys: FakeKeys) -> None:
        self.modes: list[int] = []
        msvcrt: Any = types.ModuleType("msvcrt")
        msvcrt.kbhit, msvcrt.getwch = keys.waiting, keys.read
        self.msvcrt = msvcrt
        self.kernel32 = self

    def GetStdHandle(self, number: int) -> int:  # noqa: N802 -- as in Windows
        return 7 if number == -10 else 0

    def GetConsoleMode(self, handle: int, mode: Any) -> int:  # noqa: N802 -- as in Windows
        mode._obj.value = 0b111
        return handle

    def SetConsoleMode(self, handle: int, mode: int) -> int:  # noqa: N802 -- as in Windows
        self.modes.append(mode)
        return handle


@contextmanager
def on_windows(*keys: str) -> Iterator[tuple[FakeWindows, Terminal]]:
    """Replace the terminal by that of Windows; inside the test, past pytest's capture."""
    writer = Terminal()
    windows = FakeWindows(FakeKeys(writer, *keys))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", Terminal())
        patch.setattr(sys, "stdout", writer)
        patch.setattr(ctypes, "windll", windows, raising=False)
        patch.setitem(sys.modules, "msvcrt", windows.msvcrt)
        patch.setattr(this_terminal, "_IS_WINDOWS", True)
        patch.setenv("MCP_ELICIT_UI", "line")
        yield windows, writer


async def test_a_form_is_answered_in_the_console_of_windows() -> None:
    schema = {"properties": {"n": {"type": "integer"}, "t": {"type": "string"}}}
    request = parse_request(form_params(schema), server="m")

    with on_windows("7\r", "x\r", "s\r") as (windows, writer), anyio.fail_after(60):
        answer = await TerminalHandler(messages=MessageCatalog())(request)

    assert answer.content == {"n": 7, "t": "x"}
    assert "m: send / edit N / back / decline / cancel: s\n" in writer.getvalue()
    assert windows.modes == [0b110, 0b111]  # Ctrl+C is a key while the form is shown


async def test_without_a_console_nobody_is_asked_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    with on_windows():
        monkeypatch.setattr(sys, "stdin", io.StringIO("send\n"))

        async with this_terminal.terminal() as found:
            assert found is None


@pytest.mark.parametrize(("columns", "width"), [("200", 40), ("30", 30), ("", 40)])
def test_lines_fit_the_terminal_even_if_columns_names_a_wider_one(
    monkeypatch: pytest.MonkeyPatch, columns: str, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr(sys, "stdout", io.StringIO())  # as in a pipe: the terminal is that of stderr
    fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
    with os.fdopen(master, "rb"), os.fdopen(slave, "w") as stderr:
        monkeypatch.setattr(sys, "stderr", stderr)
        assert terminal_width() == width


async def test_a_terminal_that_the_event_loop_cannot_watch_is_read_nevertheless(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def refuse(_: object) -> None:
        raise OSError(22, "Invalid argument")

    from mcp_elicit_client.handlers.terminal.posix_console import PosixConsole

    master, slave = os.openpty()
    try:
        watched = PosixConsole(slave, slave, "utf-8")
        async with anyio.create_task_group() as group:

            async def answer() -> None:
                await anyio.wait_readable(master)
                monkeypatch.setattr(anyio, "wait_readable", refuse)
                os.write(master, "Grüße\n".encode())

            group.start_soon(answer)
            with anyio.fail_after(60):
                assert await watched.ask("name: ") == "Grüße"
        watched.restore()
    finally:
        os.close(slave)
        os.close(master)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such terminals")
def test_text_is_shown_although_the_host_made_the_terminal_non_blocking() -> None:
    from mcp_elicit_client.handlers.terminal.posix_console import PosixConsole

    master, slave = os.openpty()
    os.set_blocking(slave, False)
    console = PosixConsole(slave, slave, "utf-8")
    while select.select([], [slave], [], 0.2)[1]:  # until the terminal takes no more
        with suppress(BlockingIOError):
            os.write(slave, b"." * 1_000)
    shown = b""

    def read() -> None:
        nonlocal shown
        while b"the end" not in shown:
            shown += os.read(master, 65_536)

    reader = threading.Thread(target=read, daemon=True)
    begin = threading.Timer(0.05, reader.start)
    try:
        begin.start()
        console.write("the end")
        begin.join()
        reader.join()
    finally:
        os.close(slave)
        os.close(master)

    assert shown.endswith(b"the end\r\n")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not drop the end of a line")
async def test_a_line_whose_end_was_lost_is_ignored_and_the_user_is_told() -> None:
    from mcp_elicit_client.handlers.terminal.posix_console import PosixConsole

    master, slave = os.openpty()
    shown = ""
    lines = iter(["x" * 5_000, "short", "send"])
    try:
        console = PosixConsole(slave, slave, "utf-8")
        handler = TerminalHandler(console=console, messages=MessageCatalog.for_language("en"))
        async with anyio.create_task_group() as group:

            async def answer() -> None:
                nonlocal shown
                while True:
                    await anyio.wait_readable(master)
                    shown += os.read(master, 65_536).decode()
                    if shown.endswith(": "):  # the prompt
                        shown += "\n"
                        os.write(master, f"{next(lines)}\n".encode())

            group.start_soon(answer)
            with anyio.fail_after(60):
                reply = await handler(
                    parse_request(form_params({"properties": {"a": {"type": "string"}}}), server="mail")
                )
            group.cancel_scope.cancel()
        console.restore()
    finally:
        os.close(slave)
        os.close(master)

    assert reply.content == {"a": "short"}
    assert "The line is too long for this terminal and was ignored." in shown


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not stop processes")
@pytest.mark.parametrize("hidden", [True, False])
async def test_input_stays_hidden_after_the_process_was_stopped_and_continued(hidden: bool) -> None:
    import termios

    from mcp_elicit_client.handlers.terminal.posix_console import PosixConsole

    master, slave = os.openpty()
    of_shell = termios.tcgetattr(slave)

    def echoes() -> bool:
        return bool(termios.tcgetattr(slave)[3] & termios.ECHO)

    async def shown() -> str:
        await anyio.wait_readable(master)
        return os.read(master, 65_536).decode()

    try:
        console = PosixConsole(slave, slave, "utf-8")
        async with anyio.create_task_group() as group:

            async def answer() -> None:
                assert await shown() == "name: "
                termios.tcsetattr(slave, termios.TCSANOW, of_shell)  # as a shell does that has stopped the process
                assert await shown() == "name: "
                assert echoes() is not hidden
                disabled = bytes([os.fpathconf(slave, "PC_VDISABLE")])
                assert termios.tcgetattr(slave)[6][termios.VINTR] == disabled  # Ctrl+C cancels only the request
                os.write(master, b"secret\n")

            group.start_soon(answer)
            with anyio.fail_after(60):
                assert await console.ask("name: ", hidden=hidden) == "secret"
        console.restore()
    finally:
        os.close(slave)
        os.close(master)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of the task that was abandoned
@pytest.mark.parametrize("is_closed", [True, False])
def test_a_request_in_an_event_loop_that_has_ended_gives_up_the_terminal(is_closed: bool) -> None:
    turns, used = this_terminal._TerminalQueue(), list[str]()

    async def use(name: str, may_end: asyncio.Event | None = None) -> None:
        with anyio.fail_after(60):
            async with turns.turn():
                used.append(name)
                if may_end is not None:
                    await may_end.wait()

    may_end = asyncio.Event()
    loop = asyncio.new_event_loop()
    tasks = [loop.create_task(use(name, may_end)) for name in ("shown", "waiting")]
    loop.run_until_complete(asyncio.sleep(0.1))
    if is_closed:
        for task in tasks:
            task._log_destroy_pending = False  # type: ignore[attr-defined]
        loop.close()

    asyncio.run(use("other"))

    assert used == ["shown", "other"]
    if not is_closed:
        may_end.set()
        loop.run_until_complete(asyncio.gather(*tasks))
        loop.close()
        assert used == ["shown", "other", "waiting"]
    asyncio.run(use("last"))
    assert used[-1] == "last"
    tasks.clear()
    gc.collect()
