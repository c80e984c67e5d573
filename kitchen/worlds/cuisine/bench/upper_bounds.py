"""Compute upper bounds on completed orders and on the success rate of every cell, for any agent.

A cell is one combination of level, number of agents and order interval. tau is the steps between two orders.
The setting alpha scales tau. The setting beta scales how long an order is open.

The proof holds for any agent, however it plays:

- **Orders** do not depend on play. With beta = 2.5 an order is open for at most ceil(2.5 tau) <= 3 tau steps.
  So at most four orders are open at once, and the limit of six never delays one. Seed, level and alpha
  therefore give every order with its deadline. An order that is due within the episode is completed or has
  failed at its end. A later order counts only if it is completed.
- **Agent-steps.** An agent gives one command a step. Each base ingredient in the tree of a dish counts with
  multiplicity, because a product is consumed once. Each takes four commands: go to the storage, get, go to
  the tool, put. (A useful get at the storage is followed by leaving it, so each get needs its own goto.)
  Each product that is carried on takes three (get, goto, put). Each activation takes one. An attended tool
  takes busy - 1 more. Dishes made ahead cost the same. So N agents can serve orders within t
  steps only if the orders' agent-steps are at most N t.
- **Tools.** For each product, a tool is untouched for busy - 1 steps. Its puts, its activation and its get
  are commands there, at most N in a step. In total one of its instances takes
  busy - 1 + (ingredients + 2) / N steps.
- **Latency.** Goto, get, goto, put, then the time of the tools, get, goto, put: no order is served sooner.
- A dish whose tool the kitchen lacks (frenchFries in level_12) is never served.

Moore and Hodgson's rule (the most jobs on time on one machine) gives exactly how many orders can be met by
their deadlines under one such resource. The bound is the least over the resources. Let m orders be due within
the episode, at most a of them met, and at most k orders met in all. Then the share is at most k / (m + k -
a), because a met order that was not due raises the share less than one that was.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from random import Random

from kitchen.contract.benchmark import ScoreBound
from kitchen.worlds.cuisine.level import Level
from kitchen.worlds.cuisine.settings import Options, read_options

EPISODE_STEPS = 60
"""Steps of an episode, as in the paper."""


@dataclass(frozen=True, slots=True)
class DueOrder:
    """One order: a dish, and the last step (counted from 1) in which it can be put on the table."""

    dish: str
    deadline: int
    must_end: bool
    """True if it is completed or has failed when the episode ends."""


@lru_cache(4096)
def episode_bound(level: str, alpha: float, agents: int, seed: int, steps: int = EPISODE_STEPS) -> ScoreBound:
    """Return the bound of one episode."""
    options = read_options({"level": level, "alpha": alpha, "max_steps": steps})
    orders = drawn_orders(options, seed)
    due = [order for order in orders if order.must_end]
    most, most_due = (_most_met(options.level, wanted, agents) for wanted in (orders, due))
    return ScoreBound(most, len(due) + most - most_due)


def cell_bound(
    level: str, alpha: float, agents: int, seeds: Iterable[int], steps: int = EPISODE_STEPS
) -> ScoreBound:
    """Return the bound of the counts summed over several episodes."""
    return sum((episode_bound(level, alpha, agents, seed, steps) for seed in seeds), ScoreBound(0, 0))


def drawn_orders(options: Options, seed: int) -> list[DueOrder]:
    """Return every order of an episode; they do not depend on play."""
    generator, orders = Random(seed), []  # noqa: S311
    for clock in range(0, options.max_steps, options.timing.interval):
        dish = generator.choice(options.level.dishes)
        due = clock + options.timing.lifetimes[dish]
        orders.append(DueOrder(dish, min(due, options.max_steps), due < options.max_steps))
    return orders


def _most_met(level: Level, orders: Sequence[DueOrder], agents: int) -> int:
    possible = [each for each in orders if each.deadline >= earliest_serving_step(level, each.dish, agents)]
    cookable = [each for each in possible if each.dish not in level.uncookable]
    agents_load = {dish: Fraction(agent_steps(level, dish), agents) for dish in level.dishes}
    loads = [agents_load, *_tool_loads(level, agents)]
    return min(most_on_time([(o.deadline, load[o.dish]) for o in cookable]) for load in loads)


def most_on_time(jobs: Iterable[tuple[int, Fraction]]) -> int:
    """Return how many of the jobs (deadline, time) one machine can end in time (Moore and Hodgson, 1968)."""
    chosen: list[Fraction] = []
    for deadline, time in sorted(jobs):
        insort(chosen, time)
        if sum(chosen) > deadline:
            chosen.pop()
    return len(chosen)


@lru_cache(maxsize=256)
def _tool_loads(level: Level, agents: int) -> list[dict[str, Fraction]]:
    """Return, for every type of tool in the kitchen, the steps of all its instances that each dish takes."""
    number = Counter(level.kitchen)
    loads = {kind: dict.fromkeys(level.dishes, Fraction(0)) for kind in number}
    for dish in level.dishes:
        for product in products_needed(level, dish):
            recipe = level.recipes[product]
            if recipe.tool in loads:
                still = max(level.stock.tools[recipe.tool].busy - 1, 0)
                handled = Fraction(_commands_at(level, product), agents)
                loads[recipe.tool][dish] += (still + handled) / number[recipe.tool]
    return list(loads.values())


def products_needed(level: Level, item: str) -> list[str]:
    """Return every product that has to be made for one item, with multiplicity, itself first."""
    if item not in level.recipes:
        return []
    below = (products_needed(level, ingredient) for ingredient in level.recipes[item].ingredients)
    return [item, *(product for products in below for product in products)]


def agent_steps(level: Level, dish: str) -> int:
    """Return the least number of commands, over all agents, until one dish lies on the serving table."""
    return 3 + sum(_own_steps(level, product) for product in products_needed(level, dish))


def _own_steps(level: Level, product: str) -> int:
    """Return the commands to bring a product's ingredients and to activate its tool."""
    recipe = level.recipes[product]
    tool = level.stock.tools[recipe.tool]
    base = sum(item not in level.recipes for item in recipe.ingredients)
    carried = _carried_to(level, product) - base
    return 4 * base + 3 * carried + 1 + (max(tool.busy - 1, 0) if tool.attended else 0)


def _carried_to(level: Level, product: str) -> int:
    """Return the number of ingredients carried to the tool; one made in such a tool may already be there."""
    recipe = level.recipes[product]
    made = (level.recipes[item].tool for item in recipe.ingredients if item in level.recipes)
    made_there = (tool == recipe.tool for tool in made)
    return len(recipe.ingredients) - sum(made_there)


def _commands_at(level: Level, product: str) -> int:
    """Return the commands at the tool: puts, activation, get. A part made there needs neither get nor put."""
    carried = _carried_to(level, product)
    return 2 + carried - (len(level.recipes[product].ingredients) - carried)


def earliest_serving_step(level: Level, dish: str, agents: int) -> int:
    """Return the first step (from 1) in which a dish can be served, with any number of agents."""
    return _ready(level, dish, agents) + 3


def _ready(level: Level, product: str, agents: int) -> int:
    """Return the first step (from 0) in which a product can be taken. An agent acts once in a step."""
    recipe, alone = level.recipes[product], int(agents == 1)
    last = max(_put(level, item, recipe.tool, agents) for item in recipe.ingredients)
    return last + alone + max(level.stock.tools[recipe.tool].busy, alone)


def _put(level: Level, item: str, tool: str, agents: int) -> int:
    """Return the first step (counted from 0) in which an item can be put into a tool."""
    if item not in level.recipes:
        return 3
    there = level.recipes[item].tool == tool
    return _ready(level, item, agents) + (0 if there else 2)
