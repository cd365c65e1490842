"""What scenarios are written with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from mcp_elicit_client.testing.fake_server import Delivery
from mcp_elicit_client.testing.results import Scenario
from mcp_elicit_client.testing.scenario_run import ScenarioRun

ACTIONS = "2025-11-25, client/elicitation, Response Actions"
SCHEMA = "2025-11-25, client/elicitation, Requested Schema"
MODES = "2025-11-25, client/elicitation, Elicitation Requests"
MODEL = "2025-11-25, client/elicitation, User Interaction Model"
SECURITY = "2025-11-25, client/elicitation, Security Considerations"
FORM_SECURITY = "2025-11-25, client/elicitation, Form Mode Security"
URLS = "2025-11-25, client/elicitation, Safe URL Handling"
URL_MODE = "2025-11-25, client/elicitation, URL Mode Elicitation Requests"

VALIDATE = '"Clients SHOULD validate all responses against the provided schema"'
PREFILL = '"Clients that support defaults SHOULD pre-populate form fields with these values"'

BOTH: tuple[Delivery, ...] = ("server-initiated", "multi-round-trip")
PUSH: tuple[Delivery, ...] = ("server-initiated",)

Run = Callable[[ScenarioRun], Awaitable[None]]

TEXT: dict[str, Any] = {"type": "string", "title": "Your name"}
NAME = "Ada Lovelace"

HOST = "login.example"
ADDRESS = f"https://{HOST}/authorise?ticket=4711"


class Group:
    """
    Scenarios about one thing.

    Args:
        name: What they are about.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.scenarios: list[Scenario] = []

    def add(  # noqa: PLR0913 -- all by keyword
        self,
        name: str,
        title: str,
        run: Run,
        *,
        because: str,
        source: str,
        deliveries: tuple[Delivery, ...] = BOTH,
        hang_fails: bool = False,
    ) -> None:
        """Add one."""
        self.scenarios.append(
            Scenario(
                name=name,
                title=title,
                because=because,
                source=source,
                group=self.name,
                run=run,
                deliveries=deliveries,
                hang_fails=hang_fails,
            )
        )

    def scenario(self, name: str, title: str, **details: Any) -> Callable[[Run], Run]:
        """Add the function that is decorated."""

        def decorate(run: Run) -> Run:
            self.add(name, title, run, **details)
            return run

        return decorate


def form(*required: str, message: str = "Please fill this in", **properties: Any) -> dict[str, Any]:
    """Make the params of a form; its properties by keyword."""
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"mode": "form", "message": message, "requestedSchema": schema}


def visit(url: str = ADDRESS, message: str = "Please sign in") -> dict[str, Any]:
    """Make the params of a URL request."""
    return {"mode": "url", "message": message, "url": url, "elicitationId": "4711"}


CONFIRM = form(message="Delete all 4711 files?")
"""A bare confirmation: a form without fields."""
