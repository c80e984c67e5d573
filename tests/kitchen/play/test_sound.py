"""Sound: off until somebody switches it on, offered where it is recommended, and noted for each seat."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import RequestFactory

from kitchen.play.live.page_session import open_page
from kitchen.play.live.render_page import play_page_response
from kitchen.play.models import Seat
from kitchen.play.turn.websocket_messages import SoundMessage, read_message
from kitchen.realtime.tick_messages import TICK_MESSAGE_KINDS
from tests.kitchen.factories import make_episode

pytestmark = pytest.mark.django_db


def seat_of(**more: Any) -> Seat:
    return Seat.objects.select_related("episode").get(episode=make_episode(**more))


def shown(seat: Seat) -> str:
    return play_page_response(RequestFactory().get("/"), seat=seat, continue_url="/").content.decode()


def test_every_page_has_the_switch_and_only_a_recommendation_is_an_offer() -> None:
    plain, recommended = shown(seat_of()), shown(seat_of(recommends_sound=True))
    assert 'data-sound aria-pressed="false"' in plain and "data-sound-offer" not in plain
    assert recommended.count("data-sound-offer hidden") == 1


@pytest.mark.parametrize(
    ("states", "noted"),
    [((), ""), (("on",), "on"), (("on", "on"), "on"), (("on", "part"), "part"), (("part", "on"), "part")],
)
def test_it_is_noted_whether_a_person_had_sound(states: tuple[str, ...], noted: str) -> None:
    seat = seat_of()
    page, _ = open_page(seat.key, "page-of-test", newest=True, json=False)
    assert page
    for state in states:
        message = read_message(f'{{"type": "sound", "state": "{state}"}}')
        assert isinstance(message, SoundMessage)
        assert page.heard_sound(message).texts == ()
    seat.refresh_from_db()
    assert seat.sound == noted


def test_pages_under_a_clock_report_it_too() -> None:
    assert TICK_MESSAGE_KINDS["sound"] is SoundMessage
