"""Provide the skills (actions of several steps) of CuisineWorld to agents, and describe the game to them.

The skills are `serve`, `make`, `fetch` and `free`. Events show which skill a robot has finished. Taking an
item finishes `fetch`, and starting a tool finishes `make`. Putting a dish on the serving table finishes
`serve`, and emptying a tool finishes `free`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import ClassVar

from kitchen.contract.agent_skills import (
    FREELY,
    READY,
    GameDescription,
    PlayStyle,
    SeatObservation,
    Skill,
    SkillCondition,
    Skills,
    WorkedExample,
    wait_skill,
)
from kitchen.contract.world import Command, Event, Intent, Json
from kitchen.words.english_text import and_list, counted_noun
from kitchen.worlds.cuisine.aim_pursuit import (
    FETCH,
    FREE,
    SeatPursuit,
    aim_mark,
    aim_status,
    next_command,
)
from kitchen.worlds.cuisine.dispatcher.command_check import agent_name
from kitchen.worlds.cuisine.order_jobs import MAKE, SERVE


def _serve(sight: SeatObservation, dish: str) -> Iterator[SkillCondition]:
    ordered = any(order["dish"] == dish for order in sight.seen["orders"])
    claim, why_not = f"{dish} is on the list of orders", f"nobody has ordered {dish}."
    yield SkillCondition("not_ordered", claim, why_not, ordered)


def _make(sight: SeatObservation, item: str) -> Iterator[SkillCondition]:
    places = sight.seen["locations"].values()
    made = any(place["items"] == [item] for place in places)
    claim, why_not = f"no tool has {item} in it", f"{item} is in a tool already; it can be fetched there."
    yield SkillCondition("made_already", claim, why_not, not made)


def _fetch(sight: SeatObservation, item: str) -> Iterator[SkillCondition]:
    yield _hands(sight)
    lies = any(item in place["items"] for place in sight.seen["locations"].values())
    there = item not in sight.brief["recipes"] or lies
    claim = f"{item} is in the storage or lies somewhere"
    yield SkillCondition("not_there", claim, f"there is no {item} yet; it has to be made first.", there)


def _free(sight: SeatObservation, place: str) -> Iterator[SkillCondition]:
    yield _hands(sight)
    there = sight.seen["locations"][place]
    yield SkillCondition("is_empty", f"something lies in {place}", f"{place} is empty.", bool(there["items"]))
    at_work = f"{place} is at work for {there['busy']} more steps."
    yield SkillCondition("is_busy", f"{place} is not at work", at_work, not there["busy"])


def _hands(sight: SeatObservation) -> SkillCondition:
    me, held = agent_name(sight.seat), sight.seen["agents"][sight.seat]["holds"]
    return SkillCondition("hands_full", f"{me} holds nothing", f"{me} holds {held}.", held is None)


_OF = {SERVE: _serve, MAKE: _make, FETCH: _fetch, FREE: _free}

Brief = Mapping[str, Json]


def game_description(brief: Brief, seat: int, seats: int) -> GameDescription:
    """Return the description of the game for the agent in this seat: role, rules, recipes, skills and
    examples."""
    return GameDescription(
        role=_role(seat, seats),
        rules=tuple(_rules(brief)),
        making=tuple(_recipe(brief, item) for item in brief["recipes"]),
        skills=SKILL_TEXTS,
        examples=tuple(_examples(brief, seat)),
        game="Robots work in a kitchen that serves ordered dishes.",
    )


def _role(seat: int, seats: int) -> str:
    others = and_list([agent_name(each) for each in range(seats) if each != seat])
    beside = f" beside {others}, whose way of playing you do not know and with whom you cannot talk"
    return (
        f"You are {agent_name(seat)}, a robot in a kitchen that serves ordered dishes. "
        f"You work{beside if others else ''}. "
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


SKILL_TEXTS: tuple[tuple[Skill, str], ...] = (
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


def _examples(brief: Brief, seat: int) -> Iterator[WorkedExample]:
    dish = next((each for each in brief["dishes"] if each not in brief["uncookable"]), None)
    if dish is None:
        return
    me, other = agent_name(seat), agent_name(0 if seat else 1)
    part = brief["recipes"][dish]["ingredients"][0]
    yield WorkedExample(
        f"Orders: {dish}, 12 steps left.\n{me} holds nothing.\n{other} holds {part}.",
        f"Only {dish} is ordered. {other} brings {part} already; two are sooner done than one.",
        (MAKE, dish),
        (SERVE, dish),
    )
    yield WorkedExample(
        f"Orders: none now.\n{me} holds nothing.\n{other} holds {dish}.",
        f"Nothing is ordered, and {other} holds {dish} for the next order.",
        (SERVE, dish),
        wait_skill(2),
    )


def _orders_and_robots(seen: Mapping[str, Json]) -> Iterator[str]:
    orders = [f"{order['dish']}, {counted_noun(order['life'], 'step')} left" for order in seen["orders"]]
    yield f"Orders: {'; '.join(orders) or 'none now'}."
    left = counted_noun(seen["max_steps"] - seen["step"], "step")
    yield f"Served so far: {seen['completed']}; lost: {seen['failed']}; {left} to play."

    for seat, robot in enumerate(seen["agents"]):
        busy = f", and is busy for {counted_noun(robot['busy'], 'step')}" if robot["busy"] else ""
        yield f"{agent_name(seat)} is at {robot['at']} and holds {robot['holds'] or 'nothing'}{busy}."


def _places(brief: Brief, seen: Mapping[str, Json]) -> Iterator[str]:
    for id, place in seen["locations"].items():
        if brief["locations"][id] != "storage":
            busy = f", at work for {counted_noun(place['busy'], 'step')}" if place["busy"] else ""
            yield f"{id}: {and_list(place['items']) or 'empty'}{busy}."


STORAGE, SERVING = "storage", "servingtable"
SKILL_VERBS: Mapping[str, str] = {
    **dict.fromkeys(("serve", "deliver"), SERVE),
    **dict.fromkeys(("make", "cook", "prepare"), MAKE),
    **dict.fromkeys(("fetch", "get", "take", "pick", "pickup", "bring"), FETCH),
    **dict.fromkeys(("free", "clear", "empty"), FREE),
}
"""Skill verbs as models write them."""
MAX_SKILL_WORDS = 7
"""Number of words after a verb in which its object is searched for."""


class CuisineSkills(Skills):
    """The skills of CuisineWorld: a robot can plan every aim that others can ask it to reach."""

    max_steps: ClassVar[int] = 30

    def seats(self, sight: SeatObservation) -> Sequence[int]:
        """Return the seats of all robots."""
        return range(len(sight.seen["agents"]))

    def named(self, seat: int) -> str:
        """Return the name of a seat in prompts, such as `agent0`."""
        return agent_name(seat)

    def manner(self, sight: SeatObservation) -> PlayStyle:
        """Return the usual style of play in this world: an agent may wait for any number of steps, and
        fetches an item only when it is needed at once."""
        return PlayStyle(FREELY, READY)

    def primer(self, sight: SeatObservation, manner: PlayStyle) -> GameDescription:
        """Return the description of the game in this level for the agent's seat."""
        return game_description(sight.brief, sight.seat, len(sight.seen["agents"]))

    def scene(self, sight: SeatObservation) -> str:
        """Return the current state as text: the orders, what each robot holds, and what is in each place."""
        return "\n".join([*_orders_and_robots(sight.seen), *_places(sight.brief, sight.seen)])

    def offered(self, sight: SeatObservation, other: int) -> Sequence[Skill]:
        """Return all aims of the level as skills. They are the same for every seat."""
        return list(aims_in_brief(sight.brief))

    def meant(self, written: Sequence[str], sight: SeatObservation) -> Skill | None:
        """Return the skill that a model's words (`written`) name: a verb, and the first fitting item or place
        after the verb.

        Return None if they name no skill of this level.
        """
        verb = SKILL_VERBS.get(written[0].lower())
        if verb is None:
            return None
        known = {what.lower(): what for kind, what in aims_in_brief(sight.brief) if kind == verb}
        words = [word.lower() for word in written[1 : 1 + MAX_SKILL_WORDS]]
        spans = ((at, at + length) for at in range(len(words)) for length in (3, 2, 1))
        found = (known.get("".join(words[begin:end])) for begin, end in spans)
        return next(((verb, what) for what in found if what), None)

    def conditions(self, sight: SeatObservation, skill: Skill) -> Sequence[SkillCondition]:
        """Return the conditions that must hold for this skill, in the order in which they are checked."""
        kind, what = skill
        return list(_OF[kind](sight, what))

    def mark(self, sight: SeatObservation, skill: Skill) -> Json:
        """Return how often the dish of a `serve` skill was served so far; None for other skills. `status`
        needs this value later."""
        return aim_mark(sight.seen, skill)

    def status(self, sight: SeatObservation, skill: Skill, since: Json) -> str:
        """Return SUCCESS if the skill is finished, no matter which robot did the work. Return FAIL if the
        item to fetch exists nowhere, else UNKNOWN.

        `since` is what `mark` returned when the skill began.
        """
        return aim_status(sight.seen, sight.brief, sight.seat, skill, since)

    def finished(self, sight: SeatObservation, other: int) -> Sequence[Skill]:
        """Return the skills that the seat `other` finished in the last step. They are found from the
        seat's command and its held item."""
        return [done for event in sight.events for done in _done(sight, other, event)]

    def agrees(self, sight: SeatObservation, foreseen: Skill, done: Skill) -> bool | None:
        """Return whether the finished skill `done` fulfils the prediction `foreseen`.

        Return None if this is undecided: `done` only made or moved an ingredient of the predicted item, or
        only emptied a tool.
        """
        if foreseen == done:
            return True
        (kind, what), (did, item) = foreseen, done
        on_the_way = kind != FREE and item in parts_of_item(sight.brief, what)
        return None if on_the_way or (did == FREE and kind != FREE) else False

    def command(self, sight: SeatObservation, skill: Skill, chance: Random) -> Command | None:
        """Return the next command that carries out the skill; None if no such command is legal now."""
        way = SeatPursuit(sight.brief, sight.seen["locations"], sight.seen["agents"][sight.seat])
        command = next_command(way, *skill)
        return command if command in sight.legal else None

    def rule(self, sight: SeatObservation, other: int, manner: PlayStyle) -> Skill:
        """Return the skill that fixed rules choose for the seat `other`. A seat that holds an ordered dish
        serves it.

        Otherwise seat number n serves the order at index n, in order of urgency. Seats without an order wait.
        """
        ordered = [order["dish"] for order in sorted(sight.seen["orders"], key=lambda one: one["life"])]
        held = sight.seen["agents"][other]["holds"]
        if held in ordered:
            return (SERVE, held)
        possible = [dish for dish in ordered if dish not in sight.brief["uncookable"]]
        return (SERVE, possible[other]) if other < len(possible) else wait_skill()

    def intent(self, skill: Skill) -> Intent:
        """Return the skill as an intent for participants' pages, in the codes of
        `kitchen.worlds.cuisine.activity_text`."""
        kind, what = skill if len(skill) == 2 else (skill[0], "")
        if kind == FREE:
            return {"do": FREE, "to": what}
        return {"do": kind, "item": what} if kind in (SERVE, MAKE, FETCH) else {"do": "wait"}


def aims_in_brief(brief: Mapping[str, Json]) -> Iterator[Skill]:
    """Yield all aims that are possible in a kitchen with this brief (its unchanging facts), in the order of
    `World.aims`."""
    recipes, tools = brief["recipes"], set(brief["locations"].values())
    needed = {item: [part for part in parts_of_item(brief, item) if part in recipes] for item in recipes}
    made = [item for item in recipes if all(recipes[part]["tool"] in tools for part in needed[item])]
    yield from ((SERVE, dish) for dish in brief["dishes"] if dish in made)
    yield from ((MAKE, item) for item in made)
    yield from ((FETCH, item) for item in [*brief["base"], *made])
    yield from ((FREE, id) for id, kind in brief["locations"].items() if kind not in (STORAGE, SERVING))


def parts_of_item(brief: Mapping[str, Json], item: str) -> set[str]:
    """Return the item, its ingredients, their ingredients, and so on."""
    parts = brief["recipes"][item]["ingredients"] if item in brief["recipes"] else ()
    return {item}.union(*(parts_of_item(brief, part) for part in parts))


def _done(sight: SeatObservation, other: int, event: Event) -> Iterator[Skill]:
    if event.kind != "performed" or event.seat != other or "item" not in event.data:
        return
    verb, place, *_ = event.data["command"]
    item, kind = event.data["item"], sight.brief["locations"][place]
    if verb == "get":
        if kind not in (STORAGE, SERVING) and not sight.seen["locations"][place]["items"]:
            yield FREE, place
        yield FETCH, item
    elif verb == "activate":
        yield MAKE, item
    elif kind == SERVING and item in sight.brief["dishes"]:
        yield SERVE, item


SKILLS = CuisineSkills()
