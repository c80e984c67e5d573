"""Who plays in the benchmarks behaves as the page does."""

from __future__ import annotations

from random import Random

import pytest

from brigade.paths import base_dir
from tests.live.player import FIRST, GROWS, LONGEST, PING, SILENCE, pause_before

SCRIPTS = base_dir() / "static" / "js"


@pytest.mark.parametrize("script", ["play/connection.js", "live.js"])
def test_pages_connect_again_at_the_same_pace(script: str) -> None:
    shortest = f"Math.min({1000 * LONGEST:.0f}, {1000 * FIRST:.0f} * {GROWS} ** tries)"
    assert f"{shortest} * (0.6 + Math.random() * 0.4)" in (SCRIPTS / script).read_text()


def test_pages_ask_and_lose_patience_at_the_same_time() -> None:
    text = (SCRIPTS / "play" / "connection.js").read_text()
    assert f"const PING = {1000 * PING:.0f};" in text
    assert f"const SILENCE = {1000 * SILENCE:.0f};" in text


def test_after_four_seconds_away_a_page_has_not_long_to_wait() -> None:
    chance, tried, waited = Random(1), 0, 0.0
    while waited < 4:
        waited += pause_before(tried, chance)
        tried += 1
    assert waited < 6
    assert pause_before(50, chance) <= LONGEST
