"""Registrable domains, and warnings about host names that imitate others."""

import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from ipaddress import IPv4Address
from itertools import chain, pairwise
from typing import Any, ClassVar, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, computed_field

from mcp_elicit_client.core.messages import URL_WARNINGS, format_message
from mcp_elicit_client.core.text import sanitize_text

LONG_HOST_LENGTH = 64
"""The length in characters above which a host causes a warning: its end may not be visible."""

PUNYCODE = "xn--"

UrlWarningCode: TypeAlias = Literal[
    "ip_address",
    "long_host",
    "loopback",
    "lookalike",
    "lookalike_letters",
    "mixed_scripts",
    "port",
    "private",
    "punycode",
    "underscore",
]
"""The code of a `UrlWarning`."""

# Endings of well-known organization names.  Shorter ones (us, eu, io, app) are
# not listed: as labels inside a host they mean a region or a stage.
_KNOWN_ENDINGS = frozenset({"com", "org", "net", "edu", "gov", "mil"})
# Of these, the endings that anyone may register: gov.TLD, for example, is often a government's own domain.
_OPEN_ENDINGS = frozenset({"com", "org", "net"})
# The only ending that is also written with a hyphen: "-net" and the others end names of machines.
_WRITTEN_ENDING = "-com"
_LEAST_NAME = 3
_LONGEST_SHORT_NAME = 4
# Other words are like a name of so many letters, but for one slip: appel and apple.
_WITHOUT_SLIPS = 5
_LETTERS_OF_DIGITS = str.maketrans("0135", "oles")
_COUNTRY = 2
# Endings that hosting services use for regions, below the name of a customer.
_REGIONS = frozenset({"eu", "us"})
# With the names that governments use below the ending of their country, such as gouv.fr and go.jp.
_SECOND_LEVEL = frozenset({"ac", "co", "com", "edu", "go", "gob", "gouv", "gov", "govt", "gub", "gv", "net", "org"})
_LISTED_ENDINGS = _KNOWN_ENDINGS | _SECOND_LEVEL
# Names that are imitated often and mean nothing else inside a host.  With them, and after "www", the ending of a
# country is not read as a region.
_BRANDS = """
    adobe airbnb aliexpress allegro allianz amazon amex apple barclays bbva bnpparibas caixabank citibank coinbase
    commerzbank correos creditagricole credit-agricole deutschebank deutschepost dhl dpd ebay facebook fedex google
    hsbc icloud ikea instagram intesasanpaolo kleinanzeigen klarna laposte linkedin mastercard mercadolibre
    mercadolivre microsoft naver netflix onedrive paypal postbank rabobank raiffeisen rakuten revolut royalmail samsung
    santander sparkasse swisscom swisspost telekom temu tiktok ubs unicredit ups usps verizon vinted vodafone volksbank
    wellsfargo whatsapp yahoo yandex zalando
"""
# Names that are imitated often, but that hosts of other owners also use: of programs, and of first names.
_PROGRAMS = """
    anthropic atlassian binance bitbucket chatgpt claude cloudflare discord docker dropbox github gitlab heroku
    huggingface metamask npmjs openai outlook salesforce steamcommunity steampowered telegram twitter vercel wikipedia
    youtube
"""
# Words that make a name look like the place to log in, or like the security service, of that name.
_LOGINS = """
    account accounts auth authentication confirm id login logon recovery secure security signin sso support unlock
    update verification verify www
    anmeldung konto sicherheit compte connexion securite acceso cuenta seguridad accesso conto sicurezza
    conta seguranca inloggen beveiliging
"""
_OF_LOGINS = frozenset(_LOGINS.split())
_MEANS_NOTHING_ELSE = frozenset(_BRANDS.split())
_IMITATED_OFTEN = _MEANS_NOTHING_ELSE | frozenset(_PROGRAMS.split())


def _with_one_spelling(label: str) -> str:
    """Return *label* with one of the characters that look alike, such as ``1``, ``i`` and ``l``."""
    label = label.replace("rn", "m").replace("vv", "w").translate(_LETTERS_OF_DIGITS)
    # In shorter names, an i is not read as an l: appie and apple are two companies.
    return label.replace("i", "l") if len(label) > _WITHOUT_SLIPS else label


# Short names are not listed: dhi and dhl are two companies.
_BY_SPELLING = {_with_one_spelling(name): name for name in _IMITATED_OFTEN if len(name) > _LONGEST_SHORT_NAME}

LOOKALIKES: Mapping[str, str] = dict(
    zip("аеорсухіјѕһԁԛԝӏѵԍьгпαονρικτυχγωօսոհցքզգ", "aeopcyxijshdqwlvgbrnaovpiktuxywouuhgpqq", strict=True)
)
"""Letters of other alphabets, each with the Latin letter that it looks like (Unicode TS 39)."""

_SAME_SCRIPT = {"CJK": "HAN", "IDEOGRAPHIC": "HAN", "KATAKANA-HIRAGANA": "KATAKANA"}
# Scripts that one language combines.
_WRITTEN_TOGETHER = (
    frozenset({"HAN", "HIRAGANA", "KATAKANA", "LATIN"}),
    frozenset({"HAN", "BOPOMOFO", "LATIN"}),
    frozenset({"HAN", "HANGUL", "LATIN"}),
)


class UrlWarning(BaseModel):
    """
    A warning about a URL, for the user.

    Attributes:
        code: A stable code; ``docs/reference.md`` lists all.
        detail: The port, the imitated name or the letters that the warning is
            about; else empty.  Sanitized.
        domain: The registrable domain of the URL, where the message names it.
        message: An English sentence for the user.
    """

    # `defer_build`: built at the first URL, because it would slow down the import.
    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, defer_build=True)

    code: UrlWarningCode
    detail: str = ""
    domain: str = ""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def message(self) -> str:
        """An English sentence for the user."""
        return format_message(URL_WARNINGS[self.code], {"detail": self.detail, "domain": self.domain})


def registrable_domain(host: str) -> str:
    """
    Return the part of *host* that its owner registered, such as ``example.co.uk``.

    The installed list of public suffixes is used; nothing is fetched.  A host
    without a registrable domain is returned whole.
    """
    if host.startswith("[") or host.replace(".", "").isdigit():
        return host
    return _suffixes().privatesuffix(host) or host


@cache
def _suffixes(*, only_icann: bool = False) -> Any:
    # Reading the list takes 0.2 s, so it is read at first use.
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList(only_icann=only_icann)


def host_warnings(host: str) -> Iterator[UrlWarning]:
    """
    Yield the warnings about *host*, which is in ASCII.

    Raises:
        ValueError: If one of its punycode labels is invalid.
    """
    labels = host.split(".")
    if any(label.startswith(PUNYCODE) for label in labels):
        yield from _letter_warnings(labels)
    if "_" in host:
        yield UrlWarning(code="underscore")
    imitated = _address_in(labels) or _imitated(labels) or _misspelled(labels) or _with_word_of_logins(labels)
    if imitated is not None:
        yield UrlWarning(code="lookalike", detail=imitated, domain=registrable_domain(host))
    if len(host) > LONG_HOST_LENGTH:
        yield UrlWarning(code="long_host", domain=registrable_domain(host))


def _letter_warnings(labels: list[str]) -> Iterator[UrlWarning]:
    words = [_in_unicode(label) for label in labels]
    scripts = [_scripts(word) for word in words]
    # The script of ASCII labels is not named: it is Latin.
    named = sorted(
        {name.capitalize() for names, word in zip(scripts, words, strict=True) if not word.isascii() for name in names}
    )
    shown = sanitize_text(".".join(words), multiline=False)
    of = f" ({', '.join(named)})" if named else ""
    yield UrlWarning(code="punycode", detail=f"{shown}{of}")
    if any(len(each) > 1 and not any(each <= together for together in _WRITTEN_TOGETHER) for each in scripts):
        yield UrlWarning(code="mixed_scripts")
    elif words[-1].isascii() and any(_looks_latin(word, each) for word, each in zip(words, scripts, strict=True)):
        yield UrlWarning(code="lookalike_letters")


def _in_unicode(label: str) -> str:
    import idna

    if not label.startswith(PUNYCODE):
        return label
    try:
        return idna.ulabel(label)
    except (idna.IDNAError, UnicodeError):
        raise ValueError("not a valid international name") from None


def _scripts(word: str) -> set[str]:
    return {_script(letter) for letter in word if letter.isalpha()}


def _script(letter: str) -> str:
    # Python has no script property, but the name of a letter begins with its script.
    name = unicodedata.name(letter, "UNKNOWN").split(" ")[0]
    return _SAME_SCRIPT.get(name, name)


def _looks_latin(word: str, scripts: set[str]) -> bool:
    return len(scripts) == 1 and scripts != {"LATIN"} and all(each in LOOKALIKES for each in word if each.isalpha())


def _address_in(labels: list[str]) -> str | None:
    """
    Return an IPv4 address that the host contains, or None.

    One with hyphens counts if it is not public: hosting services put public ones into the names of their hosts.

    Examples:
        >>> _address_in("192.168.0.1.evil.example".split("."))
        '192.168.0.1'
        >>> _address_in("app-10-0-0-1.evil.example".split("."))
        '10.0.0.1'
        >>> _address_in("ec2-52-1-2-3.compute.example".split("."))
    """
    with_hyphens = (address for label in labels for address in _addresses(label.split("-")))
    return next(chain(_addresses(labels), (each for each in with_hyphens if not IPv4Address(each).is_global)), None)


def _addresses(parts: list[str]) -> Iterator[str]:
    """Yield four neighboring numbers below 256, as an IPv4 address."""
    for at in range(len(parts) - 3):
        four = parts[at : at + 4]
        if all(part.isdigit() and len(part) <= 3 and int(part) < 256 for part in four):
            yield ".".join(str(int(part)) for part in four)


def _imitated(labels: list[str]) -> str | None:
    """
    Return a domain that appears in front of another one, or None.

    It may end in the first label of the registrable domain, which is also the
    sender's choice.

    Examples:
        >>> _imitated("github.com.evil.example".split("."))
        'github.com'
        >>> _imitated("github.com.pages.dev".split("."))
        'github.com'
        >>> _imitated("github-com.evil.example".split("."))
        'github.com'
        >>> _imitated("amazon.de.evil.example".split("."))
        'amazon.de'
    """
    countries = _country_endings(labels)
    if not countries and not any(
        label.partition("-")[0] in _LISTED_ENDINGS or _WRITTEN_ENDING in label for label in labels[:-1]
    ):
        return None  # the usual case, without reading the list of suffixes
    host = ".".join(labels)
    end = len(labels) - _suffix_length(host)
    # Customers of a hosting service, such as pages.dev, choose the label below it like a subdomain.
    free = end if _suffix_length(host, only_icann=True) < len(labels) - end else end - 1
    return (
        _before_ending(labels, end, free)
        or _before_continued_ending(labels, end)
        or _before_country(labels, countries, end, free)
        or _written_with_hyphen(labels, end, free)
    )


def _misspelled(labels: list[str]) -> str | None:
    """
    Return the name that a label, or a part of one, spells in another way, or None.

    Examples:
        >>> _misspelled("paypa1.com".split("."))
        'paypal'
        >>> _misspelled("login-mircosoft.com".split("."))
        'microsoft'
        >>> _misspelled("googgle.com".split("."))
        'google'
    """
    parts = {*labels[:-1], *_parts(labels[:-1])} - _IMITATED_OFTEN
    return next(filter(None, map(_name_like, sorted(parts))), None)


def _name_like(word: str) -> str | None:
    """Return the name that *word* is, but for characters that look alike or one slip of `slips`."""
    return _BY_SPELLING.get(_with_one_spelling(word)) or _by_slip().get(word)


@cache
def _by_slip() -> Mapping[str, str]:
    return {slip: name for name in _IMITATED_OFTEN for slip in slips(name)}


def slips(name: str) -> Iterator[str]:
    """
    Yield *name* with two neighbors swapped, one letter doubled, and one letter for a double one.

    Short names have no slips: with one, they are other words.

    Examples:
        >>> "googel" in slips("google"), "googlle" in slips("google"), "gogle" in slips("google")
        (True, True, True)
        >>> list(slips("apple"))
        []
    """
    if len(name) <= _WITHOUT_SLIPS:
        return
    for at, letter in enumerate(name):
        yield name[:at] + letter + name[at:]
        if letter == name[at + 1 : at + 2]:
            yield name[:at] + name[at + 1 :]
        elif at + 1 < len(name):
            yield name[:at] + name[at + 1] + letter + name[at + 2 :]


def _with_word_of_logins(labels: list[str]) -> str | None:
    """
    Return the name that stands only beside words such as *login*, in the domain of another owner, or None.

    Examples:
        >>> _with_word_of_logins("github-login.com".split("."))
        'github'
        >>> _with_word_of_logins("paypal.verify-account.com".split("."))
        'paypal'
        >>> _with_word_of_logins("login.github.com".split("."))
    """
    parts = _parts(labels)
    if parts.isdisjoint(_IMITATED_OFTEN) or parts.isdisjoint(_OF_LOGINS):
        return None  # the usual case, without reading the list of suffixes
    chosen = labels[: len(labels) - _suffix_length(".".join(labels))]
    parts = _parts(chosen)
    names, beside = parts & _IMITATED_OFTEN, parts - _IMITATED_OFTEN
    return min(names) if names and beside and beside <= _OF_LOGINS and chosen[-1] not in names else None


def _parts(labels: list[str]) -> set[str]:
    return {part for label in labels for part in label.split("-")}


def _before_ending(labels: list[str], end: int, free: int) -> str | None:
    """Return a name and the ending of a domain after it: ``github.com``."""
    for at in range(1, end):
        if labels[at] in _SECOND_LEVEL and at + 1 < len(labels) and _is_suffix(labels[at : at + 2]):
            return ".".join(labels[at - 1 : at + 2])
        if labels[at] in _KNOWN_ENDINGS and (at < free or _continues_in_domain(*labels[at - 1 : at + 1])):
            return ".".join(labels[at - 1 : at + 1])
    return None


def _before_continued_ending(labels: list[str], end: int) -> str | None:
    """Return a name and the ending that a hyphen continues after it: ``paypal.com-login.example``."""
    for at in range(1, end):
        ending, dash, _ = labels[at].partition("-")
        if dash and ending in _KNOWN_ENDINGS:
            return f"{labels[at - 1]}.{ending}"
    return None


def _before_country(labels: list[str], countries: list[int], end: int, free: int) -> str | None:
    """Return a name and the ending of a country after it, which is at one of *countries*: ``amazon.de``."""
    for at in countries:
        name, country = labels[at - 1], labels[at].partition("-")[0]
        last = free if country == labels[at] else end
        if at < last and name != labels[end - 1] and _is_suffix([country]):
            return f"{name}.{country}"
    return None


def _written_with_hyphen(labels: list[str], end: int, free: int) -> str | None:
    """
    Return the domain that a label spells with a hyphen: ``github-com``.

    The first label of a registrable domain may end so, as in ``dot-com.example``.  It must not spell the domain of a
    name that is imitated often.
    """
    for at, label in enumerate(labels[:end]):
        parts = label.split("-")
        for last, (name, ending) in enumerate(pairwise(parts), 2):
            is_domain = name in _IMITATED_OFTEN or (at < free and last == len(parts) and len(name) >= _LEAST_NAME)
            if ending == "com" and is_domain:
                return f"{name}.com"
    return None


def _country_endings(labels: list[str]) -> list[int]:
    """Return where the ending of a country may follow a name: after that of a brand, or after ``www`` and a name."""
    return [at for at in range(1, len(labels) - 1) if _ends_in_country(labels, at, labels[at].partition("-")[0])]


def _ends_in_country(labels: list[str], at: int, ending: str) -> bool:
    if len(ending) != _COUNTRY or ending in _REGIONS:
        return False
    if at == 2 and labels[0] == "www" and ending == labels[at]:
        return len(labels[1]) >= _LEAST_NAME
    return labels[at - 1] in _MEANS_NOTHING_ELSE


def _continues_in_domain(name: str, ending: str) -> bool:
    """Return True if *name* and the first label of the registrable domain are a domain: ``github.com.org``."""
    return ending in _OPEN_ENDINGS and name != "www" and len(name) >= _LEAST_NAME


def _suffix_length(host: str, *, only_icann: bool = False) -> int:
    """Return the number of labels of the public suffix of *host*."""
    return len(_suffixes(only_icann=only_icann).publicsuffix(host).split("."))


def _is_suffix(labels: list[str]) -> bool:
    name = ".".join(labels)
    return bool(_suffixes().publicsuffix(name, accept_unknown=False) == name)
