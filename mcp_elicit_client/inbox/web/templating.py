"""The templates, read once, and compiled once if Python may keep what it compiles."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from importlib.util import cache_from_source
from pathlib import Path

from jinja2 import BytecodeCache, Environment, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket

_FOLDER = Path(__file__).parent / "templates"

# What is compiled is bound to these: who changes the options changes the name.
_KIND = "escaped-1"


class _BesideTheSource(BytecodeCache):
    """Keeps compiled templates where Python keeps compiled modules, on the same terms."""

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            with self._path(bucket).open("rb") as file:
                bucket.load_bytecode(file)
        except Exception:  # noqa: BLE001 -- not there, or damaged in whichever way: it is compiled again
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        if sys.dont_write_bytecode:
            return
        path = self._path(bucket)
        whole = path.with_suffix(f".{os.getpid()}")
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole.open("wb") as file:
                bucket.write_bytecode(file)
            whole.replace(path)

    @staticmethod
    def _path(bucket: Bucket) -> Path:
        name = str(_FOLDER / f"{_KIND}-{bucket.key}.py")
        return Path(cache_from_source(name) if sys.implementation.cache_tag else f"{name}c")


@functools.cache
def environment(*, single_request: bool) -> Environment:
    """
    Return what renders the templates; everything in them is escaped.

    Args:
        alone: As in `Pages`.
    """
    found = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        bytecode_cache=_BesideTheSource(),
    )
    found.globals["alone"] = single_request
    return found
