"""What ``call --suspend`` and ``answer`` share: the stored settings of a call, and its caller."""

from __future__ import annotations

import argparse
import dataclasses
import json
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from mcp_elicit_client.calls import Caller, SuspendOptions
from mcp_elicit_client.cli.call_store import OpenStore
from mcp_elicit_client.cli.common import DEFAULT_TIMEOUT, explain_refusal, limits, report_unanswered
from mcp_elicit_client.cli.server_address import ServerAddress
from mcp_elicit_client.core.limits import DEFAULT_LIMITS, Limits
from mcp_elicit_client.core.url.inspect import UrlRules
from mcp_elicit_client.policies import protect_secrets
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.registry import ElicitationRegistry
from mcp_elicit_client.typing import Answer, Request


@dataclass(frozen=True, slots=True)
class CallSettings:
    """
    What is stored with a call, besides what the library stores.

    Attributes:
        timeout: How long it can be resumed, in seconds, from each request on.
        address: The server; None if it must be given again.
        allow_loopback: URLs on this computer are allowed.
        limits: The limits that differ from the defaults.
    """

    timeout: float = DEFAULT_TIMEOUT
    address: ServerAddress | None = None
    allow_loopback: bool = False
    limits: dict[str, Any] = dataclasses.field(default_factory=dict)

    @classmethod
    def of_call(cls, options: argparse.Namespace, address: ServerAddress, store: OpenStore) -> CallSettings:
        """
        Return the settings of a new call.

        The address is not stored if it may contain secrets, or if others can
        write to the store: they could name a command that is run later.
        """
        chosen = dataclasses.asdict(limits(options))
        changed = {name: value for name, value in chosen.items() if value != getattr(DEFAULT_LIMITS, name)}
        kept = address if store.is_private and not address.may_contain_secrets else None
        return cls(options.suspend_timeout or DEFAULT_TIMEOUT, kept, options.allow_loopback, changed)

    def write(self) -> str:
        """Return the settings as JSON."""
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def read(cls, text: str | None, store: OpenStore) -> CallSettings:
        """
        Read what `write` returned; the defaults if another program stored the call.

        An address in a store that others can write to is ignored.
        """
        if text is None:
            return cls()
        try:
            found: CallSettings = TypeAdapter(cls).validate_json(text)
        except ValueError:
            return cls()
        return found if store.is_private else dataclasses.replace(found, address=None)


class PushedRequests:
    """
    The handler of calls that are suspended: it is asked only for requests that cannot be, and cancels them.

    Attributes:
        requests: These requests.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []

    async def __call__(self, request: Request, /) -> Answer:
        """Note the request and cancel it."""
        self.requests.append(request)
        return Answer.cancel(by="unattended", reason="the call cannot be suspended for this request")


def make_caller(
    name: str, user: str, settings: CallSettings, pushed: PushedRequests, catalog: MessageCatalog
) -> Caller:
    """Return the caller of a suspended call, with the same rules in every process."""
    registry = ElicitationRegistry(
        limits=Limits(**settings.limits),
        url_rules=UrlRules(allow_loopback=settings.allow_loopback),
        policy=protect_secrets(action="warn"),
    )
    registry.on_elicitation(pushed)
    registry.notifier.on_refused = lambda error: report_unanswered(explain_refusal(error, catalog), catalog)
    return Caller(registry, name, user=user)


def suspend_options(store: OpenStore, settings: CallSettings) -> SuspendOptions:
    """Return where a call is suspended."""
    return SuspendOptions(
        store.inbox,
        resume_timeout=settings.timeout,
        task_timeout=settings.timeout,
        reference=settings.write(),
    )
