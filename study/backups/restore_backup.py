"""Check a backup completely, and then replace the current data by it.

Some data that are newer than the backup are kept. Participants who were erased since the backup are erased
again. Hashes without names (erasure marks) identify these participants. Completion codes of people who
finished and then withdrew are kept, so that these people can still be paid.
"""

from __future__ import annotations

import fcntl
import json
import logging
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import date
from logging import FileHandler
from pathlib import Path
from tarfile import TarFile
from typing import NamedTuple

from django.conf import settings
from django.core.management import call_command
from django.db import Error, connection
from django.utils import timezone

from kitchen.infra import file_writing
from kitchen.infra.db_errors import newer_migrations, squash_problem
from kitchen.play.episode.log_integrity import LogVerdict, verify_episode_logs
from kitchen.play.models import Episode
from kitchen.words.english_text import counted_noun, os_error_words
from study.backups import postgres_dump, sqlite_copy
from study.backups.backup_archive import DATABASES, KEY, BackupError, Manifest, key_hash, open_archive, unpack
from study.design.models import Study
from study.participants.end_and_erase_participation import erasure_mark, participant_withdraw
from study.participants.models import LeftComplete, Participant
from study.researchers.models import SecurityEvent

KIND = SecurityEvent.Kind.PERSON_ERASED
MARKS_FILE = "erased.marks"
"""File with one erasure mark per line, in the app's data folder."""


def known_erasure_marks() -> set[str]:
    """Return the marks of all erased participants, from the current database, the log files and the file of
    marks."""
    in_file = _text(_in_var(MARKS_FILE)).split()
    return {noted.split()[-1] for noted in (*_marks_in_database(), *_in_logs(), *in_file)}


def save_erasure_marks() -> None:
    """Write all known erasure marks to the file. Raises OSError if it cannot be written."""
    marks = "".join(f"{mark}\n" for mark in sorted(known_erasure_marks()))
    file_writing.write_atomically(_in_var(MARKS_FILE), marks.encode())


def _in_var(name: str) -> Path:
    return Path(settings.VAR_DIR) / name


def _text(file: Path) -> str:
    """Return the content of this file as text. Return an empty string if the file does not exist."""
    return file.read_text() if file.exists() else ""


def _marks_in_database() -> Iterator[str]:
    try:
        yield from SecurityEvent.objects.filter(kind=KIND).exclude(what="").values_list("what", flat=True)
    except Error:  # no table yet, or a broken database: the logs remain
        return


def _in_logs() -> Iterator[str]:
    for handler in logging.getLogger("brigade.security").handlers:
        if isinstance(handler, FileHandler):
            log = Path(handler.baseFilename)
            for file in sorted(log.parent.glob(f"{log.name}*")):
                yield from _in_log(file)


def _in_log(file: Path) -> Iterator[str]:
    """Yield the erasure marks in a log file. Rotated log files are read, too, if they are not compressed."""
    for line in file.read_text(errors="replace").splitlines():
        try:
            noted = json.loads(line)
            if noted["kind"] == KIND and noted["what"]:
                yield str(noted["what"])
        except (ValueError, KeyError, TypeError):
            continue


def erase_again(marks: set[str]) -> Counter[str]:
    """Erase all participants who have one of these marks. Return how many, by the slug of the study."""
    people = Participant.objects.select_related("study").only("pk", "entry", "study__slug")
    back = [(person.pk, person.study.slug) for person in people.iterator() if erasure_mark(person) in marks]
    for pk, _ in back:
        participant_withdraw(participant_id=pk)
    return Counter(slug for _, slug in back)


COMPLETIONS_FILE = "left.json"
"""File in the app's data folder that holds the completions during a restore."""


class SavedCompletion(NamedTuple):
    """The values of one `LeftComplete` row, read from the database or the file."""

    study: int
    slug: str
    code: str
    mark: str
    day: str


def save_completions() -> None:
    """Write all completion records to a file. They are the records in the database, and those that an
    interrupted restore left in the file. Raises OSError if the file cannot be written."""
    if known := _completions_in_database() | _completions_in_file():
        rows = json.dumps(sorted(known.elements())).encode()
        file_writing.write_atomically(_in_var(COMPLETIONS_FILE), rows).chmod(0o600)


def restore_completions() -> None:
    """Add the completion records in the file to the database if they are missing there. Label hashes that
    were erased since the backup are removed. Then delete the file."""
    known = _completions_in_file()
    missing, studies = known - _completions_in_database(), set(Study.objects.values_list("pk", "slug"))
    marks = {left.mark for left in known} | {""}
    for left in missing.elements():
        if (left.study, left.slug) in studies:
            same = {"study_id": left.study, "code": left.code, "left_on": date.fromisoformat(left.day)}
            rows = LeftComplete.objects.filter(**same).exclude(mark__in=marks)
            row = (None if left.mark else rows.first()) or LeftComplete(**same)
            row.mark = left.mark
            row.save()
    _in_var(COMPLETIONS_FILE).unlink(missing_ok=True)


def _completions_in_database() -> Counter[SavedCompletion]:
    """Return the completions in the database. The result is empty for an older or broken database."""
    rows = LeftComplete.objects.values_list("study", "study__slug", "code", "mark", "left_on")
    try:
        return Counter(SavedCompletion(pk, slug, code, mark, str(day)) for pk, slug, code, mark, day in rows)
    except Error:
        return Counter()


def _completions_in_file() -> Counter[SavedCompletion]:
    return Counter(SavedCompletion(*row) for row in json.loads(_text(_in_var(COMPLETIONS_FILE)) or "[]"))


KINDS = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}


@dataclass(slots=True)
class RestoreResult:
    """The result of a restore, for the message to the operator."""

    manifest: Manifest
    aside: str = ""
    """Location of the previous data; empty if there were none."""
    erased: Counter[str] = field(default_factory=Counter)
    """Number of participants who were erased again, by study."""
    verdicts: list[LogVerdict] = field(default_factory=list)
    """Result of the log check of each episode."""
    key_is_ours: bool = True
    """True if the secret key is the backup's; if not, nothing was verified."""


def restore(file: Path, *, sure: bool, with_key: bool = True) -> RestoreResult:
    """Replace the current data by this backup. If BackupError is raised, nothing was changed.

    Existing data are replaced only if `sure` is True. If the backup has no key, or `with_key` is False,
    the current secret key stays in use.
    """
    with ExitStack() as running:
        with open_archive(file) as (tar, manifest):
            _check_manifest(manifest)
            running.enter_context(while_nothing_runs())
            restored = _put(tar, manifest, sure, with_key)
        call_command("migrate", interactive=False, verbosity=0)
        restore_completions()
        restored.erased = erase_again(known_erasure_marks())
        if restored.key_is_ours:
            restored.verdicts = list(verify_episode_logs(Episode.objects.all()))
    return restored


def _put(tar: TarFile, manifest: Manifest, sure: bool, with_key: bool) -> RestoreResult:
    """Replace the database and the secret key by those of the backup. Call this after the whole backup was
    checked."""
    with _folder_beside() as name:
        folder = Path(name)
        database = unpack(tar, manifest, DATABASES[manifest.database], folder / "database")
        key = _key(tar, manifest, folder) if with_key else None
        if connection.vendor == "sqlite":
            sqlite_copy.check(database)
        else:
            postgres_dump.check(database, manifest.server)
        there = describe_present_data()
        if there and not sure:
            raise BackupError(f"this would replace {there} by {manifest.words}: say --yes")
        try:
            save_erasure_marks()
            save_completions()
        except OSError as error:
            raise BackupError(f"cannot write to {settings.VAR_DIR}: {os_error_words(error)}") from error
        aside = _replace(database, is_empty=not there)
        if key and settings.SECRET_KEY_FILE:
            _put_key(key, settings.SECRET_KEY_FILE)
    return RestoreResult(manifest, aside, key_is_ours=_is_ours(manifest))


def _check_manifest(manifest: Manifest) -> None:
    if manifest.database != connection.vendor:
        theirs, ours = KINDS[manifest.database], KINDS[connection.vendor]
        raise BackupError(f"the backup is of {theirs} and cannot be put into {ours} (DATABASE_URL)")
    applied = {(app, name) for app, names in manifest.migrations.items() for name in names}
    for app, name in newer_migrations(applied):
        raise BackupError(f"the backup was made by a later version ({app} {name}): update first")
    if problem := squash_problem(applied):
        raise BackupError(f"the backup cannot be used: {problem}")


@contextmanager
def while_nothing_runs() -> Iterator[None]:
    """Return a context manager during which `make run` cannot start in this folder. Raises BackupError if
    the app runs or other programs use the database."""
    with Path(settings.RUN_LOCK).open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackupError("the app is running here: stop it first (Ctrl-C, or systemctl stop)") from None
        if connection.vendor == "sqlite":
            connection.close()
            sqlite_copy.check_alone(_file())
        else:
            postgres_dump.check_alone()
        yield


def _file() -> Path:
    return Path(str(connection.settings_dict["NAME"]))


def _folder_beside() -> tempfile.TemporaryDirectory[str]:
    """Create and return a temporary folder on the same disk as the database. Its files can then replace the
    database file by renaming.

    Raises BackupError if the folder cannot be created.
    """
    place = _file().parent if connection.vendor == "sqlite" else Path(settings.VAR_DIR)
    try:
        place.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(dir=place, prefix=".restore-")
    except OSError as error:
        raise BackupError(f"cannot write to {place}: {os_error_words(error)}") from error


def _is_ours(manifest: Manifest) -> bool:
    """Return True if the backup was signed with the secret key of this process."""
    return key_hash(settings.SECRET_KEY) == manifest.key


def _key(tar: TarFile, manifest: Manifest, folder: Path) -> Path | None:
    """Unpack the backup's secret key into `folder` and return its path. Return None if this process already
    uses that key.

    Raises BackupError if the key cannot be replaced. With another key, every restored log would look forged.
    """
    if _is_ours(manifest):
        return None
    if settings.SECRET_KEY_FILE is None:
        raise BackupError(f"BRIGADE_SECRET_KEY is not the backup's key: set it to that; {LOST}")
    if KEY not in manifest.hashes:
        there = settings.SECRET_KEY_FILE
        raise BackupError(f"the backup has no key in it, and {there} is another one: put it there; {LOST}")
    return unpack(tar, manifest, KEY, folder / KEY)


LOST = "if it is lost, say --without-key"


def describe_present_data() -> str:
    """Return a text about the data that a restore would replace. Return an empty string if there is no
    database yet."""
    try:
        if "django_migrations" not in connection.introspection.table_names():
            return ""
        studies = counted_noun(Study.objects.count(), "study", "studies")
        return f"{studies}, {counted_noun(Participant.objects.count(), 'participant')}"
    except Error as error:
        return f"a database that cannot be read ({str(error).splitlines()[0]})"
    finally:
        connection.close()


def _replace(database: Path, *, is_empty: bool) -> str:
    """Replace the current database by `database`, and return where the old database is kept."""
    name = f"before_{timezone.now():%Y%m%dt%H%M%S_%f}"
    connection.close()  # open connections stay with the old database
    if connection.vendor == "sqlite":
        aside = _file().parent / name
        sqlite_copy.replace(_file(), database, aside, is_empty=is_empty)
        kept = str(aside)
    else:
        kept = f"the schema {name} of the database"
        postgres_dump.replace(database, name, is_empty=is_empty)
    return "" if is_empty else kept


def _put_key(key: Path, file: Path) -> None:
    """Store the backup's secret key as the app's key, and use it for all signatures from now on."""
    if file.exists():
        file.replace(file.with_name(f"secret.key.before_{timezone.now():%Y%m%dt%H%M%S}"))
    shutil.move(key, file)
    settings.SECRET_KEY = file.read_text(encoding="ascii").strip()
