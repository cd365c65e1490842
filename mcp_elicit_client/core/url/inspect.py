"""
URLs that a server wants a person to visit: which host would a browser contact?

Only a URL that names its host plainly is let through.  A parser that repairs
what it is given shows one host where a browser goes to another; so whatever
would need repair is refused.  Nothing here is fetched, and no name resolved.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, computed_field

from mcp_elicit_client.core.url.domains import UrlWarning, host_warnings, registrable_domain
from mcp_elicit_client.exceptions import UnsafeUrlError

MAX_URL = 2_048
"""The longest URL that is let through, in characters."""

_MAX_NAME = 253
_DEFAULT_PORTS = {"https": 443, "http": 80}

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_PLAIN_URL = re.compile(
    rf"""
    (?P<scheme> https? ) ://
    (?P<host>
        (?: {_LABEL} \. )* (?=[a-z]) {_LABEL}
      | (?P<v4> [0-9.]+ )
      | \[ (?P<v6> [0-9a-f:]+ ) \]
    )
    (?: : (?P<port> [0-9]{{0,5}} ) )?
    (?P<rest> (?: [/?#] [A-Za-z0-9._~:/?\#\[\]@!$&'()*+,;=%|-]* )? )
    """,
    re.ASCII | re.IGNORECASE | re.VERBOSE,
)
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.ASCII | re.IGNORECASE)

# Names that are never public (RFC 6761, RFC 6762, RFC 8375, ICANN's .internal).
_LOCAL_NAMES = ("local", "internal", "lan", "home", "corp", "intranet", "private", "home.arpa", "localdomain")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")

_IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlRules:
    """
    Where a host application lets servers send its users, beyond public https.

    Attributes:
        allow_loopback: Also this machine (``localhost``, ``127.0.0.1``), and
            then also with plain http.  For development.
        allow_private: Also addresses and names of private networks, over
            https.  For organisations whose servers live on one.
    """

    allow_loopback: bool = False
    allow_private: bool = False


DEFAULT_URL_RULES = UrlRules()


class TargetUrl(BaseModel):
    """
    A URL that has been inspected: what is shown is what is opened.

    Attributes:
        url: The URL to open: scheme and host in lower case, else as sent.
            ASCII without spaces, quotes or backslashes.
        scheme: ``https``, or ``http`` where the host application allows it.
        host: The host that a browser contacts, in ASCII; IPv6 in brackets.
        port: The port, if the URL names one other than its scheme's.
        warnings: What a person should know first.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

    url: str
    scheme: str
    host: str
    port: int | None = None
    warnings: tuple[UrlWarning, ...] = ()

    @computed_field  # type: ignore[prop-decorator]
    @property
    def registrable_domain(self) -> str:
        """
        The part of the host that its owner registered; what to mark.

        The host itself if it is an address or has no registrable part.
        """
        return registrable_domain(self.host)

    @property
    def split_at_domain(self) -> tuple[str, str, str]:
        """
        The URL in three parts: what comes before its domain, the domain, what comes after.

        For interfaces that can set the domain apart.
        """
        end = len(self.scheme) + len("://") + len(self.host)
        start = end - len(self.registrable_domain)
        return self.url[:start], self.url[start:end], self.url[end:]

    def shorten(self, width: int) -> str:
        """
        Name the place in about *width* characters; the domain is never cut.

        For titles and lists.  Consent needs the whole URL.

        Args:
            width: How many characters there are.  A domain that is longer
                comes back whole.
        """
        host = self.host if self.port is None else f"{self.host}:{self.port}"
        if len(host) <= width:
            return host
        port = host[len(self.host) :]
        room = max(width - len(self.registrable_domain) - len(port) - 1, 0)
        before = self.host[: len(self.host) - len(self.registrable_domain)]
        return f"…{before[len(before) - room :]}{self.registrable_domain}{port}" if before else host


def inspect_url(url: str, rules: UrlRules = DEFAULT_URL_RULES) -> TargetUrl:
    """
    Find the host that a browser would contact for *url*.

    Nothing is fetched, and no name is resolved.

    Raises:
        UnsafeURLError: If there is any doubt about the host, or the host is
            out of the bounds of *rules*.
    """
    if len(url) > MAX_URL:
        raise UnsafeUrlError(url, "too_long", f"the URL is longer than {MAX_URL} characters")
    plain = _PLAIN_URL.fullmatch(url)
    if plain is None:
        raise _unsafe(url)
    scheme = plain["scheme"].lower()
    host = plain["host"].lower()
    port = _port(url, scheme, plain["port"])

    warnings: list[UrlWarning] = []
    if plain["v4"] or plain["v6"]:
        address = _address(url, plain["v4"] or plain["v6"].lower())
        place = _place_of_address(url, address)
        warnings.append(UrlWarning(code="ip_address"))
    else:
        place = _place_of_name(host)
        warnings += _name_warnings(url, host)
    warnings += _place_warnings(url, scheme, place, rules)
    if port is not None:
        warnings.append(UrlWarning(code="port", detail=str(port)))

    location = host if port is None else f"{host}:{port}"
    return TargetUrl(
        url=f"{scheme}://{location}{plain['rest']}",
        scheme=scheme,
        host=host,
        port=port,
        warnings=tuple(warnings),
    )


def _unsafe(url: str) -> UnsafeUrlError:
    scheme = _SCHEME.match(url)
    if scheme is None:
        return UnsafeUrlError(url, "ambiguous_host", "the URL does not start with https://")
    if scheme[1].lower() not in _DEFAULT_PORTS:
        return UnsafeUrlError(url, "scheme", "the URL's scheme is not https")
    return UnsafeUrlError(url, "ambiguous_host", "the URL does not name its host plainly")


def _port(url: str, scheme: str, digits: str | None) -> int | None:
    if not digits:
        return None
    port = int(digits)
    if not 0 < port < 65_536:
        raise UnsafeUrlError(url, "port", "the URL's port does not exist")
    return None if port == _DEFAULT_PORTS[scheme] else port


def _address(url: str, text: str) -> _IPAddress:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        address = None
    if address is None or str(address) != text:
        raise UnsafeUrlError(url, "ambiguous_host", "the URL's address is not written in its usual form")
    return address


def _place_of_address(url: str, address: _IPAddress) -> str:
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None and not inner.is_global:
            raise UnsafeUrlError(url, "private", "the URL hides an address that is not public")
    if address.is_loopback:
        return "loopback"
    if address.is_multicast or address.is_unspecified or address.is_link_local:
        raise UnsafeUrlError(url, "private", "the URL's address is not one that people visit")
    return "public" if address.is_global else "private"


def _place_of_name(host: str) -> str:
    if host == "localhost" or host.endswith(".localhost"):
        return "loopback"
    if "." not in host or any(host == name or host.endswith(f".{name}") for name in _LOCAL_NAMES):
        return "private"
    return "public"


def _place_warnings(url: str, scheme: str, place: str, rules: UrlRules) -> list[UrlWarning]:
    if place == "loopback":
        if not rules.allow_loopback:
            raise UnsafeUrlError(url, "loopback", "the URL leads to the user's own machine")
        return [UrlWarning(code="loopback")]
    if scheme == "http":
        raise UnsafeUrlError(url, "insecure", "the URL is not https")
    if place == "private":
        if not rules.allow_private:
            raise UnsafeUrlError(url, "private", "the URL leads into a private network")
        return [UrlWarning(code="private")]
    return []


def _name_warnings(url: str, host: str) -> list[UrlWarning]:
    if len(host) > _MAX_NAME:
        raise UnsafeUrlError(url, "ambiguous_host", "the URL's host is longer than a name can be")
    try:
        return list(host_warnings(host))
    except ValueError:
        raise UnsafeUrlError(url, "ambiguous_host", "the URL's host is not a valid international name") from None
