"""Read and write the file of a whole study: a ZIP of the design, its translations and its media.

`study.toml` has the design, `translations/LANGUAGE.toml` the translations of one language by path, and
`media/` the files that pages show. The design may also come alone, as a TOML file that has the translations.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from kitchen.contract.data_files import DataError, DataSource, parse_toml
from kitchen.contract.data_limits import MAX_FILE_BYTES, DataLimitError, read_foreign
from kitchen.contract.world import Json
from kitchen.contract.zip_entries import ZIP, ZipLimits, read_zip
from kitchen.infra.file_writing import zip_files
from study.design.media.media_limits import MIB, largest_upload
from study.design.study_errors import DesignError
from study.design.toml_text import toml_text

DESIGN = "study.toml"
_TRANSLATION = re.compile(r"translations/([a-z]{2,3}(?:-[a-z]{2,4})?)\.toml")
MEDIA_FOLDER = "media"
"""The folder with the media files, in the ZIP or beside a TOML file."""
_MEDIA = re.compile(rf"{MEDIA_FOLDER}/([^/]+)")
LIMITS = ZipLimits(files=200, bytes=48 * 2**20)
"""The most files, and the most bytes when unpacked, of the file of a study."""
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
"""The date of the files in the ZIP, so that equal studies have equal files."""
MAX_ZIP = f"{MAX_FILE_BYTES // MIB} MiB"
WAY_OUT = (
    "Delete media that no page shows, or give smaller files. A backup of the whole server moves media of any "
    "size."
)
"""Advice for a study that does not fit into a ZIP."""
THERE_ARE = f"there are {DESIGN}, translations/LANGUAGE.toml and media/NAME"


@dataclass(frozen=True, slots=True)
class StudyContent:
    """The content of a study's file. `source` names the file in error messages, `values` are those of
    `StudyFile`, and `media` the media files by name."""

    source: DataSource
    values: Mapping[str, Json]
    media: Mapping[str, bytes] = field(default_factory=dict)


def read_study_bytes(data: bytes, name: str) -> StudyContent:
    """Return the content of a study's file, a ZIP or a TOML text. `name` is the file's name, for errors.
    Raises DataError if it cannot be read."""
    if not data.startswith(ZIP):
        return StudyContent(*parse_toml(_text(data, name), name, foreign=True))
    try:
        files = read_foreign(read_zip, data, LIMITS)
    except DataLimitError as error:
        raise DataError(f"{name}: {error}") from None
    if DESIGN not in files:
        raise DataError(f"{name}: {DESIGN} is missing in it")
    source, values = parse_toml(_text(files.pop(DESIGN), DESIGN), DESIGN, foreign=True)
    media, texts = dict[str, bytes](), dict[str, Json]()
    for path, content in files.items():
        if found := _TRANSLATION.fullmatch(path):
            _, texts[found[1]] = parse_toml(_text(content, path), path, foreign=True)
        elif found := _MEDIA.fullmatch(path):
            media[found[1]] = content
        else:
            raise DataError(f"{name}: {path}: unknown file; {THERE_ARE}")
    return StudyContent(source, {**values, **_merged_texts(source, values, texts)}, media)


def media_beside(path: Path) -> dict[str, bytes]:
    """Return the media files beside a study's TOML file, by name. Raises DataError if one is too large."""
    folder, found = path.parent / MEDIA_FOLDER, dict[str, bytes]()
    for file in sorted(folder.iterdir()) if folder.is_dir() else ():
        if file.is_symlink() or not file.is_file():
            continue
        if file.stat().st_size > largest_upload():
            raise DataError(f"{MEDIA_FOLDER}/{file.name} is too large")
        found[file.name] = file.read_bytes()
    return found


def _merged_texts(
    source: DataSource, values: Mapping[str, Json], texts: Mapping[str, Json]
) -> dict[str, Json]:
    """Return the key `texts` with the translations of all files; nothing without any. Raises DataError for a
    language that the design and a file have."""
    own = values.get("texts", {})
    if not texts or not isinstance(own, dict):
        return {}
    if twice := own.keys() & texts.keys():
        raise source.error(f"texts.{min(twice)}", "is in a file of its own, too")
    return {"texts": {**own, **texts}}


def _text(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{name}: is not a text in UTF-8") from None


def study_zip(slug: str, values: Mapping[str, Json], media: Mapping[str, bytes]) -> bytes:
    """Return the ZIP of a study. `values` are those of `StudyFile`. Equal studies give equal bytes. Raises
    DesignError if no server could read the ZIP."""
    texts = values.get("texts", {})
    written = {DESIGN: toml_text({name: one for name, one in values.items() if name != "texts"})}
    written |= {f"translations/{language}.toml": toml_text(texts[language]) for language in texts}
    files = {name: text.encode() for name, text in written.items()}
    files |= {f"{MEDIA_FOLDER}/{name}": data for name, data in media.items()}
    data = zip_files(files, folder=slug, at=LONG_AGO)
    if len(data) > MAX_FILE_BYTES:
        raise DesignError(f"The ZIP would have {in_mib(len(data))}, and {MAX_ZIP} are read. {WAY_OUT}")
    try:
        read_zip(data, LIMITS)
    except DataLimitError as error:
        raise DesignError(f"No server could read the ZIP: it {error}. {WAY_OUT}") from None
    return data


def media_problem(size: int) -> str:
    """Return why a study whose media have `size` bytes cannot be written as a ZIP. Return an empty string if
    it may fit."""
    if size <= LIMITS.bytes:
        return ""
    most = f"{LIMITS.bytes // MIB} MiB"
    return f"The media of this study have {in_mib(size)}, and a ZIP may hold {most}. {WAY_OUT}"


def in_mib(size: int) -> str:
    """Return a number of bytes as text, rounded up: `49 MiB`."""
    return f"{-(-size // MIB)} MiB"
