"""Programs that play by HTML choose among what a person at the page could choose from."""

from __future__ import annotations

import html
import json
from random import Random

import pytest

from kitchen.play.live.render_page import Screen
from kitchen.play.live.seat_view import current_seat_view, world_page_of
from kitchen.play.models import Seat
from tests.kitchen.factories import make_episode, submit
from tests.live.sight import HtmlSight

pytestmark = pytest.mark.django_db
STEPS = 25


def test_the_menu_is_known_from_what_changes_of_it() -> None:
    episode = make_episode(steps=STEPS)
    seat, screen, page, chance = Seat.objects.get(), Screen(), HtmlSight(), Random(7)
    known: list[bytes] = []
    for step in range(STEPS):
        view = current_seat_view(seat)
        sight = page.read(screen.fragments(world_page_of(seat), view).encode())
        known = known if sight.options is None else sight.options
        assert (sight.step, sight.phase) == (step, "choose")
        offered = {tuple(json.loads(html.unescape(option.decode()))) for option in known}
        assert offered == {*view.choice.legal, *view.choice.anticipated}
        assert submit(episode, step + 1, *chance.choice(sorted(offered))).accepted
    assert page.read(screen.fragments(world_page_of(seat), current_seat_view(seat)).encode()).phase == "over"
