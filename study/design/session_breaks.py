"""Define breaks between the sessions of a study: the time of the earliest and of the latest return.

A break is a page that researchers wrote (`OwnPagePlan`) with an earliest return, a latest return, or both.
Both count from the moment at which the participant reached the page. The module imports no Django.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from kitchen.words.english_text import counted_noun

MOST_HOURS = 24 * 366
DAY = 24

RESTING = "resting"
DUE = "due"
LATE = "late"
BREAK_STATES = {RESTING: "on a break", DUE: "due: may come back now", LATE: "too late to come back"}
"""Readable names of the states of a break, by stored name."""


class BreakTimes(Protocol):
    """A page with the hours of its break. Both are None for a page without a break."""

    @property
    def not_before_hours(self) -> int | None:
        """Return the hours after which a participant may return, at the earliest."""

    @property
    def not_after_hours(self) -> int | None:
        """Return the hours after which a participant may not return any more."""


@dataclass(frozen=True, slots=True)
class SessionBreak:
    """The break of one participant. `opens_at` is None if they may return at once, and `closes_at` is None if
    they may return at any time."""

    page: str
    """The key of the page."""
    began_at: datetime
    opens_at: datetime | None
    closes_at: datetime | None

    def state(self, now: datetime) -> str:
        """Return `RESTING` before the earliest return, `DUE` while the participant may return, and `LATE`
        afterwards."""
        if self.closes_at and now >= self.closes_at:
            return LATE
        return RESTING if self.opens_at and now < self.opens_at else DUE


def session_break(page: BreakTimes, key: str, began_at: datetime, *, waits: bool = True) -> SessionBreak:
    """Return the break that began at this time. If `waits` is False, it has no limits: programs and previews
    go on at once."""

    def after(hours: int | None) -> datetime | None:
        return began_at + timedelta(hours=hours) if hours is not None and waits else None

    return SessionBreak(key, began_at, after(page.not_before_hours), after(page.not_after_hours))


def hours_words(hours: int) -> str:
    """Return a number of hours as text, in days if it is a number of whole days."""
    return counted_noun(hours // DAY, "day") if hours and hours % DAY == 0 else counted_noun(hours, "hour")


def break_words(page: BreakTimes) -> str:
    """Return when a participant may return, such as `come back after 1 day, within 2 days`. Return an empty
    string for a page without a break."""
    earliest, latest = page.not_before_hours, page.not_after_hours
    told = [f"after {hours_words(earliest)}"] if earliest is not None else []
    told += [f"within {hours_words(latest)}"] if latest is not None else []
    return f"come back {', '.join(told)}" if told else ""


def break_time_problems(page: BreakTimes, *, ends: bool, has_code: bool) -> dict[str, str]:
    """Return what is wrong with the times of a break, as messages by field name. `ends` is True for a page at
    which the study ends, and `has_code` for one that gives a code."""
    earliest, latest = page.not_before_hours, page.not_after_hours
    if earliest is None and latest is None:
        return {"session_code": "Only a break gives a code. Say when people come back."} if has_code else {}
    if ends:
        return {"ends": "A break cannot end the study."}
    if earliest is not None and latest is not None and latest <= earliest:
        return {"not_after_hours": "The latest return must be later than the earliest one."}
    return {}


def break_reason(key: str) -> str:
    """Return the stored reason of a participation that ended because nobody returned from this break."""
    return f"break {key}"
