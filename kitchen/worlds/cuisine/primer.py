"""What an agent that thinks in skills is told of a CuisineWorld kitchen, in our own words. Plain Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kitchen.contract.skills import Example, Primer, Skill, wait
from kitchen.contract.world import Json
from kitchen.words.counting import and_list, counted
from kitchen.worlds.cuisine.aims import FETCH, FREE, MAKE, SERVE
from kitchen.worlds.cuisine.dispatcher.moment import agent_name

Brief = Mapping[str, Json]


def primer(brief: Brief, seat: int, seats: int) -> Primer:
    """All of it."""
    return Primer(
        role=_role(seat, seats),
        rules=tuple(_rules(brief)),
        making=tuple(_recipe(brief, item) for item in brief["recipes"]),
        skills=SKILLS_TOLD,
        examples=tuple(_examples(brief, seat)),
        game="Robots work in a kitchen that serves ordered dishes.",
    )


def _role(seat: int, seats: int) -> str:
    others = and_list([agent_name(each) for each in range(seats) if each != seat])
    beside = (
        f" beside {others}, whose way of playing you do not know and with whom you cannot talk"
        if others
        else ""
    )
    return (
        f"You are {agent_name(seat)}, a robot in a kitchen that serves ordered dishes. You work{beside}. "
        "Watch what the kitchen needs and what is being done already, and do what helps most."
    )


def _rules(brief: Brief) -> Iterator[str]:
    yield f"The game has {brief['max_steps']} steps; in each of them every robot does one thing."
    yield "Orders come in over time. An order that is not served before its steps run out is lost."
    yield "What counts is how many orders are served, and how few are lost."
    yield "A robot holds one item at most. Raw ingredients come from the storage and never run out."
    yield "A tool makes a product of exactly what its recipe needs; some tools need time for it."
    yield f"Raw ingredients here: {and_list(brief['base'])}."
    yield f"Places here: {and_list(list(brief['locations']))}."


def _recipe(brief: Brief, item: str) -> str:
    recipe = brief["recipes"][item]
    ordered = " It can be ordered." if item in brief["dishes"] else ""
    return f"- {item} is made of {and_list(recipe['ingredients'])} in a {recipe['tool']}.{ordered}"


SKILLS_TOLD: tuple[tuple[Skill, str], ...] = (
    (
        (SERVE, "dish"),
        "needs an order for that dish; make it, all its parts included, and bring it to the serving table; "
        "done when one more of it was served, by whomever.",
    ),
    (
        (MAKE, "item"),
        "needs that no tool has it already; bring its parts to a tool and start it; done when it is ready.",
    ),
    ((FETCH, "item"), "needs empty hands, and that it is there; done when it is in hand."),
    (
        (FREE, "place"),
        "needs empty hands and a tool with something in it that is not at work; done when it is empty.",
    ),
)


def _examples(brief: Brief, seat: int) -> Iterator[Example]:
    dish = next((each for each in brief["dishes"] if each not in brief["uncookable"]), None)
    if dish is None:
        return
    me, other = agent_name(seat), agent_name(0 if seat else 1)
    part = brief["recipes"][dish]["ingredients"][0]
    yield Example(
        f"Orders: {dish}, 12 steps left.\n{me} holds nothing.\n{other} holds {part}.",
        f"Only {dish} is ordered. {other} brings {part} already; two are sooner done than one.",
        (MAKE, dish),
        (SERVE, dish),
    )
    yield Example(
        f"Orders: none now.\n{me} holds nothing.\n{other} holds {dish}.",
        f"Nothing is ordered, and {other} holds {dish} for the next order.",
        (SERVE, dish),
        wait(2),
    )


def scene(brief: Brief, seen: Mapping[str, Json]) -> str:
    """Orders, what each robot holds, and what lies in each place."""
    return "\n".join([*_orders(seen), *_robots(seen), *_places(brief, seen)])


def _orders(seen: Mapping[str, Json]) -> Iterator[str]:
    told = [f"{order['dish']}, {counted(order['life'], 'step')} left" for order in seen["orders"]]
    yield f"Orders: {'; '.join(told) or 'none now'}."
    left = counted(seen["max_steps"] - seen["step"], "step")
    yield f"Served so far: {seen['completed']}; lost: {seen['failed']}; {left} to play."


def _robots(seen: Mapping[str, Json]) -> Iterator[str]:
    for seat, robot in enumerate(seen["agents"]):
        busy = f", and is busy for {counted(robot['busy'], 'step')}" if robot["busy"] else ""
        yield f"{agent_name(seat)} is at {robot['at']} and holds {robot['holds'] or 'nothing'}{busy}."


def _places(brief: Brief, seen: Mapping[str, Json]) -> Iterator[str]:
    for id, place in seen["locations"].items():
        if brief["locations"][id] != "storage":
            busy = f", at work for {counted(place['busy'], 'step')}" if place["busy"] else ""
            yield f"{id}: {and_list(place['items']) or 'empty'}{busy}."
