"""Name the skills of Overcooked, and recognise them in events and in texts by language models.

A skill is an action of several steps. In events, a skill counts when a cook has finished it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kitchen.contract.agent_skills import Skill
from kitchen.contract.world import Event
from kitchen.worlds.overcooked.game_rules import DISH, FILLED, FOOD, LAID, POTTED, SERVED, STARTED, TOOK

PICKUP, PLACE, FILL = "pickup", "place_obj_on_counter", "fill_dish_with_soup"
DELIVER, START = "deliver_soup", "start_cooking"
PUT_VERBS: Mapping[str, str] = {food: f"put_{food}_in_pot" for food in sorted(FOOD)}
"""The verb for putting each ingredient into a pot."""
SOUP = "soup"
MAX_SKILL_WORDS = 6
"""Number of words after a verb in which its object is searched for."""


def finished_skill(event: Event) -> Skill | None:
    """Return the skill that this event shows as finished; None if it shows none."""
    if event.kind != "performed" or "did" not in event.data:
        return None
    thing = event.data["thing"] if isinstance(event.data["thing"], str) else SOUP
    return {
        TOOK: (PICKUP, thing),
        LAID: (PLACE,),
        POTTED: (PUT_VERBS.get(thing, PLACE),),
        STARTED: (START,),
        FILLED: (FILL,),
        SERVED: (DELIVER,),
    }[event.data["did"]]


def match_skill(written: Sequence[str]) -> Skill | None:
    """Return the skill that these words name: a verb and, if needed, an object after the verb. None if
    they name no skill."""
    verb, *after = map(_singular, written[: 1 + MAX_SKILL_WORDS])
    food = next((word for word in after if word in FOOD), "")
    if verb in ("put", "place", "add", "drop") and food and "pot" in after:
        return (PUT_VERBS[food],)
    if verb in ("pickup", "pick", "grab", "get", "take", "fetch"):
        thing = next((word for word in after if word in FOOD or word == DISH), "")
        return (PICKUP, thing) if thing else None
    if verb == "put":
        return (PUT_VERBS[food],) if food and "counter" not in after else (PLACE,) if after else None
    return _ALONE.get(verb)


def _singular(word: str) -> str:
    """Return the singular: `dish` for `Dishes`, `tomato` for `tomatoes`, and `fetch` for `fetches`."""
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
