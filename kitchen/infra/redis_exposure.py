"""Check whether other machines could reach the app's Redis without a password.

Anybody who reaches it could read data that the app analyses, and send tasks to its workers. Imports no
Django.
"""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit


def why_exposed(url: str) -> str:
    """Return a warning if other machines can reach Redis at this address without a password. It contains no
    secrets.

    Empty if the address is on this machine or has a password.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme == "unix" or parts.password or _is_here(host):
        return ""
    return (
        f"the Redis at {host} wants no password: whoever reaches it sees what is analysed and commands our "
        "workers. Set one there and in REDIS_URL, with TLS (rediss://:password@host:6379/0)"
    )


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
