"""CuisineWorld's page: panels of many states, words, keys, and what a strict CSP asks of templates."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from django.template.loader import render_to_string

from kitchen.contract.page_view import ChoiceView, PlayerView, ResultView, SeatView, StepView
from kitchen.contract.world import Command, Event, World
from kitchen.play.live.render_page import page_context, render_panel
from kitchen.registry.world_registry import get_world
from kitchen.worlds.cuisine import display_text
from kitchen.worlds.cuisine.action_menu import action_groups
from kitchen.worlds.cuisine.display_text import (
    SENTENCES,
    KitchenWords,
    brief_lookup,
    picture_names,
    picture_of,
    readable_name,
)
from kitchen.worlds.cuisine.level import shipped_catalogue
from kitchen.worlds.cuisine.page import PAGE
from tests.nightly import thinned

ROOT = Path(__file__).resolve().parents[4]
OWN = ROOT / "kitchen" / "worlds" / "cuisine"
LEVELS = [*(f"level_{number}" for number in range(13)), "level_12_fryer"]
SENSELESS: list[Command] = [
    ("get", "pot0"),
    ("put", "servingtable0"),
    ("activate", "mixer0"),
    ("goto", "nowhere"),
    ("get", "storage0", "caviar"),
    ("sing",),
    ("goto",),
    (),
]
REASONS = [
    "not_at_location",
    "agent_busy",
    "hands_full",
    "hands_empty",
    "location_busy",
    "not_open",
    "empty",
    "not_base_ingredient",
    "not_a_dish_here",
    "would_waste",
    "at_capacity",
    "unknown_agent",
    "unknown_location",
    "unknown_item",
    "unknown_verb",
    "wrong_arguments",
    "duplicate_agent",
]
VOID = {"input", "br", "hr", "img", "meta", "link", "path", "rect", "circle", "use", "ellipse"}


class Outline(HTMLParser):
    """The ids of a fragment, its elements at the top, and whether all tags close."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.top: list[str] = []
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not self.open:
            self.top.append(tag)
        self.ids += [value for name, value in attrs if name == "id" and value]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value for name, value in attrs if name == "id" and value]


@pytest.fixture(autouse=True)
def _unmoved_by_uncookable_dishes(recwarn: pytest.WarningsRecorder) -> None:
    """level_12 warns when it is loaded, as it must."""


def views(level: str, seats: int, seed: int, every: int = 10) -> Iterator[SeatView]:
    """States of one random episode as its seats see them, with senseless commands among the others."""
    world = get_world("cuisine").create(seats=seats, settings={"level": level})
    world.reset(seed)
    chance = random.Random(seed)
    past: list[StepView] = []
    while not world.over:
        turn = {seat: _some_command(world.legal_actions(seat), chance) for seat in range(seats)}
        if world.clock % 7 == 0:
            turn.pop(chance.randrange(seats))
        events = world.step(turn)
        past.insert(0, StepView(world.clock, turn, events))
        if world.clock % every == 0:
            yield seen(world, chance.randrange(seats), tuple(past[:8]))


def _some_command(legal: list[Command], chance: random.Random) -> Command:
    if chance.random() < 0.2:
        return chance.choice(SENSELESS)
    work = [command for command in legal if command[0] in {"put", "activate", "get"}]
    return chance.choice(work if work and chance.random() < 0.7 else legal)


def seen(world: World, seat: int, past: tuple[StepView, ...] = (), phase: str = "choose") -> SeatView:
    """The view of one seat, as the selectors would make it."""
    phase = "over" if world.over else phase
    choosing = phase == "choose"
    return SeatView(
        seat=seat,
        phase=phase,
        step=world.clock,
        length=world.length,
        label="Team B",
        players=tuple(PlayerView(n, f"Robot {n + 1}", n == seat) for n in range(world.seats)),
        waiting_for=() if phase == "over" else tuple(range(world.seats)),
        brief=world.brief(seat),
        observation=world.observe(seat),
        picture=world.picture(seat),
        choice=ChoiceView(
            legal=world.legal_actions(seat) if choosing else (),
            anticipated=world.anticipated_actions(seat) if choosing else (),
            amounts=world.amounts(seat) if choosing else {},
            chosen=None if choosing else ("noop",),
        ),
        history=past,
        result=ResultView(world.score()),
        shown="both",
    )


def start(level: str = "level_3", seats: int = 2, phase: str = "choose") -> SeatView:
    """The first view of an episode."""
    world = get_world("cuisine").create(seats=seats, settings={"level": level})
    world.reset(1)
    return seen(world, 0, phase=phase)


def panel_html(view: SeatView, name: str) -> str:
    """One panel with its parts."""
    return render_panel({panel.id: panel for panel in PAGE.panels(view)}[name])


@pytest.mark.parametrize("level", thinned(LEVELS, 5))
def test_every_panel_of_many_states_is_one_element_with_its_id(level: str) -> None:
    for seats, seed in ((1, 4), (3, 5), (8, 6)):
        for view in views(level, seats, seed, every=20):
            for panel in PAGE.panels(view):
                found = Outline(panel_html(view, panel.id).strip())
                assert len(found.top) == 1 and not found.open
                assert found.ids[0] == panel.id
                assert len(found.ids) == len(set(found.ids))


def test_all_views_of_an_episode_have_the_same_panels() -> None:
    ids = [[panel.id for panel in PAGE.panels(view)] for view in views("level_9", 3, 2)]
    assert all(one == ids[0] for one in ids)


@pytest.mark.parametrize("phase", ["choose", "waiting", "thinking", "over"])
def test_the_whole_page_renders_in_every_phase_with_unique_ids(phase: str) -> None:
    view = start(phase=phase)
    context = page_context(PAGE, view, socket_path="/ws/seat/x/", continue_url="/p/x/")
    ids = Outline(render_to_string("kitchen/play/play.html", context)).ids
    assert len(ids) == len(set(ids))
    assert {"bar", "notice", "over", "connection", *(panel.id for panel in PAGE.panels(view))} <= set(ids)


def test_the_menu_offers_exactly_what_is_legal_or_anticipated() -> None:
    for view in views("level_3", 3, 7):
        values = re.findall(r'name="command" value="([^"]+)"', panel_html(view, "menu"))
        offered = {tuple(json.loads(unescape(value))) for value in values}
        assert offered == {*view.choice.legal, *view.choice.anticipated}
        assert len(values) == len(offered)


def test_the_form_is_for_the_step_to_come_and_offers_nothing_while_others_choose() -> None:
    assert '<input id="menu-step" type="hidden" name="step" value="1">' in panel_html(start(), "menu")
    assert "<fieldset disabled" not in panel_html(start(), "menu")
    waiting = panel_html(start(phase="waiting"), "menu")
    assert "data-scroll disabled>" in waiting and "radio" not in waiting
    assert "You have chosen <strong>Wait one step</strong>" in waiting


def test_ingredients_that_no_recipe_needs_are_behind_a_disclosure() -> None:
    world = get_world("cuisine").create(seats=1, settings={"level": "level_3"})
    world.reset(1)
    world.step({0: ("goto", "storage0")})
    brief = brief_lookup(world.brief(0))
    take: Any = next(one.shows for one in action_groups(seen(world, 0), brief) if one.id == "verb-get")
    assert list(take.actions) == [f"do-get-storage0-{item}" for item in brief.wanted]
    assert len(take.actions) + len(take.rest) == 27


def test_a_key_means_one_thing_in_every_level_and_every_kind_of_place_has_one() -> None:
    kinds = {place for level in LEVELS for place in start(level).brief["locations"].values()}
    assert kinds == set(display_text.PLACE_KEYS)
    letters = [
        *display_text.PLACE_KEYS.values(),
        *display_text.VERB_KEYS.values(),
        display_text.THROW_AWAY_KEY,
        *display_text.ITEM_KEYS,
    ]
    assert len(letters) == len(set(letters))


@pytest.mark.parametrize("level", thinned(LEVELS, 4))
def test_the_guide_tells_every_key_that_the_menu_has(level: str) -> None:
    told = {key for key, _ in PAGE.handbook(start(level).brief)["keys"]} | set(display_text.ITEM_KEYS)
    for view in views(level, 2, 3):
        assert {*re.findall(r"<kbd[^>]*>(.)</kbd>", panel_html(view, "menu"))} <= told


@pytest.mark.parametrize("level", thinned(LEVELS, 4))
def test_every_verb_has_its_place_and_room_in_every_state(level: str) -> None:
    rooms = set()
    for view in views(level, 3, 8):
        found = action_groups(view, brief_lookup(view.brief))
        rooms.add(tuple((one.id, len(one.shows.actions) + len(one.shows.quiet)) for one in found))  # type: ignore[attr-defined]
    assert len(rooms - {()}) == 1


@pytest.mark.parametrize(
    ("shown", "unseen"), [("tables", {"floor"}), ("drawn", {"robots", "locations"}), ("both", set())]
)
def test_a_page_has_what_the_study_shows_and_sends_nothing_else(shown: str, unseen: set[str]) -> None:
    view = replace(start(), shown=shown)
    ids = {panel.id for panel in PAGE.panels(view)}
    assert {"floor", "robots", "locations"} - ids == unseen
    html = render_to_string(
        "kitchen/play/play.html", page_context(PAGE, view, socket_path="/", continue_url="/")
    )
    assert ("data-stage" in html, "data-view-tab" in html) == (shown != "tables", shown == "both")


@pytest.mark.parametrize("verb", ["goto", "get", "put", "activate", "noop"])
@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_is_a_sentence_that_names_its_object(reason: str, verb: str) -> None:
    assert {*REASONS, "unknown"} == set(SENTENCES["refusals"])
    text = KitchenWords().refusal(reason, (verb, "pot0", "rice"), busy=2)
    assert text.endswith(".") and text[0].isupper()
    assert "{" not in text and "_" not in text and "pot0" not in text
    assert "invalid" not in text.lower() and "error" not in text.lower()


def test_a_busy_place_says_for_how_long() -> None:
    assert (
        KitchenWords().refusal("location_busy", ("get", "pot0"), busy=2)
        == "Pot 1 was still busy (2 more steps)."
    )
    assert (
        KitchenWords().refusal("location_busy", ("get", "pot0"), busy=1)
        == "Pot 1 was still busy (1 more step)."
    )


def test_what_lies_elsewhere_is_said_to_lie_elsewhere() -> None:
    text = KitchenWords().refusal("unknown_item", ("get", "mixer0", "tunaSushi"))
    assert text == "There was no tuna sushi at mixer 1."


FIRST_DISH: list[Command] = [
    ("goto", "storage0"),
    ("get", "storage0", "salmon"),
    ("goto", "blender0"),
    ("put", "blender0"),
    ("goto", "storage0"),
    ("get", "storage0", "flour"),
    ("goto", "blender0"),
    ("put", "blender0"),
    ("activate", "blender0"),
    ("noop",),
]


def test_a_dish_is_ready_once_its_tool_is() -> None:
    world = get_world("cuisine").create(seats=1, settings={"level": "level_0", "max_steps": 60})
    world.reset(1)
    seen_ready = []
    for command in FIRST_DISH:
        assert command in world.legal_actions(0)
        world.step({0: command})
        seen_ready.append("ready to serve" in panel_html(seen(world, 0), "orders"))
    assert seen_ready == [False] * (len(FIRST_DISH) - 1) + [True]


def test_what_happened_says_why_something_did_not() -> None:
    event = Event("refused", 0, {"command": ["get", "pot0"], "reasons": ["hands_full"]})
    view = start()
    past = (StepView(1, {0: ("get", "pot0")}, (event, Event("failed", None, {"dish": "tunaSushi"}))),)
    html = panel_html(replace(view, history=past), "happened")
    assert "You wanted to take what is there from pot 1" in html
    assert "The robot was already holding something." in html
    assert "Tuna sushi ran out of time" in html
    assert "Robot 2 did nothing" in html


def test_commands_are_phrased_in_words() -> None:
    assert PAGE.phrase(("goto", "servingtable0")) == "Go to serving table 1"
    assert PAGE.phrase(("get", "storage0", "seaweedSheet")) == "Take seaweed sheet from storage 1"
    assert PAGE.phrase(("put", "pot1")) == "Put it into pot 2"
    assert PAGE.phrase(("noop",)) == "Wait one step"
    for command in SENSELESS:
        assert PAGE.phrase(command)


def test_every_code_has_a_readable_name_and_every_dish_a_picture() -> None:
    assert readable_name("salmonSushi") == "Salmon sushi"
    assert readable_name("chopboard0") == "Chopping board 1"
    stock = shipped_catalogue().stock
    for item in (*stock.ingredients, *stock.recipes):
        assert picture_of(item) == item
    assert picture_of("ratatouille") == "plate"


def test_cooked_rice_is_a_bowl_and_no_red_mushroom() -> None:
    sprite = (OWN / "static" / "worlds" / "cuisine" / "pictures.svg").read_text()
    (drawn,) = re.findall(r'<symbol id="cookedRice"[^>]*><use href="#([\w-]+)"', sprite)
    (picture,) = re.findall(rf'<symbol id="{drawn}"[^>]*>(.*)</symbol>', sprite)
    reds = [fill for fill in re.findall(r"#([0-9a-f]{6})", picture) if fill[0] > "b" and fill[2] < "6"]
    assert drawn.startswith("of-own-") and not reds


def test_no_two_pictures_are_the_same() -> None:
    sprite = (OWN / "static" / "worlds" / "cuisine" / "pictures.svg").read_text()
    shown = re.findall(r'<symbol id="([A-Za-z]+)"[^>]*>(.*)</symbol>', sprite)
    assert {name for name, _ in shown} == picture_names()
    assert len({body for _, body in shown}) == len(shown)
    assert set(re.findall(r'href="#([\w-]+)"', sprite)) <= set(re.findall(r'id="([\w-]+)"', sprite))


@pytest.mark.parametrize(
    "path",
    sorted(
        path
        for home in (ROOT / "templates", OWN)
        for end in ("html", "jinja")
        for path in home.rglob(f"*.{end}")
    ),
    ids=lambda path: path.name,
)
def test_templates_keep_to_the_content_security_policy(path: Path) -> None:
    text = path.read_text()
    assert not re.search(r"\sstyle\s*=", text), "an inline style"
    assert not re.search(r"\son[a-z]+\s*=\s*[\"']", text), "an inline handler"
    assert "<style" not in text or path.name == "standalone.html", "only files that are taken away have one"
    for script in re.findall(r"<script[^>]*>", text):
        assert "src=" in script, "an inline script"
