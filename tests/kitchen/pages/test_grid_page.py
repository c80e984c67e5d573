"""A page on a grid: what is drawn and what is told, declared by a world with things, faces and hands."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from kitchen.contract.page_view import DRAWING_ONLY, DRAWING_TABLES, PlayerView, SeatView
from kitchen.contract.world import Command, Json, Metric
from kitchen.pages.grid_page import FLOOR_LETTER, CellLook, GridPage
from kitchen.play.live.render_page import render_panel
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.cuisine.test_page import seen
from tests.worlds.lane.page import PAGE as LANE
from tests.worlds.lane.world import Lane

BRIEF: Mapping[str, Json] = {"grid": ["XXX", "X G", "XXX"], "tick_ms": 0, "laps": 3}
OBSERVED: Mapping[str, Json] = {
    "players": [
        {"at": [1, 1], "face": "east", "holds": None},
        {"at": [2, 1], "face": "north", "holds": "red_gem"},
    ],
    "gems": [{"at": [2, 1], "thing": "red_gem"}],
    "left": 4,
}


class GemPage(GridPage):
    """With a gate, and gems on cells."""

    looks = {
        FLOOR_LETTER: CellLook("floor", walkable=True),
        "X": CellLook("wall"),
        "G": CellLook("gate", walkable=True, lettered=True, empty="open"),
    }
    layers = ("gems",)
    names = {"red_gem": "a red gem"}
    reasons = {"shut": "the gate is shut"}
    events = {"lit": "{player} has lit {thing}."}


PAGE = GemPage()


def view(page: GridPage = PAGE, **more: Any) -> SeatView:
    world = Lane(2, {"tick_ms": 0})
    players = tuple(PlayerView(seat, page.named(seat + 1), seat == 0) for seat in (0, 1))
    legal: tuple[Command, ...] = (("north",), ("interact",), ("give", "red_gem", "1"))
    found = changed(seen(world, 0), brief=BRIEF, observation=OBSERVED, players=players, legal=legal)
    return changed(found, shown=DRAWING_ONLY, **more)


def shows(name: str, view: SeatView, page: GridPage = PAGE) -> Any:
    return next(panel for panel in page.panels(view) if panel.id == name).shows


def test_cells_are_drawn_as_their_letters_say() -> None:
    board = shows("board", view())
    assert (board.columns, board.rows, board.tick_ms, board.words) == (3, 3, 0, "")
    assert board.floor == "1,1 2,1"
    kinds = "".join(tile.kind[0] + tile.letter for tile in board.tiles)
    assert kinds == "w" * 3 + "wf" + "fG" + "w" * 3
    assert json.loads(board.rules) == {
        "layers": ["gems"],
        "moves": {"north": [0, -1], "east": [1, 0], "south": [0, 1], "west": [-1, 0]},
        "blocking": True,
    }


def test_walls_show_their_front_to_the_floor_below_and_shade_it() -> None:
    edges = [tile.edge for tile in shows("board", view()).tiles]
    assert edges == ["", "front", "front", "", "shade", "shade", "", "", ""]


def test_only_changing_values_are_sent_as_observed() -> None:
    shown = shows("seen", view())
    assert json.loads(shown.observation) == {name: OBSERVED[name] for name in ("players", "gems")}
    assert shown.seat == 0 and shows("seen", view(acts=False)).seat == -1


def test_the_grid_and_its_actors_are_described_in_words() -> None:
    rows = shows("grid", view()).rows
    assert [(cell.name, cell.there) for cell in rows[1]] == [
        ("wall", ""),
        ("floor", "Player 1"),
        ("gate", "Player 2"),
    ]
    assert [actor.description for actor in shows("actors", view()).actors] == [
        "column 2, row 2, looks right, holds nothing",
        "column 3, row 2, looks up, holds a red gem",
    ]


@pytest.mark.parametrize(
    ("at", "face", "gems", "ahead"),
    [
        ([1, 1], "west", [], "wall"),
        ([1, 1], "east", [], "gate: open"),
        ([1, 1], "east", OBSERVED["gems"], "gate: a red gem"),
        ([2, 1], "east", [], "the end of the grid"),
        ([0, 0], "north", [], "the end of the grid"),
    ],
)
def test_the_cell_ahead_is_described(at: list[int], face: str, gems: Json, ahead: str) -> None:
    me = {"at": at, "face": face, "holds": "red_gem"}
    observed = {**OBSERVED, "players": [me, OBSERVED["players"][1]], "gems": gems}
    menu = shows("menu", replace(view(), observation=observed))
    assert (menu.ahead, menu.holds) == (ahead, "a red gem")


def test_values_off_the_grid_are_facts() -> None:
    assert [(fact.label, fact.text) for fact in shows("facts", view()).facts] == [("Left", "4")]
    assert [fact.label for fact in PAGE.handbook(BRIEF)["facts"]] == ["Tick ms", "Laps"]


def test_the_pad_has_possible_commands_and_lists_others_below() -> None:
    menu = shows("menu", view())
    possible = {button.verb for button in menu.buttons if button.value}
    assert possible == {"north", "interact"} and len(menu.buttons) == 6
    (group,) = menu.groups
    html = render_panel({panel.id: panel for panel in PAGE.panels(view())}["menu"])
    assert group.title == "Give" and "Give a red gem 1" in html


def test_a_button_that_only_others_make_possible_has_a_note() -> None:
    early = view(legal=(), anticipated=(("interact",),))
    (button,) = [button for button in shows("menu", early).buttons if button.value]
    assert (button.verb, button.note) == ("interact", "if somebody else makes it possible first")


def test_under_a_clock_every_button_counts_and_the_words_come_along() -> None:
    ticking = view(tick_ms=100)
    assert all(button.value for button in shows("menu", ticking).buttons)
    assert not shows("menu", ticking).groups
    words = json.loads(shows("board", ticking).words)
    assert words["grid"] == ["XXX", "X G", "XXX"] and words["names"] == {"red_gem": "a red gem"}
    assert words["looks"]["G"] == "gate" and words["empty"] == {"G": "open"}
    assert words["why"] == {"shut": "the gate is shut"} and words["events"]["lit"].startswith("{player}")
    assert {"happened"} == {panel.id for panel in PAGE.panels(view())} - {
        panel.id for panel in PAGE.panels(ticking)
    }


def test_the_score_is_shown_in_turns_and_under_a_clock() -> None:
    figures = (
        Metric("gems", "count", "Gems", words=("gem found", "gems found")),
        Metric("rate", "share", "Success rate", words=("of all gems", "of all gems")),
        Metric("best", "number", "Best time", words=("second at best", "seconds at best")),
    )
    turns = view(achieved=(("1", "gem found"),))
    assert shows("score", turns).achieved == (("1", "Gem found"),)
    ticking = view(tick_ms=100, figures=figures, score={"gems": 1, "rate": 0.5, "best": None})
    assert [(figure.label, figure.text) for figure in shows("score", ticking).figures] == [
        ("Gems found", "1"),
        ("Of all gems", "50 %"),
        ("Seconds at best", "\N{EN DASH}"),
    ]
    html = render_panel({panel.id: panel for panel in PAGE.panels(ticking)}["score"])
    assert 'data-figure="rate" data-kind="share">50 %<' in html


def test_in_words_alone_nothing_is_drawn_but_under_a_clock() -> None:
    shown = {panel.id for panel in PAGE.panels(replace(view(), shown=DRAWING_TABLES))}
    assert not {"board", "seen"} & shown and {"grid", "actors"} <= shown
    assert {"board", "seen"} <= {
        panel.id for panel in PAGE.panels(replace(view(tick_ms=100), shown=DRAWING_TABLES))
    }


def test_a_world_without_directions_and_things_does_not_mention_them() -> None:
    lane = replace(seen(Lane(2, {}), 0), shown=DRAWING_ONLY)
    menu = shows("menu", lane, LANE)
    assert (menu.ahead, menu.holds) == ("", "")
    assert [actor.description for actor in shows("actors", lane, LANE).actors] == ["column 1, row 1"] * 2


def test_a_watcher_sees_the_grid_without_the_pad() -> None:
    assert {"board", "seen", "grid"} <= {panel.id for panel in PAGE.overview(view())} - {"menu"}
    assert "menu" not in {panel.id for panel in PAGE.overview(view())}
