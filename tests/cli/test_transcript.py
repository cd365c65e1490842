"""The transcript of the page about shells and agents: its commands print what it shows."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from mcp_elicit_client.cli import main
from tests.support import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.rounds]

PAGE = (ROOT / "docs" / "shell.md").read_text(encoding="utf-8")


def steps() -> list[tuple[str, str]]:
    """Return the commands of the page, each with what it prints."""
    (block,) = re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    parts = [part.partition("\n") for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [(command, printed) for command, _, printed in parts]


def as_pattern(shown: str) -> str:
    """Return a pattern for *shown*: a line with three dots stands for any lines, a string with them for any string."""
    lines = ["(?:.*\n)*?" if line == "..." else f"{re.escape(line)}\n" for line in shown.splitlines()]
    return "".join(lines).replace(r'"\.\.\."', '"[^"\n]*"').replace('"ID"', '"(?P<id>[^"]*)"', 1)


def shell_words(command: str, entry_id: str) -> Sequence[str]:
    program, *words = shlex.split(command.replace(" ID", f" {entry_id}"))
    assert program == "mcp-elicit"
    return [sys.executable if word == "python" else word for word in words]


def test_the_transcript_of_the_page_is_what_the_commands_print(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "160")
    entry_id = "ID"
    for command, shown in steps():
        main(shell_words(command, entry_id))
        printed = capsys.readouterr()
        text = f"{printed.out}{printed.err}".replace(entry_id, "ID") if entry_id != "ID" else printed.out + printed.err
        found = re.fullmatch(as_pattern(shown).replace("answer\\ ID", r"answer\ [\w-]+"), text)
        assert found, f"{command}\n{text}"
        if entry_id == "ID":
            entry_id = found["id"]


@pytest.mark.parametrize("name", ["status", "code"])
def test_every_status_and_code_of_a_document_is_on_the_page(name: str) -> None:
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "mcp_elicit_client" / "cli").glob("*.py"))
    found = set(re.findall(rf'"{name}": "(\w+)"|\b{name}="(\w+)"', "\n".join(sources)))

    assert {one or other for one, other in found} - set(re.findall(r"`(\w+)`", PAGE)) <= {"failed"}
