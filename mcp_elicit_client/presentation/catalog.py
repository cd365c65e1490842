"""
`MessageCatalog`: texts in the user's language, from gettext catalogs.

The source of a translation is ``locales/LANGUAGE/LC_MESSAGES/*.po``.  Where
only the source is present, as in a checkout, it is compiled at first use with
Babel and kept beside the source.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any

from mcp_elicit_client._arguments import check_type
from mcp_elicit_client.core import messages as core_messages
from mcp_elicit_client.core.messages import Message, english
from mcp_elicit_client.core.url.domains import UrlWarning
from mcp_elicit_client.core.validation.field_errors import FieldError, error_template
from mcp_elicit_client.presentation import languages, messages
from mcp_elicit_client.presentation.formatting import format_count, format_number
from mcp_elicit_client.presentation.messages import NO_KEYS, YES_KEYS

if TYPE_CHECKING:
    from gettext import NullTranslations

__all__ = ["ENGLISH", "MessageCatalog"]

DOMAIN = "mcp_elicit_client"
"""The gettext domain of the project's texts."""

LOCALES = Path(__file__).with_name("locales")
"""The directory of the translations."""

_logger = logging.getLogger("mcp_elicit_client")


class MessageCatalog:
    """
    Renders messages in one language, and numbers, dates and times by one locale.

    Catalogs are equal if they show the same.

    Attributes:
        language: The language as in its directory under ``locales``, such as
            ``de``; ``en`` for English.
        locale: The BCP 47 tag for numbers, dates and times, such as
            ``de-AT``; None for a decimal point and ISO 8601.

    Args:
        overrides: Texts of the host application by the English text that they
            replace.  A pair of texts is for the singular and the plural.
        locale: The locale.

    Raises:
        ValueError: If no message has an English text, or if an override has a
            parameter that its message lacks.

    Examples:
        >>> catalog = MessageCatalog(overrides={"Send": "Submit"})
    """

    def __init__(
        self, *, overrides: Mapping[str, str | tuple[str, str]] | None = None, locale: str | None = None
    ) -> None:
        self.language = "en"
        self.locale = locale
        self._translations: NullTranslations | None = None
        self._overrides = {
            text: _checked_override(text, Message(*((each,) if isinstance(each, str) else each)))
            for text, each in (overrides or {}).items()
        }

    @classmethod
    def for_language(
        cls,
        language: str,
        *,
        overrides: Mapping[str, str | tuple[str, str]] | None = None,
        locale: str | None = None,
    ) -> MessageCatalog:
        """
        Return the catalog of *language*, or the English one if there is no such translation.

        Args:
            language: A BCP 47 tag or a POSIX locale: ``de``, ``de-AT``,
                ``de_DE.UTF-8``.
            overrides: As in the constructor.
            locale: As in the constructor; None for the one in *language*.

        Raises:
            TypeError: If *language* is not a string.
        """
        check_type("language", language, str)
        catalog = cls(overrides=overrides, locale=locale or languages.to_tag(language))
        for name in languages.candidates(language):
            translations = None if name == "en" else _load(LOCALES / name / "LC_MESSAGES" / f"{DOMAIN}.po")
            if translations is not None:
                catalog.language, catalog._translations = name, translations
            if translations is not None or name == "en":
                break
        return catalog

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MessageCatalog) and self._key == other._key

    def __hash__(self) -> int:
        return hash((self.language, self.locale))

    @property
    def _key(self) -> tuple[object, ...]:
        return self.language, self.locale, self._overrides

    def text(self, message: Message, /, **parameters: object) -> str:
        """
        Return the text of *message* with its *parameters*.

        Args:
            message: The English text that is translated.
            parameters: Its parameters by name.

        Raises:
            TypeError: If *message* is a string: only a `Message` has
                translations.
        """
        check_type("message", message, Message, hint="Pass Message(text) of mcp_elicit_client.typing.")
        count: Any = parameters[message.counted] if message.counted else 1
        if self.locale is not None:
            parameters = {
                name: self._show(value, is_count=name == message.counted) for name, value in parameters.items()
            }
        return self._translate(message, count).format_map(parameters)

    def _show(self, value: object, *, is_count: bool) -> object:
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            return value
        if is_count and isinstance(value, int):
            return format_count(value, self.locale)
        return format_number(value, self.locale)

    def error(self, error: FieldError) -> str:
        """Return the sentence for *error*: what to enter."""
        return self.text(error_template(error), **error.params)

    def warning(self, warning: UrlWarning) -> str:
        """Return the sentence for *warning*."""
        return self.text(core_messages.URL_WARNINGS[warning.code], detail=warning.detail, domain=warning.domain)

    def _translate(self, message: Message, count: int) -> str:
        """Return *message* in the form for *count* things, without its parameters."""
        override = self._overrides.get(message.text)
        if override is not None:
            return english(override, count)
        if self._translations is None:
            return english(message, count)
        if message.plural:
            return self._translations.ngettext(message.text, message.plural, count)
        return self._translations.gettext(message.text)


ENGLISH = MessageCatalog()
"""The English catalog."""


def parameters_of(text: str) -> set[str]:
    """Return the names of the parameters in *text*."""
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


@cache
def _messages() -> Mapping[str, Message]:
    """Return all messages by their English text."""
    groups: list[object] = [*vars(messages).values(), *vars(core_messages).values()]
    found: dict[str, Message] = {}
    while groups:
        match groups.pop():
            case Message() as message:
                found[message.text] = message
            case Mapping() as group:
                groups += group.values()
    return found


def _checked_override(text: str, override: Message) -> Message:
    message = _messages().get(text)
    if message is None:
        raise ValueError(f"No message has the English text {text!r}. Copy the text from presentation/messages.py.")
    known = parameters_of(message.text) | parameters_of(message.plural)
    unknown = (parameters_of(override.text) | parameters_of(override.plural)) - known
    if unknown:
        raise ValueError(
            f"{override.text!r} has unknown parameters: {', '.join(sorted(unknown))}. Use those of the English text."
        )
    return override


def yes_keys(catalog: MessageCatalog) -> str:
    """Return the letters that mean yes."""
    return catalog.text(YES_KEYS)


def no_keys(catalog: MessageCatalog) -> str:
    """Return the letters that mean no."""
    return catalog.text(NO_KEYS)


def catalog_of_environment() -> MessageCatalog:
    """Return the catalog for the language and locale in ``LC_ALL``, ``LANG`` and the like."""
    return _catalog(*languages.from_environment(available_languages()))


def catalog_of_accept_language(header: str) -> MessageCatalog:
    """Return the catalog for the value of an ``Accept-Language`` header; it may be empty."""
    return _catalog(languages.from_accept_language(header, available_languages()))


@lru_cache(maxsize=32)
def _catalog(language: str, locale: str | None = None) -> MessageCatalog:
    return MessageCatalog.for_language(language, locale=locale)


@cache
def available_languages() -> tuple[str, ...]:
    """Return the languages of the included translations as BCP 47 tags, English first."""
    found = sorted(each.name for each in LOCALES.iterdir() if (each / "LC_MESSAGES").is_dir())
    return ("en", *(name.replace("_", "-") for name in found))


def _load(source: Path) -> NullTranslations | None:
    """Return the translations in *source*, compiled if necessary; None if there are none."""
    from gettext import GNUTranslations

    compiled = source.with_suffix(".mo")
    if _is_current(compiled, source):
        return GNUTranslations(io.BytesIO(compiled.read_bytes()))
    if not source.is_file():
        return None
    data = _compile(source)
    if data is not None:
        _keep(compiled, data)
        return GNUTranslations(io.BytesIO(data))
    if compiled.is_file():
        return GNUTranslations(io.BytesIO(compiled.read_bytes()))
    _logger.warning('The translation %s is not compiled. Install the extra "languages".', source.parts[-3])
    return None


def _is_current(compiled: Path, source: Path) -> bool:
    if not compiled.is_file():
        return False
    return not source.is_file() or compiled.stat().st_mtime_ns >= source.stat().st_mtime_ns


def _compile(source: Path) -> bytes | None:
    """Return *source* in gettext's binary format; None if Babel is not installed."""
    try:
        from babel.messages.mofile import write_mo  # type: ignore[import-not-found,unused-ignore]
        from babel.messages.pofile import read_po  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return None
    with source.open("rb") as file:
        catalog = read_po(file)
    data = io.BytesIO()
    write_mo(data, catalog)
    return data.getvalue()


def _keep(compiled: Path, data: bytes) -> None:
    """Write *data* atomically, where the directory is writable."""
    draft = compiled.with_suffix(f".{os.getpid()}")
    try:
        draft.write_bytes(data)
        draft.replace(compiled)
    except OSError:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
