"""measures, long: what the analysis takes, with the settings of each condition."""

from __future__ import annotations

import csv
from typing import Any

import pytest

from kitchen.play.models import Episode
from kitchen.registry.world_metrics import metrics_of_world
from study.analysis.analysis_sample import Sample, measured_items, observations
from study.design.models import Condition, Study, SurveyItem
from study.exports.export_files import csv_pieces
from study.exports.export_registry import get_table
from study.participants.models import Participant
from study.participation.page_progress import finish_page
from tests.study.exports.test_participant_columns import answered
from tests.study.factories import enter, make_study

pytestmark = pytest.mark.django_db


def long(study: Study) -> list[dict[str, Any]]:
    return list(csv.DictReader(b"".join(csv_pieces(get_table("measures"), study)).decode().splitlines()))


def test_each_measure_is_a_row_with_the_value_that_the_analysis_takes() -> None:
    study = make_study()
    SurveyItem.objects.update(scale="Trust")
    answered(study, "one", {"i0": 5, "i1": 2})
    sample = Sample(study, who="people")
    taken = {
        (one.participant, one.condition, one.measure): one.value
        for one in observations(sample, measured_items(sample))
    }
    found = {
        (row["participant"], row["condition"], row["measure"]): float(row["value"]) if row["value"] else None
        for row in long(study)
    }
    assert found == taken
    assert {row["value"] for row in long(study) if row["measure"] == "trust_score"} == {"3.5"}
    assert {row["made_of"] for row in long(study)} == {"play", "item", "scale"}


def test_a_share_of_several_events_has_an_interval_within_the_episode() -> None:
    study = make_study(items=0)
    answered(study, "one", {})
    shares = [metric for metric in metrics_of_world("cuisine") if metric.of]
    for row, counts in zip(Episode.objects.order_by("pk"), ((3, 1), (1, 0)), strict=True):
        row.score |= dict(zip(shares[0].of or (), counts, strict=True))
        row.save()
    found = [
        (row["bootstrap_low"], row["bootstrap_high"])
        for row in long(study)
        if row["measure"] == shares[0].name
    ]
    assert found == [("0.25", "1.0"), ("", "")], "one event has no interval"
    assert {row["bootstrap_low"] for row in long(study) if row["measure"] != shares[0].name} == {""}


def test_a_row_has_the_settings_of_its_condition_as_columns() -> None:
    study = make_study(items=0)
    answered(study, "one", {})
    played = {row["condition"]: (row["setting.alpha"], row["setting.max_steps"]) for row in long(study)}
    assert played == {"c0": ("1.0", "3"), "c1": ("2.0", "3")}
    model = {"coplayer": "dispatcher", "coplayer_settings": {"model": "stand-in"}}
    Condition.objects.filter(key="c1").update(teammates=1, **model)
    enter(study, "two")
    kinds = {column.name: column.kind for column in get_table("measures").columns_of(study)}
    assert (kinds["setting.alpha"], kinds["setting.max_steps"], kinds["coplayer.model"]) == (
        "number",
        "integer",
        "text",
    )
    assert {row["coplayer.model"] for row in long(study)} == {""}


def test_drop_outs_have_rows_and_are_marked() -> None:
    study = make_study(conditions=1, items=1)
    person = enter(study, "gone")
    finish_page(participant_id=person.pk, page="guide")
    assert not long(study)
    episode = person.rounds.get().episode
    assert episode
    episode.status = episode.Status.OVER
    episode.save()
    rows = long(study)
    assert {row["left_out_of_analysis"] for row in rows} == {"not_complete"}
    assert [row["value"] for row in rows if row["made_of"] == "item"] == [""]
    Participant.objects.filter(pk=person.pk).update(synthetic=True)
    assert {row["synthetic"] for row in long(study)} == {"1"}
