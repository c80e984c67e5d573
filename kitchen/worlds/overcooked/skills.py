"""Provide the skills (actions of several steps) of Overcooked: their conditions, moves and completion.

The module also has a simple rule that chooses a skill. The cook takes the cheapest path around its partner.
If the partner blocks every path, the cook either waits or moves as if the partner were not there. Each has
the probability 1/2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from random import Random

from kitchen.contract.agent_skills import (
    WAIT,
    GameDescription,
    PlayStyle,
    SeatObservation,
    Skill,
    SkillCondition,
    Skills,
    wait_skill,
)
from kitchen.contract.world import SUCCESS, UNKNOWN, Command, Intent, Json
from kitchen.worlds.overcooked.game_rules import DISH, STAY
from kitchen.worlds.overcooked.grid_aims import layout_skills
from kitchen.worlds.overcooked.layout import Cell, Layout
from kitchen.worlds.overcooked.partners.baseline_agents import first_command, free_directions
from kitchen.worlds.overcooked.skill_names import (
    DELIVER,
    FILL,
    PICKUP,
    PLACE,
    PUT_VERBS,
    SOUP,
    START,
    finished_skill,
    match_skill,
)
from kitchen.worlds.overcooked.skill_prompt import (
    game_description,
    held_thing,
    moment_text,
    player_name,
    usual_style,
)
from kitchen.worlds.overcooked.skill_snapshot import SkillMoment


def skill_conditions(moment: SkillMoment, skill: Skill) -> Iterator[SkillCondition]:
    """Yield the conditions that must hold for this skill, in the order in which they are checked."""
    verb = skill[0]
    if verb == PICKUP:
        yield _empty(moment)
        yield _some("not_there", f"{skill[1]} that can be reached", moment.sources(skill[1]))
    elif verb == PLACE:
        me, holds = player_name(moment.seat), moment.held is not None
        yield SkillCondition("hands_empty", f"{me} holds something", f"{me} holds nothing.", holds)
        yield _some("no_counter", "counter that is free", moment.free_counters())
    elif verb == FILL:
        yield _holds(moment, DISH, moment.held == DISH)
        yield _some("not_started", "pot that was started", moment.started_pots())
    elif verb == DELIVER:
        yield _holds(moment, SOUP, isinstance(moment.held, tuple))
        yield _some("no_serving", "place to serve that can be reached", moment.serving())
    elif verb == START:
        yield _empty(moment)
        yield _some("no_order", "pot that holds what is ordered and is not started", moment.startable_pots())
    else:
        food = next(food for food, put in PUT_VERBS.items() if put == verb)
        yield _holds(moment, food, moment.held == food)
        yield _some("no_pot", "pot that is not full and not started", moment.open_pots())


def _empty(moment: SkillMoment) -> SkillCondition:
    me, held = player_name(moment.seat), moment.held
    why_not = f"{me} holds {held_thing(held)} already."
    return SkillCondition("hands_full", f"{me} holds nothing", why_not, held is None)


def _holds(moment: SkillMoment, what: str, holds: bool) -> SkillCondition:
    me = player_name(moment.seat)
    claim, why_not = (f"{me} holds {held_thing(thing)}" for thing in (what, moment.held))
    return SkillCondition(f"no_{what}", claim, f"{why_not}.", holds)


def _some(code: str, what: str, found: object) -> SkillCondition:
    return SkillCondition(code, f"there is some {what}", f"there is no {what}.", bool(found))


def skill_status(moment: SkillMoment, skill: Skill, since: Json) -> str:
    """Return SUCCESS if the skill is finished, else UNKNOWN.

    For the skill of starting a pot, `since` lists the pots that could be started when it began.
    """
    held, verb = moment.held, skill[0]
    if verb == PICKUP:
        done = held == skill[1]
    elif verb == FILL:
        done = isinstance(held, tuple)
    elif verb == START:
        done = any(list(cell) not in map(list, moment.startable_pots()) for cell in since)
    else:
        done = held is None
    return SUCCESS if done else UNKNOWN


def next_move(moment: SkillMoment, skill: Skill, chance: Random) -> Command:
    """Return the next command that carries out the skill; `stay` if the seat can reach no cell for it now.

    If the partner blocks every path, `chance` decides whether the seat waits or moves as if the partner
    were not there.
    """
    tiers = [cells for cells in skill_goals(moment, skill) if cells]
    scene, seat = moment.scene, moment.seat
    walled = replace(scene, layout=_without(scene.layout, scene.at[1 - seat]))
    found = next((way for cells in tiers if (way := first_command(walled, seat, set(cells)))), None)
    if found or not tiers or chance.random() < 0.5:
        return found or STAY
    return next((way for cells in tiers if (way := first_command(scene, seat, set(cells)))), STAY)


@lru_cache(maxsize=512)
def _without(layout: Layout, cell: Cell) -> Layout:
    """Return a copy of the layout in which this cell is a wall."""
    return replace(layout, floor=tuple(each for each in layout.floor if each != cell))


def skill_goals(moment: SkillMoment, skill: Skill) -> list[list[Cell]]:
    """Return the cells where a seat can carry out the skill, as a list of lists: preferred cells first."""
    verb = skill[0]
    if verb == PICKUP:
        found = moment.sources(skill[1])
        shared = moment.shared(found)
        return [[cell for cell in found if cell not in shared], shared]
    if verb == PLACE:
        return [moment.shared(moment.free_counters()), moment.free_counters()]
    if verb == FILL:
        return [moment.started_pots()]
    if verb == DELIVER:
        return [moment.serving()]
    return [moment.startable_pots() if verb == START else moment.open_pots()]


SOON_TICKS = 10
"""If a soup is ready within this number of ticks, a dish is fetched before anything else."""
ENOUGH_DISHES = 2
"""The largest number of one ingredient that is laid on counters for a seat that cannot get any."""


def rule_plan(moment: SkillMoment) -> Skill:
    """Return the skill that fixed rules choose for this seat, from what it holds and what the pots need."""
    if not moment.pots():
        return _bring_over(moment)
    return _with_something(moment) if moment.held is not None else _empty_handed(moment)


def hint_plan(moment: SkillMoment) -> Skill:
    """Return the skill to recommend to a person. It is the skill of `rule_plan`, except that a seat that
    holds something does not wait. It puts the item down instead."""
    planned = rule_plan(moment)
    return _lay_down(moment) if planned[0] == WAIT and moment.held is not None else planned


def _with_something(moment: SkillMoment) -> Skill:
    held = moment.held
    if isinstance(held, tuple):
        return (DELIVER,) if moment.serving() else _lay_down(moment)
    if held == DISH:
        return (FILL,) if moment.started_pots() else wait_skill()
    return (PUT_VERBS[str(held)],) if moment.open_pots() else wait_skill()


def _lay_down(moment: SkillMoment) -> Skill:
    return (PLACE,) if moment.free_counters() else wait_skill()


def _empty_handed(moment: SkillMoment) -> Skill:
    if moment.startable_pots():
        return (START,)
    cooking = [pot.left for pot in moment.scene.pots.values() if pot.left is not None]
    dishes = sum(held == DISH for held in moment.scene.hands)
    missing = [food for food in moment.missing() if moment.sources(food)]
    can_take = bool(moment.sources(DISH))
    if can_take and len(cooking) > dishes and (min(cooking) <= SOON_TICKS or not missing):
        return PICKUP, DISH
    if missing:
        return PICKUP, missing[0]
    return (PICKUP, DISH) if cooking and can_take else wait_skill()


def _bring_over(moment: SkillMoment) -> Skill:
    """Return the skill of a seat that reaches no pot. The seat brings things to counters that the other seat
    can reach."""
    if moment.held is not None:
        return _lay_down(moment)
    scene = moment.scene
    lying = [scene.counters.get(cell) for cell in moment.shared(moment.counters())]
    cooks = any(pot.left is not None for pot in scene.pots.values())
    if cooks and DISH not in lying and moment.sources(DISH):
        return PICKUP, DISH
    wanted = dict.fromkeys(moment.missing() or moment.layout.food)
    there = [food for food in wanted if lying.count(food) < ENOUGH_DISHES and moment.sources(food)]
    return (PICKUP, there[0]) if there else wait_skill()


HINT_CELLS = 2
"""The largest number of cells that a hint marks."""
PARTED_WAIT = 3
"""Ticks of a wait while the other seat brings something over a counter."""


class GridSkills(Skills):
    """The skills of ProAgent's published code, and `start_cooking` if pots do not start by themselves."""

    def seats(self, sight: SeatObservation) -> Sequence[int]:
        """Return the numbers of both seats."""
        return 0, 1

    def named(self, seat: int) -> str:
        """Return the name of a seat in prompts, such as `Player 0`."""
        return player_name(seat)

    def manner(self, sight: SeatObservation) -> PlayStyle:
        """Return the usual play style of the layout (`usual_style`)."""
        return usual_style(SkillMoment.of(sight))

    def primer(self, sight: SeatObservation, manner: PlayStyle) -> GameDescription:
        """Return the description of the game in this layout for the agent's seat."""
        return game_description(SkillMoment.of(sight), sight.brief, manner)

    def scene(self, sight: SeatObservation) -> str:
        """Return the current state as text: what the players hold, and the pots."""
        return moment_text(SkillMoment.of(sight))

    def offered(self, sight: SeatObservation, other: int) -> Sequence[Skill]:
        """Return all skills for which the layout has the needed dispensers, pots and serving places. The seat
        need not be able to reach them."""
        moment = SkillMoment.of(sight, other)
        return layout_skills(moment.layout, moment.scene.starts_itself)

    def meant(self, written: Sequence[str], sight: SeatObservation) -> Skill | None:
        """Return the skill that a model's words (`written`) name; None if the layout has no such skill."""
        skill = match_skill(written)
        return skill if skill in self.offered(sight, sight.seat) else None

    def conditions(self, sight: SeatObservation, skill: Skill) -> Sequence[SkillCondition]:
        """Return the preconditions that ProAgent's published code checks for this skill. Pots and other
        cells that the seat cannot reach are treated as missing."""
        return list(skill_conditions(SkillMoment.of(sight), skill))

    def mark(self, sight: SeatObservation, skill: Skill) -> Json:
        """Return the cells of the pots that can be started now, if the skill is to start a pot. Return None
        for other skills. `status` needs these cells later."""
        return [list(cell) for cell in SkillMoment.of(sight).startable_pots()] if skill[0] == START else None

    def status(self, sight: SeatObservation, skill: Skill, since: Json) -> str:
        """Return SUCCESS if the skill is finished, else UNKNOWN (see `skill_status`)."""
        return skill_status(SkillMoment.of(sight), skill, since)

    def finished(self, sight: SeatObservation, other: int) -> Sequence[Skill]:
        """Return the skills that the seat `other` finished in the last step, found from its `interact`
        command."""
        done = (finished_skill(event) for event in sight.events if event.seat == other)
        return [skill for skill in done if skill]

    def command(self, sight: SeatObservation, skill: Skill, chance: Random) -> Command | None:
        """Return the next command that carries out the skill (see `next_move`)."""
        return next_move(SkillMoment.of(sight), skill, chance)

    def strolls(self, sight: SeatObservation) -> Sequence[Command]:
        """Return the moves that lead to a free floor cell, for a seat that waits."""
        moment = SkillMoment.of(sight)
        return free_directions(moment.scene, moment.seat)

    def shortest_wait(self, sight: SeatObservation) -> int:
        """Return the smallest number of ticks to wait: more than 1 if the seats can only work together
        over counters."""
        return PARTED_WAIT if SkillMoment.of(sight).is_parted else 1

    def is_clocked(self, sight: SeatObservation) -> bool:
        """Return whether the world has a clock (setting `clock` is `tick`)."""
        return bool(sight.brief["clock"] == "tick")

    def rule(self, sight: SeatObservation, other: int, manner: PlayStyle) -> Skill:
        """Return the skill that fixed rules (`rule_plan`) choose for the seat `other`. `sight` is what the
        asking seat observes. `manner` is ignored."""
        return rule_plan(SkillMoment.of(sight, other))

    def errand(self, sight: SeatObservation) -> Skill:
        """Return the skill to recommend to the person in the agent's seat (`hint_plan`)."""
        return hint_plan(SkillMoment.of(sight))

    def hint_cells(self, sight: SeatObservation) -> Sequence[Cell]:
        """Return the cells where the person can carry out the recommended skill, the nearest first. At most
        `HINT_CELLS`."""
        moment = SkillMoment.of(sight)
        skill, (x, y) = hint_plan(moment), moment.scene.at[moment.seat]
        tiers = () if skill[0] == WAIT else skill_goals(moment, skill)
        cells = next((each for each in tiers if each), [])
        return sorted(cells, key=lambda cell: abs(cell[0] - x) + abs(cell[1] - y))[:HINT_CELLS]

    def intent(self, skill: Skill) -> Intent:
        """Return the skill as an intent for participants' pages: its verb and, for a pickup, the thing."""
        return {"do": skill[0], **({"item": skill[1]} if skill[0] == PICKUP else {})}


SKILLS = GridSkills()
