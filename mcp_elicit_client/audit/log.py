"""`AuditLog`: the policy that writes one line for each request."""

from __future__ import annotations

import functools
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import NoneType
from typing import Literal

from mcp_elicit_client._arguments import check_int, check_sync, check_type
from mcp_elicit_client._files import LOCK_TIMEOUT
from mcp_elicit_client.audit.chain import Checkpoint
from mcp_elicit_client.audit.events import AnswerDetails, EventEncoder, loggable_values, unfit_codes
from mcp_elicit_client.audit.files import MAX_BACKUPS
from mcp_elicit_client.audit.writer import ChainWriter
from mcp_elicit_client.core.form import Form
from mcp_elicit_client.dispatch import NormalizedHandler, apply_policy
from mcp_elicit_client.exceptions import AuditError
from mcp_elicit_client.telemetry import Telemetry
from mcp_elicit_client.typing import Answer, Handler, Request

NAME = "audit"

_logger = logging.getLogger("mcp_elicit_client")


class AuditLog:
    """
    A tamper-evident log of every request and its answer: lines of JSON, chained with HMAC-SHA256.

    Use `policy` as the outermost policy.  By default, the log contains
    neither messages nor answers, nor anything from which they could be
    guessed.  Threads and processes may share it.

    Args:
        path: The file.  Its folder must exist.  Files that other users can
            write to are refused.
        key: The key, at least 16 bytes; None to create a key beside the
            file, as ``<path>.key``.  Users who can read it can rewrite the
            log.
        include_values: Include answers, except sensitive data.
        include_messages: Include the server's messages.
        on_failure: If a request cannot be logged: continue, or cancel it.
        max_bytes: The size of the file, in bytes, before it is rotated to
            ``<path>.1``, and that to ``<path>.2``.
        backup_count: The number of rotated files that are kept, at most 99 999.
        host: The host application's name for its user or session.
        fsync: Write each event to the disk before the answer is sent.
        clock: Returns the time, in seconds since 1970.
        telemetry: Also report spans and metrics to OpenTelemetry; or the
            `Telemetry` that reports them.

    Raises:
        AuditError: If the file or its key is unsafe, or they do not fit.
        MissingExtraError: If telemetry is enabled, and OpenTelemetry is not
            installed.
        TypeError: If an argument is of the wrong type.
        ValueError: If the key is too short, or a limit is out of range.
    """

    def __init__(  # noqa: PLR0913 -- options with defaults, all by keyword
        self,
        path: str | os.PathLike[str],
        *,
        key: bytes | None = None,
        include_values: bool = False,
        include_messages: bool = False,
        on_failure: Literal["continue", "cancel"] = "continue",
        max_bytes: int = 10 * 2**20,
        backup_count: int = 20,
        host: str | None = None,
        fsync: bool = False,
        clock: Callable[[], float] = time.time,
        telemetry: bool | Telemetry = False,
    ) -> None:
        if on_failure not in ("continue", "cancel"):
            raise ValueError(f'`on_failure` must be "continue" or "cancel", not {on_failure!r}.')
        check_type("path", path, str, os.PathLike)
        check_type("include_values", include_values, bool)
        check_type("include_messages", include_messages, bool)
        check_type("fsync", fsync, bool)
        check_int("max_bytes", max_bytes, 1)
        check_int("backup_count", backup_count)
        if backup_count > MAX_BACKUPS:
            raise ValueError(f"`backup_count` must be at most {MAX_BACKUPS}, not {backup_count}.")
        check_type("host", host, str, NoneType)
        check_sync("clock", clock)
        check_type("telemetry", telemetry, bool, Telemetry)
        self._writer = ChainWriter(
            Path(path).absolute(), key, max_bytes=max_bytes, backup_count=backup_count, fsync=fsync
        )
        self._host = host
        self._values = include_values
        self._messages = include_messages
        self._on_failure = on_failure
        self._clock = clock
        self._telemetry = Telemetry() if telemetry is True else telemetry or None
        self._lost = 0
        self._is_failing = False
        try:
            self._writer.check()
        except OSError as error:
            self._fail(error)

    def policy(self, handler: Handler) -> Handler:
        """
        Wrap *handler*: call it, and log the answer.

        Errors of *handler* and cancellation pass through.
        """
        audited = apply_policy(handler, self._answer)
        return audited if self._telemetry is None else self._telemetry.policy(audited)

    async def _answer(self, request: Request, ask: NormalizedHandler) -> Answer:
        if self._on_failure == "cancel" and not self._try(self._writer.check):
            return _unlogged()
        begin = time.perf_counter()
        try:
            answer = await ask(request)
            values = await loggable_values(request, answer) if self._values else {}
            details = AnswerDetails(values, await unfit_codes(request, answer))
        except BaseException as error:
            self._record(request, error, time.perf_counter() - begin, AnswerDetails())
            raise
        is_written = self._record(request, answer, time.perf_counter() - begin, details)
        if self._on_failure == "cancel" and answer.action == "accept" and not is_written:
            return _unlogged()
        return answer

    def checkpoint(self) -> Checkpoint:
        """
        Return the last line of all processes.  Store it elsewhere.

        It proves later that no line up to it was removed or rewritten, not
        even with the key: see `verify`.

        Raises:
            AuditError: If the log cannot be read.
        """
        try:
            return self._writer.last()
        except OSError as error:
            raise AuditError(f"The audit log {self._writer.path} cannot be read: {error.strerror}.") from error

    def fingerprint(self, what: str | Form) -> str:
        """
        Return the ``user_id`` of a user, the ``message_id``, the ``url_id`` of a URL or the ``schema_id`` of a form.

        So the log can be searched for what it does not hold.

        Raises:
            AuditError: If the key cannot be used.
            OSError: If it can be neither read nor made.
            TypeError: If *what* is neither a string nor a form.
        """
        check_type("what", what, str, Form)
        return self._encoder.text_id(what) if isinstance(what, str) else self._encoder.schema_id(what)

    def close(self) -> None:
        """Close the files.  The next event opens them again."""
        self._writer.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {str(self._writer.path)!r}>"

    @functools.cached_property
    def _encoder(self) -> EventEncoder:
        return EventEncoder(keys=self._writer.keys, host=self._host, include_messages=self._messages)

    def _record(
        self, request: Request, outcome: Answer | BaseException, seconds: float, details: AnswerDetails
    ) -> bool:
        return self._try(
            lambda: self._writer.append(self._encoder.request_event(request, outcome, self._clock(), seconds, details))
        )

    def _try(self, work: Callable[[], object]) -> bool:
        """Return True if *work* succeeds.  Errors are logged; `on_failure` decides what follows."""
        try:
            if self._is_failing:
                self._recover()
            work()
        except Exception as error:  # noqa: BLE001 -- logged
            self._lost += 1
            self._fail(error)
            return False
        return True

    def _recover(self) -> None:
        """Write how many events were lost.  This also shows that the log can be written again."""
        lost, self._lost = self._lost, 0  # another thread may do this at the same time, and reports none
        try:
            self._writer.append(self._encoder.recovery_event(lost, self._clock()))
        except Exception:
            self._lost += lost
            raise
        _logger.error("the audit log %s can be written again; %d events were lost", self._writer.path, lost)
        self._is_failing = False
        self._writer.lock_timeout = LOCK_TIMEOUT

    def _fail(self, error: Exception) -> None:
        if not self._is_failing:
            _logger.error("the audit log %s cannot be written: %s", self._writer.path, _in_words(error))
        self._is_failing = True
        self._writer.lock_timeout = 0  # do not wait with every request


def _in_words(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or "I/O error"
    return str(error) if isinstance(error, AuditError) else type(error).__name__  # other texts may quote values


def _unlogged() -> Answer:
    return Answer.cancel(by="error", policy=NAME, reason="the audit log cannot be written")
