"""`Drafts`: what the user had entered when a request was withdrawn or cancelled."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

from mcp_elicit_client.core.request import request_key
from mcp_elicit_client.presentation.form_input import FieldInput, is_omitted
from mcp_elicit_client.typing import FormRequest

_MAX_DRAFTS = 8


class Drafts:
    """
    The latest drafts, in case a server sends the same request again.

    They are kept in memory only.  Fields whose input is hidden are not kept.
    A field that was cleared is kept if it has a default, which would return.
    """

    def __init__(self) -> None:
        self._drafts: OrderedDict[str, dict[str, FieldInput]] = OrderedDict()

    def keep(self, request: FormRequest, inputs: Mapping[str, FieldInput]) -> None:
        """Keep *inputs*, by field name, for the next time that the server sends *request*."""
        kept = {
            field.name: inputs[field.name]
            for field in request.form.fields
            if field.name in inputs and not field.is_hidden
            if field.default is not None or not is_omitted(field, inputs[field.name])
        }
        if kept:
            self._drafts[request_key(request)] = kept
            while len(self._drafts) > _MAX_DRAFTS:
                self._drafts.popitem(last=False)

    def take(self, request: FormRequest) -> dict[str, FieldInput]:
        """Remove and return the draft of *request*; may be empty."""
        return self._drafts.pop(request_key(request), {})
