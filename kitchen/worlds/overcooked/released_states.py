"""Write states of the grids as Overcooked-AI does, and find the first difference between two such states.

Source of the form: HumanCompatibleAI/overcooked_ai 739950a0, `OvercookedState.to_dict`. Files of 2019 have
an older form, in which a soup has `state` (ingredient, number, ticks); it is read, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kitchen.contract.world import Json
from kitchen.worlds.overcooked.layout import DIRECTIONS, FLOOR, STARTS, Cell, Layout, Soup
from kitchen.worlds.overcooked.world import Overcooked

IDLE_TICK = -1
"""`cooking_tick` of a soup that was not started."""
FACES: Mapping[Cell, str] = {vector: face for face, vector in DIRECTIONS.items()}


def terrain_of(layout: Layout) -> list[str]:
    """Return the rows of a layout without the cells on which cooks start."""
    hidden = str.maketrans(STARTS, FLOOR * len(STARTS))
    return [row.translate(hidden) for row in layout.rows]


def orders_of(layout: Layout, *, bonus: bool = False) -> list[Json]:
    """Return the orders of a layout; with `bonus`, only those that count twice."""
    return [{"ingredients": list(soup)} for soup in layout.orders if not bonus or soup in layout.bonus]


def released_state(world: Overcooked) -> dict[str, Json]:
    """Return the world's present state as `OvercookedState.to_dict` gives it."""
    seen, layout = world.observe(0), world.layout
    pots = [_soup(layout, pot["at"], pot["contents"], pot["left"]) for pot in seen["pots"] if pot["contents"]]
    counters = [_thing(layout, each["at"], each["thing"]) for each in seen["counters"]]
    return {
        "players": [
            {
                "position": list(player["at"]),
                "orientation": list(DIRECTIONS[player["face"]]),
                "held_object": None
                if player["holds"] is None
                else _thing(layout, player["at"], player["holds"]),
            }
            for player in seen["players"]
        ],
        "objects": [*pots, *counters],
        "bonus_orders": orders_of(layout, bonus=True),
        "all_orders": orders_of(layout),
        "timestep": world.clock,
    }


def _thing(layout: Layout, at: Sequence[int], thing: Json) -> dict[str, Json]:
    if isinstance(thing, str):
        return {"name": thing, "position": list(at)}
    return _soup(layout, at, thing[1], 0)


def _soup(layout: Layout, at: Sequence[int], contents: Sequence[str], left: int | None) -> dict[str, Json]:
    time = layout.ticks(tuple(contents))
    tick = IDLE_TICK if left is None else time - left
    return {
        "name": "soup",
        "position": list(at),
        "_ingredients": [{"name": each, "position": list(at)} for each in contents],
        "cooking_tick": tick,
        "is_cooking": left is not None and left > 0,
        "is_ready": left == 0,
        "is_idle": left is None,
        "cook_time": IDLE_TICK if left is None else time,
        "_cooking_tick": tick,
    }


class SeenSoup(NamedTuple):
    """A soup, and how long it has cooked: None if it was not started."""

    contents: Soup
    tick: int | None


Thing = str | SeenSoup


class SeenState(NamedTuple):
    """A state as far as two states are compared."""

    at: Sequence[Cell]
    face: Sequence[str]
    holds: Sequence[Thing | None]
    objects: Mapping[Cell, Thing]


def seen_state(state: Mapping[str, Any], layout: Layout) -> SeenState:
    """Return what a state of a file says. Raises ValueError, KeyError or TypeError if it has another form.

    Ticks after a soup is ready do not count, and those of soups outside a pot do not either.
    """
    players = state["players"]
    if not isinstance(players, list) or len(players) != 2:
        raise ValueError("it does not have two players")
    found = state["objects"]
    objects = [_read(each, layout) for each in (found.values() if isinstance(found, dict) else found)]
    if len({at for at, _ in objects}) != len(objects):
        raise ValueError("two things are at one place")
    held = [player.get("held_object") for player in players]
    return SeenState(
        at=[_cell(player["position"]) for player in players],
        face=[FACES[_cell(player["orientation"])] for player in players],
        holds=[None if each is None else _ready(_read(each, layout)[1], layout) for each in held],
        objects={at: thing if at in layout.places("P") else _ready(thing, layout) for at, thing in objects},
    )


def _cell(value: Any) -> Cell:
    x, y = value
    if not all(isinstance(each, int) and not isinstance(each, bool) for each in (x, y)):
        raise ValueError(f"{value!r} is no cell")
    return x, y


def _read(thing: Mapping[str, Any], layout: Layout) -> tuple[Cell, Thing]:
    at, name = _cell(thing["position"]), str(thing["name"])
    if name != "soup":
        return at, name
    if "state" in thing:
        food, number, tick = thing["state"]
        contents = (str(food),) * int(number)
        return at, _counted(contents, int(tick) if number == 3 else None, layout)
    contents = tuple(sorted(str(each["name"]) for each in thing["_ingredients"]))
    tick = int(thing["cooking_tick"] if "cooking_tick" in thing else thing["_cooking_tick"])
    return at, _counted(contents, None if tick < 0 else tick, layout)


def _counted(contents: Soup, tick: int | None, layout: Layout) -> SeenSoup:
    known = set(contents) <= {"onion", "tomato"} and 1 <= len(contents) <= 3
    if not known:
        raise ValueError(f"{' '.join(contents)[:40]!r} is no soup")
    try:
        return SeenSoup(contents, None if tick is None else min(tick, layout.ticks(contents)))
    except KeyError as error:
        raise ValueError(f"the layout has no time for {error}") from None


def _ready(thing: Thing, layout: Layout) -> Thing:
    return SeenSoup(thing.contents, layout.ticks(thing.contents)) if isinstance(thing, SeenSoup) else thing


def first_difference(theirs: SeenState, ours: SeenState) -> str:
    """Return the first difference of a file's state from ours as words; empty if there is none."""
    return next(_differences(theirs, ours), "")


def _differences(theirs: SeenState, ours: SeenState) -> Iterator[str]:
    for seat in (0, 1):
        pairs = (
            ("stands at", str(theirs.at[seat]), str(ours.at[seat])),
            ("faces", theirs.face[seat], ours.face[seat]),
            ("holds", _words(theirs.holds[seat]), _words(ours.holds[seat])),
        )
        for what, in_file, here in pairs:
            if in_file != here:
                yield f"player {seat} {what} {in_file} in the file, and {here} here"
    for at in sorted(theirs.objects.keys() | ours.objects.keys()):
        one, other = theirs.objects.get(at), ours.objects.get(at)
        if one != other:
            yield f"at {at} is {_words(one)} in the file, and {_words(other)} here"


def _words(thing: Thing | None) -> str:
    if thing is None:
        return "nothing"
    if isinstance(thing, str):
        return thing
    soup = f"a soup of {' '.join(thing.contents)}"
    return f"{soup}, not started" if thing.tick is None else f"{soup}, count {thing.tick}"
