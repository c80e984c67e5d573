"""After a dry run, staff see which export files stayed empty, and why."""

from __future__ import annotations

import pytest

from study.design.models import SurveyItem
from study.editor.dry_run_file_page import export_file_states
from tests.study.factories import complete, make_study

pytestmark = pytest.mark.django_db


def test_each_file_has_rows_of_programs_or_says_why_not() -> None:
    study = make_study(conditions=1, items=0)
    complete(study, "a person")
    assert {one.why for one in export_file_states(study)} == {"No program has taken part yet."}
    complete(study, "a program", synthetic=True)
    why = {one.name: one.why for one in export_file_states(study)}
    assert [why[f"{name}.csv"] for name in ("participants", "episodes", "steps", "page_times")] == [""] * 4
    assert why["answers.csv"] == "The study asks no question."
    assert why["decisions.csv"] == "No condition has a co-player."
    assert why["messages.csv"] == "In no condition may anybody write messages."
    assert why["probes.csv"].startswith("No condition asks questions during the game")
    assert why["sound.csv"] == "The study records no sound."
    assert why["annotations.csv"] == "No rater has released marks on the replays of programs."
    assert why["payments.csv"] == "The study has no bonus rule."
    assert why["outages.csv"] == "Nothing of ours was away. That is good."
    SurveyItem.objects.create(study=study, key="late", measure="Late", text="Late?")
    study.conditions.update(
        world="overcooked",
        coplayer="greedy",
        teammates=1,
        settings={"clock": "tick", "ticks": 20},
        organisation={"kind": "central", "settings": {"talk": True}},
        rating_slider={"text": "Trust", "low": "none", "high": "full"},
    )
    states = {one.name: one.why for one in export_file_states(study)}
    assert states["answers.csv"].startswith("No program came so far.")
    assert states["messages.csv"].startswith("No program came so far.")
    assert states["jobs.csv"] == "In no condition may anybody give others jobs."
    assert states["probes.csv"].startswith("No program came so far.")
