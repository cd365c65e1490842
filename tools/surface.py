"""
List the public surface: every name that a host application may rely on, with its signature.

``python -m tools.surface`` compares it with `fixtures/api.txt` and shows what differs;
``--write`` writes that file again.  Public is what the pages in `docs/api` show: the names in the
``__all__`` of each module named there, or else those that it defines without a leading underscore.  A
class that several modules export is listed once, and a member with the class that defines it.  The
methods of stores are not public: only an inbox calls them.  A host application must be able to
import every type that a signature names.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import griffe

ROOT = Path(__file__).parent.parent
KEPT = ROOT / "fixtures" / "api.txt"
_PACKAGE = "mcp_elicit_client"
_TEXT = re.compile(r"'[^']*'|\"[^\"]*\"")
_MAX_TEXT = 21  # with its quotes
_STORES = f"{_PACKAGE}.inbox.stores"
_MODULE = re.compile(r"^::: (\S+)$", re.MULTILINE)
_HIDDEN = {"model_config"}
_KEPT_DUNDERS = {"__aenter__", "__aexit__", "__call__", "__iter__", "__len__", "__bool__"}


def public_modules(root: Path = ROOT) -> list[str]:
    """Name the modules that have a place in `docs/api`."""
    texts = (page.read_text(encoding="utf-8") for page in sorted((root / "docs" / "api").glob("*.md")))
    return sorted(name for text in texts for name in _MODULE.findall(text))


def surface(root: Path = ROOT) -> tuple[list[str], set[str]]:
    """
    Read the package in *root*, the project's folder.

    Returns:
        One line for each public name, by module; and the paths of the types
        that these lines name, but that no public module exports.
    """
    loader = griffe.GriffeLoader(search_paths=[root])
    loader.load(_PACKAGE, try_relative_path=False)
    loader.resolve_aliases(implicit=True)
    lines: list[str] = []
    listed: dict[str, str] = {}
    named: set[str] = set()
    for name in public_modules(root):
        module = loader.modules_collection[name]
        names = _defined(module) if module.exports is None else module.exports
        found = [
            line for each in sorted(map(str, names)) for line in _once(name, each, _exported(module, each), listed)
        ]
        # What a long text says, such as one of a catalogue, is no matter of the surface.
        lines += [f"[{name}]", *(_TEXT.sub(_shortened, line.text) for line in found), ""]
        named |= {path for line in found for each in line.types for path in _path_of_type(loader, each)}
    return lines[:-1], named - listed.keys()


class _Line(NamedTuple):
    """A line of the list, and the paths of what its annotations name."""

    text: str
    types: Sequence[str] = ()


def _defined(module: griffe.Object) -> list[str]:
    return [name for name, member in module.members.items() if not member.is_alias and not name.startswith("_")]


def _shortened(text: re.Match[str]) -> str:
    return text[0] if len(text[0]) <= _MAX_TEXT else "'...'"


def _exported(module: griffe.Object, name: str) -> griffe.Object | griffe.Alias:
    """Return what *module* exports as *name*: griffe finds a submodule in place of its function of the same name."""
    found: griffe.Object | griffe.Alias = module[name]
    if found.is_module and name in found.members:
        found = found[name]
    return found


def _once(module: str, name: str, found: griffe.Object | griffe.Alias, listed: dict[str, str]) -> list[_Line]:
    """Return the lines of *found*, or one line that says where it is listed already."""
    target = found.final_target if isinstance(found, griffe.Alias) else found
    first = listed.setdefault(target.path, f"{module}.{name}")
    return list(_lines(name, found)) if first == f"{module}.{name}" else [_Line(f"{name} = {first}")]


def _lines(path: str, found: griffe.Object | griffe.Alias) -> Iterator[_Line]:
    target = found.final_target if isinstance(found, griffe.Alias) else found
    if isinstance(target, griffe.Class):
        bases = ", ".join(str(base) for base in target.bases)
        yield _Line(f"class {path}({bases})" if bases else f"class {path}")
        yield from _members(path, target)
    elif isinstance(target, griffe.Function):
        for each in target.overloads or [target]:
            types = _types(each.returns, *(parameter.annotation for parameter in each.parameters))
            yield _Line(f"{_kind(target)} {each.signature(name=path)}", types)
    elif isinstance(target, griffe.Attribute):
        is_alias = "TypeAlias" in str(target.annotation)
        yield _Line(_attribute(path, target), _types(target.value if is_alias else target.annotation))


def _types(*annotations: str | griffe.Expr | None) -> list[str]:
    """Return the paths of the classes and aliases of the package that *annotations* name."""
    expressions = [each for each in annotations if isinstance(each, griffe.Expr)]
    names = [each for found in expressions for each in found.iterate(flat=True) if isinstance(each, griffe.ExprName)]
    names += [each for each in expressions if isinstance(each, griffe.ExprName)]
    return [each.canonical_path for each in names if each.canonical_path.startswith(f"{_PACKAGE}.")]


def _path_of_type(loader: griffe.GriffeLoader, path: str) -> Iterator[str]:
    """Yield where the class or alias at *path* is defined; nothing for a type variable, a constant or a decorator."""
    found = loader.modules_collection[path]
    target = found.final_target if isinstance(found, griffe.Alias) else found
    is_type = isinstance(target, griffe.Class) or "TypeAlias" in str(getattr(target, "annotation", ""))
    if is_type and not target.name.startswith("_"):  # private are the protocols of decorators: they are called at once
        yield target.path


def _members(path: str, target: griffe.Class) -> Iterator[_Line]:
    unlisted = _store_methods(target) | _inherited_from_public(target)
    for name, member in sorted(target.all_members.items()):
        if name in unlisted:
            continue
        is_ours = not name.startswith("_") or name in _KEPT_DUNDERS
        # A dataclass and a hand-written __init__ say what the class is called with.
        if (is_ours and name not in _HIDDEN) or name == "__init__":
            yield from _lines(f"{path}.{name}", member)


def _store_methods(target: griffe.Class) -> set[str]:
    """Return the names that *target* has to be a store; none if it is not one."""
    if not target.path.startswith(_STORES):
        return set()
    protocols = target.modules_collection[f"{_STORES}.protocol"]
    return {name for each in protocols.classes.values() for name in each.all_members if not name.startswith("_")}


def _inherited_from_public(target: griffe.Class) -> set[str]:
    """Return the names that *target* inherits from public classes of the package, where they are listed."""
    public = [each for each in target.mro() if not each.name.startswith("_") and each.path.startswith(_PACKAGE)]
    return {name for each in public for name in each.members if name not in target.members}


def _kind(function: griffe.Function) -> str:
    words = [each for each in ("staticmethod", "classmethod") if each in function.labels]
    return " ".join([*words, "async def" if "async" in function.labels else "def"])


def _attribute(path: str, attribute: griffe.Attribute) -> str:
    kind = "property " if "property" in attribute.labels else ""
    annotation = f": {attribute.annotation}" if attribute.annotation is not None else ""
    is_assigned_in_init = attribute.labels == {"instance-attribute"}
    value = f" = {attribute.value}" if attribute.value is not None and not is_assigned_in_init else ""
    return f"{kind}{path}{annotation}{value}"


def main() -> int:
    """Show what differs, or write the file; 1 if something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help=f"write {KEPT.relative_to(ROOT)}")
    listed, unlisted = surface()
    now = [f"{line}\n" for line in listed]
    if parser.parse_args().write:
        KEPT.write_text("".join(now), encoding="utf-8")
        return 0
    kept = KEPT.read_text(encoding="utf-8").splitlines(keepends=True) if KEPT.exists() else []
    changes = list(difflib.unified_diff(kept, now, str(KEPT.relative_to(ROOT)), "as it is now", n=0))
    sys.stdout.writelines(changes)
    if changes:
        print("\nThe public surface has changed.  If that is meant: `python -m tools.surface --write`, and say so in")
        print("CHANGELOG.md; what is gone or takes other arguments is a break (docs/versioning.md).")
    for path in sorted(unlisted):
        print(f"{path} is named in a public signature, but no module of docs/api exports it.")
    return 1 if changes or unlisted else 0


if __name__ == "__main__":
    sys.exit(main())
