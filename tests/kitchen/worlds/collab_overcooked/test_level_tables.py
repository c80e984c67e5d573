"""An experiment of agents alone becomes tables by level, in the paper's form."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from django.core.management import call_command

from kitchen.worlds.collab_overcooked.bench import level_tables
from kitchen.worlds.collab_overcooked.bench.level_tables import (
    EpisodeName,
    EpisodeResult,
    LevelValue,
    ScoredConversation,
    capability_chart,
    gamma_chart,
    initiating,
    level_value,
    printed_table,
    success_rate,
    success_within,
    write_tables,
)
from kitchen.worlds.collab_overcooked.order_tasks import tasks

EGG, PEPPER = "boiled_egg", "baked_bell_pepper"


@pytest.mark.django_db
def test_an_experiment_is_tabulated_beside_the_printed_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(level_tables, "draw_chart", lambda chart: chart.words.encode())
    levels = f"{EGG},baked_pumpkin_soup_gamma_2"
    options = ["--organisation-set", "within=true", "--episodes", "1", "--local", "--yes"]
    call_command(
        "experiment", "--world", "collab_overcooked", "--levels", levels, *options, "--out", str(tmp_path)
    )
    table = (tmp_path / "table.md").read_text()
    for name in ("Success rate", "Progress completeness", "Initiating capability", "Responding capability"):
        assert f"## {name}, 2 seats" in table
    assert table.count("Brackets: 95 % bootstrap interval") == 3 and "Wilson's for successes" in table
    assert table.count("| recipe_partner+recipe_partner | 1.000 | 1.000 |") == 4, (
        "one episode has no interval"
    )
    text = write_tables(tmp_path)
    assert "| recipe_partner+recipe_partner | 100.0 / 100.0 | n/a / n/a |" in text
    assert "| GPT-4o (1120) (as printed) | 94 / 85.92 |" in text
    assert "| recipe_partner+recipe_partner: RC of recipe_partner, assistant | 100.0 |" in text
    assert "| recipe_partner+recipe_partner, 1 | n/a | n/a | 100.0 | n/a |" in text
    with (tmp_path / "scored_events.csv").open() as file:
        events = list(csv.DictReader(file))
    assert [(event["event"], event["code"], event["messages"]) for event in events] == [
        ("1", "0", "[1,2]"),
        ("1", "0", "[1,2]"),
        ("2", "0", "[3,4]"),
    ]
    assert events[0]["requests"] == "pickup egg ingredient_dispenser; place_obj_on_counter"
    with (tmp_path / "messages.csv").open() as file:
        (asked, answered, *_) = csv.DictReader(file)
    assert asked["requests"] == "Fetch egg; Put it on a counter"
    assert answered["requests"] == ""
    assert (tmp_path / "levels.md").read_text() == text
    checks = tmp_path / "failed_checks.csv"
    assert checks.read_text().strip().endswith("step,seat,code,checked")
    assert "| Failed checks |" not in text
    assert "| recipe_partner+recipe_partner | 3 | Messages |  | 2 | 2 |" in text
    assert "| recipe_partner+recipe_partner | 3 | Rounds of own conversations |  | 2 | 0 |" in text
    with checks.open("a") as file:
        file.write("pair,boiled_egg,2,1,1,3,1,hands_full,plan\n" * 2)
    with (tmp_path / "decisions.csv").open() as file:
        columns = next(csv.reader(file))
    note = json.dumps({"process": {"format_errors": 1, "failed_checks": [], "helped": 2}})
    one = {"variant": "pair", "level": "baked_pumpkin_soup", "step": "1", "member": "0", "note": note}
    with (tmp_path / "decisions.csv").open("a") as file:
        rows_of_calls = [{**one, "call": call} for call in ("1", "2")]
        both = json.dumps({"0": None, "1": json.loads(note)})  # the note of an agent with both seats
        csv.DictWriter(file, columns).writerows([*rows_of_calls, {**one, "variant": "both", "note": both}])
    text = write_tables(tmp_path)
    assert "## Process counts\n\n| who | level | count | code | chef | assistant |" in text
    assert "| pair | 1 | Failed checks | hands_full | 0 | 2 |" in text
    assert "| pair | 3 | Format errors |  | 1 | 0 |" in text, "a decision counts once, whatever its calls"
    assert "| both | 3 | Format errors |  | 0 | 1 |" in text
    with (tmp_path / "process_counts.csv").open() as file:
        rows = [tuple(row.values()) for row in csv.DictReader(file)]
    assert ("pair", "3", "chef", "Helpful corrections", "", "2") in rows
    checks.unlink()
    assert write_tables(tmp_path) == text.replace(
        "| pair | 1 | Failed checks | hands_full | 0 | 2 |\n", ""
    ), "as of an older version"
    figure, by_gamma = ((tmp_path / f"{name}.svg").read_text() for name in ("figure3", "success_by_gamma"))
    assert "Initiating capability of the chef, recipe_partner+recipe_partner, 1: 100.0 %" in figure
    assert "recipe_partner+recipe_partner, Level 3, 1.2: 100.0 %" in by_gamma


def episode(task: str, delivered_at: int | None, *right: bool) -> EpisodeResult:
    events = tuple(ScoredConversation(each, each) for each in right)
    return EpisodeResult(EpisodeName("a+b", task, "1"), tasks()[task], 2.0, delivered_at, 0.5, events)


def test_events_of_a_task_are_pooled_and_a_level_is_the_mean_of_its_tasks() -> None:
    found = [episode(EGG, 16, True, True, True), episode(EGG, None, False), episode(PEPPER, 16, False)]
    value = level_value(found, initiating)
    assert value.value == pytest.approx(0.375) and value.episodes == 3
    assert (value.low, value.high) == (0, 0.5)
    assert level_value(found, success_rate).value == 0.75
    assert level_value([episode(EGG, 1)], initiating) == LevelValue(None, episodes=1)


def test_a_delivery_counts_for_every_limit_that_it_meets() -> None:
    runs = [episode(EGG, step) for step in (16, 17, 24, 25)]
    assert [success_within(gamma)(runs) for gamma in (1.0, 1.2, 1.5, 2.0)] == [0.25, 0.5, 0.75, 1]


def test_figures_have_a_panel_for_each_capability_and_a_line_for_each_level() -> None:
    runs = [episode(EGG, 16, True), episode(EGG, 24, False), episode("baked_pumpkin_soup", 40)]
    chart = capability_chart(runs)
    assert [panel.title.split()[0] for panel in chart.panels] == ["Initiating", "Responding"]
    (line,) = chart.panels[0].series
    assert [(point.x, point.y, point.low, point.high) for point in line.points] == [(1, 0.5, 0, 1)]
    (panel,) = gamma_chart(runs).panels
    assert {one.name: [point.y for point in one.points] for one in panel.series} == {
        "Level 1": [0.5, 0.5, 1, 1],
        "Level 3": [0, 1, 1, 1],
    }


def test_the_printed_table_has_ten_models_and_six_levels() -> None:
    assert len(printed_table()) == 10
    assert all(len(cells) == 6 for cells in printed_table().values())
