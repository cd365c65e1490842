"""A front end of notebooks without a screen: runs cells in a real kernel, and answers as the widget's script does."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn
from urllib.parse import urlencode

import pytest

from tests.support import ROOT, skip_or_fail

WIDGET = "application/vnd.jupyter.widget-view+json"
PATIENCE = 60.0


def skip_unless_wanted(name: str) -> NoReturn:
    """Skip a test without *name*; in the session ``notebook`` of nox, let it fail."""
    if os.environ.get("ELICIT_NOTEBOOK") == "true":
        pytest.fail(f"{name} is not installed")
    pytest.skip(f"{name} is not installed; the session `notebook` of nox has it")


class Output:
    """One output of a cell, as the notebook would save it."""

    def __init__(self, cell: str, data: dict[str, Any]) -> None:
        self.cell = cell
        self.data = data

    @property
    def text(self) -> str:
        return str(self.data.get("text/plain", ""))


class FrontEnd:
    """
    The front end of one kernel.

    Attributes:
        outputs: The outputs of all cells by display ID.
        printed: What cells printed, by cell.
        widgets: The state of each open widget by model ID.
    """

    def __init__(self, manager: Any, client: Any) -> None:
        self.manager = manager
        self._client = client
        self.outputs: dict[str, Output] = {}
        self.printed: dict[str, str] = {}
        self.errors: dict[str, str] = {}
        self.widgets: dict[str, dict[str, Any]] = {}
        self._ended: set[str] = set()
        self._replies: dict[str, Any] = {}
        self._requests = 0

    def run(self, code: str, *, has_user: bool = True) -> str:
        """Start a cell and return its ID."""
        return str(self._client.execute(code, allow_stdin=has_user, stop_on_error=False))

    def result(self, cell: str) -> str:
        """Wait until a cell has ended and return what it printed."""
        self.until(lambda: cell in self._ended)
        assert cell not in self.errors, self.errors[cell]
        return self.printed.get(cell, "")

    def until(self, is_so: Callable[[], object]) -> None:
        """Process the kernel's messages until *is_so* returns something true."""
        deadline = time.monotonic() + PATIENCE
        while not is_so():
            assert time.monotonic() < deadline, (self.outputs, self.printed, self.errors)
            self._receive()

    def widget(self, count: int = 1) -> list[str]:
        """Wait for *count* widgets that are shown and return their model IDs."""
        self.until(lambda: len(self._shown_widgets()) == count)
        models = self._shown_widgets()
        for each in models:
            self.send(each, kind="shown", view="v1")
        return models

    def _shown_widgets(self) -> list[str]:
        return [each.data[WIDGET]["model_id"] for each in self.outputs.values() if WIDGET in each.data]

    def send(self, model: str, **content: Any) -> None:
        """Send a message of a widget."""
        data = {"method": "custom", "content": content}
        message = self._client.session.msg("comm_msg", {"comm_id": model, "data": data})
        self._client.shell_channel.send(message)

    def fetch(self, model: str, path: str = "", values: Mapping[str, Any] | None = None, **changes: Any) -> Any:
        """Send a request of the element and return the reply."""
        self._requests += 1
        sent = {
            "id": f"r{self._requests}",
            "method": "GET" if values is None else "POST",
            "path": path or f"/{self.widgets[model]['request_id']}",
            "accept": "text/html",
            "body": urlencode(values or {}, doseq=True),
            "languages": "en-US,en",
            **changes,
        }
        self.send(model, kind="request", **sent)
        self.until(lambda: sent["id"] in self._replies)
        return self._replies.pop(sent["id"])

    def submit(self, model: str, values: Mapping[str, Any], action: str) -> Any:
        """Press a button of a form, with all the hidden values that the page has."""
        return self.fetch(model, values={**values, "action": action})

    def accept(self, model: str, values: Mapping[str, Any]) -> None:
        """Fill in a form, review it and send it."""
        review = self.submit(model, values, "review")["body"]
        hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', review))
        assert "dl" in review, review
        self.press(model, hidden, "accept")

    def press(self, model: str, values: Mapping[str, Any], action: str) -> None:
        """Press a button without waiting for the next page."""
        body = urlencode({**values, "action": action}, doseq=True)
        path = f"/{self.widgets[model]['request_id']}"
        sent = {"id": "last", "method": "POST", "path": path, "accept": "text/html", "body": body, "languages": "en"}
        self.send(model, kind="request", **sent)

    def _receive(self) -> None:
        from queue import Empty

        try:
            message = self._client.get_iopub_msg(timeout=1)
        except Empty:
            return
        content, cell = message["content"], message["parent_header"].get("msg_id", "")
        match message["msg_type"]:
            case "display_data" | "update_display_data" as kind:
                name = content["transient"]["display_id"]
                known = self.outputs.get(name)
                assert (kind == "update_display_data") == (known is not None)
                self.outputs[name] = Output(known.cell if known else cell, content["data"])
            case "stream":
                self.printed[cell] = self.printed.get(cell, "") + content["text"]
            case "error":
                self.errors[cell] = f"{content['ename']}: {content['evalue']}"
            case "comm_open" if "request_id" in content["data"].get("state", {}):
                self.widgets[content["comm_id"]] = content["data"]["state"]
            case "comm_msg" if content["data"].get("method") == "custom":
                self._replies[content["data"]["content"]["id"]] = content["data"]["content"]
            case "comm_close":
                self.widgets.pop(content["comm_id"], None)
            case "status" if content["execution_state"] == "idle":
                self._ended.add(cell)


@contextmanager
def front_end(**environment: str) -> Iterator[FrontEnd]:
    """Provide a front end of a new kernel."""
    try:
        import ipykernel  # noqa: F401 -- only to see that it is installed
        from jupyter_client.manager import KernelManager
    except ImportError:
        skip_or_fail("ipykernel is not installed")
    manager = KernelManager()
    path = os.pathsep.join(each for each in (environment.pop("PYTHONPATH", ""), str(ROOT)) if each)
    # In tests, ipykernel would not give sys.stderr a file descriptor.
    inherited = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    manager.start_kernel(env={**inherited, "PYTHONPATH": path, **environment}, cwd=str(ROOT))
    client = manager.client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=PATIENCE)
        yield FrontEnd(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()
