"""The names of skills in the grids, what an interact has finished, and reading them as models write them.
Plain Python.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kitchen.contract.skills import Skill
from kitchen.contract.world import Event
from kitchen.worlds.overcooked.things import DISH, FILLED, FOOD, LAID, POTTED, SERVED, STARTED, TOOK

PICKUP, PLACE, FILL, DELIVER, START = (
    "pickup",
    "place_obj_on_counter",
    "fill_dish_with_soup",
    "deliver_soup",
    "start_cooking",
)
PUT: Mapping[str, str] = {food: f"put_{food}_in_pot" for food in sorted(FOOD)}
"""By what is put there."""
SOUP = "soup"
MOST_WORDS = 6
"""After a verb, in which what it is about is looked for."""


def done_by(event: Event) -> Skill | None:
    """What an event tells that its seat has finished; None for anything else."""
    if event.kind != "performed" or "did" not in event.data:
        return None
    thing = event.data["thing"] if isinstance(event.data["thing"], str) else SOUP
    return {
        TOOK: (PICKUP, thing),
        LAID: (PLACE,),
        POTTED: (PUT.get(thing, PLACE),),
        STARTED: (START,),
        FILLED: (FILL,),
        SERVED: (DELIVER,),
    }[event.data["did"]]


def meant(written: Sequence[str]) -> Skill | None:
    """A verb, and a thing after it where it needs one."""
    verb, *after = map(_singular, written[: 1 + MOST_WORDS])
    food = next((word for word in after if word in FOOD), "")
    if verb in ("put", "place", "add", "drop") and food and "pot" in after:
        return (PUT[food],)
    if verb in ("pickup", "pick", "grab", "get", "take", "fetch"):
        thing = next((word for word in after if word in FOOD or word == DISH), "")
        return (PICKUP, thing) if thing else None
    if verb == "put":
        return (PUT[food],) if food and "counter" not in after else (PLACE,) if after else None
    return _ALONE.get(verb)


def _singular(word: str) -> str:
    """`dish` of `Dishes`, `tomato` of `tomatoes`, and `fetch` of `fetches`."""
    without = word.lower().removesuffix("s")
    return without.removesuffix("e") if without.endswith(("toe", "she", "che")) else without


_ALONE: Mapping[str, Skill] = {
    "place": (PLACE,),
    "drop": (PLACE,),
    "fill": (FILL,),
    "deliver": (DELIVER,),
    "serve": (DELIVER,),
    "start": (START,),
    "cook": (START,),
}
