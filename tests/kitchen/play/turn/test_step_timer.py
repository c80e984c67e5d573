"""A turn whose time is over is closed once, by whoever comes first, and the log says so."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from kitchen import tasks
from kitchen.contract.world_errors import SettingsError
from kitchen.play.coplayers import agent_decisions
from kitchen.play.episode.advance_episode import close_expired_turn
from kitchen.play.live.page_session import take_seat
from kitchen.play.live.render_page import render_panel
from kitchen.play.live.seat_view import current_seat_view
from kitchen.play.models import Episode, Seat, SeatCommand, Step
from kitchen.play.turn import step_timer
from kitchen.play.turn.turn_searches import overdue_turns
from kitchen.worlds.cuisine.activity_text import history_panel
from kitchen.worlds.cuisine.display_text import brief_lookup
from tests.kitchen.factories import make_episode, mind, submit

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


def opened(*, seconds: float = 5, **more: Any) -> Episode:
    """An episode with a clock whose people have all opened their page."""
    episode = make_episode(step_seconds=seconds, **more)
    for seat in episode.seats.filter(mind=None):
        take_seat(seat, page=f"page-of-{seat.number}", newest=True)
    episode.refresh_from_db()
    return episode


def time_is_over(episode: Episode) -> None:
    Episode.objects.filter(pk=episode.pk).update(turn_closes_at=timezone.now() - timedelta(seconds=0.1))


def sources(step: int) -> dict[int, str]:
    return {entry["seat"]: entry["chosen_by"] for entry in Step.objects.get(number=step).commands}


def test_the_clock_stands_still_until_every_person_has_opened_their_page() -> None:
    episode = make_episode(seats=2, step_seconds=5)
    take_seat(Seat.objects.get(episode=episode, number=0), page="page-of-0", newest=True)
    episode.refresh_from_db()
    assert episode.turn_closes_at is None
    take_seat(Seat.objects.get(episode=episode, number=1), page="page-of-1", newest=True)
    episode.refresh_from_db()
    assert episode.turn_closes_at == episode.turn_opened_at + timedelta(seconds=5)


def test_who_opened_their_page_is_asked_when_the_episode_is_locked() -> None:
    episode = make_episode(seats=2, step_seconds=5)
    with CaptureQueriesContext(connection) as counted:
        step_timer.start_first_turn_timer(episode_id=episode.pk)
    first, second = (query["sql"] for query in counted.captured_queries if "SELECT" in query["sql"])
    assert "kitchen_seat" not in first and "kitchen_seat" in second


def test_opening_the_page_again_gives_no_more_time() -> None:
    episode = opened()
    take_seat(Seat.objects.get(episode=episode, number=0), page="another-page", newest=True)
    assert Episode.objects.get().turn_closes_at == episode.turn_closes_at


def test_every_later_turn_has_its_full_time() -> None:
    episode = opened()
    submit(episode, 1, "noop")
    episode.refresh_from_db()
    assert episode.turn_closes_at == episode.turn_opened_at + timedelta(seconds=5)


def test_without_a_clock_a_turn_is_never_closed() -> None:
    episode = make_episode()
    take_seat(Seat.objects.get(episode=episode, number=0), page="page-of-0", newest=True)
    assert not close_expired_turn(episode_id=episode.pk, step=1)
    assert overdue_turns() == []


def test_a_turn_that_is_still_open_is_not_closed() -> None:
    assert not close_expired_turn(episode_id=opened().pk, step=1)
    assert not SeatCommand.objects.exists()


def test_who_did_not_command_in_time_waits_and_the_others_do_what_they_chose() -> None:
    episode = opened(seats=2)
    submit(episode, 1, "goto", "storage0")
    time_is_over(episode)
    tasks.close_turn(episode.pk, 1)
    tasks.close_turn(episode.pk, 1)
    assert sources(1) == {0: "person", 1: "timeout"}
    assert SeatCommand.objects.get(seat=1).command == ["noop"]
    assert Episode.objects.get().step == 1


def test_a_turn_closes_itself_for_a_command_that_comes_too_late() -> None:
    episode = opened()
    time_is_over(episode)
    receipt = submit(episode, 1, "goto", "storage0")
    assert receipt.code == "too_late"
    assert receipt.text.startswith("Too late: the step is over")
    assert sources(1) == {0: "timeout"}
    assert submit(episode, 1, "goto", "storage0").code == "too_late"
    assert submit(episode, 2, "goto", "storage0").accepted


def test_co_players_are_asked_when_the_time_of_people_is_over(
    django_capture_on_commit_callbacks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(
        "kitchen.play.episode.advance_episode.ask_coplayers", lambda *turn: asked.append(turn)
    )
    monkeypatch.setattr("kitchen.play.turn.step_timer.close_turn_later", lambda *turn: None)
    episode = opened(seats=2, minds=(mind("random", 1),))
    time_is_over(episode)
    with django_capture_on_commit_callbacks(execute=True):
        close_expired_turn(episode_id=episode.pk, step=1)
    assert asked == [(episode.pk, 1)]
    assert submit(episode, 1, "goto", "storage0").code == "too_late"
    agent_decisions.decide_step(episode_id=episode.pk, step=1)
    assert sources(1) == {0: "timeout", 1: "random"}


def test_a_look_finds_every_turn_whose_task_was_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    queued: list[tuple[int, int]] = []
    monkeypatch.setattr("kitchen.tasks.close_turn_again", lambda *turn: queued.append(turn))
    lost, thinking = opened(), opened(seats=2, minds=(mind("random", 1),))
    opened()
    submit(thinking, 1, "noop")
    time_is_over(lost)
    time_is_over(thinking)
    tasks.pick_up_open_turns()
    assert queued == [(lost.pk, 1)]


def test_each_new_turn_has_a_task_that_closes_it(
    django_capture_on_commit_callbacks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    queued: list[tuple[int, int, float]] = []
    monkeypatch.setattr("kitchen.play.turn.step_timer.close_turn_later", lambda *turn: queued.append(turn))
    with django_capture_on_commit_callbacks(execute=True):
        episode = opened(steps=2)
        submit(episode, 1, "noop")
        submit(episode, 2, "noop")
    assert [turn[:2] for turn in queued] == [(episode.pk, 1), (episode.pk, 2)]
    assert all(4 < seconds <= 5 for _, _, seconds in queued)


def test_the_page_is_told_what_is_left_and_that_time_ran_out() -> None:
    episode = opened()
    seat = Seat.objects.get(episode=episode)
    left = current_seat_view(seat).timing.seconds_left
    assert left is not None and 4 < left <= 5
    time_is_over(episode)
    close_expired_turn(episode_id=episode.pk, step=1)
    view = current_seat_view(seat)
    (step,) = history_panel(view, brief_lookup(view.brief)).parts
    assert "You ran out of time and waited" in render_panel(step)


@pytest.mark.parametrize("seconds", [0, -1, 0.5, 1e9, float("nan")])
def test_a_time_that_nobody_can_play_with_is_refused(seconds: float) -> None:
    with pytest.raises(SettingsError, match="step_seconds"):
        make_episode(step_seconds=seconds)
    assert not Episode.objects.exists()


def test_the_last_turn_leaves_no_clock_behind() -> None:
    episode = opened(steps=1)
    time_is_over(episode)
    close_expired_turn(episode_id=episode.pk, step=1)
    episode.refresh_from_db()
    assert (episode.status, episode.turn_closes_at) == (Episode.Status.OVER, None)
    assert step_timer.seconds_left(episode) is None
