"""Define which files a study's pages may show, and how large they may be. The module imports no Django.

The environment variable `BRIGADE_MEDIA_MIB` changes the limits, for example `image=8,video=100`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache

MIB = 2**20
DEFAULT_MIB: Mapping[str, int] = {"image": 5, "sound": 20, "video": 50, "download": 20}
"""Maximum MiB of one file, by kind."""
HIGHEST_MIB = 200
"""The highest limit that the environment may set. Files are stored in the database."""
MOST_FILES = 100
"""Maximum number of files of one study."""
MOST_BYTES = 500 * MIB
"""Maximum bytes of all files of one study."""

KINDS: Mapping[str, str] = {
    "png": "image",
    "jpg": "image",
    "jpeg": "image",
    "webp": "image",
    "gif": "image",
    "mp3": "sound",
    "ogg": "sound",
    "wav": "sound",
    "m4a": "sound",
    "mp4": "video",
    "webm": "video",
    "pdf": "download",
    "csv": "download",
    "zip": "download",
    "txt": "download",
}
"""The kind of a file, by the ending of its name."""
CONTENT_TYPES: Mapping[str, str] = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
    "gif": "image/gif",
    "mp3": "audio/mpeg",
    "ogg": "audio/ogg",
    "wav": "audio/wav",
    "m4a": "audio/mp4",
    "mp4": "video/mp4",
    "webm": "video/webm",
    "pdf": "application/pdf",
    "csv": "text/csv; charset=utf-8",
    "zip": "application/zip",
    "txt": "text/plain; charset=utf-8",
}
"""The content type under which a file is served, by the ending of its name."""
FORM_BYTES = MIB
"""Bytes that an upload's request may have beside the file."""

UPLOAD_PATH = re.compile(r"/staff/[-\w]+/design/(?:media|flow/(?:new|[0-9]+))/")
"""The addresses that take a file."""


class MediaLimitError(ValueError):
    """Raised when `BRIGADE_MEDIA_MIB` cannot be read. The message is one line."""


@cache
def limits_of(chosen: str) -> Mapping[str, int]:
    """Return the maximum bytes of a file by kind. `chosen` is the value of the environment variable.

    Raises MediaLimitError for a kind that does not exist, or a limit outside 1 to `HIGHEST_MIB`.
    """
    limits = dict(DEFAULT_MIB)
    for part in filter(None, (one.strip() for one in chosen.split(","))):
        kind, _, number = (one.strip() for one in part.partition("="))
        if kind not in limits:
            raise MediaLimitError(f"BRIGADE_MEDIA_MIB: {kind!r} is none of {', '.join(limits)}")
        if not number.isascii() or not number.isdigit() or not 1 <= int(number) <= HIGHEST_MIB:
            raise MediaLimitError(f"BRIGADE_MEDIA_MIB: {kind} must be a whole number from 1 to {HIGHEST_MIB}")
        limits[kind] = int(number)
    return {kind: number * MIB for kind, number in limits.items()}


def media_limits() -> Mapping[str, int]:
    """Return the maximum bytes of a file by kind, as this installation sets them."""
    return limits_of(os.environ.get("BRIGADE_MEDIA_MIB", ""))


def largest_upload() -> int:
    """Return the maximum bytes of a request that uploads a file."""
    return max(media_limits().values()) + FORM_BYTES


def limit_words() -> str:
    """Return the limits as text: `images 5 MiB, …`."""
    plural = {"image": "images", "sound": "sounds", "video": "videos", "download": "downloads"}
    return ", ".join(f"{plural[kind]} {limit // MIB} MiB" for kind, limit in media_limits().items())
