"""What the user entered, as JSON: for conversations that are continued in another process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp_elicit_client.presentation.form_input import FieldInput, Intent, Selection


def inputs_to_json(inputs: Mapping[str, FieldInput]) -> dict[str, Any]:
    """Return *inputs*, by field name, as JSON data."""
    return {name: _to_json(given) for name, given in inputs.items()}


def inputs_from_json(data: Any) -> dict[str, FieldInput]:
    """
    Read what `inputs_to_json` returned.

    Raises:
        ValueError: If *data* is something else.
    """
    if not isinstance(data, dict):
        raise ValueError("not the inputs of a conversation")  # noqa: TRY004 -- a value of JSON
    return {str(name): _from_json(each) for name, each in data.items()}


def _to_json(given: FieldInput) -> Any:
    match given:
        case str():
            return given
        case Selection(values):
            return {"selected": list(values)}
        case Intent():
            return {"intent": given.value}


def _from_json(data: Any) -> FieldInput:
    match data:
        case str():
            return data
        case {"selected": [*values]}:
            return Selection(tuple(values))
        case {"intent": str(name)}:
            return Intent(name)
    raise ValueError("not an input of a conversation")
