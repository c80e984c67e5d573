"""Send one HTTP request to a running app, from a thread of a program that measures."""

from __future__ import annotations

import http.client
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

TIMEOUT = 120.0
REQUEST_ERRORS = (OSError, http.client.HTTPException)
"""What `send_request` raises."""


class Answer(NamedTuple):
    """One response."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def send_request(
    url: str, method: str, path: str, headers: Mapping[str, str], body: str | bytes | None = None
) -> Answer:
    """Send a request over a new connection, and return the response. Raises one of `REQUEST_ERRORS`."""
    where = urlsplit(url)
    connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=TIMEOUT)
    try:
        connection.request(method, path, body, dict(headers))
        answer = connection.getresponse()
        return Answer(answer.status, dict(answer.headers), answer.read())
    finally:
        connection.close()
