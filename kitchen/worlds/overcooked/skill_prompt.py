"""Describe the game of Overcooked and its current state as text for language models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kitchen.contract.agent_skills import (
    EARLY,
    FREELY,
    NEVER,
    ONCE,
    READY,
    GameDescription,
    PlayStyle,
    Skill,
    WorkedExample,
    wait_skill,
)
from kitchen.contract.world import Json
from kitchen.words.english_text import and_list, counted_noun
from kitchen.worlds.overcooked.game_rules import DISH, Item
from kitchen.worlds.overcooked.layout import COUNTER, DISPENSERS, POT, POT_CAPACITY, SERVING
from kitchen.worlds.overcooked.partners.grid_snapshot import SeenPot
from kitchen.worlds.overcooked.skill_names import (
    DELIVER,
    FILL,
    PICKUP,
    PLACE,
    PUT_VERBS,
    START,
)
from kitchen.worlds.overcooked.skill_snapshot import SkillMoment

FURNITURE = {letter: f"{what} dispenser" for letter, what in DISPENSERS.items()}
FURNITURE |= {POT: "pot", SERVING: "serving place"}


def player_name(seat: int) -> str:
    """Return the name of a seat in prompts, as in ProAgent: `Player 0`."""
    return f"Player {seat}"


def held_thing(held: Item | None) -> str:
    """Return the text for what a seat holds: `an onion`, `a soup of onion and tomato`, or `nothing`."""
    if held is None:
        return "nothing"
    if isinstance(held, tuple):
        return f"a soup of {and_list(list(held))}"
    return f"{'an' if held[0] in 'aeiou' else 'a'} {held}"


def furniture_text(moment: SkillMoment) -> str:
    """Return a sentence that counts the furniture of the layout (dispensers, pots and serving places)."""
    counts = {what: len(moment.layout.places(letter)) for letter, what in FURNITURE.items()}
    there = [counted_noun(count, what) for what, count in counts.items() if count]
    return f"In this kitchen there are {and_list(there)}."


def moment_text(moment: SkillMoment) -> str:
    """Return the current state as text: furniture, what the players hold, and the pots.

    If the players can only work together over counters, the text does not say what the partner holds. It
    describes the shared counters instead.
    """
    lines = [furniture_text(moment), f"{player_name(moment.seat)} holds {_held(moment.held)}."]
    if moment.is_parted:
        lines += _counters(moment)
    else:
        lines.append(f"{player_name(1 - moment.seat)} holds {_held(moment.scene.hands[1 - moment.seat])}.")
    return "\n".join([*lines, *_pots(moment)])


def _held(held: Item | None) -> str:
    return f"{held_thing(held)} and needs to deliver it" if isinstance(held, tuple) else held_thing(held)


def _counters(moment: SkillMoment) -> Iterator[str]:
    cells = moment.shared(moment.layout.places(COUNTER))
    lying = [moment.scene.counters.get(cell) for cell in cells]
    soups = sum(isinstance(each, tuple) for each in lying)
    counts = [f"{lying.count(what)} with {held_thing(what)}" for what in (*moment.layout.food, DISH)]
    yield (
        f"{player_name(moment.seat)} can reach {counted_noun(len(cells), 'counter')} that both can reach: "
        f"{', '.join(counts)}, {soups} with a soup."
    )


def _pots(moment: SkillMoment) -> Iterator[str]:
    for number, cell in enumerate(moment.layout.places(POT)):
        pot = moment.scene.pots.get(cell)
        yield f"Pot {number} {_pot(pot) if pot else 'is empty'}."


def _pot(pot: SeenPot) -> str:
    plural = {food: f"{food}es" if food.endswith("o") else f"{food}s" for food in pot.contents}
    has = and_list([counted_noun(pot.contents.count(food), food, many) for food, many in plural.items()])
    if pot.left is None:
        return f"has {has}"
    if pot.left:
        return f"cooks {has}, ready after {counted_noun(pot.left, 'tick')}"
    return f"has a soup of {has} that is ready"


USUAL_STYLES: Mapping[str, PlayStyle] = {
    "cramped_room": PlayStyle(NEVER, EARLY),
    "asymmetric_advantages": PlayStyle(FREELY, READY),
    "coordination_ring": PlayStyle(FREELY, READY),
    "forced_coordination": PlayStyle(ONCE, READY),
    "counter_circuit": PlayStyle(NEVER, READY),
}
"""Play style of each layout, as the published prompts differ."""
TOMATO = "_tomato"


def usual_style(moment: SkillMoment) -> PlayStyle:
    """Return the play style for this layout: how waiting is offered, and when dishes are fetched. It is the
    style of ProAgent's published prompt, if there is one.

    A layout with tomatoes has the style of the layout without tomatoes. Other layouts get a style that
    allows waiting.
    """
    known = USUAL_STYLES.get(moment.layout.code.removesuffix(TOMATO))
    return known or PlayStyle(ONCE if moment.is_parted else FREELY, READY)


def game_description(moment: SkillMoment, brief: Mapping[str, Json], manner: PlayStyle) -> GameDescription:
    """Return the description of the game for one seat: role, rules, orders, skills, remarks and examples."""
    return GameDescription(
        role=_role(moment),
        rules=tuple(_rules(moment, brief)),
        making=tuple(_orders(brief)),
        skills=tuple(_skills(moment)),
        remarks=tuple(_remarks(moment, manner)),
        examples=tuple(_examples(moment, manner)),
        game="Two players cook soups in a small kitchen.",
    )


def _role(moment: SkillMoment) -> str:
    me, other = player_name(moment.seat), player_name(1 - moment.seat)
    return (
        f"You are {me} and cook soups in a small kitchen beside {other}. You do not know how {other} plays, "
        "and you cannot talk to each other. Think of what the other one is about to do, and do what fits."
    )


def _rules(moment: SkillMoment, brief: Mapping[str, Json]) -> Iterator[str]:
    yield f"The game lasts {brief['ticks']} ticks. Points are for both together, by the soups served."
    yield "A player holds one thing at most. Things can be put down on free counters only."
    if moment.scene.starts_itself:
        yield f"A pot takes {POT_CAPACITY} ingredients, and cooks by itself as soon as it has them."
    else:
        yield (
            f"A pot takes up to {POT_CAPACITY} ingredients; it cooks when somebody with empty hands "
            f"starts it."
        )
    yield "A pot that cooks, or is ready, takes nothing more. A ready soup is filled into a dish, and served."


def _orders(brief: Mapping[str, Json]) -> Iterator[str]:
    for order in brief["orders"]:
        twice = ", a bonus counted" if order["bonus"] else ""
        yield (
            f"- A soup of {and_list(order['ingredients'])} is ordered: {order['points']} points{twice}; "
            f"it cooks for {counted_noun(order['ticks'], 'tick')}."
        )
    yield "Any other soup is worth nothing."


def _skills(moment: SkillMoment) -> Iterator[tuple[Skill, str]]:
    for each in (*moment.layout.food, DISH):
        if moment.pots() or moment.sources(each):
            yield (PICKUP, each), f"needs empty hands; done when {held_thing(each)} is in hand."
    if moment.pots():
        for food in moment.layout.food:
            needs = f"needs {held_thing(food)} in hand and a pot that is neither full nor started"
            yield (PUT_VERBS[food],), f"{needs}; done when the hands are empty."
    yield (PLACE,), "needs something in hand and a free counter; done when the hands are empty."
    if moment.pots():
        yield (FILL,), "needs a dish in hand and a pot that cooks or is ready; done when a soup is in hand."
        if not moment.scene.starts_itself:
            yield (START,), "needs empty hands and a pot with an order in it; done when the pot is started."
    if moment.serving():
        yield (DELIVER,), "needs a soup in hand; done when it is served."


def _remarks(moment: SkillMoment, manner: PlayStyle) -> Iterator[str]:
    when = "as soon as a soup cooks" if manner.fetches == EARLY else "only when a soup is ready, or nearly"
    yield f"Fetch a dish {when}."
    if not moment.is_parted:
        return
    me, other = player_name(moment.seat), player_name(1 - moment.seat)
    if moment.pots():
        yield f"{me} can take things only from counters, where {other} lays them."
        yield f"{me} waits while nothing lies there."
    else:
        yield f"{me} reaches no pot: it brings onto counters what {other} needs."
        yield f"{me} does not fetch what lies on a counter already."


def _examples(moment: SkillMoment, manner: PlayStyle) -> Iterator[WorkedExample]:
    me, other, food = player_name(moment.seat), player_name(1 - moment.seat), moment.layout.food[0]
    if not moment.pots():
        yield from _of_bringer(me, food)
        return
    yield WorkedExample(
        f"{me} holds nothing. {other} holds {held_thing(food)}. Pot 0 is empty.",
        f"The pot needs {POT_CAPACITY} ingredients, and {other} brings one of them. I fetch another one.",
        (PUT_VERBS[food],),
        (PICKUP, food),
    )
    left = "cooks, ready after 12 ticks" if manner.fetches == EARLY else "has a soup that is ready"
    yield WorkedExample(
        f"{me} holds nothing. {other} holds {held_thing(food)}. Pot 0 {left}.",
        f"Nobody has a dish for the soup in pot 0. {other} has to put down what it holds; I fetch one.",
        (PLACE,),
        (PICKUP, DISH),
    )
    yield WorkedExample(
        f"{me} holds a dish. {other} holds nothing. Pot 0 cooks, ready after 2 ticks.",
        "The soup will be ready when I am there.",
        (PICKUP, food),
        (FILL,),
    )
    yield WorkedExample(
        f"{me} holds a soup and needs to deliver it. {other} holds nothing. Pot 0 is empty.",
        f"What counts is serving. {other} can begin the next soup.",
        (PICKUP, food),
        (DELIVER,),
    )


def _of_bringer(me: str, food: str) -> Iterator[WorkedExample]:
    yield WorkedExample(
        f"{me} holds nothing. 3 counters that both can reach: 0 with {held_thing(food)}, 0 with a dish.",
        f"The other one has nothing to cook with. I fetch {held_thing(food)}.",
        wait_skill(3),
        (PICKUP, food),
    )
    yield WorkedExample(
        f"{me} holds {held_thing(food)}. 3 counters that both can reach: 1 with {held_thing(food)}, 0 "
        f"with a dish.",
        "I lay it where the other one can take it.",
        (PICKUP, food),
        (PLACE,),
    )
