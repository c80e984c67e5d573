"""An outage of ours is not charged to people: turns with a clock get their time back; the log says why."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from kitchen.play.episode.advance_episode import close_expired_turn
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.episode.play_monitoring import episode_counts
from kitchen.play.live.page_session import take_seat
from kitchen.play.live.seat_view import current_seat_view
from kitchen.play.models import Episode, Seat, SeatCommand, Step
from kitchen.play.turn import step_timer
from kitchen.uptime.heartbeat import record_heartbeat
from kitchen.uptime.models import Outage
from tests.kitchen.factories import make_episode, submit
from tests.kitchen.uptime.clocks import Clocks, another, run_by

pytestmark = [pytest.mark.django_db, pytest.mark.servers]

COMING_BACK = 6.0


def opened(seconds_ago: float, *, seconds: float = 5) -> Episode:
    """An episode alone whose first turn was opened so long ago, with so many seconds for a step."""
    episode = make_episode(step_seconds=seconds)
    take_seat(Seat.objects.get(episode=episode), page="page", newest=True)
    begin = timezone.now() - timedelta(seconds=seconds_ago)
    closes = begin + timedelta(seconds=seconds)
    Episode.objects.filter(pk=episode.pk).update(turn_opened_at=begin, turn_closes_at=closes)
    return Episode.objects.get()


def down(seconds: float, *, part: str = "web") -> Clocks:
    """All processes of a part were killed so long ago, and are not back."""
    clocks = Clocks(seconds_ago=seconds)
    record_heartbeat(part, now=clocks)
    run_by(part, another())
    clocks.pass_by(seconds)
    return clocks


def chosen_by() -> list[str]:
    return [entry["chosen_by"] for row in Step.objects.order_by("number") for entry in row.commands]


def test_without_workers_people_command_as_ever_and_their_time_runs() -> None:
    episode = opened(10)
    down(8, part="workers")
    assert close_expired_turn(episode_id=episode.pk, step=1)
    assert chosen_by() == ["timeout"]


def test_a_turn_whose_time_runs_out_while_we_are_away_stays_open() -> None:
    episode = opened(10)
    down(8)
    assert not close_expired_turn(episode_id=episode.pk, step=1)
    assert not SeatCommand.objects.exists()
    assert submit(episode, 1, "noop").accepted


def test_what_was_left_of_a_turn_is_left_when_we_are_back_and_the_page_says_so() -> None:
    opened(10)
    clocks = down(8)
    record_heartbeat("web", now=clocks)
    view = current_seat_view(Seat.objects.get())
    assert view.timing.seconds_left == pytest.approx(3 + COMING_BACK, abs=1)
    assert view.phase == "choose"


def test_a_turn_that_began_while_we_were_away_has_all_of_its_time() -> None:
    opened(4)
    record_heartbeat("web", now=down(8))
    assert current_seat_view(Seat.objects.get()).timing.seconds_left == pytest.approx(5 + COMING_BACK, abs=1)


def test_workers_that_were_away_cost_no_page_its_connection() -> None:
    opened(10)
    record_heartbeat("workers", now=down(8, part="workers"))
    assert current_seat_view(Seat.objects.get()).timing.seconds_left == pytest.approx(3, abs=1)


def test_time_is_given_back_once_although_two_parts_were_away() -> None:
    opened(10)
    web, workers = down(8), down(8, part="workers")
    record_heartbeat("workers", now=workers)
    record_heartbeat("web", now=web)
    assert Outage.objects.count() == 2
    assert current_seat_view(Seat.objects.get()).timing.seconds_left == pytest.approx(3 + COMING_BACK, abs=1)


def test_who_had_no_time_left_before_we_went_away_is_late() -> None:
    episode = opened(20)
    record_heartbeat("web", now=down(8))
    assert close_expired_turn(episode_id=episode.pk, step=1)
    assert chosen_by() == ["timeout"]


def test_who_does_nothing_even_then_is_marked_by_the_outage_and_not_counted_as_late() -> None:
    episode = opened(10)
    record_heartbeat("web", now=down(8))
    later = Episode.objects.get()
    past = timezone.now() - timedelta(seconds=0.1)
    assert later.turn_closes_at
    ago = later.turn_closes_at - past
    opened_at = later.turn_opened_at - ago
    Episode.objects.update(turn_opened_at=opened_at, turn_closes_at=past)  # all of it passes
    assert close_expired_turn(episode_id=episode.pk, step=1)
    assert chosen_by() == [step_timer.OUTAGE]
    assert (SeatCommand.objects.get().fallback, SeatCommand.objects.get().command) == ("outage", ["noop"])
    counts = episode_counts([episode.pk])[episode.pk]
    assert (counts.ran_out, counts.fallbacks) == (0, 0)
    assert submit(episode, 1, "noop").code == "too_late"
    assert all(verdict.holds for verdict in verify_episode_logs(Episode.objects.all()))


def test_the_next_turn_has_its_usual_time() -> None:
    episode = opened(10)
    record_heartbeat("web", now=down(8))
    submit(episode, 1, "noop")
    episode = Episode.objects.get()
    assert episode.turn_closes_at == episode.turn_opened_at + timedelta(seconds=5)


def test_an_episode_without_a_clock_is_left_alone() -> None:
    episode = make_episode()
    record_heartbeat("web", now=down(8))
    assert Episode.objects.get().turn_closes_at is None
    assert submit(episode, 1, "noop").accepted


@pytest.mark.parametrize("hours", [1, -1])
def test_a_clock_that_is_set_takes_deadlines_with_it_but_not_those_of_turns_opened_since(hours: int) -> None:
    new, by = opened(0), timedelta(hours=hours)
    clocks = Clocks(seconds_ago=2)
    clocks.set(-by.total_seconds())
    record_heartbeat("web", now=clocks)
    assert new.turn_closes_at
    old = make_episode(step_seconds=5)
    old.turn_opened_at = clocks().at - timedelta(seconds=1)
    old.turn_closes_at = clocks().at + timedelta(seconds=4)
    old.save()
    clocks.pass_by(2)
    clocks.set(by.total_seconds())
    record_heartbeat("web", now=clocks)
    moved = Episode.objects.get(pk=old.pk)
    assert moved.turn_closes_at == old.turn_closes_at + by
    assert Episode.objects.get(pk=new.pk).turn_closes_at == new.turn_closes_at
