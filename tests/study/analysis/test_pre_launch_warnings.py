"""Decisions that came too late beside programs are told, with how quick the clock was."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from kitchen.play.models import Decision, Episode, Mind
from study.analysis.pre_launch_warnings import late_decision_warnings
from study.design.models import Condition, Study
from study.participation.page_progress import finish_page
from study.pilot.models import DryRun
from tests.study.factories import enter, make_study

CLOCKED: dict[str, Any] = {"ticks": 20, "clock": "tick", "tick_ms": 200}


def played(*, late: int, made: int, synthetic: bool = True, **settings: Any) -> Study:
    """A study in a grid, in which one co-player has decided so often."""
    study = make_study(conditions=1)
    Condition.objects.update(
        world="overcooked", settings=CLOCKED | settings, coplayer="greedy", teammates=1, name="Beside"
    )
    person = enter(study, synthetic=synthetic)
    finish_page(participant_id=person.pk, page="guide")
    episode = person.rounds.get(position=1).episode
    assert episode
    decided(episode, late, made)
    return study


def decided(episode: Episode, late: int, made: int) -> None:
    facts = {"mind": Mind.objects.get(episode=episode), "played_by": "greedy", "milliseconds": 1.0}
    for step in range(1, made + 1):
        code = "timeout" if step <= late else ""
        Decision.objects.create(step=step, number=step, fallback=code, **facts)


@pytest.mark.servers
@pytest.mark.django_db
def test_how_many_came_too_late_is_told_and_that_fewer_do_at_a_lower_speed(
    admin_client: Client,
) -> None:
    study = played(late=3, made=40)
    (told,) = late_decision_warnings(study)
    assert told.startswith("Beside: 3 of 40 decisions of co-players (7.5%) came too late")
    assert "for programs a step took 40 ms, for people it takes 200 ms" in told
    assert "With a lower BRIGADE_SYNTHETIC_SPEED" in told
    DryRun.objects.create(study=study, participants=1, at_once=1, seed=1, shares={}, state="finished")
    page = admin_client.get(reverse("study:staff-design-dry-runs", args=[study.slug])).content.decode()
    assert "3 of 40 decisions of co-players" in page


@pytest.mark.django_db
def test_where_the_clock_was_as_for_people_no_other_speed_is_named(settings: Any) -> None:
    settings.SYNTHETIC_SPEED = 1.0
    (told,) = late_decision_warnings(played(late=1, made=4))
    assert "a step took 200 ms, as for people" in told
    assert "BRIGADE_SYNTHETIC_SPEED" not in told


@pytest.mark.django_db
@pytest.mark.parametrize(
    "given",
    [
        {"late": 0, "made": 4},
        {"late": 2, "made": 4, "clock": "turn"},
        {"late": 2, "made": 4, "synthetic": False},
    ],
)
def test_nothing_is_told_where_all_were_in_time_or_no_clock_ran_or_people_played(given: Any) -> None:
    assert list(late_decision_warnings(played(**given))) == []


@pytest.mark.django_db
def test_nothing_is_told_of_a_condition_that_was_changed_since() -> None:
    study = played(late=2, made=4)
    Condition.objects.update(settings=CLOCKED | {"tick_ms": 400})
    assert list(late_decision_warnings(Study.objects.get(pk=study.pk))) == []
