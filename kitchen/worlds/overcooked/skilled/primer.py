"""What ProAgent is told of a grid, in our own words. Plain Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kitchen.contract.skills import EARLY, FREELY, NEVER, ONCE, READY, Example, Manner, Primer, Skill, wait
from kitchen.contract.world import Json
from kitchen.words.counting import and_list, counted
from kitchen.worlds.overcooked.layout import FULL
from kitchen.worlds.overcooked.skilled.moment import Moment
from kitchen.worlds.overcooked.skilled.named import DELIVER, FILL, PICKUP, PLACE, PUT, START
from kitchen.worlds.overcooked.skilled.words import name, thing
from kitchen.worlds.overcooked.things import DISH

USUAL: Mapping[str, Manner] = {
    "cramped_room": Manner(NEVER, EARLY),
    "asymmetric_advantages": Manner(FREELY, READY),
    "coordination_ring": Manner(FREELY, READY),
    "forced_coordination": Manner(ONCE, READY),
    "counter_circuit": Manner(NEVER, READY),
}
"""As the published prompts differ."""
TOMATO = "_tomato"


def usual(moment: Moment) -> Manner:
    """A layout with tomatoes is as its namesake; one that nobody published a prompt for lets wait."""
    known = USUAL.get(moment.layout.code.removesuffix(TOMATO))
    return known or Manner(ONCE if moment.is_parted else FREELY, READY)


def primer(moment: Moment, brief: Mapping[str, Json], manner: Manner) -> Primer:
    """All of it, for one seat."""
    return Primer(
        role=_role(moment),
        rules=tuple(_rules(moment, brief)),
        making=tuple(_orders(brief)),
        skills=tuple(_skills(moment)),
        remarks=tuple(_remarks(moment, manner)),
        examples=tuple(_examples(moment, manner)),
        game="Two players cook soups in a small kitchen.",
    )


def _role(moment: Moment) -> str:
    me, other = name(moment.seat), name(1 - moment.seat)
    return (
        f"You are {me} and cook soups in a small kitchen beside {other}. You do not know how {other} plays, "
        "and you cannot talk to each other. Think of what the other one is about to do, and do what fits."
    )


def _rules(moment: Moment, brief: Mapping[str, Json]) -> Iterator[str]:
    yield f"The game lasts {brief['ticks']} ticks. Points are for both together, by the soups served."
    yield "A player holds one thing at most. Things can be put down on free counters only."
    if moment.scene.starts_itself:
        yield f"A pot takes {FULL} ingredients, and cooks by itself as soon as it has them."
    else:
        yield f"A pot takes up to {FULL} ingredients; it cooks when somebody with empty hands starts it."
    yield "A pot that cooks, or is ready, takes nothing more. A ready soup is filled into a dish, and served."


def _orders(brief: Mapping[str, Json]) -> Iterator[str]:
    for order in brief["orders"]:
        twice = ", a bonus counted" if order["bonus"] else ""
        yield (
            f"- A soup of {and_list(order['ingredients'])} is ordered: {order['points']} points{twice}; "
            f"it cooks for {counted(order['ticks'], 'tick')}."
        )
    yield "Any other soup is worth nothing."


def _skills(moment: Moment) -> Iterator[tuple[Skill, str]]:
    for each in (*moment.food, DISH):
        if moment.pots() or moment.sources(each):
            yield (PICKUP, each), f"needs empty hands; done when {thing(each)} is in hand."
    if moment.pots():
        for food in moment.food:
            needs = f"needs {thing(food)} in hand and a pot that is neither full nor started"
            yield (PUT[food],), f"{needs}; done when the hands are empty."
    yield (PLACE,), "needs something in hand and a free counter; done when the hands are empty."
    if moment.pots():
        yield (FILL,), "needs a dish in hand and a pot that cooks or is ready; done when a soup is in hand."
        if not moment.scene.starts_itself:
            yield (
                (START,),
                "needs empty hands and a pot with an order in it; done when the pot is started.",
            )
    if moment.serving():
        yield (DELIVER,), "needs a soup in hand; done when it is served."


def _remarks(moment: Moment, manner: Manner) -> Iterator[str]:
    when = "as soon as a soup cooks" if manner.fetches == EARLY else "only when a soup is ready, or nearly"
    yield f"Fetch a dish {when}."
    if not moment.is_parted:
        return
    me, other = name(moment.seat), name(1 - moment.seat)
    if moment.pots():
        yield f"{me} can take things only from counters, where {other} lays them."
        yield f"{me} waits while nothing lies there."
    else:
        yield f"{me} reaches no pot: it brings onto counters what {other} needs."
        yield f"{me} does not fetch what lies on a counter already."


def _examples(moment: Moment, manner: Manner) -> Iterator[Example]:
    me, other, food = name(moment.seat), name(1 - moment.seat), moment.food[0]
    if not moment.pots():
        yield from _of_bringer(me, food)
        return
    yield Example(
        f"{me} holds nothing. {other} holds {thing(food)}. Pot 0 is empty.",
        f"The pot needs {FULL} ingredients, and {other} brings one of them. I fetch another one.",
        (PUT[food],),
        (PICKUP, food),
    )
    left = "cooks, ready after 12 ticks" if manner.fetches == EARLY else "has a soup that is ready"
    yield Example(
        f"{me} holds nothing. {other} holds {thing(food)}. Pot 0 {left}.",
        f"Nobody has a dish for the soup in pot 0. {other} has to put down what it holds; I fetch one.",
        (PLACE,),
        (PICKUP, DISH),
    )
    yield Example(
        f"{me} holds a dish. {other} holds nothing. Pot 0 cooks, ready after 2 ticks.",
        "The soup will be ready when I am there.",
        (PICKUP, food),
        (FILL,),
    )
    yield Example(
        f"{me} holds a soup and needs to deliver it. {other} holds nothing. Pot 0 is empty.",
        f"What counts is serving. {other} can begin the next soup.",
        (PICKUP, food),
        (DELIVER,),
    )


def _of_bringer(me: str, food: str) -> Iterator[Example]:
    yield Example(
        f"{me} holds nothing. 3 counters that both can reach: 0 with {thing(food)}, 0 with a dish.",
        f"The other one has nothing to cook with. I fetch {thing(food)}.",
        wait(3),
        (PICKUP, food),
    )
    yield Example(
        f"{me} holds {thing(food)}. 3 counters that both can reach: 1 with {thing(food)}, 0 with a dish.",
        "I lay it where the other one can take it.",
        (PICKUP, food),
        (PLACE,),
    )
