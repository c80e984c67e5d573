"""The worked examples of TES, ITES and PC."""

from __future__ import annotations

import pytest

from kitchen.worlds.collab_overcooked.collaboration_scores import ites, tes
from kitchen.worlds.collab_overcooked.reference_trajectories import references
from tests.kitchen.worlds.collab_overcooked.games import execute, game, play


@pytest.mark.parametrize(
    ("history", "score"),
    [
        ("a b c x e", 0.6),
        ("a b c d e", 1),
        ("", 0),
        ("b c d e", 0),
        ("a b", 0.559148),
        ("a b x c d e", 0.913346),
        ("a b c d e x x", 0.840512),
        ("a a b c d e", 0.913346),
    ],
)
def test_tes_takes_the_longest_prefix_that_is_met_in_order(history: str, score: float) -> None:
    reference = [(each,) for each in "abcde"]
    assert tes([(each,) for each in history.split()], [reference]) == pytest.approx(score, abs=1e-6)


def test_a_redundant_start_lowers_the_assistants_score() -> None:
    world = game("baked_bell_pepper", gamma=3)
    play(world, 1, "pickup egg ingredient_dispenser", "place_obj_on_counter")
    assert world.score()["tes_assistant"] == 0
    pair = references("baked_bell_pepper")[0]
    execute(world, (pair.chef, pair.assistant))
    score = world.score()
    assert score["tes_assistant"] == pytest.approx(0.678253, abs=1e-6)
    assert score["tes_chef"] == 1 and score["progress_completeness"] == pytest.approx(0.839127, abs=1e-6)


def test_the_dish_first_is_no_reference() -> None:
    pair = references("baked_potato_soup")[0]
    history = [*pair.units[1], *pair.units[0]]
    assert tes(history, [pair.assistant]) == pytest.approx(0.714286, abs=1e-6)


def test_each_seat_takes_its_own_best_trajectory() -> None:
    name = "sliced_bell_pepper_and_corn_stew"
    first, second = references(name)
    world = game(name, gamma=3)
    execute(world, (first.chef, second.assistant))
    assert world.score()["progress_completeness"] == 1
    assert tes(second.assistant, [first.assistant]) == pytest.approx(0.555556, abs=1e-6)


def test_ites_tells_repeated_and_premature_requests_from_right_ones() -> None:
    pepper = [pair.assistant for pair in references("baked_bell_pepper")]
    both = list(pepper[0])
    assert ites(both, [], pepper) == 1
    assert ites(both[:1], both, pepper) == pytest.approx(-0.191715, abs=1e-6)
    potato = [pair.assistant for pair in references("baked_potato_slices")]
    taken = list(potato[0][:1])
    cut, put = ("cut", "chopping_board0"), ("put_obj_in_utensil", "chopping_board0")
    assert ites([cut], taken, potato) == pytest.approx(-0.042747, abs=1e-6)
    assert ites([put, cut], taken, potato) == pytest.approx(0.418191, abs=1e-6)
