"""What was wrong with a request or an answer, but survivable."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Problem(BaseModel):
    """
    Something wrong that did not stand in the way.

    Attributes:
        code: One stable word (listed in ``docs/reference.md``).
        message: A sentence for developers, safe to show.
        field: The name of the field it is about, as the server spells it;
            None if it is about none.
    """

    model_config = ConfigDict(frozen=True)

    code: str
    message: str
    field: str | None = None
