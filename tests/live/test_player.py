"""Who plays in the benchmarks behaves as the page does."""

from __future__ import annotations

import asyncio
from random import Random
from typing import cast

import pytest
from django.conf import settings

from brigade.paths import base_dir
from tests.live import player
from tests.live.line import Line
from tests.live.player import (
    FIRST,
    GROWS,
    HURRY,
    LONGEST,
    PING,
    SILENCE,
    SPREAD,
    UNANSWERED,
    Player,
    opening_seconds,
    pause_before,
)

SCRIPTS = base_dir() / "static" / "js"


@pytest.mark.parametrize("script", ["play/connection.js", "live.js"])
def test_pages_connect_again_at_the_same_pace(script: str) -> None:
    shortest = f"Math.min({1000 * LONGEST:.0f}, {1000 * FIRST:.0f} * {GROWS} ** tries)"
    assert f"{shortest} * (0.6 + Math.random() * 0.4)" in (SCRIPTS / script).read_text()


def test_pages_ask_and_lose_patience_at_the_same_time() -> None:
    text = (SCRIPTS / "play" / "connection.js").read_text()
    for name in ("PING", "HURRY", "UNANSWERED", "SPREAD", "SILENCE", "OPENING", "LONGEST_OPENING"):
        assert f"const {name} = {1000 * getattr(player, name):.0f};" in text
    assert "LEAVE = UNANSWERED + SPREAD * Math.random();" in text
    assert "Math.min(LONGEST_OPENING, OPENING * 2 ** state.overdue)" in text


async def test_a_page_waits_longer_than_the_server_for_a_lock_and_longer_for_each_connection() -> None:
    assert settings.LOCK_SECONDS < UNANSWERED and PING + UNANSWERED + SPREAD <= SILENCE
    assert [opening_seconds(overdue) for overdue in range(4)] == [15.0, 30.0, 60.0, 60.0]
    pages = [Player("http://localhost:1", ["key"], seed=seed) for seed in range(50)]
    times = [page.leaves_after - UNANSWERED for page in pages]
    assert 0 <= min(times) < 0.5 and 1.5 < max(times) <= SPREAD


class SilentLine:
    """A connection to a machine that vanished without a word."""

    said = 0
    is_left = False

    def say(self, text: bytes) -> bool:
        self.said += 1
        return True

    def hang_up(self) -> None:
        self.is_left = True


@pytest.mark.parametrize(("waits_for", "asks_after"), [(None, PING), (1, HURRY)])
async def test_a_page_leaves_a_machine_that_does_not_answer_sooner_if_a_command_is_on_its_way(
    waits_for: int | None, asks_after: float
) -> None:
    page, line = Player("http://localhost:1", ["key"]), SilentLine()
    page.line, page.waits_for = cast(Line, line), waits_for
    tenths, start = 0, page.heard_at
    while not line.is_left:
        tenths += 1
        page.heard_at -= 0.1  # time passes
        page.asked_at -= 0.1 if page.asked_at else 0.0
        page.listen()
    assert line.said
    left_after = asks_after + page.leaves_after
    assert left_after <= tenths / 10 <= left_after + 0.3
    assert page.heard_at >= start, "the new connection gets its time"


def test_after_four_seconds_away_a_page_has_not_long_to_wait() -> None:
    chance, tried, waited = Random(1), 0, 0.0
    while waited < 4:
        waited += pause_before(tried, chance)
        tried += 1
    assert waited < 6
    assert pause_before(50, chance) <= LONGEST


async def test_a_page_whose_command_is_refused_chooses_again_without_a_new_state(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(player, "CALM", 0.0)
    page, line = Player("http://localhost:1", ["key"]), SilentLine()
    page.line = cast(Line, line)
    page.playing = True
    page.heard(b'{"type": "state", "step": 3, "phase": "choose", "legal": [["wait"]]}')
    assert (page.waits_for, line.said) == (4, 1)
    page.heard(b'{"type": "notice", "code": "not_offered", "again": false}')
    await asyncio.sleep(0.01)
    assert (page.waits_for, line.said, page.refused) == (4, 2, False)
