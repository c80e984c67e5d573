"""Find the network address that a request comes from.

Behind a trusted proxy (`TRUSTED_PROXIES`) it is the address that the proxy forwards. Anybody can write that
header, so it is believed from our own proxies only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any, TypeAlias

from django.conf import settings
from django.http import HttpRequest

Address: TypeAlias = IPv4Address | IPv6Address


def client_address(request: HttpRequest) -> Address | None:
    """The last address on the way here that is no trusted proxy's; a program of this machine has its
    loopback address. None if nobody says."""
    return resolve_client_address(
        request.META.get("REMOTE_ADDR"), request.META.get("HTTP_X_FORWARDED_FOR", "")
    )


def websocket_client_address(scope: Mapping[str, Any]) -> Address | None:
    """The same for a websocket."""
    forwarded = [value for name, value in scope.get("headers", ()) if name == b"x-forwarded-for"]
    peer = scope.get("client") or (None, None)
    return resolve_client_address(peer[0], b",".join(forwarded).decode("ascii", "replace"))


def resolve_client_address(asked_from: str | None, forwarded: str) -> Address | None:
    """The same for whoever asks from there, with this said by proxies."""
    peer = _read(asked_from or "127.0.0.1")  # a unix socket is this machine
    if not forwarded or not _trusted(peer):
        return peer
    return _nearest_stranger(reversed(forwarded.split(",")))


def _nearest_stranger(way: Iterable[str]) -> Address | None:
    """From our own proxy outwards; what lies behind the first stranger, the stranger may have made up."""
    address = None
    for said in way:
        address = _read(said)
        if not _trusted(address):
            return address
    return address


def client_network(address: Address) -> str:
    """What one household or office has: an IPv4 address, or the /64 network of an IPv6 address."""
    if isinstance(address, IPv6Address):
        return str(ip_network((address, 64), strict=False))
    return str(address)


_WITH_PORT = re.compile(r"\[(?P<six>[^\]]*)\](:\d+)?|(?P<four>[\d.]+):\d+")
"""As some proxies write an address: with the port from which it came."""


def _read(said: str) -> Address | None:
    """An address, with or without a port; None for anything else."""
    found = _WITH_PORT.fullmatch(said := said.strip())
    try:
        address = ip_address((found["six"] or found["four"]) if found else said)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _trusted(address: Address | None) -> bool:
    return address is not None and any(address in network for network in settings.TRUSTED_PROXIES)
