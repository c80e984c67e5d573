"""The kitchen's players do what sentences to the dispatcher's stand-in ask for: a file says it."""

from __future__ import annotations

from pathlib import Path

from tests.kitchen.worlds.blocks.games import game
from tests.kitchen.worlds.blocks.test_blocks_dispatcher import beside, by_stand_in

SENTENCES = Path(__file__).with_name("dispatcher_sentences.txt")
LEAST_SENTENCES = 30


def effect(text: str) -> str:
    """The answer, and the next commands of players 2 and 3."""
    made = by_stand_in(beside(game("kitchen", seats=3, seed=123), text))
    commands = " ".join("_".join(made.commands[seat]) for seat in (1, 2))
    return f"{commands}: {' '.join(one.text for one in made.says)}"


def test_every_sentence_has_the_effect_that_the_file_says() -> None:
    lines = SENTENCES.read_text().splitlines()
    expected = dict(line.rsplit(" => ", 1) for line in lines if not line.startswith("#"))
    assert {text: effect(text) for text in expected} == expected
    assert len(expected) >= LEAST_SENTENCES
