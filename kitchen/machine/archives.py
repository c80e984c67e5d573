"""Small files as one ZIP, made at once."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from datetime import datetime


def zip_of(files: Mapping[str, bytes], *, folder: str, at: datetime) -> bytes:
    """These files, by name, in a folder of the archive; always the same bytes for the same."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(f"{folder}/{name}", at.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
    return out.getvalue()
