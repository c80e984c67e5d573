"""Choose players' next actions in the world `blocks_kitchen`, by fixed rules.

The players are those that one agent controls. They prepare the dishes of the open orders. They also prepare
stock: one each of the first two dishes that can be ordered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from kitchen.contract.agent import Situation
from kitchen.contract.world import Command, Json
from kitchen.worlds.blocks.kitchen_world import (
    CHEST,
    FURNACE,
    GO_ON,
    GOTO,
    KILL,
    LOG,
    MEAT,
    MINE,
    PUT_FUEL,
    PUT_IN_CHEST,
    PUT_ITEM,
    TAKE_OUT,
)

AHEAD = 2
"""Dishes that are prepared beyond the open orders."""
Wish = tuple[Command, ...]
"""An action, and the walk to where it works."""
ANIMAL_OF: Mapping[str, str] = {f"cooked_{meat}": animal for animal, meat in MEAT.items()}
NOTHING_GIVEN: Mapping[int, Command] = MappingProxyType({})
NOTHING_AVOIDED: Mapping[int, Collection[str]] = MappingProxyType({})


@dataclass(slots=True)
class Claims:
    """The work that the seats still have to divide among them: dishes that nobody makes yet, and fuel. One
    seat after another takes its share."""

    dishes: Counter[str] = field(default_factory=Counter)
    """Dishes that are wanted and that nobody makes yet."""
    fuel: int = 0
    """Logs in the furnace and in hands, less the pieces that they will cook."""
    takes_out: bool = False
    left: frozenset[str] = frozenset()
    """Raw items that people fetch, or that the seat in turn avoids."""


def _claims(seen: Mapping[str, Json], dishes: list[str]) -> Claims:
    furnace = seen["furnace"]
    wanted = Counter(order["dish"] for order in seen["orders"])
    for dish in dishes[:AHEAD]:
        wanted[dish] += 1
    raw, made = furnace["input"], furnace["output"]
    under_way = Counter({f"cooked_{raw[0]}": raw[1], made[0]: made[1]})
    logs, pieces = furnace["fuel"], raw[1]
    for player in seen["players"]:
        for item, amount in player["holds"].items():
            logs += amount if item == LOG else 0
            if item in MEAT.values():
                under_way[f"cooked_{item}"] += amount
                pieces += amount
            elif item in ANIMAL_OF:
                under_way[item] += amount
    return Claims(wanted - under_way, logs - pieces)


def kitchen_commands(
    situation: Situation,
    given: Mapping[int, Command] = NOTHING_GIVEN,
    left: Collection[str] = (),
    avoided: Mapping[int, Collection[str]] = NOTHING_AVOIDED,
) -> dict[int, Command]:
    """Return the next action of each of the agent's seats that needs one, by seat.

    Seats in `given` do what is given there, and the others count on it. Raw items in `left` are fetched by
    people: no seat fetches them. `avoided` has those that a seat does not fetch, by seat.
    """
    first = situation.seats[0]
    seen, brief = situation.observations[first], situation.briefs[first]
    claims = _claims(seen, brief["dishes"])
    for command in given.values():
        _claim(command, claims)
    asked = situation.seats if situation.request.asked is None else situation.request.asked
    commands = dict[int, Command]()
    for seat in asked:
        claims.left = frozenset(left) | frozenset(avoided.get(seat, ()))
        commands[seat] = given.get(seat) or _command(situation, seat, seen, claims)
    return commands


def _command(situation: Situation, seat: int, seen: Mapping[str, Json], claims: Claims) -> Command:
    legal = situation.legal[seat]
    for wish in _wishes(seen["players"][seat]["holds"], seen["furnace"], claims):
        doable = [command for command in wish if command in legal]
        if doable:
            _claim(doable[0], claims)
            return doable[0]
    return GO_ON


def _wishes(
    held: Mapping[str, int], furnace: Mapping[str, Json], claims: Claims
) -> list[tuple[Command, ...]]:
    """Return the useful actions of a seat, most urgent first. Each is a pair: the action, and the walk to
    the place where it is possible. `held` are the seat's items. `claims` has what other seats do."""
    to_furnace, to_chest = (GOTO, FURNACE), (GOTO, CHEST)
    dishes = [item for item in held if item in ANIMAL_OF]
    meats = [item for item in held if item in MEAT.values() and _fits(item, furnace)]
    wishes: list[Wish] = [((PUT_IN_CHEST, dish), to_chest) for dish in dishes]
    wishes += [((PUT_ITEM, meat), to_furnace) for meat in meats]
    if held.get(LOG) and furnace["fuel"] < furnace["input"][1] + AHEAD:
        wishes.append(((PUT_FUEL, LOG), to_furnace))
    if furnace["output"][1] and not claims.takes_out:
        wishes.append(((TAKE_OUT,), to_furnace))
    if claims.fuel < 0 and LOG not in held and LOG not in claims.left:
        wishes.append(((MINE, LOG), (GOTO, LOG)))
    wanted = [ANIMAL_OF[dish] for dish, count in claims.dishes.items() if count > 0]
    animals = [animal for animal in wanted if MEAT[animal] not in claims.left]
    return [*wishes, *(((KILL, animal), (GOTO, animal)) for animal in animals)]


def _fits(item: str, furnace: Mapping[str, Json]) -> bool:
    """Return whether the furnace can cook this meat next, without blocking the item that it holds now."""
    return furnace["input"][0] in (None, item)


def _claim(command: Command, claims: Claims) -> None:
    """Record what a seat is going to do, so that the next seat chooses another task."""
    verb, *things = command
    if verb == TAKE_OUT:
        claims.takes_out = True
    elif LOG in things:
        claims.fuel += 1
    elif verb in (KILL, GOTO) and things[0] in MEAT:
        claims.dishes[f"cooked_{MEAT[things[0]]}"] -= 1
        claims.fuel -= 1
