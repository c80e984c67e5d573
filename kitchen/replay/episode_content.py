"""Read and write the bytes of an episode file: JSON with a hash, possibly compressed. Imports no Django.

The last field, `hash`, is the SHA-256 of the bytes before it, closed by `}`. Those bytes are the canonical
JSON of the other fields. Files of earlier versions, and files that were formatted anew, can be checked, too.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from typing import Any

from kitchen.contract.canonical_json import Json, canonical_hash, canonical_json, text_hash
from kitchen.contract.data_limits import DataLimitError, read_json_file

KIND, FORMAT = "brigade episode", 1
NO_JSON = "it is not JSON"
NOT_OURS = "it is not an exported episode"
OTHER_FORMAT = "it is of format {format}; this version reads format {known}"
CHANGED = "it was changed after the export: its hash is different"

_END = re.compile(rb',"hash":"([0-9a-f]{64})"\}\s*')
END_BYTES = 100
"""More bytes than the field `hash` has."""


MAX_REASON_CHARACTERS = 300
"""Maximum length of the reason why a file is refused. It may repeat values of the file."""


class EpisodeFileError(ValueError):
    """The file contains no episode that can be replayed here. The message is one line."""

    def __init__(self, reason: str = "") -> None:
        is_long = len(reason) > MAX_REASON_CHARACTERS
        super().__init__(f"{reason[: MAX_REASON_CHARACTERS - 1]}…" if is_long else reason)


def episode_bytes(content: dict[str, Json]) -> bytes:
    """Return the bytes of the file with this content, to which the field `hash` is added. The same content
    always gives the same bytes."""
    plain = canonical_json(content)
    return f'{plain[:-1]},"hash":"{text_hash(plain)}"}}\n'.encode()


def episode_content(data: bytes) -> dict[str, Any]:
    """Return the content of an episode file, without its hash. Raises EpisodeFileError if the file is too
    large, is no such file, or was changed."""
    try:
        plain, content = read_json_file(data)
    except DataLimitError as error:
        raise EpisodeFileError(f"it {error}") from None
    except (ValueError, zlib.error):
        raise EpisodeFileError(NO_JSON) from None
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise EpisodeFileError(NOT_OURS)
    if content.get("format") != FORMAT:
        raise EpisodeFileError(OTHER_FORMAT.format(format=content.get("format"), known=FORMAT))
    stated = content.pop("hash", None)
    if not raw_hash_matches(plain) and stated != canonical_hash(content):
        raise EpisodeFileError(CHANGED)
    return content


def raw_hash_matches(plain: bytes) -> bool:
    """Return whether the file ends with the hash of its bytes."""
    begin = max(0, len(plain) - END_BYTES)
    found = _END.search(plain, begin)
    if not found or found.end() != len(plain):
        return False
    digest = hashlib.sha256(memoryview(plain)[: found.start()])
    digest.update(b"}")
    return digest.hexdigest() == found[1].decode()


def gzip_bytes(data: bytes) -> bytes:
    """Compress data with gzip. The same data always give the same bytes."""
    return gzip.compress(data, 9, mtime=0)
