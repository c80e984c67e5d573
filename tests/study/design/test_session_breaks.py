"""A break between sessions has an earliest and a latest return; the rules in plain Python."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from study.design.own_pages import OwnPagePlan
from study.design.session_breaks import (
    DUE,
    LATE,
    RESTING,
    break_time_problems,
    break_words,
    hours_words,
    session_break,
)

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def page(earliest: int | None, latest: int | None) -> OwnPagePlan:
    return OwnPagePlan(
        key="rest",
        before="round-2",
        title="Rest",
        text="",
        not_before_hours=earliest,
        not_after_hours=latest,
    )


@pytest.mark.parametrize(
    ("earliest", "latest", "hours", "expected"),
    [
        (24, 48, 23.99, RESTING),
        (24, 48, 24, DUE),
        (24, 48, 47.99, DUE),
        (24, 48, 48, LATE),
        (24, None, 9999, DUE),
        (None, 5, 0, DUE),
        (None, 5, 5, LATE),
    ],
)
def test_a_break_is_open_from_the_earliest_return_until_the_latest(
    earliest: int | None, latest: int | None, hours: float, expected: str
) -> None:
    found = session_break(page(earliest, latest), "rest", NOW)
    assert found.state(NOW + timedelta(hours=hours)) == expected


def test_programs_and_previews_never_wait_and_are_never_late() -> None:
    found = session_break(page(24, 48), "rest", NOW, waits=False)
    assert {found.state(NOW), found.state(NOW + timedelta(days=99))} == {DUE}


def test_whole_days_are_written_as_days() -> None:
    assert [hours_words(one) for one in (1, 24, 36, 48)] == ["1 hour", "1 day", "36 hours", "2 days"]
    assert break_words(page(24, 36)) == "come back after 1 day, within 36 hours"
    assert break_words(page(None, None)) == ""


@pytest.mark.parametrize(
    ("earliest", "latest", "more", "field"),
    [
        (24, 24, {}, "not_after_hours"),
        (24, 48, {"ends": True}, "ends"),
        (None, None, {"has_code": True}, "session_code"),
        (24, 48, {"has_code": True}, ""),
        (None, None, {"ends": True}, ""),
    ],
)
def test_times_that_contradict_each_other_are_refused(
    earliest: int | None, latest: int | None, more: dict[str, Any], field: str
) -> None:
    found = break_time_problems(page(earliest, latest), **{"ends": False, "has_code": False, **more})
    assert list(found) == ([field] if field else [])
