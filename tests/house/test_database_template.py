"""The database with all migrations comes from the user's cache while nothing changes what they make."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import template
from tests.template import VARIABLE, Template, digest


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache and a template of this test's own."""
    (tmp_path / "template").mkdir()
    monkeypatch.setenv(VARIABLE, str(tmp_path / "template"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "brigade" / "template"


def made(said: bytes, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """What a template becomes whose migrations would write this."""
    made = Template("")
    monkeypatch.setattr(Template, "_migrate", lambda self, _: self.file.write_bytes(said))
    made.made.unlink(missing_ok=True)
    made.copy_to_file(made.folder / "copy")
    return (made.folder / "copy").read_bytes()


def test_migrations_run_once_for_all_runs(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert made(b"first", monkeypatch) == made(b"second", monkeypatch) == b"first"


def test_the_oldest_that_are_kept_go(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(template.MOST_KEPT + 2):
        monkeypatch.setattr(template, "digest", lambda number=number: str(number))
        made(b"any", monkeypatch)
    assert len([*cache.iterdir()]) == template.MOST_KEPT


@pytest.mark.parametrize(
    "changed", ["kitchen/migrations/0001_initial.py", "kitchen/models.py", "requirements.txt"]
)
def test_they_run_again_when_one_of_them_or_what_they_use_changes(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(template, "base_dir", lambda: tmp_path)
    for name in ("kitchen/migrations/0001_initial.py", "kitchen/models.py", "requirements.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("import kitchen.models\n")
    before = digest()
    assert digest() == before
    (tmp_path / changed).write_text("import kitchen.models  # another\n")
    assert digest() != before
