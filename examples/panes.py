"""
Draw the pictures of docs/terminal.md: questions in a real terminal, as they look.

Needs tmux and the extra ``terminal``.  Run as ``python -m examples.panes`` it
prints the pictures; with ``--write`` it puts them into the page.
"""

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.support.tmux import Pane, window

PAGE = Path(__file__).parent.parent / "docs" / "terminal.md"
_PICTURE = re.compile(r"(<!-- pane: (\w+) -->\n```text\n).*?(```\n)", re.DOTALL)

_ASK = """
import asyncio
from mcp_elicit_client import parse_request
from mcp_elicit_client.handlers.terminal import TerminalHandler
from mcp_elicit_client.handlers.terminal.interactive import ENGLISH, GERMAN
SCHEMA = {
    "properties": {
        "name": {"type": "string", "title": "Your name", "description": "As in your passport"},
        "email": {"type": "string", "title": "E-mail", "format": "email"},
        "people": {"type": "integer", "title": "People", "minimum": 1, "maximum": 12, "default": 2},
        "when": {"type": "string", "title": "When", "format": "date-time"},
        "menu": {"type": "array", "title": "Menu", "items": {"enum": ["Meat", "Fish", "Vegetarian", "Vegan"]},
                 "minItems": 1, "maxItems": 2},
        "outside": {"type": "boolean", "title": "Outside"},
    },
    "required": ["name"],
}
FORM = {"message": "A table for how many?", "requestedSchema": SCHEMA}
URL = {"mode": "url", "message": "Please pay the deposit.", "url": "https://pay.xn--exmple-cua.com/deposit?order=17",
       "elicitationId": "1"}
request = parse_request(PARAMS, server="restaurant", tool="book_table")
asyncio.run(TerminalHandler(messages=WORDS)(request))
"""


def ask(params: str, words: str = "ENGLISH") -> list[str]:
    """Return the command that asks *params*."""
    return [sys.executable, "-c", _ASK.replace("PARAMS", params).replace("WORDS", words)]


def pictures(look: Callable[..., str] = Pane.sees) -> Iterator[tuple[str, str]]:
    """Draw every picture; yield its name, and what *look* returns of the pane once it shows the given texts."""
    environment = {
        name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "MCP_ELICIT_UI", "COLORFGBG")
    }
    root = PAGE.parent.parent
    with window(ask("FORM"), environment, columns=80, rows=40, cwd=root) as pane:
        yield "form", look(pane, "[Ctrl+S review]")
        pane.types("Ann")
        pane.keys("Tab")
        pane.types("ann@")
        yield "error", look(pane, "! Must be")
        pane.types("example.com")
        pane.keys("Tab", "Tab")
        pane.types("2026-12-24 19:30 Europe/Berlin")
        yield "date", look(pane, "Is sent as")
        pane.keys("Tab", "Down", "Down", "Space", "Down", "Space")
        yield "several", look(pane, "2 chosen")
        pane.keys("C-s")
        yield "review", look(pane, "[Ctrl+S send]")
        leave(pane)
    with window(ask("URL"), environment, columns=80, rows=40, cwd=root) as pane:
        yield "consent", look(pane, "[open]")
        leave(pane)
    with window(ask("FORM", "GERMAN"), environment, columns=80, rows=40, cwd=root) as pane:
        yield "german", look(pane, "[Ctrl+S prüfen]")
        leave(pane)


def leave(pane: Pane) -> None:
    """Leave the question."""
    pane.keys("C-c")
    pane.sees("exit status 0")


def main() -> int:
    """Print the pictures, or write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the pictures into the page")
    write = parser.parse_args().write
    drawn = dict(pictures())
    if write:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(_PICTURE.sub(lambda found: f"{found[1]}{drawn[found[2]]}\n{found[3]}", page), encoding="utf-8")
    else:
        for name, shown in drawn.items():
            print(f"--- {name}\n{shown}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
