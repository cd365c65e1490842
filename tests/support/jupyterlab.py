"""A real JupyterLab for the tests, in a process, and how a user opens and runs a notebook in it."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from tests.support import ROOT
from tests.support.notebooks import skip_unless_wanted

PATIENCE = 60.0
SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "apputils-extension/themes": {"theme": "JupyterLab Light"},
}


class JupyterLab:
    """A server of JupyterLab, with its notebooks, settings and kernels in one directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._notebooks = directory / "notebooks"
        self._notebooks.mkdir()
        self._token = secrets.token_hex(8)
        self._origin = ""
        self._configure()
        own = {
            "HOME": str(directory),
            "JUPYTER_PATH": str(directory / "data"),
            "JUPYTER_RUNTIME_DIR": str(directory / "runtime"),
            "JUPYTERLAB_SETTINGS_DIR": str(directory / "settings"),
            "PYTHONPATH": str(ROOT),
        }
        # In tests, ipykernel would not give sys.stderr a file descriptor.
        inherited = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
        options = {
            "IdentityProvider.token": self._token,
            "LabApp.expose_app_in_browser": True,
            "ServerApp.open_browser": False,
            "ServerApp.port": 0,
            "ServerApp.root_dir": self._notebooks,
        }
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "jupyterlab", "--allow-root"),
                *(f"--{name}={value}" for name, value in options.items()),
            ],
            env={**inherited, **own},
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def _configure(self) -> None:
        for name, values in SETTINGS.items():
            path = self._directory / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(values), encoding="utf-8")

    def add_kernel(self, name: str, packages: str) -> None:
        """Add a kernel that takes the packages of a directory before those of the environment."""
        about = {
            "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            "display_name": name,
            "language": "python",
            "env": {"PYTHONPATH": os.pathsep.join([packages, str(ROOT)])},
        }
        spec = self._directory / "data" / "kernels" / name / "kernel.json"
        spec.parent.mkdir(parents=True)
        spec.write_text(json.dumps(about), encoding="utf-8")

    def origin(self) -> str:
        """Wait until the server serves and return its origin."""
        deadline = time.monotonic() + PATIENCE
        while not self._origin:
            assert self.process.poll() is None
            assert time.monotonic() < deadline
            for path in (self._directory / "runtime").glob("jpserver-*.json"):
                try:
                    url = json.loads(path.read_text(encoding="utf-8"))["url"]
                    urlopen(f"{url}api?token={self._token}").close()
                    self._origin = url.rstrip("/")
                except (OSError, ValueError):
                    pass  # not yet written, or not yet served
            time.sleep(0.1)
        return self._origin

    def notebook(self, name: str, code: str, kernel: str) -> str:
        """Write a notebook with one cell and return its URL, where it is shown without the side bars."""
        cell: dict[str, Any] = {"cell_type": "code", "id": "a", "metadata": {}, "source": code}
        cell |= {"outputs": [], "execution_count": None}
        about = {"kernelspec": {"name": kernel, "display_name": kernel, "language": "python"}}
        text = json.dumps({"cells": [cell], "metadata": about, "nbformat": 4, "nbformat_minor": 5})
        (self._notebooks / name).write_text(text, encoding="utf-8")
        return f"{self.origin()}/doc/tree/{name}?token={self._token}"

    def saved(self, name: str) -> str:
        """Return the file of a notebook."""
        return (self._notebooks / name).read_text(encoding="utf-8")


@contextmanager
def jupyterlab(directory: Path) -> Iterator[JupyterLab]:
    """Provide a server of JupyterLab."""
    if importlib.util.find_spec("jupyterlab") is None:
        skip_unless_wanted("jupyterlab")
    started = JupyterLab(directory)
    try:
        yield started
    finally:
        started.process.kill()  # Its kernels notice that and exit.
        started.process.wait()


async def open_notebook(page: Any, url: str) -> None:
    """Open a notebook and wait for its kernel."""
    page.set_default_timeout(PATIENCE * 1000)
    await page.goto(url)
    await page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for()


async def run_cell(page: Any) -> None:
    """Run the first cell.  JupyterLab ignores keys until all its parts are loaded."""
    cell = page.locator(".jp-CodeCell").first
    while not re.search(r"[*\d]", await cell.locator(".jp-InputPrompt").inner_text()):
        await cell.locator(".cm-content").click()
        await page.keyboard.press("Shift+Enter")
        await page.wait_for_timeout(500)


async def command(page: Any, name: str, **options: str) -> None:
    """Do what an item of JupyterLab's menus does."""
    await page.evaluate(f"void window.jupyterapp.commands.execute('{name}', {json.dumps(options)})")
