"""
`inspect_url`: the host that a browser would contact for a URL.

Only a URL with an unambiguous host is allowed.  A parser that repairs a URL
may show one host while the browser opens another, so a URL that needs repair
is refused.  Nothing is fetched, and no name is resolved.
"""

import ipaddress
import re
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, computed_field

from mcp_elicit_client._arguments import check_type
from mcp_elicit_client.core.deferred import build_models
from mcp_elicit_client.core.url.domains import UrlWarning, host_warnings, registrable_domain
from mcp_elicit_client.exceptions import UnsafeUrlError

MAX_URL = 2_048
"""The longest URL that is allowed, in characters."""

_MAX_NAME = 253
DEFAULT_PORTS = {"https": 443, "http": 80}

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_RAW = r"[A-Za-z0-9._~:/\[\]@!$&'()*+,;=%|<>^`{}-]"
# What browsers encode in each part, of the characters that are allowed here.
_ENCODED = {
    part: str.maketrans({character: f"%{ord(character):X}" for character in characters})
    for part, characters in (("path", "<>^`{}"), ("query", "<>"), ("fragment", "<>`"))
}

# Names that are never public (RFC 6761, RFC 6762, RFC 8375, .internal of ICANN).
_LOCAL_NAMES = ("local", "internal", "lan", "home", "corp", "intranet", "private", "home.arpa", "localdomain")

# Networks that embed an IPv4 address in its last 32 bits (RFC 4291, RFC 6052).
_EMBEDDING = (ipaddress.IPv6Network("::/96"), ipaddress.IPv6Network("64:ff9b::/96"))
# Networks that Python calls global in some versions (RFC 3879, RFC 8215, RFC 7723, RFC 7450).
_RESERVED = tuple(map(ipaddress.ip_network, ("fec0::/10", "64:ff9b:1::/48", "192.0.0.0/24", "192.88.99.0/24")))

_IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlRules:
    """
    The URLs that servers may send users to, beyond public https.

    Attributes:
        allow_loopback: Allow this computer (``localhost``, ``127.0.0.1``),
            also with plain http.  For development.
        allow_private: Allow addresses and names of private networks, over
            https.  For organizations with servers in such a network.

    Raises:
        TypeError: If a rule is not a bool.
    """

    allow_loopback: bool = False
    allow_private: bool = False

    def __post_init__(self) -> None:
        check_type("allow_loopback", self.allow_loopback, bool)
        check_type("allow_private", self.allow_private, bool)


DEFAULT_URL_RULES = UrlRules()


class TargetUrl(BaseModel):
    """
    An inspected URL.

    Attributes:
        url: The URL to open: scheme and host in lower case, ``<``, ``>``,
            ``^``, braces and backticks encoded as browsers encode them, the
            rest as sent.  ASCII without spaces, quotes or backslashes.
        as_sent: The same URL without this encoding, to show.
        scheme: ``https``, or ``http`` if the host application allows it.
        host: The host that a browser contacts, in ASCII; IPv6 in brackets.  It
            ends with a dot if it was sent with one.
        port: The port, if it is not the default of the scheme.
        warnings: Warnings for the user.
    """

    # `defer_build`: built at the first URL, because it would slow down the import.
    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, defer_build=True)

    url: str
    as_sent: str
    scheme: str
    host: str
    port: int | None = None
    warnings: tuple[UrlWarning, ...] = ()

    @computed_field  # type: ignore[prop-decorator]
    @property
    def registrable_domain(self) -> str:
        """
        The part of the host that its owner registered.  Mark it when you show the URL.

        The whole host if it is an IP address or has no registrable domain.
        """
        return registrable_domain(self.host.removesuffix("."))

    @property
    def split_at_domain(self) -> tuple[str, str, str]:
        """
        The URL as sent, in three parts: before the registrable domain, the domain, after it.

        For user interfaces that can mark the domain.
        """
        end = len(self.scheme) + len("://") + len(self.host.removesuffix("."))
        start = end - len(self.registrable_domain)
        return self.as_sent[:start], self.as_sent[start:end], self.as_sent[end:]


def inspect_url(url: str, rules: UrlRules = DEFAULT_URL_RULES) -> TargetUrl:
    """
    Return the host that a browser would contact for *url*, with warnings.

    Nothing is fetched, and no name is resolved.

    Raises:
        TypeError: If *url* is not a string, or *rules* are not `UrlRules`.
        UnsafeUrlError: If the host is ambiguous, or if *rules* do not allow
            it.
    """
    if not isinstance(url, str):
        raise TypeError(f"`url` must be str, not {type(url).__name__}.")
    check_type("rules", rules, UrlRules)
    build_models(UrlWarning, TargetUrl)
    if len(url) > MAX_URL:
        raise UnsafeUrlError("too_long", f"`url` must have at most {MAX_URL} characters")
    plain = _plain_url().fullmatch(url)
    if plain is None:
        raise _unsafe(url)
    scheme = plain["scheme"].lower()
    host = plain["host"].lower()
    port = _port(scheme, plain["port"])

    warnings: list[UrlWarning] = []
    if plain["v4"] or plain["v6"]:
        address = _address(plain["v4"] or plain["v6"].lower())
        network = _network_of_address(address)
        warnings.append(UrlWarning(code="ip_address"))
    else:
        name = host.removesuffix(".")
        network = _network_of_name(name)
        warnings += _name_warnings(name)
    warnings += _network_warnings(scheme, network, rules)
    if port is not None:
        warnings.append(UrlWarning(code="port", detail=str(port)))

    origin = f"{scheme}://{host}" if port is None else f"{scheme}://{host}:{port}"
    return TargetUrl(
        url=origin + "".join(plain[part].translate(encoded) for part, encoded in _ENCODED.items()),
        as_sent=origin + "".join(plain[part] for part in _ENCODED),
        scheme=scheme,
        host=host,
        port=port,
        warnings=tuple(warnings),
    )


def _unsafe(url: str) -> UnsafeUrlError:
    scheme = re.match(r"([a-z][a-z0-9+.-]*):", url, re.ASCII | re.IGNORECASE)
    if scheme is None:
        return UnsafeUrlError("ambiguous_host", "`url` must start with https://")
    if scheme[1].lower() not in DEFAULT_PORTS:
        return UnsafeUrlError("scheme", "`url` must have the scheme https")
    if re.match(
        rf"https?://[\w.:\[\]-]+[/?#](?:{_RAW}|[?#])*(?!{_RAW}|[?#]).", url, re.ASCII | re.IGNORECASE | re.DOTALL
    ):
        return UnsafeUrlError("ambiguous_host", "`url` has a character after its host that must be percent-encoded")
    return UnsafeUrlError("ambiguous_host", "`url` has an ambiguous host")


def _port(scheme: str, digits: str | None) -> int | None:
    if not digits:
        return None
    port = int(digits)
    if not 0 < port < 65_536:
        raise UnsafeUrlError("port", "`url` has an invalid port")
    return None if port == DEFAULT_PORTS[scheme] else port


def _address(text: str) -> _IPAddress:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        address = None
    if address is None or str(address) != text:
        raise UnsafeUrlError("ambiguous_host", "`url` has an IP address in an unusual notation")
    return address


def _network_of_address(address: _IPAddress) -> str:
    if address.is_loopback:
        return "loopback"
    if isinstance(address, ipaddress.IPv6Address) and not address.is_unspecified:
        inner = address.ipv4_mapped or address.sixtofour
        if any(address in network for network in _EMBEDDING):
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None and not inner.is_global:
            raise UnsafeUrlError("private", "`url` embeds an address that is not public")
    if address.is_multicast or address.is_unspecified or address.is_link_local or _is_reserved(address):
        raise UnsafeUrlError("private", "`url` has a reserved address")
    return "public" if address.is_global else "private"


def _is_reserved(address: _IPAddress) -> bool:
    return any(address.version == network.version and address in network for network in _RESERVED)


def _network_of_name(host: str) -> str:
    if host == "localhost" or host.endswith(".localhost"):
        return "loopback"
    if "." not in host or any(host == name or host.endswith(f".{name}") for name in _LOCAL_NAMES):
        return "private"
    return "public"


def _network_warnings(scheme: str, network: str, rules: UrlRules) -> list[UrlWarning]:
    if network == "loopback":
        if not rules.allow_loopback:
            raise UnsafeUrlError("loopback", "`url` leads to the user's own computer")
        return [UrlWarning(code="loopback")]
    if scheme == "http":
        raise UnsafeUrlError("insecure", "`url` must use https")
    if network == "private":
        if not rules.allow_private:
            raise UnsafeUrlError("private", "`url` leads to a private network")
        return [UrlWarning(code="private")]
    return []


def _name_warnings(host: str) -> list[UrlWarning]:
    if len(host) > _MAX_NAME:
        raise UnsafeUrlError("ambiguous_host", "`url` has a host of more than 253 characters")
    try:
        return list(host_warnings(host))
    except ValueError:
        raise UnsafeUrlError("ambiguous_host", "`url` has an invalid international host name") from None


@cache
def _plain_url() -> re.Pattern[str]:
    # Compiled at the first URL, because it would slow down the import.
    return re.compile(
        rf"""
        (?P<scheme> https? ) ://
        (?P<host>
            (?: {_LABEL} \. )* (?=[a-z]) {_LABEL} \.?
          | (?P<v4> [0-9.]+ )
          | \[ (?P<v6> [0-9a-f:]+ ) \]
        )
        (?: : (?P<port> [0-9]{{0,5}} ) )?
        (?P<path> (?: / {_RAW}* )? )
        (?P<query> (?: \? (?: {_RAW} | \? )* )? )
        (?P<fragment> (?: \# (?: {_RAW} | [?#] )* )? )
        """,
        re.ASCII | re.IGNORECASE | re.VERBOSE,
    )
