"""Each question leaves one line, whatever becomes of it."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeAlias

from mcp_elicit_client.audit.chain import Checkpoint
from mcp_elicit_client.audit.events import EventEncoder
from mcp_elicit_client.audit.writer import LOCK_TIMEOUT, ChainWriter
from mcp_elicit_client.core.form import Form
from mcp_elicit_client.dispatch import NormalizedHandler, apply_policy
from mcp_elicit_client.exceptions import AuditError
from mcp_elicit_client.telemetry import Telemetry
from mcp_elicit_client.typing import Answer, Handler, Request

NAME = "audit"

OnFailure: TypeAlias = Literal["continue", "cancel"]
"""What becomes of questions that cannot be logged: they are asked all the same; or not, and nothing is accepted."""

_logger = logging.getLogger("mcp_elicit_client")


class AuditLog:
    """
    A log of every question and what became of it: a line of JSON each, chained with HMAC-SHA256.

    Use `policy` as a policy, the outermost.  There is no message and no
    answer in the log, and nothing that would let them be guessed, unless the
    host turns that on.  Threads and processes may share it.

    Args:
        path: The file.  Its folder must exist; what others may write is
            refused.
        key: What the lines are sealed with, at least 16 bytes.  None for a
            key that is made and kept beside the file, as ``<path>.key``: who
            can read that can rewrite the log.
        values: Write out what was answered, but for what seems to grant
            access or to authorise a payment.
        messages: Write out the server's messages.
        on_failure: What becomes of questions that cannot be logged.
        max_bytes: How large the file gets before it is put aside as
            ``<path>.1``, and that as ``<path>.2``.
        keep: How many files that were put aside are kept.
        host: What the host calls its user or session.
        fsync: Whether each event is on the disk before the answer leaves.
        clock: Tells the time, in seconds since 1970.
        telemetry: Whether OpenTelemetry gets a span and counts for each
            question, too; or what it gets them through.

    Raises:
        AuditError: If the file or its key is unsafe, or they do not fit.
        MissingExtraError: If there is to be telemetry, and no OpenTelemetry.
        ValueError: If the key is too short, or a bound makes no sense.
    """

    def __init__(  # noqa: PLR0913 -- what a host may want otherwise, all by keyword
        self,
        path: str | os.PathLike[str],
        *,
        key: bytes | None = None,
        include_values: bool = False,
        include_messages: bool = False,
        on_failure: OnFailure = "continue",
        max_bytes: int = 10 * 2**20,
        backup_count: int = 20,
        host: str | None = None,
        fsync: bool = False,
        clock: Callable[[], float] = time.time,
        telemetry: bool | Telemetry = False,
    ) -> None:
        if on_failure not in ("continue", "cancel"):
            raise ValueError(f'on_failure must be "continue" or "cancel", not {on_failure!r}')
        if max_bytes < 1 or backup_count < 0:
            raise ValueError("max_bytes must be at least 1, and keep at least 0")
        self._writer = ChainWriter(Path(path), key, max_bytes=max_bytes, backup_count=backup_count, fsync=fsync)
        self._host = host
        self._values = include_values
        self._messages = include_messages
        self._on_failure = on_failure
        self._clock = clock
        self._telemetry = Telemetry() if telemetry is True else telemetry or None
        self._known_teller: EventEncoder | None = None
        self._lost = 0
        self._is_failing = False
        try:
            self._writer.check()
        except OSError as error:
            self._fail(error)

    def policy(self, handler: Handler) -> Handler:
        """
        Ask *handler*, and log what becomes of it.

        An error of *handler* passes through, and so does cancellation.
        """
        audited = apply_policy(handler, self._answer)
        return audited if self._telemetry is None else self._telemetry.policy(audited)

    async def _answer(self, request: Request, ask: NormalizedHandler) -> Answer:
        if self._on_failure == "cancel" and not self._try(self._writer.check):
            return _unlogged()
        begin = time.perf_counter()
        try:
            answer = await ask(request)
        except BaseException as error:
            self._record(request, error, time.perf_counter() - begin)
            raise
        is_written = self._record(request, answer, time.perf_counter() - begin)
        if self._on_failure == "cancel" and answer.action == "accept" and not is_written:
            return _unlogged()
        return answer

    def checkpoint(self) -> Checkpoint:
        """
        Return the last line, whichever process wrote it, to be kept elsewhere.

        With it, `verify` can tell later that nothing up to there was cut off
        or rewritten, not even by somebody with the key.

        Raises:
            AuditError: If the log cannot be read.
        """
        try:
            return self._writer.last()
        except OSError as error:
            raise AuditError(f"the audit log {self._writer.path} cannot be read: {error.strerror}") from error

    def fingerprint(self, what: str | Form) -> str:
        """
        Return the ``message_id`` of a message, the ``url_id`` of a URL or the ``schema_id`` of a form.

        So the log can be searched for what it does not hold.

        Raises:
            AuditError: If the key cannot be used.
            OSError: If it can be neither read nor made.
        """
        return self._teller.text_id(what) if isinstance(what, str) else self._teller.schema_id(what)

    def close(self) -> None:
        """Let go of the files.  The next event opens them again."""
        self._writer.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {str(self._writer.path)!r}>"

    @property
    def _teller(self) -> EventEncoder:
        if self._known_teller is None:
            keys = self._writer.keys
            self._known_teller = EventEncoder(
                keys=keys, host=self._host, include_values=self._values, include_messages=self._messages
            )
        return self._known_teller

    def _record(self, request: Request, outcome: Answer | BaseException, seconds: float) -> bool:
        return self._try(
            lambda: self._writer.append(self._teller.request_event(request, outcome, self._clock(), seconds))
        )

    def _try(self, work: Callable[[], object]) -> bool:
        """Do *work* on the log; tell whether that went well.  It raises nothing: the host has said what then."""
        try:
            if self._is_failing:
                self._recover()
            work()
        except Exception as error:  # noqa: BLE001 -- see above
            self._lost += 1
            self._fail(error)
            return False
        return True

    def _recover(self) -> None:
        """Write how many events were lost; so it is known, too, that there is room again."""
        self._writer.append(self._teller.recovery_event(self._lost, self._clock()))
        _logger.error("the audit log %s can be written again; %d events are lost", self._writer.path, self._lost)
        self._is_failing = False
        self._lost = 0
        self._writer.lock_timeout = LOCK_TIMEOUT

    def _fail(self, error: Exception) -> None:
        if not self._is_failing:
            _logger.error("the audit log %s cannot be written: %s", self._writer.path, _in_words(error))
        self._is_failing = True
        self._writer.lock_timeout = 0  # whoever waited in vain once does not wait for every question


def audited(handler: Handler, log: AuditLog) -> Handler:
    """Ask *handler*, and write to *log* what becomes of it: ``log.policy(handler)``."""
    return log.policy(handler)


def _in_words(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or "I/O error"
    return str(error) if isinstance(error, AuditError) else type(error).__name__  # which may quote anything


def _unlogged() -> Answer:
    return Answer.cancel(by="error", policy=NAME, reason="the audit log cannot be written")
