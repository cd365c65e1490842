"""`FormProgress`: where a conversation about a form stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from mcp_elicit_client.presentation.conversation.options import OptionView

FormStep: TypeAlias = Literal["start", "field", "review", "pick", "confirm"]
"""
What is asked.

``start``: to open the dialog with the whole form; ``field``: the value of a
field; ``review``: whether to send the answers; ``pick``: which field to
change; ``confirm``: whether to send answers with warnings.
"""


@dataclass(slots=True)
class FormProgress:
    """
    Where a conversation about a form stands.

    Attributes:
        turn: The number of the latest turn.  It is part of its buttons.
        step: What is asked.
        at: The index of the field that is asked.
        is_editing: The field is asked again, from the review.
        remembers: The user chose that the answer is given again to the same
            request.
        view: Which options, or fields, are shown and selected.
    """

    turn: int
    step: FormStep
    at: int = 0
    is_editing: bool = False
    remembers: bool = False
    view: OptionView = field(default_factory=OptionView)

    def to_json(self) -> dict[str, Any]:
        """Return the progress as JSON data."""
        return asdict(self)

    def restore(self, data: Mapping[str, Any], field_count: int) -> None:
        """
        Continue where `to_json` was called, in a form with *field_count* fields.

        Raises:
            ValueError: If *data* does not belong to the form.
            LookupError: The same.
            TypeError: The same.
        """
        at, step, view = int(data["at"]), data["step"], data["view"]
        if step not in get_args(FormStep) or not (step != "field" or 0 <= at < field_count):
            raise ValueError("the state belongs to another form")
        self.turn, self.step, self.at, self.is_editing = int(data["turn"]), step, at, bool(data["is_editing"])
        self.remembers = data["remembers"] is True
        self.view = OptionView(int(view["page"]), str(view["search"]), tuple(map(int, view["selected"])))
