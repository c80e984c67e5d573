"""Options with which connections to PostgreSQL and Redis notice that the other machine has vanished.

A machine that loses its power, or its network, says nothing. Without these options a connection to it waits
for many minutes. Worse, PostgreSQL keeps the transactions of the lost machine, with their locks. They only
concern TCP; a unix socket has no machine that could vanish. The module does not import Django.
"""

from __future__ import annotations

import socket
from typing import Any
from urllib.parse import urlsplit

IDLE_SECONDS, PROBE_SECONDS, PROBES = 2, 1, 3
"""A silent connection is probed after this many seconds, then this often, and is lost after this many probes.
"""
UNCONFIRMED_SECONDS = 5
"""Seconds after which a connection is lost if the other machine does not confirm what was sent."""


def postgres_client_options() -> dict[str, int]:
    """Return the options of libpq with which we notice that the database's machine has vanished."""
    return {
        "keepalives_idle": IDLE_SECONDS,
        "keepalives_interval": PROBE_SECONDS,
        "keepalives_count": PROBES,
        "tcp_user_timeout": 1000 * UNCONFIRMED_SECONDS,
    }


def postgres_server_settings() -> str:
    """Return the settings, as options of a session, with which PostgreSQL notices that our machine has
    vanished. It then ends our transactions, so that others get their locks."""
    values = {
        "tcp_keepalives_idle": IDLE_SECONDS,
        "tcp_keepalives_interval": PROBE_SECONDS,
        "tcp_keepalives_count": PROBES,
        "tcp_user_timeout": f"{UNCONFIRMED_SECONDS}s",
    }
    return " ".join(f"-c {name}={value}" for name, value in values.items())


def redis_options(url: str) -> dict[str, Any]:
    """Return the options of redis-py and kombu with which a connection to the Redis server at `url` notices
    that its machine has vanished. Empty for a unix socket."""
    if urlsplit(url).scheme == "unix":
        return {}
    wanted = {
        "TCP_KEEPIDLE": IDLE_SECONDS,
        "TCP_KEEPINTVL": PROBE_SECONDS,
        "TCP_KEEPCNT": PROBES,
        "TCP_USER_TIMEOUT": 1000 * UNCONFIRMED_SECONDS,
    }
    known = {getattr(socket, name): value for name, value in wanted.items() if hasattr(socket, name)}
    return {"socket_keepalive": True, "socket_keepalive_options": known}
