"""The programs of the app on one machine."""

from __future__ import annotations

import pytest

from brigade.app_processes import ticker_processes


@pytest.mark.parametrize(("count", "shares"), [(1, ["1"]), (2, ["1", "1"]), (5, ["3", "2"])])
def test_two_programs_take_ticks_so_that_one_goes_on_where_the_other_dies(
    count: int, shares: list[str]
) -> None:
    programs = ticker_processes({"BRIGADE_TICKERS": "64"}, count)
    assert [one.environment["BRIGADE_TICKERS"] for one in programs] == shares
    assert [one.name for one in programs] == ["ticker-1", "ticker-2"][: len(shares)]
