"""
Check the modules of the package: no import cycle, a summary line in each, and one meaning for each name of a type.

``python -m tools.modules`` counts every import, also inside functions and
under ``if TYPE_CHECKING``.  The order of the layers is checked by import-linter.
``python -m tools.modules WORD`` lists the modules whose path or summary contains a word.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).parent.parent
PACKAGE = "mcp_elicit_client"

Modules: TypeAlias = Mapping[str, ast.Module]


def modules(root: Path = ROOT) -> dict[str, ast.Module]:
    """Return the parsed modules of the package by name; *root* is the project's folder."""
    paths = {
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path
        for path in sorted((root / PACKAGE).rglob("*.py"))
    }
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in paths.items()}


def imports(found: Modules) -> dict[str, set[str]]:
    """Return the modules of the package that each module imports."""
    return {name: {each for each in _imported(tree, found) if each != name} for name, tree in found.items()}


def cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that import each other, directly or through others."""
    reachable = {name: _reachable(name, graph) for name in graph}
    groups = {
        tuple(sorted(each for each in reached if name in reachable[each]))
        for name, reached in reachable.items()
        if name in reached
    }
    return [list(group) for group in sorted(groups)]


def without_summary(found: Modules) -> list[str]:
    """Return the modules that do not begin with one line that ends in a period."""
    return [name for name, tree in found.items() if not _has_summary(ast.get_docstring(tree))]


def summaries(found: Modules, word: str) -> Iterator[str]:
    """Yield the path and the summary of each module in which *word* occurs in one of both."""
    for name, tree in found.items():
        summary = (ast.get_docstring(tree) or "").partition("\n")[0]
        line = f"{name.replace('.', '/')}: {summary}"
        if word.casefold() in line.casefold():
            yield line


def defined_twice(found: Modules) -> dict[str, list[str]]:
    """Return the classes and type aliases that several modules define, with the modules; without private ones."""
    modules_of: defaultdict[str, list[str]] = defaultdict(list)
    for module, tree in found.items():
        for name in dict.fromkeys(_types(tree)):
            modules_of[name].append(module)
    return {name: several for name, several in modules_of.items() if len(several) > 1}


def _types(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        match node:
            case ast.ClassDef(name=name) if not name.startswith("_"):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id="TypeAlias")) if name[0] != "_":
                yield name


def _imported(tree: ast.Module, found: Modules) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name in found)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module in found:
            for each in node.names:
                submodule = f"{node.module}.{each.name}"
                yield submodule if submodule in found else node.module


def _reachable(name: str, graph: Mapping[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    pending = [*graph[name]]
    while pending:
        each = pending.pop()
        if each not in reached:
            reached.add(each)
            pending += graph[each]
    return reached


def _has_summary(docstring: str | None) -> bool:
    first, _, rest = (docstring or "").partition("\n")
    return first.endswith(".") and not rest.partition("\n")[0]


def main() -> int:
    """Print what is wrong, and return 1 if anything is; or list the modules with a word."""
    found = modules()
    if sys.argv[1:]:
        print(*summaries(found, sys.argv[1]), sep="\n")
        return 0
    faults = [f"import cycle: {', '.join(group)}" for group in cycles(imports(found))]
    faults += [f"{name}: begin with one docstring line that ends in a period" for name in without_summary(found)]
    faults += [f"{name}: defined in {', '.join(several)}" for name, several in defined_twice(found).items()]
    for fault in faults:
        print(fault)
    print(f"{len(found)} modules, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
