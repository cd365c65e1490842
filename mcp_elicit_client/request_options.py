"""`RequestOptions`: the limits, URL rules and modes with which requests are read."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from dataclasses import dataclass

from mcp_elicit_client._arguments import check_texts, check_type
from mcp_elicit_client.core.limits import DEFAULT_LIMITS, Limits
from mcp_elicit_client.core.url.inspect import DEFAULT_URL_RULES, UrlRules
from mcp_elicit_client.typing import Mode

MODES: frozenset[Mode] = frozenset({"form", "url"})
"""Both modes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestOptions:
    """
    Limits, URL rules and modes used to read requests.

    Attributes:
        limits: Maximum sizes and counts.
        url_rules: URLs that are allowed beyond public https.
        report_outcome: Tell the server, in the result's ``_meta``, who
            decided: the user, or a policy and which.
        modes: The modes that the session declares.  Requests in another mode
            are refused.  None to accept both.

    Raises:
        TypeError: If an option is of the wrong type.
        ValueError: If *modes* contains anything but modes.
    """

    limits: Limits = DEFAULT_LIMITS
    url_rules: UrlRules = DEFAULT_URL_RULES
    report_outcome: bool = False
    modes: Collection[Mode] | None = None

    def __post_init__(self) -> None:
        check_type("limits", self.limits, Limits)
        check_type("url_rules", self.url_rules, UrlRules)
        check_type("report_outcome", self.report_outcome, bool)
        if self.modes is not None:
            check_texts("modes", self.modes)
            object.__setattr__(self, "modes", frozenset(self.modes))
            if not MODES.issuperset(self.modes):
                raise ValueError(f'`modes` must be a collection of "form" and "url", not {self.modes!r}.')


DEFAULT_REQUEST_OPTIONS = RequestOptions()


def check_inner_options(outer: RequestOptions, inner: RequestOptions) -> None:
    """
    Refuse *inner* options that would have no effect inside of *outer* ones.

    The stricter of two options applies.  An inner option that allows more
    than the default therefore never applies where the outer one is the
    default.  Outer options that were set on purpose narrow the inner ones.

    Raises:
        ValueError: If there are options without effect.
    """
    layers = (
        (outer, DEFAULT_REQUEST_OPTIONS, inner),
        (outer.limits, DEFAULT_LIMITS, inner.limits),
        (outer.url_rules, DEFAULT_URL_RULES, inner.url_rules),
    )
    names = [name for mine, default, theirs in layers for name in _without_effect(mine, default, theirs)]
    if names:
        raise ValueError(
            f"The handler contains a registry or Caller that allows more than what contains it "
            f"({', '.join(names)}). Set the same values in both, or pass them as `request_options`."
        )


def modes_within(options: RequestOptions, modes: Collection[Mode]) -> frozenset[Mode]:
    """Return those of *modes* that *options* allow."""
    return frozenset(modes).intersection(MODES if options.modes is None else options.modes)


def _without_effect(outer: object, default: object, inner: object) -> list[str]:
    names = [field.name for field in dataclasses.fields(default)]  # type: ignore[arg-type]
    return [
        name
        for name in names
        if getattr(outer, name) == getattr(default, name) and _allows_more(getattr(inner, name), getattr(default, name))
    ]


def _allows_more(value: object, default: object) -> bool:
    if isinstance(value, bool):
        return value != default
    return isinstance(value, int) and isinstance(default, int) and value > default
