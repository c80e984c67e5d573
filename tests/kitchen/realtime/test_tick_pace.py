"""When ticks are due."""

from __future__ import annotations

import pytest

from kitchen.realtime.realtime_episode import TickSchedule


def test_a_tick_that_comes_a_little_late_does_not_move_the_next_one() -> None:
    pace = TickSchedule(0.2, due=1.0)
    assert pace.take(1.03) == 0
    assert pace.due == pytest.approx(1.2)
    assert pace.take(1.25) == 0
    assert pace.due == pytest.approx(1.4)
    assert pace.take_counts() == (1, 0)
    assert pace.take_counts() == (0, 0)


def test_ticks_that_were_missed_are_not_made_up_for_and_later_ones_keep_their_phase() -> None:
    pace = TickSchedule(0.2, due=1.0)
    assert pace.take(1.45) == 0
    assert pace.due == pytest.approx(1.6)
    assert pace.take(1.91) == 0
    assert pace.due == pytest.approx(2.2)  # 2.0 would come too soon


def test_a_delay_above_half_a_second_is_lost_time() -> None:
    pace = TickSchedule(0.2, due=1.0)
    assert pace.take(2.25) == 1250
    assert pace.take_counts() == (1, 1250)
