"""`Telemetry`: spans and metrics for OpenTelemetry, without text of the server."""

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
    A span and two metrics for each request.

    The span is ``elicitation/create``.  The counter ``mcp_elicit.requests``
    and the histogram ``mcp_elicit.duration``, in seconds, have the same
    attributes.  No attribute contains text of the server.

    Args:
        tracer_provider: Creates the tracer; None for the global provider.
        meter_provider: Creates the meter; None for the global provider.

    Raises:
        MissingExtraError: If the extra ``otel`` is not installed.
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
        self._requests = meter.create_counter("mcp_elicit.requests", "{request}", "Requests of servers")
        self._duration = meter.create_histogram("mcp_elicit.duration", "s", "Time for which requests were open")

    def policy(self, handler: Handler) -> Handler:
        """Wrap *handler*: call it within a span, and count the outcome."""
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
                outcome: dict[str, Any] = {"mcp_elicit.outcome": "withdrawn"}
                try:
                    answer = await ask(request)
                    outcome = _outcome(answer)
                except Exception as error:
                    outcome = {"mcp_elicit.outcome": "raised", "error.type": type(error).__name__}
                    span.set_status(StatusCode.ERROR)
                    raise
                else:
                    return answer
                finally:
                    span.set_attributes(outcome)
                    self._requests.add(1, {**asked, **outcome})
                    self._duration.record(time.perf_counter() - begin, {**asked, **outcome})

        return apply_policy(handler, trace)


def _asked(request: Request) -> dict[str, Any]:
    return {"mcp_elicit.server": request.server.name, "mcp_elicit.mode": request.mode}


def _shape(request: Request) -> dict[str, Any]:
    diagnostics = {"mcp_elicit.diagnostics": sorted({each.code for each in request.diagnostics})}
    if isinstance(request, FormRequest):
        return {**diagnostics, "mcp_elicit.fields": len(request.form.fields)}
    return {**diagnostics, "mcp_elicit.warnings": [warning.code for warning in request.target.warnings]}


def _outcome(answer: Answer) -> dict[str, Any]:
    outcome = {"mcp_elicit.outcome": "answered", "mcp_elicit.action": answer.action, "mcp_elicit.by": answer.by}
    return {**outcome, "mcp_elicit.policy": answer.policy} if answer.policy else outcome
