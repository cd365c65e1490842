"""The commands ``/remembered`` and ``/forget``: list and revoke remembered answers between two calls."""

from __future__ import annotations

from collections.abc import Iterator

from mcp_elicit_client.cli import messages
from mcp_elicit_client.cli.common import output_width, quote
from mcp_elicit_client.policies import RememberedAnswers
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.messages import NO_REMEMBERED_ANSWERS
from mcp_elicit_client.presentation.quoting import sentence
from mcp_elicit_client.presentation.remembering import describe_remembered

_LIST = "/remembered"
_FORGET = "/forget"
_ALL = "all"


def remembered_lines(typed: str, remembered: RememberedAnswers, catalog: MessageCatalog) -> list[str] | None:
    """
    Run the command that *typed* is, and return what to print; None if it is no command about remembered answers.

    ``/remembered`` lists them, ``/forget N`` revokes one, ``/forget all`` all.
    """
    command, _, which = typed.partition(" ")
    if command == _LIST:
        return list(_list(remembered, catalog))
    if command != _FORGET:
        return None
    return [_forget(which.strip(), remembered, catalog)]


def remembered_hint(remembered: RememberedAnswers, catalog: MessageCatalog) -> str:
    """Return how to list and revoke the remembered answers; empty if there are none."""
    count = len(remembered.list())
    return catalog.text(messages.REMEMBERED_HINT, count=count) if count else ""


def _list(remembered: RememberedAnswers, catalog: MessageCatalog) -> Iterator[str]:
    answers = remembered.list()
    if not answers:
        yield catalog.text(NO_REMEMBERED_ANSWERS)
    for number, answer in enumerate(answers, 1):
        shown = describe_remembered(answer, catalog)
        yield sentence(f"{number}. {shown.server}: {shown.decision} {shown.expires}", output_width())
        yield quote(shown.message)
        for name, value in shown.values:
            yield quote(f"{name}: {value}")


def _forget(which: str, remembered: RememberedAnswers, catalog: MessageCatalog) -> str:
    answers = remembered.list()
    if which == _ALL:
        return catalog.text(messages.FORGOTTEN, count=remembered.revoke_all())
    if not answers:
        return catalog.text(NO_REMEMBERED_ANSWERS)
    numbered = {str(number): answer for number, answer in enumerate(answers, 1)}
    if which not in numbered:
        return catalog.text(messages.FORGET_WHICH, count=len(answers))
    remembered.revoke(numbered[which].id)
    return catalog.text(messages.FORGOTTEN, count=1)
