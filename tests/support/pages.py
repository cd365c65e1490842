"""Follow a page of the documentation: its files in an empty directory, and its commands as real processes."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support import ROOT

_FILE = re.compile(r"\b[Ss]ave[^\n]* as `([\w./-]+)`[^\n]*:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMANDS = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INSTALLED = ("python3 -m venv", ". .venv", "pip install")


class FollowedPage:
    """The page *name* of ``docs/``, followed in *folder*."""

    def __init__(self, name: str, folder: Path) -> None:
        self.text = (ROOT / "docs" / name).read_text(encoding="utf-8")
        self.folder = folder
        self.files = dict(_FILE.findall(self.text))
        assert self.files, f"{name} tells to save no file"
        # Servers are started without PYTHONPATH.
        (folder / "mcp_elicit_client").symlink_to(ROOT / "mcp_elicit_client")

    def save(self, *, replaced: tuple[str, str] = ("", "")) -> None:
        """Save all files that the page says, with the text *replaced* in each, such as a port."""
        for name, content in self.files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content.replace(*replaced) if replaced[0] else content, encoding="utf-8")

    @property
    def commands(self) -> list[str]:
        """The commands that the page shows, without those that install packages."""
        lines = "".join(_COMMANDS.findall(self.text)).replace("\\\n", " ").splitlines()
        return [line for line in lines if line and not line.startswith(_INSTALLED)]

    def command(self, start: str) -> list[str]:
        """Return the only command that begins with *start*, as words that run with the Python of the tests."""
        (line,) = [each for each in self.commands if each.startswith(start)]
        words = shlex.split(line, comments=True)
        programs = {
            "python": [sys.executable],
            "pytest": [sys.executable, "-m", "pytest"],
            "uvicorn": [sys.executable, "-m", "uvicorn"],
            "mcp-elicit": [sys.executable, "-m", "mcp_elicit_client.cli"],
        }
        return [*programs.get(words[0], words[:1]), *words[1:]]

    def environment(self, **more: str) -> dict[str, str]:
        """Return the environment of the commands."""
        return {**os.environ, "PYTHONPATH": str(ROOT), **more}

    def run(self, start: str, *more: str) -> subprocess.CompletedProcess[str]:
        """Run the command that begins with *start* until it ends."""
        return subprocess.run(
            [*self.command(start), *more],
            cwd=self.folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    @contextmanager
    def running(self, start: str, *more: str, **variables: str) -> Iterator[None]:
        """Run the command that begins with *start* meanwhile, with the processes that it starts."""
        command = [*self.command(start), *more]
        environment = self.environment(**variables)
        with subprocess.Popen(command, cwd=self.folder, env=environment, start_new_session=True) as process:
            try:
                yield
            finally:
                process.terminate()
                try:
                    process.wait(20)
                finally:
                    with suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
