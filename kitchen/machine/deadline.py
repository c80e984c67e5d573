"""A deadline for a whole HTTP exchange.

An HTTP client's timeouts are for one read each: a server that sends a byte now and then is waited for without
end. Here every connect, handshake, read and write gets at most the time that is left until the deadline, and
raises httpx2's own timeout after it. Only looking up the server's name is not bounded.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpcore2
import httpx2

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """What this thread sends and receives in here, through clients that are `bounded`, ends in time."""
    token = _deadline.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def bounded(client: httpx2.Client) -> httpx2.Client:
    """The same client, keeping to `within`. Its proxies, certificates and pools stay as they are."""
    transports: list[Any] = [client._transport, *client._mounts.values()]
    for transport in transports:
        if transport is not None:
            pool = transport._pool
            pool._network_backend = _Backend(pool._network_backend)
    return client


def _left(given: float | None, too_late: type[Exception]) -> float | None:
    deadline = _deadline.get()
    if deadline is None:
        return given
    left = deadline - time.monotonic()
    if left <= 0:
        raise too_late("the deadline of the call is over")
    return left if given is None else min(given, left)


class _Stream(httpcore2.NetworkStream):
    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self.stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self.stream.read(max_bytes, _left(timeout, httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.stream.write(buffer, _left(timeout, httpcore2.WriteTimeout))

    def close(self) -> None:
        self.stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        left = _left(timeout, httpcore2.ConnectTimeout)
        return _Stream(self.stream.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        return self.stream.get_extra_info(info)


class _Backend(httpcore2.NetworkBackend):
    def __init__(self, backend: httpcore2.NetworkBackend) -> None:
        self.backend = backend

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        left = _left(timeout, httpcore2.ConnectTimeout)
        return _Stream(self.backend.connect_tcp(host, port, left, local_address, socket_options))

    def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        left = _left(timeout, httpcore2.ConnectTimeout)
        return _Stream(self.backend.connect_unix_socket(path, left, socket_options))

    def sleep(self, seconds: float) -> None:
        self.backend.sleep(seconds)
