"""Messages and their translations."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType

import pytest

from mcp_elicit_client.cli import messages as cli_messages
from mcp_elicit_client.core import messages as core_messages
from mcp_elicit_client.core.messages import Message
from mcp_elicit_client.core.validation.field_errors import field_error
from mcp_elicit_client.core.validation.formats import FORMATS
from mcp_elicit_client.presentation import catalog as catalogs
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import ENGLISH, LOCALES, MessageCatalog, parameters_of, yes_keys
from tests.support import ROOT, needs_babel, skip_or_fail
from tools.messages import main as add_languages
from tools.messages import messages_in_the_package, read_translations, strings_of

PACKAGE = ROOT / "mcp_elicit_client"
LANGUAGES = sorted(each.name for each in LOCALES.iterdir() if each.is_dir())


@needs_babel
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_message_of_the_user_interfaces_is_translated_and_every_translation_is_used(language: str) -> None:
    ids = {message.text: message for message in messages_in_the_package()}
    translated = {
        each.id if isinstance(each.id, str) else each.id[0]: each for each in read_translations(language) if each.id
    }

    # The texts of a new format are in English until they are translated.
    formats = {message.text for row in FORMATS.values() for message in (row.error, row.name)}
    assert set(translated) <= set(ids)
    assert set(ids) - set(translated) <= formats
    for text, each in translated.items():
        assert ids[text].plural == ("" if isinstance(each.id, str) else each.id[1])
        strings = strings_of(each)
        if text in formats and not any(strings):  # `tools.messages` added it
            continue
        assert all(strings), text
        for string in strings:
            assert parameters_of(string) == parameters_of(text), string
            assert not string.startswith("|"), string  # only quotations do
        assert not each.fuzzy


@needs_babel
@pytest.mark.parametrize("language", ["xx", "xx-unknown", "--help", ""])
def test_a_language_that_is_unknown_is_not_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], language: str
) -> None:
    monkeypatch.setattr("tools.messages.LOCALES", tmp_path)

    assert add_languages([language]) == 2
    assert f"Unknown language: {language!r}." in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@needs_babel
def test_french_punctuation_is_never_at_the_beginning_of_a_line() -> None:
    strings = [string for each in read_translations("fr") if each.id for string in strings_of(each)]

    # A narrow no-break space is before ; ! and ?, and a no-break space before : and » and after «.
    assert [each for each in strings if re.search("[^\u202f][;!?]| [:»]|«[^\u00a0]|[^\u00a0]»", each)] == []


def test_a_message_with_a_plural_counts_one_of_its_parameters() -> None:
    for message in messages_in_the_package():
        assert bool(message.plural) == bool(message.counted), message
        assert parameters_of(message.text) == parameters_of(message.plural or message.text)
        assert not message.counted or message.counted in parameters_of(message.text)


def test_equal_texts_are_equal_messages() -> None:
    found = messages_in_the_package()

    assert len({message.text for message in found}) == len(found)


@pytest.mark.parametrize("module", [core_messages, messages, cli_messages], ids=lambda each: each.__name__)
def test_every_constant_is_used(module: ModuleType) -> None:
    own = Path(module.__file__ or "")
    names = {name for name, value in vars(module).items() if name.isupper() and isinstance(value, (Message, Mapping))}
    files = [path for path in (*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.html")) if path != own]
    source = "\n".join(path.read_text(encoding="utf-8") for path in files)
    source += "\n".join(re.findall(r": (\w+),$", own.read_text(encoding="utf-8"), re.MULTILINE))

    assert names
    assert names - set(re.findall(r"\w+", source)) == set()


@pytest.mark.parametrize("module", [core_messages, messages, cli_messages], ids=lambda each: each.__name__)
def test_no_constant_replaces_another_one(module: ModuleType) -> None:
    source = Path(module.__file__ or "").read_text(encoding="utf-8")
    names = Counter(re.findall(r"^([A-Z_]+)\b.* = ", source, re.MULTILINE))

    assert names
    assert [name for name, count in names.items() if count > 1] == []


def test_no_message_blames_abbreviates_or_is_spoken_by_the_server() -> None:
    for message in messages_in_the_package():
        for text in filter(None, (message.text, message.plural)):
            assert not text.startswith("|")
            assert not re.search(r"\b(please|sorry|I|we|our|nobody|somebody|whoever)\b|e-mail|\(s\)", text) or (
                text == "I have finished" or "I have finished" in text
            ), text


@needs_babel
@pytest.mark.parametrize("language", ["de", "de-AT", "de_DE.UTF-8", "DE", "de_DE@euro"])
def test_a_language_is_found_by_its_tag_or_locale(language: str) -> None:
    catalog = MessageCatalog.for_language(language)

    assert catalog.language == "de"
    assert catalog.text(messages.SEND) == "Senden"
    assert catalog.text(messages.ASKS_FOR_ANSWERS, server="mail", count=1) == "mail bittet um 1 Antwort"
    assert catalog.text(messages.ASKS_FOR_ANSWERS, server="mail", count=2) == "mail bittet um 2 Antworten"
    assert catalog.error(field_error("f", "required")) == "Dieses Feld ist erforderlich."
    assert yes_keys(catalog) == "jJyY"


@pytest.mark.parametrize("language", ["en", "en_GB", "C", "POSIX", "", "xx", "../../de", "d\0e", "de/../../x", "日本"])
def test_an_unknown_language_is_english(language: str) -> None:
    catalog = MessageCatalog.for_language(language)

    assert catalog.language == "en"
    assert catalog.text(messages.SEND) == "Send"


def test_a_host_replaces_messages() -> None:
    catalog = MessageCatalog(
        overrides={
            "Send": "Submit",
            messages.ASKS_FOR_ANSWERS.text: ("{server}: a question", "{server}: {count} questions"),
            "This field is required.": "Fill this in.",
        }
    )

    assert catalog.text(messages.SEND) == "Submit"
    assert catalog.text(messages.ASKS_FOR_ANSWERS, server="mail", count=1) == "mail: a question"
    assert catalog.text(messages.ASKS_FOR_ANSWERS, server="mail", count=4) == "mail: 4 questions"
    assert catalog.error(field_error("f", "required")) == "Fill this in."
    assert catalog.text(messages.BACK) == "Back"


@needs_babel
def test_a_host_replaces_messages_of_a_translation() -> None:
    catalog = MessageCatalog.for_language("de", overrides={"Send": "Abschicken"})

    assert [catalog.text(message) for message in (messages.SEND, messages.BACK)] == ["Abschicken", "Zurück"]


@pytest.mark.parametrize("text", ["{nothing}", "Send {0}", "{server} {server.name}"])
def test_a_replacement_with_an_unknown_parameter_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="parameters"):
        MessageCatalog(overrides={messages.ASKS_TO_CONFIRM.text: text})


def test_a_replacement_for_an_unknown_text_is_refused() -> None:
    with pytest.raises(ValueError, match="No message has the English text 'Sent'"):
        MessageCatalog(overrides={"Sent": "Submit"})


def test_a_string_instead_of_a_message_is_refused_with_what_to_pass() -> None:
    with pytest.raises(TypeError, match=r"must be Message, not str\. Pass Message\(text\)"):
        ENGLISH.text("Send")  # type: ignore[arg-type]


@pytest.fixture
def locales(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the German translation, without what was compiled."""
    folder = tmp_path / "de" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    shutil.copy(LOCALES / "de" / "LC_MESSAGES" / "mcp_elicit_client.po", folder)
    monkeypatch.setattr(catalogs, "LOCALES", tmp_path)
    yield folder
    folder.chmod(0o755)


@needs_babel
def test_a_translation_is_compiled_at_first_use_and_kept(locales: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MessageCatalog.for_language("de").language == "de"
    assert [each.name for each in sorted(locales.iterdir())] == ["mcp_elicit_client.mo", "mcp_elicit_client.po"]

    monkeypatch.setitem(sys.modules, "babel", None)
    monkeypatch.setitem(sys.modules, "babel.messages.mofile", None)
    assert MessageCatalog.for_language("de").text(messages.SEND) == "Senden"
    source = locales / "mcp_elicit_client.po"
    os.utime(source, ns=(2**62, 2**62))  # newer than what was compiled, which is better than nothing
    assert MessageCatalog.for_language("de").text(messages.SEND) == "Senden"
    source.unlink()
    assert MessageCatalog.for_language("de").text(messages.SEND) == "Senden"


@needs_babel
def test_a_changed_translation_is_compiled_again(locales: Path) -> None:
    MessageCatalog.for_language("de")
    source = locales / "mcp_elicit_client.po"
    source.write_text(source.read_text(encoding="utf-8").replace('"Senden"', '"Abschicken"'), encoding="utf-8")
    os.utime(source, ns=(2**62, 2**62))

    assert MessageCatalog.for_language("de").text(messages.SEND) == "Abschicken"


@needs_babel
def test_a_translation_that_cannot_be_kept_is_used(locales: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "write_bytes", refuse)

    assert MessageCatalog.for_language("de").text(messages.SEND) == "Senden"
    assert [each.name for each in locales.iterdir()] == ["mcp_elicit_client.po"]


def test_without_babel_an_uncompiled_translation_is_english_and_logged(
    locales: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "babel.messages.mofile", None)

    assert MessageCatalog.for_language("de").text(messages.SEND) == "Send"
    assert "languages" in caplog.text


def test_english_needs_no_gettext() -> None:
    assert ENGLISH._translations is None
    assert ENGLISH.text(FORMATS["uuid"].name) == "UUID"


if not LANGUAGES:
    skip_or_fail("there are no translations")
