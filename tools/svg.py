"""A screen of a terminal as a picture: text with the escape sequences of its colours becomes SVG."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html import escape

from mcp_elicit_client.handlers.terminal.layout import columns

_WIDTH, _HEIGHT, _MARGIN = 8.4, 19, 14
_GROUND, _TEXT = "#16181d", "#d6d9e0"
_COLOURS = "#16181d #e5534b #57ab5a #c69026 #539bf5 #b083f0 #39c5cf #d6d9e0".split()
_BRIGHT = "#868d9c #ff7b72 #6bc46d #daaa3f #6cb6ff #dcbdfb #56d4dd #ffffff".split()
_SEQUENCE = re.compile(r"\x1b\[([0-9;]*)m|\x1b\([A-Z0-9]|[\x0e\x0f]")


@dataclass(frozen=True, slots=True)
class Look:
    """How a piece of text looks."""

    colour: str = _TEXT
    ground: str = ""
    bold: bool = False
    italic: bool = False
    underline: bool = False
    reverse: bool = False

    def after(self, codes: str) -> Look:
        """Return the look after the codes of one SGR sequence."""
        look = self
        for code in map(int, (codes or "0").split(";")):
            match code:
                case 0:
                    look = Look()
                case 1 | 3 | 4 | 7:
                    name = {1: "bold", 3: "italic", 4: "underline", 7: "reverse"}[code]
                    look = replace(look, **{name: True})
                case 22 | 23 | 24 | 27:
                    name = {22: "bold", 23: "italic", 24: "underline", 27: "reverse"}[code]
                    look = replace(look, **{name: False})
                case _ if 30 <= code <= 37 or 90 <= code <= 97:
                    look = replace(look, colour=_COLOURS[code - 30] if code < 90 else _BRIGHT[code - 90])
                case 39:
                    look = replace(look, colour=_TEXT)
                case _ if 40 <= code <= 47:
                    look = replace(look, ground=_COLOURS[code - 40])
                case 49:
                    look = replace(look, ground="")
                case _:
                    raise ValueError(f"no picture of SGR {code}")
        return look


def svg(screen: str, title: str) -> str:
    """Draw *screen*, as tmux prints it with its colours; *title* is for those who cannot see it."""
    lines = screen.rstrip().split("\n")
    wide = max(columns(_SEQUENCE.sub("", line)) for line in lines)
    width, height = round(wide * _WIDTH + 2 * _MARGIN), len(lines) * _HEIGHT + 2 * _MARGIN
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace" font-size="14">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" rx="8" fill="{_GROUND}"/>',
    ]
    look = Look()
    for row, line in enumerate(lines):
        at, pieces = 0, _SEQUENCE.split(line)
        for index, piece in enumerate(pieces):
            if index % 2:
                look = look if piece is None else look.after(piece)
            elif piece:
                drawn += _piece(piece, look, at, row)
                at += columns(piece)
    return "\n".join([*drawn, "</svg>", ""])


def _piece(text: str, look: Look, column: int, row: int) -> list[str]:
    x, y, wide = _MARGIN + column * _WIDTH, _MARGIN + row * _HEIGHT, columns(text) * _WIDTH
    ground, colour = (look.colour, look.ground or _GROUND) if look.reverse else (look.ground, look.colour)
    drawn = [f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="{_HEIGHT}" fill="{ground}"/>'] if ground else []
    if text.isspace():
        return drawn
    styles = ' font-weight="bold"' * look.bold + ' font-style="italic"' * look.italic
    styles += ' text-decoration="underline"' * look.underline
    # The length is given, so that columns stay columns whatever font there is.
    return [
        *drawn,
        f'<text x="{x:.1f}" y="{y + 14}" fill="{colour}"{styles} textLength="{wide:.1f}" '
        f'xml:space="preserve">{escape(text)}</text>',
    ]
