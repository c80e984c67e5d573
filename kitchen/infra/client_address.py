"""Find the network address that a request comes from.

Behind a trusted proxy (`TRUSTED_PROXIES`) it is the address that the proxy forwards. Anybody can write that
header, so it is believed only from the installation's own proxies.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any, TypeAlias

from django.conf import settings
from django.http import HttpRequest

Address: TypeAlias = IPv4Address | IPv6Address


def client_address(request: HttpRequest) -> Address | None:
    """Return the address of the client, the nearest one that is not a trusted proxy.

    A program on this machine has its loopback address. Returns None if the address is unknown.
    """
    return resolve_client_address(
        request.META.get("REMOTE_ADDR"), request.META.get("HTTP_X_FORWARDED_FOR", "")
    )


def websocket_client_address(scope: Mapping[str, Any]) -> Address | None:
    """Return the address of a websocket's client, as `client_address` does for a request; None if it is
    unknown."""
    forwarded = [value for name, value in scope.get("headers", ()) if name == b"x-forwarded-for"]
    peer = scope.get("client") or (None, None)
    return resolve_client_address(peer[0], b",".join(forwarded).decode("ascii", "replace"))


def resolve_client_address(asked_from: str | None, forwarded: str) -> Address | None:
    """Return the client's address from the peer's address and the `X-Forwarded-For` header; None if it is
    unknown."""
    peer = _read(asked_from or "127.0.0.1")  # no address: a Unix socket of this machine
    if not forwarded or not _trusted(peer):
        return peer
    way = [_read(said) for said in reversed(forwarded.split(","))]
    # what an address that is no trusted proxy says of others may be invented
    return next((address for address in way if not _trusted(address)), way[-1])


def client_network(address: Address) -> str:
    """Return the text for one household or office: an IPv4 address, or an IPv6 address's /64 network."""
    if isinstance(address, IPv6Address):
        return str(ip_network((address, 64), strict=False))
    return str(address)


_WITH_PORT = re.compile(r"\[(?P<six>[^\]]*)\](:\d+)?|(?P<four>[\d.]+):\d+")
"""An address with a port, as some proxies write it."""


def _read(said: str) -> Address | None:
    """Read an address with or without a port. None for any other text."""
    found = _WITH_PORT.fullmatch(said := said.strip())
    try:
        address = ip_address((found["six"] or found["four"]) if found else said)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _trusted(address: Address | None) -> bool:
    return address is not None and any(address in network for network in settings.TRUSTED_PROXIES)
