"""What an outage touched is marked in the data, and can be left out."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from kitchen.contract.decision_notes import READING_COLUMNS as READ
from kitchen.play.episode.advance_episode import submit_commands
from kitchen.play.models import Episode
from kitchen.play.turn.submitted_commands import SubmittedCommand
from kitchen.uptime.models import Outage
from kitchen.uptime.outage_queries import recent_outages
from study.analysis.analysis_results import analyse_present_data
from study.analysis.statistics.markdown_report import markdown_report
from study.design.blueprint import AROUND_ROUNDS
from study.design.models import Study
from study.exports.export_files import csv_pieces
from study.exports.export_registry import get_table
from study.exports.export_table import EVERYBODY, ExportSelection
from study.exports.tables.played_episodes import touched_count
from study.participation.page_progress import finish_page
from tests.conftest import Once
from tests.study.factories import complete, enter, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def played(once: Once) -> int:
    """A study in which two people went the whole way; in the second step of the first episode of the first
    of them the pages were away, and the workers for some of that time."""
    with once():
        study = make_study()
        Study.objects.filter(pk=study.pk).update(created_at=timezone.now() - timedelta(days=2))
        complete(study, "one", value=4)
        step = Episode.objects.order_by("pk")[0].steps.get(number=2)
        middle = step.opened_at + (step.taken_at - step.opened_at) / 2
        Outage.objects.create(part="web", since=middle, until=step.taken_at)
        Outage.objects.create(part="workers", since=middle, until=step.taken_at)
        complete(study, "two", value=2)
        Outage.objects.create(part="redis", since=timezone.now(), until=timezone.now() + timedelta(days=1))
        Outage.objects.create(
            part="web", since=timezone.now() - timedelta(days=2), until=timezone.now() - timedelta(days=1)
        )
    return study.pk


@pytest.fixture
def study(played: int) -> Study:
    return Study.objects.get(pk=played)


def rows(study: Study, name: str, chosen: ExportSelection = EVERYBODY) -> list[dict[str, str]]:
    text = b"".join(csv_pieces(get_table(name), study, chosen)).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_every_row_says_what_was_away_meanwhile(study: Study) -> None:
    parts = [row["outage_parts"] for row in rows(study, "steps")]
    assert parts[1] == "web workers" and len(parts) == 12
    assert parts.count("web workers") <= 2  # the next step was opened at the moment in which it was over
    assert [row["outage_parts"] for row in rows(study, "commands")] == parts
    assert [row["outage_parts"] for row in rows(study, "episodes")] == ["web workers", "", "", ""]
    assert {row["outage_ms"] for row in rows(study, "steps")[3:]} == {"0"}


def test_stars_count_once_a_round_came_to_its_end(study: Study) -> None:
    Episode.objects.update(star_targets={"failed": [3, 2, 1]})
    Episode.objects.filter(pk=Episode.objects.earliest("pk").pk).update(status="abandoned")
    counted = [(row["status"], row["stars"]) for row in rows(study, "episodes") if row["star_targets"]]
    assert {stars for status, stars in counted if status in ("abandoned", "playing")} == {""}
    assert {bool(stars) for status, stars in counted if status in ("over", "cut_off")} == {True}


def test_columns_stand_behind_those_that_were_there_before() -> None:
    later = ["shown", "asks_first", "three_dimensions", "three_dimensions_used", "shows_intents"]
    later += ["chose_in", "passes_by", "knowing", "decision_seconds", "offers_plans", *READ]
    later += ["people", "group", "given_up_step", "given_up_because", "without_people"]
    later += [
        "predictions_judged",
        "predictions_right",
        "predictions_share",
        "tick_ms",
        "goal",
        "ends_at_goal",
        "talk_language",
        "recommends_sound",
        "sound",
        *AROUND_ROUNDS,
        "round_trips",
        "round_trip_min_ms",
        "round_trip_median_ms",
        "round_trip_p95_ms",
        "hides_dots",
        "star_targets",
        "stars",
        "order_choices",
        "probes",
        "rating_slider",
        "left_out",
        "left_out_because",
    ]
    planned = ["to_follow", "planned_in"]
    kept = ["reasoning", "parameters", "decision", "seen_step", "because", "dropped"]
    kept += ["read", "commands_asked", "commands_unread", "commands_invalid_before", "commands_invalid"]
    kept += ["tokens_thinking", "cache_miss"]
    for name, behind in (("steps", []), ("commands", planned), ("decisions", kept), ("episodes", later)):
        names = [column.name for column in get_table(name).columns]
        assert names[-2 - len(behind) :] == ["outage_ms", "outage_parts", *behind], name


def test_outages_of_the_time_of_the_study_are_a_file(study: Study) -> None:
    assert [row["part"] for row in rows(study, "outages")] == ["web", "workers"]


def test_steps_that_were_touched_can_be_left_out(study: Study) -> None:
    chosen, count = ExportSelection.without(["outage_steps"]), touched_count(study)
    for name in ("steps", "commands"):
        left = rows(study, name, chosen)
        assert len(left) == 12 - count.steps and {row["outage_parts"] for row in left} == {""}
    assert len(rows(study, "episodes", chosen)) == 4


def test_episodes_that_were_touched_can_be_left_out(study: Study) -> None:
    chosen = ExportSelection.without(["outage_episodes"])
    found = {
        name: len(rows(study, name, chosen)) for name in ("participants", "episodes", "steps", "answers")
    }
    assert found == {"participants": 2, "episodes": 3, "steps": 9, "answers": 6}


def test_the_files_say_which_rows_were_left_out(
    study: Study, tmp_path: Path, admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("study.exports.export_files.tables", lambda: [get_table("episodes")])
    out = io.StringIO()
    call_command("export_study", "small", "--out", str(tmp_path), "--without", "outage_episodes", stdout=out)
    said = "1 episode that an outage touched, with 3 steps"
    assert f"left out: {said}\n" in out.getvalue()
    assert f"Left out: {said}" in (tmp_path / "README.md").read_text()
    page = admin_client.get("/staff/small/data/?without=outage_episodes").content.decode()
    assert f"Left out: {said}." in page and "?without=outage_episodes" in page


def test_a_study_without_outages_says_nothing_of_them(study: Study, admin_client: Client) -> None:
    make_study("calm")
    assert "outage_steps" not in admin_client.get("/staff/calm/data/").content.decode()


def test_the_analysis_can_leave_touched_episodes_out(study: Study, admin_client: Client) -> None:
    everything, less = (
        analyse_present_data(study, "people", untouched=untouched) for untouched in (False, True)
    )
    assert (len(everything.participants), len(less.participants)) == (2, 1)
    assert less.attrition and (less.attrition.touched, less.attrition.touched_left_out) == (1, True)
    page = admin_client.get("/staff/small/analysis/?without=outages").content.decode()
    assert 'value="outages" checked> without episodes affected by an outage (1)' in page
    assert "1 episode left out: an outage of the server touched them." in markdown_report(less)


@pytest.mark.usefixtures("without_drawings")
@pytest.mark.servers
def test_the_command_leaves_them_out_and_says_how_many(study: Study, tmp_path: Path) -> None:
    out = io.StringIO()
    call_command("analyse_study", "small", "--out", str(tmp_path), "--without-outages", stdout=out)
    assert "left out: 1 episode with an outage" in out.getvalue()
    assert "1 participants (people only)" in out.getvalue()


def test_the_live_page_shows_outages(study: Study, admin_client: Client) -> None:
    page = admin_client.get("/staff/small/live/").content.decode()
    assert "the whole installation" in page
    assert len(recent_outages()) == 3


def test_an_outage_is_nobody_who_played() -> None:
    study = make_study("other")
    person = enter(study, "three")
    finish_page(participant_id=person.pk, page="guide")
    episode = person.rounds.get(position=1).episode
    assert episode
    given = SubmittedCommand(0, ("noop",), "outage", "outage")
    assert submit_commands(episode_id=episode.pk, step=1, commands=[given]).accepted
    assert [row["played_by"] for row in rows(study, "episodes")] == [""]
