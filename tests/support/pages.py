"""Follow a page of the documentation: its files in an empty directory, and its commands as real processes."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support import ROOT

_FILE = re.compile(
    r"\b[Ss]ave(?:[^\n]|\n(?!\n))*?\sas `([\w./-]+)`[^\n]*:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
_COMMANDS = re.compile(r"^ *```sh\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_VARIABLES = re.compile(r"^(?:[A-Z_]+=\S+ )+")
_INSTALLED = ("python3 -m venv", ". .venv", "pip install")


class FollowedPage:
    """The page *name* of ``docs/``, followed in *folder*."""

    def __init__(self, name: str, folder: Path) -> None:
        self.text = (ROOT / "docs" / name).read_text(encoding="utf-8")
        self.folder = folder
        self.files = dict(_FILE.findall(self.text))

    def save(self, *, replaced: tuple[str, str] = ("", "")) -> None:
        """Save all files that the page says, with the text *replaced* in each, such as a port."""
        assert self.files, "the page tells to save no file"
        # Servers are started without PYTHONPATH.
        (self.folder / "mcp_elicit_client").symlink_to(ROOT / "mcp_elicit_client")
        for name, content in self.files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content.replace(*replaced) if replaced[0] else content, encoding="utf-8")

    @property
    def commands(self) -> list[str]:
        """The commands that the page shows, without those that install packages."""
        lines = [
            line.strip().removeprefix(".venv/bin/")
            for each in _COMMANDS.findall(self.text)
            for line in each.replace("\\\n", "").splitlines()
        ]
        without_variables = [_VARIABLES.sub("", line) for line in lines]
        return [line for line in without_variables if line and not line.startswith(_INSTALLED)]

    def command(self, start: str) -> list[str]:
        """Return the first command that begins with *start*, as words that run with the Python of the tests."""
        line = next(each for each in self.commands if each.startswith(start))
        program, *words = shlex.split(line, comments=True)
        if program == "nox":  # without its environments
            program, words = "pytest", words[words.index("--") + 1 :]
        module = {"mcp-elicit": "mcp_elicit_client"}.get(program, program)
        return [sys.executable, *([] if program == "python" else ["-m", module]), *words]

    def environment(self, **more: str) -> dict[str, str]:
        """Return the environment of the commands."""
        return {**os.environ, "PYTHONPATH": str(ROOT), **more}

    def run(
        self, start: str, *more: str, typed: Sequence[str] = (), **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run the command that begins with *start* until it ends; *typed* are the lines of its input."""
        return subprocess.run(
            [*self.command(start), *more],
            input="".join(f"{line}\n" for line in typed),
            cwd=self.folder,
            env=self.environment(**variables),
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
