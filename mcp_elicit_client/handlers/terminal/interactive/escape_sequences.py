"""`drop_unknown_sequences`: an application is not given reports of the terminal and keys with Alt."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any

from prompt_toolkit.key_binding.key_processor import KeyPress, KeyProcessor
from prompt_toolkit.keys import Keys

# What follows the escape character: a control sequence, a key of the keypad, a string of the terminal, or a key with
# Alt.  Another escape character is another key.
_SEQUENCE = re.compile(r"\[[0-?]*[ -/]*[@-~]?|O[!-~]?|[]P_^X].*?(?:\a|\x1b\\|\Z)|[^\x1b]", re.DOTALL)


def drop_unknown_sequences(processor: KeyProcessor) -> None:
    """Let *processor* ignore escape sequences that prompt_toolkit does not know: see `without_unknown_sequences`."""
    feed = processor.feed_multiple

    def feed_known(key_presses: list[KeyPress], *options: Any, **named: Any) -> None:
        feed(without_unknown_sequences(key_presses), *options, **named)

    processor.feed_multiple = feed_known  # type: ignore[method-assign]


def without_unknown_sequences(presses: Sequence[KeyPress]) -> list[KeyPress]:
    """
    Return the keys without those of escape sequences that prompt_toolkit does not know.

    It passes them on as the Escape key and characters.  But the user has
    pressed Escape only if no other character was read with it.  Terminals
    report colors, their focus and their kind in this way, often because
    another program asked for that.

    Args:
        presses: The keys that were read at once.
    """
    kept: list[KeyPress] = []
    at = 0
    while at < len(presses):
        length = _length_of_sequence(presses[at + 1 :]) if presses[at].key == Keys.Escape else 0
        if length:
            at += 1 + length
        else:
            kept.append(presses[at])
            at += 1
    return kept


def _length_of_sequence(presses: Sequence[KeyPress]) -> int:
    """Return how many of the keys after Escape belong to the same sequence; 0 if Escape was pressed alone."""
    typed = list(itertools.takewhile(lambda press: press.key != Keys.BracketedPaste, presses))
    match = _SEQUENCE.match("".join(press.data for press in typed))
    if match is None:
        return 0
    ends = itertools.accumulate(len(press.data) for press in typed)
    return 1 + sum(end < match.end() for end in ends)
