"""Screens become pictures: every word in its place and its colour, and nothing that runs."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from tools.svg import svg

SPACE = "{http://www.w3.org/2000/svg}"


def drawn(screen: str) -> list[dict[str, str]]:
    root = ET.fromstring(svg(screen, "A <title>"))
    assert root.findtext(f"{SPACE}title") == "A <title>"
    return [{"text": each.text or "", **each.attrib} for each in root.iter(f"{SPACE}text")]


def test_text_stands_where_it_stood_whatever_the_font() -> None:
    first, second = drawn("ab\x1b[31mcd\x1b[0m\n\n   ")[:2]

    assert (first["text"], first["x"], first["textLength"]) == ("ab", "14.0", "16.8")
    assert (second["text"], second["x"], second["y"]) == ("cd", "30.8", first["y"])


def test_wide_letters_take_two_columns() -> None:
    assert [each["x"] for each in drawn("日本\x1b[1mx")] == ["14.0", "47.6"]


def test_colours_and_styles_begin_and_end() -> None:
    red, bold, plain = drawn("\x1b[91ma\x1b[39;1mb\x1b[22mc")

    assert red["fill"] != bold["fill"] == plain["fill"]
    assert (bold.get("font-weight"), plain.get("font-weight")) == ("bold", None)


def test_reverse_swaps_text_and_ground() -> None:
    (shown,) = drawn("\x1b[7mx")
    root = ET.fromstring(svg("\x1b[7mx", ""))

    assert shown["fill"] in {each.attrib["fill"] for each in root.iter(f"{SPACE}rect")}


def test_what_is_written_is_text_and_no_markup() -> None:
    (shown,) = drawn("<script>&")

    assert shown["text"] == "<script>&"


def test_a_code_without_a_picture_is_an_error() -> None:
    with pytest.raises(ValueError, match="38"):
        svg("\x1b[38;5;1mx", "")
