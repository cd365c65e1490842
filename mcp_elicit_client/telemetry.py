"""Spans and counts for OpenTelemetry, without a word of the server's."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from mcp_elicit_client.dispatch import NormalizedHandler, apply_policy
from mcp_elicit_client.exceptions import MissingExtraError
from mcp_elicit_client.typing import Answer, FormRequest, Handler, Request

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

NAME = "mcp_elicit_client"


class Telemetry:
    """
    A span and two measurements for each question.

    The span is ``elicitation/create``; the counter
    ``mcp_elicit.questions`` and the histogram ``mcp_elicit.duration``, in
    seconds, have the same attributes.  Nothing that a server wrote is in any.

    Args:
        tracer_provider: Where spans go; None for the process's own.
        meter_provider: Where measurements go; None for the process's own.

    Raises:
        MissingExtraError: If OpenTelemetry's API is not installed.
    """

    def __init__(
        self, *, tracer_provider: TracerProvider | None = None, meter_provider: MeterProvider | None = None
    ) -> None:
        try:
            from opentelemetry import metrics, trace
        except ImportError:
            raise MissingExtraError("otel", "telemetry") from None
        self._tracer = trace.get_tracer(NAME, tracer_provider=tracer_provider)
        meter = metrics.get_meter(NAME, meter_provider=meter_provider)
        self._questions = meter.create_counter("mcp_elicit.questions", "{question}", "Questions that servers asked")
        self._duration = meter.create_histogram("mcp_elicit.duration", "s", "How long questions were open")

    def policy(self, handler: Handler) -> Handler:
        """Ask *handler* within a span, and count what becomes of it."""
        from opentelemetry.trace import SpanKind, StatusCode

        async def trace(request: Request, ask: NormalizedHandler) -> Answer:
            asked = _asked(request)
            begin = time.perf_counter()
            with self._tracer.start_as_current_span(
                "elicitation/create",
                kind=SpanKind.SERVER,
                attributes={"mcp.method.name": "elicitation/create", **asked, **_shape(request)},
                record_exception=False,
                set_status_on_exception=False,
            ) as span:
                told: dict[str, Any] = {"mcp_elicit.outcome": "withdrawn"}
                try:
                    answer = await ask(request)
                    told = _answered(answer)
                except Exception as error:
                    told = {"mcp_elicit.outcome": "raised", "error.type": type(error).__name__}
                    span.set_status(StatusCode.ERROR)
                    raise
                else:
                    return answer
                finally:
                    span.set_attributes(told)
                    self._questions.add(1, {**asked, **told})
                    self._duration.record(time.perf_counter() - begin, {**asked, **told})

        return apply_policy(handler, trace)


def _asked(request: Request) -> dict[str, Any]:
    return {"mcp_elicit.server": request.server.name, "mcp_elicit.mode": request.mode}


def _shape(request: Request) -> dict[str, Any]:
    told: dict[str, Any] = {"mcp_elicit.findings": sorted({problem.code for problem in request.diagnostics})}
    if isinstance(request, FormRequest):
        return {**told, "mcp_elicit.fields": len(request.form.fields)}
    return {**told, "mcp_elicit.warnings": [warning.code for warning in request.target.warnings]}


def _answered(answer: Answer) -> dict[str, Any]:
    told = {"mcp_elicit.outcome": "answered", "mcp_elicit.action": answer.action, "mcp_elicit.by": answer.by}
    return {**told, "mcp_elicit.policy": answer.policy} if answer.policy else told
