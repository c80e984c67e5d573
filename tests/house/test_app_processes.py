"""The programs of the app on one machine."""

from __future__ import annotations

import os

import pytest

from brigade.app_processes import ticker_processes
from kitchen.infra.os_processes import raise_priority


@pytest.mark.parametrize(("count", "shares"), [(1, ["1"]), (2, ["1", "1"]), (5, ["3", "2"])])
def test_two_programs_take_ticks_so_that_one_goes_on_where_the_other_dies(
    count: int, shares: list[str]
) -> None:
    programs = ticker_processes({"BRIGADE_TICKERS": "64"}, count)
    assert [one.environment["BRIGADE_TICKERS"] for one in programs] == shares
    assert [one.name for one in programs] == ["ticker-1", "ticker-2"][: len(shares)]


@pytest.mark.parametrize(("now", "then"), [(0, -5), (-10, -10)])
def test_a_ticker_takes_its_priority_and_never_a_lower_one(
    monkeypatch: pytest.MonkeyPatch, now: int, then: int
) -> None:
    taken = list[int]()
    monkeypatch.setattr(os, "getpriority", lambda *_: now)
    monkeypatch.setattr(os, "setpriority", lambda which, who, niceness: taken.append(niceness))
    raise_priority(-5)
    assert taken == [then]


def test_a_ticker_that_may_not_take_its_priority_runs_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "setpriority", refuse)
    raise_priority(-5)
