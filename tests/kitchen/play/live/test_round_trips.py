"""How long the server took to answer a page: collected from its messages, stored, and summarised."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kitchen.play.live.round_trips import (
    RoundTrips,
    RoundTripSummary,
    store_round_trips,
    summarise_round_trips,
)
from kitchen.play.live.seat_consumer import SeatConsumer
from kitchen.play.models import Seat
from kitchen.play.turn.websocket_messages import MAX_ROUND_TRIP_MS, MessageError, PingMessage, read_message
from kitchen.realtime.tick_consumer import TickConsumer
from kitchen.realtime.tick_messages import TICK_MESSAGE_KINDS, KeyMessage
from tests.kitchen.factories import make_episode


def test_a_summary_has_the_shortest_the_median_and_the_95th_of_100() -> None:
    trips = RoundTrips()
    for milliseconds in (*range(101, 201), None):
        trips.add(milliseconds)
    stored = {str(milliseconds): count for milliseconds, count in trips.take().items()}
    assert summarise_round_trips(stored) == RoundTripSummary(100, 101, 150, 195)
    assert summarise_round_trips(None) == RoundTripSummary(0, None, None, None)
    assert trips.take() == {}


def test_long_times_are_kept_in_few_counts() -> None:
    trips = RoundTrips()
    for milliseconds in (199, 204, 206, 211):
        trips.add(milliseconds)
    assert trips.take() == {199: 1, 200: 1, 210: 2}


@pytest.mark.parametrize("trip", ["-1", "1.5", "true", '"9"', "[]"])
def test_an_invalid_time_is_refused(trip: str) -> None:
    with pytest.raises(MessageError):
        read_message(f'{{"type": "ping", "trip": {trip}}}')
    with pytest.raises(MessageError):
        KeyMessage.read({"command": ["stay"], "trip": -1})


def test_a_time_is_read_of_pings_and_keys_and_limited() -> None:
    assert read_message('{"type": "ping", "trip": 99999999}') == PingMessage(MAX_ROUND_TRIP_MS)
    assert read_message('{"type": "ping"}') == PingMessage(None)
    assert KeyMessage.read({"command": ["stay"], "number": 3, "trip": 41}).trip == 41
    assert TICK_MESSAGE_KINDS["ping"] is PingMessage


@pytest.mark.django_db
def test_times_of_several_connections_are_added_to_their_seat_and_erased_with_it() -> None:
    seat = Seat.objects.get(episode=make_episode())
    for counts in ({40: 1, 41: 1}, {41: 2}):
        store_round_trips(seat.pk, counts)
    seat.refresh_from_db()
    assert seat.round_trips == {"40": 1, "41": 3}
    seat.episode.delete()
    store_round_trips(seat.pk, {9: 1})
    assert not Seat.objects.exists()


async def test_a_connection_stores_its_times_when_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    stored: list[Any] = []

    async def visited(*given: Any) -> None:
        stored.append(given)

    monkeypatch.setattr("kitchen.play.live.seat_consumer.run_in_db_thread", visited)
    consumer = SeatConsumer()
    consumer.page = cast(Any, SimpleNamespace(seat=SimpleNamespace(pk=7)))
    consumer.round_trips.add(52)
    for _ in range(2):
        await consumer._store_round_trips()
    assert stored == [(store_round_trips, 7, {52: 1})]


async def test_the_first_tick_after_a_key_says_how_long_ago_it_was_read() -> None:
    consumer = TickConsumer()
    consumer.key_read = 12, asyncio.get_running_loop().time() - 0.25
    ((number, milliseconds),) = consumer._take_heard().values()
    assert number == 12 and 250 <= cast(int, milliseconds) < 5000
    assert consumer._take_heard() == {}
