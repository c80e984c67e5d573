"""Whoever looks for what was lost finds it."""

from __future__ import annotations

from typing import Any

import pytest

from kitchen.play.models import Decision, Episode, Seat, SeatCommand, Step
from kitchen.play.turn.state_store import current_world
from kitchen.play.turn.step_timer import TIMEOUT
from tests.kitchen.factories import make_episode, mind, submit
from tests.live.checking import faults_in, wrong_answers, wrong_commands

pytestmark = [pytest.mark.django_db, pytest.mark.servers]
STEPS = 4


@pytest.fixture
def shown() -> dict[str, Any]:
    """What a page showed of a whole episode."""
    episode = make_episode(steps=STEPS)
    seat = Seat.objects.get(episode=episode)
    views = [view(episode)]
    taken = [(step, ["goto", "storage0" if step % 2 else "pot0"]) for step in range(1, STEPS + 1)]
    for step, command in taken:
        submit(episode, step, *command)
        views.append(view(episode))
    return {"key": seat.key, "steps": list(range(STEPS + 1)), "views": views, "taken": taken}


def view(episode: Episode) -> list[Any]:
    episode.refresh_from_db()
    world = current_world(episode)
    return [episode.step, world.observe(0), world.score()]


def test_nothing_is_wrong_where_all_that_was_shown_is_stored(shown: dict[str, Any]) -> None:
    assert faults_in([shown]) == []


def test_a_step_that_was_shown_and_is_not_stored_is_named(shown: dict[str, Any]) -> None:
    shown["steps"].append(STEPS + 1)
    (fault,) = faults_in([shown])
    assert fault.endswith(f"shown and not stored: steps [{STEPS + 1}]")


def test_a_state_that_was_shown_and_is_not_the_stored_one_is_named(shown: dict[str, Any]) -> None:
    shown["views"].append([2, *shown["views"][1][1:]])
    (fault,) = faults_in([shown])
    assert fault.endswith("step 2: another state was shown than was stored")


def test_a_command_that_was_taken_and_is_not_stored_is_named(shown: dict[str, Any]) -> None:
    shown["taken"][1] = (2, ["noop"])
    (fault,) = faults_in([shown])
    assert fault.endswith("step 2: ['noop'] was taken, and ['goto', 'pot0'] is stored, chosen by person")


def test_a_second_decision_for_a_step_is_named_unless_it_had_no_effect() -> None:
    episode = make_episode(seats=2, minds=(mind("random", 1),))
    given = {"mind": episode.minds.get(), "step": 1, "played_by": "random", "milliseconds": 1}
    decided = [Decision(**given, dropped=why) for why in ("", "taken", "")]
    Episode.objects.update(step=1)
    for decision, expected in zip(decided, (0, 0, 1), strict=True):
        decision.save()
        found = [fault for fault in wrong_commands(Episode.objects.get(), []) if "not one decision" in fault]
        assert len(found) == expected


def test_an_episode_that_stands_still_is_named() -> None:
    episode = make_episode()
    submit(episode, 1, "noop")
    (fault,) = faults_in([{"key": Seat.objects.get().key, "steps": [0, 1], "views": [], "taken": []}])
    assert fault.endswith("has not ended, after step 1")


def test_a_log_that_does_not_lead_to_what_is_stored_is_named(shown: dict[str, Any]) -> None:
    Episode.objects.update(state_hash=Step.objects.order_by("number")[0].state_hash)
    said = " ".join(faults_in([shown]))
    assert "the present state is not where the log leads" in said
    assert "does not lead to the state that the episode is in" in said
    assert "the state is not the one that it is said to be" in said


def test_a_command_of_an_agent_without_a_decision_is_named_unless_the_agent_was_not_asked() -> None:
    episode = make_episode(seats=2, minds=(mind("random", 1),))
    Episode.objects.update(step=2)
    for step, chosen_by, expected in ((1, "world", 0), (2, "random", 1)):
        SeatCommand.objects.create(episode=episode, step=step, seat=1, command=["noop"], chosen_by=chosen_by)
        found = [fault for fault in wrong_commands(Episode.objects.get(), []) if "not one decision" in fault]
        assert len(found) == expected


def test_a_command_whose_time_ran_out_is_named_only_if_the_page_was_told_that_it_is_taken() -> None:
    seat = Seat.objects.get(episode=make_episode())
    SeatCommand.objects.create(
        episode=seat.episode, step=1, seat=0, command=["noop"], chosen_by=TIMEOUT, fallback=TIMEOUT
    )
    for inferred, expected in ((True, 0), (False, 1)):
        assert len([*wrong_answers(seat, [(1, ["goto", "pot0"], inferred)])]) == expected


def test_metrics_of_the_log_are_shown_beside_the_score_after_the_end(shown: dict[str, Any]) -> None:
    shown["views"][-1][2] = {**shown["views"][-1][2], "messages_sent": 0}
    assert faults_in([shown]) == []
    shown["views"][-1][2].pop(next(iter(shown["views"][-1][2])))
    (fault,) = faults_in([shown])
    assert fault.endswith(f"step {STEPS}: another state was shown than was stored")
