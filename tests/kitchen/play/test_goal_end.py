"""An episode that lasts until something is achieved."""

from __future__ import annotations

import pytest

from kitchen.contract.world_errors import SettingsError
from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.episode.log_metrics import read_logs
from kitchen.play.live.common_panels import EpisodeEnd, shared_panels
from kitchen.play.live.seat_view import current_seat_view, world_page_of
from kitchen.play.models import Episode, Seat
from kitchen.replay.episode_file import export_episode, read_episode_file
from kitchen.replay.episode_record import read_episode_records
from tests.kitchen.factories import make_episode, submit

pytestmark = pytest.mark.django_db


def played(episode: Episode) -> Episode:
    """By the hints, to its end."""
    seat = Seat.objects.select_related("episode").get(episode=episode)
    while (view := current_seat_view(seat)).phase == "choose":
        assert submit(episode, view.step + 1, *(view.choice.hinted or ("noop",))).accepted
    episode.refresh_from_db()
    return episode


def said_at_the_end(episode: Episode) -> str:
    seat = Seat.objects.select_related("episode").get(episode=episode)
    view = current_seat_view(seat)
    assert view.phase == "over"
    shown = (panel.shows for panel in shared_panels(world_page_of(seat), view))
    return next(over.goal for over in shown if isinstance(over, EpisodeEnd))


def test_it_is_over_in_the_step_that_reaches_its_goal_and_the_log_holds() -> None:
    episode = played(make_episode(hints=True, until={"completed": 1}))
    assert (episode.status, episode.score["completed"]) == ("reached", 1)
    assert episode.step < 60 and episode.ended_at
    assert said_at_the_end(episode).startswith("Well done: you served ")
    (verdict,) = verify_episode_logs(Episode.objects.all())
    assert verdict.is_over and verdict.holds
    assert not submit(episode, episode.step + 1, "noop").accepted


def test_the_same_seed_and_commands_give_the_same_states_with_and_without_a_goal() -> None:
    short, long = make_episode(hints=True, until={"completed": 1}), make_episode(hints=True, steps=60)
    played(short)
    assert list(short.steps.values_list("state_hash", flat=True)) == list(
        played(long)
        .steps.filter(number__lte=Episode.objects.get(pk=short.pk).step)
        .values_list("state_hash", flat=True)
    )
    assert long.status == "over"


def test_without_its_goal_it_lasts_its_steps_and_says_so() -> None:
    episode = make_episode(steps=3, until={"completed": 1})
    for step in (1, 2, 3):
        submit(episode, step, "noop")
    episode.refresh_from_db()
    assert episode.status == "over"
    assert "no dish has been served" in said_at_the_end(episode)


def test_the_page_says_when_it_ends() -> None:
    episode = make_episode(hints=True, steps=30, until={"completed": 1})
    submit(episode, 1, "goto", "storage0")
    view = current_seat_view(Seat.objects.select_related("episode").get(episode=episode))
    assert "Practice ends when you have served one dish, or after 30 steps." in view.choice.hints


def test_a_goal_that_the_world_does_not_count_is_refused() -> None:
    with pytest.raises(SettingsError, match="until: 'applause' is not one of"):
        make_episode(until={"applause": 1})
    with pytest.raises(SettingsError, match="goal: completed needs a number above 0"):
        make_episode(goal={"completed": 0})


def test_a_round_goes_on_after_its_goal_and_its_log_knows_the_goal() -> None:
    episode = played(make_episode(steps=30, goal={"completed": 1}))
    assert (episode.status, episode.step, episode.until) == ("over", 30, None)
    assert said_at_the_end(episode) == ""
    (log,) = read_logs([episode]).values()
    assert log.goal == {"completed": 1}
    Episode.objects.update(goal={"completed": 2})
    (verdict,) = verify_episode_logs(Episode.objects.all())
    assert [fault.why for fault in verdict.faults] == ["its goal is not what was sealed"]


def test_a_round_that_ends_at_its_goal_says_so_from_the_first_step_on() -> None:
    episode = make_episode(hints=True, goal={"completed": 1}, ends_at_goal=True)
    seat = Seat.objects.select_related("episode").get(episode=episode)
    first = current_seat_view(seat).result
    assert (first.has_early_end, first.early_end, first.until) == (True, (("1", "dish served"),), False)
    played(episode)
    assert (episode.status, episode.score["completed"]) == ("reached", 1)
    assert said_at_the_end(episode) == "Well done: you have reached the goal."
    (record,) = read_episode_records(Episode.objects.all())
    assert read_episode_file(export_episode(record)).episode.goal == {"completed": 1}


def test_a_round_that_misses_the_goal_that_ends_it_says_nothing_of_practice() -> None:
    episode = make_episode(steps=1, goal={"completed": 9}, ends_at_goal=True)
    submit(episode, 1, "noop")
    episode.refresh_from_db()
    assert (episode.status, said_at_the_end(episode)) == ("over", "")
