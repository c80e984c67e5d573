"""Process counts by condition and seat: read from logs, shown in the report, and written as a table."""

from __future__ import annotations

import csv
from dataclasses import replace
from io import StringIO

import pytest
from django.utils import timezone

from kitchen.play.episode.log_metrics import store_log_metrics
from kitchen.play.models import Episode, Step
from study.analysis.analysis_sample import Sample
from study.analysis.read_process_counts import process_counts
from study.analysis.statistics.markdown_report import process_section
from study.analysis.statistics.observations import AnalysisCondition
from study.analysis.statistics.process_counts import PROCESS_FILE, ProcessCounts
from study.analysis.statistics.result_files import TABLES, has_rows
from study.analysis.statistics.run_analysis import Analysis
from study.design.demo_study_files import DEMO_FILE, READY_STUDIES
from study.design.study_files import study_from_file
from study.participants.models import Participant
from tests.study.design.test_ready_collab_overcooked import begun

HARD = AnalysisCondition("hard", "Hard", 0)
COUNTS = ProcessCounts(HARD, "chef", 2, (("Failed checks", 3), ("Format errors", 1)), (("hands_full", 3),))
NOTHING = Analysis((HARD,), (), (), (), ())


@pytest.mark.django_db
def test_failed_checks_are_counted_by_code_for_the_seat_that_failed_them() -> None:
    study = study_from_file(DEMO_FILE.with_name(READY_STUDIES["collab_overcooked"][1]))
    episode = begun(study, "zucchini_chef_level_4")
    now = timezone.now()
    for number, code in enumerate(("hands_empty", "hands_empty", "busy"), start=1):
        refused = {"kind": "refused", "seat": 0, "command": ["deliver"], "reasons": [code]}
        Step.objects.create(
            episode=episode,
            number=number,
            commands=[],
            events=[refused],
            score={},
            opened_at=now,
            taken_at=now,
        )
    Episode.objects.filter(pk=episode.pk).update(step=3, status=Episode.Status.OVER, ended_at=now)
    episode.refresh_from_db()
    store_log_metrics(episode)
    study.participants.update(preview=False, status=Participant.Status.COMPLETE, ended_at=now)
    sample = Sample(study, who="everybody")
    found = process_counts(sample)
    assert [(one.condition.key, one.seat, one.episodes) for one in found] == [
        ("zucchini_chef_level_4", "chef", 1),
        ("zucchini_chef_level_4", "assistant", 1),
    ]
    chef, assistant = found
    assert dict(chef.totals)["Failed checks"] == 3
    assert chef.failed_by_code == (("hands_empty", 2), ("busy", 1))
    assert dict(assistant.totals)["Format errors"] == 0 and assistant.codes_text == "\N{EN DASH}"


def test_the_table_has_the_totals_and_the_codes_and_is_left_out_without_counts() -> None:
    analysis = replace(NOTHING, process=(COUNTS,))
    assert has_rows(PROCESS_FILE, analysis) and not has_rows(PROCESS_FILE, NOTHING)
    rows = list(csv.DictReader(StringIO(TABLES[PROCESS_FILE](analysis).decode())))
    assert [(row["seat"], row["count"], row["code"], row["total"]) for row in rows] == [
        ("chef", "Failed checks", "", "3"),
        ("chef", "Format errors", "", "1"),
        ("chef", "Failed checks", "hands_full", "3"),
    ]


def test_the_report_shows_the_counts_by_condition_and_seat() -> None:
    assert process_section(NOTHING) == []
    heading, _, table = process_section(replace(NOTHING, process=(COUNTS,)))
    assert heading == "## Process counts"
    assert "| Hard | chef | 2 | 3 | 1 |" in table and "full 3" in table
