"""Default answer timeouts: how long a user has for a request, and how far the user can extend that."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_elicit_client.core.request import FormRequest, UrlRequest

MIN_TIMEOUT = 240.0
"""The default answer timeout of a short form and of a URL, in seconds."""

MAX_TIMEOUT = 1_800.0
"""The default answer timeout of the longest form, in seconds."""

SECONDS_PER_FIELD = 40.0
"""The time for each field of a form, in seconds."""

MAX_EXTENSIONS = 10
"""How often a user can extend a deadline, each time by the whole answer timeout (WCAG 2.2.1)."""


def default_answer_timeout(request: FormRequest | UrlRequest) -> float:
    """Return the seconds that a user has for *request* by default: in proportion to its form."""
    fields = len(request.form.fields) if request.mode == "form" else 0
    return min(max(MIN_TIMEOUT, SECONDS_PER_FIELD * fields), MAX_TIMEOUT)


def latest_deadline(started_at: datetime, deadline: datetime) -> datetime:
    """Return until when a user can extend *deadline* of a request that was shown at *started_at*."""
    return deadline + MAX_EXTENSIONS * (deadline - started_at)
