"""`flag_impersonation`: warnings about servers that claim the name of another one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from mcp_elicit_client._arguments import check_texts
from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.request import MAX_CLAIM
from mcp_elicit_client.core.url.domains import LOOKALIKES, slips
from mcp_elicit_client.dispatch import NormalizedHandler, apply_policy
from mcp_elicit_client.typing import Answer, Policy, Request

RESERVED = (
    *("operating system", "administrator", "sysadmin", "helpdesk"),
    *("claude", "anthropic", "chatgpt", "openai", "github copilot", "microsoft copilot"),
    *("macos", "google", "microsoft", "github", "ubuntu", "windows hello"),
    *("アンソロピック", "グーグル", "マイクロソフト"),
)
"""Names that no server should use, not even with other words: of companies, applications and roles."""

RESERVED_ALONE = (
    *("system", "admin", "root", "superuser", "security", "support", "terminal", "browser", "assistant", "operator"),
    *("superadmin", "sudo", "windows", "linux", "apple", "cursor", "codex", "copilot", "gemini", "host", "client"),
    *("touch id", "face id", "vs code", "visual studio code", "it department"),
    *("systemadministrator", "betriebssystem", "sicherheit", "sicherheits", "kundendienst", "kundenservice"),
    *("kundensupport", "assistent", "it-abteilung", "beheerder", "beveiliging"),
    *("système", "administrateur", "sécurité", "navigateur", "système d'exploitation", "service informatique"),
    *("sistema", "administrador", "administradora", "seguridad", "soporte", "atención al cliente", "navegador"),
    *("asistente", "sistema operativo", "departamento de ti", "amministratore", "sicurezza", "assistenza"),
    *("segurança", "suporte", "система", "администратор", "безопасность", "поддержка"),
    *("システム", "管理者", "システム管理者", "オペレーティングシステム", "セキュリティ", "ブラウザ", "ターミナル"),
    *("サポート", "カスタマーサポート", "テクニカルサポート", "アシスタント", "アップル", "ウィンドウズ", "クロード"),
    *("系统", "管理员", "系统管理员", "安全", "客服", "시스템", "관리자", "시스템 관리자", "보안", "고객지원"),
)
"""Names that are ordinary words beside others: ``System`` and ``Apple Support``, but not ``system metrics``."""

_DECORATION = frozenset(
    """official verified trusted secure secured safe real genuine original authentic certified the a an by of for from
    your my our at and with in on to tm r c inc llc ltd gmbh corp corporation company team staff group foundation com
    org net io ai dev app apps application desktop mobile web website site server servers service services mcp api sdk
    bot agent agents cli ide editor code login signin log sign account accounts auth authentication help center centre
    desk online cloud connector connect integration plugin extension pro plus premium enterprise beta alpha
    new latest version v x os message messages notice notification notifications alert alerts update updates
    it tech technical customer id defender user panel console portal chat localhost warning warnings department super
    de del des du der das die le la el il offiziell officiel oficial ufficiale meldung meldungen nachricht nachrichten
    warnung warnungen hinweis abteilung technischer technik ki konto anmeldung equipe technique informatique alerte
    avertissement connexion compte service departement ia mensaje mensajes alerta aviso equipo tecnico departamento ti
    cuenta conta acceso do da l d の からの メッセージ 通知 警告 センター チーム アカウント ログイン 部 部門
    公式 官方 中心 消息 공식 알림""".split()
)
"""Words that do not make a name another one."""

_MAX_KNOWN = 256
_MAX_WORDS = 4
# Before a decoration in the same word.  Two Chinese characters are a word.
_LEAST_NAME = 3
_LEAST_SIGNS = 2

_LEET = str.maketrans(
    {"0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "8": "b", "|": "l", "!": "i", "$": "s", "@": "a"}
)


_CAPITAL_LOOKALIKES = str.maketrans(
    "АВЕЅІЈКМНОРСТХУԚԜЗΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹᎪᏴᏟᎠᎬᏀᎻᏆᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᎩᏃᏌՍՕꓐꓑꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴⲂⲎⲒⲔⲘⲚⲞⲢⲤⲦⲨⲬвкмнтⲟⲣⲥ",
    "ABESIJKMHOPCTXYQW3ABEZHIKMNOPTYXCABCDEGHIJKLMPRSTVWYZUUOBPDTGKJCZFMNLSRVHWXYAEIOUBHIKMNOPCTYXBKMHTOPC",
)
"""
Letters of other alphabets that look like a capital Latin letter, each with that letter.  Most are capital letters,
whose small ones look different.  Lisu has no small letters, and some small letters have the shape of a capital.
"""

_LATIN_NAME = re.compile(
    r"(?:LATIN|REGIONAL INDICATOR SYMBOL|NEGATIVE (?:CIRCLED|SQUARED) LATIN) (?:SMALL |CAPITAL )?LETTER "
    r"(?:SMALL CAPITAL |DOTLESS |SCRIPT )?([A-Z]|ALPHA)(?: WITH .*)?"
)


def skeleton(name: str) -> str:
    """
    Reduce *name* to what users distinguish.

    Two names with the same skeleton look alike: letters of other alphabets,
    digits that stand for letters, case, spaces, accents and invisible
    characters make no difference.

    Examples:
        >>> skeleton("C 1AUDE") == skeleton("claude")
        True
    """
    text = unicodedata.normalize("NFKD", _in_latin(name)).casefold()
    text = "".join(LOOKALIKES.get(character, character) for character in text).translate(_LEET)
    text = _REPEATED.sub(r"\1\1", "".join(character for character in text if character.isalnum()))
    return text.replace("rn", "m").replace("vv", "w").replace("l", "i").replace("j", "i")


def _in_latin(name: str) -> str:
    """Return *name* with Latin letters in place of their variants, such as small capitals, and of look-alikes."""
    return name if name.isascii() else "".join(map(_latin_letter, name.translate(_CAPITAL_LOOKALIKES)))


@lru_cache(maxsize=4_096)
def _latin_letter(character: str) -> str:
    found = None if character.isascii() else _LATIN_NAME.fullmatch(unicodedata.name(character, ""))
    if found is None:
        return character
    letter = found[1][0]
    return letter.lower() if character.islower() else letter


def flag_impersonation(
    *,
    known_names: Collection[str] = (),
    reserved: Collection[str] = RESERVED,
    reserved_alone: Collection[str] = RESERVED_ALONE,
) -> Policy:
    """
    Add a diagnostic if the name that a server claims imitates another one.

    The request is still shown, under the name that the host application
    gives the server, with a warning (`Diagnostic` with the code
    ``impersonation``).  A name is no imitation if the host application's name
    for the server also contains it.

    Args:
        known_names: The host application's names for its servers and itself.
            A name of several words is found anywhere in a claimed name.  A
            single word is found alone or with words such as *official*.
        reserved: Names that are found anywhere in a claimed name.
        reserved_alone: Names that are found alone or with words such as
            *official*.

    Names of six letters or more are also found alone if two neighboring
    letters are swapped or one is doubled.

    Raises:
        TypeError: If an argument is not a collection of strings.
    """
    for argument, value in (("known_names", known_names), ("reserved", reserved), ("reserved_alone", reserved_alone)):
        check_texts(argument, value)
    names = [_Imitated(skeleton(name), name, is_anywhere=len(_words(name)) > 1) for name in known_names]
    names += [_Imitated(skeleton(name), None, is_anywhere=True) for name in reserved]
    names += [_Imitated(skeleton(name), None, is_anywhere=False) for name in reserved_alone]
    slipped = [(slip, each.known_as) for each in names for slip in slips(each.skeleton)]
    names += [_Imitated(slip, known_as, is_anywhere=False, is_slip=True) for slip, known_as in slipped]
    by_skeleton = {each.skeleton: each for each in reversed(names)}

    @lru_cache(maxsize=_MAX_KNOWN)
    def warning(claimed: str, own: str) -> str | None:
        return _warning(claimed, own, by_skeleton)

    async def flag(request: Request, ask: NormalizedHandler) -> Answer:
        claimed = request.server.claimed_name
        message = warning(claimed[:MAX_CLAIM], request.server.name[:MAX_CLAIM]) if claimed else None
        if message is None:
            return await ask(request)
        found = Diagnostic(code="impersonation", message=message)
        answer = await ask(request.model_copy(update={"diagnostics": (*request.diagnostics, found)}))
        return answer.model_copy(update={"diagnostics": (*answer.diagnostics, found)})

    return lambda handler: apply_policy(handler, flag)


class _Imitated(NamedTuple):
    """
    A name that other servers must not claim.

    Attributes:
        skeleton: Its skeleton.
        known_as: The name, if it is one of the host application's.
        is_anywhere: True to find it beside any other words.
        is_slip: True for one that is misspelled, and not read in several words.
    """

    skeleton: str
    known_as: str | None
    is_anywhere: bool
    is_slip: bool = False


def _warning(claimed: str, own: str, names: Mapping[str, _Imitated]) -> str | None:
    """Return the warning about a server that claims the name *claimed*; None if it is not an imitation."""
    if skeleton(claimed) == skeleton(own):
        looks_same = claimed.casefold() == own.casefold() or claimed.isascii()
        return None if looks_same else "The name reported by the server uses look-alike letters."
    found = _imitated(claimed, names)
    if found is None or found.skeleton in _parts(own):
        return None
    if found.known_as is not None:
        return f"The name reported by the server resembles {found.known_as}, another server."
    return "The name reported by the server resembles a well-known product or role."


def _imitated(claimed: str, names: Mapping[str, _Imitated]) -> _Imitated | None:
    """Return the first name that *claimed* imitates."""
    for words in _readings(claimed):
        decorated = all(_is_decoration(word) or skeleton(word) in names for word in words)
        for part, rest in _parts_and_rest(words):
            name = names.get(part)
            if name is None or (name.is_slip and len(rest) + 1 < len(words)):
                continue
            if name.is_anywhere or decorated or all(map(_is_decoration, rest)):
                return name
    return None


def _readings(name: str) -> Iterator[list[str]]:
    """
    Yield the words of *name*.

    They are cut at punctuation only, and also at capital letters, digits,
    other scripts and known endings.  Letters that are spaced out are words as well.
    """
    plain = _SYMBOLS.sub(" ", _ESCAPED.sub("", name))
    yield _words(plain)
    yield _words(_SPACED_OUT.sub(_without_spaces, _in_latin(plain)))
    yield _words(_LEET_IN_WORD.sub(lambda mark: mark[0].translate(_LEET), plain))
    yield [part for word in _words(plain) for part in _HUMP.findall(word)]
    yield [part for word in _words(plain) for part in _without_decoration(word)]


def _words(name: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", _in_latin(name)))


def _without_spaces(letters: re.Match[str]) -> str:
    return "".join(_WORD.findall(letters[0]))


def _without_decoration(word: str) -> tuple[str, ...]:
    """Split a decoration off the end of *word*: ``githublogin``, ``bank2``."""
    bare = word.casefold().rstrip("0123456789")
    least = _LEAST_NAME if bare.isascii() else _LEAST_SIGNS
    ends = (end for end in _DECORATION if len(end) > 1 and len(bare) >= len(end) + least and bare.endswith(end))
    end = max(ends, key=len, default="")
    return (bare.removesuffix(end), end) if end else (bare,)


def _parts_and_rest(words: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the skeletons of up to four neighboring words, and the other words."""
    for start in range(len(words)):
        for end in range(start + 1, min(len(words), start + _MAX_WORDS) + 1):
            yield skeleton("".join(words[start:end])), [*words[:start], *words[end:]]


def _parts(name: str) -> set[str]:
    return {part for words in _readings(name) for part, _ in _parts_and_rest(words)}


def _is_decoration(word: str) -> bool:
    return word.casefold() in _DECORATION or word.strip("vV.").isdigit()


_SYMBOLS = re.compile("[\u00a9\u00ae\u2120\u2122]")
_LEET_IN_WORD = re.compile(r"(?<=[^\W_])[@!$|](?=[^\W_])")
_REPEATED = re.compile(r"(.)\1{2,}")
_WORD = re.compile(r"[^\W_]+")
_SPACED_OUT = re.compile(r"(?<![^\W_])[^\W_](?:[\W_]{1,3}[^\W_](?![^\W_])){2,}")
_ESCAPED = re.compile(r"\\u\{[0-9a-f]{1,6}\}")
_HUMP = re.compile(
    "[ァ-ヿ]+|[ぁ-ゟ]+|[一-鿿]+|[가-힣]+"  # these are also written without a space beside each other
    r"|[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Zぁ-ヿ一-鿿가-힣]+|\d+|[A-Z]"
)
