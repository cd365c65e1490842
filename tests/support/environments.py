"""Virtual environments with other libraries, made with ``uv``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]


def make_environment(
    venv: Path, requirements: Sequence[str], *, overrides: Sequence[str] = (), python: str | None = None
) -> Path:
    """
    Make the virtual environment *venv* with this package, unless it is complete already; return its Python.

    Args:
        venv: Its directory.
        requirements: The packages to install.
        overrides: Names of packages whose newest release is installed,
            whatever release other packages require.
        python: The version of Python; None for that of this process.

    Raises:
        CalledProcessError: If something cannot be installed.
        FileNotFoundError: If ``uv`` is not installed.
    """
    interpreter = venv / "bin" / "python"
    if (venv / "done").exists():
        return interpreter
    beside = Path(sys.executable).with_name("uv")
    uv = shutil.which("uv") or (str(beside) if beside.exists() else None)
    if uv is None:
        raise FileNotFoundError("uv is not installed.")
    _run(uv, "venv", "-q", "--clear", "--python", _interpreter(python), str(venv))
    more = []
    if overrides:
        file = venv / "overrides.txt"
        file.write_text("\n".join(overrides), encoding="utf-8")
        more = ["--overrides", str(file)]
    _run(uv, "pip", "install", "-q", "--python", str(interpreter), *more, "-e", str(ROOT), *requirements)
    (venv / "done").touch()
    return interpreter


def _interpreter(version: str | None) -> str:
    """Find a Python of *version*: among those of pyenv, or else wherever uv has it from."""
    if version is None:
        return sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = sorted(pyenv.glob(f"{version}.*/bin/python"))
    return str(found[-1]) if found else version


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600)
