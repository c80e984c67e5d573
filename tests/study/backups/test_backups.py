"""A backup is whole, is made while others write, and comes back; whoever left meanwhile does not."""

from __future__ import annotations

import fcntl
import json
import secrets
import sqlite3
import stat
import tarfile
from collections.abc import Iterator
from datetime import date
from io import BytesIO
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from kitchen.infra.file_writing import last_backup_at
from study.backups import postgres_dump, restore_backup, sqlite_copy
from study.backups.backup_archive import MANIFEST, BackupError, Manifest, hash_of, open_archive
from study.backups.create_backup import back_up
from study.backups.restore_backup import RestoreResult, describe_present_data, restore
from study.design.models import Study
from study.participants.end_and_erase_participation import (
    completion_of,
    participant_end,
    participant_withdraw,
)
from study.participants.models import LeftComplete, Participant
from study.researchers.security_events import events_verify
from tests.study.factories import complete, enter, make_study
from tests.template import Template, drop_database

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.servers, pytest.mark.sqlite]
SQLITE_ONLY = pytest.mark.skipif(connection.vendor != "sqlite", reason="about files of SQLite")


@pytest.fixture
def home(tmp_path: Path, settings: Any) -> Iterator[Path]:
    """An installation of this test's own: database, key, lock."""
    settings.VAR_DIR, settings.RUN_LOCK = tmp_path, tmp_path / "run.lock"
    settings.SECRET_KEY_FILE = tmp_path / "secret.key"
    before, template = connection.settings_dict["NAME"], Template()
    connection.close()
    if template.server:
        name = f"brigade_backup_{secrets.token_hex(4)}"
        address = template.copy_to_server(name)
        connection.settings_dict["NAME"] = name
    else:
        name, address = str(tmp_path / "db.sqlite3"), ""
        template.copy_to_file(Path(name))
        connection.settings_dict["NAME"] = name
    yield tmp_path
    connection.close()
    connection.settings_dict["NAME"] = before
    drop_database(address)


def saved(home: Path, name: str = "backup.tar", **more: Any) -> Path:
    back_up(home / name, with_key=more.get("with_key", True))
    return home / name


def codes() -> set[str]:
    return set(Participant.objects.values_list("entry", flat=True))


def test_what_was_stored_comes_back_and_who_left_since_does_not(home: Path) -> None:
    study = make_study(conditions=1)
    complete(study, "stays")
    leaves = enter(study, "leaves")
    file = saved(home)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    participant_withdraw(participant_id=leaves.pk)
    enter(study, "came later")
    with pytest.raises(BackupError, match=r"this would replace 1 study, 2 participants .* say --yes"):
        restore(file, sure=False)
    assert codes() == {"stays", "came later"}
    restored = restore(file, sure=True)
    assert codes() == {"stays"}
    assert restored.erased == {"small": 1} and restored.aside
    assert [verdict.holds for verdict in restored.verdicts] == [True]
    assert restored.verdicts[0].steps == 3


def test_who_left_after_the_end_is_paid_and_does_not_begin_again_after_a_restore(home: Path) -> None:
    study = make_study(conditions=1, recruitment="prolific")
    early, done = enter(study, "not yet at the end"), complete(study, "at the end")
    for person, label in ((early, "5f01"), (done, "5f02")):
        Participant.objects.filter(pk=person.pk).update(label=label, source="prolific")
    file = saved(home)
    participant_end(participant_id=early.pk, status=Participant.Status.COMPLETE)
    for person in (early, done):
        participant_withdraw(participant_id=person.pk)
    LeftComplete.objects.update(left_on=date(2026, 3, 1))
    before = kept_of_who_left()
    assert restore(file, sure=True).erased == {"small": 2}
    assert kept_of_who_left() == before and len(before) == 2
    assert completion_of(study.pk, "5f01") and not (home / "left.json").exists()
    LeftComplete.objects.filter(code=done.completion_code).update(mark="")  # its name is old
    restore(file, sure=True)
    assert completion_of(study.pk, "5f01") and not completion_of(study.pk, "5f02")
    saved(home, "later.tar")
    restore(home / "later.tar", sure=True)
    assert len(kept_of_who_left()) == 2


def kept_of_who_left() -> list[tuple[Any, ...]]:
    return sorted(LeftComplete.objects.values_list("code", "mark", "left_on"))


def test_a_whole_restore_by_the_commands_says_what_was_done(home: Path, capsys: Any) -> None:
    complete(make_study(conditions=1), "stays")
    call_command("back_up", str(home / "b.tar"))
    assert "1 study, 1 participant, 1 episode" in (said := capsys.readouterr().out)
    assert "with the secret key" in said
    with pytest.raises(CommandError) as refused:
        call_command("back_up", str(home / "b.tar"))
    assert refused.value.returncode == 2 and "there already" in str(refused.value)
    call_command("restore", str(home / "b.tar"), "--yes")
    assert "verified: the logs of 1 of 1 episode hold" in capsys.readouterr().out
    with pytest.raises(CommandError) as refused:
        call_command("restore", str(home / "b.tar"))
    assert refused.value.returncode == 2 and "\n" not in str(refused.value)


def rewritten(file: Path, **changes: Any) -> Path:
    """A backup with another manifest."""
    other = file.with_name(f"other-{secrets.token_hex(2)}.tar")
    with tarfile.open(file) as old, tarfile.open(other, "w") as new:
        for entry in old:
            data = old.extractfile(entry).read()  # type: ignore[union-attr]
            if entry.name == MANIFEST:
                data = json.dumps(json.loads(data) | changes).encode()
                entry.size = len(data)
            new.addfile(entry, BytesIO(data))
    return other


def test_what_is_damaged_foreign_or_of_a_later_version_changes_nothing(home: Path) -> None:
    enter(make_study(), "stays")
    file = saved(home)
    with open_archive(file) as (_, manifest):
        later = {**manifest.migrations, "study": [*manifest.migrations["study"], "9999_tomorrow"]}
        early = {**manifest.migrations, "study": ["0001_initial"]}
    half, flipped, text = home / "half.tar", home / "flipped.tar", home / "text.tar"
    half.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    flipped.write_bytes(data)
    text.write_text("no tar")
    for wrong, why in [
        (half, "damaged"),
        (flipped, "damaged"),
        (text, "no backup of Brigade"),
        (home / "nothing.tar", "no such file"),
        (rewritten(file, migrations=later), "later version .study 9999_tomorrow."),
        (rewritten(file, migrations=early), "of an older version, without study 0002_models_and_money"),
        (rewritten(file, format=2), "later version"),
        (
            rewritten(file, database="postgresql" if connection.vendor == "sqlite" else "sqlite"),
            "cannot be put",
        ),
    ]:
        with pytest.raises(BackupError, match=why) as refused:
            restore(wrong, sure=True)
        assert "\n" not in str(refused.value)
        assert codes() == {"stays"}
    assert not [*home.glob("before_*"), *home.glob(".restore-*"), *home.glob(".backup-*")]


def test_nothing_is_restored_while_the_app_runs(home: Path) -> None:
    enter(make_study(), "stays")
    file = saved(home)
    with (home / "run.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(BackupError, match="the app is running here"):
            restore(file, sure=True)
    with other_program(), pytest.raises(BackupError, match="stop the app and its workers"):
        restore(file, sure=True)
    assert codes() == {"stays"}


def other_program() -> Any:
    """Somebody else who has the database open."""
    told = connection.settings_dict
    if connection.vendor == "postgresql":
        return psycopg.connect(
            dbname=told["NAME"],
            user=told["USER"],
            host=told["HOST"],
            port=told["PORT"],
            password=told["PASSWORD"],
        )
    other = sqlite3.connect(told["NAME"])
    other.execute("SELECT count(*) FROM study_study").fetchone()
    return other


def test_the_key_comes_with_it_or_is_missed(home: Path, settings: Any) -> None:
    complete(study := make_study(conditions=1), "stays")
    leaves = enter(study, "leaves")
    ours, file, bare = settings.SECRET_KEY, saved(home), saved(home, "bare.tar", with_key=False)
    with open_archive(bare) as (_, manifest):
        assert set(manifest.hashes) == {
            "database.sqlite3" if connection.vendor == "sqlite" else "database.dump"
        }
    participant_withdraw(participant_id=leaves.pk)
    settings.SECRET_KEY = "another" * 10
    settings.SECRET_KEY_FILE.write_text(settings.SECRET_KEY)
    with pytest.raises(BackupError, match=r"secret.key is another one: put it there"):
        restore(bare, sure=True)
    restored = restore(file, sure=True)
    assert settings.SECRET_KEY_FILE.read_text() == settings.SECRET_KEY == ours
    assert restored.erased == {"small": 1} and all_hold(restored)
    assert list(events_verify()) == []  # what was written meanwhile has this key, too


def all_hold(restored: RestoreResult) -> bool:
    return restored.key_is_ours and [verdict.holds for verdict in restored.verdicts] == [True]


def test_with_a_wrong_key_nothing_is_verified_nor_changed(home: Path, settings: Any, capsys: Any) -> None:
    complete(make_study(conditions=1), "stays")
    file = saved(home)
    enter(Study.objects.get(), "came later")
    settings.SECRET_KEY, settings.SECRET_KEY_FILE = "another" * 10, None
    with pytest.raises(BackupError, match="BRIGADE_SECRET_KEY is not the backup's key"):
        restore(file, sure=True)
    assert codes() == {"stays", "came later"}
    call_command("restore", str(file), "--yes", "--without-key")
    assert codes() == {"stays"} and settings.SECRET_KEY == "another" * 10
    assert "not verified: the secret key is another one" in capsys.readouterr().out


def test_a_restore_that_dies_loses_no_mark_and_keeps_the_app_away(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leaves = enter(make_study(), "leaves")
    file = saved(home)
    participant_withdraw(participant_id=leaves.pk)

    def die(*_: Any, **__: Any) -> None:
        with (home / "run.lock").open("w") as lock, pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        raise KeyboardInterrupt

    with monkeypatch.context() as dying, pytest.raises(KeyboardInterrupt):
        dying.setattr(restore_backup, "call_command", die)
        restore(file, sure=True)
    assert codes() == {"leaves"}
    assert restore(file, sure=True).erased == {"small": 1} and not codes()


def test_old_backups_are_removed_and_the_last_one_is_noted(home: Path, capsys: Any) -> None:
    safe = home / "safe"
    safe.mkdir()
    names = [f"brigade-2026010{day}T031500Z.tar" for day in range(1, 5)]
    for name in [*names, "mine.tar", "brigade-old.tar"]:
        (safe / name).touch()
    call_command("back_up", str(safe), "--keep", "3")
    assert "removed: 2 older backups" in capsys.readouterr().out
    left = {file.name for file in safe.iterdir()}
    assert left > {*names[2:], "mine.tar", "brigade-old.tar"} and len(left) == 5
    assert last_backup_at(home)
    with pytest.raises(CommandError, match="number from 1 on"):
        call_command("back_up", str(safe), "--keep", "0")


def test_marks_are_also_read_from_the_log_that_a_restore_does_not_touch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = {"kind": "person_erased", "what": "a-mark"}
    lines = [json.dumps(noted), "no json", json.dumps({"kind": "login", "what": "x"}), "[]"]
    (tmp_path / "security.log.1").write_text("\n".join(lines))
    assert set(restore_backup._in_log(tmp_path / "security.log.1")) == {"a-mark"}


@SQLITE_ONLY
def test_whoever_writes_while_a_copy_is_made_waits_for_nothing(tmp_path: Path) -> None:
    source = sqlite3.connect(tmp_path / "db", timeout=0, isolation_level=None)
    source.executescript("PRAGMA journal_mode=WAL; CREATE TABLE things (number, filler)")
    source.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) "
        "INSERT INTO things SELECT i, zeroblob(4000) FROM n"
    )
    pieces: list[float] = []

    def write(seconds: float) -> None:
        source.execute("INSERT INTO things VALUES (0, 'meanwhile')")
        pieces.append(seconds)

    sqlite_copy.copy(tmp_path / "db", tmp_path / "copy", rest=write)
    copied = sqlite3.connect(tmp_path / "copy")
    assert len(pieces) > 2
    assert copied.execute("SELECT count(*), min(number) FROM things").fetchone() == (900, 1)
    assert hash_of(tmp_path / "copy") and not (tmp_path / "copy-wal").exists()


def test_an_older_pg_dump_or_none_is_said_plainly(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake = tmp_path / "pg_dump"
    fake.write_text("#!/bin/sh\necho 'pg_dump (PostgreSQL) 9.6.1'\n")
    fake.chmod(0o700)
    monkeypatch.setattr(postgres_dump, "server_major", lambda: 16)
    monkeypatch.setattr(postgres_dump, "which", lambda name: str(fake))
    with pytest.raises(BackupError, match=r"pg_dump is 9, the server PostgreSQL 16: .*postgresql-client-16"):
        postgres_dump.program("pg_dump")
    monkeypatch.setattr(postgres_dump, "which", lambda name: None)
    with pytest.raises(BackupError, match="not on the path"):
        postgres_dump.program("pg_dump")


def test_an_empty_database_is_filled_without_asking(home: Path) -> None:
    enter(make_study(), "stays")
    file = saved(home)
    if connection.vendor == "sqlite":
        connection.close()
        Path(connection.settings_dict["NAME"]).unlink()
    else:
        with connection.cursor() as cursor:
            cursor.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    assert describe_present_data() == ""
    assert restore(file, sure=False).aside == ""
    assert codes() == {"stays"}


def test_a_manifest_names_what_is_in_a_backup() -> None:
    manifest = Manifest("2026", "sqlite", 0, {}, {"studies": 2, "participants": 3}, "")
    assert manifest.words == "2 studies, 3 participants"
