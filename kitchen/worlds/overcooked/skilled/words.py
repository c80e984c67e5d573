"""A moment of a grid in words, for language models: no positions. Plain Python."""

from __future__ import annotations

from collections.abc import Iterator

from kitchen.words.counting import and_list, counted
from kitchen.worlds.overcooked.layout import COUNTER, DISPENSERS, POT, SERVING
from kitchen.worlds.overcooked.skilled.moment import Moment
from kitchen.worlds.overcooked.things import DISH, Item

FURNITURE = {
    **{letter: f"{what} dispenser" for letter, what in DISPENSERS.items()},
    POT: "pot",
    SERVING: "serving place",
}


def name(seat: int) -> str:
    """As ProAgent's prompts call a seat."""
    return f"Player {seat}"


def thing(held: Item | None) -> str:
    """`an onion`, `a soup of onion and tomato`, `nothing`."""
    if held is None:
        return "nothing"
    if isinstance(held, tuple):
        return f"a soup of {and_list(list(held))}"
    return f"{'an' if held[0] in 'aeiou' else 'a'} {held}"


def furniture(moment: Moment) -> str:
    """What stands here."""
    there = [
        counted(len(moment.layout.places(letter)), what)
        for letter, what in FURNITURE.items()
        if moment.layout.places(letter)
    ]
    return f"In this kitchen there are {and_list(there)}."


def described(moment: Moment) -> str:
    """What the players hold, and the pots; where things go over counters, these in place of the partner."""
    lines = [furniture(moment), f"{name(moment.seat)} holds {_held(moment.held)}."]
    if moment.is_parted:
        lines += _counters(moment)
    else:
        lines.append(f"{name(1 - moment.seat)} holds {_held(moment.scene.hands[1 - moment.seat])}.")
    return "\n".join([*lines, *_pots(moment)])


def _held(held: Item | None) -> str:
    return f"{thing(held)} and needs to deliver it" if isinstance(held, tuple) else thing(held)


def _counters(moment: Moment) -> Iterator[str]:
    cells = moment.shared(moment.layout.places(COUNTER))
    lying = [moment.scene.counters.get(cell) for cell in cells]
    soups = sum(isinstance(each, tuple) for each in lying)
    counts = [f"{sum(each == what for each in lying)} with {thing(what)}" for what in (*moment.food, DISH)]
    yield (
        f"{name(moment.seat)} can reach {counted(len(cells), 'counter')} that both can reach: "
        f"{', '.join(counts)}, {soups} with a soup."
    )


def _pots(moment: Moment) -> Iterator[str]:
    for number, cell in enumerate(moment.layout.places(POT)):
        yield (
            f"Pot {number} {_pot(moment, number)}."
            if cell in moment.scene.pots
            else f"Pot {number} is empty."
        )


def _pot(moment: Moment, number: int) -> str:
    pot = moment.scene.pots[moment.layout.places(POT)[number]]
    has = and_list(
        [counted(pot.contents.count(food), food, _many(food)) for food in dict.fromkeys(pot.contents)]
    )
    if pot.left is None:
        return f"has {has}"
    if pot.left:
        return f"cooks {has}, ready after {counted(pot.left, 'tick')}"
    return f"has a soup of {has} that is ready"


def _many(food: str) -> str:
    return f"{food}es" if food.endswith("o") else f"{food}s"
