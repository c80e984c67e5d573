"""Limit what a model's server may send: the size of its responses, and redirects to other hosts.

`limit_response` is a hook of the HTTP client. It runs before the body of a response is read. This module
imports the HTTP client, so it is imported at the first call only.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator

import httpx2

MAX_BODY_BYTES = 4 * 2**20
"""Largest body of a response, unpacked: more than a model can write in `max_tokens`, with its thinking."""
MAX_BATCH_BYTES = 64 * 2**20
"""Largest body with the answers of a whole batch."""
BATCH_ENDINGS = ("/results", "/content")
"""Ends of the addresses from which the answers of a batch are read."""
MAX_PIECES = 50_000
"""Largest number of pieces in which a body of `MAX_BODY_BYTES` may arrive, because each of them takes time.
Longer bodies may have more pieces, in proportion."""
ACCEPTED_ENCODINGS = "gzip, deflate"


class TooLongBodyError(httpx2.TransportError):
    """The body of a response is larger than MAX_BODY_BYTES, or arrived in too many pieces."""


class ForeignRedirectError(httpx2.TransportError):
    """The server wants the request, which holds a key, to be sent to another host."""


class UnknownEncodingError(httpx2.TransportError):
    """The body is packed in a way that was not asked for."""


async def limit_response(response: httpx2.Response) -> None:
    """Limit the size of this response while it arrives. Raises ForeignRedirectError if it leads to another
    host, or from HTTPS to HTTP."""
    if response.has_redirect_location:
        _check_redirect(response.request.url, response.request.url.join(response.headers["location"]))
    encoding = response.headers.pop("content-encoding", "").strip().lower()
    if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise UnknownEncodingError(encoding[:40])
    if not isinstance(response.stream, httpx2.AsyncByteStream):
        return
    is_batch = response.request.url.path.endswith(BATCH_ENDINGS)
    most = MAX_BATCH_BYTES if is_batch else MAX_BODY_BYTES
    response.stream = _LimitedStream(response.stream, most, packed=encoding not in ("", "identity"))


def _check_redirect(asked: httpx2.URL, leads_to: httpx2.URL) -> None:
    if leads_to.host != asked.host or (asked.scheme == "https" and leads_to.scheme != "https"):
        raise ForeignRedirectError(f"the server sends the request on to {leads_to.scheme}://{leads_to.host}")


class _LimitedStream(httpx2.AsyncByteStream):
    """The unpacked body of a response, up to `most` bytes."""

    def __init__(self, stream: httpx2.AsyncByteStream, most: int, *, packed: bool) -> None:
        self._stream, self._most = stream, most
        self._unpacks = zlib.decompressobj(zlib.MAX_WBITS | 32) if packed else None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left, pieces, most_pieces = self._most, 0, MAX_PIECES * self._most // MAX_BODY_BYTES
        async for piece in self._stream:
            came = self._unpacks.decompress(piece, left + 1) if self._unpacks else piece
            left, pieces = left - len(came), pieces + 1
            if left < 0 or pieces > most_pieces:
                raise TooLongBodyError(f"the answer is longer than {self._most // 2**20} MiB, or in shreds")
            yield came

    async def aclose(self) -> None:
        await self._stream.aclose()
