"""What the app writes is its user's alone."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from brigade.paths import base_dir, make_private

OURS = ("db.sqlite3", "db.sqlite3-wal", "db.sqlite3-shm", "secret.key", "run.lock", "log/daphne-1.log")


@pytest.fixture(autouse=True)
def wide_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def loose(var: Path) -> Path:
    """A folder as earlier versions left it."""
    (var / "log").mkdir(parents=True)
    for name in (*OURS, "notes.txt"):
        (var / name).touch()
    return var


def modes(folder: Path) -> dict[str, str]:
    """What everybody may do with what is there."""
    found = {path.relative_to(folder).as_posix(): path for path in (folder, *folder.rglob("*"))}
    return {name: oct(stat.S_IMODE(path.stat().st_mode)) for name, path in found.items()}


def test_what_earlier_versions_left_open_is_closed_and_said_in_one_line(loose: Path) -> None:
    assert make_private() == f"closed to other users: 8 of our files and folders ({loose.resolve()})"
    closed = {".": "0o700", "log": "0o700", **dict.fromkeys(OURS, "0o600")}
    assert modes(loose) == {**closed, "notes.txt": "0o644"}
    assert make_private() == ""


def test_what_is_written_from_then_on_is_closed(var: Path) -> None:
    make_private()
    var.mkdir()
    (var / "db.sqlite3").touch()
    assert modes(var) == {".": "0o700", "db.sqlite3": "0o600"}


def test_a_database_elsewhere_is_closed_too(var: Path, tmp_path: Path) -> None:
    (tmp_path / "other.db").touch()
    make_private(tmp_path / "other.db")
    assert modes(tmp_path)["other.db"] == "0o600"


def test_a_folder_that_all_users_share_stays_as_it_is(var: Path) -> None:
    var.mkdir()
    var.chmod(0o1777)
    (var / "secret.key").touch()
    make_private()
    assert modes(var) == {".": "0o1777", "secret.key": "0o600"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file somebody else's")
def test_root_closes_nobody_elses_file_by_a_link_to_it(var: Path, tmp_path: Path) -> None:
    (var / "log").mkdir(parents=True)
    other = tmp_path / "theirs"
    other.touch()
    os.chown(other, 65534, 65534)
    (var / "log" / "x.log").symlink_to(other)
    assert f"{var.resolve() / 'log' / 'x.log'} can be read by other users" in make_private()
    assert stat.S_IMODE(other.stat().st_mode) == 0o644


def test_whoever_reads_the_settings_closes_it_first(loose: Path) -> None:
    (loose / "secret.key").write_text("x" * 60)
    code = "import brigade.settings, os; print(oct(os.umask(0)))"
    ours = ("BRIGADE_", "DATABASE_URL", "REDIS_URL")
    plain = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=base_dir(),
        env={**plain, "BRIGADE_VAR": str(loose)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "0o77\n"
    assert done.stderr.startswith("brigade: closed to other users: 8 ")
    assert done.stderr.count("\n") == 1
