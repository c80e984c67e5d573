"""Find the IP address of the client that sent an HTTP request or opened a websocket.

Behind a trusted proxy (setting `TRUSTED_PROXIES`), the address is read from the `X-Forwarded-For` header.
Otherwise the header is ignored, because any client can forge it.
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
    """Return the IP address of the client that sent this request. It is the last address on the way to this
    server that is not a trusted proxy.

    Programs on this machine have the loopback address. Return None if the address cannot be read.
    """
    return resolve_client_address(
        request.META.get("REMOTE_ADDR"), request.META.get("HTTP_X_FORWARDED_FOR", "")
    )


def scope_client_address(scope: Mapping[str, Any]) -> Address | None:
    """Return the IP address of the client of a websocket or request. It is the last address on the way to
    this server that is not a trusted proxy. None if it cannot be read.

    `scope` is the ASGI scope.
    """
    forwarded = [value for name, value in scope.get("headers", ()) if name == b"x-forwarded-for"]
    peer = scope.get("client") or (None, None)
    return resolve_client_address(peer[0], b",".join(forwarded).decode("ascii", "replace"))


def resolve_client_address(asked_from: str | None, forwarded: str) -> Address | None:
    """Return the client's IP address; None if it cannot be read. `asked_from` is the address of the
    connection, and `forwarded` the `X-Forwarded-For` header."""
    peer = _read(asked_from or "127.0.0.1")  # no address: a unix socket, which only our web server can reach
    if not forwarded or (asked_from and not _trusted(peer)):
        return peer
    way = [_read(said) for said in reversed(forwarded.split(","))]
    # what an address that is no trusted proxy says of others may be invented
    return next((address for address in way if not _trusted(address)), way[-1])


def client_network(address: Address) -> str:
    """Return a text that is the same for all clients in one household or office. For IPv4 it is the
    address, for IPv6 the /64 network."""
    if isinstance(address, IPv6Address):
        return str(ip_network((address, 64), strict=False))
    return str(address)


def client_networks(address: Address) -> list[str]:
    """Return the network of `client_network`. For IPv6, also return the /48 network, which one customer of a
    provider may have."""
    if isinstance(address, IPv6Address):
        return [client_network(address), str(ip_network((address, 48), strict=False))]
    return [client_network(address)]


LARGER_NETWORKS = {4: ((24, 4),), 6: ((56, 2), (48, 4))}
"""By IP version: lengths of the larger networks that limits count, too, and how many times as much each may
do as one household. One person may have many small networks, so limits of those alone would stop nobody."""


def networks_with_shares(address: Address | None) -> list[tuple[str, int]]:
    """Return the networks of a client, the smallest first, each with how many times as much it may do as one
    household. Clients without a readable address are one network."""
    if address is None:
        return [("unknown", 1)]
    larger = [
        (str(ip_network((address, length), strict=False)), share)
        for length, share in LARGER_NETWORKS[address.version]
    ]
    return [(client_network(address), 1), *larger]


_WITH_PORT = re.compile(r"\[(?P<six>[^\]]*)\](:\d+)?|(?P<four>[\d.]+):\d+")
"""An address with a port, as some proxies write it."""


def _read(said: str) -> Address | None:
    """Read an IP address, with or without a port, from a text. Return None if the text is no address."""
    found = _WITH_PORT.fullmatch(said := said.strip())
    try:
        address = ip_address((found["six"] or found["four"]) if found else said)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _trusted(address: Address | None) -> bool:
    return address is not None and any(address in network for network in settings.TRUSTED_PROXIES)
