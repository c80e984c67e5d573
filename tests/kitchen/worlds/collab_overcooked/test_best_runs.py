"""The best runs of the file can be played, and a game beside them has a pace and a combo."""

from __future__ import annotations

import pytest

from kitchen.play.live.render_page import render_panel
from kitchen.worlds.collab_overcooked.best_runs import BestRun, best_run, pace_beside
from kitchen.worlds.collab_overcooked.counter_handovers import find_handovers
from kitchen.worlds.collab_overcooked.order_progress import order_panel, pace_news, pace_texts
from kitchen.worlds.collab_overcooked.order_tasks import tasks
from kitchen.worlds.collab_overcooked.page import PAGE
from kitchen.worlds.collab_overcooked.reference_trajectories import references
from kitchen.worlds.collab_overcooked.room_layout import LAYOUTS
from tests.kitchen.worlds.collab_overcooked.games import execute, game, play
from tests.kitchen.worlds.collab_overcooked.test_practice_hints import BY_LEVEL, view

RUN = BestRun(30, (7, 17, 24))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_order_has_a_best_run_in_all_rooms_that_no_reference_beats(layout: str) -> None:
    for name in tasks():
        run = best_run(game(name, layout=layout, best_run=True).brief(0))
        assert run, (name, layout)
        for pair in references(name)[:2]:
            world = game(name, layout=layout, gamma=3.0)
            steps = execute(world, [pair.chef, pair.assistant])
            found = list(find_handovers(world.observe(0)["players"], world.layout))
            assert (steps, len(found)) >= (run.steps, len(run.handovers)), (name, layout)


@pytest.mark.parametrize(
    ("taken", "behind", "combo"),
    [
        ([], (), 0),
        ([7], (0,), 1),
        ([9], (2,), 0),
        ([9, 19], (2, 2), 1),
        ([9, 18, 23], (2, 1, -1), 2),
        ([7, 17, 24, 30], (0, 0, 0, None), 0),
    ],
)
def test_a_combo_counts_handovers_without_a_loss(
    taken: list[int], behind: tuple[int | None, ...], combo: int
) -> None:
    assert pace_beside(taken, RUN) == (behind, combo)
    assert pace_beside(taken, None) == ((), 0)


def test_paces_are_told_short_and_in_words() -> None:
    assert [pace_texts(one) for one in (None, 0, -1, 2)] == [
        ("", ""),
        ("=", "as fast as the best run"),
        ("\N{MINUS SIGN}1", "1 step ahead of the best run"),
        ("+2", "2 steps behind the best run"),
    ]


def test_the_page_tells_the_best_run_only_where_the_study_says_so_and_never_what_is_to_come() -> None:
    for told in (False, True):
        world = game("boiled_egg", gamma=3.0, best_run=told)
        before = view(world, 1, [])
        assert ("best_run" in before.brief, pace_news(before)) == (told, {})
        assert ("Best run known" in render_panel(order_panel(before))) == told
        play(world, 1, "pickup egg ingredient_dispenser", "place_obj_on_counter")
        play(world, 0, "pickup egg counter")
        news = pace_news(view(world, 1, []))
        assert news == ({"pace": [1, "=", 1]} if told else {}), news
        assert ("as fast as the best run" in render_panel(PAGE.score(view(world, 1, [])))) == told


def test_every_guest_has_a_wish() -> None:
    wishes = {
        str(render_panel(order_panel(view(game(name), 1, [])))).partition("guest-wish")[2]
        for name in BY_LEVEL
    }
    assert len(wishes) > 1 and all("“" in one for one in wishes)
