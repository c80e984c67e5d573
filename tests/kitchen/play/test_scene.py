"""The world in three dimensions: where it is offered, how it was seen, and that its looks are there."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.test import RequestFactory

from kitchen.play.live.page_session import open_page
from kitchen.play.live.render_page import play_page_response
from kitchen.play.models import Seat
from kitchen.play.turn.websocket_messages import SceneMessage, ViewMessage
from tests.kitchen.factories import make_episode

pytestmark = pytest.mark.django_db


def seat_of(**more: Any) -> Seat:
    return Seat.objects.select_related("episode").get(episode=make_episode(**more))


def shown(seat: Seat) -> str:
    return play_page_response(RequestFactory().get("/"), seat=seat, continue_url="/").content.decode()


def test_only_where_it_is_offered_the_page_has_its_button_and_nothing_else_of_it() -> None:
    assert "scene" not in shown(seat_of())
    offered = shown(seat_of(three_dimensions=True))
    assert "data-scene-open" in offered
    assert "three.min.js" not in offered  # loaded when it is wanted


def test_how_it_was_seen_is_noted_where_it_is_offered_and_a_headset_outdoes_a_screen() -> None:
    plain, offered = seat_of(), seat_of(three_dimensions=True)
    assert seen(plain, "screen", "headset") == ["", ""]
    assert seen(offered, "screen", "headset", "screen") == ["screen", "headset", "headset"]


def seen(seat: Seat, *ways: str) -> list[str]:
    """What is noted after each."""
    page, _ = open_page(seat.key, "page-of-test", newest=True, json=False)
    assert page
    noted = []
    for way in ways:
        assert page.seen_as_scene(SceneMessage(way)).texts == ()
        seat.refresh_from_db()
        noted.append(seat.scene)
    return noted


def test_where_there_are_two_views_it_is_noted_what_was_seen_when_choosing() -> None:
    assert viewed(seat_of(), "tables", "tables", "drawn", "tables") == ["tables", "tables", "both", "both"]
    assert viewed(seat_of(shown="tables"), "tables") == [""]


def viewed(seat: Seat, *views: str) -> list[str]:
    """What is noted after each."""
    page, _ = open_page(seat.key, "page-of-test", newest=True, json=False)
    assert page
    noted = []
    for view in views:
        assert page.seen_in_view(ViewMessage(view)).texts == ()
        seat.refresh_from_db()
        noted.append(seat.view)
    return noted


def test_the_looks_of_the_kitchen_are_a_file() -> None:
    assert finders.find("worlds/cuisine/scene.js")
