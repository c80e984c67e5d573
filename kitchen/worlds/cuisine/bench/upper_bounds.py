"""Compute upper bounds on the completed orders and the success rate that any agents can reach.

The bounds depend only on the level, the number of agents, and the interval between orders. Each tool, and the
working time of the agents, is a resource that limits how many orders can be completed. Moore and Hodgson's
rule gives the largest number of orders that one resource allows. The smallest of these numbers is the bound.
"""

# Why the bounds hold however the agents play. tau is the number of steps between two orders; the setting
# alpha scales tau, the setting beta scales how long an order is open.
#
# - Orders: with beta = 2.5 an order is open for at most ceil(2.5 tau) <= 3 tau steps. So at most four orders
#   are open at once, and the limit of six open orders never delays a new order. Seed, level and alpha
#   therefore determine every order and its deadline. An order with its deadline before the end of the episode
#   is completed or failed at the end. A later order counts only if it is completed.
# - Agent-steps: N agents can give at most N t commands in t steps. Each base ingredient of a dish takes four
#   commands: go to the storage, get, go to the tool, put. (After a useful get at the storage, the agent
#   leaves, so each get needs its own goto.) An ingredient that is needed twice counts twice. Each product
#   that is carried on takes three (get, goto, put). Each activation takes one. A tool that keeps its agent
#   takes busy - 1 more. Dishes made ahead cost the same.
# - Tools: for each product, nobody can use the tool for busy - 1 steps. Its puts, its activation and its get
#   are commands there, at most N in a step. So each product occupies one tool for busy - 1 + (ingredients +
#   2) / N steps in total.
# - Latency: no order is served sooner than this takes: goto, get, goto, put, then the time of the tools, get,
#   goto, put.
# - A dish whose tool the kitchen lacks (frenchFries in level_12) is never served.
#
# Success rate: let m orders have their deadline within the episode. Let at most a of these be met, and at
# most k orders in all. Then the rate is at most k / (m + k - a), because a met order with a later deadline
# raises the rate less.

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
    """One order: a dish, and its deadline, the last step (counted from 1) in which the dish can be put on
    the table."""

    dish: str
    deadline: int
    must_end: bool
    """True if it is completed or has failed when the episode ends."""


@lru_cache(4096)
def episode_bound(level: str, alpha: float, agents: int, seed: int, steps: int = EPISODE_STEPS) -> ScoreBound:
    """Return the upper bound on the number of completed orders and on the success rate in one episode.

    `alpha` is the order interval factor, and `agents` is the number of agents.
    """
    options = read_options({"level": level, "alpha": alpha, "max_steps": steps})
    orders = drawn_orders(options, seed)
    due = [order for order in orders if order.must_end]
    most, most_due = (_most_met(options.level, wanted, agents) for wanted in (orders, due))
    return ScoreBound(most, len(due) + most - most_due)


def cell_bound(
    level: str, alpha: float, agents: int, seeds: Iterable[int], steps: int = EPISODE_STEPS
) -> ScoreBound:
    """Return the upper bound on the order counts, summed over the episodes with these seeds."""
    return sum((episode_bound(level, alpha, agents, seed, steps) for seed in seeds), ScoreBound(0, 0))


def drawn_orders(options: Options, seed: int) -> list[DueOrder]:
    """Return all orders that arrive in an episode with this seed. They do not depend on how agents play."""
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
    """Return how many of the jobs one machine can finish by their deadlines. A job is (deadline, duration).

    Source: Moore and Hodgson (1968).
    """
    chosen: list[Fraction] = []
    for deadline, time in sorted(jobs):
        insort(chosen, time)
        if sum(chosen) > deadline:
            chosen.pop()
    return len(chosen)


@lru_cache(maxsize=256)
def _tool_loads(level: Level, agents: int) -> list[dict[str, Fraction]]:
    """Return, for each type of tool, how many steps one portion of each dish occupies it. The steps are
    divided by the number of tools of this type."""
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
    """Return every product that must be made for this item, beginning with the item. A product that is needed
    twice is listed twice. Empty for a base ingredient."""
    if item not in level.recipes:
        return []
    below = (products_needed(level, ingredient) for ingredient in level.recipes[item].ingredients)
    return [item, *(product for products in below for product in products)]


def agent_steps(level: Level, dish: str) -> int:
    """Return the smallest number of commands, by all agents together, that bring one dish to the serving
    table."""
    return 3 + sum(_own_steps(level, product) for product in products_needed(level, dish))


def _own_steps(level: Level, product: str) -> int:
    """Return the number of commands that bring a product's ingredients to its tool and start the tool. Steps
    for which the tool occupies the agent are included."""
    recipe = level.recipes[product]
    tool = level.stock.tools[recipe.tool]
    base = sum(item not in level.recipes for item in recipe.ingredients)
    carried = _carried_to(level, product) - base
    return 4 * base + 3 * carried + 1 + (max(tool.busy - 1, 0) if tool.attended else 0)


def _carried_to(level: Level, product: str) -> int:
    """Return how many ingredients must be carried to the tool that makes the product. Ingredients made by the
    same kind of tool are not counted, because they can already be there."""
    recipe = level.recipes[product]
    made = (level.recipes[item].tool for item in recipe.ingredients if item in level.recipes)
    made_there = (tool == recipe.tool for tool in made)
    return len(recipe.ingredients) - sum(made_there)


def _commands_at(level: Level, product: str) -> int:
    """Return the number of commands at the tool for making a product: put, activate and get. Ingredients made
    in the same tool need no get and no put."""
    carried = _carried_to(level, product)
    return 2 + carried - (len(level.recipes[product].ingredients) - carried)


def earliest_serving_step(level: Level, dish: str, agents: int) -> int:
    """Return a lower bound on the step, counted from 1, in which this number of agents can serve the dish.

    All numbers of agents above 1 give the same step.
    """
    return _ready(level, dish, agents) + 3


def _ready(level: Level, product: str, agents: int) -> int:
    """Return a lower bound on the step in which a product can be taken out of its tool. Steps are counted
    from 0."""
    recipe, alone = level.recipes[product], int(agents == 1)
    last = max(_put(level, item, recipe.tool, agents) for item in recipe.ingredients)
    return last + alone + max(level.stock.tools[recipe.tool].busy, alone)


def _put(level: Level, item: str, tool: str, agents: int) -> int:
    """Return a lower bound on the step in which an item can be put into a tool. Steps are counted from 0."""
    if item not in level.recipes:
        return 3
    there = level.recipes[item].tool == tool
    return _ready(level, item, agents) + (0 if there else 2)
