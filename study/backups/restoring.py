"""Putting a backup in the place of what is stored. Whatever is wrong is found before anything is changed."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tarfile import TarFile

from django.conf import settings
from django.core.management import call_command
from django.db import Error, connection
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from kitchen.play.models import Episode
from kitchen.play.verifying import EpisodeVerdict, log_verify
from kitchen.words.counting import counted
from study.backups import postgres, sqlite
from study.backups.archive import DATABASES, KEY, BackupError, Manifest, key_hash, opened, unpack
from study.backups.erased import erase_again, marks_keep, marks_known
from study.backups.paid import left_keep, left_put_back
from study.design.models import Study
from study.people.models import Participant

KINDS = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}


@dataclass(slots=True)
class Restored:
    """What became of it."""

    manifest: Manifest
    aside: str = ""
    """Where what was there before is now; empty where there was nothing."""
    erased: Counter[str] = field(default_factory=Counter)
    """How many were erased again, by study."""
    verdicts: list[EpisodeVerdict] = field(default_factory=list)
    """What the log of each episode is worth."""
    key_is_ours: bool = True
    """Whether the secret key is the backup's; if not, nothing was verified."""


def restore(file: Path, *, sure: bool, with_key: bool = True) -> Restored:
    """Put this backup in place; BackupError, and nothing is changed. What is there is replaced only by
    whoever is `sure`. Without its key the present one stays, and counts from now on."""
    with ExitStack() as running:
        with opened(file) as (tar, manifest):
            _check_manifest(manifest)
            running.enter_context(nobody_runs())
            restored = _put(tar, manifest, sure, with_key)
        call_command("migrate", interactive=False, verbosity=0)
        left_put_back()
        restored.erased = erase_again(marks_known())
        if restored.key_is_ours:
            restored.verdicts = list(log_verify(Episode.objects.all()))
    return restored


def _put(tar: TarFile, manifest: Manifest, sure: bool, with_key: bool) -> Restored:
    """Have database and key in their places, once all of the backup is known to be good."""
    with _folder_beside() as name:
        folder = Path(name)
        database = unpack(tar, manifest, DATABASES[manifest.database], folder / "database")
        key = _key(tar, manifest, folder) if with_key else None
        _check_database(database, manifest)
        there = what_is_there()
        if there and not sure:
            raise BackupError(f"this would replace {there} by {manifest.words}: say --yes")
        _keep_marks()
        aside = _replace(database, manifest, is_empty=not there)
        if key and settings.SECRET_KEY_FILE:
            _put_key(key, settings.SECRET_KEY_FILE)
    return Restored(manifest, aside, key_is_ours=_is_ours(manifest))


def _keep_marks() -> None:
    try:
        marks_keep()
        left_keep()
    except OSError as error:
        raise BackupError(f"cannot write to {settings.VAR_DIR}: {error.strerror or error}") from error


def _check_manifest(manifest: Manifest) -> None:
    if manifest.database != connection.vendor:
        theirs, ours = KINDS[manifest.database], KINDS[connection.vendor]
        raise BackupError(f"the backup is of {theirs} and cannot be put into {ours} (DATABASE_URL)")
    known = set(MigrationLoader(None).disk_migrations)
    apps = {app for app, _ in known}
    for app, names in manifest.migrations.items():
        if newer := [name for name in names if app in apps and (app, name) not in known]:
            raise BackupError(f"the backup was made by a later version ({app} {newer[0]}): update first")


@contextmanager
def nobody_runs() -> Iterator[None]:
    """While this lasts `make run` does not start here; BackupError where it runs, or others are connected."""
    with Path(settings.RUN_LOCK).open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackupError("the app is running here: stop it first (Ctrl-C, or systemctl stop)") from None
        if connection.vendor == "sqlite":
            connection.close()
            sqlite.check_alone(_file())
        else:
            postgres.check_alone()
        yield


def _file() -> Path:
    return Path(str(connection.settings_dict["NAME"]))


def _folder_beside() -> tempfile.TemporaryDirectory[str]:
    """A folder on the disk of the database, for a file is put in its place by its name alone; BackupError."""
    place = _file().parent if connection.vendor == "sqlite" else Path(settings.VAR_DIR)
    try:
        place.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(dir=place, prefix=".restore-")
    except OSError as error:
        raise BackupError(f"cannot write to {place}: {error.strerror or error}") from error


def _is_ours(manifest: Manifest) -> bool:
    """Whether the backup's key is the one with which this process signs."""
    return key_hash(settings.SECRET_KEY) == manifest.key


def _key(tar: TarFile, manifest: Manifest, folder: Path) -> Path | None:
    """The key of the backup, unpacked, to be put in place; None where it is there. BackupError where it
    cannot be: with another key every log would seem forged, and what is written now would be."""
    if _is_ours(manifest):
        return None
    if settings.SECRET_KEY_FILE is None:
        raise BackupError(f"BRIGADE_SECRET_KEY is not the backup's key: set it to that; {LOST}")
    if KEY not in manifest.hashes:
        there = settings.SECRET_KEY_FILE
        raise BackupError(f"the backup has no key in it, and {there} is another one: put it there; {LOST}")
    return unpack(tar, manifest, KEY, folder / KEY)


LOST = "if it is lost, say --without-key"


def _check_database(database: Path, manifest: Manifest) -> None:
    if connection.vendor == "sqlite":
        sqlite.check(database)
    else:
        postgres.check(database, manifest.server)


def what_is_there() -> str:
    """What would be replaced, in words; nothing where there is no database yet."""
    try:
        if "django_migrations" not in connection.introspection.table_names():
            return ""
        people = Participant.objects.count()
        return f"{counted(Study.objects.count(), 'study', 'studies')}, {counted(people, 'participant')}"
    except Error as error:
        return f"a database that cannot be read ({str(error).splitlines()[0]})"
    finally:
        connection.close()


def _replace(database: Path, manifest: Manifest, *, is_empty: bool) -> str:
    """Put it in place; where the old one is."""
    name = f"before_{timezone.now():%Y%m%dt%H%M%S_%f}"
    connection.close()  # what is open stays with the old one
    if connection.vendor == "sqlite":
        aside = _file().parent / name
        sqlite.replace(_file(), database, aside, is_empty=is_empty)
        kept = str(aside)
    else:
        kept = f"the schema {name} of the database"
        postgres.replace(database, name, is_empty=is_empty)
    return "" if is_empty else kept


def _put_key(key: Path, file: Path) -> None:
    """Have the backup's key in its place, and sign with it from now on."""
    if file.exists():
        file.replace(file.with_name(f"secret.key.before_{timezone.now():%Y%m%dt%H%M%S}"))
    shutil.move(key, file)
    settings.SECRET_KEY = file.read_text(encoding="ascii").strip()
