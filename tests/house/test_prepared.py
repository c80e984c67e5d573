"""Whether the app may start beside `prepare`."""

from __future__ import annotations

from pathlib import Path

import pytest

from brigade import places
from brigade.prepared import is_prepared, note_prepared


@pytest.fixture(autouse=True)
def prepared(var: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that was prepared."""
    for name in ("DATABASE_URL", "REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    var.mkdir()
    assert not is_prepared()
    places.database_file().touch()
    note_prepared()


def test_what_was_prepared_is_so_the_next_time() -> None:
    assert is_prepared()


def test_another_database_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://host/other")
    assert not is_prepared()


def test_one_that_is_gone_is_not() -> None:
    places.database_file().unlink()
    assert not is_prepared()


def test_one_of_other_migrations_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "requirements.txt").touch()
    migrations = tmp_path / "study" / "migrations"
    migrations.mkdir(parents=True)
    monkeypatch.setattr(places, "base_dir", lambda: tmp_path)
    note_prepared()
    assert is_prepared()
    (migrations / "0002_more.py").touch()
    assert not is_prepared()


def test_a_damaged_stamp_is_none(var: Path) -> None:
    (var / "prepared.stamp").write_bytes(b"\xff\xfe")
    assert not is_prepared()
