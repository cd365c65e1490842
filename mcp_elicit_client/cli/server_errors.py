"""What went wrong with a server, in words: its error, and the end of its log."""

from __future__ import annotations

import os
import tempfile
from contextlib import AbstractContextManager
from typing import TextIO

import anyio

from mcp_elicit_client._concurrency import leaf_errors
from mcp_elicit_client.calls._connect import ConnectMode
from mcp_elicit_client.calls.server_errors import error_code
from mcp_elicit_client.cli import messages
from mcp_elicit_client.cli.common import quote
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.exceptions import CallError, HandshakeRequiredError
from mcp_elicit_client.presentation.catalog import MessageCatalog

_MAX_LOG = 100_000
_MAX_ERROR = 500
_LOG_LINES = 10
_INVALID_REQUEST = -32600


def open_log() -> AbstractContextManager[TextIO]:
    """Return a file for what a server process writes to standard error.  It is removed at the end of the block."""
    return tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")


def explain(error: BaseException, catalog: MessageCatalog, errlog: TextIO | None = None) -> str:
    """Return what failed, sanitized, with the last lines of the server's log."""
    texts = (_describe(each, catalog) for each in leaf_errors(error))
    causes = list(dict.fromkeys(sanitize_text(text, limit=_MAX_ERROR, multiline=False) for text in texts))
    lines = [catalog.text(messages.SERVER_FAILED, reason="; ".join(causes))]
    if errlog is not None:
        errlog.seek(max(0, errlog.seek(0, os.SEEK_END) - _MAX_LOG))
        tail = errlog.read().splitlines()[-_LOG_LINES:]
        shown = (sanitize_text(line, limit=_MAX_ERROR, multiline=False) for line in tail if line.strip())
        lines += [quote(line) for line in shown]
    return "\n".join(lines)


def needs_legacy(error: BaseException, mode: ConnectMode) -> bool:
    """Return True if the server may have failed because it supports only server-initiated requests."""
    return mode == "auto" and any(
        isinstance(each, HandshakeRequiredError) or error_code(each) == _INVALID_REQUEST for each in leaf_errors(error)
    )


def _describe(error: BaseException, catalog: MessageCatalog) -> str:
    if isinstance(error, (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream)):
        return catalog.text(messages.CONNECTION_CLOSED)
    if isinstance(error, HandshakeRequiredError):
        return catalog.text(messages.SERVER_INITIATED)
    if isinstance(error, CallError):
        return str(error)
    code = error_code(error)
    return f"{error} (error {code})" if code is not None else f"{type(error).__name__}: {error}"
