"""Check whether a macro (a command that lasts several steps) can begin, and list all macros that can.

The checks run in a fixed order. The first check that fails gives the refusal code. The docstring of
`kitchen.worlds.collab_overcooked` lists the codes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from kitchen.contract.world import Command, Json
from kitchen.worlds.collab_overcooked.food_rules import (
    BLENDER,
    BOARD,
    CAPACITY,
    DISH,
    IN_DISH,
    JOB_STEPS,
    OVEN,
    POT,
    UTENSILS,
    FoodRules,
    base_food,
    food_rules,
)
from kitchen.worlds.collab_overcooked.room_layout import (
    CHEF,
    COUNTER,
    DISHES,
    DISPENSERS,
    INGREDIENTS,
    LAYOUTS,
    OWN_PLACES,
    OWN_UTENSILS,
    RELEASED,
    Layout,
    layout_of,
)

GO_ON: Command = ("go_on",)
PICKUP, PUT, PLACE, FILL, DELIVER, WAIT = (
    "pickup",
    "put_obj_in_utensil",
    "place_obj_on_counter",
    "fill_dish_with_food",
    "deliver",
    "wait",
)
WAIT_ONE: Command = (WAIT, "1")
STARTED_BY: Mapping[str, str] = {"cook": POT, "bake": OVEN, "cut": BOARD, "stir": BLENDER}
"""The utensil that each verb starts."""
ARGUMENT_COUNTS: Mapping[str, int] = {
    PICKUP: 2,
    PUT: 1,
    **dict.fromkeys(STARTED_BY, 1),
    PLACE: 0,
    FILL: 1,
    DELIVER: 0,
    WAIT: 1,
}
LONGEST_WAIT = 5
OTHER_COOK = "other_cook"
"""Code of `never_code` for a verb that only the other cook has."""
PICKUP_PLACES = frozenset((COUNTER, *UTENSILS, *DISPENSERS))


@dataclass(slots=True)
class Utensil:
    """The contents of a utensil, the steps of its running job (0: none), and its product if it is ready."""

    contents: list[str] = field(default_factory=list)
    ticks: int = 0
    ready: str | None = None


@dataclass(slots=True)
class KitchenThings:
    """The state that the checks need: what is in the hands, on the counters and in the utensils."""

    rules: FoodRules
    needs_dish: bool
    """True if the ordered food must be carried in a dish."""
    hold: list[str | None]
    counters: list[str | None]
    """The thing on each counter of `layout`."""
    utensils: dict[str, Utensil]
    layout: Layout = LAYOUTS[RELEASED]

    def lies_on(self, thing: str, cells: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the counters among `cells` that hold the thing, in a dish or not."""
        wanted, index = (thing, with_dish(thing)), self.layout.counter_index
        return [cell for cell in cells if self.counters[index[cell]] in wanted]

    def free(self, cells: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the counters among `cells` that are empty."""
        index = self.layout.counter_index
        return [cell for cell in cells if self.counters[index[cell]] is None]


def things_from_observation(observed: Mapping[str, Json], brief: Mapping[str, Json]) -> KitchenThings:
    """Return the hands, counters and utensils that an observation of the world shows. `brief` tells where
    they are, and whether the order is served in a dish."""
    layout = layout_of(brief)
    lying = {tuple(each["at"]): each["thing"] for each in observed["counters"]}
    utensils = {
        each["thing"]: Utensil(
            list(each["contents"]), JOB_STEPS - each["left"] if each["left"] is not None else 0, each["ready"]
        )
        for each in observed["utensils"]
    }
    hold = [player["holds"] for player in observed["players"]]
    counters = [lying.get(cell) for cell in layout.counters]
    return KitchenThings(food_rules(), brief["in_dish"], hold, counters, utensils, layout)


def refusal_code(things: KitchenThings, seat: int, macro: Command) -> str:
    """Return the code of the first check that the macro (a command that lasts several steps) fails; empty
    if it can begin now."""
    verb = macro[0] if macro else ""
    count = ARGUMENT_COUNTS.get(verb)
    if count is None:
        return "unknown_verb"
    if len(macro) != count + 1:
        return "wrong_arguments"
    return _CHECKS[verb](things, seat, macro)


def _pickup(things: KitchenThings, seat: int, macro: Command) -> str:
    _, thing, place = macro
    if thing not in things.rules.things:
        return "unknown_object"
    if place not in PICKUP_PLACES:
        return "unknown_place"
    if place in DISPENSERS:
        code = _dispensed(things, thing, place)
    elif place == COUNTER:
        code = "" if things.lies_on(thing, things.layout.counters) else "not_there"
    else:
        code = _product_code(things, thing, things.utensils[place])
    return code or _reach_code(things, seat, thing, place)


def _dispensed(things: KitchenThings, thing: str, place: str) -> str:
    if thing != DISH and thing not in things.rules.raw:
        return "not_raw"
    return "" if (thing == DISH) == (place == DISHES) else "wrong_dispenser"


def _product_code(things: KitchenThings, thing: str, utensil: Utensil) -> str:
    if utensil.ticks:
        return "utensil_busy"
    return "needs_dish" if utensil.ready == thing and thing in things.rules.served_in_dish else ""


def _reach_code(things: KitchenThings, seat: int, thing: str, place: str) -> str:
    if place not in OWN_PLACES[seat]:
        return "not_reachable"
    if place == COUNTER and not things.lies_on(thing, things.layout.reached[seat]):
        return "not_reachable"
    if things.hold[seat] is not None:
        return "hands_full"
    if place in UTENSILS and things.utensils[place].ready != thing:
        return "not_in_utensil"
    return ""


def _put(things: KitchenThings, seat: int, macro: Command) -> str:
    name = macro[1]
    if name not in UTENSILS:
        return "unknown_place"
    if name not in OWN_UTENSILS[seat]:
        return "not_reachable"
    utensil, held = things.utensils[name], things.hold[seat]
    if utensil.ticks:
        return "utensil_busy"
    if utensil.ready:
        return "utensil_ready"
    if held is None:
        return "hands_empty"
    if held == DISH or base_food(held) in things.rules.served_in_dish:
        return "dish_in_utensil"
    return "utensil_full" if len(utensil.contents) >= CAPACITY else ""


def _start(things: KitchenThings, seat: int, macro: Command) -> str:
    verb, name = macro
    if STARTED_BY[verb] != name:
        return "wrong_utensil"
    if name not in OWN_UTENSILS[seat]:
        return "not_reachable"
    utensil = things.utensils[name]
    if not utensil.contents and not utensil.ready:
        return "utensil_empty"
    if utensil.ticks or utensil.ready:
        return "utensil_busy"
    return "" if things.hold[seat] is None else "hands_full"


def _place(things: KitchenThings, seat: int, macro: Command) -> str:
    if things.hold[seat] is None:
        return "hands_empty"
    return "" if things.free(things.layout.reached[seat]) else "no_free_counter"


def _fill(things: KitchenThings, seat: int, macro: Command) -> str:
    name = macro[1]
    if name not in UTENSILS:
        return "unknown_place"
    if seat != CHEF or name not in OWN_UTENSILS[seat]:
        return "not_reachable"
    if not things.needs_dish:
        return "no_dish_needed"
    if things.hold[seat] != DISH:
        return "no_dish_in_hand"
    utensil = things.utensils[name]
    return "" if utensil.ticks or utensil.ready else "not_cooking"


def _deliver(things: KitchenThings, seat: int, macro: Command) -> str:
    held = things.hold[seat]
    if held is None:
        return "hands_empty"
    if seat != CHEF:
        return "not_reachable"
    return "" if base_food(held) in things.rules.products else "not_food"


def _wait(things: KitchenThings, seat: int, macro: Command) -> str:
    if not is_step_count(macro[1]):
        return "wrong_arguments"
    return "wait_too_long" if int(macro[1]) > LONGEST_WAIT else ""


def is_step_count(text: str) -> bool:
    """Return whether the text is a positive whole number with at most 9 digits and no leading zeros."""
    return text.isascii() and text.isdigit() and not text.startswith("0") and len(text) <= 9


_CHECKS: Mapping[str, Callable[[KitchenThings, int, Command], str]] = {
    PICKUP: _pickup,
    PUT: _put,
    **dict.fromkeys(STARTED_BY, _start),
    PLACE: _place,
    FILL: _fill,
    DELIVER: _deliver,
    WAIT: _wait,
}


def possible_macros(things: KitchenThings, seat: int) -> list[Command]:
    """Return every macro (a command that lasts several steps) that this seat can begin now, in a fixed
    order. Waiting is listed once, as `wait 1`."""
    return [macro for macro in _candidates(things, seat) if not refusal_code(things, seat, macro)]


def _candidates(things: KitchenThings, seat: int) -> Iterator[Command]:
    """Yield all macros that may be possible with the things that are now in the kitchen. Some of them may
    still fail a check."""
    if things.hold[seat] is None:
        lying = {base_food(each) for each in things.counters if each is not None}
        yield from ((PICKUP, thing, COUNTER) for thing in sorted(lying))
        for name in OWN_UTENSILS[seat]:
            ready = things.utensils[name].ready
            yield from [(PICKUP, ready, name)] if ready else []
        yield from ((verb, name) for verb, name in STARTED_BY.items() if name in OWN_UTENSILS[seat])
        if seat != CHEF:
            yield from ((PICKUP, thing, INGREDIENTS) for thing in things.rules.raw)
            yield (PICKUP, DISH, DISHES)
    else:
        yield from ((verb, name) for verb in (PUT, FILL) for name in OWN_UTENSILS[seat])
        yield (PLACE,)
        yield (DELIVER,)
    yield WAIT_ONE


def spelled(macros: Iterable[Sequence[str]]) -> str:
    """Return several commands as one text, in the form that models write: `pickup egg counter; deliver`."""
    return "; ".join(map(" ".join, macros))


def known_macros(rules: FoodRules, seat: int) -> list[Command]:
    """Return every macro (a command that lasts several steps) that this seat can carry out in some state
    of the game, except waits."""
    own = OWN_UTENSILS[seat]
    takes = [(PICKUP, thing, COUNTER) for thing in sorted(rules.things)]
    takes += [(PICKUP, made, name) for name in own for made in sorted(rules.made_in(name))]
    if seat != CHEF:
        takes += [(PICKUP, thing, INGREDIENTS) for thing in rules.raw]
        takes += [(PICKUP, DISH, DISHES)]
    starts = [(verb, name) for verb, name in STARTED_BY.items() if name in own]
    served = [*((FILL, name) for name in own), (DELIVER,)] if seat == CHEF else []
    return [*takes, *((PUT, name) for name in own), *starts, (PLACE,), *served]


def typed_forms(rules: FoodRules, seat: int, thing: str) -> tuple[str, ...]:
    """Return the forms in which the macros of this seat are typed, such as `pickup(thing, counter)`. `thing`
    stands for the name of any thing that can be taken."""
    forms: dict[str, None] = {}
    for verb, *words in (*known_macros(rules, seat), (WAIT, "3")):
        taken = [thing, *words[1:]] if verb == PICKUP and words[1] != DISHES else words
        forms[f"{verb}({', '.join(taken)})" if taken else verb] = None
    return tuple(forms)


def visible_things(observed: Mapping[str, Json], requested: Iterable[Command]) -> tuple[str, ...]:
    """Return the things on counters, in hands and in utensils, and the things that the macros `requested`
    pick up."""
    held = (player["holds"] for player in observed["players"])
    lying = (each["thing"] for each in observed["counters"])
    inside = (thing for each in observed["utensils"] for thing in (*each["contents"], each["ready"]))
    picked = (macro[1] for macro in requested if macro[0] == PICKUP and len(macro) > 1)
    return tuple(sorted({base_food(thing) for thing in (*held, *lying, *inside, *picked) if thing}))


def is_known_macro(rules: FoodRules, seat: int, macro: Command) -> bool:
    """Return whether the seat can carry out this macro in some state of the game: whether `known_macros`
    contains it."""
    if not macro or macro[0] == WAIT or len(macro) != ARGUMENT_COUNTS.get(macro[0], -1) + 1:
        return False
    verb, own = macro[0], OWN_UTENSILS[seat]
    if verb == PICKUP:
        return macro[1] in rules.things and macro[2] in OWN_PLACES[seat]
    if verb in STARTED_BY:
        return macro[1] == STARTED_BY[verb] and macro[1] in own
    if verb in (FILL, DELIVER) and seat != CHEF:
        return False
    return verb in (PLACE, DELIVER) or macro[1] in own


def never_code(rules: FoodRules, seat: int, macro: Command) -> str:
    """Return the code of the reason why this seat can never carry out this macro, whatever the state of
    the game. Empty if it sometimes can."""
    known = known_macros(rules, seat)
    if macro in known:
        return ""
    if macro[0] != WAIT and macro[0] in ARGUMENT_COUNTS.keys() - {each[0] for each in known}:
        return OTHER_COOK
    utensils = {name: Utensil() for name in UTENSILS}
    hands: list[str | None] = [None, None]
    counters: list[str | None] = [None] * len(LAYOUTS[RELEASED].counters)
    empty = KitchenThings(rules, True, hands, counters, utensils)
    return refusal_code(empty, seat, macro)


_BULLET = re.compile(r"^\s*(?:[-*+•‣\u2013\u2014]+[.)]*|\d+[.)]+)\s*")
REQUEST = "request"
"""First word of a macro that is meant for the teammate: `request(pickup(egg, counter))`."""


def read_macros(given: Json) -> list[Command]:
    """Return the commands in a text or list that a person or a model wrote.

    A text has one command on each line, or semicolons between them. A list has texts or lists of words.
    Bullets and punctuation are ignored: `1. pickup(egg, counter);` is `pickup egg counter`. Entries that
    cannot be read are left out. Missing parentheses are ignored too (see `unbalanced_entry`).
    """
    if isinstance(given, str):
        given = _entries(given)
    if not isinstance(given, list):
        return []
    return [words for words in map(_macro_words, given) if words]


def _entries(text: str) -> list[str]:
    return re.split(r"[;\n]", text)


def unbalanced_entry(text: str) -> str:
    """Return the first command of a text in which a parenthesis is missing, as it was written. Return an
    empty text if there is none."""
    written = (_BULLET.sub("", entry).strip() for entry in _entries(text))
    return next((entry for entry in written if not _is_balanced(entry)), "")


def _is_balanced(entry: str) -> bool:
    depths = [*accumulate((letter == "(") - (letter == ")") for letter in entry)]
    return not depths or (min(depths) >= 0 and depths[-1] == 0)


def _macro_words(each: Json) -> Command:
    if isinstance(each, list) and all(isinstance(word, str) for word in each):
        return tuple(each)
    if not isinstance(each, str):
        return ()
    return tuple(re.sub(r"[(),`\"'.;]", " ", _BULLET.sub("", each)).split())


def without_request(macro: Command) -> Command:
    """Return the command without a leading word `request`."""
    return macro[1:] if macro[:1] == (REQUEST,) else macro


def with_waits(macros: Sequence[Command]) -> list[Command]:
    """Return these commands as a plan. If a utensil is started and its product is picked up next, a wait
    is added between both commands. Without the wait, the plan would break while the utensil runs."""
    made: list[Command] = []
    for macro in macros:
        if made and made[-1][0] in STARTED_BY and macro[0] == PICKUP and macro[-1] == made[-1][-1]:
            made.append((WAIT, str(JOB_STEPS - 1)))
        made.append(macro)
    return made


def with_dish(food: str) -> str:
    """Return the name of this food when it is in a dish: `food` plus `IN_DISH`."""
    return f"{food}{IN_DISH}"
