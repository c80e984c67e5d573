"""Questions stop the clock of a real-time episode, also for the next process that takes it."""

from __future__ import annotations

import json

import pytest

from kitchen.contract.world import Json
from kitchen.play.models import ProbeAnswer, Step
from kitchen.play.turn.websocket_messages import ProbeMessage
from kitchen.realtime.realtime_episode import read_realtime_episode
from kitchen.realtime.realtime_storage import store_tick_groups, stored_hold
from kitchen.realtime.tick_consumer import TickPage
from tests.kitchen.realtime.conftest import Lane, standing, taken_by

pytestmark = pytest.mark.servers

PROBE: dict[str, Json] = {
    "key": "trust",
    "step": 2,
    "items": [{"key": "q1", "kind": "slider", "text": "Trust?", "low": "none", "high": "full"}],
}


def test_the_clock_stands_still_until_the_answer_and_the_log_says_how_long(lane: Lane) -> None:
    episode = lane(probes=[PROBE], steps=5)
    game = taken_by("a", episode)
    game.tick(0.1)
    assert game.is_running
    game.tick(0.2)
    assert not game.is_running and game.press(0, "page-of-0", ("east",), down=True, number=1, now=0.2)
    store_tick_groups("a", [game.written()])
    assert stored_hold(episode.pk)[0]

    seat = episode.seats.get()
    page = TickPage(seat, "page-of-0", json=True)
    (shown,) = page.look().texts
    assert json.loads(shown)["probe"]["step"] == 2 and 'type="range"' in json.loads(shown)["html"]
    assert page.look().texts == ()

    again = read_realtime_episode(standing(episode), 5.0)
    assert again is not None and not again.is_running and again.lost_ms == 0

    (shown,) = page.answer(ProbeMessage(2, {"trust": {"q1": 40}})).texts
    assert json.loads(shown)["on"] is False
    assert ProbeAnswer.objects.get().answers == {"q1": 40}
    holds, state = stored_hold(episode.pk)
    assert not holds
    game.end_hold(state, 7.0)
    assert game.is_running and game.pace.due > 7.0
    game.tick(8.0)
    store_tick_groups("a", [game.written()])
    kinds = [event["kind"] for event in Step.objects.get(number=3).events]
    assert kinds.count("probe_pause") == 1 and "time_lost" not in kinds
    assert stored_hold(episode.pk)[1].get("pause_ms") is None
