"""Many synthetic participants at once: marked, plausible, replayable."""

from __future__ import annotations

import io
from random import Random
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from kitchen.play.models import Decision, Episode, Message, Mind, Seat, StateChange, Step
from kitchen.play.turn.state_store import current_world, verify_changes
from kitchen.registry.world_registry import get_world
from study.design.blueprint import blueprint_of
from study.design.models import Outcome, Study, StudyPart, SurveyItem
from study.design.questions.item_kinds import is_right, value_problem
from study.exports.export_registry import tables
from study.participants.models import Answer, Participant
from study.pilot.bots.walk_plans import OutcomeShares
from study.pilot.synthetic.recorded_episodes import Copy, make_copies, record_episode
from tests.study.exports.rows import rows_of
from tests.study.factories import make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    found = make_study()
    found.conditions.filter(key="c1").update(coplayer="random", teammates=1)
    return found


SHORT = ("--recordings", "1", "--steps-per-episode", "4")
FEW = ("--participants", "8", *SHORT)


def make(study: Study, *more: str) -> str:
    out = io.StringIO()
    call_command("make_synthetic", study.slug, "--participants", "30", *more, stdout=out)
    return out.getvalue()


@pytest.mark.servers
def test_everybody_is_synthetic_and_most_finish(study: Study) -> None:
    assert make(study, *FEW).splitlines()[-1] == "8 synthetic participants made in small"
    assert Participant.objects.filter(synthetic=True).count() == 8
    assert not Episode.objects.filter(synthetic=False).exists()
    assert Participant.objects.filter(status="complete").count() > 4
    study.refresh_from_db()
    assert study.entered == 8
    assert Decision.objects.exists()
    for table in tables():
        assert all(len(row) == len(table.columns_of(study)) for row in rows_of(table, study))


def test_only_copies_are_left_and_each_replays_to_its_hashes(study: Study) -> None:
    make(study, *FEW)
    assert Episode.objects.count() == Episode.objects.filter(rounds__isnull=False).count()
    for episode in Episode.objects.all()[:4]:
        world: Any = get_world(episode.world).create(seats=episode.seats.count(), settings=episode.settings)
        world.reset(episode.seed)
        for step in Step.objects.filter(episode=episode).order_by("number"):
            world.step([(one["seat"], tuple(one["command"])) for one in step.commands])
            assert world.state_hash() == step.state_hash


def test_answers_are_such_as_can_be_given_and_times_go_on(study: Study) -> None:
    make(study, *FEW)
    assert Answer.objects.exists()
    assert not [
        one for one in Answer.objects.select_related("item") if value_problem(one.item.plan, one.value)
    ]
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


CHECKS: list[dict[str, Any]] = [
    {"kind": "single", "options": ["cook", "sleep"], "correct": "cook"},
    {"kind": "multiple", "options": ["a", "b"], "correct": ["a", "b"]},
    {"kind": "number", "minimum": 0, "maximum": 2, "step": 1, "correct": 2},
    {"kind": "likert", "correct": 1},
    {"kind": "text", "correct": "I do not know."},
]


@pytest.mark.parametrize("question", CHECKS)
def test_failed_checks_have_wrong_answers_and_rounds_without_episodes(
    study: Study, question: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("study.pilot.synthetic.synthetic_participants.SHARES", OutcomeShares(fail_checks=100))
    StudyPart.objects.create(study=study, kind="check", enabled=True)
    item = SurveyItem.objects.create(
        study=study, key="goal", measure="Goal", text="Goal?", place="check", **question
    )
    Outcome.objects.create(study=study, kind="failed_check", code="SORRY")
    make(study, *FEW)
    for person in Participant.objects.all():
        assert (person.status, person.given_code) == ("failed_check", "SORRY")
        answers = Answer.objects.filter(participant=person, item=item)
        assert sorted(one.attempt for one in answers) == [1, 2]
        assert all(is_right(item.plan, one.value) is False for one in answers)
        assert not any(value_problem(item.plan, one.value) for one in answers)
        assert person.sequence
        assert [one.episode for one in person.rounds.all()] == [None, None]


def test_nobody_fails_a_check_that_lets_everybody_go_on(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("study.pilot.synthetic.synthetic_participants.SHARES", OutcomeShares(fail_checks=50))
    StudyPart.objects.create(study=study, kind="check", enabled=True, settings={"on_failure": "continue"})
    SurveyItem.objects.create(
        study=study, key="goal", measure="Goal", text="Goal?", place="check", **CHECKS[0]
    )
    make(study, *FEW)
    assert set(Participant.objects.values_list("status", flat=True)) == {"complete"}


@pytest.mark.servers
def test_sequences_stay_even_from_one_command_to_the_next(study: Study) -> None:
    make(study, *SHORT, "--participants", "15")
    make(study, *SHORT, "--participants", "15", "--seed", "2")
    held = Participant.objects.filter(status__in=["complete", "active"]).values_list("sequence", flat=True)
    assert abs(list(held).count(1) - list(held).count(2)) <= 1


@pytest.mark.parametrize("schedule", ["together", "rounds"])
def test_leaders_assign_jobs_in_recorded_episodes(schedule: str) -> None:
    study = make_study(conditions=1)
    team = {"kind": "tree", "apart": True, "settings": {"sees": "all", "schedule": schedule}}
    study.conditions.update(
        coplayer="follower", teammates=2, organisation=team, step_seconds=3, knowing="people"
    )
    design = blueprint_of(study)
    recording = record_episode(design, design.conditions[0], seed=1, number=1, steps=3)
    assert [row["number"] for row in recording.rows[Seat] if not row["acts"]] == [2]
    assert {row["kind"] for row in recording.rows[Message]} >= {"inform", "accept"}
    assert (recording.episode["step_seconds"], recording.episode["knowing"]) == (3, "people")
    assert len(recording.steps) == 3 and not Episode.objects.exists()


def test_co_players_that_lead_assign_jobs_in_recorded_episodes() -> None:
    study = make_study(conditions=1)
    root = {"seats": [], "coplayer": "hourglass", "settings": {"model": "stand-in"}}
    team = {"kind": "tree", "settings": {"sees": "all"}, "members": [root]}
    study.conditions.update(coplayer="follower", teammates=2, organisation=team)
    design = blueprint_of(study)
    recording = record_episode(design, design.conditions[0], seed=1, number=1, steps=6)
    assert [row["number"] for row in recording.rows[Seat] if not row["acts"]] == [3]
    assert {row["sender"] for row in recording.rows[Message] if row["kind"] == "inform"} == {3}
    assert len(recording.steps) == 6 and not Episode.objects.exists()


@pytest.mark.parametrize("seat", [0, 1])
def test_a_pair_that_takes_turns_is_recorded_with_its_conversations(seat: int) -> None:
    study = make_study(conditions=1)
    team = {"kind": "pair", "settings": {"within": True}, "people": [seat]}
    settings = {"task": "boiled_egg", "gamma": 1.0}
    study.conditions.update(
        world="collab_overcooked",
        settings=settings,
        coplayer="recipe_partner",
        teammates=1,
        organisation=team,
        offers_plans=True,
    )
    design = blueprint_of(study)
    recording = record_episode(design, design.conditions[0], seed=1, number=1, steps=None)
    said = [(row["step"], row["sender"]) for row in recording.rows[Message]]
    assert said[0] == (1, 0) and (seat == 1 or said[1] == (1, 1))
    assert {row["because"] for row in recording.rows[Decision]} >= {"answer", "seat"}
    assert 10 <= len(recording.steps) <= 17


def test_episodes_of_people_alone_are_recorded_with_players_at_random() -> None:
    study = make_study(conditions=1)
    team = {"people": [0, 1], "unfilled": "leave", "absent": "end"}
    study.conditions.update(coplayer="none", teammates=1, organisation=team)
    design = blueprint_of(study)
    recording = record_episode(design, design.conditions[0], seed=1, number=1, steps=3)
    assert [row["kind"] for row in recording.rows[Mind]] == ["random"] and len(recording.steps) == 3


@pytest.mark.servers
def test_large_parts_of_a_state_are_copied_with_their_episodes(boulders: None) -> None:
    study = make_study(conditions=1)
    settings = {"blocks": 20, "steps": 5, "tick_ms": 0}
    study.conditions.update(world="boulders", settings=settings, coplayer="", teammates=0)
    design = blueprint_of(study)
    recording = record_episode(design, design.conditions[0], seed=1, number=1, steps=5)
    copies = [Copy(recording, timezone.now(), 1.0, Random(number)) for number in range(2)]
    make_copies(copies, audience="", budget_id=None)
    for episode in Episode.objects.all():
        assert current_world(episode).state_hash() == episode.state_hash
        assert StateChange.objects.filter(episode=episode).count() == len(recording.state_changes) > 1
        assert not list(verify_changes(episode))
