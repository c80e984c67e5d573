"""What the page of every registered world keeps to, whatever it shows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from random import Random

import pytest
from django.template.loader import render_to_string

from kitchen.contract.page import Page, Panel
from kitchen.contract.page_view import SeatView, StepView
from kitchen.contract.world import World
from kitchen.play.live.render_page import Screen, page_context
from kitchen.play.live.render_page import render_panel as drawn
from kitchen.registry.world_registry import WORLDS, WORLDS_VARIABLE, get_page, get_world
from tests.kitchen.worlds.cuisine.test_page import Outline, seen
from tests.kitchen.worlds.test_worlds import FEW_STEPS, OPENED, choose, make, steps_of
from tests.nightly import worlds_thinned
from tests.worlds.beacon.kit import LINE as BEACON_LINE
from tests.worlds.lane.kit import LINE as LANE_LINE
from tests.worlds.quarry import LINE as QUARRY_LINE
from tests.worlds.vault.kit import LINE as VAULT_LINE

pytestmark = pytest.mark.usefixtures("beacon", "worlds_of_tests")
every_world = pytest.mark.parametrize(
    "kind", [*worlds_thinned(sorted([*WORLDS, "beacon", "lane", "quarry", "vault"])), *OPENED]
)


@pytest.fixture
def worlds_of_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside beacon a world on a grid, and two on the default page."""
    monkeypatch.setenv(WORLDS_VARIABLE, ",".join([BEACON_LINE, LANE_LINE, QUARRY_LINE, VAULT_LINE]))


PHASES = ("choose", "waiting", "thinking", "over")


def views(kind: str) -> Iterator[SeatView]:
    """What every seat sees in an episode that is played at random."""
    world, chance, past = make(kind), Random(2), tuple[StepView, ...]()
    for _ in steps_of(world, FEW_STEPS):
        yield from (seen(world, seat, past) for seat in range(world.seats))
        turn = choose(world, chance)
        past = (StepView(world.clock + 1, turn, world.step(turn)), *past[:4])


def whole(page: Page, view: SeatView) -> str:
    """The page as it is loaded."""
    more = {"socket_path": "/ws/seat/x/", "continue_url": "/p/x/"}
    return render_to_string("kitchen/play/play.html", page_context(page, view, **more))


def every(panel: Panel) -> Iterator[Panel]:
    """A panel and all within it."""
    yield panel
    for part in panel.parts:
        yield from every(part)


def element(html: str) -> str:
    """The name of the element with which this begins."""
    return html[1:].split(" ", 1)[0]


@every_world
def test_what_all_worlds_share_needs_no_word_of_theirs(kind: str) -> None:
    """Sentences with a word of a world in them cannot be translated: its gender is not known there."""
    page, view = get_page(kind), next(views(kind))
    html = whole(page, view)
    assert "This page is open in another tab; continue there" in html
    assert "Your turn" in html and ": choose what to do" in html
    assert ": choose what to do" in Screen().fragments(page, view)


@every_world
def test_panels_stay_the_same_and_each_is_one_element_with_its_id(kind: str) -> None:
    page = get_page(kind)
    ids = {tuple(panel.id for panel in page.panels(view)) for view in views(kind)}
    assert len(ids) == 1
    for view in views(kind):
        for panel in page.panels(view):
            for part in every(panel):
                hash(part)
                assert part.make is None or not (part.make.__closure__ or part.make.__defaults__)
                html = drawn(part)
                assert Outline(html).top == [element(html)] and f'<{element(html)} id="{part.id}"' in html


@every_world
@pytest.mark.parametrize("phase", PHASES)
def test_the_whole_page_renders_in_every_phase(kind: str, phase: str) -> None:
    world, page = make(kind), get_page(kind)
    for seat in range(world.seats):
        view = seen(world, seat, phase=phase)
        html = whole(page, view)
        ids = Outline(html).ids
        assert len(ids) == len(set(ids))
        assert {"menu", "guide-dialog", *(panel.id for panel in page.panels(view))} <= set(ids)
        assert "<template" not in html


@every_world
def test_what_can_be_chosen_is_what_can_be_done(kind: str) -> None:
    page = get_page(kind)
    for view in views(kind):
        values = re.findall(r'name="command" value="([^"]+)"', Screen().fragments(page, view))
        offered = [tuple(json.loads(unescape(value))) for value in values]
        assert set(offered) == {*view.choice.legal, *view.choice.anticipated}, (
            "one with an amount is offered once"
        )
        assert len(offered) == len(set(offered))


@every_world
def test_every_command_has_words_of_its_own(kind: str) -> None:
    page = get_page(kind)
    for view in views(kind):
        commands = {*view.choice.legal, *view.choice.anticipated}
        assert len({page.phrase(command) for command in commands} - {""}) == len(commands)


@every_world
def test_a_world_that_can_have_a_clock_has_a_page_that_supports_one(kind: str) -> None:
    assert get_world(kind).tick_ms is World.tick_ms or get_page(kind).supports_clock


@every_world
def test_the_page_keeps_to_the_content_security_policy(kind: str) -> None:
    html = whole(get_page(kind), seen(make(kind), 0))
    assert not re.search(r"\sstyle\s*=|\son[a-z]+\s*=\s*[\"']|<style|<script>", html)
