"""
Extract the normative sentences about elicitation from a checkout of the MCP specification.

``python -m tools.normative CHECKOUT`` compares them with
fixtures/specification.json, ``--write`` writes that file.  The file has the
identifier and the SHA-256 of each sentence; a test compares these with the
requirements that ``mcp-elicit check --report`` covers.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FIXTURE = Path(__file__).parent.parent / "fixtures" / "specification.json"
PAGES = (
    "2025-06-18/client/elicitation",
    "2025-11-25/client/elicitation",
    "2026-07-28/client/elicitation",
    "2026-07-28/basic/patterns/mrtr",
)
"""The pages, relative to ``docs/specification``."""

KEYWORD = re.compile(r"\b(MUST|SHOULD|SHALL|REQUIRED|RECOMMENDED)\b")
_ITEM = re.compile(r"(?P<indent> *)(?:[-*]|\d+\.) +(?P<text>.*)")
_HEADING = re.compile(r"#+ +(.*)")
_SENTENCE_END = re.compile(r"(?<=\.)(?<!e\.g\.)(?<!i\.e\.) +(?=[A-Z])")


@dataclass
class _Block:
    """A paragraph (indent -1 outside of lists) or an item of a list."""

    section: str
    indent: int
    text: str
    is_item: bool


@dataclass(frozen=True)
class Sentence:
    """
    A normative sentence.

    Attributes:
        id: The page, the section and the number of the sentence in it.
        text: The sentence as plain text, with the sentence that introduces
            its list.
    """

    id: str
    text: str

    @property
    def sha256(self) -> str:
        """The hash of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def extract(page: str, source: str) -> list[Sentence]:
    """Return the normative sentences of *source*, the text of *page*."""
    numbers: Counter[str] = Counter()
    sentences = []
    for section, text in _normative_texts(list(_blocks(source))):
        numbers[section] += 1
        sentences.append(Sentence(f"{page}#{section}-{numbers[section]}", text))
    return sentences


def _normative_texts(blocks: list[_Block]) -> Iterator[tuple[str, str]]:
    leads: dict[int, str] = {}  # by indentation: the sentence that introduces the items below it
    section = ""
    for at, block in enumerate(blocks):
        sentences = _SENTENCE_END.split(block.text)
        if block.section != section:
            section, leads = block.section, {}
        leads = {indent: lead for indent, lead in leads.items() if indent < block.indent}
        lead = leads[max(leads)] if leads and block.is_item else ""
        introduces = block.text.endswith(":") and at + 1 < len(blocks) and _is_below(blocks[at + 1], block)
        if introduces:
            leads[block.indent] = sentences[-1]
        if lead and (KEYWORD.search(lead) or KEYWORD.match(sentences[0])):
            yield block.section, f"{lead} {sentences[0]}"
            sentences = sentences[1:]
        for sentence in sentences:
            if KEYWORD.search(sentence) and not (introduces and sentence is sentences[-1]):
                yield block.section, sentence


def _is_below(block: _Block, lead: _Block) -> bool:
    return block.is_item and block.indent > lead.indent and block.section == lead.section


def _blocks(source: str) -> Iterator[_Block]:
    section, current, is_code = "introduction", None, False
    for line in source.splitlines():
        stripped = line.strip()
        if stripped.startswith("```"):
            is_code = not is_code
        heading, item = _HEADING.fullmatch(line), _ITEM.fullmatch(line)
        if is_code or not stripped or heading or item or stripped.startswith(("<", "|", "```")):
            if current is not None:
                yield _plain(current)
            current = None
            if heading and not is_code:
                section = re.sub(r"[^a-z0-9]+", "-", heading[1].lower()).strip("-")
            elif item and not is_code:
                current = _Block(section, len(item["indent"]), item["text"], is_item=True)
        elif current is None:
            current = _Block(section, -1, stripped, is_item=False)
        else:
            current.text += f" {stripped}"
    if current is not None:
        yield _plain(current)


def _plain(block: _Block) -> _Block:
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", block.text)
    text = re.sub(r"\*\*|`", "", re.sub(r"(?<!\S)_(\w[^_]*)_(?!\w)", r"\1", text))
    return _Block(block.section, block.indent, re.sub(r"\s+", " ", text).strip(), block.is_item)


def read(checkout: Path) -> dict[str, list[Sentence]]:
    """Return the normative sentences of each page in *checkout*."""
    root = checkout / "docs" / "specification"
    return {page: extract(page, (root / f"{page}.mdx").read_text(encoding="utf-8")) for page in PAGES}


def fixture(sentences: dict[str, list[Sentence]]) -> str:
    """Return the text of the fixture."""
    pages = {page: {each.id: each.sha256 for each in found} for page, found in sentences.items()}
    return f"{json.dumps(pages, indent=1)}\n"


def main() -> int:
    """Compare or write the fixture; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--print", action="store_true", help="print the sentences")
    options = parser.parse_args()
    found = read(options.checkout)
    if options.print:
        for page in found.values():
            print(*(f"{each.id}\n    {each.text}" for each in page), sep="\n")
        return 0
    if options.write:
        FIXTURE.write_text(fixture(found), encoding="utf-8")
        return 0
    is_same = FIXTURE.read_text(encoding="utf-8") == fixture(found)
    print("No difference." if is_same else f"{FIXTURE} differs.")
    return not is_same


if __name__ == "__main__":
    sys.exit(main())
