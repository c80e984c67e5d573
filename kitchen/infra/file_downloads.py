"""Make HTTP responses that the browser saves as a file.

The download can begin before the whole file has been produced.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

from asgiref.sync import sync_to_async
from django.http import HttpResponseBase, StreamingHttpResponse


def streaming_download(
    pieces: Iterator[bytes] | AsyncIterator[bytes], content_type: str, name: str
) -> HttpResponseBase:
    """Return a response that sends these pieces one after another. The browser saves them as a file with
    this name."""
    sent = pieces_in_thread(pieces) if isinstance(pieces, Iterator) else pieces
    return as_attachment(StreamingHttpResponse(sent, content_type=content_type), name)


def as_attachment(response: HttpResponseBase, name: str) -> HttpResponseBase:
    """Set the header that makes the browser save the response as a file with this name. Return the
    response."""
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


async def pieces_in_thread(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the pieces, each produced in the database thread when it is needed."""
    next_piece = sync_to_async(lambda: next(pieces, None))
    while (piece := await next_piece()) is not None:
        if piece:
            yield piece
