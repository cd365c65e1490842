"""The interactive form takes no more keys than the best of other prompts, plus the one that confirms sending."""

from __future__ import annotations

import importlib.util
import shutil
import sys

import pytest

from benchmarks.keys import BARS, LIBRARIES, count
from tests.support import skip_or_fail

if shutil.which("tmux") is None or importlib.util.find_spec("prompt_toolkit") is None:
    skip_or_fail("tmux or the extra terminal is not installed")

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("question", BARS)
def test_a_question_takes_few_keys(question: str) -> None:
    assert count(LIBRARIES[0], question, sys.executable) <= BARS[question]
