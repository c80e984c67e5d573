"""Static files, squeezed where the browser can: scripts, styles and drawings are a third as long on the wire.

Nobody has to collect them first. Each process squeezes at its start what is not there yet, into `static/` in
`var/`, under a name that says what is in it; so a file that has changed is squeezed anew. What cannot be
written is served as it is.
"""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path
from typing import Any

from django.conf import settings
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile

from kitchen.machine import atomic

SQUEEZABLE = (".css", ".js", ".svg", ".json", ".txt", ".map")
SHORTEST = 512
"""Bytes of a file that is worth it."""


class SqueezedMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]
    """WhiteNoise, which sends gzip to whoever takes it."""

    def get_static_file(self, path: str, url: str, stat_cache: dict[str, Any] | None = None) -> StaticFile:
        """One file with its headers, and what it is when squeezed."""
        plain = super().get_static_file(path, url, stat_cache)
        if (found := squeezed(Path(path))) is None:
            return plain
        headers = [(name, value) for name, value in plain.alternatives[-1][2] if name != "Content-Length"]
        return StaticFile(path, headers, encodings={"gzip": str(found)})


def squeezed(file: Path) -> Path | None:
    """The same file as gzip; None where that is not worth it, or cannot be kept."""
    if file.suffix not in SQUEEZABLE or file.stat().st_size < SHORTEST:
        return None
    content = file.read_bytes()
    kept = Path(settings.VAR_DIR) / "static" / f"{hashlib.sha256(content).hexdigest()[:32]}.gz"
    try:
        kept.parent.mkdir(exist_ok=True)
        return kept if kept.exists() else atomic.put(kept, gzip.compress(content, mtime=0))
    except OSError:
        return None
