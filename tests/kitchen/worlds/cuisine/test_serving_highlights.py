"""The sentences about what went well in a kitchen agree with its log and its tickets."""

from __future__ import annotations

from kitchen.contract.world import Event
from kitchen.worlds.cuisine.display_text import brief_lookup
from kitchen.worlds.cuisine.page import PAGE
from kitchen.worlds.cuisine.serving_highlights import highlight_lines, highlights_of
from tests.kitchen.worlds.cuisine.cooking import act, kitchen

COOK = (
    "goto storage0",
    "get storage0 salmon",
    "goto blender0",
    "put blender0",
    "goto storage0",
    "get storage0 flour",
    "goto blender0",
    "put blender0",
    "activate blender0",
)
SERVE = ("get blender0", "goto servingtable0", "put servingtable0")


def served(dish: str, cook: int = 0, server: int = 0) -> tuple[Event, ...]:
    return (
        Event("performed", cook, {"command": ["activate", "mixer0"], "item": dish}),
        Event("performed", server, {"command": ["put", "servingtable0"], "item": dish}),
        Event("completed", None, {"dish": dish}),
    )


def ordered(dish: str, life: int) -> tuple[Event, ...]:
    return (Event("ordered", None, {"dish": dish, "life": life}),)


def test_the_time_to_spare_is_what_the_ticket_showed_and_the_dish_was_made_together() -> None:
    world = kitchen("level_0", seats=2, alpha=4.0, beta=5.0)
    brief, start = world.brief(0), world.public_state()
    log = [act(world, text, "noop") for text in COOK]
    takes = world.observe(0)["locations"]["blender0"]["busy"]
    log += [act(world, "noop", "goto blender0") for _ in range(takes)]
    log += [act(world, "noop", text) for text in SERVE]
    ((dish, life),) = [(one["dish"], one["life"]) for one in start["orders"]]
    found = highlights_of(brief, start, log)
    assert found.served == 1 and found.spare == {dish: life - len(log)} and found.together == 1
    assert PAGE.highlights(brief, start, log) == (
        f"Most time to spare: salmon meatcake {life - len(log)} steps.",
        "Made together, one cooked and another served: 1 of 1 dishes.",
    )


def test_a_dish_that_the_log_never_ordered_counts_as_served_and_breaks_nothing() -> None:
    missed = (Event("failed", None, {"dish": "salmonSushi"}),)
    found = highlights_of(kitchen().brief(0), {"orders": []}, [served("tunaSushi"), missed])
    assert (found.served, found.spare) == (1, {})


def test_a_missed_order_ends_a_row_and_the_best_of_each_dish_counts() -> None:
    brief = kitchen().brief(0)
    start = {"orders": [{"dish": "tunaSushi", "life": 9}]}
    missed = (Event("failed", None, {"dish": "salmonSushi"}),)
    log = [
        (*served("tunaSushi"), *ordered("salmonSushi", 1)),
        (*missed, *ordered("tunaSushi", 5)),
        (*served("tunaSushi", cook=1), *ordered("salmonSushi", 4)),
        served("salmonSushi"),
    ]
    found = highlights_of(brief, start, log)
    assert found.spare == {"tunaSushi": 8, "salmonSushi": 3} and found.longest_row == 2
    assert highlight_lines(found, brief_lookup(brief)) == (
        "Best moment: salmon sushi, served just before the guest would have left.",
        "Most time to spare: tuna sushi 8 steps, salmon sushi 3 steps.",
        "2 dishes in a row without a missed order.",
        "Made together, one cooked and another served: 1 of 3 dishes.",
    )
    assert highlight_lines(highlights_of(brief, start, [missed[:0]]), brief_lookup(brief)) == ()
    row = highlights_of(brief, start, [served("tunaSushi")] * 3)
    assert highlight_lines(row, brief_lookup(brief))[0] == "Best moment: 3 guests in a row left happy."
