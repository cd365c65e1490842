"""A real JupyterLab for the tests, in a process."""

from __future__ import annotations

import importlib.util
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from tests.support import ROOT
from tests.support.notebooks import skip_unless_wanted

PATIENCE = 120.0
SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "apputils-extension/themes": {"theme": "JupyterLab Light"},
}


class JupyterLab:
    """
    A server of JupyterLab.

    Attributes:
        directory: The directory of its notebooks.
    """

    def __init__(self, directory: Path, kernel_path: Sequence[Path] = (), theme: str = "JupyterLab Light") -> None:
        self.directory = directory / "notebooks"
        self.directory.mkdir()
        self._token = secrets.token_hex(8)
        settings = directory / "settings" / "@jupyterlab"
        for name, values in {**SETTINGS, "apputils-extension/themes": {"theme": theme}}.items():
            path = settings / f"{name}.jupyterlab-settings"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(values), encoding="utf-8")
        own = {
            "HOME": str(directory),
            "JUPYTER_RUNTIME_DIR": str(directory / "runtime"),
            "JUPYTERLAB_SETTINGS_DIR": str(settings.parent),
            "PYTHONPATH": os.pathsep.join([str(ROOT), *map(str, kernel_path)]),
        }
        inherited = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
        options = [f"token={self._token}", "port=0", "open_browser=False", f"root_dir={self.directory}"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", "--allow-root", *(f"--ServerApp.{each}" for each in options)],
            env={**inherited, **own},
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._files = directory / "runtime"
        self._origin = ""

    def origin(self) -> str:
        """Wait until the server serves and return its origin."""
        deadline = time.monotonic() + PATIENCE
        while not self._origin:
            assert self.process.poll() is None
            assert time.monotonic() < deadline
            for path in self._files.glob("jpserver-*.json"):
                try:
                    url = json.loads(path.read_text(encoding="utf-8"))["url"]
                    urlopen(f"{url}api?token={self._token}").close()
                    self._origin = url.rstrip("/")
                except (OSError, ValueError):
                    time.sleep(0.1)
            time.sleep(0.1)
        return self._origin

    def notebook(self, name: str, *cells: str, kernel: str = "python3") -> str:
        """Write a notebook and return its URL, where it is shown without the side bars."""
        written: list[dict[str, Any]] = [
            {
                "cell_type": "code",
                "id": f"cell-{place}",
                "metadata": {},
                "source": each,
                "outputs": [],
                "execution_count": None,
            }
            for place, each in enumerate(cells)
        ]
        about = {"kernelspec": {"name": kernel, "display_name": kernel, "language": "python"}}
        text = json.dumps({"cells": written, "metadata": about, "nbformat": 4, "nbformat_minor": 5})
        (self.directory / name).write_text(text, encoding="utf-8")
        return f"{self.origin()}/doc/tree/{name}?token={self._token}"

    def outputs(self, name: str) -> list[Any]:
        """Return the saved outputs of a notebook."""
        saved = json.loads((self.directory / name).read_text(encoding="utf-8"))
        return [output for cell in saved["cells"] for output in cell["outputs"]]


@contextmanager
def jupyterlab(directory: Path, **options: Any) -> Iterator[JupyterLab]:
    """Provide a server of JupyterLab."""
    if importlib.util.find_spec("jupyterlab") is None:
        skip_unless_wanted("jupyterlab")
    started = JupyterLab(directory, **options)
    try:
        yield started
    finally:
        started.process.send_signal(signal.SIGTERM)
        started.process.wait(30)


async def open_notebook(page: Any, url: str) -> None:
    """Open a notebook and wait for its kernel."""
    page.set_default_timeout(PATIENCE * 1000)
    await page.goto(url)
    await page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for()


async def run_cell(page: Any, place: int = 0) -> None:
    """Run a cell.  JupyterLab ignores keys until all its parts are loaded."""
    cell = page.locator(".jp-CodeCell").nth(place)
    while "[ ]" in await cell.locator(".jp-InputPrompt").inner_text():
        await cell.locator(".cm-content").click()
        await page.keyboard.press("Shift+Enter")
        await page.wait_for_timeout(500)
