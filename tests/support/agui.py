"""A front end of AG-UI: runs of an agent over HTTP, and what they send; and agents in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.support import ROOT, free_port


@dataclass(frozen=True)
class Run:
    """The events of one run."""

    events: list[dict[str, Any]]

    @property
    def types(self) -> list[str]:
        return [each["type"] for each in self.events]

    @property
    def interrupts(self) -> list[dict[str, Any]]:
        last = self.events[-1]
        assert last["type"] == "RUN_FINISHED", last
        outcome = last.get("outcome") or {"type": "success"}
        return list(outcome["interrupts"]) if outcome["type"] == "interrupt" else []

    @property
    def interrupt(self) -> dict[str, Any]:
        (only,) = self.interrupts
        return only

    @property
    def error(self) -> str:
        last = self.events[-1]
        assert last["type"] == "RUN_ERROR", last
        assert "RUN_FINISHED" not in self.types
        return str(last["code"])

    def one(self, event_type: str) -> dict[str, Any]:
        (only,) = [each for each in self.events if each["type"] == event_type]
        return only


def user_message(text: str) -> dict[str, Any]:
    return {"id": uuid.uuid4().hex, "role": "user", "content": text}


def tool_calls(run: Run) -> dict[str, Any]:
    """Return the tool calls that *run* has sent, as a message."""
    calls = [
        {
            "id": each["toolCallId"],
            "type": "function",
            "function": {"name": each["toolCallName"], "arguments": "{}"},
        }
        for each in run.events
        if each["type"] == "TOOL_CALL_START"
    ]
    return {"id": uuid.uuid4().hex, "role": "assistant", "toolCalls": calls}


def resolved(interrupt: dict[str, Any], payload: Any = None) -> dict[str, Any]:
    return {"interruptId": interrupt["id"], "status": "resolved", "payload": payload}


def cancelled(interrupt: dict[str, Any], **said: Any) -> dict[str, Any]:
    entry = {"interruptId": interrupt["id"], "status": "cancelled"}
    return {**entry, "metadata": {"elicitation": said}} if said else entry


@dataclass(frozen=True)
class FrontEnd:
    """A front end of one user, in one thread."""

    http: httpx.AsyncClient
    path: str = "/"
    thread: str = "thread-1"
    headers: tuple[tuple[str, str], ...] = ()

    async def run(self, *resume: dict[str, Any], text: str = "", history: Sequence[dict[str, Any]] = ()) -> Run:
        """Send a resume or a message, after the messages of *history*."""
        messages = [*history, *([user_message(text)] if text else [])]
        body: dict[str, Any] = {
            "threadId": self.thread,
            "runId": uuid.uuid4().hex,
            "messages": messages,
            "state": {},
            "tools": [],
            "context": [],
            "forwardedProps": {},
        }
        if resume:
            body["resume"] = list(resume)
        response = await self.http.post(self.path, json=body, headers=dict(self.headers), timeout=30)
        response.raise_for_status()
        assert response.headers["content-type"].startswith("text/event-stream")
        lines = [line.removeprefix("data: ") for line in response.text.split("\n\n") if line]
        return Run([json.loads(line) for line in lines])


@contextmanager
def agent_process(example: str, database: Path) -> Iterator[str]:
    """Start an agent of ``examples``; yield its URL, and kill it at the end, whatever it does then."""
    port = free_port()
    command = [sys.executable, str(ROOT / "examples" / f"{example}.py"), str(database), str(port)]
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL) as process:
        url = f"http://127.0.0.1:{port}"
        end = time.monotonic() + 60
        try:
            while not _answers(url):
                assert process.poll() is None, "the agent ended"
                assert time.monotonic() < end, "the agent did not start in time"
            yield url
        finally:
            process.kill()


def _answers(url: str) -> bool:
    try:
        httpx.get(url, timeout=5)
    except httpx.TransportError:
        time.sleep(0.05)
        return False
    return True
