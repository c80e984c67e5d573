"""Name the facts and acts of the trees of the agent `written_policy`, and evaluate them in a state.

All of them are read from what a seat observes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from kitchen.contract.agent_skills import Skill
from kitchen.worlds.overcooked.game_rules import DISH, FOOD, Item
from kitchen.worlds.overcooked.layout import POT, SERVING, Cell
from kitchen.worlds.overcooked.partners.path_finding import UNREACHABLE, pose_graph_of
from kitchen.worlds.overcooked.skill_names import DELIVER, FILL, PICKUP, PLACE, PUT_VERBS, SOUP, START
from kitchen.worlds.overcooked.skill_snapshot import SkillMoment
from kitchen.worlds.overcooked.skills import skill_conditions
from kitchen.worlds.overcooked.written_policy.policy_tree import PolicyVocabulary

SOON_TICKS = 10
"""Ticks until a soup is ready from which on `pot soon` holds."""
MANY = 2
"""The number of things from which on the plural facts hold, such as `onions on counter`."""
FOODS = tuple(sorted(FOOD))
PLURALS: Mapping[str, str] = {"onion": "onions", "tomato": "tomatoes", DISH: "dishes"}
WAIT, ASIDE, PUT = "wait", "aside", "put"
Fact = Callable[[SkillMoment], bool]


def _name_of(held: Item | None) -> str:
    return "nothing" if held is None else held if isinstance(held, str) else SOUP


def _holds(what: str, mate: bool, moment: SkillMoment) -> bool:
    return _name_of(moment.scene.hands[1 - moment.seat if mate else moment.seat]) == what


def _pot_within(ticks: int, moment: SkillMoment) -> bool:
    return any(pot.left is not None and pot.left <= ticks for pot in moment.scene.pots.values())


def _pot_cooks(moment: SkillMoment) -> bool:
    return any(pot.left for pot in moment.scene.pots.values())


def _pot_open(moment: SkillMoment) -> bool:
    return bool(moment.open_pots())


def _food_needed(food: str, moment: SkillMoment) -> bool:
    return food in moment.missing()


def _dish_needed(moment: SkillMoment) -> bool:
    """Return whether more pots were started than the cooks hold dishes."""
    return sum(pot.left is not None for pot in moment.scene.pots.values()) > moment.scene.hands.count(DISH)


def _lie(thing: str, least: int, moment: SkillMoment) -> bool:
    lying = moment.scene.counters.items()
    return len(moment.reached(cell for cell, what in lying if _name_of(what) == thing)) >= least


def _places(moment: SkillMoment, what: str) -> list[Cell]:
    """Return the pots, the serving places, or the cells where a thing can be taken."""
    letters = {"pot": POT, "serving": SERVING}
    return list(moment.layout.places(letters[what])) if what in letters else moment.scene.sources(what)


def _reaches(what: str, moment: SkillMoment) -> bool:
    return bool(moment.reached(_places(moment, what)))


def _is_nearer(what: str, moment: SkillMoment) -> bool:
    """Return whether the seat needs fewer ticks to such a place than its partner. Seat 0 wins a draw."""
    mine, other = (_ticks_to(moment, what, seat) for seat in (moment.seat, 1 - moment.seat))
    return mine < UNREACHABLE and (mine, moment.seat) < (other, 1 - moment.seat)


def _ticks_to(moment: SkillMoment, what: str, seat: int) -> int:
    ground, scene = pose_graph_of(moment.layout), moment.scene
    pose = ground.pose(scene.at[seat], scene.face[seat])
    return min((ground.ways(cell)[pose] for cell in _places(moment, what)), default=UNREACHABLE)


def _all_facts() -> Iterator[tuple[str, Fact, str]]:
    """Yield (name, function, meaning) for each fact."""
    for held in ("nothing", *FOODS, DISH, SOUP):
        yield f"holding {held}", partial(_holds, held, False), f"your cook holds {held}"
    for held in ("nothing", *FOODS, DISH, SOUP):
        yield f"partner holding {held}", partial(_holds, held, True), f"the partner holds {held}"
    yield "pot ready", partial(_pot_within, 0), "a soup is ready in a pot"
    yield "pot soon", partial(_pot_within, SOON_TICKS), f"a soup is ready, or within {SOON_TICKS} ticks"
    yield "pot cooking", _pot_cooks, "a pot cooks and is not ready"
    yield "pot open", _pot_open, "your cook can reach a pot that is not started and has room"
    for food in FOODS:
        yield f"{food} needed", partial(_food_needed, food), f"pots lack {food}s that nobody holds yet"
    yield "dish needed", _dish_needed, "more pots are started than the cooks hold dishes"
    for thing in (*FOODS, DISH, SOUP):
        yield f"{thing} on counter", partial(_lie, thing, 1), f"a {thing} lies on a counter in reach"
    for thing, many in PLURALS.items():
        yield f"{many} on counter", partial(_lie, thing, MANY), f"at least {MANY} {many} lie there"
    for what in ("pot", "serving", *FOODS, DISH):
        yield f"reach {what}", partial(_reaches, what), f"your cook can get to a place for {what}"
    for what in ("pot", "serving", *FOODS, DISH):
        yield f"nearer {what}", partial(_is_nearer, what), f"your cook is nearer to {what} than the partner"


_FOUND = tuple(_all_facts())
FACTS: Mapping[str, Fact] = {name: fact for name, fact, _ in _FOUND}
FACT_MEANINGS: Mapping[str, str] = {name: meaning for name, _, meaning in _FOUND}

SKILL_OF_ACT: Mapping[str, Skill] = {
    **{f"pickup {thing}": (PICKUP, thing) for thing in (*FOODS, DISH, SOUP)},
    "place": (PLACE,),
    "fill": (FILL,),
    "deliver": (DELIVER,),
    "start": (START,),
}
"""The skill that each act carries out. `put`, `wait` and `aside` are no skills of their own."""
ACT_MEANINGS: Mapping[str, str] = {
    **{f"pickup {thing}": f"take a {thing}, with empty hands" for thing in (*FOODS, DISH, SOUP)},
    PUT: "bring the held ingredient to a pot with room",
    "place": "lay the held thing on a counter, if possible one that the partner reaches",
    "fill": "with a dish, go to a pot that was started, wait there, and take the soup out",
    "deliver": "bring the held soup to a serving place",
    "start": "with empty hands, start a pot that holds what is ordered",
    WAIT: "stand still; always possible",
    ASIDE: "keep out of the partner's way; always possible",
}
VOCABULARY = PolicyVocabulary(tuple(FACTS), tuple(ACT_MEANINGS))
"""The names that a tree of this world may use."""


def skill_of_act(moment: SkillMoment, act: str) -> Skill | None:
    """Return the skill that carries out an act now; None for `wait`, `aside`, and `put` without an
    ingredient."""
    if act == PUT:
        return (PUT_VERBS[moment.held],) if isinstance(moment.held, str) and moment.held in FOOD else None
    return SKILL_OF_ACT.get(act)


def is_act_possible(moment: SkillMoment, act: str) -> bool:
    """Return whether an act is possible now: the hands fit, and there is a place that the seat can reach."""
    if act in (WAIT, ASIDE):
        return True
    skill = skill_of_act(moment, act)
    return skill is not None and all(each.holds for each in skill_conditions(moment, skill))
