"""Run a code block of the documentation, and compare what it prints with the comments that show it."""

from __future__ import annotations

import ast
import io
import tokenize
from functools import partial
from typing import Any


def run_block(source: str, path: str, namespace: dict[str, Any]) -> list[str]:
    """
    Run *source* in *namespace*, and return its wrong results, with their lines.

    A result is the comment behind a statement ``print(...)``.  It is wrong if the
    statement prints something else or does not run.
    """
    tree, comments = ast.parse(source, path), _comments(source)
    printed: dict[int, list[str]] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Name(id="print") as function), end_lineno=int(line)):
                if line in comments:
                    function.id = f"print_in_line_{line}"
                    namespace[function.id] = partial(_print, printed.setdefault(line, []))

    exec(compile(tree, path, "exec", dont_inherit=True), namespace)
    del namespace["__builtins__"]  # added by exec

    return [
        f"line {line}: the comment is {comments[line]!r}, but this was printed: {texts}"
        for line, texts in printed.items()
        if not texts or not all(_shows(comments[line], text) for text in texts)
    ]


def _comments(source: str) -> dict[int, str]:
    """Return the text of each comment by its line."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {each.start[0]: each.string.removeprefix("#").strip() for each in tokens if each.type == tokenize.COMMENT}


def _print(texts: list[str], *values: Any, **options: Any) -> None:
    """Print *values*, and add the text to *texts*."""
    text = io.StringIO()
    print(*values, **{**options, "file": text})
    texts.append(text.getvalue().strip())
    print(*values, **options)


def _shows(comment: str, text: str) -> bool:
    """Return True if *comment* is *text*, or its start and ``...``."""
    return text == comment or (comment.endswith("...") and text.startswith(comment.removesuffix("...").rstrip()))
