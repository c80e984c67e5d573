"""A study that cannot be measured is told before people come: at five places."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from kitchen.contract.world import Json
from kitchen.play.models import Episode
from kitchen.registry.world_registry import get_world
from study.analysis.pre_launch_warnings import (
    SUMMARY_TEXTS,
    dry_run_spreads,
    dry_run_warnings,
    folded_dry_run_warnings,
    unmeasurable_warnings,
)
from study.design.models import Condition, Study, conditions_with_unmeasured
from study.design.play_metrics import chance_points, people_for
from study.participation.page_progress import finish_page
from study.pilot.models import DryRun
from tests.study.factories import enter, make_study

IMPOSSIBLE = {"level": "level_3", "alpha": 2.0, "beta": 2.5, "max_steps": 20}
TOLD = (
    "Orders stand 26 steps and an episode has 20: nobody can miss any of them, so “Success rate” is always "
    "blank or 1"
)


def impossible(**more: Any) -> Study:
    study = make_study(conditions=1, **more)
    Condition.objects.update(settings=IMPOSSIBLE)
    return study


def played(study: Study, *scores: Mapping[str, Json]) -> None:
    """Programs have played the first condition so."""
    for number, score in enumerate(scores):
        person = enter(study, f"p{number}", synthetic=True)
        finish_page(participant_id=person.pk, page="guide")
        episode = person.rounds.get(position=1).episode
        assert episode
        Episode.objects.filter(pk=episode.pk).update(score=score, status=Episode.Status.OVER)


def score(done: int, missed: int) -> dict[str, Json]:
    ended = done + missed
    return {"completed": done, "failed": missed, "success_rate": done / ended if ended else None}


@pytest.mark.parametrize(("steps", "most", "missable"), [(20, 2, 0), (26, 3, 0), (27, 3, 1), (60, 6, 4)])
def test_an_order_is_missed_where_a_step_begins_after_its_life(steps: int, most: int, missable: int) -> None:
    world = get_world("cuisine").create(seats=1, settings=IMPOSSIBLE | {"max_steps": steps})
    chances = world.chances()["success_rate"]
    assert (chances.most, chances.missable) == (most, missable)
    world.reset(1)
    while not world.over:
        world.step({})
    assert world.score()["failed"] == missable


def test_what_chance_alone_does_to_two_shares() -> None:
    assert chance_points(100) == pytest.approx(13.86, abs=0.01)
    assert chance_points(people_for(6) * 6) <= 5 < chance_points((people_for(6) - 1) * 6)


@pytest.mark.django_db
def test_too_few_orders_to_tell_five_points_apart_are_told_with_how_many_it_takes() -> None:
    make_study(conditions=1, planned_participants=12)
    Condition.objects.update(settings=IMPOSSIBLE | {"max_steps": 60})
    (told,) = Condition.objects.get().unmeasured
    assert "An episode has at most 6 orders; the 12 participants planned have 72" in told
    assert (
        "differs by up to 17 points between two equal conditions (95 %)" in told
        and "about 129 participants" in told
    )
    assert [told] == [words for _, told in conditions_with_unmeasured(Study.objects.get()) for words in told]
    Study.objects.update(planned_participants=129)
    assert Condition.objects.get().unmeasured == ()


@pytest.mark.django_db
def test_the_shares_of_conditions_are_read_once_for_all_of_them() -> None:
    for slug, conditions in (("few", 2), ("many", 6)):
        make_study(slug, conditions=conditions, planned_participants=12)
    asked = []
    for study in Study.objects.all():
        with CaptureQueriesContext(connection) as queries:
            assert len(conditions_with_unmeasured(study)) > 1
        asked.append(len(queries))
    assert len(set(asked)) == 1


@pytest.mark.django_db
def test_orders_that_outlive_the_episode_are_told_at_condition_readiness_opening_and_freezing(
    admin_client: Client,
) -> None:
    study = impossible(status=Study.Status.CLOSED)
    at = [study.slug]
    condition = reverse("study:staff-design-condition", args=[study.slug, Condition.objects.get().pk])
    for page in (
        condition,
        *(reverse(f"study:staff-{name}", args=at) for name in ("design", "preregistration")),
    ):
        assert TOLD in admin_client.get(page).content.decode()
    opened = admin_client.post(reverse("study:staff-design-state", args=at), {"state": "open"})
    frozen = admin_client.post(reverse("study:staff-preregistration-freeze", args=at), {"sure": "on"})
    for answer in (opened, frozen):
        said = list(get_messages(answer.wsgi_request))[-1]
        assert said.tags == "warning"
        assert str(said).startswith("But mind: Condition 0:") and TOLD in str(said)


@pytest.mark.django_db
def test_after_a_dry_run_ceilings_floors_blanks_and_what_does_not_vary_are_told(admin_client: Client) -> None:
    study = make_study(conditions=1)
    played(study, score(0, 0), score(2, 0), score(2, 0), score(2, 0))
    told = " ".join(dry_run_warnings(study)["c0"])
    assert "“Success rate” is blank in 1 of 4 episodes." in told
    assert "“Success rate” is at its ceiling (100 %, the highest value) in all 3 episodes" in told
    DryRun.objects.create(study=study, participants=4, at_once=1, seed=1, shares={}, state="finished")
    for name in ("design-dry-runs", "design", "preregistration"):
        assert (
            "is at its ceiling"
            in admin_client.get(reverse(f"study:staff-{name}", args=[study.slug])).content.decode()
        )


@pytest.mark.django_db
def test_what_is_alike_in_several_conditions_is_told_once_with_their_names() -> None:
    study = make_study(conditions=2)
    played(study, *([score(0, 2)] * 6))
    (told,) = [words for words in unmeasurable_warnings(study) if "“Success rate” is at its floor" in words]
    assert told == (
        "Condition 0 (all 3 episodes) and Condition 1 (all 3 episodes): Programs played them: “Success rate” "
        "is at its floor (0 %, the lowest value): it cannot show anything lower."
    )


@pytest.mark.django_db
def test_a_page_lists_each_kind_of_dry_run_warning_once_and_names_each_measure_once(
    admin_client: Client,
) -> None:
    study = make_study(conditions=2)
    played(study, *([score(0, 2)] * 6))
    warnings = [one for told in dry_run_spreads(study).values() for one in told]
    kinds = {kind: {one.label for one in warnings if one.kind == kind} for kind in SUMMARY_TEXTS}
    folded = folded_dry_run_warnings(study)
    assert len(folded) == sum(map(bool, kinds.values())) < len(warnings)
    (floor,) = [words for words in folded if "floor" in words]
    labels = kinds["floor"]
    assert floor.startswith(f"{len(labels)} measures are at their floor") and len(labels) > 1
    assert "in 2 conditions of the dry run" in floor and all(floor.count(f"“{one}”") == 1 for one in labels)
    details = reverse("study:staff-design-dry-runs", args=[study.slug])
    for name in ("design", "preregistration"):
        page = admin_client.get(reverse(f"study:staff-{name}", args=[study.slug])).content.decode()
        assert all(f'<a href="{details}">{words}</a>' in page for words in folded)
        assert "Programs played" not in page


@pytest.mark.django_db
def test_values_that_vary_are_not_told_and_those_of_an_earlier_design_neither() -> None:
    study = make_study(conditions=1)
    played(study, score(1, 1), score(2, 1), score(3, 1))
    assert dry_run_warnings(study) == {}
    Episode.objects.update(score=score(2, 1))
    (told,) = [one for one in dry_run_warnings(study)["c0"] if "Dishes completed" in one]
    assert "is 2 in all 3 episodes: it does not vary" in told
    Condition.objects.update(settings=IMPOSSIBLE)
    assert dry_run_warnings(Study.objects.get()) == {}
