"""
Whether a wheel installs without build tools on every supported platform and Python; needs the network.

``python -m tools.wheels WHEEL`` resolves the wheel for each target, alone and
with all extras that can be installed from wheels.  uv resolves, since it
evaluates environment markers for the target.  pip then looks for a wheel of
each package, with the tags of the target.  Nothing is installed.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from email.parser import HeaderParser
from pathlib import Path
from typing import NamedTuple

PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")

WITHOUT_WHEELS = ("chainlit",)
"""The extras that depend on a package without wheels: Chainlit on literalai, which is in pure Python."""


class Platform(NamedTuple):
    """A platform, as uv and pip name it."""

    title: str
    uv: str
    pip: tuple[str, ...]


def _manylinux(machine: str) -> tuple[str, ...]:
    """Return the tags of a Linux with glibc 2.28."""
    return (*(f"manylinux_2_{minor}_{machine}" for minor in range(28, 16, -1)), f"manylinux2014_{machine}")


PLATFORMS = (
    Platform("Linux x86_64", "x86_64-manylinux_2_28", _manylinux("x86_64")),
    Platform("Linux aarch64", "aarch64-manylinux_2_28", _manylinux("aarch64")),
    Platform("macOS arm64", "aarch64-apple-darwin", ("macosx_14_0_arm64",)),
    Platform("macOS x86_64", "x86_64-apple-darwin", ("macosx_14_0_x86_64",)),
    Platform("Windows amd64", "x86_64-pc-windows-msvc", ("win_amd64",)),
)


class Result(NamedTuple):
    """The number of packages for one target, or why they cannot be installed."""

    packages: int
    problem: str


def extras_of(wheel: Path) -> list[str]:
    """Return the extras that *wheel* offers."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        metadata = HeaderParser().parsestr(archive.read(name).decode())
    return list(metadata.get_all("Provides-Extra", []))


def _run(arguments: Sequence[str]) -> tuple[bool, str]:
    """Run a module of this Python; return whether it succeeded, and its output or its last error."""
    done = subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, check=False)  # noqa: S603
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return not done.returncode, done.stdout if not done.returncode else "\n".join(lines[-6:])


def check(requirement: str, platform: Platform, python: str) -> Result:
    """Resolve *requirement* for one target, and find a wheel for each package."""
    with tempfile.TemporaryDirectory() as folder:
        source, pins = Path(folder) / "wanted.in", Path(folder) / "pins.txt"
        source.write_text(f"{requirement}\n", encoding="utf-8")
        resolve = ["uv", "pip", "compile", "-q", "--only-binary", ":all:", "--no-header", "--no-annotate"]
        resolve += ["--python-platform", platform.uv, "--python-version", python, str(source)]
        good, output = _run(resolve)
        if not good:
            return Result(0, output)
        lines = [line for line in output.splitlines() if re.match(r"[\w.-]+(\[[\w,-]+\])?==", line)]
        pins.write_text("\n".join(lines), encoding="utf-8")
        find = ["pip", "install", "-q", "--dry-run", "--ignore-installed", "--no-deps", "--only-binary", ":all:"]
        find += ["--target", str(Path(folder) / "unused"), "--python-version", python, "--implementation", "cp"]
        find += [part for tag in platform.pip for part in ("--platform", tag)]
        good, output = _run([*find, "-r", str(pins)])
        return Result(len(lines), "" if good else output)


def check_all(wheel: Path, pythons: Sequence[str]) -> Iterator[tuple[Platform, str, str, Result]]:
    """Check each target with each group of extras."""
    extras = ",".join(each for each in extras_of(wheel) if each not in WITHOUT_WHEELS)
    groups = {"base": "", "all extras": f"[{extras}]"}
    for platform in PLATFORMS:
        for python in pythons:
            for title, extra in groups.items():
                requirement = f"mcp-elicit-client{extra} @ {wheel.resolve().as_uri()}"
                yield platform, python, title, check(requirement, platform, python)


def main() -> int:
    """Print one line for each target; return 1 if any of them cannot be installed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--python", action="append", choices=PYTHONS, help="only this version; can be repeated")
    arguments = parser.parse_args()
    failed = 0
    for platform, python, title, result in check_all(arguments.wheel, arguments.python or PYTHONS):
        failed += bool(result.problem)
        outcome = result.problem or f"{result.packages} packages"
        print(f"{platform.title}, Python {python}, {title}: {outcome}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
