"""Programs play like the people of a study: measured, written to a file, and used by dry runs."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from kitchen.agents.human_like.play_habits import KINDS, PAUSE, PlayHabits, habits_text, read_habits
from kitchen.replay.import_trials import store_trial
from study.design.models import Study
from study.participants.models import Participant, Round
from study.pilot.bots.simulated_person import Person
from study.pilot.bots.walk_plans import OutcomeShares
from study.pilot.dry_run_execution import DryRunRequestError
from study.pilot.dry_run_jobs import NOBODY_TO_PLAY_LIKE, dry_run_create, request_of_run
from study.pilot.dry_run_page import DryRunForm
from study.pilot.fit_people import people_of_study
from tests.kitchen.worlds.overcooked.test_released_trials import played
from tests.study.factories import make_study

pytestmark = pytest.mark.django_db
LAZY = PlayHabits("lazy", dict.fromkeys(KINDS, (0.0, 1.0, 0.0)), 0)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """A study whose synthetic participants have only paused."""
    found = make_study()
    (tmp_path / "lazy.txt").write_text(habits_text([LAZY]))
    size = ("--participants", "4", "--recordings", "1", "--steps-per-episode", "6")
    call_command("make_synthetic", found.slug, *size, "--people", tmp_path / "lazy.txt", stdout=io.StringIO())
    return found


def fit(study: Study, *more: object) -> list[str]:
    out = io.StringIO()
    call_command("fit_people", study.slug, *more, stdout=out)
    return out.getvalue().splitlines()


def test_what_people_did_is_measured_and_written(study: Study, tmp_path: Path) -> None:
    last = fit(study, "--synthetic", "--out", tmp_path / "people.txt")[-1]
    people = read_habits((tmp_path / "people.txt").read_text())
    finished = set(Round.objects.exclude(episode=None).values_list("participant", flat=True))
    assert len(people) == len(finished) > 1
    assert all(each.shares()[PAUSE] > 0.95 for each in people)
    assert last.startswith(f"{len(people)} people, ")
    codes = Participant.objects.values_list("code", flat=True)
    assert not [code for code in codes if code in (tmp_path / "people.txt").read_text()]


def test_programs_are_no_people(study: Study) -> None:
    with pytest.raises(CommandError, match="has no finished episodes of people") as caught:
        fit(study)
    assert caught.value.returncode == 2
    assert people_of_study(study) == ()


@pytest.mark.parametrize(
    ("text", "words"), [("", "holds nobody"), ("p1 1 2", "has 2 numbers"), (None, "cannot read")]
)
def test_a_wrong_file_is_refused_and_nobody_is_made(tmp_path: Path, text: str | None, words: str) -> None:
    study, path = make_study(), tmp_path / "people.txt"
    if text is not None:
        path.write_text(text)
    with pytest.raises(CommandError, match=words) as caught:
        call_command("make_synthetic", study.slug, "--people", path)
    assert caught.value.returncode == 2
    assert not Participant.objects.exists()


def test_a_dry_run_plays_like_the_people_of_the_study(study: Study, django_user_model: type) -> None:
    user = django_user_model.objects.create_user("researcher")  # type: ignore[attr-defined]
    wish: dict[str, Any] = {
        "participants": 3,
        "seed": 5,
        "at_once": 1,
        "shares": OutcomeShares(),
        "like_people": True,
    }
    run = dry_run_create(study_id=study.pk, user=user, **wish)
    with pytest.raises(DryRunRequestError, match=NOBODY_TO_PLAY_LIKE):
        request_of_run(run)
    Participant.objects.update(synthetic=False)
    order = request_of_run(run)
    assert order.people
    run.refresh_from_db()
    assert run.people_fitted.startswith(f"{len(order.people)} people, ")
    habits = Person(order.seed, 1, order.people).habits
    assert habits in order.people


def test_the_form_says_that_there_is_nobody_to_play_like(study: Study) -> None:
    sent = dict.fromkeys(("participants", "at_once", "seed"), "1") | {"like_people": "on"}
    sent |= dict.fromkeys(("drop_outs", "withdrawals", "refusals", "fail_checks"), "0")
    assert DryRunForm(sent, study=study).errors["like_people"] == ["Nobody has finished an episode here yet."]
    Participant.objects.update(synthetic=False)
    assert "like_people" not in DryRunForm(sent, study=study).errors


def test_the_people_of_imported_games_are_measured(tmp_path: Path) -> None:
    store_trial(played(), name="t1", file_hash="abc", file_name="games.csv")
    out = io.StringIO()
    call_command("fit_people", "--imported", "ab", "--out", tmp_path / "people.txt", stdout=out)
    assert out.getvalue().startswith("1 people, ")
    for wrong in (["--imported", "x"], [], ["small", "--imported"]):
        with pytest.raises(CommandError) as caught:
            call_command("fit_people", *wrong)
        assert caught.value.returncode == 2
