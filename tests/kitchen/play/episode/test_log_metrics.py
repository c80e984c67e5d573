"""What seats did, counted from the log, against what is counted by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kitchen.contract.world import Command, Json
from kitchen.play.episode.create_episode import create_episode
from kitchen.play.episode.log_metrics import conduct_by_seat
from kitchen.play.models import Episode, Step
from kitchen.registry.world_registry import get_world

pytestmark = [pytest.mark.django_db, pytest.mark.servers]

OPENED = datetime(2026, 11, 1, 12, tzinfo=UTC)
Given = tuple[str, Command] | tuple[str, Command, float] | tuple[str, Command, float, dict[str, Json]]
"""Who chose, the command, after how many seconds (0), what else stands with it."""


def played(world: str, settings: dict[str, Json], *turns: tuple[Given, Given]) -> int:
    """An episode of two people whose log has these turns, with the events that the world told of them."""
    episode = create_episode(world=world, settings=settings, seats=2, seed=0)
    game = get_world(world).create(seats=2, settings=settings)
    game.reset(0)
    for number, turn in enumerate(turns, start=1):
        events = game.step({seat: given[1] for seat, given in enumerate(turn)})
        Step.objects.create(
            episode=episode,
            number=number,
            commands=[logged(seat, *given) for seat, given in enumerate(turn)],
            events=[event.to_json() for event in events],
            score={},
            opened_at=OPENED,
            taken_at=OPENED,
        )
    return episode.pk


def logged(
    seat: int, chosen_by: str, command: Command, after: float = 0.0, more: Any = None
) -> dict[str, Any]:
    came = (OPENED + timedelta(seconds=after)).isoformat().replace("+00:00", "Z")
    told = {"seat": seat, "command": list(command), "chosen_by": chosen_by, "fallback": ""}
    return {**told, "received_at": came, **(more or {})}


NOOP, STAY = ("noop",), ("stay",)
TO_STORE, FISH = ("goto", "storage0"), ("get", "storage0", "salmon")


def test_turns_in_the_kitchen() -> None:
    episode = played(
        "cuisine",
        {"level": "level_0", "alpha": 1.0, "beta": 2.5, "max_steps": 9},
        (("person", TO_STORE, 2), ("planner", TO_STORE)),
        (("person", FISH, 4), ("planner", NOOP)),
        (("person", ("get", "storage0", "nonsense"), 6), ("planner", FISH)),
        (("timeout", NOOP, 30), ("planner", ("put", "servingtable0"))),
        (("world", NOOP), ("planner", NOOP)),
        (("outage", NOOP, 90), ("planner", NOOP)),
        (("person", ("goto", "blender0"), 0, {"planned_in": 3}), ("planner", NOOP)),
        (("planner", ("put", "blender0")), ("planner", NOOP)),
    )
    found = conduct_by_seat([episode])
    assert list(found) == [(episode, 0)], "who plays in the other seat is no person"
    one = found[episode, 0]
    assert (one.steps, one.commands, one.turns) == (5, 4, 3)
    assert one.refused_share == 1 / 4, "the item that there is not"
    assert one.idle_share == 2 / 5, "that, and the time that ran out"
    assert one.thinking_seconds == (2 + 4 + 6) / 3
    assert (one.work, one.all_work) == (1, 3), "one fish each, and what a co-player put in the person's seat"
    assert one.work_share == 1 / 3


def test_waits_that_the_page_repeats_are_idle_and_not_timed() -> None:
    wait, fetch, go_on = ("wait", "1"), ("pickup", "egg", "ingredient_dispenser"), ("go_on",)
    episode = played(
        "collab_overcooked",
        {"task": "boiled_egg"},
        (("person", wait, 6), ("recipe_partner", fetch)),
        (("person", wait, 0.5), ("world", go_on)),
        (("person", wait, 0.5), ("world", go_on)),
        (("person", ("wait", "2"), 3), ("world", go_on)),
    )
    one = conduct_by_seat([episode])[episode, 0]
    assert (one.idle_share, one.work_share) == (1, 0)
    assert (one.turns, one.thinking_seconds) == (2, (6 + 3) / 2), "what repeats the wait before is not timed"


def test_the_wait_that_the_page_sends_after_an_action_is_not_timed() -> None:
    wait, fetch, go_on = ("wait", "1"), ("pickup", "egg", "ingredient_dispenser"), ("go_on",)
    episode = played(
        "collab_overcooked",
        {"task": "boiled_egg"},
        (("person", fetch, 6), ("recipe_partner", wait)),
        (("world", go_on), ("recipe_partner", wait)),
        (("person", wait), ("recipe_partner", wait)),
        (("person", wait), ("recipe_partner", wait)),
        (("person", ("wait", "2"), 3), ("recipe_partner", wait)),
        (("world", go_on), ("recipe_partner", wait)),
        (("person", ("wait", "2"), 6), ("recipe_partner", wait)),
    )
    one = conduct_by_seat([episode])[episode, 0]
    assert one.commands == 5
    assert (one.turns, one.thinking_seconds) == (3, 5), "the action, and the waits of two steps"


def test_blocks_that_the_page_places_one_after_another_are_timed_once() -> None:
    def block(column: int) -> Command:
        return ("place", "stone", str(column), "0", "0")

    go_on = ("go_on",)
    episode = played(
        "blocks_construction",
        {"own_blueprint": 'legend = { s = "stone" }\nlevels = [["ssssssssss"]]'},
        (("person", block(0), 5), ("blocks_planner", go_on)),
        (("person", block(1), 0.2), ("blocks_planner", go_on)),
        (("world", go_on), ("blocks_planner", go_on)),
        (("person", block(2), 0.2), ("blocks_planner", go_on)),
        (("person", block(3), 4), ("blocks_planner", go_on)),
        (("person", go_on, 3), ("blocks_planner", go_on)),
        (("person", go_on, 0.4), ("blocks_planner", go_on)),
        (("person", ("give", "1", "stone", "1"), 0.6), ("blocks_planner", go_on)),
    )
    one = conduct_by_seat([episode])[episode, 0]
    assert (one.turns, one.commands) == (3, 7), "the first, the one after a pause, and a gift"
    assert one.thinking_seconds == (5 + 4 + 0.6) / 3


def test_ticks_on_the_grid() -> None:
    use = ("interact",)
    episode = played(
        "overcooked",
        {},
        (("person", ("north",), 0.1), ("person", ("east",), 0.1)),
        (("person", ("west",), 0.1), ("person", use, 0.1)),
        (("person", use, 0.1), ("clock", STAY)),
        (("clock", STAY), ("person", use, 0.1)),
    )
    Episode.objects.update(tick_ms=150)
    found = conduct_by_seat([episode])
    first, second = found[episode, 0], found[episode, 1]
    assert (first.refused_share, first.idle_share, first.work_share) == (0, 1 / 4, 1 / 2)
    assert (second.refused_share, second.idle_share, second.work_share) == (1 / 3, 2 / 4, 1 / 2)
    assert first.thinking_seconds is second.thinking_seconds is None, "a clock took the steps"


def test_what_cannot_be_told_is_blank() -> None:
    episode = played("overcooked", {}, (("clock", STAY), ("random", STAY)))
    one = conduct_by_seat([episode])[episode, 0]
    assert (one.refused_share, one.thinking_seconds, one.work_share) == (None, None, None)
    assert one.idle_share == 1
    assert conduct_by_seat([]) == {}
    Episode.objects.update(world="forgotten")
    assert conduct_by_seat([episode]) == {}
