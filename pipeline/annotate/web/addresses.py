"""Addresses of the annotation server as others see them: its public URL, and its proxies."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Receive, Scope, Send

from pipeline.errors import ConfigError, Problem

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
_OPTION = "--public-url"
_EXAMPLE = "give an address such as https://lab.example.org/annotate/"
_PORTS = {"http": 80, "https": 443}
_BASE = re.compile(r"(/[A-Za-z0-9._~-]+)*")
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_ROOTS = ("/a/", "/c/", "/assets/")
"""What every path of the server begins with."""


@dataclass(frozen=True)
class PublicUrl:
    """The address by which people reach the pages, without a slash at its end.

    Parameters
    ----------
    origin : str
        Scheme, host and port, as browsers write them.
    host : str
        The name of the host.
    base : str
        The path that all paths begin with; empty if there is none.
    """

    origin: str
    host: str
    base: str

    def __str__(self) -> str:
        return f"{self.origin}{self.base}"

    @property
    def encrypted(self) -> bool:
        """Whether browsers use TLS."""
        return self.origin.startswith("https:")


def public_url(text: str) -> PublicUrl:
    """Return the address that an option gives.

    Raises
    ------
    ConfigError
        If it is not the address of pages.

    Examples
    --------
    >>> str(public_url("HTTPS://Lab.example.org:443/annotate/"))
    'https://lab.example.org/annotate'
    >>> public_url("https://lab.example.org:8443/").origin
    'https://lab.example.org:8443'
    >>> public_url("lab.example.org")
    Traceback (most recent call last):
    ...
    pipeline.errors.ConfigError: --public-url: 1 error
      - --public-url: 'lab.example.org' is not a URL; give an address such as \
https://lab.example.org/annotate/
    """
    given = text.strip()
    try:
        parts = urlsplit(given)
        port = parts.port
        host = _host(parts.hostname or "")
    except ValueError:
        raise _problem(f"{text!r} is not a URL") from None
    if parts.scheme not in _PORTS or not given.lower().startswith(f"{parts.scheme}://") or not host:
        raise _problem(f"{text!r} is not a URL")
    if "@" in parts.netloc:
        raise _problem("the URL has a user name or password", "leave it out")
    if "?" in given or "#" in given:
        raise _problem(f"{text!r} has a query or a fragment", "leave out what follows ? or #")
    base = _path(parts)
    name = f"[{host}]" if ":" in host else host
    end = "" if port in {None, _PORTS[parts.scheme]} else f":{port}"
    return PublicUrl(f"{parts.scheme}://{name}{end}", host, base)


def _host(name: str) -> str:
    """Return a host as browsers write it; ValueError if it is none."""
    with suppress(ValueError):
        return str(ipaddress.ip_address(name))
    ascii_name = name.encode("idna").decode().lower()
    labels = ascii_name.removesuffix(".").split(".")
    if name and (labels[-1].isdecimal() or not all(map(_LABEL.fullmatch, labels))):
        raise ValueError(name)
    return ascii_name


def _path(parts: SplitResult) -> str:
    base = parts.path.rstrip("/")
    if not _BASE.fullmatch(base) or any(each in {".", ".."} for each in base.split("/")):
        remedy = "use letters, digits and -._~ between single slashes"
        raise _problem(f"the path {parts.path!r} cannot be a base path", remedy)
    return base


def _problem(what: str, remedy: str = _EXAMPLE) -> ConfigError:
    return ConfigError(_OPTION, [Problem(_OPTION, what, remedy)])


def trusted_proxies(given: Sequence[str]) -> tuple[Network, ...]:
    """Return the addresses and networks that an option gives.

    Raises
    ------
    ConfigError
        With each that is none.

    Examples
    --------
    >>> trusted_proxies(["127.0.0.1", "10.0.0.0/8"])
    (IPv4Network('127.0.0.1/32'), IPv4Network('10.0.0.0/8'))
    """
    found: list[Network] = []
    problems: list[Problem] = []
    for each in given:
        try:
            found.append(ipaddress.ip_network(each))
        except ValueError:
            what = f"{each!r} is not an IP address or network"
            remedy = "give addresses in digits: 127.0.0.1, 10.0.0.0/8, ::1"
            problems.append(Problem("--trusted-proxy", what, remedy))
    if problems:
        raise ConfigError("--trusted-proxy", problems)
    return tuple(found)


class Addresses:
    """Brings requests into the form that the routes know.

    A proxy may take the base path off or pass it on. What headers say of the address that the
    browser asked for counts if they come from a trusted proxy; from all others they are ignored.

    Parameters
    ----------
    app : ASGIApp
        What answers.
    base : str
        What all addresses of the server begin with.
    trusted : sequence of network
        Addresses of proxies.
    """

    def __init__(self, app: ASGIApp, *, base: str = "", trusted: Sequence[Network] = ()) -> None:
        self.app = app
        self.base = base
        self.trusted = trusted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http":
            scope = dict(scope)
            if self._is_trusted(scope.get("client")):
                _believe(scope)
            own = scope["path"].removeprefix(self.base)
            if self.base and not own.startswith(_ROOTS):  # the proxy took the base path off
                own = scope["path"]
            scope["root_path"], scope["path"] = self.base, f"{self.base}{own}"
        await self.app(scope, receive, send)

    def _is_trusted(self, client: tuple[str, int] | None) -> bool:
        try:
            found = ipaddress.ip_address(client[0] if client else "")
        except ValueError:
            return False
        if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped:
            found = found.ipv4_mapped
        return any(found in each for each in self.trusted)


def _believe(scope: Scope) -> None:
    """Take host and scheme from a trusted proxy: the last, which it wrote itself."""
    headers = MutableHeaders(raw=list(scope["headers"]))
    host, scheme = (
        (headers.getlist(f"x-forwarded-{name}") or [""])[-1].rpartition(",")[2].strip()
        for name in ("host", "proto")
    )
    if host:
        headers["host"] = host
    if scheme.lower() in _PORTS:
        scope["scheme"] = scheme.lower()
    scope["headers"] = headers.raw
