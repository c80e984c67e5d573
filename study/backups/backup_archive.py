"""Write and read a backup file: a tar archive with the database and, optionally, the secret key.

The first file in the archive is a manifest with the hashes of the other files. If the hash of a file differs,
the file is refused before it is used.
"""

from __future__ import annotations

import json
import os
import shutil
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from hashlib import file_digest, sha256
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from kitchen.contract.data_limits import read_json
from kitchen.words.english_text import counted_noun, os_error_words

FORMAT = 1
"""Version of the file format. Increase it when older programs can no longer read the file."""
MANIFEST, KEY = "manifest.json", "secret.key"
MAX_MANIFEST_BYTES = 2**20
"""Maximum size of a manifest. It lists migrations and hashes, which are some ten thousand bytes."""
DATABASES = {"sqlite": "database.sqlite3", "postgresql": "database.dump"}
"""Name of the database in the tar, by Django's name of its kind."""
ONE = {"studies": "study", "participants": "participant", "episodes": "episode"}
"""Singular of the names in a manifest's counts."""


class BackupError(Exception):
    """The backup or restore failed, and nothing was changed. The message is one line."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The description of a backup: its time, database, migrations, counts and hashes."""

    made_at: str
    database: str
    """`sqlite` or `postgresql`."""
    server: int
    """Major version of the PostgreSQL server it comes from; 0 for SQLite."""
    migrations: Mapping[str, list[str]]
    """Names of the applied migrations, by app."""
    counts: Mapping[str, int]
    """Numbers of studies, participants and episodes."""
    key: str
    """Hash of the secret key that belongs to the backup."""
    hashes: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of each other file."""
    format: int = FORMAT

    @property
    def words(self) -> str:
        """Return the numbers of studies, participants and episodes as text."""
        return ", ".join(
            counted_noun(count, ONE.get(name, name), name) for name, count in self.counts.items()
        )


def key_hash(key: str) -> str:
    """Return a short hash of a secret key. It lets people compare keys without seeing them."""
    return sha256(f"brigade.key:{key}".encode()).hexdigest()[:16]


def archive_write(file: Path, manifest: Manifest, database: Path, key: str) -> None:
    """Write the backup completely or not at all. Only the operating-system user that runs the app can read
    the file. Raises OSError if it cannot be written or already exists."""
    name = DATABASES[manifest.database]
    hashes = {name: hash_of(database)} | ({KEY: sha256(key.encode()).hexdigest()} if key else {})
    said = json.dumps(asdict(manifest) | {"hashes": hashes}, indent=1).encode()
    draft = file.with_name(f".{file.name}.part")
    try:
        with _private(draft) as out:
            with tarfile.open(fileobj=out, mode="w") as tar:
                _add(tar, MANIFEST, BytesIO(said), len(said))
                if key:
                    _add(tar, KEY, BytesIO(key.encode()), len(key.encode()))
                with database.open("rb") as data:
                    _add(tar, name, data, database.stat().st_size)
            out.flush()
            os.fsync(out.fileno())
        os.link(draft, file)
    finally:
        draft.unlink(missing_ok=True)


def _private(file: Path) -> IO[bytes]:
    """Create a file that only the current operating-system user may read, and open it."""
    return os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _add(tar: tarfile.TarFile, name: str, data: IO[bytes], size: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, 0o600
    tar.addfile(entry, data)


def hash_of(file: Path) -> str:
    """Return the SHA-256 of the file's content."""
    with file.open("rb") as data:
        return file_digest(data, "sha256").hexdigest()


@contextmanager
def open_archive(file: Path) -> Iterator[tuple[tarfile.TarFile, Manifest]]:
    """Open a backup for reading, and yield its tar file and manifest. Raises BackupError if the file is
    not a backup, or if a later version made it."""
    try:
        with tarfile.open(file, "r:") as tar:
            yield tar, _manifest(tar, file)
    except OSError as error:
        raise BackupError(f"{file}: {os_error_words(error)}") from error
    except tarfile.TarError as error:
        raise BackupError(f"{file} is no backup of Brigade, or it is damaged") from error


def _manifest(tar: tarfile.TarFile, file: Path) -> Manifest:
    try:
        first = tar.next()
        if first is None or first.name != MANIFEST or not (data := tar.extractfile(first)):
            raise ValueError
        said: dict[str, Any] = read_json(data.read(MAX_MANIFEST_BYTES).decode())
        number = int(said["format"])
        manifest = Manifest(**{slot.name: said[slot.name] for slot in fields(Manifest)})
    except (ValueError, KeyError, TypeError) as error:
        raise BackupError(f"{file} is no backup of Brigade, or it is damaged") from error
    if number > FORMAT or manifest.database not in DATABASES:
        raise BackupError(f"{file} was made by a later version of Brigade: update first")
    return manifest


def unpack(tar: tarfile.TarFile, manifest: Manifest, name: str, to: Path) -> Path:
    """Extract the file `name` of the backup (mode 0600), and return its path. Raises BackupError if the
    file does not match its hash in the manifest."""
    try:
        data = tar.extractfile(name)
    except KeyError:
        data = None
    with _private(to) as out:
        if data:
            shutil.copyfileobj(data, out)
        out.flush()
        os.fsync(out.fileno())
    if data is None or hash_of(to) != manifest.hashes.get(name):
        raise BackupError(f"the backup is damaged: {name} is not what was written")
    return to
