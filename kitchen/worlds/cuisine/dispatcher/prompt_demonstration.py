"""Build the example in the dispatcher's prompt, in which a planner cooks a dish that is not in the level.

The dispatcher is a language model that commands several robots. DISH_DEMONSTRATION shows one dish without
useless commands. TEAM_DEMONSTRATION shows a whole team, with up to two dishes. Source: MindAgent, section 4.1
(One-shot Demo), and Tables 7 and 8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from kitchen.agents.make_situation import make_situation
from kitchen.contract.agent import run_without_waiting
from kitchen.contract.world import Command, Json
from kitchen.worlds.cuisine.dispatcher.command_check import NOOP, CommandedTeam
from kitchen.worlds.cuisine.dispatcher.command_extraction import GivenCommand
from kitchen.worlds.cuisine.dispatcher.kitchen_snapshot import KitchenMoment
from kitchen.worlds.cuisine.level import (
    Level,
    Stock,
    parse_level,
    recipe_items,
    shipped_catalogue,
    tools_needed,
)
from kitchen.worlds.cuisine.order_book import timing_of
from kitchen.worlds.cuisine.planner.agent import CuisinePlanner
from kitchen.worlds.cuisine.planner.plan_search import (
    DEMONSTRATION_SETTINGS,
    DEMONSTRATION_TRIES,
    TEAM_DEMONSTRATION_SETTINGS,
)
from kitchen.worlds.cuisine.settings import Options
from kitchen.worlds.cuisine.simulate_commands import SimulatedKitchen
from kitchen.worlds.cuisine.world import CuisineWorld

DEMONSTRATION_LEVEL_CODE = "demonstration"


def demonstration_levels(level: Level, agents: int) -> Iterator[Level]:
    """Yield small levels for the demonstration, the most suitable first. Each has one dish that does not
    occur in `level`."""
    stock = shipped_catalogue().stock
    others = [product for product in stock.recipes if product not in level.recipes]
    ranked = sorted(others, key=lambda dish: _rank(dish, level, agents, stock))
    return (_kitchen_for(dish, level, stock) for dish in ranked)


def _rank(dish: str, level: Level, agents: int, stock: Stock) -> tuple[bool, int, int, int, int, int]:
    """Return the sort key of a dish for the demonstration. The dish with the smallest key is the best.

    The best dish is one that guests would order, and it shares no recipe with `level`. It uses many tools of
    `level`, has about one base ingredient for each agent, and needs little work.
    """
    nodes, tools = recipe_items(dish, stock.recipes), tools_needed(dish, stock)
    leaves = [node for node in nodes if node not in stock.recipes]
    return (
        any(dish in recipe.ingredients for recipe in stock.recipes.values()),
        sum(node in level.recipes for node in nodes),
        sum(tool not in level.kitchen for tool in tools),
        -len(tools),
        abs(len(leaves) - max(agents, 2)),
        stock.work[dish],
    )


def _kitchen_for(dish: str, level: Level, stock: Stock) -> Level:
    """Return a level whose kitchen has the tools that the dish needs. There are as many of each as in
    `level`, but at most two."""
    ends = {tool.role: tool.code for tool in reversed(list(stock.tools.values()))}
    number = {tool: min(max(level.kitchen.count(tool), 1), 2) for tool in tools_needed(dish, stock)}
    tools = Counter(number).elements()
    kitchen = ", ".join(f'"{each}"' for each in (ends["storage"], *tools, ends["serving"]))
    text = f'title = "Demonstration"\nkitchen = [{kitchen}]\ndishes = ["{dish}"]\n'
    return parse_level(text, f"{DEMONSTRATION_LEVEL_CODE}.toml", stock)


MAX_DEMONSTRATION_STEPS = 60
BETA = 2.5
DISHES_TRIED = 3

GivenTurn = tuple[GivenCommand, ...]


@dataclass(frozen=True, slots=True)
class DemonstrationStep:
    """One step of a demonstration: the state before it, and the dispatcher's commands."""

    moment: KitchenMoment
    commands: GivenTurn


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A played example, from the first command to the served dish."""

    dish: str
    level: Level
    team: CommandedTeam
    way: DemonstrationKind
    turns: tuple[GivenTurn, ...]
    """Commands of all agents, those of other agents' seats first."""
    steps: tuple[DemonstrationStep, ...]


class _Demonstrator(CuisinePlanner):
    """The planner in the version with which the first prompts were frozen."""

    search_settings = DEMONSTRATION_SETTINGS


class _TeamDemonstrator(CuisinePlanner):
    """The planner in the version with which the first prompts of whole teams were frozen."""

    search_settings = TEAM_DEMONSTRATION_SETTINGS


class DemonstrationKind(NamedTuple):
    """The settings of a kind of demonstration."""

    player: type[CuisinePlanner]
    alpha: float
    """The paper's interval between orders, as a factor of the work of one order."""
    most: int
    """Largest number of served dishes; one for every two agents."""
    is_pruned: bool
    """True if commands that the dish does not need are removed."""

    def dishes(self, team: CommandedTeam) -> int:
        """Return the number of dishes that this team serves in a demonstration of this kind."""
        return min(self.most, (team.agents + 1) // 2)


DISH_DEMONSTRATION = DemonstrationKind(_Demonstrator, 3.0, 1, True)
"""Settings with the easiest of the paper's intervals: the order is met long before the next one comes."""
TEAM_DEMONSTRATION = DemonstrationKind(_TeamDemonstrator, 2.0, 2, False)
DEMONSTRATION_KINDS = {"dish": DISH_DEMONSTRATION, "team": TEAM_DEMONSTRATION}
"""Kinds of demonstrations by the value of the dispatcher's setting."""


def demonstration_team(team: CommandedTeam, agents: int) -> CommandedTeam:
    """Return the team that a demonstration shows, with this number of agents; 0 means the real number of
    agents.

    Each seat is commanded by the dispatcher or by a person, as in `team`. The dispatcher commands the
    additional seats.
    """
    number = agents or team.agents
    mine = tuple(seat for seat in range(number) if seat in team.mine or seat >= team.agents)
    people = tuple(seat for seat in team.people if seat < number)
    return CommandedTeam(number, mine, people) if mine else CommandedTeam(number, tuple(range(number)))


@lru_cache(maxsize=128)
def demonstrate(
    level: Level, team: CommandedTeam, way: DemonstrationKind = DISH_DEMONSTRATION
) -> Demonstration | None:
    """Return a demonstration for this team; None if none could be played.

    It is played in another level than `level`. If a demonstration of the kind `way` cannot be played,
    DISH_DEMONSTRATION is used.
    """
    for shown in islice(demonstration_levels(level, team.agents), DISHES_TRIED):
        if turns := _play(shown, team, way):
            return _show(shown, team, way, _prune(shown, team, way, turns) if way.is_pruned else turns)
    return demonstrate(level, team) if way is not DISH_DEMONSTRATION else None


def _play(level: Level, team: CommandedTeam, way: DemonstrationKind) -> list[GivenTurn]:
    """Return the planner's commands, step by step, until the dishes are served. Return an empty list if they
    are not served, or if an order expires."""
    world, planner = _world(level, team, way), way.player({"tries": DEMONSTRATION_TRIES})
    turns: list[GivenTurn] = []
    memory: Json = None
    wanted = way.dishes(team)
    while not world.over:
        situation = make_situation(world, range(team.agents), memory=memory, seed=world.clock)
        decision = run_without_waiting(planner.decide(situation))
        memory = decision.memory
        turns.append(_in_order(world, team, dict(decision.commands)))
        ended = [event.kind for event in world.step(turns[-1])]
        wanted -= ended.count("completed")
        if wanted <= 0:
            return turns
        if "failed" in ended and not way.is_pruned:
            return []
    return []


def _in_order(world: CuisineWorld, team: CommandedTeam, given: dict[int, Command]) -> GivenTurn:
    """Return one command for every agent, with the commands of agents that others control first. A command
    that cannot be carried out in this order is replaced by `noop`."""
    everybody = given | dict.fromkeys(set(range(team.agents)) - set(given), NOOP)
    wanted = sorted(everybody.items(), key=lambda each: each[0] in team.mine)
    scene = SimulatedKitchen(world.brief(0), world.observe(0))
    return tuple((seat, NOOP if scene.run(seat, command) else command) for seat, command in wanted)


def _prune(
    level: Level, team: CommandedTeam, way: DemonstrationKind, turns: list[GivenTurn]
) -> list[GivenTurn]:
    """Return the turns without commands that serving the dish does not need. Commands are removed one by one,
    from the last to the first."""
    for step in reversed(range(len(turns))):
        for place in reversed(range(len(turns[step]))):
            turn = turns[step]
            less = (*turn[:place], (turn[place][0], NOOP), *turn[place + 1 :])
            shorter = [*turns[:step], less, *turns[step + 1 :]]
            if less != turn and _serves(level, team, way, shorter):
                turns = shorter
    return turns


def _serves(level: Level, team: CommandedTeam, way: DemonstrationKind, turns: list[GivenTurn]) -> bool:
    """Return True if these turns serve the dish in the end and no command in them is refused."""
    world = _world(level, team, way)
    events = [world.step(turn) for turn in turns]
    is_served = any(event.kind == "completed" for event in events[-1])
    return is_served and not any(event.kind == "refused" for step in events for event in step)


def _show(level: Level, team: CommandedTeam, way: DemonstrationKind, turns: list[GivenTurn]) -> Demonstration:
    world = _world(level, team, way)
    steps: list[DemonstrationStep] = []
    for turn in turns:
        before = {seat: command for seat, command in turn if seat not in team.mine}
        ours = tuple(each for each in turn if each[0] in team.mine)
        steps.append(DemonstrationStep(KitchenMoment(world.brief(0), world.observe(0), team, before), ours))
        world.step(turn)
    return Demonstration(level.dishes[0], level, team, way, tuple(turns), tuple(steps))


def _world(level: Level, team: CommandedTeam, way: DemonstrationKind) -> CuisineWorld:
    timing = timing_of(level.stock.work, level.dishes, way.alpha, BETA)
    values = {"level": level.code, "alpha": way.alpha, "beta": BETA, "max_steps": MAX_DEMONSTRATION_STEPS}
    return CuisineWorld(team.agents, Options(values, level, timing, MAX_DEMONSTRATION_STEPS))
