"""A screen of a terminal as a picture: text with the escape sequences of its colours becomes SVG."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html import escape

from mcp_elicit_client.presentation.quoting import columns

_WIDTH, _HEIGHT, _MARGIN = 8.4, 19, 14
_GROUND, _TEXT = "#16181d", "#d6d9e0"
_COLOURS = ["#16181d", "#e5534b", "#57ab5a", "#c69026", "#539bf5", "#b083f0", "#39c5cf", "#d6d9e0"]
_BRIGHT = ["#868d9c", "#ff7b72", "#6bc46d", "#daaa3f", "#6cb6ff", "#dcbdfb", "#56d4dd", "#ffffff"]
_FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace"
_STYLES = {
    1: ' font-weight="bold"',
    2: ' fill-opacity="0.62"',
    3: ' font-style="italic"',
    4: ' text-decoration="underline"',
    7: "",
}
_REVERSE = 7
_LIGHT = {
    _GROUND: "#ffffff",
    _TEXT: "#1f2328",
    "#57ab5a": "#1a7f37",
    "#539bf5": "#0550ae",
    "#b083f0": "#8250df",
    "#e5534b": "#cf222e",
    "#c69026": "#7d4e00",
    "#39c5cf": "#1b7c83",
    "#868d9c": "#6e7781",
}
"""The colours of a light terminal in place of those of a dark one."""
_SEQUENCE = re.compile(r"\x1b\[([0-9;]*)m|\x1b\([A-Z0-9]|[\x0e\x0f]")


@dataclass(frozen=True, slots=True)
class Look:
    """
    How a piece of text looks.

    Attributes:
        colour: Its colour.
        ground: The colour behind it; empty if there is none of its own.
        styles: The SGR codes of what else it is: bold, italic, underlined, reverse.
    """

    colour: str = _TEXT
    ground: str = ""
    styles: frozenset[int] = frozenset()

    def after(self, codes: str) -> Look:
        """
        Return the look after the codes of one SGR sequence.

        Raises:
            ValueError: If there is no picture of one of them.
        """
        look = self
        for code in map(int, (codes or "0").split(";")):
            look = look._after(code)
        return look

    def _after(self, code: int) -> Look:
        if code == 0:
            return Look()
        if code in _STYLES:
            return replace(self, styles=self.styles | {code})
        if code - 20 in _STYLES or code == 22:
            return replace(self, styles=self.styles - ({1, 2} if code == 22 else {code - 20}))
        if code in (39, 49):
            return replace(self, colour=_TEXT) if code == 39 else replace(self, ground="")
        for first, colours in ((30, _COLOURS), (90, _BRIGHT)):
            if first <= code < first + 8:
                return replace(self, colour=colours[code - first])
            if first + 10 <= code < first + 18:
                return replace(self, ground=colours[code - first - 10])
        raise ValueError(f"no picture of SGR {code}")


def light_svg(screen: str, title: str) -> str:
    """Draw *screen* as in a light terminal."""
    return re.sub(r"#[0-9a-f]{6}", lambda found: _LIGHT.get(found[0], found[0]), svg(screen, title))


def svg(screen: str, title: str) -> str:
    """Draw *screen*, as tmux prints it with its colours; *title* is for those who cannot see it."""
    lines = screen.rstrip().split("\n")
    wide = max(columns(_SEQUENCE.sub("", line)) for line in lines)
    width, height = round(wide * _WIDTH + 2 * _MARGIN), len(lines) * _HEIGHT + 2 * _MARGIN
    size = f'width="{width}" height="{height}"'
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width} {height}" font-family="{_FONTS}">',
        f"<title>{escape(title)}</title>",
        f'<rect {size} rx="8" fill="{_GROUND}"/>',
    ]
    look = Look()
    for row, line in enumerate(lines):
        at = 0
        for index, piece in enumerate(_SEQUENCE.split(line)):
            if index % 2:
                look = look if piece is None else look.after(piece)
            elif piece:
                drawn += _piece(piece, look, at, row)
                at += columns(piece)
    return "\n".join([*drawn, "</svg>", ""])


def _piece(text: str, look: Look, column: int, row: int) -> list[str]:
    x, y, wide = _MARGIN + column * _WIDTH, _MARGIN + row * _HEIGHT, columns(text) * _WIDTH
    is_reverse = _REVERSE in look.styles
    ground, colour = (look.colour, look.ground or _GROUND) if is_reverse else (look.ground, look.colour)
    drawn = [f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="{_HEIGHT}" fill="{ground}"/>'] if ground else []
    if not text.isspace():
        styles = "".join(_STYLES[code] for code in sorted(look.styles))
        # The length is given, so that columns stay columns whatever font there is.
        place = f'x="{x:.1f}" y="{y + 14}" textLength="{wide:.1f}" xml:space="preserve" font-size="14"'
        drawn.append(f'<text {place} fill="{colour}"{styles}>{escape(text)}</text>')
    return drawn
