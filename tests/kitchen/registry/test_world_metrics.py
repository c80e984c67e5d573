"""What a world declares of its figures, and what follows for one episode and for several worlds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kitchen.contract.world import Metric, World
from kitchen.contract.world_errors import WorldError
from kitchen.registry.world_metrics import (
    achievements,
    common_metrics,
    event_texts,
    metric_summary,
    metrics_by_seat,
    metrics_of_world,
    metrics_side_by_side,
    share_count_names,
)
from kitchen.registry.world_registry import get_world
from tests.worlds.lamps import FIGURES, Lamps, registered


@pytest.fixture(autouse=True)
def lamps() -> Iterator[None]:
    with registered():
        yield


def test_the_test_world_scores_what_it_declares() -> None:
    world = Lamps.create(seats=1, settings={})
    while not world.over:
        world.step({0: ("light",)})
        assert {figure.name for figure in FIGURES} <= set(world.score())
    assert all(figure.holds(world.score()[figure.name]) for figure in FIGURES)


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "Success rate"},
        {"name": "two__words"},
        {"name": ""},
        {"kind": "rate"},
        {"kind": "count", "of": ("done", "missed")},
    ],
)
def test_a_figure_that_contradicts_itself_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="figure"):
        Metric(**{"name": "lit", "kind": "share", "label": "Lit", **wrong})


@pytest.mark.parametrize(
    ("figure", "values", "others"),
    [
        (Metric("a", "count", "A"), [0, 7], [-1, 0.5, True]),
        (Metric("a", "share", "A"), [0, 0.5, 1], [-0.1, 1.1]),
        (Metric("a", "number", "A"), [0, 2.5], [-0.1]),
        (Metric("a", "number", "A", low=None, high=9), [-4, 9], [9.1]),
    ],
)
def test_a_figure_knows_its_values(figure: Metric, values: list[float], others: list[float]) -> None:
    assert all(figure.holds(value) for value in values)
    assert not any(figure.holds(value) for value in others)


def test_values_are_shown_by_their_kind() -> None:
    count, share, number = (Metric("a", kind, "A") for kind in ("count", "share", "number"))
    assert [count.shown(3), share.shown(0.666), number.shown(12.5), number.shown(2 / 3)] == [
        "3",
        "67 %",
        "12.5",
        "0.67",
    ]


def test_players_read_their_achievements() -> None:
    score = {"completed": 1, "failed": 0, "success_rate": 1.0}
    assert achievements("cuisine", score) == (("1", "dish served"), ("0", "orders missed"))
    assert achievements("cuisine", {**score, "completed": 2})[0] == ("2", "dishes served")
    assert achievements("lamps", {"lit": 4, "glow": 0.5, "dark": None}) == (("4", "lamps lit"),)
    assert achievements("lamps", {"lit": None}) == ()


def test_staff_read_the_compared_metrics() -> None:
    assert metric_summary("lamps", {"glow": -0.25, "dark": None, "completed": 2}) == (
        "Glow -0.25",
        "Nights in the dark \N{EN DASH}",
        "Nights completed 2",
    )


def test_a_summary_leaves_out_process_counts_of_the_log() -> None:
    labels = [text.rpartition(" ")[0] for text in metric_summary("collab_overcooked", {})]
    assert labels[-4:-2] == ["Initiating capability", "Responding capability"]
    assert labels[-2:] == ["ITES of the requests", "ITES of the responses"]
    assert "Success rate" in labels and not any("Messages" in label for label in labels)
    assert "Messages of the chef 4" in metric_summary("collab_overcooked", {"messages_chef": 4}, in_full=True)


def test_a_share_of_events_is_summarised_with_its_interval() -> None:
    score = {"initiating_capability": 0.75, "requests_right": 3, "requests_wrong": 1}
    assert "Initiating capability 75 % (n = 4, 95 % interval 25 % to 100 %)" in metric_summary(
        "collab_overcooked", score
    )
    alone = {"initiating_capability": 1.0, "requests_right": 1, "requests_wrong": 0}
    assert "Initiating capability 100 % (n = 1, no interval)" in metric_summary("collab_overcooked", alone)


def test_the_metrics_of_single_seats_are_a_table() -> None:
    score = {"messages_chef": 4, "messages_assistant": 3, "rounds_chef": 2, "rounds_assistant": None}
    assert metrics_by_seat("collab_overcooked", score) == (
        ("", "chef", "assistant"),
        ("Messages", "4", "3"),
        ("Rounds opened", "2", "\N{EN DASH}"),
    )
    assert metrics_by_seat("collab_overcooked", {}) == metrics_by_seat("lamps", {"lit": 1}) == ()


def test_an_unknown_world_has_no_metrics() -> None:
    assert metrics_of_world("sunken") == () and achievements("sunken", {"lit": 1}) == ()
    assert event_texts("sunken") == "" and metric_summary("sunken", {"lit": 1}) == ()
    assert [one.worlds for one in metrics_side_by_side(["sunken", "lamps"])] == [("lamps",)] * len(FIGURES)


def test_metrics_of_two_worlds_have_distinct_names() -> None:
    alone, both = metrics_side_by_side(["cuisine"]), metrics_side_by_side(["cuisine", "lamps", "cuisine"])
    assert both[: len(alone)] == alone
    assert {one.name: one.label for one in both[len(alone) :]} == {
        "glow": "Glow",
        "dark": "Nights in the dark",
        "completed_lamps": "Nights completed",
        "lit": "LEDs lit",
        "steps": "Steps walked",
    }


def test_names_and_labels_of_others_are_not_taken() -> None:
    found = metrics_side_by_side(["lamps"], names=["glow", "glow_lamps"], labels=["Glow"])
    assert (found[0].name, found[0].label) == ("glow_lamps_2", "Glow (lamps)")


def test_equal_metrics_of_two_worlds_are_one_metric(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = next(one for one in get_world("cuisine").figures if one.name == "failed")
    as_ours = Metric(**{name: getattr(shared, name) for name in Metric.__slots__ if name != "words"})
    monkeypatch.setattr(Lamps, "figures", (as_ours,))
    found = {one.name: one for one in metrics_side_by_side(["cuisine", "lamps"])}
    assert set(found) == {one.name for one in metrics_side_by_side(["cuisine"])}
    assert found["failed"].worlds == ("cuisine", "lamps")
    assert found["failed"].value("lamps", {"failed": 2}) == 2
    assert found["completed"].value("lamps", {"completed": 2}) is None


def test_common_metrics_cover_every_world() -> None:
    assert {"success_rate", "completed", "glow", "dark"} <= {one.name for one in common_metrics()}
    assert "lit" not in {one.name for one in common_metrics()}


def made(kind: type[World], settings: dict[str, Any]) -> World:
    return kind.create(seats=1, settings=settings)


def test_share_counts_follow_the_declaration() -> None:
    game = made(get_world("cuisine"), {"level": "level_0", "max_steps": 40, "alpha": 1.0})
    game.reset(1)
    while not game.over:
        game.step({0: ("noop",)})
    assert share_count_names(game) == (0, game.score()["failed"])
    assert game.score()["failed"] > 0
    with pytest.raises(WorldError, match="lamps measures no share"):
        share_count_names(made(Lamps, {}))
