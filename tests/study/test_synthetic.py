"""Many synthetic participants at once: marked, plausible, replayable."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from kitchen.models import Decision, Episode, Step
from kitchen.play import read_stored_command
from kitchen.worlds.registry import get_world
from study.exports.registry import tables
from study.items import value_problem
from study.models import Answer, Participant, Study
from tests.study.factories import make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    found = make_study()
    found.conditions.filter(key="c1").update(coplayer="random", teammates=1)
    return found


def make(study: Study, *more: str) -> str:
    out = io.StringIO()
    call_command("make_synthetic", study.slug, "--participants", "30", *more, stdout=out)
    return out.getvalue()


def test_everybody_is_synthetic_and_most_finish(study: Study) -> None:
    assert make(study).splitlines()[-1] == "30 synthetic participants made in small"
    assert Participant.objects.filter(synthetic=True).count() == 30
    assert not Episode.objects.filter(synthetic=False).exists()
    assert Participant.objects.filter(status="complete").count() > 15
    study.refresh_from_db()
    assert study.entered == 30
    assert Decision.objects.exists()
    for table in tables():
        assert all(len(row) == len(table.columns_of(study)) for row in table.rows(study))


def test_only_copies_are_left_and_each_replays_to_its_hashes(study: Study) -> None:
    make(study)
    assert Episode.objects.count() == Episode.objects.filter(rounds__isnull=False).count()
    for episode in Episode.objects.all()[:4]:
        world: Any = get_world(episode.world).create(seats=episode.seats.count(), settings=episode.settings)
        world.reset(episode.seed)
        for step in Step.objects.filter(episode=episode).order_by("number"):
            world.step([(one["seat"], read_stored_command(one["command"])) for one in step.commands])
            assert world.state_hash() == step.state_hash


def test_answers_are_such_as_can_be_given_and_times_go_on(study: Study) -> None:
    make(study)
    assert Answer.objects.exists()
    assert not [one for one in Answer.objects.select_related("item") if value_problem(one.item, one.value)]
    for person in Participant.objects.filter(status="complete"):
        assert person.ended_at
        times = [*person.answers.order_by("pk").values_list("answered_at", flat=True)]
        assert person.entered_at <= times[0] <= times[-1] <= person.ended_at


def test_wrong_numbers_are_one_line_and_change_nothing(study: Study) -> None:
    for wrong in (["--participants", "0"], ["--steps-per-episode", "0"], ["--recordings", "0"]):
        with pytest.raises(CommandError, match="is not 1 or more") as caught:
            call_command("make_synthetic", "small", *wrong)
        assert caught.value.returncode == 2
    assert not Participant.objects.exists()
