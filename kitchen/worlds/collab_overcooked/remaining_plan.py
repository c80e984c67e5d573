"""Find the commands that are still needed to deliver the order from the present state of the kitchen.

The module tries the commands of a known good sequence on a copy of the kitchen. It returns the shortest end
of the sequence that still works. If none works, it first adds commands that clear wrong things away. So a
cook can recover from mistakes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, combinations, permutations
from typing import NamedTuple, TypeVar

from kitchen.contract.world import Command
from kitchen.worlds.collab_overcooked.food_rules import UTENSILS, base_food
from kitchen.worlds.collab_overcooked.macro_checks import (
    DELIVER,
    FILL,
    PICKUP,
    PLACE,
    PUT,
    STARTED_BY,
    KitchenThings,
    refusal_code,
    with_dish,
)
from kitchen.worlds.collab_overcooked.reference_trajectories import Macros, ReferencePair
from kitchen.worlds.collab_overcooked.room_layout import (
    ASSISTANT,
    CHEF,
    COUNTER,
    OWN_UTENSILS,
)

Found = TypeVar("Found")


class RemainingPlan(NamedTuple):
    """The chef's macros that remain, and the units (things to bring) that the assistant still has to bring
    for them, in order."""

    chef: Macros
    units: tuple[Macros, ...]


def remaining_plan(
    things: KitchenThings, order: str, pair: ReferencePair, *, makes_room: bool = False
) -> RemainingPlan | None:
    """Return what remains of a reference pair (known good commands of both seats) until the order is
    delivered. None if nothing leads to the delivery.

    Each unit of the pair ends with a thing on a counter. With `makes_room`, the chef also uses things before
    it is their turn, and clears away things that are of no use where they lie.
    """

    def remaining_after(kitchen: KitchenThings) -> RemainingPlan | None:
        ends = _suffixes(pair.chef)
        if makes_room:
            ends = (way for end in ends for way in _with_early_use(kitchen, end))
        plans = (_joint_plan(_copied(kitchen), order, pair, end) for end in ends)
        return next((plan for plan in plans if plan), None)

    wanted = {macro[1] for macro in (*pair.chef, *pair.assistant) if macro[0] == PICKUP}
    useless = [thing for thing in _shared_things(things) if base_food(thing) not in wanted]
    if makes_room:
        taken = {
            macro[1] for macro in (*pair.chef, *pair.assistant) if (macro[0], macro[-1]) == (PICKUP, COUNTER)
        }
        useless = sorted(_shared_things(things), key=taken.__contains__)  # at last, even what is of use
    found = _after_clearing(things, CHEF, remaining_after, useless)
    return RemainingPlan((*found[0], *found[1].chef), found[1].units) if found else None


def remaining_unit(things: KitchenThings, unit: Macros) -> Macros | None:
    """Return the commands with which the assistant finishes a unit (bringing one thing), including
    commands that clear things away. None if the assistant cannot finish the unit now."""
    found = _after_clearing(things, ASSISTANT, lambda kitchen: _rest_of_unit(kitchen, unit))
    return (*found[0], *found[1]) if found else None


def _shared_things(things: KitchenThings) -> list[str]:
    lying = (things.counters[things.layout.counter_index[cell]] for cell in things.layout.shared)
    return [thing for thing in lying if thing is not None]


def _suffixes(macros: Macros) -> Iterator[Macros]:
    """Yield all ends of a sequence of macros, from the shortest to the longest."""
    return (macros[number:] for number in reversed(range(len(macros))))


def _with_early_use(things: KitchenThings, macros: Macros) -> Iterator[Macros]:
    """Yield the chef's macros without what is in its utensils already: as they are, then with each thing that
    goes into a utensil put there first."""
    left, movable, started = list[Macros](), list[Macros](), set[str]()
    inside = {name: list(each.contents) for name, each in things.utensils.items()}
    steps = iter(zip(macros, (*macros[1:], ("",)), strict=True))
    for macro, following in steps:
        if (macro[0], macro[-1], following[0]) != (PICKUP, COUNTER, PUT):
            left.append((macro,))
            started.add(macro[-1])
            continue
        next(steps, None)
        thing, name = macro[1], following[1]
        if name not in started and thing in inside[name]:
            inside[name].remove(thing)
            continue
        left.append((macro, following))
        movable += [left[-1]] if name not in started else []
    yield tuple(chain(*left))
    for block in movable:
        first = block[1:] if block[0][1] == things.hold[CHEF] else block
        yield (*first, *chain(*(one for one in left if one is not block)))


def _joint_plan(
    things: KitchenThings, order: str, pair: ReferencePair, macros: Macros
) -> RemainingPlan | None:
    """Try to carry out the chef's `macros` on the kitchen `things`. If the chef needs a thing that is not
    there, the assistant brings it. Return the plan for both, or None if this fails."""
    units: list[Macros] = []
    for macro in macros:
        is_missing = macro[0] == PICKUP and macro[-1] == COUNTER and _is_out_of_reach(things, macro[1])
        if is_missing and not (things.hold[CHEF] or _plan_delivery(things, macro[1], pair, units)):
            return None
        if macro[0] == DELIVER:
            is_right = things.hold[CHEF] == (with_dish(order) if things.needs_dish else order)
            return RemainingPlan(macros, tuple(units)) if is_right else None
        if not _carry_out(things, CHEF, macro):
            return None
    return None


def _is_out_of_reach(things: KitchenThings, thing: str) -> bool:
    return not things.lies_on(thing, things.layout.reached[CHEF])


def _plan_delivery(things: KitchenThings, thing: str, pair: ReferencePair, units: list[Macros]) -> bool:
    """Let the assistant carry out the unit that brings this thing, and add what remains of it to `units`.
    Return whether the thing then lies within the chef's reach."""
    unit = next((one for one in pair.units if one[-2][0] == PICKUP and one[-2][1] == thing), Macros())
    found = _after_clearing(things, ASSISTANT, lambda kitchen: _rest_of_unit(kitchen, unit))
    if not found:
        return False
    units.append(found[1])
    for macro in chain(*found):
        _carry_out(things, ASSISTANT, macro)
    return not _is_out_of_reach(things, thing)


def _rest_of_unit(things: KitchenThings, unit: Macros) -> Macros | None:
    """Return the shortest end of a unit that can be carried out in the present state. The hands must hold
    what they would hold after the part of the unit before it. Return None if no end can be carried out."""
    if len(unit) > 1 and unit[-2][0] == PICKUP and things.hold[ASSISTANT] is None:
        again: Macros = ((PICKUP, unit[-2][1], COUNTER), (PLACE,))  # it lies on a counter of its own
        if things.lies_on(unit[-2][1], things.layout.own[ASSISTANT]) and _can_carry_out(
            things, ASSISTANT, again
        ):
            return again
    for number in reversed(range(len(unit))):
        before = [macro for macro in unit[:number] if macro[0] not in STARTED_BY]
        held = before[-1][1] if before and before[-1][0] == PICKUP else None
        is_held = not before or things.hold[ASSISTANT] == held
        if is_held and _can_carry_out(things, ASSISTANT, unit[number:]):
            return unit[number:]
    return None


def _can_carry_out(things: KitchenThings, seat: int, macros: Macros) -> bool:
    kitchen = _copied(things)
    return all(_carry_out(kitchen, seat, macro) for macro in macros)


def _after_clearing(
    things: KitchenThings,
    seat: int,
    remaining_after: Callable[[KitchenThings], Found | None],
    useless: Sequence[str] = (),
) -> tuple[Macros, Found] | None:
    """Find the first way to clear things away after which the seat can do what remains of its task. Return
    the macros that clear, and what then remains. Return None if there is no such way."""
    for macros in _ways_to_clear(things, seat, useless):
        kitchen = _copied(things)
        is_cleared = all(_carry_out(kitchen, seat, macro, clears=True) for macro in macros)
        if is_cleared and (rest := remaining_after(kitchen)):
            return macros, rest
    return None


def _ways_to_clear(things: KitchenThings, seat: int, useless: Sequence[str]) -> Iterator[Macros]:
    """Yield ways to clear away: nothing, then the hands, then hands and utensils, then `useless` things on
    shared counters. What is held is put on a counter while two shared ones are free, or is destroyed."""
    own = filter(None, [_clear_utensil(things, name) for name in OWN_UTENSILS[seat]])
    utensils = [tuple(chain(*some)) for some in _subsets(list(own))]
    destroy: list[Macros] = [((PUT, name), _start_of(name)) for name in reversed(OWN_UTENSILS[seat])]
    hands: list[Macros] = [()]
    if things.hold[seat] is not None:
        is_room = len(things.free(things.layout.shared)) > 1
        cook = _ways_to_cook_away(things, seat, str(things.hold[seat])) if seat == CHEF else ()
        hands = [(), ((PLACE,),), *destroy] if is_room else [(), *destroy, *cook, ((PLACE,),)]
    yield from ((*hand, *way) for way in utensils for hand in hands)
    for thing in useless:
        ways_to_destroy = [*destroy, *_ways_to_cook_away(things, seat, thing)]
        yield from ((*hand, (PICKUP, thing, COUNTER), *way) for hand in hands for way in ways_to_destroy)


def _ways_to_cook_away(things: KitchenThings, seat: int, thing: str) -> Iterator[Macros]:
    """Yield how to destroy a thing of which one utensil makes something, and another one nothing then."""
    for name, other in permutations(OWN_UTENSILS[seat], 2):
        made = things.rules.product(name, [thing])
        if made:
            yield (PUT, name), _start_of(name), (PICKUP, made, name), (PUT, other), _start_of(other)


def _subsets(parts: Sequence[Macros]) -> Iterator[tuple[Macros, ...]]:
    return chain.from_iterable(combinations(parts, size) for size in range(len(parts) + 1))


def _start_of(name: str) -> Command:
    return next((verb, of) for verb, of in STARTED_BY.items() if of == name)


def _clear_utensil(things: KitchenThings, name: str) -> Macros:
    """Return the macros that empty a utensil. Return no macros if it is empty, or if its food needs a
    dish."""
    utensil = things.utensils[name]
    made = utensil.ready or things.rules.product(name, utensil.contents)
    start = (_start_of(name),) if utensil.contents and not utensil.ticks else ()
    if made is None:
        return start
    return () if made in things.rules.served_in_dish else (*start, (PICKUP, made, name), (PLACE,))


def _carry_out(things: KitchenThings, seat: int, macro: Command, *, clears: bool = False) -> bool:
    """Change the kitchen as this macro does, a job included; return False if it cannot begin. Unless it
    clears something away, it must not destroy food, and must leave things where both cooks reach them."""
    _finish_jobs(things)
    if refusal_code(things, seat, macro):
        return False
    verb, held = macro[0], things.hold[seat]
    if verb in STARTED_BY:
        utensil = things.utensils[macro[1]]
        utensil.ready, utensil.contents = things.rules.product(macro[1], utensil.contents), []
        return clears or utensil.ready is not None
    if verb == PUT:
        things.utensils[macro[1]].contents.append(base_food(str(held)))
    elif verb == PLACE:
        cells = things.free(things.layout.shared) or things.free(things.layout.own[seat] if clears else ())
        if not cells:
            return False
        things.counters[things.layout.counter_index[cells[0]]] = held
    things.hold[seat] = _taken(things, seat, macro) if verb in (PICKUP, FILL) else None
    return True


def _copied(things: KitchenThings) -> KitchenThings:
    utensils = {name: replace(each, contents=list(each.contents)) for name, each in things.utensils.items()}
    return replace(things, hold=list(things.hold), counters=list(things.counters), utensils=utensils)


def _finish_jobs(things: KitchenThings) -> None:
    for name, utensil in things.utensils.items():
        if utensil.ticks:
            utensil.ready, utensil.contents, utensil.ticks = (
                things.rules.product(name, utensil.contents),
                [],
                0,
            )


def _taken(things: KitchenThings, seat: int, macro: Command) -> str | None:
    """Remove the thing that a macro takes from its place. Return the thing, or None if it is not there."""
    verb, place = macro[0], macro[-1]
    if place == COUNTER:
        own, shared = (
            things.lies_on(macro[1], cells) for cells in (things.layout.own[seat], things.layout.shared)
        )
        number = things.layout.counter_index[(own or shared)[0]]
        taken, things.counters[number] = things.counters[number], None
        return taken
    if place in UTENSILS:
        product, things.utensils[place].ready = str(things.utensils[place].ready), None
        return with_dish(product) if verb == FILL else product
    return macro[1]
