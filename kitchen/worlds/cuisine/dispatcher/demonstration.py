"""The one-shot demonstration: another dish than those of the level, played by the planner until it is served.

Paper, section 4.1 (One-shot Demo) and Tables 7 and 8. Nothing is typed in: the planner plays orders of that
dish in the engine. Of one dish (`DISH`) every command that was of no use for it is taken out, so that it is
shown and nothing else: half of what four agents are told is to wait. As a team (`TEAM`) they play as well as
they can, for one dish or two, and all of it is shown: who has nothing to do for one order begins the next.
Same level, agents, team and way, same demonstration, in every process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from kitchen.agents.evaluate import see
from kitchen.contract.world import Command, Event, Json
from kitchen.worlds.cuisine.dispatcher.lookahead import Scene
from kitchen.worlds.cuisine.dispatcher.menu import Choice, choices
from kitchen.worlds.cuisine.dispatcher.moment import Given, Moment, Team
from kitchen.worlds.cuisine.level import Level
from kitchen.worlds.cuisine.options import Options
from kitchen.worlds.cuisine.planner.manner import SHOWING, SHOWING_TRIES
from kitchen.worlds.cuisine.planner.planner import Planner
from kitchen.worlds.cuisine.timing import timing_of
from kitchen.worlds.cuisine.world import CuisineWorld

MAX_STEPS = 60
BETA = 2.5
TRIES = 3
NOOP: Command = ("noop",)

Turn = tuple[Given, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """One step of a demonstration: what was to be seen, and what the dispatcher commanded."""

    moment: Moment
    commands: Turn


@dataclass(frozen=True, slots=True)
class Demonstration:
    """From the first command to the serving table."""

    dish: str
    level: Level
    team: Team
    way: Way
    turns: tuple[Turn, ...]
    """Commands of all agents, those of other minds first."""
    steps: tuple[Shown, ...]


class _Demonstrator(Planner):
    """Plays as it did when the first prompts were frozen."""

    manner = SHOWING


class Way(NamedTuple):
    """How a demonstration is played."""

    player: type[Planner]
    alpha: float
    """The paper's interval between orders, as a factor of the work that one is."""
    most: int
    """So many dishes are served at most: one for every two agents."""
    is_pruned: bool
    """Without the commands that the dish does not need."""

    def dishes(self, team: Team) -> int:
        """How many are served."""
        return min(self.most, (team.agents + 1) // 2)


DISH = Way(_Demonstrator, 3.0, 1, True)
"""The easiest of the paper's intervals: the order is met long before the next one comes."""
TEAM = Way(Planner, 2.0, 2, False)
WAYS = {"dish": DISH, "team": TEAM}
"""By what the dispatcher's setting calls them."""


def team_of(team: Team, agents: int) -> Team:
    """The team of a demonstration: as in play, as far as there are so many agents (0: as many as play)."""
    number = agents or team.agents
    mine = tuple(seat for seat in range(number) if seat in team.mine or seat >= team.agents)
    people = tuple(seat for seat in team.people if seat < number)
    return Team(number, mine, people) if mine else Team(number, tuple(range(number)))


@lru_cache(maxsize=128)
def demonstrate(level: Level, team: Team, way: Way = DISH) -> Demonstration | None:
    """A demonstration for this team in another level than this, of one dish where it cannot be played the
    other `way`; None where no other dish can be played."""
    for choice in choices(level, team.agents)[:TRIES]:
        turns = _play(choice, team, way)
        if turns:
            return _show(choice, team, way, _prune(choice, team, way, turns) if way.is_pruned else turns)
    return demonstrate(level, team) if way is not DISH else None


def _play(choice: Choice, team: Team, way: Way) -> list[Turn]:
    """The planner plays until the dishes are served; empty if they are not, or if in a whole play an order
    runs out before."""
    world, planner = _world(choice.level, team, way), way.player({"tries": SHOWING_TRIES})
    turns: list[Turn] = []
    memory: Json = None
    wanted = way.dishes(team)
    while not world.over:
        decision = planner.decide(see(world, range(team.agents), memory=memory, seed=world.clock))
        memory = decision.memory
        turns.append(_in_order(world, team, dict(decision.commands)))
        ended = [event.kind for event in world.step(turns[-1])]
        wanted -= ended.count("completed")
        if wanted <= 0:
            return turns
        if "failed" in ended and not way.is_pruned:
            return []
    return []


def _in_order(world: CuisineWorld, team: Team, given: dict[int, Command]) -> Turn:
    """One command for every agent, first for those that we do not command; what cannot be carried out in this
    order is noop."""
    everybody = given | dict.fromkeys(set(range(team.agents)) - set(given), NOOP)
    wanted = sorted(everybody.items(), key=lambda each: each[0] in team.mine)
    scene = Scene(world.brief(0), world.observe(0))
    return tuple((seat, NOOP if scene.run(seat, command) else command) for seat, command in wanted)


def _prune(choice: Choice, team: Team, way: Way, turns: list[Turn]) -> list[Turn]:
    """Without the commands that the dish does not need, tried one by one from the last to the first."""
    for step in reversed(range(len(turns))):
        for place in reversed(range(len(turns[step]))):
            turn = turns[step]
            less = (*turn[:place], (turn[place][0], NOOP), *turn[place + 1 :])
            shorter = [*turns[:step], less, *turns[step + 1 :]]
            if less != turn and _serves(choice, team, way, shorter):
                turns = shorter
    return turns


def _serves(choice: Choice, team: Team, way: Way, turns: list[Turn]) -> bool:
    """Nothing is refused, and the dish is served at the end."""
    world = _world(choice.level, team, way)
    events = [world.step(turn) for turn in turns]
    return _is_served(events[-1]) and not any(e.kind == "refused" for step in events for e in step)


def _show(choice: Choice, team: Team, way: Way, turns: list[Turn]) -> Demonstration:
    world = _world(choice.level, team, way)
    steps: list[Shown] = []
    for turn in turns:
        before = {seat: command for seat, command in turn if seat not in team.mine}
        ours = tuple(each for each in turn if each[0] in team.mine)
        steps.append(Shown(Moment(world.brief(0), world.observe(0), team, before), ours))
        world.step(turn)
    return Demonstration(choice.dish, choice.level, team, way, tuple(turns), tuple(steps))


def _world(level: Level, team: Team, way: Way) -> CuisineWorld:
    timing = timing_of(level.stock.work, level.dishes, way.alpha, BETA)
    values = {"level": level.code, "alpha": way.alpha, "beta": BETA, "max_steps": MAX_STEPS}
    return CuisineWorld(team.agents, Options(values, level, timing, MAX_STEPS))


def _is_served(events: Sequence[Event]) -> bool:
    return any(event.kind == "completed" for event in events)
