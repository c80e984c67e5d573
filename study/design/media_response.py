"""Answer a request for a media file: fixed type, a policy that runs nothing, and parts of a file."""

from __future__ import annotations

import re
from collections.abc import Mapping

from django.db.models import BinaryField, F
from django.db.models.functions import Substr
from django.http import HttpRequest, HttpResponse

from kitchen.infra.file_downloads import as_attachment
from study.design.models import StudyMedia

LARGEST_PART = 2**20
"""Maximum bytes of a response to a request for a part. Browsers then ask for the next part."""
POLICY = "sandbox; default-src 'none'"
"""The content security policy of a file that is opened by itself: the browser only shows it."""
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "private, max-age=31536000, immutable",
    "Accept-Ranges": "bytes",
}
_RANGE = re.compile(r"bytes=(\d{0,12})-(\d{0,12})")


def media_response(request: HttpRequest, row: StudyMedia) -> HttpResponse:
    """Return the file, or the part that the header `Range` asks for. `row` need not have its bytes loaded.

    The address of a file contains its hash, so its content never changes.
    """
    tag = f'"{row.sha256}"'
    if request.headers.get("If-None-Match") == tag:
        return _with_headers(HttpResponse(status=304), row, tag)
    asked = request.headers.get("Range", "")
    if not asked or request.headers.get("If-Range", tag) != tag or "," in asked:
        return _with_headers(HttpResponse(_bytes(row, 0, row.size), content_type=row.content_type), row, tag)
    begin, end = asked_part(asked, row.size)
    if begin >= end:
        response = HttpResponse(status=416)
        response["Content-Range"] = f"bytes */{row.size}"
        return _with_headers(response, row, tag)
    end = min(end, begin + LARGEST_PART)
    response = HttpResponse(_bytes(row, begin, end), status=206, content_type=row.content_type)
    response["Content-Range"] = f"bytes {begin}-{end - 1}/{row.size}"
    return _with_headers(response, row, tag)


def asked_part(header: str, size: int) -> tuple[int, int]:
    """Return the first byte of the part that a `Range` header asks for, and the byte behind its last one. The
    part is empty if the file has no such bytes, and the whole file if the header cannot be read."""
    found = _RANGE.fullmatch(header.strip())
    if found is None or not (found[1] or found[2]):
        return 0, size
    if not found[1]:  # the last bytes
        return max(0, size - int(found[2])), size if int(found[2]) else 0
    begin = int(found[1])
    return begin, min(size, int(found[2]) + 1 if found[2] else size)


def _bytes(row: StudyMedia, begin: int, end: int) -> bytes:
    """Return these bytes of the file. The database cuts them out, so that nothing else is read."""
    part = Substr(F("data"), begin + 1, end - begin, output_field=BinaryField())
    found = StudyMedia.objects.filter(pk=row.pk).values_list(part, flat=True).first()
    return bytes(found or b"")


def _with_headers(response: HttpResponse, row: StudyMedia, tag: str) -> HttpResponse:
    response["ETag"] = tag
    for name, value in HEADERS.items():
        response[name] = value
    if row.kind == "download":
        as_attachment(response, row.name)
    return response
