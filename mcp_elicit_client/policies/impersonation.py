"""`flag_impersonation`: servers that report the name of another server, product or role."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable

from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.url.domains import LOOKALIKES
from mcp_elicit_client.dispatch import NormalizedHandler, apply_policy
from mcp_elicit_client.typing import Answer, Policy, Request

NAME = "impersonation"

RESERVED = (
    *("system", "operating system", "administrator", "admin", "root", "security", "support", "helpdesk"),
    *("claude", "anthropic", "chatgpt", "openai", "copilot", "gemini", "cursor", "codex", "assistant"),
    *("windows", "macos", "apple", "google", "microsoft", "github", "linux", "ubuntu", "terminal", "browser"),
)
"""Names that no server should report: of operating systems, host applications and roles."""

_LEET = str.maketrans(
    {"0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "8": "b", "|": "l", "!": "i", "$": "s"}
)


def skeleton(name: str) -> str:
    """
    Reduce *name* so that names that look alike become equal.

    Look-alike letters of other alphabets, digits in place of letters, case,
    spaces, accents and invisible characters make no difference.

    Examples:
        >>> skeleton("C 1AUDE") == skeleton("claude")
        True
    """
    text = unicodedata.normalize("NFKD", name).casefold()
    text = "".join(LOOKALIKES.get(character, character) for character in text).translate(_LEET)
    text = "".join(character for character in text if character.isalnum())
    return text.replace("rn", "m").replace("vv", "w").replace("l", "i").replace("j", "i")


def flag_impersonation(*, known_names: Collection[str] = (), reserved: Iterable[str] = RESERVED) -> Policy:
    """
    Warn the user if the name that a server reports resembles that of another server, product or role.

    The request gets a `Diagnostic` with the code ``impersonation``.  It is
    shown under the name that the host application gave the server.

    Args:
        known_names: The names that the host application uses for its servers
            and for itself.
        reserved: Names that no server should report.
    """
    others = {skeleton(name): name for name in known_names}
    taken = {skeleton(name) for name in reserved}

    async def flag(request: Request, ask: NormalizedHandler) -> Answer:
        message = _imitation(request, others, taken)
        if message is None:
            return await ask(request)
        found = Diagnostic(code="impersonation", message=message)
        answer = await ask(request.model_copy(update={"diagnostics": (*request.diagnostics, found)}))
        return answer.model_copy(update={"diagnostics": (*answer.diagnostics, found)})

    return lambda handler: apply_policy(handler, flag)


def _imitation(request: Request, others: dict[str, str], taken: set[str]) -> str | None:
    claimed = request.server.claimed_name
    if not claimed:
        return None
    claim, own = skeleton(claimed), skeleton(request.server.name)
    if claim == own:
        return (
            None if claimed.casefold() == request.server.name.casefold() or claimed.isascii() else _LOOK_ALIKE_LETTERS
        )
    if claim in others:
        return f"The name reported by the server resembles {others[claim]}, another server."
    words = {skeleton(word) for word in claimed.replace("_", " ").replace("-", " ").replace("(", " ").split()}
    if claim in taken or words & taken:
        return "The name reported by the server resembles a well-known product or role."
    return None


_LOOK_ALIKE_LETTERS = "The name reported by the server uses look-alike letters."
