"""A study of two worlds: figures are compared where they are measured, ratings everywhere."""

from __future__ import annotations

import io
from collections import defaultdict

import pytest
from django.core.management import call_command

from kitchen.play.episode.log_integrity import verify_episode_logs
from kitchen.play.models import Episode, Mind
from study.analysis.analysis_sample import Sample, measured_items, observations
from study.design.demo_study_files import TWO_WORLDS
from study.design.study_files import study_from_file
from study.participants.models import Participant

pytestmark = pytest.mark.django_db


def test_figures_are_compared_in_their_world_and_ratings_in_all_four_conditions() -> None:
    study = study_from_file(TWO_WORLDS)
    more = ["--participants", "3", "--recordings", "1", "--steps-per-episode", "3"]
    call_command("make_synthetic", study.slug, *more, stdout=io.StringIO())
    finished = Participant.objects.filter(status="complete")
    played = Episode.objects.filter(rounds__participant=finished[0])
    assert played.count() == 4 and all(verdict.holds for verdict in verify_episode_logs(played))
    commanded = {(mind.kind, mind.seats.count()) for mind in Mind.objects.filter(episode__in=played)}
    assert commanded == {(kind, seats) for kind in ("skill_dispatcher", "proagent") for seats in (1, 2)}
    sample, valued = Sample(study, who="synthetic"), defaultdict[str, set[str]](set)
    for one in observations(sample, measured_items(sample)):
        if one.value is not None:
            valued[one.measure].add(one.condition)
    grids = {"dispatcher_overcooked", "proagent_overcooked"}
    kitchens = {"dispatcher_cuisine", "proagent_cuisine"}
    assert (valued["points"], valued["completed"]) == (grids, kitchens)
    assert valued["trust"] == grids | kitchens
