"""What somebody had typed when their question was withdrawn."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from mcp_elicit_client.core.request import request_key
from mcp_elicit_client.typing import FormRequest

_KEPT = 8
"""How many drafts are kept, the latest."""


class Drafts:
    """
    Keeps what was typed, in case the server asks the same again.

    In memory only, the latest few; never what is hidden while it is typed.
    """

    def __init__(self) -> None:
        self._drafts: OrderedDict[str, dict[str, Any]] = OrderedDict()

    def keep(self, request: FormRequest, values: Mapping[str, Any]) -> None:
        """Keep *values* for the next time that *request* is asked."""
        shown = {field.name for field in request.form.fields if not field.is_hidden}
        kept = {name: value for name, value in values.items() if name in shown}
        if kept:
            self._drafts[_key(request)] = kept
            while len(self._drafts) > _KEPT:
                self._drafts.popitem(last=False)

    def take(self, request: FormRequest) -> dict[str, Any]:
        """Take back what was kept for *request*; nothing if there is nothing."""
        return self._drafts.pop(_key(request), {})


def _key(request: FormRequest) -> str:
    return f"{request.server.name} {request_key(request)}"
