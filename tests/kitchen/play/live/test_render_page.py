"""What a page is sent: what has changed, once, and nothing that its seat may not see."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from random import Random
from statistics import mean
from typing import Self

import pytest

from kitchen.agents.make_situation import make_situation
from kitchen.contract.page import Page, Panel
from kitchen.contract.page_view import SeatView, StepView
from kitchen.contract.world import World
from kitchen.play.live import render_page
from kitchen.play.live.common_panels import shared_panels
from kitchen.play.live.render_page import Screen, page_context
from kitchen.play.turn.websocket_messages import NoticeMessage
from kitchen.registry.agent_registry import get_adviser
from kitchen.registry.world_registry import get_page, get_world
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.cuisine.test_page import VOID, seen
from tests.kitchen.worlds.test_worlds import FEW_STEPS, choose, every_world, make, steps_of

pytestmark = pytest.mark.usefixtures("beacon", "boulders", "vault")

COMPARED_EACH = 3
"""One in so many pages is compared; every change is received. Odd, so that both phases have their turn."""


class Element:
    """One element of a page, as a browser would have it."""

    def __init__(self, tag: str, attributes: dict[str, str | None]) -> None:
        self.tag, self.attributes = tag, attributes
        self.inside: list[Self | str] = []

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Element) and vars(self) == vars(other)

    def within(self) -> Iterator[tuple[Self, int, Self]]:
        """Every element below this one that has an id: parent, place, element."""
        unread = [self]
        while unread:
            parent = unread.pop()
            for place, one in enumerate(parent.inside):
                if not isinstance(one, str):
                    unread.append(one)
                    if "id" in one.attributes:
                        yield parent, place, one


class Reader(HTMLParser):
    """Reads HTML into elements; spaces between them do not count."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.top = Element("", {})
        self.open = [self.top]
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            found = self.open[-1].inside[-1]
            assert isinstance(found, Element)
            self.open.append(found)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].inside.append(Element(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.open[-1].inside.append(" ".join(data.split()))


class Browser:
    """An open page that does with what it is sent as `static/js/play/panels.js` does."""

    def __init__(self, page: Page, view: SeatView) -> None:
        panels = page_context(page, view)["panels"]
        self.shown = Reader("".join(panels.values())).top
        self.drawer: dict[str, Element] = {}

    def receive(self, text: str) -> None:
        for fresh in Reader(text).top.inside:
            assert isinstance(fresh, Element)
            self._swap(fresh)

    def _swap(self, fresh: Element) -> None:
        there = [*self.shown.within()]
        ours = {str(one.attributes["id"]): one for _, _, one in there}
        for parent, place, gap in [*fresh.within()]:
            if gap.tag == "template":
                found = [ours.get(name) or self.drawer[name] for name in str(gap.attributes["id"]).split()]
                gap.inside[:] = found
                assert parent.inside[place] is gap
        name = str(fresh.attributes["id"])
        ((parent, place, old),) = [at for at in there if at[2].attributes["id"] == name]
        self.drawer |= {str(one.attributes["id"]): one for _, _, one in old.within()}
        parent.inside[place] = fresh
        _unpack(fresh)


def _unpack(element: Element) -> None:
    """What stands in gaps stands where the gaps were."""
    for one in element.inside:
        if isinstance(one, Element):
            _unpack(one)
    element.inside = [
        inner
        for one in element.inside
        for inner in (one.inside if isinstance(one, Element) and one.tag == "template" else [one])
    ]


def every(page: Page, view: SeatView) -> tuple[Panel, ...]:
    """All panels of a page."""
    return (*shared_panels(page, view), *page.panels(view))


def episode(world: World, seed: int) -> Iterator[list[SeatView]]:
    """What every seat sees before and after each step, played at random."""
    chance, past = Random(seed), tuple[StepView, ...]()
    for _ in steps_of(world, FEW_STEPS):
        yield [seen(world, seat, past) for seat in range(world.seats)]
        yield [seen(world, seat, past, phase="waiting") for seat in range(world.seats)]
        turn = choose(world, chance)
        events = world.step(turn)
        past = (StepView(world.clock, turn, events), *past)[:8]
    yield [seen(world, seat, past) for seat in range(world.seats)]


@cache
def advised(level: str, seats: int, seed: int) -> tuple[SeatView, ...]:
    """Return what the first seat sees in an episode that is played as an adviser says."""
    world = get_world("cuisine").create(seats=seats, settings={"level": level})
    world.reset(seed)
    adviser, past = get_adviser("cuisine"), tuple[StepView, ...]()
    views = [seen(world, 0)]
    while not world.over:
        advice = {
            seat: adviser.advise(make_situation(world, (seat,), memory=None, seed=seed))
            for seat in range(seats)
        }
        turn = {seat: one.command if one else world.idle for seat, one in advice.items()}
        events = world.step(turn)
        past = (StepView(world.clock, turn, events), *past)[:8]
        views.append(seen(world, 0, past))
    return tuple(views)


@every_world
def test_what_a_page_is_sent_makes_it_what_it_would_be_if_it_were_loaded_anew(kind: str) -> None:
    page, world = get_page(kind), make(kind)
    opened: list[tuple[Screen, Browser]] = []
    for number, views in enumerate(episode(world, seed=5)):
        opened = opened or [(Screen(), Browser(page, view)) for view in views]
        for view, (screen, browser) in zip(views, opened, strict=True):
            browser.receive(screen.fragments(page, view))
            if not number % COMPARED_EACH:  # what is wrong once stays wrong until its panel changes again
                assert browser.shown == Browser(page, view).shown
            assert screen.fragments(page, view) == ""


@every_world
def test_a_new_screen_sends_all_panels_and_what_was_said_is_gone(kind: str) -> None:
    page, view = get_page(kind), seen(make(kind), 0)
    sent = Reader(Screen().fragments(page, view)).top
    assert sent == Browser(page, view).shown


def test_a_page_that_shows_what_others_show_draws_nothing() -> None:
    page, views = get_page("cuisine"), advised("level_3", 3, seed=2)
    for screen in (Screen(), Screen()):
        before = render_page.render_frame.cache_info().misses
        for view in views:
            screen.fragments(page, view)
        drawn = render_page.render_frame.cache_info().misses - before
    assert drawn == 0


def on_the_wire(fragments: str) -> int:
    """Bytes of a message as it is sent (`brigade.limited_websockets.compression_offer`)."""
    return len(zlib.compress(fragments.encode(), wbits=-15))


@pytest.mark.parametrize("shown", ["tables", "both"])
def test_a_step_draws_few_panels_and_is_below_three_kilobytes_on_the_wire(shown: str) -> None:
    page = get_page("cuisine")
    for level, seats in (("level_3", 1), ("level_3", 3), ("level_9", 1)):
        first, *steps = [replace(view, shown=shown) for view in advised(level, seats, seed=1)]
        screen, before = Screen(), render_page.render_frame.cache_info().misses
        screen.fragments(page, first)
        sizes = [on_the_wire(screen.fragments(page, view)) for view in steps]
        assert mean(sizes) <= 1550 and max(sizes) <= 3000
        assert render_page.render_frame.cache_info().misses - before <= 13 * len(steps)


def test_two_seats_are_sent_the_same_as_if_nobody_else_had_been_drawn() -> None:
    page, world = get_page("beacon"), make("beacon")
    screens = [Screen() for _ in range(world.seats)]
    alone = [Screen() for _ in range(world.seats)]
    for views in episode(world, seed=3):
        together = [screen.fragments(page, view) for screen, view in zip(screens, views, strict=True)]
        for seat, view in enumerate(views):
            render_page.render_frame.cache_clear()
            assert alone[seat].fragments(page, view) == together[seat]
        keeper, pilot = together
        assert "haven" not in pilot
        assert ("haven" in keeper) is ('id="bay"' in keeper)


def test_what_one_seat_alone_may_know_is_drawn_apart() -> None:
    keeper, pilot = (get_page("beacon").panels(seen(make("beacon"), seat)) for seat in (0, 1))
    assert {panel.id for panel in keeper} == {panel.id for panel in pilot}
    assert not {*keeper} & {*pilot}


def test_an_answer_is_sent_each_time_and_taken_away_once() -> None:
    page, screen = get_page("beacon"), Screen()
    screen.fragments(page, seen(make("beacon"), 0))
    nothing, late = NoticeMessage("", ""), NoticeMessage("late", "Too late.", "warning")
    assert screen.notice(nothing) == ""
    for _ in range(2):
        shown = '<div id="notice" class="notice warning" data-code="late"><p>Too late.</p></div>'
        assert screen.notice(late) == shown
    assert screen.notice(nothing) == '<div id="notice" class="notice info"></div>'
    assert screen.notice(nothing) == ""


def test_what_people_wrote_is_escaped() -> None:
    said = Screen().notice(NoticeMessage("x", "<script>alert(1)</script>"))
    assert "<script>" not in said and "&lt;script&gt;" in said


def test_what_a_screen_has_forgotten_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render_page, "PANELS_REMEMBERED", 40)
    page, screen = get_page("cuisine"), Screen()
    first, *steps = advised("level_3", 1, seed=1)
    browser = Browser(page, first)
    for number, view in enumerate((first, *steps)):
        browser.receive(screen.fragments(page, view))
        if not number % COMPARED_EACH:
            assert browser.shown == Browser(page, view).shown
        assert len(vars(screen)["_shown"]) <= 40 // 4 + len(
            {"notice", *render_page.panel_ids(every(page, view))}
        )


def test_guides_are_drawn_once_for_all_who_play_by_the_same_brief() -> None:
    page, view = get_page("cuisine"), advised("level_3", 1, seed=1)[0]
    one, other = (
        render_page.render_guide(page, dict(view.brief), clocked=False, drawn=True) for _ in range(2)
    )
    assert one is other
    assert render_page.render_guide(page, view.brief, clocked=True, drawn=True) != one


def test_how_long_it_was_is_told_in_steps_or_under_a_clock_in_seconds() -> None:
    view = replace(seen(make("cuisine"), 0), phase="over", step=40)
    by_turns, clocked = (
        render_page.render_panel({one.id: one for one in shared_panels(get_page("cuisine"), shown)}["over"])
        for shown in (view, changed(view, tick_ms=150))
    )
    assert "<dt>steps played</dt><dd>40</dd>" in by_turns
    assert "<dt>seconds played</dt><dd>6</dd>" in clocked
    counted = replace(view, result=replace(view.result, score={"steps_used": 40}))
    panels = {one.id: one for one in shared_panels(get_page("cuisine"), counted)}
    assert "steps played" not in render_page.render_panel(panels["over"]), "the world tells it already"
