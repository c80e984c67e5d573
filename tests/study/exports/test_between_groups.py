"""Groups between people in the data: files, API, programs that fill a study, and what the analysis takes."""

from __future__ import annotations

import csv
from collections import Counter
from typing import Any

import pytest

from kitchen.infra.append_only import erasure_allowed
from study.analysis.analysis_results import analyse_present_data
from study.analysis.analysis_sample import exclusion_reasons
from study.analysis.statistics.result_sentences import main_test_sentence
from study.design.models import Study
from study.exports.export_files import csv_pieces
from study.exports.export_registry import get_table
from study.participants.models import Answer, Participant
from study.participants.participant_counts import order_balance
from study.pilot.previews import condition_preview
from study.pilot.synthetic.synthetic_participants import SyntheticRequest, make_participants
from study.planning.study_cost_forecast import forecast_costs
from study.researchers.api_tokens import token_make
from tests.conftest import Once
from tests.study.design.test_between_groups import grouped_study
from tests.study.exports.test_export_api import asked
from tests.study.factories import SETTINGS, complete, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def played(once: Once) -> int:
    """A study in which two people of each group went the whole way; its pk."""
    with once():
        study = grouped_study()
        for number, value in enumerate((2, 5, 4, 3)):
            complete(study, str(number), value=value)
        with erasure_allowed():
            Answer.objects.filter(item__key="i0", round__position=2, participant__number__lt=3).update(
                value=3
            )
    return study.pk


@pytest.fixture
def study(played: int) -> Study:
    return Study.objects.get(pk=played)


def lines(name: str, study: Study) -> list[dict[str, Any]]:
    return list(csv.DictReader(b"".join(csv_pieces(get_table(name), study)).decode().splitlines()))


def test_files_tell_the_group_and_the_level_and_only_where_there_are_groups(study: Study) -> None:
    groups = {one.code: one.between_group for one in study.participants.all()}
    assert {row["participant"]: row["between_group"] for row in lines("participants", study)} == groups
    for row in lines("measures", study):
        assert row["between_group"] == groups[row["participant"]]
        assert row["within_level"] == f"level_{int(row['condition'][1]) % 2}"
    book = {(row["file"], row["column"]) for row in lines("codebook", study)}
    assert {("participants.csv", "between_group"), ("measures.csv", "within_level")} <= book
    alone = make_study("alone")
    for name in ("participants", "measures"):
        columns = {one.name for one in get_table(name).columns_of(alone)}
        assert not columns & {"between_group", "within_level"}


def test_the_api_tells_the_group_of_each_sequence(study: Study, admin_user: Any) -> None:
    make_study("alone")
    _, secret = token_make(user=admin_user, name="mine")
    cells = asked("studies/seats/progress", secret).json()["cells"]
    assert Counter(one["group"] for one in cells) == {"chef": 2, "assistant": 2}
    assert sum(one["finished"] for one in cells) == 4
    assert {"versions", "sequence", "order", "finished", "playing"} == {
        name for one in asked("studies/alone/progress", secret).json()["cells"] for name in one
    }


def test_the_analysis_takes_who_played_all_of_their_group(study: Study) -> None:
    analysis = analyse_present_data(study, "people")
    assert analysis.between and analysis.between.groups == ("chef", "assistant")
    assert len(analysis.participants) == 4 and not exclusion_reasons(study)
    told = main_test_sentence(analysis.measure("i0"))
    assert told.startswith("Mixed ANOVA: group F(1, 2) = ")
    balance = order_balance(study)
    assert balance and [list(counts) for _, counts in balance.after] == [
        [None, 1, None, None],
        [1, None, None, None],
        [None, None, None, 1],
        [None, None, 1, None],
    ], "nobody plays conditions of two groups"

    early = study.participants.earliest("number")
    Participant.objects.filter(pk=early.pk).update(between_group="")  # entered before there were groups
    assert exclusion_reasons(study) == {early.pk: "not_every_condition"}
    assert early.code not in analyse_present_data(study, "people").participants


def test_programs_fill_the_groups_evenly_and_a_preview_of_a_condition_is_of_its_group(study: Study) -> None:
    make_participants(study, SyntheticRequest(4, seed=1, recordings=1), lambda _: None)
    made = Participant.objects.filter(study=study, synthetic=True).exclude(between_group="")
    filled = Counter(made.values_list("between_group", flat=True))
    assert set(filled) == {"chef", "assistant"} and max(filled.values()) - min(filled.values()) < 2
    for person in made:
        keys = {one.condition.between_group for one in person.rounds.all()}
        assert keys == {person.between_group}
    shown = condition_preview(condition=study.conditions.get(key="c3"))
    assert shown.between_group == "assistant" and shown.rounds.get().episode
    assert {line.share for line in forecast_costs(study).lines} == {0.5}


def test_programs_practise_in_the_seat_of_their_group(study: Study) -> None:
    team = {"teammates": 1, "coplayer": "random"}
    for group, seat in (("chef", 0), ("assistant", 1)):
        theirs = study.conditions.filter(between_group=group)
        theirs.update(**team, organisation={"kind": "central", "people": [seat]})
    kitchen = {"settings": SETTINGS, **team}
    part = {"enabled": True, "settings": {"own_seat": True, "hints": False, "kitchen": kitchen}}
    study.parts.update_or_create(kind="practice", defaults=part)
    make_participants(study, SyntheticRequest(2, seed=1, recordings=1), lambda _: None)
    practised = study.participants.filter(synthetic=True, practice__seats__mind=None, practice__isnull=False)
    seats = set(practised.values_list("between_group", "practice__seats__number"))
    assert seats == {("chef", 0), ("assistant", 1)}
