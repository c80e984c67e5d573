"""The builder without a model does what whole conversations ask for, as files of conversations say."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.kitchen.worlds.blocks.test_builder_requests import Talk, unknowing

CONVERSATIONS = Path(__file__).with_name("planner_conversations")
TOWER = 'legend = { s = "stone", p = "oak_planks" }\nlevels = [' + ", ".join(
    f'["{row * 5}", "{row * 5}", "{row * 5}", "{row * 5}", "{row * 5}"]' for row in "spps"
)
PLANKS, STEPS_BETWEEN, STEPS_AFTER = 60, 2, 34
IDLE_STEPS = 4
"""After so many steps without a command, the builder has done all that it will do."""
LEAST_CONVERSATIONS = 12


def conversation(text: str) -> Talk:
    """A game in which a person writes the messages of a line, with some steps after each."""
    talk = unknowing(own_blueprint=TOWER + "]")
    talk.world.inventories[1]["oak_planks"] = PLANKS
    for message in text.split(" | "):
        talk.say(message)
        talk.play(STEPS_BETWEEN)
    idle = 0
    for _ in range(STEPS_AFTER):
        idle = 0 if talk.play() or talk.world.macros[1] else idle + 1
        if idle == IDLE_STEPS:
            break
    return talk


def effect(talk: Talk) -> str:
    """What stands and what was given, as the files write it: level, row and columns, counted from 1."""
    given = talk.world.inventories[0].get("oak_planks", 0)
    parts = list(_rows(talk.stones())) + ([f"given {given}"] if given else [])
    return ", ".join(parts) or "nothing"


def _rows(cells: Iterable[tuple[int, ...]]) -> Iterable[str]:
    rows: dict[tuple[int, int], list[int]] = {}
    for column, level, row in sorted(cells):
        rows.setdefault((level + 1, row + 1), []).append(column + 1)
    return (f"{level}.{row}: {' '.join(map(str, columns))}" for (level, row), columns in sorted(rows.items()))


@pytest.mark.parametrize("language", ["en", "es", "zh"])
def test_every_conversation_has_the_effect_that_the_file_says(language: str) -> None:
    lines = (CONVERSATIONS / f"{language}.txt").read_text().splitlines()
    expected = dict(line.rsplit(" => ", 1) for line in lines if not line.startswith("#"))
    assert {text: effect(conversation(text)) for text in expected} == expected
    assert len(expected) >= LEAST_CONVERSATIONS
