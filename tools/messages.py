"""
Update the translations: every message of the user interfaces has an entry in each language.

``python -m tools.messages`` adds the missing entries, removes those that are no
longer used, sorts the rest by their English text, and lists what has no
translation.  ``python -m tools.messages LANGUAGE`` also adds a language.
"""

from __future__ import annotations

import ast
import functools
import io
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_elicit_client.core.messages import Message
from mcp_elicit_client.presentation.catalog import DOMAIN, LOCALES

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog
    from babel.messages.catalog import Message as CatalogMessage

PACKAGE = Path(__file__).parent.parent / "mcp_elicit_client"

HEADER = r"""msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\n"
"Content-Transfer-Encoding: 8bit\n"
"Language: {catalog.locale_identifier}\n"
"Plural-Forms: {catalog.plural_forms}\n"

"""


@functools.cache
def messages_in_the_package() -> frozenset[Message]:
    """Return every `Message` that the package contains; read from the source."""
    texts = (path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    trees = (ast.parse(text) for text in texts if "Message(" in text)
    calls = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call))
    return frozenset(
        Message(*map(ast.literal_eval, call.args))
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id == "Message" and isinstance(call.args[0], ast.Constant)
    )


def read_translations(language: str) -> Catalog:
    """Return the translations into *language*."""
    from babel.messages.pofile import read_po

    with source_of(language).open("rb") as file:
        return read_po(file)


def source_of(language: str) -> Path:
    """Return the file with the translations into *language*."""
    return LOCALES / language / "LC_MESSAGES" / f"{DOMAIN}.po"


def updated(catalog: Catalog, messages: Collection[Message]) -> Catalog:
    """Return *catalog* with one entry for each of *messages*, as far as possible with its translation."""
    from babel.messages.catalog import Catalog

    new = Catalog(locale=catalog.locale)
    # Those of the file: versions of Babel differ in the plural forms of a language.
    new.mime_headers = [("Plural-Forms", catalog.plural_forms)]
    for message in messages:
        msgid = (message.text, message.plural) if message.plural else message.text
        old = catalog.get(message.text)
        new.add(msgid, old.string if old is not None and old.id == msgid else None)
    return new


def write(catalog: Catalog, path: Path) -> None:
    """Write *catalog* with a header that changes only with the language."""
    from babel.messages.pofile import write_po

    data = io.BytesIO()
    write_po(data, catalog, width=120, sort_output=True, omit_header=True)
    path.write_bytes(HEADER.format(catalog=catalog).encode() + data.getvalue())


def untranslated(catalog: Catalog) -> list[str]:
    """Return the English texts that have no translation in *catalog*."""
    return [
        each.id if isinstance(each.id, str) else each.id[0] for each in catalog if each.id and not all(strings_of(each))
    ]


def strings_of(entry: CatalogMessage) -> tuple[str, ...]:
    """Return the translations of *entry*: one, or one for each plural form."""
    match entry.string:
        case None:
            return ("",)
        case str() as string:
            return (string,)
        case strings:
            return tuple(strings)


def is_language(code: str) -> bool:
    """Return True if *code* is a language that Babel knows, such as ``pt`` or ``pt_BR``."""
    from babel import Locale, UnknownLocaleError

    try:
        Locale.parse(code)
    except (UnknownLocaleError, ValueError):
        return False
    return True


def main(added: Sequence[str] = ()) -> int:
    from babel.messages.catalog import Catalog

    if unknown := [language for language in added if not is_language(language)]:
        print(f"Unknown language: {unknown[0]!r}. Pass the code of a language, such as pt or pt_BR.", file=sys.stderr)
        return 2
    messages = messages_in_the_package()
    missing = 0
    for language in added:
        source_of(language).parent.mkdir(parents=True, exist_ok=True)
    for language in sorted(each.name for each in LOCALES.iterdir() if each.is_dir()):
        is_new = not source_of(language).exists()
        catalog = updated(Catalog(locale=language) if is_new else read_translations(language), messages)
        write(catalog, source_of(language))
        for text in untranslated(catalog):
            missing += 1
            print(f"{language}: {text}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
