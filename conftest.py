"""Run the code blocks of the documentation and the examples of docstrings as tests."""

from __future__ import annotations

from doctest import NORMALIZE_WHITESPACE

from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser
from sybil.parsers.rest import DocTestParser

_blocks = Sybil(parsers=[PythonCodeBlockParser()], patterns=["*.md"])
_doctests = Sybil(parsers=[DocTestParser(optionflags=NORMALIZE_WHITESPACE)], patterns=["mcp_elicit_client/**/*.py"])

pytest_collect_file = (_blocks + _doctests).pytest()
