"""A real terminal: a window of tmux, its keys and what is to be seen in it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 60
_POLL = 0.03
_OF_TMUX = {"TERM", "TMUX"}


class Pane:
    """One window of a server of its own."""

    def __init__(self, tmux: str, socket: str) -> None:
        self._tmux = [tmux, "-L", socket, "-f", "/dev/null"]

    def run(self, *words: str) -> str:
        """Run a command of tmux."""
        done = subprocess.run([*self._tmux, *words], capture_output=True, text=True, check=True)
        return done.stdout

    def keys(self, *names: str) -> None:
        """Press keys, by their names in tmux."""
        self.run("send-keys", *names)

    def types(self, text: str) -> None:
        """Type *text* as it is."""
        self.run("send-keys", "-l", text)

    @property
    def shown(self) -> str:
        """What is to be seen."""
        lines = self.run("capture-pane", "-p").split("\n")
        return "\n".join(line.rstrip() for line in lines).rstrip()

    @property
    def coloured(self) -> str:
        """What is to be seen, with the escape sequences of its colours."""
        return self.run("capture-pane", "-p", "-e")

    @property
    def history(self) -> str:
        """What is to be seen, and what has scrolled away."""
        return self.run("capture-pane", "-p", "-J", "-S", "-")

    def sees(self, *texts: str) -> str:
        """Wait until all *texts* are to be seen; return what is."""
        until = time.monotonic() + PATIENCE
        while True:
            shown = self.shown
            if all(text in shown for text in texts):
                return shown
            if time.monotonic() > until:
                raise AssertionError(f"{texts} not in:\n{shown}")
            time.sleep(_POLL)

    def confirms(self, key: str, *, leaves: str) -> None:
        """Press *key*, again if that was too early, until *leaves* is no longer to be seen."""
        until = time.monotonic() + PATIENCE
        self.keys(key)
        while leaves in (shown := self.shown):
            if " again." in shown:
                self.keys(key)
            if time.monotonic() > until:
                raise AssertionError(f"{leaves} still in:\n{shown}")
            time.sleep(0.35)

    def sends(self, key: str, *texts: str) -> None:
        """Press *key* to review the answers, and again to send them when *texts* are to be seen in the review."""
        self.keys(key)
        self.sees(*texts, "Enter Send")
        self.confirms(key, leaves="Check your answers")

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the window."""
        self.run("resize-window", "-x", str(columns), "-y", str(rows))


def environment(base: Mapping[str, str] = os.environ, /, **more: str) -> dict[str, str]:
    """Return the environment of a program whose user interface and colors are not selected, and *more*."""
    kept = {name: value for name, value in base.items() if name not in ("NO_COLOR", "MCP_ELICIT_UI")}
    return {**kept, "LANG": "C.UTF-8", **more}


@contextmanager
def window(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    columns: int = 100,
    rows: int = 50,
    cwd: Path | None = None,
) -> Iterator[Pane]:
    """Run *command* in a window, with the variables of *environment* only."""
    tmux = shutil.which("tmux")
    assert tmux is not None
    pane = Pane(tmux, f"elicit-{uuid.uuid4().hex[:12]}")
    settings = [f"{name}={value}" for name, value in environment.items() if name not in _OF_TMUX]
    inherited = sorted(os.environ.keys() - environment.keys() - _OF_TMUX)
    line = shlex.join(["env", *(word for name in inherited for word in ("-u", name)), *settings, *command])
    try:
        pane.run(
            *["new-session", "-d", "-x", str(columns), "-y", str(rows), "-c", str(cwd or Path.cwd())],
            # What is left on the screen at the end stays to be seen.
            f'{line}; echo "exit status $?"; exec cat',
        )
        yield pane
    finally:
        subprocess.run([*pane._tmux, "kill-server"], capture_output=True, check=False)
