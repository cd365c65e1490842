"""What remains on a disk after a power failure: only what was written with `os.fsync`."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest


class Disk:
    """
    Notes what `os.fsync` writes: the content of a file, or the names in a folder.

    Everything else is lost, which is the worst that a file system may do.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        if not sys.platform.startswith("linux"):
            pytest.skip("needs the descriptors in /proc")
        self._contents: dict[int, bytes] = {}
        self._names: dict[int, dict[str, int]] = {}
        self._fsync = os.fsync
        monkeypatch.setattr(os, "fsync", self.note)

    def note(self, descriptor: int) -> None:
        self._fsync(descriptor)
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            with os.scandir(descriptor) as entries:
                self._names[found.st_ino] = {each.name: each.inode() for each in entries}
        else:
            self._contents[found.st_ino] = Path(f"/proc/self/fd/{descriptor}").read_bytes()

    def copy(self, folder: Path, target: Path) -> Path:
        """Write what remains of *folder* to the new folder *target*, and return it."""
        target.mkdir()
        for name, inode in self._names.get(folder.stat().st_ino, {}).items():
            file = target / name
            file.touch(mode=0o600)
            file.write_bytes(self._contents.get(inode, b""))
        return target
