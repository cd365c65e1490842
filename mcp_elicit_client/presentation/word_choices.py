"""The choices of a question that is answered with a word, and which of them a typed word means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mcp_elicit_client.core.text import fold_accents
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog, no_keys, yes_keys


class WordChoice(NamedTuple):
    """
    One of the answers to a question that is answered with a word.

    Attributes:
        id: Its name in English.
        word: What the user types, in the user's language.
        label: The text on its button.
        aliases: Other words for it, in any case.
    """

    id: str
    word: str
    label: str
    aliases: tuple[str, ...] = ()


class ChoiceMaker(NamedTuple):
    """Makes choices in the language of a catalog, about one server and one domain."""

    catalog: MessageCatalog
    server: str
    domain: str = ""

    def make(self, *names: str) -> list[WordChoice]:
        """Return the choices *names*; those that need other words have them after a colon: ``decline:no``."""
        return [self._one(*name.partition(":")[::2]) for name in names]

    def _one(self, name: str, shown: str) -> WordChoice:
        text = self.catalog.text
        label = text(messages.CHOICE_LABELS[shown or name], server=self.server, domain=self.domain)
        word = text(messages.CHOICE_WORDS[shown or name])
        return WordChoice(name, word, label, tuple(self._aliases(name, shown)))

    def _aliases(self, name: str, shown: str) -> Iterator[str]:
        yield name
        if shown:
            yield shown
            yield self.catalog.text(messages.CHOICE_WORDS[name])
        match shown or name:
            case "yes":
                yield from yes_keys(self.catalog)
            case "no":
                yield from no_keys(self.catalog)


def find_yes_or_no(typed: str, catalog: MessageCatalog) -> bool | None:
    """Return the yes or no that *typed* means, in English or in the language of *catalog*; None if it means neither."""
    choice = find_choice(typed, ChoiceMaker(catalog, server="").make("yes", "no"))
    return None if choice is None else choice == "yes"


def find_choice(typed: str, choices: Sequence[WordChoice]) -> str | None:
    """
    Return the ID of the choice that *typed* means; None if it means none, or several.

    A choice is typed in full or by a beginning that no other choice has, in
    English or in the language of the user, with or without accents and a
    slash.
    """
    word = fold_accents(" ".join(typed.split())).removeprefix("/")
    if not word:
        return None
    exact = {each.id for each in choices if word in map(fold_accents, (each.word, each.label, *each.aliases))}
    begun = {
        each.id for each in choices if any(fold_accents(name).startswith(word) for name in (each.word, *each.aliases))
    }
    found = exact or begun
    return found.pop() if len(found) == 1 else None
