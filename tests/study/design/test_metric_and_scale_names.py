"""Exports, analysis and pages of studies in other worlds: all follows from the figures that those declare."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from kitchen.charts import chart_drawing
from kitchen.play.live.seat_view import current_seat_view
from kitchen.play.models import Episode
from study.analysis import analysis_sample
from study.analysis.analysis_results import analyse_present_data
from study.analysis.statistics.markdown_report import markdown_report
from study.analysis.statistics.result_files import to_json
from study.design.blueprint import blueprint_of
from study.design.metric_and_scale_names import TAKEN, comparison_metrics, study_figures
from study.design.models import Study, SurveyItem
from study.design.preregistration import freeze_study
from study.exports.export_files import csv_pieces, parquet_pieces
from study.exports.export_registry import get_table, tables
from study.exports.tables.participants_table import COURSE_NAMES
from study.monitor import live_status
from study.participants.models import Participant
from study.participation.page_progress import finish_page
from tests.conftest import Once
from tests.study.factories import complete, enter, make_study, play_out
from tests.worlds.lamps import registered

pytestmark = pytest.mark.django_db

Row = dict[str, str]


@pytest.fixture(autouse=True)
def lamps() -> Iterator[None]:
    with registered():
        yield


def study_in(*worlds: str, **more: Any) -> Study:
    """A condition for each of these worlds."""
    study = make_study(conditions=len(worlds), **more)
    for condition, world in zip(study.conditions.all(), worlds, strict=True):
        if world == "lamps":
            study.conditions.filter(pk=condition.pk).update(world=world, settings={"nights": 2})
    return study


def files(study: Study, *names: str) -> dict[str, list[Row]]:
    """The rows of the files with these names."""
    texts = {name: b"".join(csv_pieces(get_table(name), study)).decode() for name in names}
    return {name: list(csv.DictReader(io.StringIO(text, newline=""))) for name, text in texts.items()}


@pytest.fixture(scope="module")
def played(once: Once) -> dict[str, int]:
    """Two studies that people have completed: three both conditions in lamps, one a condition in cuisine and
    one in lamps. Their pks."""
    with once(), registered():
        lit, mixed = study_in("lamps", "lamps", slug="lit"), study_in("cuisine", "lamps", slug="mixed")
        for number in range(3):
            complete(lit, f"person {number}", value=number + 1)
        complete(mixed, "of the mixed study")
    return {"lit": lit.pk, "mixed": mixed.pk}


@pytest.fixture
def lit(played: dict[str, int]) -> Study:
    return Study.objects.get(pk=played["lit"])


@pytest.fixture
def mixed(played: dict[str, int]) -> Study:
    return Study.objects.get(pk=played["mixed"])


def meanings(found: Mapping[str, list[Row]], file: str) -> dict[str, str]:
    return {row["column"]: row["meaning"] for row in found["codebook"] if row["file"] == f"{file}.csv"}


def score_of(person: Participant, condition: str) -> Any:
    return Episode.objects.get(rounds__participant=person, rounds__condition__key=condition).score


def test_the_files_have_the_figures_of_the_world_that_is_played_and_no_others(lit: Study) -> None:
    person = lit.participants.get(number=1)
    found, score = files(lit, "episodes", "steps", "participants"), score_of(person, "c0")
    episode = next(row for row in found["episodes"] if row["condition"] == "c0")
    assert {name: episode[name] for name in ("glow", "dark", "completed", "lit", "steps_lamps")} == {
        "glow": str(score["glow"]),
        "dark": "0.0",
        "completed": "2",
        "lit": "2",
        "steps_lamps": "20",
    }
    assert episode["steps"] == "2"
    assert not {"failed", "success_rate"} & {*episode, *found["steps"][0]}
    wide = found["participants"][0]
    assert (wide["c0.glow"], wide["c1.lit"], wide["c1.steps"]) == (str(score["glow"]), "2", "2")


def test_steps_have_the_figures_that_there_are_after_each_step(lit: Study) -> None:
    steps = files(lit, "steps")["steps"]
    names = list(steps[0])
    assert names[names.index("seconds") + 1 : names.index("state_hash")] == ["glow", "lit", "events"]
    assert [row["lit"] for row in steps] == ["1", "2"] * 6


def test_the_codebook_says_what_each_figure_is_and_when_there_is_none(lit: Study) -> None:
    found = files(lit, "codebook")
    episodes, steps = meanings(found, "episodes"), meanings(found, "steps")
    assert episodes["glow"] == "Light over the lamps; blank before one was lit."
    assert episodes["dark"] == "Nights in the dark; blank before the end."
    assert steps["glow"] == "Light over the lamps up to here."
    assert steps["events"] == "What happened, apart from the commands: lamps that went out."
    assert meanings(found, "participants")["c0.dark"] == (
        "Nights in the dark; blank before the end, in the condition “Condition 0”."
    )
    units = {row["column"]: (row["type"], row["unit"]) for row in found["codebook"] if row["unit"]}
    assert (units["glow"], units["lit"]) == (("number", "lumen"), ("integer", "lamps"))


def test_of_several_worlds_a_file_has_all_figures_and_blanks_where_a_world_has_none(mixed: Study) -> None:
    found = files(mixed, "episodes", "steps", "participants", "codebook")
    cuisine, other = sorted(found["episodes"], key=lambda row: row["condition"])
    mine = {"completed", "failed"}
    others = {"glow", "dark", "completed_lamps", "lit"}
    assert all(cuisine[name] for name in mine) and not any(cuisine[name] for name in others)
    assert all(other[name] for name in others) and not any(other[name] for name in mine | {"success_rate"})
    said = meanings(found, "episodes")
    assert said["completed_lamps"] == "Nights completed. Of episodes in lamps; blank in others."
    assert said["failed"] == "Orders that ran out of time. Of episodes in cuisine; blank in others."
    names = list(cuisine)
    assert names.index("completed_lamps") < names.index("success_rate")
    wide = {name for name in found["participants"][0] if name.startswith(("c0.", "c1."))}
    assert {"c0.completed", "c1.completed_lamps"} <= wide
    assert not {"c0.glow", "c1.completed", "c1.failed"} & wide
    blanks = [row["completed"] == "" for row in sorted(found["steps"], key=lambda row: row["condition"])]
    assert blanks == [False, False, False, True, True]


def test_a_practice_in_another_world_comes_after_what_is_studied() -> None:
    study = study_in("lamps", "lamps")
    study.parts.create(kind="practice", enabled=True)
    assert [one.name for one in study_figures(study)][:3] == ["glow", "dark", "completed"]
    assert "completed_cuisine" in {one.name for one in study_figures(study)}
    assert "c0.completed_cuisine" not in {row["column"] for row in files(study, "codebook")["codebook"]}


def test_a_world_that_is_added_later_renames_nothing() -> None:
    study = study_in("cuisine", "cuisine")
    complete(study)
    before = list(files(study, "episodes")["episodes"][0])
    study.conditions.create(
        key="c2", name="Later", label="Team 2", position=2, world="lamps", settings={"nights": 1}
    )
    complete(study, "two")
    after = list(files(study, "episodes")["episodes"][0])
    assert [name for name in after if name in before] == before
    assert {"glow", "completed_lamps"} <= set(after) - set(before)


def test_no_figure_has_the_name_of_another_column() -> None:
    study = study_in("cuisine", "lamps")
    assert set(TAKEN) == {
        *(column.name for name in ("episodes", "steps") for column in get_table(name).columns),
        *COURSE_NAMES,
        "events",
    }
    for table in tables():
        names = [column.name for column in table.columns_of(study)]
        assert len(set(names)) == len(names)


def test_parquet_holds_the_figures_in_their_own_types(lit: Study) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(io.BytesIO(b"".join(parquet_pieces(get_table("episodes"), lit))))
    kinds = {name: str(table.schema.field(name).type) for name in ("glow", "lit", "dark")}
    assert kinds == {"glow": "double", "lit": "int64", "dark": "double"}
    assert table.column("lit").to_pylist() == [2] * 6


def test_the_analysis_compares_what_the_world_measures(lit: Study) -> None:
    found = analyse_present_data(lit, "people")
    assert [one.measure.key for one in found.measures] == [
        *("glow", "dark", "completed", "i0", "i1"),
        *("refused_share", "idle_share", "thinking_seconds"),
    ]
    glow = found.measure("glow")
    assert (glow.measure.kind, glow.measure.scale, glow.measure.unit) == ("number", "any number", "lumen")
    assert [one.n for one in glow.descriptions] == [3, 3]
    assert found.measure("dark").measure.kind == "rate"
    stored = {one["key"]: one for one in json.loads(to_json(found))["measures"]}
    assert stored["glow"]["unit"] == "lumen" and stored["glow"]["low"] is None
    assert "unit" not in stored["dark"]
    assert "## Glow\n\nScale: any number." in markdown_report(found)


def test_of_several_worlds_each_condition_is_compared_by_its_own_figures(mixed: Study) -> None:
    found = analyse_present_data(mixed, "people")
    kitchens = found.measure("completed"), found.measure("completed_lamps")
    assert [[one.n for one in result.descriptions] for result in kitchens] == [[1, 0], [0, 1]]
    assert [one.missing for result in kitchens for one in result.descriptions] == [0, 0, 0, 0]
    assert [result.measure.label for result in kitchens] == ["Dishes completed", "Nights completed"]


@pytest.mark.usefixtures("without_report")
def test_the_command_writes_a_chart_of_every_figure(
    lit: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = chart_drawing.draw_chart
    monkeypatch.setattr(
        chart_drawing, "draw_chart", lambda chart, *_, **__: draw(chart) if "Lumen" in str(chart) else b""
    )
    call_command("analyse_study", "lit", "--out", str(tmp_path), stdout=io.StringIO())
    assert {"figure_glow.svg", "figure_dark.svg"} <= {path.name for path in tmp_path.iterdir()}
    assert "Lumen" in (tmp_path / "figure_glow.svg").read_text()


def test_an_older_item_of_the_same_name_stands_beside_a_figure() -> None:
    study = study_in("lamps", "lamps")
    study.items.filter(key="i0").update(key="glow", measure="Nights in the dark")
    complete(study)
    found = {one.measure.key: one.measure.label for one in analyse_present_data(study, "people").measures}
    assert found == {
        "glow_lamps": "Glow",
        "dark": "Nights in the dark (lamps)",
        "completed": "Nights completed",
        "glow": "Nights in the dark",
        "i1": "Measure 1",
        "refused_share": "Share of refused commands",
        "idle_share": "Share of idle steps",
        "thinking_seconds": "Thinking time",
    }


@pytest.mark.parametrize(("field", "value"), [("key", "glow"), ("measure", "Nights in the dark")])
def test_a_new_item_takes_no_name_of_a_figure(field: str, value: str) -> None:
    item = SurveyItem(study=make_study(), **{"key": "new", "measure": "New", "text": "New?", field: value})
    with pytest.raises(ValidationError, match="a measure of play already"):
        item.full_clean()


def test_who_has_no_value_in_a_condition_is_left_out_and_the_files_say_so() -> None:
    study = study_in("lamps", "lamps", items=0)
    for entry in ("one", "two"):
        complete(study, entry)
    first = study.participants.get(number=1)
    empty = dict.fromkeys(("glow", "dark", "completed"))
    Episode.objects.filter(rounds__participant=first, rounds__condition__key="c0").update(
        score={**empty, "lit": 0, "steps": 0}
    )
    assert analysis_sample.exclusion_reasons(study) == {first.pk: "not_every_condition"}
    assert analyse_present_data(study, "people").participants == (study.participants.get(number=2).code,)


def test_participants_read_what_they_achieved_in_the_worlds_own_words(client: Client) -> None:
    study = study_in("lamps", "lamps")
    Study.objects.update(scores_above_surveys=True)
    person = enter(study)
    finish_page(participant_id=person.pk, page="guide")
    episode = person.rounds.get(position=1).episode
    assert episode
    play_out(episode)
    page = client.get(person.get_absolute_url(), follow=True).content.decode()
    assert "<dt>lamps lit</dt><dd>2</dd>" in page
    view = current_seat_view(episode.seats.get(number=0))
    assert view.result.achieved == (("2", "lamps lit"),)


def test_staff_see_the_figures_on_the_live_page_and_at_the_participant(admin_client: Client) -> None:
    study = study_in("lamps", "lamps")
    person = enter(study)
    finish_page(participant_id=person.pk, page="guide")
    (row,) = live_status.live_rows(study, [person.code])
    assert row.standing == ("Glow \N{EN DASH}", "Nights in the dark \N{EN DASH}", "Nights completed 0")
    shown = ", ".join(f"<span>{figure}</span>" for figure in row.standing)
    assert shown in admin_client.get("/staff/small/live/").content.decode()
    one = admin_client.get(f"/staff/small/participants/{person.code}/").content.decode()
    assert "step 0." in one and shown in one


def test_the_sample_size_page_says_what_is_measured(admin_client: Client) -> None:
    study_in("cuisine", "lamps")
    page = admin_client.get("/staff/small/sample-size/").content.decode()
    assert "in episodes in Cuisine success rate (higher is better), dishes completed" in page
    assert "in episodes in Lamps glow (higher is better), nights in the dark (lower is better)" in page


def test_the_preregistration_says_what_is_measured(admin_client: Client, admin_user: Any) -> None:
    study = study_in("lamps", "lamps")
    number = freeze_study(study_id=study.pk, user=admin_user).number
    page = admin_client.get(reverse("study:staff-preregistration-readable", args=["small", number]))
    assert "In every episode: glow (higher is better), nights in the dark" in page.content.decode()
    assert comparison_metrics(blueprint_of(study)) == [
        (
            "every episode",
            ["glow (higher is better)", "nights in the dark (lower is better)", "nights completed"],
        )
    ]
