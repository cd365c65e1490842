from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_elicit_client import sanitize_text
from mcp_elicit_client.core.text import escape_each
from tests.support import cases

HIDDEN = {"Cc", "Cs", "Co", "Cn", "Zl", "Zp"}


@pytest.mark.parametrize("case", cases("text"))
def test_text_is_shown_as_the_table_says(case: Any) -> None:
    options = {key: case[key] for key in ("limit", "multiline") if key in case}

    shown = sanitize_text(case["text"], **options)

    if case["shown"] is None:
        assert shown != case["text"]
    else:
        assert case["shown"] == shown


@given(st.text())
def test_nothing_hidden_comes_out(text: str) -> None:
    shown = sanitize_text(text, limit=None)

    assert not [each for each in shown if unicodedata.category(each) in HIDDEN and each != "\n"]


@given(st.text(alphabet=st.sampled_from("a \n\t\r[]/=\u200d\u200c\u0308\ufe0f\u2764\u0915\u094d\U0001f468\u3000link")))
def test_what_is_clean_stays_as_it_is(text: str) -> None:
    shown = sanitize_text(text, limit=None)

    assert sanitize_text(shown, limit=None) == shown


@given(
    st.text(
        alphabet=st.sampled_from("a \n\t\u200d\u200c\u202e\u0308\ufe0f\u2764\u0915\u094d\U0001f468\U0001f3f4\U000e0067")
    )
)
def test_the_characters_of_a_text_are_escaped_one_by_one_as_together(text: str) -> None:
    each = escape_each(text)

    assert len(each) == len(text)
    assert sanitize_text("".join(each), limit=None) == sanitize_text(text, limit=None)


@given(st.text(), st.integers(min_value=0, max_value=20))
def test_what_is_too_long_is_cut_and_says_so(text: str, limit: int) -> None:
    shown = sanitize_text(text, limit=limit)

    assert shown.endswith("…") or len(text) <= limit


@given(st.text())
def test_one_line_is_one_line(text: str) -> None:
    assert "\n" not in sanitize_text(text, multiline=False)


@pytest.mark.parametrize(
    "tag",
    [
        "[#ff0000 conceal]",
        "[rgb(1,2,3) conceal]",
        "[bold\nconceal]",
        "[bold CONCEAL]",
        "[bold on #ffffff link=https://evil.example]",
        "[bold LINK=https://evil.example]",
        "[Link https://evil.example]",
        "[color(5) link=https://evil.example]",
        f"[{'bold ' * 20}conceal]",
    ],
)
def test_console_markup_that_links_or_hides_is_escaped_beside_any_other_style(tag: str) -> None:
    assert sanitize_text(f"{tag}text") == f"\\u{{5b}}{tag[1:]}text"


@pytest.mark.parametrize("text", ["[a] [b, c] or [#1]", "link=x [y]", "[see the link] to conceal", "[1, 2 link=x]"])
def test_brackets_that_neither_link_nor_hide_stay(text: str) -> None:
    assert sanitize_text(text) == text


@pytest.mark.parametrize("joiner", ["\u200c", "\u200d"])
@pytest.mark.parametrize(
    "word", ["\u0986\u09b2\u09cd\u09b2\u09be\u09b9\u09cd", "\u0937\u091f\u094d", "\u0d2e\u0d28\u0d4d"]
)
def test_a_joiner_after_a_virama_stays_at_the_end_of_a_word(word: str, joiner: str) -> None:
    text = f"{word}{joiner} {word}{joiner}, {word}{joiner}"

    assert sanitize_text(text) == text


@pytest.mark.parametrize("invisible", ["\u061c", "\u17b5", "\u180b", "\u180e"])
def test_a_joiner_before_an_invisible_letter_of_its_script_is_escaped(invisible: str) -> None:
    shown = sanitize_text(f"\u0628\u200c{invisible}\u0628")

    assert shown == f"\u0628\\u{{200c}}\\u{{{ord(invisible):x}}}\u0628"
    assert sanitize_text(shown) == shown
