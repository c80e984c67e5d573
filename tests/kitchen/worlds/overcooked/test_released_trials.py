"""Games are written in Overcooked-AI's forms and read back; a row that differs from the rules is named."""

from __future__ import annotations

import json
from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from kitchen.agents.make_situation import make_situation
from kitchen.contract.recorded_trial import RecordedTrial, TrialError, TrialLabels, TrialOptions
from kitchen.contract.world import Json
from kitchen.worlds.overcooked.partners.baseline_agents import greedy_command
from kitchen.worlds.overcooked.partners.grid_snapshot import scene_from_situation
from kitchen.worlds.overcooked.released_trials import RELEASED_TRIALS
from kitchen.worlds.overcooked.world import Overcooked

LABELS = TrialLabels("t1", ("p1", "greedy"), (True, False))
TOMATO = {"layout": "cramped_room_tomato", "cooking": "interact"}


def played(**settings: Json) -> RecordedTrial:
    """A game of 45 ticks in which seat 0 is greedy and seat 1 acts at random."""
    chosen = {"layout": "cramped_room", "ticks": 45, **settings}
    world, chance, turns = Overcooked.create(seats=2, settings=chosen), Random(3), []
    world.reset(0)
    while not world.over:
        wanted = greedy_command(scene_from_situation(make_situation(world, [0])), 0)
        turns.append(((0, wanted), (1, chance.choice(world.legal_actions(1)))))
        world.step(turns[-1])
    return RecordedTrial("overcooked", 1, chosen, 2, 0, turns, "t1", (True, False))


def table(trial: RecordedTrial) -> list[dict[str, str]]:
    rows = RELEASED_TRIALS.rows(trial, LABELS)
    return [dict(zip(RELEASED_TRIALS.columns, map(str, row), strict=True)) for row in rows]


def read(rows: list[dict[str, str]], preset: str = "", **given: str) -> RecordedTrial:
    return RELEASED_TRIALS.read_rows(rows, TrialOptions(preset, given))


def final_state(trial: RecordedTrial) -> Mapping[str, Any]:
    world = Overcooked.create(seats=2, settings=trial.settings)
    world.reset(trial.seed)
    for turn in trial.turns:
        world.step(turn)
    return {**world.to_dict(), "settings": {}}


@pytest.mark.parametrize("settings", [{}, TOMATO, {"layout": "counter_circuit", "cooking": "interact"}])
def test_a_written_table_is_read_back_as_the_same_game(settings: dict[str, Json]) -> None:
    trial = played(**settings)
    rows = table(trial)
    assert len(rows) == len(trial.turns) + 1
    again = read(rows)
    assert (again.turns, again.people) == (trial.turns, [True, False])
    assert final_state(again) == final_state(trial)


def test_an_object_of_lists_is_read_back_as_the_same_game() -> None:
    trial = played(**TOMATO)
    entry = RELEASED_TRIALS.episode(trial, LABELS)
    lists = json.loads(json.dumps({name: [value] for name, value in entry.items()}))
    (again,) = RELEASED_TRIALS.read_episodes(lists, TrialOptions())
    assert isinstance(again, RecordedTrial)
    assert final_state(again) == final_state(trial)
    assert sum(entry["ep_rewards"]) == entry["ep_returns"]


def old_form(trial: RecordedTrial) -> list[dict[str, str]]:
    """The rows as files of 2019 have them: Python literals, soups with `state`, five points for a soup."""
    rows = table(trial)
    for row in rows:
        state = json.loads(row["state"])
        for thing in [*state["objects"], *(each["held_object"] for each in state["players"])]:
            if thing and thing["name"] == "soup":
                number, tick = len(thing.pop("_ingredients")), thing["cooking_tick"]
                thing["state"] = ["onion", number, max(tick, 0) + (7 if thing["is_ready"] else 0)]
        row["state"] = str({**state, "objects": {str(each["position"]): each for each in state["objects"]}})
        row["joint_action"] = str(json.loads(row["joint_action"])).replace("interact", "INTERACT")
        row["layout"] = str(["".join(each) for each in json.loads(row["layout"])])
        row["reward"] = str(int(row["reward"]) / 4)
    return rows


def test_the_older_form_is_read_with_its_preset() -> None:
    trial = played(ticks=120)
    again = read(old_form(trial), "2019")
    assert again.turns == trial.turns
    assert "value = 5" in str(again.settings["own_layout"])
    with pytest.raises(
        TrialError, match=r"row \d+: after joint action \d+, at \(2, 0\) is a soup .* count 1"
    ):
        read(old_form(trial), "2019", cooking="interact")


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("reward", "3", "row 9: the reward is 3 in the file, and 0 here"),
        ("joint_action", "[[0, 0], 'jump']", "row 9: joint_action is no pair"),
        ("state", "__import__('os')", "row 9: state cannot be read"),
        ("state", "[" * 3000, "row 9: state cannot be read"),
        ("state", '{"players": [], "objects": []}', "row 9: the state cannot be read"),
    ],
)
def test_the_first_row_that_differs_is_named(column: str, value: str, words: str) -> None:
    rows = table(played())
    rows[9][column] = value
    with pytest.raises(TrialError) as caught:
        read(rows, cooking="auto", value="20", time="20")
    assert str(caught.value).startswith(words)


def test_a_game_that_begins_in_the_middle_is_refused() -> None:
    with pytest.raises(TrialError, match="before the first action"):
        read(table(played())[20:])
