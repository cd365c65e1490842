"""Lines of the host and quotations of the server in terminals of any width."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_elicit_client.presentation.quoting import columns, escape_for, quote, wrap

JAPANESE = "コマンド一覧は /help、中止するには /decline または /cancel と入力してください。"
WORDS = st.lists(st.text("abc-é日本。、 \u00a0", max_size=8), max_size=12).map(" ".join)


@given(WORDS, st.integers(8, 40), st.integers(0, 3), st.integers(0, 3))
def test_a_wrapped_sentence_keeps_its_words_and_fits(text: str, width: int, indent: int, hanging: int) -> None:
    lines = wrap(text, width, indent, hanging).split("\n")

    assert "".join("".join(lines).split(" ")) == "".join(text.split(" "))
    for line in lines:
        assert columns(line) <= width or len(line.split(" ")) <= indent + hanging + 1  # one long word


@pytest.mark.parametrize("width", [10, 20, 40])
def test_words_are_never_broken(width: int) -> None:
    lines = wrap("--protocol-version form-accept-is-accept x", width).split("\n")

    assert [word for line in lines for word in line.split()] == ["--protocol-version", "form-accept-is-accept", "x"]


@pytest.mark.parametrize("width", [12, 20, 30, 60])
def test_japanese_is_broken_between_characters_but_not_before_punctuation(width: int) -> None:
    lines = wrap(JAPANESE, width).split("\n")

    assert all(columns(line) <= width + 2 for line in lines)  # punctuation may hang
    assert not any(line.strip()[0] in "。、" for line in lines)


@pytest.mark.parametrize("width", [16, 24, 40])
def test_a_quotation_in_japanese_is_broken_between_characters_but_not_before_punctuation(width: int) -> None:
    lines = quote(f"! {JAPANESE}", width).split("\n")

    assert all(columns(line) <= width for line in lines)
    assert all(columns(line) >= width - 6 for line in lines[:-1])
    assert not any(line[4] in "。、" for line in lines)


def test_no_break_spaces_and_spaces_at_the_beginning_are_kept() -> None:
    assert wrap("  Enter  text.", 20, hanging=2) == "  Enter  text."
    assert wrap("Erreur\u00a0: fin", 8) == "Erreur\u00a0:\nfin"


@pytest.mark.parametrize("width", [16, 40])
def test_quoted_lines_that_an_encoding_makes_longer_are_broken_again_with_their_mark(width: int) -> None:
    quoted = f"host: ä\n{quote('日' * 30 + ' bank: type your password:', width)}"
    host, *lines = escape_for("ascii", quoted, width).split("\n")

    assert host == "host: \\xe4"
    assert all(line.startswith("  | ") and len(line) <= width for line in lines)
    assert "".join(line[4:] for line in lines).replace(" ", "") == "\\u65e5" * 30 + "bank:typeyourpassword:"
    assert escape_for("utf-8", quoted, width) == quoted


def test_no_character_is_wider_on_the_screen_than_estimated() -> None:
    get_cwidth = pytest.importorskip("prompt_toolkit.utils").get_cwidth
    characters = map(chr, range(0x20, 0x110000))
    # No version of Unicode has all of them; what it lacks has two columns, which no character exceeds.
    shown = [each for each in characters if unicodedata.category(each) not in ("Cn", "Cs")]

    assert columns("\u0378") == 2
    assert not [each for each in shown if columns(each) < get_cwidth(each)]
