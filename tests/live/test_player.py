"""Who plays in the benchmarks behaves as the page does."""

from __future__ import annotations

from random import Random
from typing import cast

import pytest

from brigade.paths import base_dir
from tests.live.line import Line
from tests.live.player import FIRST, GROWS, HURRY, LONGEST, PING, SILENCE, UNANSWERED, Player, pause_before

SCRIPTS = base_dir() / "static" / "js"


@pytest.mark.parametrize("script", ["play/connection.js", "live.js"])
def test_pages_connect_again_at_the_same_pace(script: str) -> None:
    shortest = f"Math.min({1000 * LONGEST:.0f}, {1000 * FIRST:.0f} * {GROWS} ** tries)"
    assert f"{shortest} * (0.6 + Math.random() * 0.4)" in (SCRIPTS / script).read_text()


def test_pages_ask_and_lose_patience_at_the_same_time() -> None:
    text = (SCRIPTS / "play" / "connection.js").read_text()
    for name, seconds in {"PING": PING, "HURRY": HURRY, "UNANSWERED": UNANSWERED, "SILENCE": SILENCE}.items():
        assert f"const {name} = {1000 * seconds:.0f};" in text


class SilentLine:
    """A connection to a machine that vanished without a word."""

    said = 0
    is_left = False

    def say(self, text: bytes) -> bool:
        self.said += 1
        return True

    def hang_up(self) -> None:
        self.is_left = True


@pytest.mark.parametrize(("waits_for", "left_after"), [(None, PING + UNANSWERED), (1, HURRY + UNANSWERED)])
async def test_a_page_leaves_a_machine_that_does_not_answer_sooner_if_a_command_is_on_its_way(
    waits_for: int | None, left_after: float
) -> None:
    player, line = Player("http://localhost:1", ["key"]), SilentLine()
    player.line, player.waits_for = cast(Line, line), waits_for
    tenths, start = 0, player.heard_at
    while not line.is_left:
        tenths += 1
        player.heard_at -= 0.1  # time passes
        player.asked_at -= 0.1 if player.asked_at else 0.0
        player.listen()
    assert line.said
    assert left_after <= tenths / 10 <= left_after + 0.3
    assert player.heard_at >= start, "the new connection gets its time"


def test_after_four_seconds_away_a_page_has_not_long_to_wait() -> None:
    chance, tried, waited = Random(1), 0, 0.0
    while waited < 4:
        waited += pause_before(tried, chance)
        tried += 1
    assert waited < 6
    assert pause_before(50, chance) <= LONGEST
