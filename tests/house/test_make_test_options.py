"""What `make test` runs, and what it says at its end."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from _pytest.mark.expression import Expression

from tests.processor_units import Cost
from tests.run import ON_DEFAULTS, ON_SERVERS, conclude, mypy_cache

MARKS = ("nightly", "servers", "browser", "sqlite")


@pytest.mark.parametrize("given", list(product([False, True], repeat=len(MARKS))))
def test_every_test_runs_somewhere_unless_it_is_nightly(given: tuple[bool, ...]) -> None:
    marks = {name for name, has in zip(MARKS, given, strict=True) if has}

    def has_mark(name: str, /, **_: object) -> bool:
        return name in marks

    runs = [Expression.compile(where).evaluate(has_mark) for where in (ON_DEFAULTS, ON_SERVERS)]
    assert any(runs) is ("nightly" not in marks)
    assert runs[0] or not marks & {"browser", "sqlite"} or "nightly" in marks


def test_the_last_line_counts_tests_and_the_one_before_the_processor(
    capsys: pytest.CaptureFixture[str],
) -> None:
    conclude(Counter(passed=3, skipped=1), Counter(), [], 0, 60.0, Cost(700.4, 420.6))
    *_, cost, last = capsys.readouterr().out.splitlines()
    assert cost == "700 processor seconds, 421 units (tests/processor_units.py)"
    assert last == "3 passed, 0 failed, 1 skipped"


def test_mypy_keeps_what_it_found_for_other_clones(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("MYPY_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert mypy_cache() == str(tmp_path / "brigade" / "mypy")
    monkeypatch.setenv("MYPY_CACHE_DIR", "elsewhere")
    assert mypy_cache() == "elsewhere"
